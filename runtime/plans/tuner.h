// Tuning: measures the candidate kernels of a network's layers and finds the fastest of each.
#ifndef HEARTH_RUNTIME_PLANS_TUNER_H_
#define HEARTH_RUNTIME_PLANS_TUNER_H_

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
#include "hal/device/device.h"
#include "hearth/session.h"

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

// A clock on a real device, which must outlive it. Weights are zeros, and no cache is used. Measuring fails once `stop`
// was requested.
std::unique_ptr<LayerClock> MakeDeviceClock(Device& device, int threads, const std::stop_token& stop = {});

using TuneObserver = std::function<void(const TuningProgress&)>;

// Measures the layers of `graph` (rewritten, as Lower takes it) that `options.tuned` lacks, with kFull also those of
// which not all candidates were measured, and returns their winners. Candidates take turns: warm-up, then rounds of one
// sample each. The lowest median wins, but the rules' choice stays unless another is at least 3 % faster. A layer that
// can't be measured has no winner.
TuningRecords Tune(const Graph& graph, const DeviceInfo& device, const LowerOptions& options, TuneMode mode,
                   LayerClock& clock, const TuneObserver& observer = {});

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_TUNER_H_
