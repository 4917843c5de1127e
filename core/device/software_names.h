// Drivers that run kernels on the processor, by their names.
#ifndef HEARTH_CORE_DEVICE_SOFTWARE_NAMES_H_
#define HEARTH_CORE_DEVICE_SOFTWARE_NAMES_H_

#include <string_view>

namespace hearth {

// Whether the device's name has that of a software driver, in any case and within the name of a driver that runs on it
// (virgl, zink, Venus, ANGLE). For APIs that do not tell, and for wrappers that call it something else: rules that keep
// results right (Rule::kLoopLimit) depend on it.
bool IsSoftwareName(std::string_view name);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_SOFTWARE_NAMES_H_
