// What tuning keeps of a network: a key per layer, and a record of what was measured for each.
#ifndef HEARTH_CORE_PLAN_TUNING_H_
#define HEARTH_CORE_PLAN_TUNING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/device/options.h"
#include "core/graph/graph.h"

namespace hearth {

// A layer's shape content: operation, attributes, types and shapes of its operands, precision, read path. No names and
// no weights, so that networks share what was measured.
std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options);

// A line per layer: part of the key of plans that were made with it.
std::string ToText(const TuningTable& table);

// What was measured of a candidate: `count` samples with their median and the sum of their squared distances from it.
struct CandidateTime {
  KernelChoice choice;
  int64_t count = 0;
  double ms = 0, squares = 0;
  friend bool operator==(const CandidateTime&, const CandidateTime&) = default;
};

// What is kept of a layer on a device. Records of several machines, or of several times, add up.
struct TuningRecord {
  std::vector<CandidateTime> candidates;  // what rules choose first
  bool of_all = false;                    // all candidates were measured, not only the likeliest

  int64_t samples() const;
  // The fastest, where it is clearly faster than what rules choose. No candidate: nothing.
  const CandidateTime* Best() const;
  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};
using TuningRecords = std::map<std::string, TuningRecord, std::less<>>;  // by LayerKey

TuningTable TableOf(const TuningRecords& records);
TuningRecord Merged(const TuningRecord& one, const TuningRecord& other);

// For the cache: a title, then a line per candidate. FromText refuses anything else (kMalformedInput).
std::string ToText(const TuningRecord& record);
Result<TuningRecord> TuningRecordFromText(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_TUNING_H_
