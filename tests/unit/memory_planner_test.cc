#include "core/plan/memory_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/plan/offset_search.h"

namespace hearth {
namespace {

// A network as a list of steps: each writes one tensor and reads earlier ones. Lifetimes follow.
// Graph inputs and outputs are not intermediate tensors and stay out.
class TensorList {
 public:
  // Returns the index of the tensor that a new step writes, float32 of h*h*channels.
  int Write(int64_t h, int64_t channels, std::vector<int> reads) {
    for (int tensor : reads) usages_[tensor].last_step = step_;
    usages_.push_back({static_cast<uint64_t>(h * h * channels * 4), step_, step_});
    ++step_;
    return static_cast<int>(usages_.size()) - 1;
  }
  void WriteOutput(int read) { usages_[read].last_step = step_++; }

  const std::vector<TensorUsage>& usages() const { return usages_; }

 private:
  std::vector<TensorUsage> usages_;
  int step_ = 0;
};

// The classifier's end in both model files: average pool, 1x1 convolution to 1001 classes, squeeze, softmax.
// The squeeze's result counts as a tensor of its own (the known answers were made without aliasing); the
// softmax's is the network's output and does not count.
void AddHead(TensorList& net, int features, int channels) {
  const int pooled = net.Write(1, channels, {features});
  const int logits = net.Write(1, 1001, {pooled});
  const int squeezed = net.Write(1, 1001, {logits});
  net.WriteOutput(squeezed);
}

// Howard et al., "MobileNets" (2017), table 1.
TensorList MobileNetV1() {
  struct Block {
    int stride, channels;
  };
  const Block blocks[] = {{1, 64},  {2, 128}, {1, 128}, {2, 256}, {1, 256},  {2, 512}, {1, 512},
                          {1, 512}, {1, 512}, {1, 512}, {1, 512}, {2, 1024}, {1, 1024}};
  TensorList net;
  int h = 112, channels = 32;
  int last = net.Write(h, channels, {});
  for (const Block& block : blocks) {
    h /= block.stride;
    const int depthwise = net.Write(h, channels, {last});
    channels = block.channels;
    last = net.Write(h, channels, {depthwise});
  }
  AddHead(net, last, channels);
  return net;
}

// Sandler et al., "MobileNetV2" (2018), table 2.
TensorList MobileNetV2() {
  struct Stage {
    int expansion, channels, repeats, stride;
  };
  const Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  TensorList net;
  int h = 112, channels = 32;
  int last = net.Write(h, channels, {});
  for (const Stage& stage : stages) {
    for (int repeat = 0; repeat < stage.repeats; ++repeat) {
      const int stride = repeat == 0 ? stage.stride : 1;
      const int expanded = stage.expansion == 1 ? last : net.Write(h, channels * stage.expansion, {last});
      h /= stride;
      const int depthwise = net.Write(h, channels * stage.expansion, {expanded});
      const int projected = net.Write(h, stage.channels, {depthwise});
      const bool residual = stride == 1 && channels == stage.channels;
      channels = stage.channels;
      last = residual ? net.Write(h, channels, {projected, last}) : projected;
    }
  }
  last = net.Write(h, 1280, {last});
  AddHead(net, last, 1280);
  return net;
}

OffsetPlan PlaceBySize(std::span<const TensorUsage> usages, uint64_t alignment) {
  return *GapPlacer(usages, alignment).Place(OrderBySize(usages));
}

double MebiBytes(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

std::vector<TensorUsage> RandomUsages(uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> step(0, count), length(0, 8), size(0, 100000);
  std::vector<TensorUsage> usages(count);
  for (TensorUsage& usage : usages) {
    usage.first_step = step(random);
    usage.last_step = usage.first_step + length(random);
    usage.size_bytes = size(random);
  }
  return usages;
}

bool Overlap(const std::vector<TensorUsage>& usages, const OffsetPlan& plan, size_t a, size_t b) {
  const bool in_time = usages[a].first_step <= usages[b].last_step && usages[b].first_step <= usages[a].last_step;
  const bool in_space = plan.offsets[a] < plan.offsets[b] + usages[b].size_bytes &&
                        plan.offsets[b] < plan.offsets[a] + usages[a].size_bytes;
  return in_time && in_space;
}

void ExpectSound(const std::vector<TensorUsage>& usages, const OffsetPlan& plan, uint64_t alignment) {
  uint64_t end = 0;
  for (size_t a = 0; a < usages.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % alignment, 0u);
    end = std::max(end, plan.offsets[a] + usages[a].size_bytes);
    for (size_t b = 0; b < a; ++b) EXPECT_FALSE(Overlap(usages, plan, a, b)) << a << " and " << b;
  }
  EXPECT_EQ(plan.total_bytes, end);
}

TEST(MemoryPlanner, MobileNetV1ReachesItsLowerBound) {
  const TensorList net = MobileNetV1();
  EXPECT_NEAR(MebiBytes(NaiveBytes(net.usages())), 19.248, 0.0005);
  EXPECT_NEAR(MebiBytes(LowerBoundBytes(net.usages())), 4.594, 0.0005);
  EXPECT_EQ(PlaceBySize(net.usages(), 64).total_bytes, LowerBoundBytes(net.usages()));
}

TEST(MemoryPlanner, MobileNetV2ReachesItsLowerBound) {
  const TensorList net = MobileNetV2();
  EXPECT_NEAR(MebiBytes(NaiveBytes(net.usages())), 26.313, 0.0005);
  EXPECT_NEAR(MebiBytes(LowerBoundBytes(net.usages())), 5.742, 0.0005);
  EXPECT_EQ(PlaceBySize(net.usages(), 64).total_bytes, LowerBoundBytes(net.usages()));
}

TEST(MemoryPlanner, TensorsAliveTogetherNeverOverlapAndOffsetsAreAligned) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const std::vector<TensorUsage> usages = RandomUsages(seed, 60);
    const uint64_t alignment = uint64_t{1} << (seed % 9);
    const OffsetPlan plan = PlaceBySize(usages, alignment);
    ExpectSound(usages, plan, alignment);
    EXPECT_GE(plan.total_bytes, LowerBoundBytes(usages));
  }
}

