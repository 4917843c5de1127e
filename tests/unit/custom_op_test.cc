// Operators that the program registers, in both formats, on each device, in C++ and from a shared library.
#include "hearth/custom_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/custom.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/plan_cache.h"
#include "tests/testing/custom_ops.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SameAsInput;
using testing::Scale;
using testing::ScaleModel;
using Call = std::function<Status(const hearth_op_call&)>;

constexpr int32_t kNegate = 59;

class GivenFunctions final : public CustomOperator {
 public:
  GivenFunctions(Call infer, Call run) : infer_(std::move(infer)), run_(std::move(run)) {}
  Status Infer(const hearth_op_call& call) const override { return infer_(call); }
  Status Run(const hearth_op_call& call) const override { return run_(call); }

 private:
  Call infer_, run_;
};

ModelOptions With(const std::string& name, Call infer, Call run, const std::string& version = "1") {
  ModelOptions options;
  options.custom_ops.push_back({name, version, std::make_shared<GivenFunctions>(std::move(infer), std::move(run))});
  return options;
}

std::string StatusOf(const ModelOptions& options, std::span<const std::byte> bytes = ScaleModel()) {
  const Result<Model> model = Model::FromMemory(bytes, "memory", options);
  if (!model.ok()) return std::string(model.status().message());
  Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
  if (!session.ok()) return std::string(session.status().message());
  const std::vector<std::byte> zeros(session->inputs()[0].size_bytes);
  EXPECT_TRUE(session->SetInput(0, zeros).ok());
  return std::string(session->Run().message());
}

std::vector<float> Answer(Session& session, const std::vector<float>& x) {
  EXPECT_TRUE(session.SetInput<float>(0, x).ok());
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  const std::span<const float> y = session.output<float>(0).value();
  return {y.begin(), y.end()};
}

class CustomOps : public testing::SessionsOnDevice {
 protected:
  Model Read(std::span<const std::byte> bytes, const ModelOptions& options) {
    Result<Model> model = Model::FromMemory(bytes, "memory", options);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return std::move(model).value();
  }
};

TEST_P(CustomOps, RunOnTheCpuBetweenWhatTheDeviceRuns) {
  const Model model = Read(ScaleModel(), With("SCALE", SameAsInput, Scale));
  Session session = Opened(model);
  EXPECT_THAT(Answer(session, {1, -2, 3, 0.5f}), ElementsAre(3, -6, 9, 1.5f));
  EXPECT_THAT(Answer(session, {0, 1, 0, 1}), ElementsAre(0, 3, 0, 3));
  const Report& report = session.report();
  if (GetParam() == "cpu") return;
  EXPECT_EQ(report.ops.on_device, 2);
  ASSERT_EQ(report.ops.fallbacks.size(), 1u);
  EXPECT_EQ(report.ops.fallbacks[0].op, "SCALE");
  EXPECT_THAT(report.ops.fallbacks[0].reason, HasSubstr("the program brings this operator along"));
}

