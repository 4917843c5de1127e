#include "runtime/plans/tuner.h"

#include <algorithm>

#include "core/base/contains.h"
#include "core/base/numbers.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kModeNames[] = {"off", "fast", "full"};

constexpr size_t kFastCandidates = 4;
// A sample repeats short layers, because clock steps and launch jitter are some microseconds.
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
        if (!Contains(kernels, kernel)) kernels.push_back(kernel);
      }
    }
  }
  return kernels;
}

struct Contestant {
  std::unique_ptr<TimedLayer> layer;  // null: the candidate can't run
  int repeats = 1;
  std::vector<double> samples_ms;

  // Measures the mean of `repeats` runs. A failing run ends the candidacy.
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
    for (int run = 0; run < 2; ++run) contestants[k].Sample();  // drivers compile in the first run, caches fill
    if (contestants[k].samples_ms.empty()) continue;
    const double repeats = kSampleMs / std::max(contestants[k].samples_ms.back(), 1e-3);
    contestants[k].repeats = std::clamp(static_cast<int>(repeats), 1, kMostRepeats);
    contestants[k].samples_ms.clear();
  }
  return contestants;
}

CandidateTime TimeOf(const KernelChoice& choice, const std::vector<double>& samples_ms) {
  CandidateTime time{choice, static_cast<int64_t>(samples_ms.size()), Median(samples_ms), 0};
  for (double ms : samples_ms) time.squares += (ms - time.ms) * (ms - time.ms);
  return time;
}

// Measures all candidates that can run. If the rules' choice can't, the next one takes its place as the first.
TuningRecord Measure(Contest& contest, TuneMode mode, LayerClock& clock) {
  std::vector<Contestant> contestants = WarmedUp(contest, clock);
  for (int round = 0; round < Rounds(mode); ++round) {
    for (Contestant& contestant : contestants) contestant.Sample();
  }
  TuningRecord record;
  record.of_all = mode == TuneMode::kFull;
  for (size_t k = 0; k < contestants.size(); ++k) {
    if (contestants[k].samples_ms.empty()) continue;
    record.candidates.push_back(TimeOf(contest.layer.candidates[k], contestants[k].samples_ms));
  }
  return record;
}

}  // namespace

std::string_view TuneModeName(TuneMode mode) {
  return kModeNames[static_cast<int>(mode)];
}

std::optional<TuneMode> TuneModeFromName(std::string_view name) {
  return EnumNamed<TuneMode>(kModeNames, name);
}

TuningRecords Tune(const Graph& graph, const DeviceInfo& device, const LowerOptions& options, TuneMode mode,
                   LayerClock& clock, const TuneObserver& observer) {
  TuningRecords records;
  if (mode == TuneMode::kOff) return records;
  std::vector<Contest> contests;
  for (TunableLayer& layer : TunableLayers(graph, device, options)) {
    const auto known = options.tuned.find(layer.key);
    if (known != options.tuned.end() && (known->second.of_all || mode == TuneMode::kFast)) continue;
    contests.push_back(MakeContest(graph, std::move(layer), device, options, mode));
  }
  clock.Announce(KernelsOf(contests));
  TuningProgress progress;
  progress.total = contests.size();
  if (observer && !contests.empty()) observer(progress);
  for (Contest& contest : contests) {
    TuningRecord record = Measure(contest, mode, clock);
    ++progress.done;
    const CandidateTime* best = record.Best();
    if (best == nullptr) continue;
    progress.layer = contest.layer.key;
    progress.chosen = ToText(best->choice);
    progress.chosen_ms = best->ms;
    progress.rule_ms = record.candidates.front().ms;
    records.insert_or_assign(contest.layer.key, std::move(record));
    if (observer) observer(progress);
  }
  return records;
}

}  // namespace hearth
