// Convolutions on GPUs: tiles by the device's size, few idle lanes, and where the kernels do not go.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/null/device.h"
#include "core/device/device_profiles.h"
#include "core/graph/op_text.h"
#include "core/lowering/group_product.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

DeviceInfo As(const char* profile, Dialect dialect) {
  DeviceInfo driver = NullDeviceInfo();
  driver.type = DeviceType::kCpu;
  driver.dialect = dialect;
  driver.local_memory_bytes = 65536;
  if (dialect == Dialect::kVulkan) driver.subgroup_size = 128;
  return Simulated(driver, *FindDeviceProfile(profile).value());
}

struct ProductLayer {
  ProductSize size;
  int times;
};
constexpr ProductLayer kMobileNet[] = {{{12544, 32, 64}, 1}, {{3136, 64, 128}, 1}, {{3136, 128, 128}, 1},
                                       {{784, 128, 256}, 1}, {{784, 256, 256}, 1}, {{196, 256, 512}, 1},
                                       {{196, 512, 512}, 5}, {{49, 512, 1024}, 1}, {{49, 1024, 1024}, 1}};

// How many share a sum in each layer; the tile is 4x2 in all.
struct ExpectedShares {
  const char* profile;
  std::vector<int> shares;
};
const ExpectedShares kShares[] = {{"navi21", {1, 2, 2, 4, 4, 8, 8, 8, 8}},
                                  {"ampere-laptop", {1, 1, 1, 2, 2, 4, 4, 8, 8}},
                                  {"adreno730", {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                  {"mali-g78", {1, 1, 1, 1, 1, 2, 2, 4, 4}}};
constexpr Dialect kEveryDialect[] = {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan};

TEST(FlatProduct, SharesSumsWhereTilesAreFewForTheDevice) {
  for (const auto& [profile, shares] : kShares) {
    for (const Dialect dialect : kEveryDialect) {
      const DeviceInfo device = As(profile, dialect);
      for (size_t k = 0; k < shares.size(); ++k) {
        const KernelChoice expected{std::string(kFlatVariant), 4, 2, shares[k]};
        EXPECT_EQ(ToText(FlatCandidates(device, kMobileNet[k].size).at(0)), ToText(expected)) << profile << " " << k;
      }
    }
  }
}

Plan PlanOf(const ProductSize& size, const DeviceInfo& device) {
  const Graph graph = testing::Parsed(fmt::format(
      "%0 = input : float32[1x1x{0}x{1}] \"x\"\n%1 = constant : float32[{2}x1x1x{1}] \"w\" = fill(pattern)\n"
      "%2 = conv_2d(%0, %1, none) : float32[1x1x{0}x{2}] \"y\" node \"conv\"\noutput %2\n",
      size.pixels, size.channels_in, size.channels_out));
  return testing::Lowered(graph, device);
}

int DefineOf(const KernelSource& kernel, std::string_view name) {
  const auto found = std::ranges::find(kernel.defines, name, &Define::name);
  return found == kernel.defines.end() ? 1 : std::stoi(found->value);
}

// Of all work items' texels, those that are part of the result.
double UsefulLanes(const Plan& plan, const ProductSize& size) {
  const Dispatch& dispatch = plan.dispatches.at(0);
  const KernelSource& kernel = plan.kernels[dispatch.kernel];
  const auto groups = static_cast<double>(uint64_t{dispatch.group_count[0]} * dispatch.group_count[1]);
  const int items_of_group =
      static_cast<int>(kernel.local_size[0]) * DefineOf(kernel, "ROWS") * DefineOf(kernel, "COLS");
  return static_cast<double>(size.pixels * (size.channels_out / 4) * DefineOf(kernel, "SPLIT")) /
         (groups * items_of_group);
}

TEST(FlatProduct, LeavesFewLanesOfMobileNetIdle) {
  for (const auto& [profile, shares] : kShares) {
    for (const Dialect dialect : kEveryDialect) {
      const DeviceInfo device = As(profile, dialect);
      double work = 0, lanes = 0;
      for (const ProductLayer& layer : kMobileNet) {
        const double layer_work =
            layer.times * static_cast<double>(layer.size.pixels) * layer.size.channels_in * layer.size.channels_out;
        work += layer_work;
        lanes += layer_work / UsefulLanes(PlanOf(layer.size, device), layer.size);
      }
      EXPECT_GE(work / lanes, 0.9) << profile;
    }
  }
}

TEST(FlatProduct, LeavesLargeLayersToTheKernelWhoseGroupsShareWeights) {
  const DeviceInfo device = As("mali-g78", Dialect::kVulkan);
  EXPECT_EQ(PlanOf({12544, 32, 64}, device).kernels.at(0).name, "pointwise_tile");
  EXPECT_EQ(PlanOf({784, 256, 256}, device).kernels.at(0).name, "pointwise_flat");
  DeviceInfo software = device;
  software.type = DeviceType::kCpu;
  EXPECT_EQ(PlanOf({784, 256, 256}, software).kernels.at(0).name, "pointwise_tile");
}

// Of a 3x3 convolution of `size`, on a picture of as many columns as lines.
Plan WindowedPlanOf(int high, int stride, int channels_in, int channels_out, const DeviceInfo& device) {
  const Graph graph = testing::Parsed(fmt::format(
      "%0 = input : float32[1x{0}x{0}x{1}] \"x\"\n%1 = constant : float32[{2}x3x3x{1}] \"w\" = fill(pattern)\n"
      "%2 = conv_2d(%0, %1, none) stride={3}x{3} padding=same : float32[1x{4}x{4}x{2}] \"y\" node \"conv\"\noutput "
      "%2\n",
      high, channels_in, channels_out, stride, (high + stride - 1) / stride));
  return testing::Lowered(graph, device);
}

// The convolutions of SSD MobileNet v1 behind its last pointwise layer.
struct WindowedLayer {
  int high, channels_in, channels_out;
};
constexpr WindowedLayer kOfSsd[] = {{10, 256, 512}, {5, 128, 256}, {3, 128, 256}, {2, 64, 128}};

TEST(FlatProduct, LeavesFewLanesOfWindowedLayersIdle) {
  for (const auto& [profile, shares] : kShares) {
    for (const Dialect dialect : kEveryDialect) {
      const DeviceInfo device = As(profile, dialect);
      double work = 0, lanes = 0;
      for (const WindowedLayer& layer : kOfSsd) {
        const Plan plan = WindowedPlanOf(layer.high, 2, layer.channels_in, layer.channels_out, device);
        EXPECT_EQ(plan.kernels.at(0).name, "conv_flat");
        const ProductSize size = {(layer.high + 1) / 2 * ((layer.high + 1) / 2), layer.channels_in, layer.channels_out};
        const double layer_work = static_cast<double>(size.pixels) * size.channels_in * size.channels_out;
        work += layer_work;
        lanes += layer_work / UsefulLanes(plan, size);
      }
      EXPECT_GE(work / lanes, 0.85) << profile;
    }
  }
}

TEST(FlatProduct, LeavesWindowedLayersThatFillTheirGroupsAlone) {
  const DeviceInfo device = As("mali-g78", Dialect::kVulkan);
  EXPECT_EQ(WindowedPlanOf(64, 1, 16, 16, device).kernels.at(0).name, "conv_tile");
  DeviceInfo software = device;
  software.type = DeviceType::kCpu;
  EXPECT_EQ(WindowedPlanOf(10, 2, 256, 512, software).kernels.at(0).name, "conv_tile");
}

TEST(FlatProduct, TilesOfWindowedLayersAreThoseOfTheRule) {
  DeviceInfo device = As("ampere-laptop", Dialect::kVulkan);
  const ProductSize size = {25, 256, 512, false};
  EXPECT_EQ(FlatCandidates(device, size).at(0).rows, 4);
  device.name = "AMD Radeon RX 6800 (RADV NAVI21)";
  EXPECT_EQ(FlatCandidates(device, size).at(0).rows, 2);
  EXPECT_EQ(FlatCandidates(device, size).at(0).cols, 2);
}

TEST(FlatProduct, GivesAShareSeveralTurns) {
  const DeviceInfo device = As("navi21", Dialect::kVulkan);
  EXPECT_EQ(FlatCandidates(device, {49, 28, 32}).at(0).lanes, 1);
  EXPECT_EQ(FlatCandidates(device, {49, 32, 32}).at(0).lanes, 2);
  for (const KernelChoice& choice : FlatCandidates(device, {49, 5, 32})) EXPECT_LE(choice.lanes, 2);
}

TEST(FlatProduct, MakesTilesNoLargerThanTheResult) {
  const DeviceInfo device = As("navi21", Dialect::kVulkan);
  for (const KernelChoice& choice : FlatCandidates(device, {49, 64, 3})) EXPECT_EQ(choice.cols, 1);
  EXPECT_EQ(FlatCandidates(device, {2, 64, 64}).at(0).rows, 2);
}

TEST(FlatProduct, IsNotForProcessorsSmallGroupsLittleLocalMemoryAndMoreGroupsThanADimensionHas) {
  const DeviceInfo device = As("navi21", Dialect::kVulkan);
  const ProductSize size = {196, 512, 512};
  EXPECT_FALSE(FlatCandidates(device, size).empty());
  DeviceInfo other = device;
  other.type = DeviceType::kCpu;
  EXPECT_TRUE(FlatCandidates(other, size).empty());
  other = device;
  other.max_local_invocations = 32;
  EXPECT_TRUE(FlatCandidates(other, size).empty());
  other = device;
  other.local_memory_bytes = 2048;
  EXPECT_TRUE(FlatCandidates(other, size).empty());
  EXPECT_TRUE(FlatCandidates(device, {int64_t{3840} * 2160, 64, 64}).empty());
}

}  // namespace
}  // namespace hearth