TEST_P(CustomOps, AreAskedForShapesAgainAfterAResize) {
  const Model model = Read(ScaleModel(), With("SCALE", SameAsInput, Scale));
  Session session = Opened(model);
  ASSERT_TRUE(session.Resize({{"x", {2, 3}}}).ok());
  EXPECT_THAT(session.outputs()[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(Answer(session, {1, 2, 3, 4, 5, 6}), ElementsAre(3, 6, 9, 12, 15, 18));
  ASSERT_TRUE(session.Resize({{"x", {1, 4}}}).ok());
  EXPECT_THAT(Answer(session, {1, 2, 3, 4}), ElementsAre(3, 6, 9, 12));
}

TEST_P(CustomOps, RunInClonesOnSeveralThreadsAtOnce) {
  std::atomic<int> inside = 0, most_inside = 0;
  const auto run = [&](const hearth_op_call& call) {
    const int now = ++inside;
    for (int most = most_inside; now > most && !most_inside.compare_exchange_weak(most, now);) {
    }
    // The other thread has time to come in; if it can't, the last loop ends all the same.
    for (int turn = 0; turn < 1000 && most_inside < 2; ++turn) std::this_thread::yield();
    const Status status = Scale(call);
    --inside;
    return status;
  };
  const Model model = Read(ScaleModel(), With("SCALE", SameAsInput, run));
  Session session = Opened(model);
  Result<Session> clone = session.Clone();
  ASSERT_TRUE(clone.ok()) << clone.status().message();
  const auto repeat = [](Session& own) {
    for (int k = 0; k < 100; ++k) {
      const auto x = static_cast<float>(k);
      ASSERT_THAT(Answer(own, {x, -x, 0, 1}), ElementsAre(3 * x, -3 * x, 0, 3));
    }
  };
  std::thread other([&] { repeat(*clone); });
  repeat(session);
  other.join();
}

TEST_P(CustomOps, RunForEachOfSeveralRunsInFlight) {
  const Model model = Read(ScaleModel(), With("SCALE", SameAsInput, Scale));
  Session session = Opened(model);
  std::vector<Ticket> tickets;
  for (const float x : {1.0f, 2.0f}) {
    ASSERT_TRUE(session.SetInput<float>(0, std::vector{x, x, x, x}).ok());
    Result<Ticket> ticket = session.Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    tickets.push_back(*ticket);
  }
  for (size_t k = 0; k < 2; ++k) {
    ASSERT_TRUE(session.Wait(tickets[k]).ok());
    EXPECT_EQ(session.output<float>(0).value()[3], 3.0f * static_cast<float>(k + 1));
  }
}

TEST_P(CustomOps, AnswerWhileAHotStartPreparesTheDeviceAndAfterIt) {
  const Model model = Read(ScaleModel(), With("SCALE", SameAsInput, Scale));
  options_.start = "hot";
  Session session = Opened(model);
  EXPECT_THAT(Answer(session, {1, 2, 3, 4}), ElementsAre(3, 6, 9, 12));
  const Status waited = session.WaitForDevice();
  ASSERT_TRUE(waited.ok()) << waited.message();
  EXPECT_THAT(Answer(session, {1, 2, 3, 5}), ElementsAre(3, 6, 9, 15));
}

TEST_P(CustomOps, OfOnnxFilesHaveAttributesAndADomain) {
  OnnxGraph graph;
  graph.Input("x", {"2", "3"}).Output("y").Output("n", 7);
  graph.Node("Neg", {"x"}, {"a"});
  graph.Node("Affine", {"a", ""}, {"b", "n"}, {OnnxGraph::Real("factor", 2.5f), OnnxGraph::Integers("add", {1, 2})},
             "my.ops");
  graph.Node("Relu", {"b"}, {"y"});
  const auto infer = [](const hearth_op_call& call) -> Status {
    HEARTH_TRY(SameAsInput(call));
    call.outputs[1].dtype = "int64";
    call.outputs[1].rank = 1;
    call.outputs[1].shape[0] = 1;
    return Status::Ok();
  };
  const auto run = [](const hearth_op_call& call) -> Status {
    EXPECT_EQ(call.input_count, 2u);
    EXPECT_EQ(call.inputs[1].dtype, nullptr);
    EXPECT_EQ(call.attribute_count, 2u);
    EXPECT_STREQ(call.attributes[0].name, "factor");
    const float factor = call.attributes[0].floats[0];
    const auto sum = static_cast<float>(call.attributes[1].ints[0] + call.attributes[1].ints[1]);
    std::ranges::transform(Elements<float>(call.inputs[0]), Elements<float>(call.outputs[0]).begin(),
                           [&](float x) { return factor * x + sum; });
    Elements<int64_t>(call.outputs[1])[0] = int64_t{1} << 40;
    return Status::Ok();
  };
  const std::string file = OnnxFile(graph);
  const Model model = Read(std::as_bytes(std::span(file)), With("my.ops::Affine", infer, run));
  Session session = Opened(model);
  EXPECT_THAT(Answer(session, {1, 2, -1, 0, 4, 0.2f}), ElementsAre(0.5f, 0, 5.5f, 3, 0, 2.5f));
  EXPECT_EQ(session.output<int64_t>(1).value()[0], int64_t{1} << 40);
}

TEST_P(CustomOps, RunInLoopsWhoseEndDependsOnData) {
  OnnxGraph body;
  body.Input("i", {}, 7).Input("on", {}, 9).Input("v", {"1"}).Output("goes_on", 9).Output("next");
  body.Floats("end", {}, {20});
  body.Node("Double", {"v"}, {"next"}, {}, "my.ops")
      .Node("ReduceMax", {"next"}, {"most"}, {OnnxGraph::Integer("keepdims", 0)});
  body.Node("Less", {"most", "end"}, {"goes_on"});
  OnnxGraph graph;
  graph.Input("x", {"1"}).Output("y").Node("Loop", {"", "", "x"}, {"y"}, {OnnxGraph::Subgraph("body", body)});
  const auto run = [](const hearth_op_call& call) {
    Elements<float>(call.outputs[0])[0] = 2 * Elements<float>(call.inputs[0])[0];
    return Status::Ok();
  };
  const std::string file = OnnxFile(graph);
  const Model model = Read(std::as_bytes(std::span(file)), With("my.ops::Double", SameAsInput, run));
  Session session = Opened(model);
  EXPECT_THAT(Answer(session, {3}), ElementsAre(24));
  EXPECT_THAT(Answer(session, {1}), ElementsAre(32));
}

INSTANTIATE_TEST_SUITE_P(Devices, CustomOps, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

// x -> NEG -> BYTES -> NEG, in 8 bits.
TEST(CustomOp, ReadsAndWritesQuantizedValuesAsTheyAreStored) {
  TfliteWriter writer;
  const WrittenQuantization grid{{0.5f}, {3}};
  const int32_t x = writer.AddTensor({"x", {4}, wire::TensorType_INT8, grid});
  const int32_t a = writer.AddTensor({"a", {4}, wire::TensorType_INT8, grid});
  const int32_t y = writer.AddTensor({"y", {4}, wire::TensorType_INT8, {{0.25f}, {-1}}});
  writer.AddOperator(kNegate, {x}, {a});
  writer.AddCustomOperator("BYTES", {a}, {y});
  const auto run = [](const hearth_op_call& call) {
    EXPECT_EQ(call.inputs[0].scale_count, 1u);
    EXPECT_EQ(call.inputs[0].scales[0], 0.5f);
    EXPECT_EQ(call.inputs[0].zero_points[0], 3);
    EXPECT_EQ(call.outputs[0].scales[0], 0.25f);
    std::ranges::copy(Elements<int8_t>(call.inputs[0]), Elements<int8_t>(call.outputs[0]).begin());
    return Status::Ok();
  };
  const Result<Model> model = Model::FromMemory(writer.Finish({x}, {y}), "memory", With("BYTES", SameAsInput, run));
  ASSERT_TRUE(model.ok()) << model.status().message();
  Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(session->SetInput<int8_t>(0, std::vector<int8_t>{3, 4, 10, -5}).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_THAT(session->output<int8_t>(0).value(), ElementsAre(3, 2, -4, 11));
}

TEST(CustomOp, ThatNobodyRegisteredIsRefusedWithTheWayOut) {
  EXPECT_THAT(StatusOf({}), AllOf(HasSubstr("op 1 SCALE is not known to Hearth"), HasSubstr("--ops FILE")));
  OnnxGraph graph;
  graph.Input("x", {"1"}).Output("y").Node("Affine", {"x"}, {"y"}, {}, "my.ops");
  const std::string file = OnnxFile(graph);
  EXPECT_THAT(StatusOf({}, std::as_bytes(std::span(file))),
              AllOf(HasSubstr("register it as 'my.ops::Affine'"), HasSubstr("--ops FILE")));
}

TEST(CustomOp, FailuresAreErrorsOfTheCallThatNameOperatorAndNode) {
  const Call fails = [](const hearth_op_call&) { return Status(StatusCode::kUnavailable, "the table is gone"); };
  const Call throws = [](const hearth_op_call&) -> Status { throw std::runtime_error("it burst"); };
  const Call throws_number = [](const hearth_op_call&) -> Status { throw 7; };
  for (const auto& [call, text] :
       {std::pair{fails, "the table is gone"}, {throws, "it burst"}, {throws_number, "threw"}}) {
    const auto is_named = AllOf(HasSubstr("SCALE (operator 1)"), HasSubstr("failed"), HasSubstr(text));
    EXPECT_THAT(StatusOf(With("SCALE", call, Scale)), is_named);
    EXPECT_THAT(StatusOf(With("SCALE", SameAsInput, call)), is_named);
  }
}

TEST(CustomOp, FailuresBlameNeitherTheDeviceNorWhatIsStored) {
  for (const StatusCode code : {StatusCode::kUnavailable, StatusCode::kDeviceLost, StatusCode::kResourceExhausted,
                                StatusCode::kInternal, StatusCode::kInvalidArgument}) {
    const Call fails = [code](const hearth_op_call&) { return Status(code, "not now"); };
    const Result<Model> model = Model::FromMemory(ScaleModel(), "memory", With("SCALE", SameAsInput, fails));
    ASSERT_TRUE(model.ok()) << model.status().message();
    Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
    ASSERT_TRUE(session.ok()) << session.status().message();
    ASSERT_TRUE(session->SetInput(0, std::vector<std::byte>(session->inputs()[0].size_bytes)).ok());
    EXPECT_EQ(session->Run().code(), StatusCode::kInvalidArgument);
  }
}

TEST(CustomOp, AttributesWithoutATypeKeepTheirNumbers) {
  OnnxGraph graph;
  graph.Input("x", {"4"}).Output("y");
  graph.Node("Affine", {"x"}, {"y"}, {OnnxGraph::Real("factor", 2.5f, false)}, "my.ops");
  const auto run = [](const hearth_op_call& call) -> Status {
    const hearth_op_attribute& factor = call.attributes[0];
    if (factor.is_list != 0 || factor.float_count != 1) return Status(StatusCode::kInvalidArgument, "no number");
    Elements<float>(call.outputs[0])[0] = factor.floats[0];
    return Status::Ok();
  };
  const std::string file = OnnxFile(graph);
  EXPECT_EQ(StatusOf(With("my.ops::Affine", SameAsInput, run), std::as_bytes(std::span(file))), "");
}

TEST(CustomOp, ImpossibleResultsAreRefused) {
  const auto with = [](const char* dtype, int32_t rank, int32_t first) {
    const Call infer = [=](const hearth_op_call& call) {
      call.outputs[0].dtype = dtype;
      call.outputs[0].rank = rank;
      call.outputs[0].shape[0] = first;
      return Status::Ok();
    };
    return StatusOf(With("SCALE", infer, Scale));
  };
  EXPECT_THAT(with("float99", 1, 4), HasSubstr("the type 'float99'"));
  EXPECT_THAT(with(nullptr, 1, 4), HasSubstr("the type ''"));
  EXPECT_THAT(with("float32", 9, 4), HasSubstr("the rank 9"));
  EXPECT_THAT(with("float32", -1, 4), HasSubstr("the rank -1"));
  EXPECT_THAT(with("float32", 1, -4), HasSubstr("impossible shape"));
}

TEST(CustomOp, OverConstantsIsNotRunWhileAModelIsRead) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}});
  const int32_t c = writer.AddConstant<float>({"c", {2}}, {1, 2});
  const int32_t scaled = writer.AddTensor({"scaled", {2}}), y = writer.AddTensor({"y", {2}});
  writer.AddCustomOperator("SCALE", {c}, {scaled}, {5});
  writer.AddOperator(0, {x, scaled}, {y});
  std::atomic<int> runs = 0;
  const Call count = [&](const hearth_op_call& call) {
    ++runs;
    return Scale(call);
  };
  const auto infer = [](const hearth_op_call& call) {
    EXPECT_EQ(Elements<float>(call.inputs[0])[1], 2.0f) << "constants are known while shapes are inferred";
    return SameAsInput(call);
  };
  const Result<Model> model = Model::FromMemory(writer.Finish({x}, {y}), "memory", With("SCALE", infer, count));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(runs, 0);
  Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(Answer(*session, {1, 1}), ElementsAre(6, 11));
}

