// Resolves a user's name for a device against a list of devices: pure functions.
#ifndef HEARTH_RUNTIME_DEVICES_DEVICE_NAMES_H_
#define HEARTH_RUNTIME_DEVICES_DEVICE_NAMES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "hal/device/device.h"

namespace hearth {

// A device with its name for users.
struct ListedDevice {
  std::string id;  // "opencl:0" (counting usable devices); the backend's name when not usable; "cpu"
  const BackendDef* backend = nullptr;
  DeviceCandidate candidate;
};

// Lower case, without surrounding blanks. kInvalidArgument if nothing is left.
Result<std::string> NormalizedDeviceName(const std::string& wanted);

// Usable hardware GPUs, discrete ones first, otherwise in the order of the list.
std::vector<ListedDevice> HardwareGpus(const std::vector<ListedDevice>& listed);

// The one usable device of `listed` that `name` means: a UUID (all 32 hexadecimal digits, dashes or not; the first
// device of the list that has it, since one GPU is there once per backend), a whole name, or part of one name.
// `uuid_of` is called only if `name` looks like a UUID. kUnavailable if no device or more than one fits; the message
// lists them. `name` is normalized.
Result<ListedDevice> DeviceByName(const std::string& name, const std::vector<ListedDevice>& listed,
                                  const std::function<std::string(const ListedDevice&)>& uuid_of);

// "vulkan:0 (NVIDIA H200), cpu (AMD EPYC)", the usable ones.
std::string UsableDevicesText(const std::vector<ListedDevice>& listed);
// "opencl: no ICD found; gles: ...", why the others are not.
std::string UnusableDevicesText(const std::vector<ListedDevice>& listed);

// Limits and features by name: DeviceDescription::features.
std::map<std::string, std::string> FeaturesOf(const DeviceInfo& info);

// Whether each rule of core/device/device_rules.h applies: DeviceDescription::rules.
std::map<std::string, bool> RulesOf(const DeviceInfo& info);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_DEVICE_NAMES_H_
