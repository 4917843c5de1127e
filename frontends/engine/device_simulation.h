// A software driver that stands in for another device (core/device/device_profiles.h).
#ifndef HEARTH_FRONTENDS_ENGINE_DEVICE_SIMULATION_H_
#define HEARTH_FRONTENDS_ENGINE_DEVICE_SIMULATION_H_

#include <string>
#include <vector>

#include "frontends/engine/device_choice.h"

namespace hearth {

// Opens the device that `wanted` names as the device of that profile; under "auto" the first software driver of an API
// that the profile's device has. kInvalidArgument for an unknown profile, the CPU, or an API that the device lacks;
// kUnavailable where no driver can stand in.
Result<OpenedDevice> OpenSimulatedDevice(const std::string& wanted, const std::string& profile_name);

// The names of all profiles that the device which `wanted` names can stand in for: those that have its API. None for
// the CPU.
Result<std::vector<std::string>> ProfilesFor(const std::string& wanted);

// OpenSimulatedDevice, or OpenChosenDevice where `profile_name` is empty.
Result<OpenedDevice> OpenDeviceAs(const std::string& wanted, const std::string& profile_name);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_DEVICE_SIMULATION_H_
