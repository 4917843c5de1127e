// The turns that lowering counts are those of the kernels' loops. Here the loops are written out as in the kernels, and
// each check of a loop's condition counts, as in the drivers that end long loops.
#include "core/lowering/loop_iterations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "backends/null/device.h"
#include "core/device/device_rules.h"
#include "core/graph/op_def.h"
#include "core/lowering/lower.h"
#include "core/lowering/op_lowerings.h"
#include "core/plan/plan_builder.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

// The condition of a loop.
class LoopChecks {
 public:
  bool operator()(bool goes_on) {
    ++count_;
    return goes_on;
  }
  int64_t count() const { return count_; }

 private:
  int64_t count_ = 0;
};

// Of the graph's last node.
int64_t TurnsOfLast(std::string_view text) {
  const Graph graph = testing::Parsed(text);
  const Node& node = graph.nodes().back();
  return OpDefOf(node.op).loop_iterations(graph, node);
}

// Not fewer than the kernel makes, and hardly more.
void ExpectCounts(int64_t counted, const LoopChecks& checks) {
  EXPECT_GE(counted, checks.count());
  EXPECT_LE(counted, checks.count() + checks.count() / 50 + 8);
}

struct ReduceLoops {
  int r0 = 1, r1 = 1, shared = 1;  // the third dimension, times the slices if channels are reduced
  int lanes = 1;
  int sums = 0;  // with reduced channels
};

LoopChecks ChecksOfReduce(const ReduceLoops& loops) {
  LoopChecks check;
  const auto sum = [&] {
    for (int r0 = 0; check(r0 < loops.r0); ++r0) {
      for (int r1 = 0; check(r1 < loops.r1); ++r1) {
        for (int t = 0; check(t < loops.shared); t += loops.lanes) continue;
      }
    }
  };
  if (loops.sums == 0) sum();
  for (int p = 0; loops.sums > 0 && check(p < 4); ++p) {
    if (p < loops.sums) sum();
  }
  for (int k = 1; loops.lanes > 1 && check(k < loops.lanes); ++k) continue;
  return check;
}

TEST(LoopIterations, OfAReductionAreThoseOfItsThreeDimensionsForEachChannelOfATexel) {
  ExpectCounts(TurnsOfLast("%0 = input : float32[5x2x6x2x7x9] \"x\"\n"
                           "%1 = sum(%0) axes=0,2,4,5 : float32[2x2] \"y\"\noutput %1\n"),
               ChecksOfReduce({.r0 = 5, .r1 = 6, .shared = 7 * 3, .sums = 2}));
  ExpectCounts(TurnsOfLast("%0 = input : float32[40x2x40x2x40x1] \"x\"\n"
                           "%1 = sum(%0) axes=0,2,4,5 : float32[2x2] \"y\"\noutput %1\n"),
               ChecksOfReduce({.r0 = 40, .r1 = 40, .shared = 40, .sums = 2}));
}

TEST(LoopIterations, OfAReductionAreSharedInItsLongestDimensionOnly) {
  ExpectCounts(TurnsOfLast("%0 = input : float32[30x2x300x6] \"x\"\n"
                           "%1 = sum(%0) axes=0,2 : float32[2x6] \"y\"\noutput %1\n"),
               ChecksOfReduce({.r1 = 30, .shared = 300, .lanes = 32}));
  ExpectCounts(TurnsOfLast("%0 = input : float32[3x50x40x9] \"x\"\n"
                           "%1 = mean(%0) axes=1,2,3 : float32[3] \"y\"\noutput %1\n"),
               ChecksOfReduce({.shared = 50 * 40 * 3, .lanes = 32, .sums = 3}));
}

TEST(LoopIterations, OfGroupsThatShareTexelsAreALoopForEachChannel) {
  LoopChecks check;
  for (int ky = 0; check(ky < 3); ++ky) {
    for (int kx = 0; check(kx < 5); ++kx) {
      for (int channel = 0; channel < 4; ++channel) {
        for (int i = 0; check(i < 2); ++i) continue;
      }
    }
  }
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x9x9x6] \"x\"\n%1 = constant : float32[6x3x5x2] \"w\" = fill(1)\n"
                           "%2 = conv_2d(%0, %1) : float32[1x7x5x6] \"y\"\noutput %2\n"),
               check);
}

