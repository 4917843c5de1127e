#include <string_view>

#include "frontends/c/answer.h"
#include "frontends/c/handles.h"

namespace {

const hearth::DeviceDescription* DeviceAt(const hearth_devices* devices, size_t index) {
  return devices != nullptr && index < devices->list.size() ? &devices->list[index] : nullptr;
}

}  // namespace

hearth_status hearth_devices_list(hearth_devices** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_devices>> {
    return std::make_unique<hearth_devices>(hearth_devices{hearth::ListDevices()});
  });
}

void hearth_devices_destroy(hearth_devices* devices) {
  delete devices;
}

size_t hearth_devices_count(const hearth_devices* devices) {
  return devices == nullptr ? 0 : devices->list.size();
}

int32_t hearth_device_usable(const hearth_devices* devices, size_t index) {
  const hearth::DeviceDescription* device = DeviceAt(devices, index);
  return device != nullptr && device->usable ? 1 : 0;
}

const char* hearth_device_property(const hearth_devices* devices, size_t index, const char* name) {
  const hearth::DeviceDescription* device = DeviceAt(devices, index);
  if (device == nullptr || name == nullptr) return nullptr;
  using Text = const std::string hearth::DeviceDescription::*;
  constexpr std::pair<std::string_view, Text> kProperties[] = {
      {"id", &hearth::DeviceDescription::id},     {"backend", &hearth::DeviceDescription::backend},
      {"name", &hearth::DeviceDescription::name}, {"driver", &hearth::DeviceDescription::driver},
      {"type", &hearth::DeviceDescription::type}, {"reason", &hearth::DeviceDescription::reason}};
  for (const auto& [property, text] : kProperties) {
    if (property == name) return (device->*text).c_str();
  }
  for (const auto& [feature, value] : device->features) {
    if (feature == name) return value.c_str();
  }
  return nullptr;
}
