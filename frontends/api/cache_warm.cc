// The part of hearth/cache.h that fills the cache ahead of time, and compiles programs again after a driver update.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "backends/cpu/host/process_limits.h"
#include "cache/desk/reports.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/run_control.h"
#include "core/plan/key_fields.h"
#include "hal/device/stopwatch.h"
#include "hal/programs/load_or_compile.h"
#include "hearth/cache.h"
#include "hearth/device.h"
#include "runtime/devices/device_choice.h"
#include "runtime/plans/open_cache.h"
#include "runtime/plans/rewarm.h"
#include "runtime/session/session_data.h"

namespace hearth {
namespace {

// "all" means every usable device except the CPU, which caches nothing. kUnavailable: none.
Result<std::vector<std::string>> DevicesToWarm(const std::vector<std::string>& wanted) {
  std::vector<std::string> devices;
  for (const std::string& name : wanted) {
    if (name != "all") {
      devices.push_back(name);
      continue;
    }
    for (const DeviceDescription& device : ListDevices()) {
      if (device.usable && device.backend != "cpu") devices.push_back(device.id);
    }
  }
  if (devices.empty()) {
    return Error(StatusCode::kUnavailable, "there is no device to warm models for; `hearth devices` says why");
  }
  return devices;
}

// Says that something made for later starts could not be stored; the cache's own message is among the warnings.
Status CheckAllStored(uint64_t put_errors, std::span<const std::string> warnings) {
  if (put_errors == 0) return Status::Ok();
  const auto found =
      std::ranges::find_if(warnings, [](const std::string& warning) { return warning.starts_with("cache: "); });
  const std::string why = found != warnings.end() ? *found : warnings.empty() ? "no reason is told" : warnings[0];
  return Error(StatusCode::kIoError, "{} of its entries could not be stored: {}", put_errors, why);
}

WarmResult WarmOne(const std::string& model_path, const SessionOptions& options) {
  WarmResult result{model_path, options.device, Status::Ok(), 0, 0, 0, 0, 0};
  const Stopwatch watch;
  const auto run = [&]() -> Status {
    SessionOptions ready = options;
    ready.start = "ready";
    HEARTH_ASSIGN(Session session, OpenSession(model_path, {.options = ready, .for_warming = true}));
    for (size_t k = 0; k < session.inputs().size(); ++k) {
      HEARTH_TRY(session.SetInput(k, std::vector<std::byte>(session.inputs()[k].size_bytes)));
    }
    RunControl trial = RunControl::ForTrial();
    HEARTH_TRY(RunUnder(SessionData::Of(session), trial));
    session.SaveToCache();
    const Report& report = session.report();
    if (report.cache.path.empty() && options.cache_store == nullptr) {
      return Error(StatusCode::kIoError, "{}", report.warnings.empty() ? "there is no cache" : report.warnings.front());
    }
    result.device = report.device.id;
    result.compiled = report.programs.compiled;
    result.loaded = report.programs.loaded;
    result.bytes_written = report.cache.bytes_written;
    result.put_errors = report.cache.put_errors;
    if (result.compiled > 0 && !report.programs.storable) return NoBinaries(report.device.name);
    return CheckAllStored(result.put_errors, report.warnings);
  };
  result.status = run();
  result.milliseconds = watch.milliseconds();
  return result;
}

// The store's content before the work began.
struct Known {
  std::vector<CacheEntry> plans, programs;
  std::vector<ModelUses> uses;
};

Result<Known> ReadKnown(const std::string& folder) {
  Known known;
  HEARTH_ASSIGN(known.plans, ListEntries(folder, {.kind = "plan"}));
  HEARTH_ASSIGN(known.programs, ListEntries(folder, {.kind = "program"}));
  HEARTH_ASSIGN(known.uses, ListUses(folder));
  return known;
}

bool Uses(const ModelUses& uses, const CacheEntry& entry) {
  return std::ranges::any_of(uses.digests, [&](const Fingerprint& digest) { return digest.ToHex() == entry.digest; });
}

// The model of a plan; the plan's own name if none is noted, as for imported plans.
ModelName ModelOf(const Known& known, const CacheEntry& plan) {
  for (const ModelUses& uses : known.uses) {
    if (Uses(uses, plan)) return uses.model;
  }
  return {"", "plan " + plan.digest.substr(0, 12)};
}

bool IsOfDevice(const CacheEntry& program, const DeviceInfo& device) {
  const auto has = [&](std::string_view name, std::string_view value) {
    return Contains(program.fields, std::pair(std::string(name), std::string(value)));
  };
  return has("backend", device.backend) && has("device", device.name);
}

// A plan that is damaged or has just been evicted needs its model, like one that is stale.
bool IsLostPlan(const Status& status) {
  return status.code() == StatusCode::kNotFound || status.code() == StatusCode::kMalformedInput;
}

// The work for one device.
class DeviceRewarmer {
 public:
  DeviceRewarmer(const std::string& folder, const Known& known, OpenedDevice opened, RewarmResult& result)
      : folder_(folder), known_(known), opened_(std::move(opened)), result_(result) {}

  const std::string& id() const { return opened_.id; }

