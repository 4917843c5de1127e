#include "runtime/devices/device_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/device/device_rules.h"
#include "runtime/devices/backends.h"

namespace hearth {
namespace {

constexpr size_t kUuidDigits = 32;

// A UUID's digits without dashes; empty for other texts.
std::string UuidDigits(const std::string& text) {
  std::string digits;
  for (const unsigned char c : LowerCase(text)) {
    if (c == '-') continue;
    if (std::isxdigit(c) == 0) return "";
    digits += static_cast<char>(c);
  }
  return digits.size() == kUuidDigits ? digits : "";
}

std::vector<ListedDevice> Fitting(const std::vector<ListedDevice>& listed,
                                  const std::function<bool(const ListedDevice&)>& fits) {
  std::vector<ListedDevice> found;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(found), fits);
  return found;
}

Status NothingCalled(const std::string& name, const std::vector<ListedDevice>& listed) {
  const std::vector<ListedDevice> unusable = Fitting(listed, [&](const ListedDevice& device) {
    return !device.candidate.usable && LowerCase(device.candidate.name).find(name) != std::string::npos;
  });
  if (!unusable.empty()) {
    return Error(StatusCode::kUnavailable, "device '{}' is not usable: {}", name, UnusableDevicesText(unusable));
  }
  return Error(StatusCode::kUnavailable,
               "no usable device is called '{}'; there is {}. `gpu`, a backend ({}), a UUID or part of a name is "
               "understood too; `hearth devices` shows all",
               name, UsableDevicesText(listed), fmt::join(BackendNames(), ", "));
}

}  // namespace

Result<std::string> NormalizedDeviceName(const std::string& wanted) {
  const std::string_view name = Trimmed(wanted);
  if (name.empty()) {
    return Error(StatusCode::kInvalidArgument, "the device's name is empty; `auto` lets Hearth choose");
  }
  return LowerCase(name);
}

std::vector<ListedDevice> HardwareGpus(const std::vector<ListedDevice>& listed) {
  std::vector<ListedDevice> gpus = Fitting(listed, [](const ListedDevice& device) {
    return device.candidate.usable && device.candidate.type != DeviceType::kCpu;
  });
  std::stable_sort(gpus.begin(), gpus.end(), [](const ListedDevice& a, const ListedDevice& b) {
    return (a.candidate.type == DeviceType::kDiscreteGpu) > (b.candidate.type == DeviceType::kDiscreteGpu);
  });
  return gpus;
}

Result<ListedDevice> DeviceByName(const std::string& name, const std::vector<ListedDevice>& listed,
                                  const std::function<std::string(const ListedDevice&)>& uuid_of) {
  if (const std::string digits = UuidDigits(name); !digits.empty()) {
    for (const ListedDevice& device : listed) {
      if (device.candidate.usable && UuidDigits(uuid_of(device)) == digits) return device;
    }
  }
  std::vector<ListedDevice> found = Fitting(listed, [&](const ListedDevice& device) {
    return device.candidate.usable && LowerCase(device.candidate.name).find(name) != std::string::npos;
  });
  const std::vector<ListedDevice> exact =
      Fitting(found, [&](const ListedDevice& device) { return LowerCase(device.candidate.name) == name; });
  if (exact.size() == 1) return exact.front();
  if (found.size() == 1) return found.front();
  if (found.empty()) return NothingCalled(name, listed);
  return Error(StatusCode::kUnavailable, "device '{}' fits {} devices: {}; name one of them", name, found.size(),
               UsableDevicesText(found));
}

std::string UsableDevicesText(const std::vector<ListedDevice>& listed) {
  std::string text;
  for (const ListedDevice& device : listed) {
    if (!device.candidate.usable) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", device.id, device.candidate.name);
  }
  return text.empty() ? "none" : text;
}

std::string UnusableDevicesText(const std::vector<ListedDevice>& listed) {
  std::string text;
  for (const ListedDevice& device : listed) {
    if (device.candidate.usable) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", device.candidate.unusable_reason);
  }
  return text;
}

std::map<std::string, std::string> FeaturesOf(const DeviceInfo& info) {
  return {{"vendor", info.vendor},
          {"uuid", info.uuid},
          {"driver_environment", info.driver_environment},
          {"max_local_size", fmt::format("{}", fmt::join(info.max_local_size, "x"))},
          {"max_local_invocations", std::to_string(info.max_local_invocations)},
          {"local_memory_bytes", std::to_string(info.local_memory_bytes)},
          {"max_buffer_bytes", std::to_string(info.max_buffer_bytes)},
          {"max_binding_bytes", std::to_string(info.max_binding_bytes)},
          {"max_texel_elements", std::to_string(info.max_texel_elements)},
          {"buffer_offset_alignment", std::to_string(info.buffer_offset_alignment)},
          {"max_storage_buffers", std::to_string(info.max_storage_buffers)},
          {"compute_units", std::to_string(info.compute_units)},
          {"native_vector_floats", std::to_string(info.native_vector_floats)},
          {"subgroup_size", std::to_string(info.subgroup_size)},
          {"matrix_shape", fmt::format("{}", fmt::join(info.matrix_shape, "x"))},
          {"int64", info.int64 ? "yes" : "no"},
          {"fp16_storage", info.fp16_storage ? "yes" : "no"},
          {"fp16_arithmetic", info.fp16_arithmetic ? "yes" : "no"},
          {"unified_memory", info.unified_memory ? "yes" : "no"}};
}

std::map<std::string, bool> RulesOf(const DeviceInfo& info) {
  std::map<std::string, bool> rules;
  for (const DeviceRule& row : DeviceRules()) rules.emplace(row.name, Applies(row.rule, info));
  return rules;
}

}  // namespace hearth
