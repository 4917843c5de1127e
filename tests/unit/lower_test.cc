#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/plan/plan_builder.h"
#include "core/plan/storage.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

DeviceInfo LoweringDevice(Dialect dialect, DeviceType type) {
  DeviceInfo info;
  info.backend = dialect == Dialect::kOpenCl ? "opencl" : "vulkan";
  info.dialect = dialect;
  info.type = type;
  info.name = "a device of the test";
  info.max_local_invocations = 256;
  info.max_local_size = {256, 256, 64};
  info.max_storage_buffers = 8;
  info.max_texel_elements = 1u << 20;
  return info;
}

// Convolution 3x3, depthwise 3x3, relu, reshape of equal channels, softmax.
Graph SmallNetwork() {
  return testing::Parsed(R"(graph "small"
%0 = input : float32[1x16x16x8] "x"
%1 = constant : float32[12x3x3x8] "w1" = fill(0.01)
%2 = constant : float32[1x3x3x12] "w2" = fill(0.02)
%3 = conv_2d(%0, %1) padding=same : float32[1x16x16x12] "a" node "conv" operator 0
%4 = depthwise_conv_2d(%3, %2) padding=same : float32[1x16x16x12] "b" node "depthwise" operator 1
%5 = relu(%4) : float32[1x16x16x12] "c" node "relu" operator 2
%6 = reshape(%5) shape=1x256x12 : float32[1x256x12] "d" node "reshape" operator 3
%7 = softmax(%6) : float32[1x256x12] "e" node "softmax" operator 4
output %7
)");
}

Plan PlanFor(const DeviceInfo& device, const LowerOptions& options = {}) {
  return testing::Lowered(SmallNetwork(), device, options);
}

bool AnyReadThrough(const Plan& plan, AccessPath path) {
  return std::any_of(plan.kernels.begin(), plan.kernels.end(), [&](const KernelSource& kernel) {
    return std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                       [&](const TensorArg& arg) { return arg.direction == ArgDirection::kRead && arg.path == path; });
  });
}

TEST(Lower, ReadsThroughTexelBuffersOnAGraphicsApiOfACpuOnly) {
  EXPECT_FALSE(AnyReadThrough(PlanFor(LoweringDevice(Dialect::kVulkan, DeviceType::kCpu)), AccessPath::kBuffer));
  EXPECT_FALSE(
      AnyReadThrough(PlanFor(LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu)), AccessPath::kTexelBuffer));
  EXPECT_FALSE(AnyReadThrough(PlanFor(LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu)), AccessPath::kTexelBuffer));
}

TEST(Lower, ReadsAnArgumentThatIsTooLargeForATexelBufferAsABuffer) {
  DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kCpu);
  device.max_texel_elements = 16 * 16 * 2;  // the input fits, the wider tensors don't
  const Plan plan = PlanFor(device);
  EXPECT_TRUE(AnyReadThrough(plan, AccessPath::kBuffer));
  EXPECT_TRUE(AnyReadThrough(plan, AccessPath::kTexelBuffer));
}

TEST(Lower, LeavesATensorOfMoreThan32BitsOfTexelsToTheCpu) {
  // The product of the leading dimensions is 2^32: counted in 32 bits it would be 0. Channels up to the next multiple
  // of 4 are 2^31.
  for (const char* shape : {"65536x65536x1x1x4", "2147483647"}) {
    const Graph graph = testing::Parsed(fmt::format(R"(graph "huge"
%0 = input : float32[{0}] "x"
%1 = relu(%0) : float32[{0}] "y" node "relu" operator 0
output %1
)",
                                                    shape));
    const std::vector<Placement> placements =
        PlaceNodes(graph, LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu), {});
    ASSERT_EQ(placements.size(), 1u);
    EXPECT_FALSE(placements[0].on_device) << shape;
    EXPECT_THAT(placements[0].reason, ::testing::HasSubstr("more than 2^31 elements"));
  }
}

std::string DefineOf(const Plan& plan, std::string_view kernel, std::string_view define) {
  for (const KernelSource& source : plan.kernels) {
    for (const Define& known : source.defines) {
      if (source.name == kernel && known.name == define) return known.value;
    }
  }
  return "";
}

