// Finds and opens devices by a user's name for them ("auto", "opencl:1", "radeon").
#ifndef HEARTH_RUNTIME_DEVICES_DEVICE_CHOICE_H_
#define HEARTH_RUNTIME_DEVICES_DEVICE_CHOICE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hal/device/device.h"
#include "runtime/devices/backends.h"
#include "runtime/devices/device_names.h"
#include "runtime/devices/read_path_probe.h"

namespace hearth {

// The list of backends is an argument so that a test can give its own.

// All devices of all backends.
std::vector<ListedDevice> ListAllDevices(std::span<const BackendDef> backends = Backends());

// Devices to try in this order. `gpu` gives usable hardware GPUs (discrete before integrated, then the order of the
// list), `auto` those and then the CPU, never a software driver. Any other name means one device: `cpu`, a backend
// ("opencl": its first usable device; "opencl:1"; "opencl:radeon"), a UUID, part of a name; capitals don't matter.
// kUnavailable: the message has the request, the reason, and the usable devices. kInvalidArgument: an empty name.
Result<std::vector<ListedDevice>> ChooseDevices(const std::string& wanted,
                                                std::span<const BackendDef> backends = Backends());

// "auto", in any case.
bool IsAutoDevice(const std::string& wanted);

// An opened device.
struct OpenedDevice {
  std::string id, reason;  // why this one
  DeviceInfo info;
  std::shared_ptr<Device> device;     // sessions may share it
  std::vector<std::string> warnings;  // devices that failed before it
  bool is_trusted = false;            // it needed no self-test, or passed it
  KnownReadPath read_path;            // as far as it is measured at all
};

// Opens the device that the caller shares. `wanted` must be "auto" or name its backend. kUnsupported if this build
// lacks that backend.
Result<OpenedDevice> OpenSharedDevice(const SharedContext& context, const std::string& wanted,
                                      std::span<const BackendDef> backends = Backends());

// Leaves out the devices in `failed_ids`, which opened but could not be made ready.
Result<OpenedDevice> OpenChosenDevice(const std::string& wanted, const std::vector<std::string>& failed_ids = {},
                                      std::span<const BackendDef> backends = Backends());

// ---- Software drivers that simulate other devices (core/device/device_profiles.h) ----

// Opens the device that `wanted` names so that it simulates the profile; "auto" is the first software driver of an API
// that the profile's device has. kInvalidArgument for an unknown profile, the CPU, or an API that the device lacks;
// kUnavailable if no driver can simulate it.
Result<OpenedDevice> OpenSimulatedDevice(const std::string& wanted, const std::string& profile_name);

// The names of all profiles that the device `wanted` can simulate: those with its API. None for the CPU.
Result<std::vector<std::string>> ProfilesFor(const std::string& wanted);

// OpenSimulatedDevice, or OpenChosenDevice where `profile_name` is empty.
Result<OpenedDevice> OpenDeviceAs(const std::string& wanted, const std::string& profile_name);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_DEVICE_CHOICE_H_
