// Products by a subgroup's matrices: candidates that fit the device, chosen by tuning or where the rule is forced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/null/device.h"
#include "core/device/device_rules.h"
#include "core/device/usable_limits.h"
#include "core/emit/arithmetic.h"
#include "core/emit/kernel_limits.h"
#include "core/emit/kernel_source.h"
#include "core/graph/evaluate.h"
#include "core/lowering/group_product.h"
#include "core/lowering/lower.h"
#include "core/lowering/tunable_layers.h"
#include "tests/testing/graph_from_text.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

DeviceInfo WithMatrices(std::array<uint32_t, 3> shape, uint32_t subgroup_size) {
  DeviceInfo device = NullDeviceInfo();
  device.dialect = Dialect::kVulkan;
  device.type = DeviceType::kDiscreteGpu;
  device.max_local_invocations = 1024;
  device.local_memory_bytes = 32768;
  device.matrix_shape = shape;
  device.subgroup_size = subgroup_size;
  return device;
}

constexpr std::array<uint32_t, 3> kSquare = {16, 16, 16};
constexpr ProductSize kManyChannels = {784, 256, 256};

Graph PointwiseLayer() {
  Result<Graph> graph = GraphFromText(
      "%0 = input : float32[1x28x28x64] \"x\"\n%1 = constant : float32[64x1x1x64] \"w\" = fill(pattern)\n"
      "%2 = conv_2d(%0, %1, none) : float32[1x28x28x64] \"y\" node \"conv\"\noutput %2\n");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(InferShapes(*graph).ok());
  return std::move(graph).value();
}

KernelSource KernelOfLayer(const DeviceInfo& device, Precision precision) {
  LowerOptions options;
  options.precision = precision;
  const Result<Plan> plan = Lower(PointwiseLayer(), device, options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan->kernels.at(0);
}

TEST(CooperativeProduct, HasCandidatesForTheShapesOfDrivers) {
  EXPECT_EQ(CooperativeCandidates(WithMatrices({8, 8, 8}, 8), kManyChannels).size(), 7u) << "lavapipe";
  EXPECT_EQ(CooperativeCandidates(WithMatrices(kSquare, 64), kManyChannels).size(), 7u) << "RADV";
  EXPECT_EQ(CooperativeCandidates(WithMatrices(kSquare, 32), kManyChannels).size(), 7u) << "NVIDIA";
  EXPECT_EQ(CooperativeCandidates(WithMatrices({8, 16, 16}, 32), kManyChannels).size(), 7u) << "Intel";
}

TEST(CooperativeProduct, IsNotForDevicesWithoutMatricesOrRoom) {
  EXPECT_THAT(CooperativeCandidates(WithMatrices({0, 0, 0}, 32), kManyChannels), IsEmpty());
  DeviceInfo device = WithMatrices(kSquare, 32);
  device.local_memory_bytes = 1024;
  EXPECT_THAT(CooperativeCandidates(device, kManyChannels), IsEmpty());
  device = WithMatrices(kSquare, 32);
  device.max_local_invocations = 16;
  EXPECT_THAT(CooperativeCandidates(device, kManyChannels), IsEmpty());
  device = WithMatrices(kSquare, 128);
  EXPECT_THAT(CooperativeCandidates(device, kManyChannels), IsEmpty()) << "a sum has 64 texels";
  EXPECT_THAT(CooperativeCandidates(WithMatrices(kSquare, 32), {7, 64, 64}), IsEmpty()) << "less than half of a tile";
  EXPECT_THAT(CooperativeCandidates(WithMatrices(kSquare, 32), {int64_t{1} << 24, 64, 64}), IsEmpty());
}

TEST(CooperativeProduct, ShapesThatNoKernelCanUseAreLeftOut) {
  for (const std::array<uint32_t, 3>& shape :
       {std::array<uint32_t, 3>{16, 16, 4}, {16, 4, 16}, {64, 32, 16}, {0, 8, 8}, {65536, 65536, 8}, {16, 16, 520}}) {
    EXPECT_EQ(WithUsableLimits(WithMatrices(shape, 32)).matrix_shape[0], 0u) << shape[0] << "x" << shape[1];
  }
  EXPECT_EQ(WithUsableLimits(WithMatrices(kSquare, 1)).matrix_shape[0], 0u) << "no subgroups";
  EXPECT_EQ(WithUsableLimits(WithMatrices(kSquare, 32)).matrix_shape, kSquare);
}

TEST(CooperativeProduct, IsMeasuredByTuningAndFirstOnlyWhereTheRuleIsForced) {
  const Graph graph = PointwiseLayer();
  LowerOptions options;
  options.precision = Precision::kFp16;
  DeviceInfo device = WithMatrices(kSquare, 32);
  int cooperative = 0;
  for (const TunableLayer& layer : TunableLayers(graph, device, options)) {
    EXPECT_NE(layer.candidates.front().variant, kCooperativeVariant);
    EXPECT_EQ(layer.candidates.at(1).variant, kCooperativeVariant) << "measured by --tune fast";
    for (const KernelChoice& choice : layer.candidates) {
      if (choice.variant != kCooperativeVariant) continue;
      ++cooperative;
      const Result<Plan> plan = LowerLayer(graph, device, options, choice);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      EXPECT_EQ(plan->kernels.at(0).name, "pointwise_matrix");
      EXPECT_TRUE(CheckKernelLimits(plan->kernels.at(0), device).ok()) << ToText(choice);
    }
  }
  EXPECT_EQ(cooperative, 7);
  device.forced_rules = ForcedRulesFromText("+cooperative_matrices").value();
  EXPECT_EQ(TunableLayers(graph, device, options).at(0).candidates.front().variant, kCooperativeVariant);
}

TEST(CooperativeProduct, MultipliesOnlyWhatIsStoredIn16Bits) {
  DeviceInfo device = WithMatrices(kSquare, 32);
  device.forced_rules = ForcedRulesFromText("+cooperative_matrices,+half_arithmetic").value();
  EXPECT_NE(KernelOfLayer(device, Precision::kFp32).name, "pointwise_matrix");
  for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
    const KernelSource kernel = KernelOfLayer(device, precision);
    EXPECT_EQ(kernel.name, "pointwise_matrix");
    EXPECT_EQ(HalfProductsOf(kernel), 0) << "products and sums have 32 bits";
  }
}

TEST(CooperativeProduct, OnlyItsOwnKernelDeclaresMatrices) {
  DeviceInfo device = WithMatrices({8, 16, 24}, 32);
  EXPECT_THAT(Emit(KernelOfLayer(device, Precision::kFp16), Dialect::kVulkan), Not(HasSubstr("spirv")));
  device.forced_rules = ForcedRulesFromText("+cooperative_matrices").value();
  const std::string text = Emit(KernelOfLayer(device, Precision::kFp16), Dialect::kVulkan);
  EXPECT_THAT(text, HasSubstr("px_m = 8, px_n = 16, px_k = 24"));
  EXPECT_THAT(text, HasSubstr("#pragma use_vulkan_memory_model"));
}

}  // namespace
}  // namespace hearth
