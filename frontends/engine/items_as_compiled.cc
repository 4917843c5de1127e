#include "frontends/engine/items_as_compiled.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/plan/key_fields.h"
#include "core/plan/source_fingerprints.h"

namespace hearth {
namespace {

// Other plans may have other kernels; another driver may compile them for larger groups.
CacheKey ItemsKey(const std::string& model, const DeviceInfo& info) {
  CacheKey key(BlobKind::kProbe);
  key.Add(kPlanSourcesField.name, kPlanSources).Add(kModelField.name, model);
  AddDevice(key, info, DevicePart::kIdentity);
  return key;
}

}  // namespace

void LimitItemsAsCompiled(const std::string& model, const Device& device, DeviceInfo& info, BlobStore& store) {
  if (device.items_as_compiled() == 0 || info.is_software()) return;
  // Not Get: few models have an entry, and without one nothing is missing.
  store.ForEach(ItemsKey(model, info), [&](const CacheKey& /*key*/, std::span<const std::byte> bytes) {
    uint32_t items = 0;
    if (bytes.size() == sizeof items) std::memcpy(&items, bytes.data(), sizeof items);
    if (items != 0) info.max_local_invocations = std::min(info.max_local_invocations, items);
  });
}

bool HasUnknownLimit(const std::string& model, const Device& device, const DeviceInfo& info, BlobStore& store) {
  if (info.max_local_invocations >= device.info().max_local_invocations || info.is_software()) return false;
  DeviceInfo next = info;
  next.max_local_invocations = device.info().max_local_invocations;
  LimitItemsAsCompiled(model, device, next, store);
  return info.max_local_invocations < next.max_local_invocations;
}

void StoreItemsAsCompiled(const std::string& model, const Device& device, const DeviceInfo& info, double cost_ms,
                          BlobStore& store) {
  const uint32_t items = info.max_local_invocations;
  if (items >= device.info().max_local_invocations || info.is_software()) return;
  const CacheKey key = ItemsKey(model, info);
  const PutRequest put{&key, std::as_bytes(std::span(&items, 1)), cost_ms};
  store.Put({&put, 1});
}

}  // namespace hearth
