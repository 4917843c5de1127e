#include "runtime/devices/device_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/device/device_rules.h"

namespace hearth {

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