  // Opens a store per model, as a session of the model does: new entries are noted as the model's.
  void Rewarm(const CacheEntry& plan) {
    const ModelName model = ModelOf(known_, plan);
    CacheKey key(BlobKind::kPlan);
    for (const auto& [name, value] : plan.fields) key.Add(name, value);
    const std::string token(ValueOf(plan.fields, kModelTokenField.name));
    if (!IsForBackend(plan.fields, opened_.info)) return;
    const OpenedCache cache = OpenCache({.cache_folder = folder_, .model_token = token}, nullptr,
                                        model.fingerprint.empty() ? ModelName() : model);
    WarmResult warmed{model.path, opened_.id, Status::Ok(), 0, 0, 0, 0, 0};
    if (cache.store == nullptr) {
      warmed.status =
          Error(StatusCode::kIoError, "{}", cache.warnings.empty() ? "there is no cache" : cache.warnings.front());
      result_.results.push_back(std::move(warmed));
      return;
    }
    const Stopwatch watch;
    if (!std::exchange(is_proven_, true)) proof_ = ProveDevice(*opened_.device, *cache.store);
    const std::string why = proof_.ok() ? WhyPlanIsStale(plan.fields, opened_.info, *cache.store) : std::string();
    if (!why.empty()) {
      stale_.emplace_back(model, "its plan " + why);
      return;
    }
    warmed.status = proof_;
    if (proof_.ok()) {
      const Result<RewarmedPlan> made = RewarmPlan(key, *opened_.device, *cache.store, UsableCpus());
      if (IsLostPlan(made.status())) {
        stale_.emplace_back(model, "its plan can't be used: " + made.status().message());
        return;
      }
      warmed.status = made.status();
      if (made.ok()) std::tie(warmed.compiled, warmed.loaded) = std::pair(made->compiled, made->loaded);
    }
    cache.store->Flush();
    const StoreCounters counters = cache.store->counters();
    warmed.bytes_written = counters.bytes_written;
    warmed.put_errors = counters.put_errors;
    if (warmed.status.ok()) warmed.status = CheckAllStored(warmed.put_errors, cache.store->TakeWarnings());
    warmed.milliseconds = watch.milliseconds();
    if (warmed.status.ok()) ready_.insert(model.fingerprint);
    result_.results.push_back(std::move(warmed));
  }

  // Reports models that ran on this device and have no usable plan.
  void TellNeeded() const {
    for (const auto& [model, reason] : stale_) {
      if (!ready_.contains(model.fingerprint)) result_.needed.push_back({model.path, opened_.id, reason});
    }
    for (const ModelUses& uses : known_.uses) {
      const auto is_its = [&](const CacheEntry& entry) { return Uses(uses, entry); };
      const bool has_plan = std::ranges::any_of(known_.plans, [&](const CacheEntry& plan) {
        return is_its(plan) && IsForBackend(plan.fields, opened_.info);
      });
      const bool has_run = std::ranges::any_of(known_.programs, [&](const CacheEntry& program) {
        return IsOfDevice(program, opened_.info) && is_its(program);
      });
      if (has_plan || !has_run) continue;
      result_.needed.push_back({uses.model.path, opened_.id,
                                "the cache has no plan for it: it has steps on the CPU, or the plan was evicted"});
    }
  }

 private:
  const std::string& folder_;
  const Known& known_;
  OpenedDevice opened_;
  RewarmResult& result_;
  bool is_proven_ = false;
  Status proof_;
  std::set<std::string> ready_;  // fingerprints of models with a usable plan
  std::vector<std::pair<ModelName, std::string>> stale_;
};

}  // namespace

Result<std::vector<WarmResult>> Cache::Warm(const std::vector<std::string>& model_paths,
                                            const std::vector<std::string>& devices, const SessionOptions& options,
                                            const WarmObserver& observer,
                                            const std::function<bool()>& is_stopped) const {
  HEARTH_ASSIGN(const std::vector<std::string> chosen, DevicesToWarm(devices));
  WarmProgress progress;
  progress.total = model_paths.size() * chosen.size();
  std::vector<WarmResult> results;
  SessionOptions warming = options;
  warming.use_cache = true;
  warming.cache_read_only = false;
  warming.cache_folder = folder_;
  for (const std::string& device : chosen) {  // a second start of a driver is often cheaper
    for (const std::string& model_path : model_paths) {
      if (is_stopped && is_stopped()) return results;
      progress.model_path = model_path;
      progress.device = warming.device = device;
      if (observer) observer(progress);
      results.push_back(WarmOne(model_path, warming));
      ++progress.done;
    }
  }
  if (observer) observer(progress);
  return results;
}

Result<RewarmResult> Cache::WarmFromCache(const std::vector<std::string>& devices, const WarmObserver& observer,
                                          const std::function<bool()>& is_stopped) const {
  HEARTH_ASSIGN(const std::vector<std::string> chosen, DevicesToWarm(devices));
  HEARTH_ASSIGN(const Known known, ReadKnown(folder_));
  RewarmResult result;
  WarmProgress progress;
  progress.total = known.plans.size() * chosen.size();
  for (const std::string& device : chosen) {
    Result<OpenedDevice> opened = OpenChosenDevice(device);
    if (!opened.ok()) {
      result.results.push_back({"", device, opened.status(), 0, 0, 0, 0, 0});
      progress.done += known.plans.size();
      continue;
    }
    if (opened->info.is_host()) continue;  // the CPU keeps no programs
    DeviceRewarmer rewarmer(folder_, known, std::move(opened).value(), result);
    for (const CacheEntry& plan : known.plans) {
      if (is_stopped && is_stopped()) return result;
      progress.model_path = ModelOf(known, plan).path;
      progress.device = rewarmer.id();
      if (observer) observer(progress);
      rewarmer.Rewarm(plan);
      ++progress.done;
    }
    rewarmer.TellNeeded();
  }
  if (observer) observer(progress);
  return result;
}

}  // namespace hearth
