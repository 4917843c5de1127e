// Tuning: measures the candidate kernels of a network's layers and finds the fastest of each.
#ifndef HEARTH_FRONTENDS_ENGINE_TUNER_H_
#define HEARTH_FRONTENDS_ENGINE_TUNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/lowering/tunable_layers.h"
#include "core/plan/tuning.h"
#include "hal/device.h"

namespace hearth {

enum class TuneMode : uint8_t {
  kOff,
  kFast,  // the few likeliest candidates of a layer, few samples
  kFull,  // all candidates
};
std::string_view TuneModeName(TuneMode mode);  // "off", "fast", "full"
std::optional<TuneMode> TuneModeFromName(std::string_view name);

// A layer's plan, ready to be timed.
class TimedLayer {
 public:
  virtual ~TimedLayer() = default;
  virtual Result<double> RunMs() = 0;  // one run
};

// The device and its clock, as the tuner sees them.
class LayerClock {
 public:
  virtual ~LayerClock() = default;
  // Announces kernels before the first Prepare: drivers compile many together faster than one after the other.
  virtual void Announce(std::span<const KernelSource> kernels) = 0;
  // An error means that the device can't run this plan, which is then not a candidate.
  virtual Result<std::unique_ptr<TimedLayer>> Prepare(Plan plan) = 0;
};

// On a real device. The device must outlive the clock. Weights are zeros; nothing is read from or put into a cache.
// Once `stop` was requested nothing can be measured any more.
std::unique_ptr<LayerClock> MakeDeviceClock(Device& device, int threads, const std::stop_token& stop = {});

struct TuneProgress {
  size_t done = 0, total = 0;  // layers
  std::string layer;           // LayerKey of the one that was measured last; empty before the first
  KernelChoice chosen;
  double chosen_ms = 0, rule_ms = 0;  // of the winner, and of what rules choose
};
using TuneObserver = std::function<void(const TuneProgress&)>;

// Measures those layers of `graph` (rewritten, as Lower takes it) that `options.tuned` does not hold, with kFull also
// those of which not all candidates were measured, and returns their winners. Candidates take turns: warm-up, then
// rounds of one sample each; the lowest median wins, and what rules choose stays where nothing is at least 3 % faster.
// A layer that can't be measured has no winner.
TuningRecords Tune(const Graph& graph, const DeviceInfo& device, const LowerOptions& options, TuneMode mode,
                   LayerClock& clock, const TuneObserver& observer = {});

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_TUNER_H_