TEST(Lower, LetsASubgroupShareWeightsWhereItDividesTheLanesOfASoftwareGpu) {
  const auto sharing = [](DeviceType type, uint32_t subgroup_size) {
    DeviceInfo device = LoweringDevice(Dialect::kVulkan, type);
    device.subgroup_size = subgroup_size;
    return DefineOf(PlanFor(device), "conv_tile", "SUBGROUP");
  };
  EXPECT_EQ(sharing(DeviceType::kCpu, 1), "1");
  EXPECT_EQ(sharing(DeviceType::kCpu, 4), "4");
  EXPECT_EQ(sharing(DeviceType::kCpu, 8), "8");
  EXPECT_EQ(sharing(DeviceType::kCpu, 16), "1");
  EXPECT_EQ(sharing(DeviceType::kDiscreteGpu, 8), "1");
}

TEST(Lower, WritesFloatsInPairsOnlyOnASoftwareGpuWithIntegersOf64Bits) {
  const auto writes_pairs = [](DeviceType type, bool int64) {
    DeviceInfo device = LoweringDevice(Dialect::kVulkan, type);
    device.int64 = int64;
    const Plan plan = PlanFor(device);
    return std::any_of(plan.kernels.begin(), plan.kernels.end(), [](const KernelSource& kernel) {
      return std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                         [](const TensorArg& arg) { return arg.path == AccessPath::kBuffer64; });
    });
  };
  EXPECT_TRUE(writes_pairs(DeviceType::kCpu, true));
  EXPECT_FALSE(writes_pairs(DeviceType::kCpu, false));
  EXPECT_FALSE(writes_pairs(DeviceType::kDiscreteGpu, true));
}

TEST(Lower, LeavesRoomForTexelViewsWhoseSizesAllLookAlike) {
  const Plan plan = PlanFor(LoweringDevice(Dialect::kVulkan, DeviceType::kCpu));
  int views = 0;
  for (const Dispatch& dispatch : plan.dispatches) {
    const std::vector<TensorArg>& args = plan.kernels[dispatch.kernel].tensors;
    for (size_t k = 0; k < args.size(); ++k) {
      if (args[k].path != AccessPath::kTexelBuffer) continue;
      const BufferRange& range = dispatch.tensors[k];
      const uint64_t view_bytes =
          TexelViewBytes(range.offset_bytes, range.size_bytes, plan.buffers[range.buffer].size_bytes, 16, 1u << 20);
      EXPECT_NE(view_bytes >> 8 & 0xff, 0u) << dispatch.label;
      ++views;
      for (size_t other = 0; other < args.size(); ++other) {  // the room is nobody's
        const BufferRange& taken = dispatch.tensors[other];
        if (other == k || taken.buffer != range.buffer || taken == range) continue;
        EXPECT_TRUE(range.offset_bytes + view_bytes <= taken.offset_bytes ||
                    taken.offset_bytes + taken.size_bytes <= range.offset_bytes)
            << dispatch.label;
      }
    }
  }
  EXPECT_GE(views, 6);
}

TEST(Lower, GivesHardwareWorkGroupsOfAtLeastAWarp) {
  for (const KernelSource& kernel : PlanFor(LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu)).kernels) {
    EXPECT_GE(kernel.local_size[0] * kernel.local_size[1] * kernel.local_size[2], 32u) << kernel.name;
  }
}

TEST(Lower, MakesNoDispatchForAReshapeThatMovesNothing) {
  // Nor for the relu, which the depthwise convolution takes in.
  EXPECT_EQ(PlanFor(LoweringDevice(Dialect::kVulkan, DeviceType::kCpu)).dispatches.size(), 3u);
}

TEST(Lower, KeepsOperationsOnTheCpuByNameAndByIndex) {
  const DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu);
  LowerOptions options;
  options.cpu_ops = {"SOFTMAX", "op:0"};  // as model files spell it
  const Graph graph = SmallNetwork();
  const std::vector<Placement> placements = PlaceNodes(graph, device, options);
  EXPECT_FALSE(placements.front().on_device);
  EXPECT_TRUE(placements[1].on_device);
  EXPECT_FALSE(placements.back().on_device);
  EXPECT_FALSE(placements.back().reason.empty());
}

