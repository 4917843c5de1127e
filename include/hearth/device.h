// The compute devices of this machine.
#ifndef HEARTH_DEVICE_H_
#define HEARTH_DEVICE_H_

#include <map>
#include <string>
#include <vector>

#include "hearth/export.h"

namespace hearth {

struct DeviceDescription {
  std::string id;       // "opencl:0", "vulkan:1", "cpu"; an unusable device has its backend's name
  std::string backend;  // "opencl", "vulkan", "gles", "cpu"
  std::string name;
  std::string driver;
  std::string type;  // "cpu", "integrated-gpu", "discrete-gpu", "other"
  bool usable = false;
  std::string reason;                           // why it is not usable
  std::map<std::string, std::string> features;  // limits and features that the driver reports; empty when not usable
  std::map<std::string, bool> rules;            // which of DriverRules() apply; empty when not usable
};

// Every device of every backend in this build, usable or not. Opens each driver: slow (up to a second).
// Never fails: a backend without a driver is listed as unusable with the reason.
HEARTH_EXPORT std::vector<DeviceDescription> ListDevices();

// Facts about drivers beyond their reports. SessionOptions::rules forces a rule on or off by its name.
struct DriverRule {
  std::string name;      // "wide_stores"
  std::string sentence;  // what Hearth does where the rule applies
  std::string measured;  // where that was measured, and the gain
};
HEARTH_EXPORT std::vector<DriverRule> DriverRules();

// A device that a software driver can simulate; SessionOptions::simulate takes its name.
struct SimulatedDevice {
  std::string name;    // "navi21"
  std::string title;   // "AMD Radeon RX 6800 (Navi 21)"
  std::string apis;    // "opencl, gles, vulkan"
  std::string type;    // "discrete-gpu"
  std::string source;  // where its numbers come from
};
HEARTH_EXPORT std::vector<SimulatedDevice> SimulatedDevices();

}  // namespace hearth

#endif  // HEARTH_DEVICE_H_
