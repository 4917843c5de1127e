// Variables, variable tensors and random numbers in what IF, WHILE and CALL call, also in loops that only data end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hearth/model.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;

// Writes subgraphs of tensors of two floats.
class Parts {
 public:
  int32_t Made(int32_t code, const std::vector<int32_t>& inputs, const WrittenTensor& tensor = {"made", {2}}) {
    const int32_t made = writer.AddTensor(tensor);
    writer.AddOperator(code, inputs, {made});
    return made;
  }
  int32_t Add(int32_t a, int32_t b) { return Made(kAdd, {a, b}); }
  int32_t Vector(const std::string& name) { return writer.AddTensor({name, {2}}); }
  int32_t Number(float number) { return writer.AddConstant<float>({"", {}}, {number}); }
  int32_t Total(int32_t v) {
    const int32_t total = writer.AddTensor({"total", {}});
    writer.AddOperator(kSum, {v, writer.AddIntegers({0})}, {total},
                       wire::CreateReducerOptions(writer.builder(), false));
    return total;
  }
  int32_t Drawn() {
    const int32_t drawn = Vector("drawn");
    writer.AddOperator(kRandomUniform, {writer.AddIntegers({2})}, {drawn},
                       wire::CreateRandomOptions(writer.builder(), 5, 9));
    return drawn;
  }
  // What an operator with a variable tensor makes of ones: 200 the first time, then 220, 222 from the third time on.
  int32_t Remembering() {
    const int32_t state = writer.AddTensor({.name = "memory", .shape = {1, 3}, .is_variable = true});
    const int32_t made = writer.AddTensor({"", {1, 1}});
    const std::vector<int32_t> inputs = {Constant({1, 2}, {1, 1}), Constant({1, 2}, {1, 1}),
                                         Constant({1, 3}, {1, 10, 100}), -1, state};
    writer.AddOperator(kSvdf, inputs, {made}, wire::CreateSVDFOptions(writer.builder(), 1));
    return Made(kReshape, {made, writer.AddIntegers({1})}, {"", {1}});
  }
  int32_t Constant(const std::vector<int32_t>& shape, const std::vector<float>& numbers) {
    return writer.AddConstant<float>({"", shape}, numbers);
  }
  int32_t Handle() {
    const int32_t handle = writer.AddTensor({"handle", {}, kResource});
    const auto name = writer.builder().CreateString("v");
    writer.AddOperator(kVarHandle, {}, {handle}, wire::CreateVarHandleOptions(writer.builder(), 0, name));
    return handle;
  }
  void Assign(int32_t handle, int32_t value) { writer.AddOperator(kAssignVariable, {handle, value}, {}); }
  // A subgraph of one vector: the sum of its elements is less (or greater) than `limit`.
  void EndCondition(int32_t code, float limit) {
    const int32_t v = Vector("v");
    writer.EndSubgraph({v}, {Made(code, {Total(v), Number(limit)}, {"goes_on", {}, kBool})});
  }

  TfliteWriter writer;
};

// Run after run of a session on the CPU.
class Opened {
 public:
  explicit Opened(std::vector<std::byte> bytes) : bytes_(std::move(bytes)), model_(Model::FromMemory(bytes_)) {
    if (model_.ok()) session_ = Session::Create(*model_, {.device = "cpu", .use_cache = false});
  }
  std::vector<float> Run(std::vector<float> x) {
    EXPECT_TRUE(session_.ok()) << model_.status().message() << session_.status().message();
    if (!session_.ok()) return {};
    EXPECT_TRUE(session_->SetInput<float>(0, x).ok());
    const Status ran = session_->Run();
    EXPECT_TRUE(ran.ok()) << ran.message();
    const auto y = session_->output<float>(0);
    return y.ok() ? std::vector<float>(y->begin(), y->end()) : std::vector<float>();
  }
  void Reset() { EXPECT_TRUE(session_->ResetState().ok()); }