TEST(Lower, LeavesToTheHostWhatABufferDoesNotHold) {
  DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu);
  device.max_buffer_bytes = 4096;
  const Plan plan = PlanFor(device);
  EXPECT_EQ(plan.dispatches.size(), 0u);
  ASSERT_EQ(plan.fallbacks.size(), 5u);
  EXPECT_THAT(plan.fallbacks[0].reason, ::testing::HasSubstr("one binding on"));
  EXPECT_THAT(plan.fallbacks[3].reason, ::testing::HasSubstr("the network is too large for the device"));
}

// Everything but the first convolution, whose 3 slices and filters are the largest, fits.
TEST(Lower, LeavesToTheHostOnlyTheOperationThatABindingDoesNotHold) {
  DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kDiscreteGpu);
  device.max_binding_bytes = 6000;
  const Graph graph = testing::Parsed(R"(graph "wide"
%0 = input : float32[1x8x8x8] "x"
%1 = neg(%0) : float32[1x8x8x8] "a" node "neg" operator 0
%2 = resize_nearest(%1) size=32x32 : float32[1x32x32x8] "b" node "large" operator 1
%3 = max_pool_2d(%2) kernel=4x4 stride=4x4 : float32[1x8x8x8] "c" node "pool" operator 2
%4 = abs(%3) : float32[1x8x8x8] "d" node "abs" operator 3
output %4
)");
  const Plan plan = testing::Lowered(graph, device);
  EXPECT_EQ(plan.dispatches.size(), 2u);
  ASSERT_EQ(plan.fallbacks.size(), 2u);
  EXPECT_EQ(plan.fallbacks[0].source_index, 1);
  EXPECT_EQ(plan.fallbacks[1].source_index, 2);
  EXPECT_THAT(plan.fallbacks[0].reason, ::testing::HasSubstr("too large for the device"));
}

TEST(Lower, LeavesToTheHostWhatHasTooManyWorkGroups) {
  DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu);
  device.max_group_count = {1, 1, 1};
  const Plan plan = PlanFor(device);
  ASSERT_FALSE(plan.fallbacks.empty());
  EXPECT_THAT(plan.fallbacks[0].reason, ::testing::HasSubstr("work groups"));
}

// Bindings are what APIs limit to 128 MiB and less; the arena is a buffer of which parts are bound.
TEST(Lower, TakesAnArenaLargerThanABinding) {
  DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu);
  const uint64_t arena_bytes = PlanFor(device).memory.arena_bytes;
  device.max_binding_bytes = arena_bytes - 1;
  const Plan plan = PlanFor(device);
  EXPECT_TRUE(plan.fallbacks.empty());
  EXPECT_EQ(plan.memory.arena_bytes, arena_bytes);
}

TEST(Lower, SplitsAnArenaThatOneBufferDoesNotHold) {
  DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu);
  device.max_buffer_bytes = PlanFor(device).memory.arena_bytes - 1;
  const Plan plan = PlanFor(device);
  EXPECT_TRUE(plan.fallbacks.empty());
  const auto arenas = std::count_if(plan.buffers.begin(), plan.buffers.end(),
                                    [](const BufferSpec& buffer) { return buffer.role == BufferRole::kArena; });
  EXPECT_EQ(arenas, 2);
  for (const BufferSpec& buffer : plan.buffers) EXPECT_LE(buffer.size_bytes, device.max_buffer_bytes);
}

// CL_DEVICE_MAX_PARAMETER_SIZE of embedded devices.
TEST(Lower, RunsWithArgumentsOf256Bytes) {
  DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kIntegratedGpu);
  device.max_argument_bytes = device.max_scalar_bytes = 256;
  device.max_storage_buffers = 256 / kPointerBytes;
  EXPECT_TRUE(PlanFor(device).fallbacks.empty());
}

TEST(Lower, GivesEqualPlansForEqualInputs) {
  const DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kCpu);
  EXPECT_EQ(SerializePlan(PlanFor(device)), SerializePlan(PlanFor(device)));
}