TEST(MemoryPlanner, LowerBoundIsTheLargestSumOverSteps) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const std::vector<TensorUsage> usages = RandomUsages(seed, 30);
    uint64_t most = 0;
    for (int step = 0; step < 50; ++step) {
      uint64_t live = 0;
      for (const TensorUsage& usage : usages) {
        if (usage.first_step <= step && step <= usage.last_step) live += usage.size_bytes;
      }
      most = std::max(most, live);
    }
    EXPECT_EQ(LowerBoundBytes(usages), most);
  }
}

TEST(MemoryPlanner, ATensorGoesIntoTheSmallestGapThatFits) {
  // Tensors 1 and 3 end before step 1 and leave gaps of 60 and 50 bytes; the last one, of 40, takes the 50.
  const std::vector<TensorUsage> late = {{100, 0, 1}, {60, 0, 0}, {55, 0, 1}, {50, 0, 0}, {45, 0, 1}, {40, 1, 1}};
  EXPECT_EQ(PlaceBySize(late, 1).offsets[5], 215u);
  EXPECT_EQ(PlaceBySize(late, 1).total_bytes, 310u);
  // Here the smaller gap comes first: 50 bytes of tensor 1, then 63 of tensors 3 and 4 together.
  const std::vector<TensorUsage> early = {{100, 0, 1}, {50, 0, 0}, {45, 0, 1}, {32, 0, 0},
                                          {31, 0, 0},  {30, 0, 1}, {29, 1, 1}};
  EXPECT_EQ(PlaceBySize(early, 1).offsets[6], 100u);
}

TEST(MemoryPlanner, NoTensorsNeedNoBytes) {
  EXPECT_EQ(PlaceBySize({}, 256).total_bytes, 0u);
  EXPECT_EQ(LowerBoundBytes({}), 0u);
  EXPECT_EQ(NaiveBytes({}), 0u);
}

TEST(MemoryPlanner, EqualUsagesGiveEqualPlans) {
  const std::vector<TensorUsage> usages = RandomUsages(7, 100);
  EXPECT_EQ(PlaceBySize(usages, 16).offsets, PlaceBySize(usages, 16).offsets);
}

TEST(MemoryPlanner, AThousandTensorsAlwaysAliveAreStackedWithoutGaps) {
  std::vector<TensorUsage> usages;
  for (uint64_t i = 0; i < 1000; ++i) usages.push_back({64 * (i % 17 + 1), 0, 10});
  EXPECT_EQ(PlaceBySize(usages, 64).total_bytes, NaiveBytes(usages));
}

// Where `index` belongs once those of `placed` have their offsets, at alignment 1.
uint64_t SmallestGap(const std::vector<TensorUsage>& usages, const std::vector<uint64_t>& offsets,
                     const std::vector<size_t>& placed, size_t index) {
  std::vector<std::pair<uint64_t, uint64_t>> taken;  // begin, end
  for (const size_t other : placed) {
    const TensorUsage &a = usages[other], &b = usages[index];
    const bool in_time = a.first_step <= b.last_step && b.first_step <= a.last_step;
    if (in_time) taken.emplace_back(offsets[other], offsets[other] + a.size_bytes);
  }
  std::ranges::sort(taken);
  uint64_t free_from = 0, best = 0, least = UINT64_MAX;
  for (const auto& [begin, end] : taken) {
    const bool fits = begin >= free_from + usages[index].size_bytes;
    if (fits && begin - free_from < least) {
      least = begin - free_from;
      best = free_from;
    }
    free_from = std::max(free_from, end);
  }
  return least == UINT64_MAX ? free_from : best;
}

