// A stored plan: read, checked against its graph, and run on a device that checks what it is asked.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/null/device.h"
#include "hal/run/plan_runs.h"
#include "runtime/plans/plan_cache.h"
#include "runtime/plans/rewarm.h"
#include "tests/fuzz/demo_plan.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

// The null device fills what it allocates, and a plan may ask for all that the device has.
DeviceInfo SmallDeviceInfo() {
  DeviceInfo info = NullDeviceInfo();
  info.max_buffer_bytes = info.max_binding_bytes = uint64_t{1} << 24;
  return info;
}

}  // namespace

void FuzzOne(std::span<const std::byte> bytes) {
  Result<Plan> plan = DeserializePlan(bytes);
  if (!plan.ok()) return;
  Expect(std::ranges::equal(SerializePlan(*plan), bytes), "a plan that was read is written as the same bytes");
  static NullDevice device(SmallDeviceInfo());
  static const DemoPlan demo(device.info());
  if (CheckStoredPlan(*plan, device.info()).ok()) {  // without its model
    testing::MemoryStore store;
    const CacheKey key(BlobKind::kPlan);
    testing::PutOne(store, key, {bytes.begin(), bytes.end()});
    static_cast<void>(RewarmPlan(key, device, store, 1));
  }
  if (!CheckStoredPlan(*plan, demo.graph(), device.info()).ok()) return;
  const auto ready = MakePlanReady(std::move(plan).value(), {.device = &device, .model_files = {demo.model()}});
  Expect(!ready.ok() || ready->runs->RunDispatches().ok(), "a plan that a device took runs");
}

}  // namespace hearth