TEST(Lower, LeavesLoopsThatADriverWouldCutShortToTheHost) {
  const Graph graph = testing::Parsed(R"(graph "long"
%0 = input : float32[1x70000] "x"
%1 = cumsum(%0) axis=1 : float32[1x70000] "y"
output %1
)");
  const Placement on_lavapipe = PlaceNodes(graph, LoweringDevice(Dialect::kVulkan, DeviceType::kCpu), {})[0];
  EXPECT_FALSE(on_lavapipe.on_device);
  EXPECT_EQ(on_lavapipe.reason, "its loops take 280000 turns; on drivers like this one at most 60000 are safe");
  EXPECT_TRUE(PlaceNodes(graph, LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu), {})[0].on_device);
  EXPECT_TRUE(PlaceNodes(graph, LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu), {})[0].on_device);
}

// A convolution before a max pool with argmax, and one after it.
TEST(Lower, KeepsWhatDecidesIndicesInFloat32) {
  const Graph graph = testing::Parsed(R"(graph "positions"
%0 = input : float32[1x8x8x8] "x"
%1 = constant : float32[8x1x1x8] "w1" = fill(0.01)
%2 = constant : float32[8x1x1x8] "w2" = fill(0.02)
%3 = conv_2d(%0, %1) : float32[1x8x8x8] "before"
%4, %5 = max_pool_argmax_2d(%3) kernel=2x2 stride=2x2 : float32[1x4x4x8] "pooled", float32[1x4x4x8] "where"
%6 = conv_2d(%4, %2) : float32[1x4x4x8] "behind"
output %5
output %6
)");
  DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu);
  device.fp16_storage = true;
  LowerOptions options{.precision = Precision::kFp16};
  const Plan plan = testing::Lowered(graph, device, options);
  std::vector<StorageType> filters;
  for (const PlanConstant& constant : plan.constants) {
    if (constant.recipe.layout == PackLayout::kMatrix) filters.push_back(constant.recipe.storage);
  }
  EXPECT_EQ(filters, (std::vector{StorageType::kFloat32, StorageType::kFloat16}));
}

// A convolution whose result meets the network's input, a slope per channel, a number, and a function.
Graph ChainNetwork(const char* behind) {
  const std::string text = std::string(R"(graph "chain"
%0 = input : float32[1x16x16x8] "x"
%1 = constant : float32[8x1x1x8] "w" = fill(0.01)
%2 = constant : float32[8] "per channel" = fill(0.5)
%3 = constant : float32[1] "number" = {2}
%4 = conv_2d(%0, %1) : float32[1x16x16x8] "a" node "conv" operator 0
)") + behind;
  return testing::Parsed(text);
}

constexpr const char* kChain = R"(%5 = add(%0, %4) activation=relu : float32[1x16x16x8] "b" node "add" operator 1
%6 = mul(%5, %2) : float32[1x16x16x8] "c" node "mul" operator 2
%7 = sub(%3, %6) : float32[1x16x16x8] "d" node "sub" operator 3
%8 = hard_swish(%7) : float32[1x16x16x8] "e" node "swish" operator 4
output %8
)";

size_t DispatchesOf(const Graph& graph, const DeviceInfo& device, const LowerOptions& options = {}) {
  const Result<Plan> plan = Lower(graph, device, options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? plan->dispatches.size() : 0;
}

TEST(Lower, ElementwiseNodesBecomePartOfTheKernelBeforeThem) {
  for (const auto& [dialect, type] :
       {std::pair{Dialect::kOpenCl, DeviceType::kDiscreteGpu}, {Dialect::kVulkan, DeviceType::kCpu}}) {
    const Result<Plan> plan = Lower(ChainNetwork(kChain), LoweringDevice(dialect, type), {});
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(plan->dispatches.size(), 1u);
    EXPECT_NE(plan->dispatches[0].label.find("\"conv\" (operator 0) + add"), std::string::npos);
    EXPECT_EQ(plan->memory.naive_bytes, 2u * 16 * 16 * 8 * 4) << "only the input and the last result are held";
  }
}

TEST(Lower, ADeviceThatCompilesSlowlyJoinsElementwiseNodesThatNeedNoFurtherProgram) {
  EXPECT_EQ(DispatchesOf(ChainNetwork(kChain), LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu)), 1u);
}

