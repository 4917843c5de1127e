// Choosing kernels: candidates, what is measured, what is kept and who shares it.
#include "core/plan/tuning.h"

#include <gtest/gtest.h>

#include <set>

#include "backends/null/device.h"
#include "core/graph/op_text.h"
#include "core/lowering/tunable_layers.h"
#include "runtime/plans/tuning_cache.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

using testing::MemoryStore;

DeviceInfo TuningDevice(Dialect dialect, DeviceType type) {
  DeviceInfo info = NullDeviceInfo();
  info.dialect = dialect;
  info.type = type;
  info.name = "a device of the test";
  info.driver_version = "1";
  info.max_texel_elements = 1u << 20;
  return info;
}
const DeviceInfo kDevices[] = {TuningDevice(Dialect::kOpenCl, DeviceType::kCpu),
                               TuningDevice(Dialect::kVulkan, DeviceType::kCpu),
                               TuningDevice(Dialect::kVulkan, DeviceType::kDiscreteGpu),
                               TuningDevice(Dialect::kOpenCl, DeviceType::kIntegratedGpu)};

// Every operation with candidates, a pointwise convolution twice.
Graph TunedNetwork() {
  return testing::Parsed(R"(graph "network"
%0 = input : float32[1x12x12x8] "x"
%1 = constant : float32[12x3x3x8] "w1" = fill(0.01)
%2 = constant : float32[1x3x3x12] "w2" = fill(0.02)
%3 = constant : float32[12x1x1x12] "w3" = fill(0.03)
%4 = constant : float32[12x1x1x12] "w4" = fill(0.04)
%5 = constant : float32[8x2x2x12] "w5" = fill(0.05)
%6 = constant : float32[40x8] "w6" = fill(0.06)
%7 = conv_2d(%0, %1) padding=same : float32[1x12x12x12] "a" node "conv" operator 0
%8 = depthwise_conv_2d(%7, %2) padding=same : float32[1x12x12x12] "b" node "depthwise" operator 1
%9 = conv_2d(%8, %3) : float32[1x12x12x12] "c" node "pointwise" operator 2
%10 = conv_2d(%9, %4) : float32[1x12x12x12] "d" node "again" operator 3
%11 = transpose_conv(%10, %5) stride=2x2 padding=same : float32[1x24x24x8] "e" node "up" operator 4
%12 = fully_connected(%11, %6) keep_dims=true : float32[1x24x24x40] "f" node "dense" operator 5
%13 = softmax(%12) : float32[1x24x24x40] "g" node "softmax" operator 6
output %13
)");
}

// One pointwise convolution as in TunedNetwork, with other names and weights.
Graph OtherNetwork() {
  return testing::Parsed(R"(graph "other"
%0 = input : float32[1x12x12x12] "image"
%1 = constant : float32[12x1x1x12] "filter" = fill(0.5)
%2 = conv_2d(%0, %1) : float32[1x12x12x12] "y" node "its own name" operator 7
output %2
)");
}

const TunableLayer* LayerOf(const std::vector<TunableLayer>& layers, std::string_view beginning) {
  for (const TunableLayer& layer : layers) {
    if (layer.key.starts_with(beginning)) return &layer;
  }
  return nullptr;
}

TEST(KernelChoice, ItsTextReadsBack) {
  const KernelChoice choice{"wide", 6, 2, 32};
  EXPECT_EQ(ToText(choice), "wide 6x2 lanes 32");
  EXPECT_EQ(KernelChoiceFromText(ToText(choice)), choice);
  for (const char* text : {"", "wide", " 6x2 lanes 8", "wide 6x lanes 8", "wide 0x1 lanes 8", "wide 6x1 lanes 8 ",
                           "wide 99999x1 lanes 8", "wide 6x1 lanes -1"}) {
    EXPECT_FALSE(KernelChoiceFromText(text).has_value()) << text;
  }
}

TEST(LayerKey, IsThatOfTheShapeAndNotOfNamesAndWeights) {
  const Graph network = TunedNetwork(), other = OtherNetwork();
  const DeviceInfo& device = kDevices[0];
  const std::string key = LayerKey(network, network.nodes()[2], device, {});
  EXPECT_EQ(LayerKey(network, network.nodes()[3], device, {}), key);
  EXPECT_EQ(LayerKey(other, other.nodes()[0], device, {}), key);
  LowerOptions options{.precision = Precision::kFp16};
  EXPECT_NE(LayerKey(network, network.nodes()[2], device, options), key);
  options = {};
  options.read_path = AccessPath::kTexelBuffer;
  EXPECT_NE(LayerKey(network, network.nodes()[2], device, options), key);
  EXPECT_NE(LayerKey(network, network.nodes()[0], device, {}), LayerKey(network, network.nodes()[1], device, {}));
}

