// Which nodes on the CPU make one step of a plan, and what such a step is given.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "backends/cpu/backend.h"
#include "backends/cpu/cpu_executor.h"
#include "backends/null/device.h"
#include "hal/run/plan_runs.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

size_t CpuSegments(const LowerOptions& options) {
  const Graph graph = testing::Parsed(R"(graph "three"
%0 = input : float32[1x4x4x8] "x"
%1 = softmax(%0) : float32[1x4x4x8] "a" node "first" operator 0
%2 = reshape(%1) shape=1x16x8 : float32[1x16x8] "b" node "reshape" operator 1
%3 = softmax(%2) : float32[1x16x8] "c" node "second" operator 2
output %3
)");
  const Plan plan = testing::Lowered(graph, NullDeviceInfo(), options);
  EXPECT_TRUE(plan.dispatches.empty());
  return static_cast<size_t>(std::ranges::count(plan.segments, Executor::kCpu, &Segment::executor));
}

// A step on the CPU reads what lies on the device at its start, and the reshape is another name for what lies there.
TEST(CpuSegments, ANodeBehindAReshapeOnTheDeviceIsAStepOfItsOwn) {
  LowerOptions options{.cpu_ops = {"softmax"}};
  EXPECT_EQ(CpuSegments(options), 2u);
  options.cpu_ops.push_back("reshape");
  EXPECT_EQ(CpuSegments(options), 1u);
}

// Notes where a program finds its values.
class NotingExecutor final : public HostExecutor {
 public:
  using Places = std::map<ValueId, std::span<const std::byte>>;

  Result<std::unique_ptr<HostProgram>> Prepare(const Graph&, std::span<const int>, std::span<const ValueId>, int,
                                               const ModelBytesRead&) override {
    return std::unique_ptr<HostProgram>(std::make_unique<Program>(places_));
  }
  std::unique_ptr<HostExecutor> Beside() const override { return nullptr; }
  uint64_t live_weights_bytes() const override { return 0; }
  std::shared_ptr<BackgroundThreads> background_threads() const override { return nullptr; }
  const Places& places() const { return places_; }

 private:
  class Program final : public HostProgram {
   public:
    explicit Program(Places& places) : places_(places) {}
    Status Run(std::span<const HostTensor> tensors, const HostRun&) override {
      for (const HostTensor& tensor : tensors) places_[tensor.value] = tensor.bytes;
      return Status::Ok();
    }
    std::span<std::byte> OutputInPlace(ValueId) const override { return {}; }
    uint64_t arena_bytes() const override { return 0; }
    uint64_t naive_bytes() const override { return 0; }
    uint64_t lower_bound_bytes() const override { return 0; }
    uint64_t weights_bytes() const override { return 0; }
    uint64_t shared_weights_bytes() const override { return 0; }
    uint64_t found_weights_bytes() const override { return 0; }

   private:
    Places& places_;
  };

  Places places_;
};

Graph SoftmaxAndItsInput() {
  return testing::Parsed(R"(graph "one"
%0 = input : float32[1x8] "x"
%1 = softmax(%0) : float32[1x8] "y" operator 0
output %1
output %0
)");
}

// On the CPU. Both must outlive it.
ReadyPlan ReadyOn(const Graph& graph, HostExecutor& executor) {
  static const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  Result<ReadyPlan> ready =
      MakePlanReady(testing::Lowered(graph, cpu->info()), {.device = cpu.get(), .graph = &graph, .host = &executor});
  EXPECT_TRUE(ready.ok()) << ready.status().message();
  return std::move(ready).value();
}

TEST(CpuSegments, InputsAreReadWhereTheCallersLie) {
  const Graph graph = SoftmaxAndItsInput();
  NotingExecutor executor;
  const ReadyPlan ready = ReadyOn(graph, executor);
  const std::vector<std::byte> x(32, std::byte{7});
  std::vector<std::byte> y(32), same(32);
  const std::span<const std::byte> inputs[] = {x};
  const std::span<std::byte> outputs[] = {y, same};
  ASSERT_TRUE(ready.runs->Run(inputs, outputs).ok());
  EXPECT_EQ(executor.places().at(0).data(), x.data());
  EXPECT_EQ(same, x);
}

TEST(CpuSegments, OutputsOfTheLastStepAreWrittenWhereTheCallersLie) {
  const Graph graph = testing::Parsed(R"(graph "one"
%0 = input : float32[1x8] "x"
%1 = softmax(%0) : float32[1x8] "y" operator 0
output %1
)");
  NotingExecutor executor;
  const ReadyPlan ready = ReadyOn(graph, executor);
  const std::vector<std::byte> x(32);
  std::vector<std::byte> y(32);
  const std::span<const std::byte> inputs[] = {x};
  const std::span<std::byte> outputs[] = {y};
  ASSERT_TRUE(ready.runs->Run(inputs, outputs).ok());
  EXPECT_EQ(executor.places().at(1).data(), y.data());
}

TEST(CpuSegments, AnInputThatIsAnOutputIsHandedOutBeforeItsMemoryIsWritten) {
  const Graph graph = SoftmaxAndItsInput();
  const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
  const ReadyPlan ready = ReadyOn(graph, *executor);
  std::vector<float> x(8, 3.0f), same(8);
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(x)),
                                          std::as_writable_bytes(std::span(same))};
  ASSERT_TRUE(ready.runs->Run(inputs, outputs).ok());
  EXPECT_EQ(same, std::vector<float>(8, 3.0f));
  EXPECT_FLOAT_EQ(x[0], 0.125f);
}

}  // namespace
}  // namespace hearth
