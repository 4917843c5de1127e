#include "frontends/engine/tuner.h"

#include <algorithm>
#include <limits>

#include "core/base/enum_name.h"
#include "core/lowering/lower.h"

namespace hearth {
namespace {

constexpr std::string_view kModeNames[] = {"off", "fast", "full"};

// A winner must be this much faster than what rules choose: less is noise.
constexpr double kMargin = 0.97;
constexpr size_t kFastCandidates = 4;
// A sample repeats short layers: a clock's steps and a launch's jitter are some microseconds.
constexpr double kSampleMs = 1.0;
constexpr int kMostRepeats = 20;

struct Contest {
  TunableLayer layer;
  std::vector<Plan> plans;  // parallel to the layer's candidates
};

int Rounds(TuneMode mode) {
  return mode == TuneMode::kFull ? 11 : 5;
}

Contest MakeContest(const Graph& graph, TunableLayer layer, const DeviceInfo& device, const LowerOptions& options,
                    TuneMode mode) {
  if (mode == TuneMode::kFast && layer.candidates.size() > kFastCandidates) layer.candidates.resize(kFastCandidates);
  const Graph alone = LayerGraph(graph, layer.node);
  Contest contest{{layer.key, layer.node, {}}, {}};
  for (const KernelChoice& candidate : layer.candidates) {
    Result<Plan> plan = LowerLayer(alone, device, options, candidate);
    if (!plan.ok()) continue;
    contest.layer.candidates.push_back(candidate);
    contest.plans.push_back(std::move(plan).value());
  }
  return contest;
}

std::vector<KernelSource> KernelsOf(std::span<const Contest> contests) {
  std::vector<KernelSource> kernels;
  for (const Contest& contest : contests) {
    for (const Plan& plan : contest.plans) {
      for (const KernelSource& kernel : plan.kernels) {
        if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
      }
    }
  }
  return kernels;
}

double Median(std::vector<double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::infinity();
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

struct Contestant {
  std::unique_ptr<TimedLayer> layer;  // null: it can't run
  int repeats = 1;
  std::vector<double> samples_ms;

  // The mean of `repeats` runs; a failing run ends the candidacy.
  void Sample() {
    if (layer == nullptr) return;
    double sum_ms = 0;
    for (int k = 0; k < repeats; ++k) {
      const Result<double> run_ms = layer->RunMs();
      if (!run_ms.ok()) {
        layer = nullptr;
        samples_ms.clear();
        return;
      }
      sum_ms += *run_ms;
    }
    samples_ms.push_back(sum_ms / repeats);
  }
};

std::vector<Contestant> WarmedUp(Contest& contest, LayerClock& clock) {
  std::vector<Contestant> contestants(contest.plans.size());
  for (size_t k = 0; k < contestants.size(); ++k) {
    Result<std::unique_ptr<TimedLayer>> ready = clock.Prepare(std::move(contest.plans[k]));
    if (!ready.ok()) continue;
    contestants[k].layer = std::move(ready).value();
    for (int run = 0; run < 2; ++run) contestants[k].Sample();  // drivers compile at the first, caches fill
    if (contestants[k].samples_ms.empty()) continue;
    const double repeats = kSampleMs / std::max(contestants[k].samples_ms.back(), 1e-3);
    contestants[k].repeats = std::clamp(static_cast<int>(repeats), 1, kMostRepeats);
    contestants[k].samples_ms.clear();
  }
  return contestants;
}

// The medians of all candidates; infinite for one that can't run.
std::vector<double> Measure(Contest& contest, TuneMode mode, LayerClock& clock) {
  std::vector<Contestant> contestants = WarmedUp(contest, clock);
  for (int round = 0; round < Rounds(mode); ++round) {
    for (Contestant& contestant : contestants) contestant.Sample();
  }
  std::vector<double> medians_ms;
  for (Contestant& contestant : contestants) medians_ms.push_back(Median(std::move(contestant.samples_ms)));
  return medians_ms;
}

}  // namespace

std::string_view TuneModeName(TuneMode mode) {
  return kModeNames[static_cast<int>(mode)];
}

std::optional<TuneMode> TuneModeFromName(std::string_view name) {
  return EnumNamed<TuneMode>(kModeNames, name);
}

TuningTable Tune(const Graph& graph, const DeviceInfo& device, const LowerOptions& options, TuneMode mode,
                 LayerClock& clock, const TuneObserver& observer) {
  TuningTable winners;
  if (mode == TuneMode::kOff) return winners;
  std::vector<Contest> contests;
  for (TunableLayer& layer : TunableLayers(graph, device, options)) {
    const auto known = options.tuned.find(layer.key);
    if (known != options.tuned.end() && (known->second.of_all || mode == TuneMode::kFast)) continue;
    contests.push_back(MakeContest(graph, std::move(layer), device, options, mode));
  }
  clock.Announce(KernelsOf(contests));
  TuneProgress progress;
  progress.total = contests.size();
  if (observer && !contests.empty()) observer(progress);
  for (Contest& contest : contests) {
    const std::vector<double> medians_ms = Measure(contest, mode, clock);
    ++progress.done;
    const auto best = std::min_element(medians_ms.begin(), medians_ms.end());
    if (best == medians_ms.end() || *best == std::numeric_limits<double>::infinity()) continue;
    const bool is_clear = *best < kMargin * medians_ms.front();
    const size_t winner = is_clear ? static_cast<size_t>(best - medians_ms.begin()) : 0;
    winners.insert_or_assign(contest.layer.key, TunedLayer{contest.layer.candidates[winner], mode == TuneMode::kFull});
    progress.layer = contest.layer.key;
    progress.chosen = contest.layer.candidates[winner];
    progress.chosen_ms = medians_ms[winner];
    progress.rule_ms = medians_ms.front();
    if (observer) observer(progress);
  }
  return winners;
}

}  // namespace hearth