// `inside`: of a loop within the window's.
LoopChecks ChecksOfWindow(int high, int across, int inside = 0) {
  LoopChecks check;
  for (int y = 0; check(y < high); ++y) {
    for (int x = 0; check(x < across); ++x) {
      for (int k = 0; inside > 0 && check(k < inside); ++k) continue;
    }
  }
  return check;
}

TEST(LoopIterations, OfWindowsIncludeTheLoopsAround) {
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x9x9x3] \"x\"\n%1 = constant : float32[6x7x5x3] \"w\" = fill(1)\n"
                           "%2 = conv_2d(%0, %1) : float32[1x3x5x6] \"y\"\noutput %2\n"),
               ChecksOfWindow(7, 5, 1));
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x900x1x4] \"x\"\n"
                           "%1 = constant : float32[1x800x1x4] \"w\" = fill(1)\n"
                           "%2 = depthwise_conv_2d(%0, %1) : float32[1x101x1x4] \"y\"\noutput %2\n"),
               ChecksOfWindow(800, 1));
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x900x1x4] \"x\"\n"
                           "%1 = max_pool_2d(%0) kernel=800x1 : float32[1x101x1x4] \"y\"\noutput %1\n"),
               ChecksOfWindow(800, 1));
}

TEST(LoopIterations, OfAFullyConnectedLayerOfWholePixelsAreThoseOfAConvolution) {
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x20x20x1] \"x\"\n%1 = constant : float32[3x400] \"w\" = fill(1)\n"
                           "%2 = fully_connected(%0, %1) : float32[1x3] \"y\"\noutput %2\n"),
               ChecksOfWindow(1, 400, 1));
}

TEST(LoopIterations, OfAnUnpooledPixelAreTheWindowsThatHoldIt) {
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x30x6x4] \"x\"\n%1 = input : float32[1x30x6x4] \"where\"\n"
                           "%2 = max_unpool_2d(%0, %1) kernel=40x41 stride=2x4 : float32[1x1200x246x4] \"y\"\n"
                           "output %2\n"),
               ChecksOfWindow(20, 6));
}

TEST(LoopIterations, OfALocalResponseAreTheChannelsAroundATexel) {
  for (const auto& [channels, radius] : {std::pair{500, 9}, {500, 300}}) {
    LoopChecks check;
    const int c = channels / 2;
    for (int k = std::max(c - radius, 0); check(k < std::min(channels, c + 4 + radius)); ++k) continue;
    const std::string shape = "float32[1x1x1x" + std::to_string(channels) + "]";
    ExpectCounts(TurnsOfLast("%0 = input : " + shape + " \"x\"\n%1 = local_response_normalization(%0) radius=" +
                             std::to_string(radius) + " : " + shape + " \"y\"\noutput %1\n"),
                 check);
  }
}

struct MomentsLoops {
  int slices = 1, length = 1, lanes = 1;
};

// Of the first of `lanes` items.
LoopChecks ChecksOfMoments(const MomentsLoops& loops) {
  const int lanes = loops.lanes, block = lanes * 1024;
  LoopChecks check;
  for (int pass = 0; pass < 2; ++pass) {
    for (int s = 0; check(s < loops.slices); ++s) {
      for (int begin = 0; check(begin < loops.length); begin += block) {
        const int end = std::min(begin + block, loops.length);
        int i = begin;
        for (; check(i + 3 * lanes < end); i += 4 * lanes) continue;
        for (; check(i < end); i += lanes) continue;
      }
    }
    for (int k = 0; check(k < lanes); ++k) continue;
  }
  for (int s = 0; check(s < loops.slices); ++s) continue;
  return check;
}