TEST(CustomOp, IsRefusedByTheReferenceWithASentence) {
  const Result<Model> model = Model::FromMemory(ScaleModel(), "memory", With("SCALE", SameAsInput, Scale));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const ReferenceTensor x{Shape{1, 4}, {1, -2, 3, 4}};
  EXPECT_THAT(EvaluateGraph(model->data().graph, {&x, 1}).status().message(),
              HasSubstr("op 1 SCALE is the program's own"));
}

TEST(CustomOp, NameAndVersionArePartOfThePlansKey) {
  const DeviceInfo device;
  const auto key_with = [&](const std::string& version) {
    const Result<Model> model = Model::FromMemory(ScaleModel(), "memory", With("SCALE", SameAsInput, Scale, version));
    EXPECT_TRUE(model.ok()) << model.status().message();
    const Graph& graph = model->data().graph;
    PlanRequest request{&graph, std::string("model"), &device, LowerOptions(), std::string()};
    request.custom_ops = CustomOpsIn(graph);
    return KeyOf(request);
  };
  EXPECT_EQ(key_with("1").digest(), key_with("1").digest());
  EXPECT_NE(key_with("1").digest(), key_with("2").digest());
}

TEST(CustomOp, LivesAsLongAsModelsAndSessions) {
  auto functions = std::make_shared<GivenFunctions>(SameAsInput, Scale);
  const std::weak_ptr<GivenFunctions> watched = functions;
  {
    ModelOptions options;
    options.custom_ops.push_back({"SCALE", "", std::move(functions)});
    auto model = std::make_unique<Model>(Model::FromMemory(ScaleModel(), "memory", options).value());
    options = {};
    Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_FALSE(watched.expired());
    EXPECT_THAT(Answer(*session, {1, 2, 3, 4}), ElementsAre(3, 6, 9, 12));
  }
  EXPECT_TRUE(watched.expired());
}