// Places them in an order drawn by `seed`.
void ExpectSmallestGaps(const std::vector<TensorUsage>& usages, uint32_t seed) {
  std::vector<size_t> order(usages.size()), placed;
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(seed);
  std::ranges::shuffle(order, random);
  GapPlacer placer(usages, 1);
  ASSERT_FALSE(placer.Place(order, 1).has_value()) << "more than may be taken";
  const OffsetPlan plan = *placer.Place(order);
  for (const size_t index : order) {
    if (usages[index].size_bytes == 0) continue;
    EXPECT_EQ(plan.offsets[index], SmallestGap(usages, plan.offsets, placed, index)) << "tensor " << index;
    placed.push_back(index);
  }
}

TEST(GapPlacer, EachTensorGoesIntoTheSmallestGapWhetherFewOrMostLiveTogether) {
  for (const int longest : {3, 8, 60}) {
    SCOPED_TRACE(::testing::Message() << "up to " << longest << " steps");
    std::vector<TensorUsage> usages = RandomUsages(static_cast<uint32_t>(longest), 80);
    for (TensorUsage& usage : usages) usage.last_step = usage.first_step + static_cast<int>(usage.size_bytes) % longest;
    ExpectSmallestGaps(usages, static_cast<uint32_t>(longest));
  }
}

// As of a loop that is written out, each turn's result.
TEST(GapPlacer, EachTensorGoesIntoTheSmallestGapBesideThoseThatStayToTheEnd) {
  std::vector<TensorUsage> usages = RandomUsages(7, 400);
  for (size_t k = 0; k < usages.size(); ++k) {
    usages[k].first_step = static_cast<int>(k);
    usages[k].last_step = k % 8 == 0 ? 400 : static_cast<int>(k + k % 3);
  }
  ExpectSmallestGaps(usages, 7);
}

TEST(FoundOffsets, TheSameTensorsAreSearchedOnce) {
  FoundOffsets found;
  std::vector<TensorUsage> usages = RandomUsages(3, 40);
  const auto first = found.Search(usages, 16);
  EXPECT_EQ(first->offsets, SearchOffsets(usages, 16).offsets);
  EXPECT_EQ(found.Search(std::vector(usages), 16), first);
  EXPECT_NE(found.Search(usages, 64), first);
  ++usages.back().last_step;
  EXPECT_NE(found.Search(usages, 16), first);
}

TEST(OffsetSearch, TensorsAliveTogetherNeverOverlapAndOffsetsAreAligned) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const std::vector<TensorUsage> usages = RandomUsages(seed, 40);
    const OffsetPlan plan = SearchOffsets(usages, 16);
    ExpectSound(usages, plan, 16);
    EXPECT_LE(plan.total_bytes, PlaceBySize(usages, 16).total_bytes);
    EXPECT_LE(plan.total_bytes, GapPlacer(usages, 16).Place(OrderByBreadth(usages))->total_bytes);
  }
  EXPECT_EQ(SearchOffsets({}, 256).total_bytes, 0u);
}

TEST(OffsetSearch, ReachesTheBoundWhereNoGreedyOrderBySizeDoes) {
  // MobileNet v1 0.25 128 with its input: greedy by size puts both tensors of 256 to the bottom and ends at 512.
  std::vector<TensorUsage> chain;
  for (const uint64_t size_bytes : {256, 128, 128, 256, 64, 128, 128}) {
    const auto step = static_cast<int>(chain.size());
    chain.push_back({size_bytes, step, step + 1});
  }
  EXPECT_EQ(PlaceBySize(chain, 1).total_bytes, 512u);
  EXPECT_EQ(SearchOffsets(chain, 1).total_bytes, 384u);
}

TEST(OffsetSearch, SwapsNothingForLessThanAPage) {
  const auto scaled = [](uint64_t factor) {
    std::vector<TensorUsage> usages{{256, 0, 1}, {512, 1, 2}, {448, 2, 4}, {64, 3, 6},
                                    {64, 4, 6},  {512, 5, 6}, {256, 6, 9}, {448, 7, 8}};
    for (TensorUsage& usage : usages) usage.size_bytes *= factor;
    return SearchOffsets(usages, 64).total_bytes;
  };
  EXPECT_EQ(scaled(1), 1088u) << "the best of the orders";
  EXPECT_EQ(scaled(1000), 960'000u) << "the bound, by swaps";
}

}  // namespace
}  // namespace hearth
