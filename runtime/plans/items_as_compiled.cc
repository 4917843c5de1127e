#include "runtime/plans/items_as_compiled.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/base/error.h"
#include "core/plan/key_fields.h"
#include "core/plan/source_fingerprints.h"

namespace hearth {
namespace {

// Other plans may have other kernels; another driver may compile them for larger groups.
struct GroupLimitRequest {
  static constexpr BlobKind kKind = BlobKind::kGroupLimit;
  Field<kModelField> model;
  DeviceIdentity device;
  Field<kPlanSourcesField> sources = std::string(kPlanSources);
};

Result<uint32_t> ItemsFrom(const StoredEntry& entry) {
  uint32_t items = 0;
  if (entry.bytes.size() != sizeof items) return Error(StatusCode::kMalformedInput, "it is not a number");
  std::memcpy(&items, entry.bytes.data(), sizeof items);
  return items;
}

}  // namespace

void LimitItemsAsCompiled(const std::string& model, const Device& device, DeviceInfo& info, ResultCache& cache) {
  if (device.items_as_compiled() == 0 || info.is_software()) return;
  // Few models have an entry, and without one nothing is missing.
  const auto items = cache.Find(GroupLimitRequest{model, &info}, ItemsFrom, Misses::kUncounted);
  if (items && items->value != 0) info.max_local_invocations = std::min(info.max_local_invocations, items->value);
}

bool HasUnknownLimit(const std::string& model, const Device& device, const DeviceInfo& info, ResultCache& cache) {
  if (info.max_local_invocations >= device.info().max_local_invocations || info.is_software()) return false;
  DeviceInfo next = info;
  next.max_local_invocations = device.info().max_local_invocations;
  LimitItemsAsCompiled(model, device, next, cache);
  return info.max_local_invocations < next.max_local_invocations;
}

void StoreItemsAsCompiled(const std::string& model, const Device& device, const DeviceInfo& info, double cost_ms,
                          ResultCache& cache) {
  const uint32_t items = info.max_local_invocations;
  if (items >= device.info().max_local_invocations || info.is_software()) return;
  cache.Put(GroupLimitRequest{model, &info}, std::as_bytes(std::span(&items, 1)), cost_ms);
}

}  // namespace hearth