TEST(CustomOp, RegistrationsThatCantBeUsedAreRefused) {
  ModelOptions options = With("SCALE", SameAsInput, Scale);
  options.custom_ops.push_back(options.custom_ops[0]);
  EXPECT_THAT(StatusOf(options), HasSubstr("'SCALE' is registered twice"));
  EXPECT_THAT(StatusOf(With("", SameAsInput, Scale)), HasSubstr("without a name"));
  options.custom_ops = {{"SCALE", "", nullptr}};
  EXPECT_THAT(StatusOf(options), HasSubstr("without functions"));
  const Result<Model> model = Model::FromMemory(ScaleModel());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(Session::Create(*model, {.device = "cpu", .model = With("SCALE", SameAsInput, Scale)}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(CustomOp, LibrariesThatCantBeUsedAreRefused) {
  const auto with = [](const std::string& path) {
    ModelOptions options;
    options.op_libraries = {path};
    return StatusOf(options);
  };
  EXPECT_THAT(with("/no/such.so"), AllOf(HasSubstr("library of operators '/no/such.so'"), HasSubstr("no such file")));
  EXPECT_THAT(with("/proc/self/cmdline"), HasSubstr("library of operators '/proc/self/cmdline'"));
  EXPECT_THAT(with(HEARTH_NO_OPS), HasSubstr("no function hearth_ops_v1"));
  EXPECT_THAT(with(HEARTH_OLD_OPS), HasSubstr("version 2, this Hearth knows version 1"));
}

}  // namespace
}  // namespace hearth
