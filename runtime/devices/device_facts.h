// A device's facts in words, as `hearth devices` lists them.
#ifndef HEARTH_RUNTIME_DEVICES_DEVICE_FACTS_H_
#define HEARTH_RUNTIME_DEVICES_DEVICE_FACTS_H_

#include <map>
#include <string>

#include "core/device/device_info.h"

namespace hearth {

// Limits and features by name: DeviceDescription::features.
std::map<std::string, std::string> FeaturesOf(const DeviceInfo& info);

// Whether each rule of core/device/device_rules.h applies: DeviceDescription::rules.
std::map<std::string, bool> RulesOf(const DeviceInfo& info);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_DEVICE_FACTS_H_
