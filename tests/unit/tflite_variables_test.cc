// Resource variables: CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE become states of the session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "frontends/tflite/reader.h"
#include "frontends/writer/variables.h"
#include "hearth/model.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_expansion.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model whose subgraph 0 begins with CALL_ONCE of subgraph 1, which gives variable "v" its first value.
class VariableModel {
 public:
  explicit VariableModel(std::vector<float> first) : first_(std::move(first)) {
    x = writer.AddTensor({"x", {2}});
    writer.AddOperator(kCallOnce, {}, {}, wire::CreateCallOnceOptions(writer.builder(), 1));
  }
  int32_t Handle() { return Handle(name); }
  int32_t Handle(const std::string& variable) {
    const int32_t handle = writer.AddTensor({"handle", {}, kResource});
    const auto name = writer.builder().CreateString(variable);
    writer.AddOperator(kVarHandle, {}, {handle}, wire::CreateVarHandleOptions(writer.builder(), 0, name));
    return handle;
  }
  int32_t Read(int32_t handle) {
    const int32_t value = writer.AddTensor({"read", {2}});
    writer.AddOperator(kReadVariable, {handle}, {value});
    return value;
  }
  int32_t Combined(int32_t code, int32_t a, int32_t b, const std::string& name = "made") {
    const int32_t made = writer.AddTensor({name, {2}});
    writer.AddOperator(code, {a, b}, {made});
    return made;
  }
  std::vector<std::byte> Finish(int32_t y) {
    writer.EndSubgraph({x}, {y});
    const int32_t handle = Handle();
    writer.AddOperator(kAssignVariable, {handle, writer.AddConstant<float>({"first", {2}}, first_)}, {});
    writer.EndSubgraph({}, {});
    if (more) more(*this);
    return writer.FinishFile();
  }

  TfliteWriter writer;
  int32_t x;
  std::string name = "v";                    // of the variable that has a first value
  std::function<void(VariableModel&)> more;  // writes further subgraphs, from number 2 on

 private:
  std::vector<float> first_;
};

// y = v + x; v = y.
std::vector<std::byte> RunningSum(std::vector<float> first) {
  VariableModel model(std::move(first));
  const int32_t handle = model.Handle();
  const int32_t sum = model.Combined(kAdd, model.Read(handle), model.x, "sum");
  model.writer.AddOperator(kAssignVariable, {handle, sum}, {});
  return model.Finish(sum);
}

std::vector<float> RunOn(Session& session, std::vector<float> x) {
  EXPECT_TRUE(session.SetInput<float>(0, x).ok());
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  const auto y = session.output<float>(0);
  return y.ok() ? std::vector<float>(y->begin(), y->end()) : std::vector<float>();
}

// A session and the model that must outlive it.
struct OpenModel {
  OpenModel(const std::string& device, std::span<const std::byte> bytes)
      : model(Model::FromMemory(bytes)),
        session(model.ok() ? Session::Create(*model, {.device = device, .use_cache = false})
                           : Result<Session>(model.status())) {}
  Result<Model> model;
  Result<Session> session;
};