 private:
  std::vector<std::byte> bytes_;
  Result<Model> model_;
  Result<Session> session_ = Status(StatusCode::kInternal, "not opened");
};

// What the generator with these seeds gives in its first runs.
std::vector<std::vector<float>> Draws(int count) {
  Parts parts;
  const int32_t x = parts.Vector("x");
  const int32_t drawn = parts.Drawn();
  Opened opened(parts.writer.Finish({x}, {drawn}));
  std::vector<std::vector<float>> draws;
  for (int k = 0; k < count; ++k) draws.push_back(opened.Run({0, 0}));
  return draws;
}

// y = x; while sum(y) < 8: v += y; y += x. The output is v. Handles go around where `handle_goes_around`.
std::vector<std::byte> VariableInALoop(bool handle_goes_around) {
  Parts parts;
  TfliteWriter& writer = parts.writer;
  const int32_t x = parts.Vector("x");
  writer.AddOperator(kCallOnce, {}, {}, wire::CreateCallOnceOptions(writer.builder(), 1));
  const int32_t handle = parts.Handle();
  const auto options = wire::CreateWhileOptions(writer.builder(), 2, 3);
  if (handle_goes_around) {
    writer.AddOperator(kWhile, {x, x, handle},
                       {parts.Vector("y"), parts.Vector("same"), writer.AddTensor({"passed", {}, kResource})}, options);
  } else {
    writer.AddOperator(kWhile, {x, x}, {parts.Vector("y"), parts.Vector("same")}, options);
  }
  writer.EndSubgraph({x}, {parts.Made(kReadVariable, {handle})});
  parts.Assign(parts.Handle(), writer.AddConstant<float>({"first", {2}}, {0.5f, 0.0f}));
  writer.EndSubgraph({}, {});  // 1
  for (const bool is_body : {false, true}) {
    const int32_t y = parts.Vector("y"), step = parts.Vector("step");
    std::vector<int32_t> inputs = {y, step}, outputs;
    int32_t h = -1;
    if (handle_goes_around) inputs.push_back(h = writer.AddTensor({"h", {}, kResource}));
    if (is_body) {
      if (h < 0) h = parts.Handle();
      parts.Assign(h, parts.Add(parts.Made(kReadVariable, {h}), y));
      outputs = {parts.Add(y, step), step};
      if (handle_goes_around) outputs.push_back(h);
    } else {
      outputs = {parts.Made(kLess, {parts.Total(y), parts.Number(8.0f)}, {"goes_on", {}, kBool})};
    }
    writer.EndSubgraph(inputs, outputs);
  }
  return writer.FinishFile();
}

TEST(TfliteCalledState, AVariableChangesInALoopThatOnlyDataEnd) {
  for (const bool handle_goes_around : {false, true}) {
    Opened opened(VariableInALoop(handle_goes_around));
    EXPECT_THAT(opened.Run({1, 2}), ElementsAre(3.5, 6));  // y is 1 2, 2 4; 3 6 ends it
    EXPECT_THAT(opened.Run({9, 0}), ElementsAre(3.5, 6));
    EXPECT_THAT(opened.Run({4, 0}), ElementsAre(7.5, 6));
    opened.Reset();
    EXPECT_THAT(opened.Run({4, 0}), ElementsAre(4.5, 0));
  }
}

// y = x; while sum(y) < 4: y += drawn. LiteRT begins its stream anew in each run of the loop.
TEST(TfliteCalledState, EachTurnOfALoopThatOnlyDataEndDrawsOtherNumbersAndEachRunTheSame) {
  Parts parts;
  const int32_t x = parts.Vector("x"), y = parts.Vector("y");
  parts.writer.AddOperator(kWhile, {x}, {y}, wire::CreateWhileOptions(parts.writer.builder(), 1, 2));
  parts.writer.EndSubgraph({x}, {y});
  parts.EndCondition(kLess, 4.0f);
  const int32_t v = parts.Vector("v");
  parts.writer.EndSubgraph({v}, {parts.Add(v, parts.Drawn())});
  Opened opened(parts.writer.FinishFile());

  const auto draws = Draws(40);
  size_t next = 0;
  std::vector<float> expected = {0, 0};
  while (expected[0] + expected[1] < 4.0f) {
    for (size_t k = 0; k < 2; ++k) expected[k] += draws[next][k];
    ++next;
  }
  EXPECT_GT(next, 2u);
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(opened.Run({0, 0}), Pointwise(::testing::FloatEq(), expected)) << run;
  }
}

