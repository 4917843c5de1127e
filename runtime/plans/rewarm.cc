#include "runtime/plans/rewarm.h"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/plan/key_fields.h"
#include "core/plan/plan.h"
#include "core/plan/source_fingerprints.h"
#include "hal/programs/load_or_compile.h"
#include "hal/run/plan_runs.h"
#include "runtime/devices/read_path_probe.h"
#include "runtime/devices/self_test.h"
#include "runtime/plans/plan_cache.h"
#include "runtime/plans/tuning_cache.h"

namespace hearth {
namespace {

// Zeros of any size in place of a model's file. Pages take no memory, because nothing writes to them.
class Zeros {
 public:
  static Result<Zeros> OfBytes(uint64_t size_bytes) {
    if (size_bytes == 0) return Zeros(nullptr, 0);
    void* memory = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return Zeros(static_cast<const std::byte*>(memory), size_bytes);
    return Error(StatusCode::kResourceExhausted, "no address space for {} bytes of weights", size_bytes);
  }
  Zeros(Zeros&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Zeros& operator=(Zeros&&) = delete;
  ~Zeros() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Zeros(const std::byte* memory, uint64_t size_bytes) : bytes_(memory, size_bytes) {}
  std::span<const std::byte> bytes_;
};

// The sizes of files that hold all constants.
struct FilesNeeded {
  size_t count = 1;
  uint64_t bytes_each = 0;
};
Result<FilesNeeded> FilesFor(const Plan& plan) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 40;
  constexpr uint32_t kMostFiles = 1 << 16;
  FilesNeeded needed;
  for (const PlanConstant& constant : plan.constants) {
    const auto& [file, offset, size] = constant.source;
    if (file >= kMostFiles || offset > kMostBytes || size > kMostBytes) {
      return Error(StatusCode::kMalformedInput, "it names weights beyond any file");
    }
    needed.count = std::max<size_t>(needed.count, file + 1);
    needed.bytes_each = std::max(needed.bytes_each, offset + size);
  }
  return needed;
}

Result<Plan> ReadPlan(const CacheKey& key, const DeviceInfo& device, ResultCache& cache) {
  Status why(StatusCode::kNotFound, "the plan is no longer in the cache, or damaged");
  const auto parse = [&](const StoredEntry& entry) -> Result<Plan> {
    Result<Plan> plan = DeserializePlan(entry.bytes);
    why = plan.ok() ? CheckStoredPlan(*plan, device) : plan.status();
    return why.ok() ? std::move(plan) : why;
  };
  auto found = cache.FindByKey(key, parse);
  return found ? Result<Plan>(std::move(found->value)) : why;
}

}  // namespace

bool IsForBackend(const CacheKeyFields& plan, const DeviceInfo& device) {
  return ValueOf(plan, "backend") == device.backend;
}

std::string WhyPlanIsStale(const CacheKeyFields& plan, const DeviceInfo& device, ResultCache& cache) {
  if (!IsForBackend(plan, device)) return {};
  if (ValueOf(plan, kPlanSourcesField.name) != kPlanSources) return "was made by another version of Hearth";
  LowerOptions options;
  DeviceInfo forced = device;  // with the rules of the plan's session, which decide the read path too
  if (const auto rules = ForcedRulesFromText(ValueOf(plan, "rules")); rules.ok()) forced.forced_rules = *rules;
  options.read_path = KnownReadPath().LookUp(forced, cache).value_or(DefaultReadPath(forced));
  CacheKey here(BlobKind::kPlan);
  AddToKey(here, DeviceCapability(&forced));
  AddToKey(here, options);
  const auto fields = DecodeKeyMaterial(here.material());
  if (!fields.ok()) return "can't be compared";
  std::string differing;
  for (const auto& [name, value] : *fields) {
    if (ValueOf(plan, name) == value) continue;
    const std::string word = WordOfKeyField(name);
    // A session chooses options itself; the read path and tuning come from the device.
    if (word == "option" && name != "read path") continue;
    if (word == "tuning record") {
      if (!StoredTuning(device, cache).empty()) continue;
      return "was tuned with another driver";
    }
    if (differing.find(name) == std::string::npos) differing += (differing.empty() ? "" : ", ") + name;
  }
  return differing.empty() ? std::string() : "is for a device or driver with another " + differing;
}

Status ProveDevice(Device& device, ResultCache& cache) {
  if (NeedsSelfTest(device.info())) HEARTH_TRY(PassSelfTest(device, device.info(), &cache));
  KnownReadPath().Probe(device, device.info(), cache);
  return Status::Ok();
}

Result<RewarmedPlan> RewarmPlan(const CacheKey& key, Device& device, ResultCache& cache, int threads) {
  if (!device.takes_binaries()) return NoBinaries(device.info().name);
  HEARTH_ASSIGN(Plan plan, ReadPlan(key, device.info(), cache));
  HEARTH_ASSIGN(const FilesNeeded needed, FilesFor(plan));
  HEARTH_ASSIGN(const Zeros zeros, Zeros::OfBytes(needed.bytes_each));
  const ModelFileBytes files(needed.count, zeros.bytes());
  for (PlanConstant& constant : plan.constants) {
    constant.is_kept = false;  // the cache has packed constants of the model, not of zeros
  }
  HEARTH_ASSIGN(
      const ReadyPlan ready,
      MakePlanReady(std::move(plan), {.device = &device, .model_files = files, .store = &cache, .threads = threads}));
  const RewarmedPlan made{ready.loaded->programs().compiled, ready.loaded->programs().loaded};
  if (made.compiled == 0) return made;
  HEARTH_TRY(ready.runs->RunDispatches());
  const std::vector<std::string> warnings = ready.runs->Store(false);
  if (!warnings.empty()) return Status(StatusCode::kIoError, warnings.front());
  return made;
}

}  // namespace hearth
