// Software drivers that simulate other devices (core/device/device_profiles.h).
#ifndef HEARTH_RUNTIME_DEVICES_DEVICE_SIMULATION_H_
#define HEARTH_RUNTIME_DEVICES_DEVICE_SIMULATION_H_

#include <string>
#include <vector>

#include "runtime/devices/device_choice.h"

namespace hearth {

// Opens the device that `wanted` names so that it simulates the profile; "auto" is the first software driver of an API
// that the profile's device has. kInvalidArgument for an unknown profile, the CPU, or an API that the device lacks;
// kUnavailable if no driver can simulate it.
Result<OpenedDevice> OpenSimulatedDevice(const std::string& wanted, const std::string& profile_name);

// The names of all profiles that the device `wanted` can simulate: those with its API. None for the CPU.
Result<std::vector<std::string>> ProfilesFor(const std::string& wanted);

// OpenSimulatedDevice, or OpenChosenDevice where `profile_name` is empty.
Result<OpenedDevice> OpenDeviceAs(const std::string& wanted, const std::string& profile_name);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_DEVICE_SIMULATION_H_