TEST(LoopIterations, OfARunAreThoseOfEachSliceOfItsGroup) {
  ExpectCounts(TurnsOfLast("%0 = input : float32[1x200x200x4] \"x\"\n"
                           "%1 = mean_variance_normalization(%0) axes=1,2 : float32[1x200x200x4] \"y\"\noutput %1\n"),
               ChecksOfMoments({.length = 40000, .lanes = 32}));
  const int64_t counted = TurnsOfLast(
      "%0 = input : float32[1x1x2x4000] \"x\"\n"
      "%1 = mean_variance_normalization(%0) axes=1,2 groups=1 : float32[1x1x2x4000] \"y\"\noutput %1\n");
  const int64_t checks = ChecksOfMoments({.slices = 1000, .length = 2, .lanes = 32}).count();
  EXPECT_GE(counted, checks);
  EXPECT_LE(counted, 2 * checks) << "the last three texels of a lane may be none";
}

DeviceInfo DeviceThatEndsLoops(uint32_t group_items) {
  DeviceInfo device = NullDeviceInfo();
  device.max_local_size = {group_items, group_items, group_items};
  device.max_local_invocations = group_items;
  device.forced_rules = ForcedRulesFromText("+loop_limit").value();
  return device;
}

TEST(LoopIterations, OfAProductOfRowsWithoutElementsAreOneCheck) {
  Graph graph;
  const ValueId x = graph.AddValue({"x", {DType::kFloat32, {2, 0}, {}}, {}});
  const ValueId filter = graph.AddFloatConstant("filter", {3, 0}, {});
  EXPECT_EQ(FullyConnectedIterations(graph, {FullyConnected{}, {x, filter}, {}, "product"}), 1);
}

// One item would take 40,000 turns in each of two passes.
TEST(LoopIterations, LimitTheChoicesForARunWhateverRulesSay) {
  constexpr std::string_view kLongRun =
      "%0 = input : float32[1x400x400x4] \"x\"\n"
      "%1 = mean_variance_normalization(%0) axes=1,2 : float32[1x400x400x4] \"y\"\noutput %1\n";
  const Graph graph = testing::Parsed(kLongRun);
  DeviceInfo device = DeviceThatEndsLoops(256);
  device.forced_rules = ForcedRulesFromText("+loop_limit,+one_item_runs").value();
  const PlanBuilder builder(graph, device, {});
  const std::vector<KernelChoice> choices = MeanVarianceNormalizationCandidates(graph.nodes().back(), builder);
  ASSERT_FALSE(choices.empty());
  for (const KernelChoice& choice : choices) {
    EXPECT_LE(ChecksOfMoments({.length = 160000, .lanes = choice.lanes}).count(), MostLoopIterations(device))
        << choice.lanes;
  }
}

// A loop that 32 items are to share takes 32 times as many turns in a group of one.
TEST(LoopIterations, AreFewerWhereGroupsDoNotHoldTheItemsThatShareThem) {
  EXPECT_EQ(MostLoopIterations(DeviceThatEndsLoops(128)), 60000);
  EXPECT_EQ(MostLoopIterations(DeviceThatEndsLoops(48)), 60000 / 4) << "32 share what 128 should";
  DeviceInfo small = DeviceThatEndsLoops(1);
  EXPECT_LE(MostLoopIterations(small), 60000 / 32);
  small.forced_rules = ForcedRulesFromText("-loop_limit").value();
  EXPECT_GT(MostLoopIterations(small), int64_t{1} << 40);
}

TEST(LoopIterations, AreComparedWithTheNumberThatTheReasonTells) {
  const Graph graph = testing::Parsed(
      "%0 = input : float32[1x1001] \"x\"\n%1 = cumsum(%0) axis=1 : float32[1x1001] \"y\"\noutput %1\n");
  const DeviceInfo small = DeviceThatEndsLoops(1);
  const Placement placement = PlaceNodes(graph, small, {})[0];
  EXPECT_FALSE(placement.on_device);
  EXPECT_EQ(placement.reason, fmt::format("its loops take 4004 turns; on drivers like this one at most {} are safe",
                                          MostLoopIterations(small)));
}

}  // namespace
}  // namespace hearth
