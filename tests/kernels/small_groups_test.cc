// Devices whose work groups hold few items or have little local memory: OpenCL's embedded profile guarantees a single
// item and 1 KiB. Whatever shares nothing between the items of a group runs there too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/null/device.h"
#include "conformance/conformance_case.h"
#include "core/base/numbers.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/evaluate.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

using GroupShape = std::array<uint32_t, 3>;

struct GroupLimits {
  const char* name;
  GroupShape size;
  uint32_t items;
  uint32_t local_bytes = 32768;
};
constexpr GroupLimits kGroupLimits[] = {
    {"OneItem", {1, 1, 1}, 1, 1024},      {"FourInALine", {4, 1, 1}, 1024},
    {"Upright", {1, 64, 64}, 64},         {"SixteenItems", {16, 16, 16}, 16},
    {"ThirtyTwoItems", {32, 32, 32}, 32}, {"ManyItemsOfOneKiB", {1024, 1024, 64}, 1024, 1024}};

DeviceInfo DeviceOfGroups(const GroupLimits& limits, Dialect dialect, DeviceType type) {
  DeviceInfo info = NullDeviceInfo();
  info.dialect = dialect;
  info.type = type;
  info.max_local_size = limits.size;
  info.max_local_invocations = limits.items;
  info.max_group_count = {1u << 30, 1u << 30, 1u << 30};
  info.local_memory_bytes = limits.local_bytes;
  return info;
}

// All conformance cases: those of a family side by side in one graph.
std::vector<Graph> GraphsOfEveryOperation() {
  std::map<std::string, conformance::CaseBatch> batches;
  for (const conformance::ConformanceCase& test : conformance::AllCases()) {
    const std::string id = test.id();
    conformance::CaseBatch& batch = batches[test.family];
    conformance::CaseGraph graph(batch, id);
    batch.graph.outputs.push_back(test.build(graph));
  }
  std::vector<Graph> graphs;
  for (auto& [family, batch] : batches) {
    const Status inferred = InferShapes(batch.graph);
    EXPECT_TRUE(inferred.ok()) << family << ": " << inferred.message();
    graphs.push_back(std::move(batch.graph));
  }
  return graphs;
}

void ExpectAllFits(const Plan& plan, const GroupLimits& limits) {
  for (const Fallback& fallback : plan.fallbacks) {
    EXPECT_THAT(fallback.reason, ::testing::Not(::testing::HasSubstr("items in")));
    EXPECT_THAT(fallback.reason, ::testing::Not(::testing::HasSubstr("local memory")));
  }
  for (const KernelSource& kernel : plan.kernels) {
    const GroupShape& size = kernel.local_size;
    EXPECT_LE(size[0] * size[1] * size[2], limits.items) << kernel.name;
    EXPECT_LE(LocalMemoryBytes(kernel), limits.local_bytes) << kernel.name;
    for (int d = 0; d < 3; ++d) EXPECT_LE(size[d], limits.size[d]) << kernel.name;
  }
}

class SmallGroups : public ::testing::TestWithParam<size_t> {};

// Families take turns with the two kinds of device, the other way round for the next limits: for half of the time.
TEST_P(SmallGroups, HoldEveryOperation) {
  static const std::vector<Graph> graphs = GraphsOfEveryOperation();
  const GroupLimits& limits = kGroupLimits[GetParam()];
  const DeviceInfo devices[] = {DeviceOfGroups(limits, Dialect::kOpenCl, DeviceType::kCpu),
                                DeviceOfGroups(limits, Dialect::kGles, DeviceType::kIntegratedGpu)};
  for (size_t k = 0; k < graphs.size(); ++k)
    ExpectAllFits(testing::Lowered(graphs[k], devices[(k + GetParam()) % 2]), limits);
}

INSTANTIATE_TEST_SUITE_P(All, SmallGroups, ::testing::Range<size_t>(0, std::size(kGroupLimits)),
                         [](const auto& index) { return std::string(kGroupLimits[index.param].name); });

// The only dispatch of the network.
struct OnlyDispatch {
  KernelSource kernel;
  GroupShape groups;

  std::string Value(std::string_view define) const {
    const auto found = std::ranges::find(kernel.defines, define, &Define::name);
    return found == kernel.defines.end() ? "" : found->value;
  }
};

OnlyDispatch DispatchOf(std::string_view text, const GroupLimits& limits, DeviceType type = DeviceType::kCpu) {
  const Plan plan = testing::Lowered(testing::Parsed(text), DeviceOfGroups(limits, Dialect::kOpenCl, type));
  if (plan.dispatches.size() != 1 || plan.runs_on_cpu()) {
    ADD_FAILURE() << "the network does not run on the device";
    return {};
  }
  const Dispatch& dispatch = plan.dispatches[0];
  return {plan.kernels[dispatch.kernel], dispatch.group_count};
}

constexpr GroupLimits kOneItem = {"", {1, 1, 1}, 1}, kTwoItems = {"", {8, 8, 8}, 2}, kEightItems = {"", {8, 8, 8}, 8};