// The convolution and the pooling are there with hard_swish behind them and without: four programs for three or two.
TEST(Lower, ADeviceThatCompilesSlowlyKeepsElementwiseNodesApartThatNeedMoreProgramsUnlessSpeedIsToLast) {
  const Graph graph = ChainNetwork(R"(%5 = hard_swish(%4) : float32[1x16x16x8] "b" node "swish"
%6 = conv_2d(%5, %1) : float32[1x16x16x8] "c" node "conv2"
%7 = max_pool_2d(%6) kernel=3x3 padding=same : float32[1x16x16x8] "d" node "pool"
%8 = hard_swish(%7) : float32[1x16x16x8] "e" node "swish2"
%9 = max_pool_2d(%8) kernel=3x3 padding=same : float32[1x16x16x8] "f" node "pool2"
output %9
)");
  const DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu);
  EXPECT_EQ(DispatchesOf(graph, device), 6u);
  EXPECT_EQ(DispatchesOf(graph, device, {.preference = Preference::kSustainedSpeed}), 4u);
}

TEST(Lower, FewProgramsComeBeforeFewDispatchesForASingleAnswer) {
  LowerOptions options{.preference = Preference::kFastSingleAnswer};
  EXPECT_EQ(DispatchesOf(ChainNetwork(kChain), LoweringDevice(Dialect::kVulkan, DeviceType::kCpu), options), 5u);
}

TEST(Lower, AResultThatOthersNeedOrThatIsAnOutputStaysOne) {
  const DeviceInfo device = LoweringDevice(Dialect::kVulkan, DeviceType::kCpu);
  EXPECT_EQ(DispatchesOf(ChainNetwork(R"(%5 = relu(%4) : float32[1x16x16x8] "b" node "relu"
output %4
output %5
)"),
                         device),
            2u);
  EXPECT_EQ(DispatchesOf(ChainNetwork(R"(%5 = exp(%4) : float32[1x16x16x8] "b" node "exp"
%6 = tanh(%4) : float32[1x16x16x8] "c" node "tanh"
%7 = mul(%5, %6) : float32[1x16x16x8] "d" node "mul"
output %7
)"),
                         device),
            3u)
      << "exp and tanh both read the convolution's result; the product goes into the later of them";
}

TEST(Lower, AKernelTakesNoMoreArgumentsThanTheDeviceHasBuffers) {
  DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kDiscreteGpu);
  device.max_storage_buffers = 4;  // a convolution's own
  EXPECT_EQ(DispatchesOf(ChainNetwork(kChain), device), 3u) << "the sum apart, the product with it, the rest behind";
}

// A call of softmax with a mistake.
Status CallOfSoftmax(const std::function<void(KernelCall&)>& change) {
  const Graph graph = SmallNetwork();
  const DeviceInfo device = LoweringDevice(Dialect::kOpenCl, DeviceType::kCpu);
  PlanBuilder builder(graph, device, {});
  const Operand in = builder.Tensor(graph.inputs[0]), out = builder.Tensor(graph.outputs[0]);
  KernelCall call{.kernel = "softmax",
                  .tensors = TensorsOf<kernels::Softmax>({{"x", in}, {"y", out}}),
                  .scalars = {{"PIXELS", 1}, {"LINE", 1}, {"CHANNELS", 1}, {"N4", 1}, {"BETA", 1.0f}}};
  change(call);
  return builder.Call(graph.nodes()[0], call);
}

TEST(PlanBuilder, ACallThatIsNotWhatItsKernelTakesIsAnErrorThatNamesBoth) {
  EXPECT_TRUE(CallOfSoftmax([](KernelCall&) {}).ok());
  const std::pair<const char*, std::function<void(KernelCall&)>> mistakes[] = {
      {"x", [](KernelCall& call) { call.tensors.erase(call.tensors.begin()); }},
      {"BETA", [](KernelCall& call) { call.scalars.pop_back(); }},
      {"BETA", [](KernelCall& call) { call.scalars.back().scalar = 1; }},
      {"ROWS",
       [](KernelCall& call) {
         call.defines = {{"ROWS", "4"}};
       }},
  };
  for (const auto& [argument, change] : mistakes) {
    const Status status = CallOfSoftmax(change);
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(status.message(), ::testing::HasSubstr(argument));
    EXPECT_THAT(status.message(), ::testing::HasSubstr("softmax"));
  }
}

TEST(PlanBuilder, ACallOfNoKernelIsAnError) {
  EXPECT_EQ(CallOfSoftmax([](KernelCall& call) { call.kernel = {}; }).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace hearth