using VariableDevices = testing::SessionsOnDevice;
INSTANTIATE_TEST_SUITE_P(Every, VariableDevices, ::testing::Values("cpu", "opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

TEST_P(VariableDevices, AVariableKeepsWhatARunAssignedToItAndBeginsAgainAfterAReset) {
  const auto bytes = RunningSum({1, -2});
  OpenModel opened(GetParam(), bytes);
  Result<Session>& session = opened.session;
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(RunOn(*session, {1, 1}), ElementsAre(2, -1));
  EXPECT_THAT(RunOn(*session, {1, 1}), ElementsAre(3, 0));
  Result<Session> clone = session->Clone();
  ASSERT_TRUE(clone.ok()) << clone.status().message();
  EXPECT_THAT(RunOn(*clone, {5, 5}), ElementsAre(6, 3));  // a state of its own
  EXPECT_THAT(RunOn(*session, {1, 1}), ElementsAre(4, 1));
  ASSERT_TRUE(session->ResetState().ok());
  EXPECT_THAT(RunOn(*session, {0.5, 0.5}), ElementsAre(1.5, -1.5));
}

TEST(TfliteVariables, OneThatBeginsWithZerosIsOneStateAndNothingElse) {
  const auto bytes = RunningSum({0, 0});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(graph->Validate().ok()) << graph->Validate().message();
  ASSERT_EQ(graph->states.size(), 1u);
  EXPECT_EQ(graph->value(graph->states[0].read).name, "v");
  EXPECT_EQ(graph->nodes().size(), 1u);
}

// Nested branches keep three copies of all variables at each level: 4096 names of 1000 bytes would become 200 MB.
TEST(TfliteVariables, CopiesForBranchesShareTheNames) {
  Variables::Contents variables;
  for (const char* name : {"state", "other"}) variables[std::string(name)].current = 7;
  const Variables::Contents copy = variables;
  ASSERT_EQ(copy.size(), 2u);
  for (const auto& [name, variable] : copy) EXPECT_EQ(&variables.find(name.text())->first.text(), &name.text());
}

TEST(TfliteVariables, OneThatNothingChangesIsAConstant) {
  VariableModel model({3, 4});
  const auto bytes = model.Finish(model.Combined(kMul, model.x, model.Read(model.Handle())));
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(graph->states.empty());
  EXPECT_TRUE(graph->IsConstant(graph->nodes()[0].inputs[1]));
}

TEST(TfliteVariables, ReadsSeeTheLastAssignmentBeforeThem) {
  VariableModel model({1, 1});
  const int32_t handle = model.Handle();
  const int32_t before = model.Read(handle);
  model.writer.AddOperator(kAssignVariable, {handle, model.x}, {});
  const auto bytes = model.Finish(model.Combined(kAdd, before, model.Read(model.Handle())));

  OpenModel opened("cpu", bytes);
  Result<Session>& session = opened.session;
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(RunOn(*session, {10, 20}), ElementsAre(11, 21));
  EXPECT_THAT(RunOn(*session, {0, 1}), ElementsAre(10, 21));
}

TEST(TfliteVariables, ALoopsBodyAssignsInEachTurn) {
  VariableModel model({0, 0});
  auto& writer = model.writer;
  const int32_t zero = writer.AddConstant<int32_t>({"zero", {}, wire::TensorType_INT32}, {0});
  const int32_t count = writer.AddTensor({"count", {}, wire::TensorType_INT32}), kept = writer.AddTensor({"k", {2}});
  const int32_t handle = model.Handle(), passed = writer.AddTensor({"passed", {}, kResource});
  writer.AddOperator(kWhile, {zero, model.x, handle}, {count, kept, passed},
                     wire::CreateWhileOptions(writer.builder(), 2, 3));
  model.more = [](VariableModel& m) {
    for (const bool is_body : {false, true}) {
      const int32_t i = m.writer.AddTensor({"i", {}, wire::TensorType_INT32}), v = m.writer.AddTensor({"v", {2}});
      const int32_t h = m.writer.AddTensor({"h", {}, kResource});
      const int32_t number = m.writer.AddConstant<int32_t>({"", {}, wire::TensorType_INT32}, {is_body ? 1 : 3});
      const auto type = is_body ? wire::TensorType_INT32 : wire::TensorType_BOOL;
      const int32_t made = m.writer.AddTensor({"made", {}, type});
      m.writer.AddOperator(is_body ? kAdd : kLess, {i, number}, {made});
      if (is_body) m.writer.AddOperator(kAssignVariable, {h, m.Combined(kAdd, m.Read(h), v)}, {});
      m.writer.EndSubgraph({i, v, h}, is_body ? std::vector{made, v, h} : std::vector{made});
    }
  };
  const auto bytes = model.Finish(model.Read(passed));

  OpenModel opened("cpu", bytes);
  Result<Session>& session = opened.session;
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(RunOn(*session, {1, 2}), ElementsAre(3, 6));
  EXPECT_THAT(RunOn(*session, {1, 0}), ElementsAre(6, 6));
}

// Where x adds up to more than 0, `variable` becomes x; what it holds then is the output.
std::vector<std::byte> AssignmentInABranch(const std::string& variable, bool in_then = true) {
  VariableModel model({0, 0});
  auto& writer = model.writer;
  const int32_t axes = writer.AddIntegers({0}), total = writer.AddTensor({"total", {}});
  writer.AddOperator(kSum, {model.x, axes}, {total}, wire::CreateReducerOptions(writer.builder(), false));
  const int32_t is_positive = writer.AddTensor({"is_positive", {}, wire::TensorType_BOOL});
  writer.AddOperator(kGreater, {total, writer.AddConstant<float>({"", {}}, {0.0f})}, {is_positive});
  const int32_t chosen = writer.AddTensor({"chosen", {2}});
  writer.AddOperator(kIf, {is_positive, model.x}, {chosen}, wire::CreateIfOptions(writer.builder(), 2, 3));
  const int32_t held = model.Read(model.Handle(variable));
  model.more = [&](VariableModel& m) {
    for (const bool assigns : {in_then, !in_then}) {
      const int32_t v = m.writer.AddTensor({"v", {2}});
      if (assigns) m.writer.AddOperator(kAssignVariable, {m.Handle(variable), v}, {});
      m.writer.EndSubgraph({v}, {v});
    }
  };
  return model.Finish(held);
}

TEST(TfliteVariables, ABranchThatIsNotTakenAssignsNothing) {
  const auto bytes = AssignmentInABranch("v");
  OpenModel opened("cpu", bytes);
  Result<Session>& session = opened.session;
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(RunOn(*session, {1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(RunOn(*session, {-1, -2}), ElementsAre(1, 2));
}

TEST(TfliteVariables, AReadBeforeAnyAssignmentIsRefusedByName) {
  VariableModel model({0, 0});
  const auto bytes = model.Finish(model.Combined(kAdd, model.x, model.Read(model.Handle("other"))));
  EXPECT_THAT(RefusalOf(bytes), HasSubstr("variable 'other' before anything was assigned"));
}

TEST(TfliteVariables, AFirstAssignmentThatDependsOnDataIsRefused) {
  for (const bool in_then : {true, false}) {
    EXPECT_THAT(RefusalOf(AssignmentInABranch("other", in_then)),
                HasSubstr("whether it assigns to variable 'other', which holds nothing before, depends on data"));
  }
}

TEST(TfliteVariables, AnAssignmentOfAnotherShapeIsRefused) {
  VariableModel model({0, 0});
  const int32_t three = model.writer.AddConstant<float>({"three", {3}}, {1, 2, 3});
  const int32_t handle = model.Handle();
  model.writer.AddOperator(kAssignVariable, {handle, three}, {});
  const auto bytes = model.Finish(model.Combined(kAdd, model.x, model.Read(handle)));
  EXPECT_THAT(RefusalOf(bytes), HasSubstr("begins as float32[2] and becomes float32[3]"));
}

TEST(TfliteVariables, AHandleReadAsNumbersIsAMalformedModel) {
  VariableModel model({0, 0});
  const auto bytes = model.Finish(model.Combined(kAdd, model.x, model.Handle()));
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput);
  EXPECT_THAT(graph.status().message(), HasSubstr("a handle of a variable, as numbers"));
}

TEST(TfliteVariables, AHandleAsAnOutputIsRefused) {
  VariableModel model({0, 0});
  const auto bytes = model.Finish(model.Handle());
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.status().message(), HasSubstr("return what it holds"));
}

// What the reading of a file takes of its limits.
struct Spent {
  size_t steps = 0, copied_bytes = 0;
};

size_t LeftOf(CopyBudget budget) {
  size_t left = 0;
  for (size_t part = size_t{1} << 40; part > 0; part /= 2) {
    while (budget.Charge(part)) left += part;
  }
  return left;
}

Spent SpentOn(std::span<const std::byte> bytes) {
  ReadingBudget budget(size_t{1} << 20);  // whatever the file's size
  const size_t before = LeftOf(budget.copies) + (size_t{1} << 30);
  EXPECT_EQ(RefusalOf(ReadTfliteModel(bytes, {}, budget)), "");
  return {ReadingBudget::kMaxSteps - budget.steps_left, before - LeftOf(budget.copies)};
}

// While v adds up to less than 1000, a loop adds it to the variable and doubles it. Only data say how often.
std::vector<std::byte> LoopThatDataEndOverAVariable(const std::string& name) {
  VariableModel model({0, 0});
  model.name = name;
  const int32_t handle = model.Handle(), passed = model.writer.AddTensor({"passed", {}, kResource});
  model.writer.AddOperator(kWhile, {model.x, handle}, {model.writer.AddTensor({"kept", {2}}), passed},
                           wire::CreateWhileOptions(model.writer.builder(), 2, 3));
  model.more = [](VariableModel& m) {
    for (const bool is_body : {false, true}) {
      const int32_t v = m.writer.AddTensor({"v", {2}}), h = m.writer.AddTensor({"h", {}, kResource});
      if (is_body) {
        m.writer.AddOperator(kAssignVariable, {h, m.Combined(kAdd, m.Read(h), v)}, {});
        m.writer.EndSubgraph({v, h}, {m.Combined(kAdd, v, v), h});
        continue;
      }
      const int32_t total = m.writer.AddTensor({"total", {}}), goes_on = m.writer.AddTensor({"goes_on", {}, kBool});
      m.writer.AddOperator(kSum, {v, m.writer.AddIntegers({0})}, {total},
                           wire::CreateReducerOptions(m.writer.builder(), false));
      m.writer.AddOperator(kLess, {total, m.writer.AddConstant<float>({"", {}}, {1000.0f})}, {goes_on});
      m.writer.EndSubgraph({v, h}, {goes_on});
    }
  };
  return model.Finish(model.Read(passed));
}

// The parts are read twice, since the first time tells which variables they take: each time with copies of the name.
TEST(TfliteVariables, ALoopOnTheHostCountsItsCopiesOfTheirNames) {
  const auto of_short_name = LoopThatDataEndOverAVariable(std::string(10, 'v'));
  const auto of_long_name = LoopThatDataEndOverAVariable(std::string(910, 'v'));
  EXPECT_GE(SpentOn(of_long_name).copied_bytes - SpentOn(of_short_name).copied_bytes, 30 * 900u);
}

TEST(TfliteVariables, ALoopThatDataEndAssignsInEachTurn) {
  const auto bytes = LoopThatDataEndOverAVariable("v");
  OpenModel opened("cpu", bytes);
  Result<Session>& session = opened.session;
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(RunOn(*session, {300, 0}), ElementsAre(900, 0));  // 300 + 600
  EXPECT_THAT(RunOn(*session, {0, 500}), ElementsAre(900, 500));
}

TEST(TfliteVariables, ANameOfAMegabyteIsRefusedWithItsSize) {
  const auto bytes = LoopThatDataEndOverAVariable(std::string(1'000'000, 'v'));
  EXPECT_THAT(RefusalOf(bytes), HasSubstr("has 1000000 bytes, at most 1000 are possible"));
}

TEST(TfliteVariables, MoreThanAFewThousandAreRefused) {
  VariableModel model({0, 0});
  for (int k = 0; k <= 4096; ++k) model.Handle(std::to_string(k));
  EXPECT_THAT(RefusalOf(model.Finish(model.x)), HasSubstr("more than 4096 variables"));
}

// The only step is over the tensors of the subgraph that CALL_ONCE calls: a handle and a constant.
TEST(TfliteVariables, AnAssignmentGoesThroughNoOtherVariable) {
  VariableModel model({0, 0});
  for (int k = 0; k < 50; ++k)
    model.writer.AddOperator(kAssignVariable, {model.Handle(std::to_string(k)), model.x}, {});
  EXPECT_EQ(SpentOn(model.Finish(model.Combined(kAdd, model.x, model.x))).steps, 2u);
}

TEST(TfliteVariables, ACallCountsTheVariablesThatItWouldUndo) {
  const auto steps_with = [](int variables) {
    VariableModel model({0, 0});
    for (int k = 0; k < variables; ++k) {
      model.writer.AddOperator(kAssignVariable, {model.Handle(std::to_string(k)), model.x}, {});
    }
    int32_t last = model.x;
    for (int call = 0; call < 5; ++call) {
      const int32_t made = model.writer.AddTensor({"made", {2}});
      model.writer.AddOperator(kCall, {last}, {made}, wire::CreateCallOptions(model.writer.builder(), 2));
      last = made;
    }
    model.more = [](VariableModel& m) {
      const int32_t v = m.writer.AddTensor({"v", {2}});
      m.writer.EndSubgraph({v}, {m.Combined(kAdd, v, v)});
    };
    return SpentOn(model.Finish(last)).steps;
  };
  EXPECT_EQ(steps_with(20) - steps_with(0), 5 * 20u);
}

// Else the state would begin with the choice of its first value, a node of the refused operator.
TEST(TfliteVariables, ARefusedReadBeginsNoState) {
  TfliteWriter writer;
  const auto add_handle = [&] {
    const int32_t handle = writer.AddTensor({"handle", {}, kResource});
    const auto name = writer.builder().CreateString("v");
    writer.AddOperator(kVarHandle, {}, {handle}, wire::CreateVarHandleOptions(writer.builder(), 0, name));
    return handle;
  };
  const int32_t x = writer.AddTensor({"x", {2}, wire::TensorType_INT8});
  writer.AddOperator(kCallOnce, {}, {}, wire::CreateCallOnceOptions(writer.builder(), 1));
  const int32_t handle = add_handle();
  const WrittenQuantization halves = {.scales = {0.5f}, .zero_points = {0}};
  const int32_t scaled = writer.AddTensor({"scaled", {2}, wire::TensorType_INT8, halves});
  const int32_t held = writer.AddTensor({"held", {2}, wire::TensorType_INT8});
  writer.AddOperator(kReadVariable, {handle}, {scaled});
  writer.AddOperator(kReadVariable, {handle}, {held});
  writer.AddOperator(kAssignVariable, {handle, x}, {});
  writer.EndSubgraph({x}, {held});
  writer.AddOperator(kAssignVariable,
                     {add_handle(), writer.AddConstant<int8_t>({"first", {2}, wire::TensorType_INT8}, {1, 2})}, {});
  writer.EndSubgraph({}, {});
  const auto bytes = writer.FinishFile();
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(RefusalOf(graph), HasSubstr("another quantization"));
  EXPECT_TRUE(graph->Validate().ok()) << graph->Validate().message();
}

// An input's name may be long, and the input assigned to thousands of variables.
TEST(TfliteVariables, AnInputThatIsAssignedIsCopiedUnderTheVariablesName) {
  VariableModel model({0, 0});
  const int32_t handle = model.Handle(), before = model.Read(handle);
  model.writer.AddOperator(kAssignVariable, {handle, model.x}, {});
  const auto bytes = model.Finish(model.Combined(kAdd, before, before));
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->states.size(), 1u);
  EXPECT_EQ(graph->value(graph->states[0].written).name, "v_next");
}

}  // namespace
}  // namespace hearth
