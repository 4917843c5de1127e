// Fingerprints of the sources that decide what an entry of the cache holds, taken when Hearth is built: parts of keys,
// in place of version numbers that somebody has to raise. Equal sources give equal fingerprints in every build.
#ifndef HEARTH_CORE_PLAN_SOURCE_FINGERPRINTS_H_
#define HEARTH_CORE_PLAN_SOURCE_FINGERPRINTS_H_

#include <string_view>

namespace hearth {

extern const std::string_view kPlanSources;    // operations, passes, kernels, lowering, memory planner
extern const std::string_view kWeightSources;  // the packer and how it reads numbers
extern const std::string_view kTuningSources;  // kernels, the texts made of them, candidates

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_SOURCE_FINGERPRINTS_H_