// Where x adds up to more than 0 the model draws, else it gives x.
TEST(TfliteCalledState, ABranchDrawsTheSameNumbersEachTime) {
  for (const bool in_then : {true, false}) {
    Parts parts;
    const int32_t x = parts.Vector("x"), y = parts.Vector("y");
    const int32_t is_chosen =
        parts.Made(in_then ? kGreater : kLess, {parts.Total(x), parts.Number(0.0f)}, {"", {}, kBool});
    parts.writer.AddOperator(kIf, {is_chosen, x}, {y}, wire::CreateIfOptions(parts.writer.builder(), 1, 2));
    parts.writer.EndSubgraph({x}, {y});
    for (const bool draws : {in_then, !in_then}) {
      const int32_t v = parts.Vector("v");
      parts.writer.EndSubgraph({v}, {draws ? parts.Drawn() : parts.Add(v, v)});
    }
    Opened opened(parts.writer.FinishFile());
    const auto draws = Draws(1);
    EXPECT_EQ(opened.Run({1, 2}), draws[0]);
    EXPECT_THAT(opened.Run({-1, -2}), ElementsAre(-2, -4));
    EXPECT_EQ(opened.Run({1, 2}), draws[0]);
  }
}

// The sum of x, cut to an integer, names the branch: it leaves v as it is, makes it x, adds x to it, or makes it 100.
// The output is what the branch found, and what v holds then.
TEST(TfliteCalledState, TheBranchOfACaseThatDataNameFindsAndChangesAVariable) {
  Parts parts;
  TfliteWriter& writer = parts.writer;
  const int32_t x = parts.Vector("x"), found = parts.Vector("found");
  writer.AddOperator(kCallOnce, {}, {}, wire::CreateCallOnceOptions(writer.builder(), 5));
  const int32_t which = parts.Made(kCast, {parts.Total(x)}, {"which", {}, kInt});
  const auto branches = writer.builder().CreateVector(std::vector<int32_t>{1, 2, 3, 4});
  writer.AddOperator2(kCase, {which, x}, {found}, wire::CreateStablehloCaseOptions(writer.builder(), branches));
  const int32_t held = parts.Made(kReadVariable, {parts.Handle()});
  const int32_t both = writer.AddTensor({"both", {4}});
  writer.AddOperator(kConcatenation, {found, held}, {both}, wire::CreateConcatenationOptions(writer.builder(), 0));
  writer.EndSubgraph({x}, {both});
  for (int branch = 0; branch < 4; ++branch) {
    const int32_t v = parts.Vector("v"), handle = parts.Handle(), before = parts.Made(kReadVariable, {handle});
    if (branch == 1) parts.Assign(handle, v);
    if (branch == 2) parts.Assign(handle, parts.Add(before, v));
    if (branch == 3) parts.Assign(handle, parts.Constant({2}, {100, 100}));
    writer.EndSubgraph({v}, {before});
  }
  parts.Assign(parts.Handle(), parts.Constant({2}, {7, 8}));
  writer.EndSubgraph({}, {});  // 5
  Opened opened(writer.FinishFile());
  EXPECT_THAT(opened.Run({0, 0}), ElementsAre(7, 8, 7, 8));
  EXPECT_THAT(opened.Run({2, 0}), ElementsAre(7, 8, 9, 8));
  EXPECT_THAT(opened.Run({4, -3}), ElementsAre(9, 8, 4, -3));
  EXPECT_THAT(opened.Run({-1, 3}), ElementsAre(4, -3, 3, 0));
  EXPECT_THAT(opened.Run({-9, 2}), ElementsAre(3, 0, 100, 100)) << "no branch has this number: the last";
  EXPECT_THAT(opened.Run({0, 0}), ElementsAre(100, 100, 100, 100));
}

