// Knowledge about drivers beyond their limits: one table of named rules.
//
// A row says how lowering differs on devices that its predicate selects, and where that was measured. Passes, planning
// and lowering ask for rules, never for devices. Each rule can be forced on or off by its name (`--rules
// +wide_stores,-subgroup_weights`), for tuning and for tests that run a GPU's path on a processor. The table is in
// device_rules.cc. Dawn's toggles are the model.
#ifndef HEARTH_CORE_DEVICE_DEVICE_RULES_H_
#define HEARTH_CORE_DEVICE_DEVICE_RULES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/device/device_info.h"
#include "hearth/status.h"

namespace hearth {

// In the order of the table.
enum class Rule : uint8_t {
  kTexelReads,
  kWideVectors,
  kWideRegisters,
  kWideStores,
  kSubgroupWeights,
  kLargeTiles,
  kCostlyGroups,
  kShortGroups,
  kOneItemSums,
  kOneItemRuns,
  kFourPixelsEach,
  kTilesWithinLines,
  kMeansOfSmallWindows,
  kLoopLimit,
  kCostlyPrograms,
  kHalfArithmetic,
  kUnboundedHalves,
  kChainedSums,
  kTwoPixelTiles,
  kUprightTiles,
  kStaleTexels,
  kGridClasses,
  kDeviceDetections,
  kCooperativeMatrices,
};

struct DeviceRule {
  Rule rule;
  std::string_view name;                    // "wide_stores"
  std::string_view sentence;                // what Hearth does where the rule applies
  std::string_view measured;                // where that was measured, and the gain
  bool (*can)(const DeviceInfo& device);    // whether the rule is possible on the device; forcing does not go beyond it
  bool (*holds)(const DeviceInfo& device);  // whether the rule applies by default
};

std::span<const DeviceRule> DeviceRules();

// Whether `rule` is possible on `device` and not forced off: tuning may find that it pays where it does not apply.
bool IsPossible(Rule rule, const DeviceInfo& device);

// Whether `rule` applies to `device`: device.forced_rules decide, else the table.
bool Applies(Rule rule, const DeviceInfo& device);

// Whether a user forced `rule` on or off.
bool IsForced(Rule rule, const DeviceInfo& device);
// `device` with `rule` forced off.
DeviceInfo Without(Rule rule, DeviceInfo device);

// How kernels read tensors unless something else was measured: through texel buffers where the rule texel_reads
// applies, elsewhere from plain buffers.
AccessPath DefaultReadPath(const DeviceInfo& device);

// "+wide_stores,-subgroup_weights", in the order of the table; empty if nothing is forced.
std::string ToText(const ForcedRules& forced);
// kInvalidArgument names the unknown rule and lists all rules.
Result<ForcedRules> ForcedRulesFromText(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DEVICE_RULES_H_