TEST(TunableLayers, ComeOnceAndEveryCandidateLowersAndIsAnotherPlan) {
  const Graph graph = TunedNetwork();
  for (const DeviceInfo& device : kDevices) {
    const std::vector<TunableLayer> layers = TunableLayers(graph, device, {});
    std::set<std::string> keys;
    for (const TunableLayer& layer : layers) {
      EXPECT_TRUE(keys.insert(layer.key).second) << layer.key;
      EXPECT_GE(layer.candidates.size(), 2u);
      const Graph alone = LayerGraph(graph, layer.node);
      EXPECT_TRUE(alone.Validate().ok());
      std::set<std::string> texts;
      for (const KernelChoice& candidate : layer.candidates) {
        const Result<Plan> plan = LowerLayer(alone, device, {}, candidate);
        ASSERT_TRUE(plan.ok()) << layer.key << " by " << ToText(candidate) << ": " << plan.status().message();
        std::string text;
        for (const KernelSource& kernel : plan->kernels) text += Emit(kernel, device.dialect);
        EXPECT_TRUE(texts.insert(text).second) << layer.key << " by " << ToText(candidate) << " is another's twin";
      }
    }
    for (const char* name :
         {"conv_2d padding=same", "conv_2d:", "depthwise", "transpose_conv", "fully_connected", "softmax"})
      EXPECT_NE(LayerOf(layers, name), nullptr) << name;
  }
}

TEST(TunableLayers, TheFirstCandidateIsWhatRulesChoose) {
  const Graph graph = TunedNetwork();
  for (const DeviceInfo& device : kDevices) {
    for (const TunableLayer& layer : TunableLayers(graph, device, {})) {
      const Graph alone = LayerGraph(graph, layer.node);
      const Result<Plan> by_rule = Lower(alone, device, {}), first = LowerLayer(alone, device, {}, layer.candidates[0]);
      ASSERT_TRUE(by_rule.ok() && first.ok());
      EXPECT_EQ(SerializePlan(*by_rule), SerializePlan(*first)) << layer.key;
    }
  }
}

TEST(Lower, TakesARecordedChoiceAndLeavesOneThatIsNoCandidate) {
  const Graph graph = OtherNetwork();
  const DeviceInfo& device = kDevices[1];
  const std::string key = LayerKey(graph, graph.nodes()[0], device, {});
  LowerOptions options;
  const std::vector<std::byte> by_rule = SerializePlan(*Lower(graph, device, options));
  options.tuned = {{key, {{"tile", 2, 1, 8}, false}}};
  EXPECT_NE(SerializePlan(*Lower(graph, device, options)), by_rule);
  options.tuned = {{key, {{"tile", 777, 1, 8}, false}}};
  EXPECT_EQ(SerializePlan(*Lower(graph, device, options)), by_rule);
  options.tuned = {{key, {{"unheard", 2, 1, 8}, false}}};
  EXPECT_EQ(SerializePlan(*Lower(graph, device, options)), by_rule);
}

// ---- Measuring, with a clock that shows what a test wants ----

class FakeClock final : public LayerClock {
 public:
  // Milliseconds of a plan; below 0: it can't run.
  using Show = std::function<double(const Plan&)>;
  explicit FakeClock(Show show) : show_(std::move(show)) {}

  void Announce(std::span<const KernelSource> kernels) override { announced += kernels.size(); }
  Result<std::unique_ptr<TimedLayer>> Prepare(Plan plan) override {
    ++prepared;
    const double ms = show_(plan);
    if (ms < 0) return Status(StatusCode::kResourceExhausted, "this plan can't run");
    return std::unique_ptr<TimedLayer>(new Layer(ms));
  }
  size_t announced = 0, prepared = 0;

 private:
  class Layer final : public TimedLayer {
   public:
    explicit Layer(double ms) : ms_(ms) {}
    Result<double> RunMs() override { return ms_; }

   private:
    double ms_;
  };
  Show show_;
};

// 1 ms for kernels with ROWS `rows`, 2 ms for others.
FakeClock::Show FastestWithRows(const char* rows) {
  return [rows](const Plan& plan) {
    for (const KernelSource& kernel : plan.kernels) {
      for (const Define& define : kernel.defines) {
        if (define.name == "ROWS" && define.value == rows) return 1.0;
      }
    }
    return 2.0;
  };
}

TEST(Tune, FindsTheFastestCandidateOfEachLayerAndTellsOfIt) {
  const Graph graph = OtherNetwork();
  FakeClock clock(FastestWithRows("2"));
  std::vector<TuningProgress> told;
  const TuningTable winners = TableOf(Tune(graph, kDevices[0], {}, TuneMode::kFull, clock,
                                           [&](const TuningProgress& progress) { told.push_back(progress); }));
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners.begin()->second, (TunedLayer{{"wide", 2, 1, 8}, true}));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].total, 1u);
  EXPECT_TRUE(told[0].layer.empty());
  EXPECT_EQ(told[1].chosen_ms, 1.0);
  EXPECT_EQ(told[1].rule_ms, 2.0);
  EXPECT_GE(clock.announced, clock.prepared);
}