TEST(SmallGroup, HasAsManyMoreGroups) {
  constexpr std::string_view kNegated =
      "%0 = input : float32[1x9x5x12] \"x\"\n%1 = neg(%0) : float32[1x9x5x12] \"y\"\noutput %1\n";
  EXPECT_EQ(DispatchOf(kNegated, kOneItem).groups, (GroupShape{135, 1, 1}));
  EXPECT_EQ(DispatchOf(kNegated, kTwoItems).groups, (GroupShape{68, 1, 1}));
  EXPECT_EQ(DispatchOf(kNegated, kEightItems).groups, (GroupShape{17, 1, 1}));
}

// The kernel of tiles counts its pixels by LANES, so that must be the size of its group.
TEST(SmallGroup, OfAProductIsAsLargeAsItsKernelIsTold) {
  constexpr std::string_view kProduct =
      "%0 = input : float32[1x9x9x16] \"x\"\n%1 = constant : float32[16x1x1x16] \"w\" = fill(pattern)\n"
      "%2 = conv_2d(%0, %1, none) : float32[1x9x9x16] \"y\" node \"conv\"\noutput %2\n";
  for (const GroupLimits& limits : {kOneItem, kTwoItems, kEightItems}) {
    const OnlyDispatch product = DispatchOf(kProduct, limits, DeviceType::kIntegratedGpu);
    EXPECT_EQ(product.kernel.name, "pointwise_tile");
    EXPECT_EQ(product.Value("LANES"), std::to_string(limits.items));
    EXPECT_EQ(product.kernel.local_size, (GroupShape{limits.items, 1, 1}));
    EXPECT_EQ(product.Value("ROWS"), "2");
    EXPECT_EQ(product.groups[0], Tiles(81, 2 * limits.items));
  }
}

// 200 channels are 50 texels, which 32 items of a group share where it holds so many.
TEST(SmallGroup, SharesSumsAmongTheItemsThatItHas) {
  constexpr std::string_view kLongRows =
      "%0 = input : float32[1x3x200] \"x\"\n%1 = softmax(%0) beta=1 : float32[1x3x200] \"y\"\noutput %1\n";
  for (const GroupLimits& limits : {kOneItem, kTwoItems, kEightItems}) {
    const OnlyDispatch softmax = DispatchOf(kLongRows, limits, DeviceType::kIntegratedGpu);
    EXPECT_EQ(softmax.Value("LANES"), std::to_string(limits.items));
    EXPECT_EQ(softmax.kernel.local_size, (GroupShape{limits.items, 1, 1}));
    EXPECT_EQ(softmax.groups, (GroupShape{3, 1, 1}));
  }
}

// 4096 pixels, which 32 items of a group add up where it holds so many.
constexpr std::string_view kSumOfPixels =
    "%0 = input : float32[1x64x64x4] \"x\"\n%1 = reduce_max(%0) axes=1,2 keep_dims=true : float32[1x1x1x4] \"y\"\n"
    "output %1\n";

TEST(SmallGroup, DeclaresLocalMemoryForItsItemsWhereThereIsTooLittleForMore) {
  constexpr GroupLimits kOneItemOfLittle = {"", {1, 1, 1}, 1, 1024}, kManyOfLittle = {"", {256, 1, 1}, 256, 1024};
  for (const GroupLimits& limits : {kOneItemOfLittle, kManyOfLittle}) {
    const OnlyDispatch sum = DispatchOf(kSumOfPixels, limits, DeviceType::kIntegratedGpu);
    ASSERT_EQ(sum.kernel.shared.size(), 1u);
    EXPECT_EQ(sum.Value("LANES"), std::to_string(sum.kernel.local_size[0]));
    EXPECT_EQ(sum.kernel.shared[0].count, sum.kernel.local_size[0]);
  }
}

TEST(SmallGroup, DeclaresWhatTheKernelsFileSaysWhereThatFits) {
  for (const GroupLimits& limits : {kOneItem, kTwoItems, kEightItems}) {
    const OnlyDispatch sum = DispatchOf(kSumOfPixels, limits, DeviceType::kIntegratedGpu);
    EXPECT_EQ(sum.kernel.shared, LoadKernel("reduce")->shared);
  }
}

// 2^20 texels are worth 128 items, whose sums take 2 KiB.
TEST(SmallGroup, SharesAmongNoMoreItemsThanLocalMemoryHolds) {
  constexpr std::string_view kVeryLong =
      "%0 = input : float32[1x1024x1024x4] \"x\"\n"
      "%1 = reduce_max(%0) axes=1,2 keep_dims=true : float32[1x1x1x4] \"y\"\noutput %1\n";
  for (const auto& [bytes, lanes] : {std::pair{1024u, "64"}, {2048u, "128"}}) {
    const GroupLimits limits = {"", {256, 1, 1}, 256, bytes};
    EXPECT_EQ(DispatchOf(kVeryLong, limits, DeviceType::kIntegratedGpu).Value("LANES"), lanes);
  }
}

}  // namespace
}  // namespace hearth
