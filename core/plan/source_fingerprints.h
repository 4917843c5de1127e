// Fingerprints, made at build time, of the sources that decide the content of cache entries. Keys contain them instead
// of version numbers that somebody has to raise. Equal sources give equal fingerprints in every build.
#ifndef HEARTH_CORE_PLAN_SOURCE_FINGERPRINTS_H_
#define HEARTH_CORE_PLAN_SOURCE_FINGERPRINTS_H_

#include <string_view>

namespace hearth {

extern const std::string_view kPlanSources;    // operations, passes, kernels, lowering, memory planner
extern const std::string_view kWeightSources;  // the packer and how it reads numbers
extern const std::string_view kTuningSources;  // kernels, emitted texts, candidates

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_SOURCE_FINGERPRINTS_H_
