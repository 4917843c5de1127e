// What a network remembers between runs, from the graph to a session on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "hearth/graph_builder.h"
#include "hearth/session.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/graph_from_text.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

// sum' = sum + x; last' = sum in another shape; outputs sum' and last + x.
constexpr std::string_view kAccumulator = R"(graph "accumulator"
%0 = input : float32[1x1x2x4] "x"
%1 = value : float32[1x1x2x4] "sum"
%2 = value : float32[1x2x1x4] "last"
%3 = add(%1, %0) : float32[1x1x2x4] "sum_next" operator 0
%4 = reshape(%1) shape=1x2x1x4 : float32[1x2x1x4] "last_next" operator 1
%5 = reshape(%0) shape=1x2x1x4 : float32[1x2x1x4] "x_turned" operator 2
%6 = add(%2, %5) : float32[1x2x1x4] "last_plus_x" operator 3
output %3
output %6
state %1 = %3
state %2 = %4
)";

Graph Accumulator() {
  return testing::Parsed(kAccumulator);
}

std::string MistakeIn(std::string text, const std::string& line, const std::string& instead) {
  const size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  text.replace(at, line.size(), instead);
  const Result<Graph> graph = GraphFromText(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::string(graph->Validate().message()) : "";
}

TEST(State, SurvivesTheTextForm) {
  const Graph graph = Accumulator();
  EXPECT_EQ(ToText(graph), kAccumulator);
  EXPECT_EQ(graph.Clone().states, graph.states);
  EXPECT_TRUE(graph.Validate().ok()) << graph.Validate().message();
}

TEST(State, MustBeSomethingThatOnlyTheRunChanges) {
  const std::string text(kAccumulator);
  EXPECT_THAT(MistakeIn(text, "state %1 = %3", "state %0 = %3"), HasSubstr("a constant, an input or listed twice"));
  EXPECT_THAT(MistakeIn(text, "state %2 = %4", "state %1 = %4"), HasSubstr("listed twice"));
  EXPECT_THAT(MistakeIn(text, "state %2 = %4", "state %2 = %0"), HasSubstr("no node makes %0"));
  EXPECT_THAT(MistakeIn(text, "output %6", "output %2"), HasSubstr("is state, which the run changes"));
}

TEST(State, HasOneDescriptionBeforeAndAfterARun) {
  Graph graph = Accumulator();
  graph.value(2).desc.shape = {1, 2, 1, 5};
  graph.nodes().resize(3);
  graph.outputs = {3};
  EXPECT_THAT(InferShapes(graph).message(), HasSubstr("its next content 'last_next' is float32[1x2x1x4]"));
}

TEST(State, IsAdvancedByTheReferenceEvaluation) {
  const Graph graph = Accumulator();
  const std::vector<ReferenceTensor> x = {{{1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}};
  std::vector<ReferenceTensor> states;
  for (int run = 1; run <= 3; ++run) {
    const auto outputs = EvaluateGraph(graph, x, &states);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs.value()[0].values[7], 8.0 * run);
    EXPECT_EQ(outputs.value()[1].values[7], 8.0 * (run == 1 ? 1 : run - 1)) << "run " << run;
  }
}

TEST(State, KeepsWhatPassesWouldTakeAway) {
  Graph graph = testing::Parsed(R"(graph "shift"
%0 = input : float32[1x4] "x"
%1 = value : float32[1x4] "seen"
%2 = copy(%0) : float32[1x4] "seen_next" operator 0
%3 = add(%1, %0) : float32[1x4] "sum" operator 1
%4 = relu(%3) : float32[1x4] "y" operator 2
%5 = value : float32[1x4] "sums"
%6 = add(%5, %1) : float32[1x4] "other" operator 3
output %4
output %6
state %1 = %2
state %5 = %3
)");
  DeviceInfo device;
  ASSERT_TRUE(RunPasses(graph, device, {}).ok());
  EXPECT_TRUE(graph.Validate().ok()) << graph.Validate().message();
  EXPECT_EQ(graph.nodes().size(), 4u) << ToText(graph);
}

DeviceInfo PlanDevice() {
  DeviceInfo info;
  info.backend = "opencl";
  info.max_local_invocations = 256;
  info.max_local_size = {256, 256, 64};
  info.max_storage_buffers = 8;
  return info;
}

TEST(State, HasMemoryThatNoOtherTensorGets) {
  Graph graph = Accumulator();
  const Result<Plan> plan = Lower(graph, PlanDevice(), {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->states.size(), 2u);
  for (const PlanState& state : plan->states) {
    ASSERT_TRUE(state.on_device);
    EXPECT_EQ(plan->buffers[state.transfer.range.buffer].role, BufferRole::kState);
  }
  EXPECT_NE(plan->states[0].transfer.range, plan->states[1].transfer.range);
  EXPECT_EQ(plan->memory.state_bytes, plan->buffers[plan->states[0].transfer.range.buffer].size_bytes);
  const Result<Plan> again = DeserializePlan(SerializePlan(*plan));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(SerializePlan(*again), SerializePlan(*plan));
}

// The accumulator as a model; "last" comes through a copy of another shape.
Result<Model> AccumulatorModel() {
  GraphBuilder builder("accumulator");
  const auto x = builder.Input("x", {1, 1, 2, 4});
  const auto sum = builder.State("sum", {1, 1, 2, 4});
  const auto last = builder.State("last", {1, 2, 1, 4});
  const auto next = builder.Binary("add", sum, x);
  builder.Update(sum, next);
  builder.Update(last, builder.Reshape(sum, {1, 2, 1, 4}));
  builder.Output(next, "sum_next");
  builder.Output(builder.Binary("sub", last, builder.Reshape(x, {1, 2, 1, 4})), "last_minus_x");
  return std::move(builder).Build();
}

// Three runs, a reset, two runs.
void CheckAccumulator(const std::string& device, const std::vector<std::string>& cpu_ops) {
  SCOPED_TRACE(device + ", on the CPU: " + (cpu_ops.empty() ? "nothing" : cpu_ops[0]));
  const Result<Model> model = AccumulatorModel();
  ASSERT_TRUE(model.ok()) << model.status().message();
  Result<Session> session = Session::Create(*model, {.device = device, .use_cache = false, .cpu_ops = cpu_ops});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(x))).ok());
  const int sums_before[] = {0, 1, 2, 0, 1};  // in units of x
  for (int run = 0; run < 5; ++run) {
    const Status reset = run == 3 ? session->ResetState() : Status::Ok();
    ASSERT_TRUE(reset.ok()) << reset.message();
    const Status status = session->Run();
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> sum(8), last(8);
    std::memcpy(sum.data(), session->output(0).data(), 32);
    std::memcpy(last.data(), session->output(1).data(), 32);
    const int before = sums_before[run], one_earlier = before > 0 ? before - 1 : 0;
    for (int k = 0; k < 8; ++k) {
      EXPECT_EQ(sum[k], x[k] * static_cast<float>(before + 1)) << "run " << run << ", element " << k;
      EXPECT_EQ(last[k], x[k] * static_cast<float>(one_earlier - 1)) << "run " << run << ", element " << k;
    }
  }
}

