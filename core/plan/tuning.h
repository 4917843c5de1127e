// Keys and records of tuned layers.
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

// Describes a layer: operation, attributes, types and shapes of its operands, precision, read path. It has no names and
// no weights, so that networks share measurements.
std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options);

// A line per layer, which is part of the key of plans made with the table.
std::string ToText(const TuningTable& table);

// The measurement of a candidate: `count` samples with their median and the sum of their squared distances from it.
struct CandidateTime {
  KernelChoice choice;
  int64_t count = 0;
  double ms = 0, squares = 0;
  friend bool operator==(const CandidateTime&, const CandidateTime&) = default;
};

// The record of a layer on a device. Records of several machines, or of several times, are added up.
struct TuningRecord {
  std::vector<CandidateTime> candidates;  // the first is the rules' choice
  bool of_all = false;                    // all candidates were measured, not only the likeliest

  int64_t samples() const;
  // The fastest candidate if it is clearly faster than the rules' choice, else that; null without candidates.
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
