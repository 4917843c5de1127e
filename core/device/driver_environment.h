// Environment variables by which a driver makes other code of the same program: part of a device's identity in keys.
//
// A driver may refuse a binary that was made under another value, or take it without a word. Both are wrong: the first
// compiles at each start, the second computes what nobody asked for.
#ifndef HEARTH_CORE_DEVICE_DRIVER_ENVIRONMENT_H_
#define HEARTH_CORE_DEVICE_DRIVER_ENVIRONMENT_H_

#include <span>
#include <string>
#include <string_view>

#include "core/device/device_info.h"
#include "core/device/driver_names.h"

namespace hearth {

struct DriverVariable {
  std::string_view name;  // with '*' at its end: all variables whose names begin so
  bool (*is_read_by)(const DriverWords& driver);
  std::string_view why;  // what it changes
};

std::span<const DriverVariable> DriverVariables();

// Whether a row, of whichever driver, names this variable.
bool IsDriverVariable(std::string_view name);

// The variables that are set now and that this driver reads, for DeviceInfo::driver_environment. A value may be long,
// or hold a path: the text has the beginning of its SHA-256.
std::string DriverEnvironmentOf(const DeviceInfo& driver);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DRIVER_ENVIRONMENT_H_