TEST(Tune, KeepsWhatRulesChooseWhereNothingIsClearlyFaster) {
  const Graph graph = OtherNetwork();
  double ms = 1.0;
  FakeClock clock([&](const Plan&) { return ms *= 0.999; });  // each a little faster than the one before
  const TuningTable winners = TableOf(Tune(graph, kDevices[1], {}, TuneMode::kFull, clock));
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners.begin()->second.choice, TunableLayers(graph, kDevices[1], {})[0].candidates[0]);
}

TEST(Tune, ACandidateThatCannotRunIsNoneAndALayerWithoutAnyHasNoWinner) {
  const Graph graph = OtherNetwork();
  int turn = 0;
  FakeClock first_fails([&](const Plan&) { return turn++ == 0 ? -1.0 : 1.0; });
  const TuningTable winners = TableOf(Tune(graph, kDevices[1], {}, TuneMode::kFast, first_fails));
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners.begin()->second.choice, TunableLayers(graph, kDevices[1], {})[0].candidates[1]);
  FakeClock all_fail([](const Plan&) { return -1.0; });
  EXPECT_TRUE(Tune(graph, kDevices[1], {}, TuneMode::kFast, all_fail).empty());
}

TEST(Tune, MeasuresOnlyWhatNoRecordHoldsAndFullAlsoWhatFastFound) {
  const Graph graph = OtherNetwork();
  FakeClock clock([](const Plan&) { return 1.0; });
  LowerOptions options;
  options.tuned = TableOf(Tune(graph, kDevices[0], options, TuneMode::kFast, clock));
  EXPECT_EQ(clock.prepared, 4u);  // the likeliest
  EXPECT_TRUE(Tune(graph, kDevices[0], options, TuneMode::kFast, clock).empty());
  EXPECT_EQ(clock.prepared, 4u);
  options.tuned = TableOf(Tune(graph, kDevices[0], options, TuneMode::kFull, clock));
  EXPECT_GT(clock.prepared, 8u);
  EXPECT_TRUE(Tune(graph, kDevices[0], options, TuneMode::kFull, clock).empty());
}

// ---- The record ----

TEST(StoredTuning, IsSharedByNetworksOfADeviceAndGrows) {
  MemoryStore store;
  const Graph network = TunedNetwork(), other = OtherNetwork();
  const DeviceInfo& device = kDevices[0];
  EXPECT_TRUE(StoredTuning(device, store).empty());
  FakeClock clock(FastestWithRows("2"));
  StoreTuning(device, Tune(other, device, {}, TuneMode::kFull, clock), 1, store);
  LowerOptions options{.tuned = TableOf(StoredTuning(device, store))};
  ASSERT_EQ(options.tuned.size(), 1u);
  // The other network's plan is made with it, and its pointwise layers need not be measured.
  EXPECT_NE(SerializePlan(*Lower(network, device, options)), SerializePlan(*Lower(network, device, {})));
  const TuningRecords rest = Tune(network, device, options, TuneMode::kFull, clock);
  EXPECT_EQ(rest.size(), TunableLayers(network, device, {}).size() - 1);
  StoreTuning(device, rest, 1, store);
  EXPECT_EQ(StoredTuning(device, store).size(), rest.size() + 1);
}

// A start of the engine on the null device, with its own clock.
TuningOutcome Start(const std::string& mode, NullDevice& device, MemoryStore* store, PlanRequest& request) {
  TuningRequest tuning;
  tuning.mode = mode;
  tuning.device = &device;
  tuning.store = store;
  const Result<TuningOutcome> outcome = TuneBeforePlan(tuning, request);
  EXPECT_TRUE(outcome.ok()) << outcome.status().message();
  return *outcome;
}

TEST(TunedStart, MeasuresOnceAndLaterStartsUseItWithoutBeingAsked) {
  MemoryStore store;
  NullDevice device(kDevices[1]);
  const Graph graph = TunedNetwork();
  const auto request = [&] {
    PlanRequest made;
    made.graph = &graph;
    made.device = &device.info();
    return made;
  };
  PlanRequest first = request(), second = request(), off = request(), untouched = request();
  const TuningOutcome measured = Start("fast", device, &store, first);
  EXPECT_GT(measured.measured, 3);
  EXPECT_EQ(measured.recorded, measured.measured);
  EXPECT_EQ(Start("fast", device, &store, second).measured, 0);
  const TuningOutcome later = Start("off", device, &store, off);
  EXPECT_EQ(later.recorded, measured.recorded);
  EXPECT_EQ(KeyOf(off).digest(), KeyOf(first).digest());
  EXPECT_NE(KeyOf(off).digest(), KeyOf(untouched).digest()) << "a plan's key holds the records it was made with";
}

TEST(TunedStart, WorksWithoutAStoreAndRefusesAnUnknownMode) {
  NullDevice device(kDevices[1]);
  const Graph graph = OtherNetwork();
  PlanRequest request;
  request.graph = &graph;
  request.device = &device.info();
  EXPECT_EQ(Start("full", device, nullptr, request).recorded, 1);
  TuningRequest tuning;
  tuning.mode = "faster";
  EXPECT_EQ(TuneBeforePlan(tuning, request).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hearth