TEST(TfliteCalledState, TwoCallsOfASubgraphContinueOneStream) {
  Parts parts;
  const int32_t x = parts.Vector("x"), a = parts.Vector("a"), b = parts.Vector("b");
  for (const int32_t y : {a, b}) {
    parts.writer.AddOperator(kCall, {x}, {y}, wire::CreateCallOptions(parts.writer.builder(), 1));
  }
  parts.writer.EndSubgraph({x}, {parts.Add(a, b)});
  const int32_t v = parts.Vector("v");
  parts.writer.EndSubgraph({v}, {parts.Add(v, parts.Drawn())});
  Opened opened(parts.writer.FinishFile());
  const auto draws = Draws(2);
  EXPECT_THAT(opened.Run({0, 0}),
              Pointwise(::testing::FloatEq(), {draws[0][0] + draws[1][0], draws[0][1] + draws[1][1]}));
}

// y = x; while sum(y) < 1000, and the counter says so: y += what an operator with memory makes. The memory goes from
// turn to turn, and is empty when the next run begins, as LiteRT's.
enum class EndedBy { kCounter, kCounterAndData, kData };

std::vector<std::byte> MemoryInALoop(EndedBy ended_by) {
  Parts parts;
  TfliteWriter& writer = parts.writer;
  const int32_t x = parts.Vector("x"), y = parts.Vector("y"), turns = writer.AddTensor({"turns", {}});
  writer.AddOperator(kWhile, {parts.Number(0), x}, {turns, y}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  const auto flag = [](const std::string& name) { return WrittenTensor{name, {}, kBool}; };
  const int32_t i = writer.AddTensor({"i", {}}), v = parts.Vector("v");
  const int32_t few = parts.Made(kLess, {i, parts.Number(3)}, flag("few"));
  const int32_t small = parts.Made(kLess, {parts.Total(v), parts.Number(1000)}, flag("small"));
  const int32_t both = parts.Made(kLogicalAnd, {few, small}, flag("both"));
  writer.EndSubgraph({i, v}, {ended_by == EndedBy::kCounter ? few : (ended_by == EndedBy::kData ? small : both)});
  const int32_t j = writer.AddTensor({"j", {}}), w = parts.Vector("w");
  const int32_t next = parts.Made(kAdd, {j, parts.Number(1)}, {"", {}});
  writer.EndSubgraph({j, w}, {next, parts.Add(w, parts.Remembering())});
  return writer.FinishFile();
}

TEST(TfliteCalledState, AVariableTensorGoesFromTurnToTurnAndBeginsWithZerosInEachRun) {
  for (const EndedBy ended_by : {EndedBy::kCounter, EndedBy::kCounterAndData, EndedBy::kData}) {
    Opened opened(MemoryInALoop(ended_by));
    for (int run = 0; run < 2; ++run) EXPECT_THAT(opened.Run({0, 0}), ElementsAre(642, 642)) << run;
    const float larger = ended_by == EndedBy::kCounter ? 942 : 500;  // after one turn, where data may end it
    EXPECT_THAT(opened.Run({300, 300}), ElementsAre(larger, larger));
  }
}

TEST(TfliteCalledState, AVariableTensorOfABranchBeginsWithZerosEachTime) {
  Parts parts;
  const int32_t x = parts.Vector("x"), y = parts.Vector("y");
  const int32_t is_positive = parts.Made(kGreater, {parts.Total(x), parts.Number(0)}, {"", {}, kBool});
  parts.writer.AddOperator(kIf, {is_positive, x}, {y}, wire::CreateIfOptions(parts.writer.builder(), 1, 2));
  parts.writer.EndSubgraph({x}, {y});
  const int32_t v = parts.Vector("v");
  parts.writer.EndSubgraph({v}, {parts.Add(v, parts.Remembering())});
  const int32_t w = parts.Vector("w");
  parts.writer.EndSubgraph({w}, {parts.Add(w, w)});
  Opened opened(parts.writer.FinishFile());
  EXPECT_THAT(opened.Run({1, 2}), ElementsAre(201, 202));
  EXPECT_THAT(opened.Run({-1, -2}), ElementsAre(-2, -4));
  EXPECT_THAT(opened.Run({1, 2}), ElementsAre(201, 202));
}

TEST(TfliteCalledState, AVariableTensorOfWhatIsCalledGoesFromRunToRun) {
  Parts parts;
  const int32_t x = parts.Vector("x"), y = parts.Vector("y");
  parts.writer.AddComposite(1, {x}, {y});
  parts.writer.EndSubgraph({x}, {y});
  const int32_t v = parts.Vector("v");
  parts.writer.EndSubgraph({v}, {parts.Add(v, parts.Remembering())});
  Opened opened(parts.writer.FinishFile());
  EXPECT_THAT(opened.Run({0, 0}), ElementsAre(200, 200));
  EXPECT_THAT(opened.Run({0, 0}), ElementsAre(220, 220));
  opened.Reset();
  EXPECT_THAT(opened.Run({0, 0}), ElementsAre(200, 200));
}

// v = x; while sum(x) < 4, which makes v = 2x: x = 2x. The output is v.
TEST(TfliteCalledState, AConditionOfALoopThatOnlyDataEndMayAssign) {
  Parts parts;
  TfliteWriter& writer = parts.writer;
  const int32_t x = parts.Vector("x"), y = parts.Vector("y"), handle = parts.Handle();
  parts.Assign(handle, x);
  writer.AddOperator(kWhile, {x}, {y}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {parts.Made(kReadVariable, {handle}), y});
  const int32_t v = parts.Vector("v");
  parts.Assign(parts.Handle(), parts.Add(v, v));
  writer.EndSubgraph({v}, {parts.Made(kLess, {parts.Total(v), parts.Number(4.0f)}, {"goes_on", {}, kBool})});
  const int32_t w = parts.Vector("w");
  writer.EndSubgraph({w}, {parts.Add(w, w)});
  Opened opened(writer.FinishFile());
  EXPECT_THAT(opened.Run({1, 0.5}), ElementsAre(8, 4));  // x is 1 0.5, 2 1; 4 2 ends it
  EXPECT_THAT(opened.Run({3, 4}), ElementsAre(6, 8)) << "without a turn";
}

// While a number that the condition draws is below 0.8: y += 1.
TEST(TfliteCalledState, AConditionOfALoopMayDraw) {
  Parts parts;
  const int32_t x = parts.Vector("x"), y = parts.Vector("y");
  parts.writer.AddOperator(kWhile, {x}, {y}, wire::CreateWhileOptions(parts.writer.builder(), 1, 2));
  parts.writer.EndSubgraph({x}, {y});
  const int32_t v = parts.Vector("v");
  const int32_t goes_on = parts.Made(kLess, {parts.Total(parts.Drawn()), parts.Number(1.2f)}, {"goes_on", {}, kBool});
  parts.writer.EndSubgraph({v}, {goes_on});
  const int32_t w = parts.Vector("w");
  parts.writer.EndSubgraph({w}, {parts.Add(w, parts.writer.AddConstant<float>({"", {2}}, {1.0f, 2.0f}))});
  Opened opened(parts.writer.FinishFile());

  const auto draws = Draws(40);
  float turns = 0;
  for (size_t next = 0; draws.at(next)[0] + draws[next][1] < 1.2f; ++next) ++turns;
  EXPECT_GT(turns, 0.0f);
  for (int run = 0; run < 2; ++run) EXPECT_THAT(opened.Run({0, 0}), ElementsAre(turns, 2 * turns)) << run;
}

}  // namespace
}  // namespace hearth