TEST(State, AccumulatesAndIsResetOnTheCpu) {
  CheckAccumulator("cpu", {});
}

// On each GPU backend: all on the device, then nodes that read, or make, state moved to the CPU.
TEST(State, AccumulatesAndIsResetOnEveryDevice) {
  int devices = 0;
  for (const ListedDevice& listed : ListAllDevices()) {
    if (listed.backend->is_host() || !listed.candidate.usable) continue;
    ++devices;
    CheckAccumulator(listed.id, {});
    CheckAccumulator(listed.id, {"add"});      // "sum" is read on both sides and made by the CPU
    CheckAccumulator(listed.id, {"reshape"});  // "last" is made by the CPU, read by the device
    CheckAccumulator(listed.id, {"sub"});      // "last" is made by the device, read by the CPU
  }
  if (devices == 0) GTEST_SKIP() << "no usable GPU device";
}

TEST(State, OfABuilderMustBeUpdatedOnce) {
  GraphBuilder builder("forgotten");
  const auto x = builder.Input("x", {1, 4});
  const auto state = builder.State("s", {1, 4});
  builder.Output(builder.Binary("add", state, x), "y");
  EXPECT_THAT(std::move(builder).Build().status().message(), HasSubstr("\"s\" has no next content"));
  GraphBuilder twice("twice");
  const auto input = twice.Input("x", {1, 4});
  const auto sum = twice.State("s", {1, 4});
  const auto next = twice.Binary("add", sum, input);
  twice.Update(sum, next);
  twice.Update(sum, next);
  twice.Output(twice.Unary("neg", next), "y");
  EXPECT_THAT(std::move(twice).Build().status().message(), HasSubstr("updated twice"));
}

}  // namespace
}  // namespace hearth
