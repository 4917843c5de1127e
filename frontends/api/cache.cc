#include "hearth/cache.h"

#include <algorithm>

#include "cache/desk/reports.h"
#include "cache/files/folder.h"
#include "core/base/error.h"
#include "hal/device/driver_files.h"
#include "hal/device/stopwatch.h"
#include "runtime/devices/backends.h"
#include "runtime/devices/driver_watch.h"
#include "runtime/plans/open_cache.h"

namespace hearth {
namespace {

// The fingerprint of the file with this name; the name itself if there is no such file.
std::string FingerprintOfModel(const std::string& name) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error)) return name;
  const Result<Model> model = Model::FromFile(name);
  return model.ok() ? model->fingerprint() : name;
}

// Asks the server for one name.
CacheFinding ExamineServer(const std::string& address) {
  const Stopwatch watch;
  const Result<RedisStore> server = OpenCacheServer({address});
  if (!server.ok()) {  // the address is not shown: it may hold a password anywhere
    return {true, fmt::format("no server can be asked: {}", server.status().message()),
            "the entries of other machines are missing", "unset HEARTH_CACHE_SERVER"};
  }
  static_cast<void>(server->values->Read("doctor"));
  const double took_ms = watch.milliseconds();
  const std::string why = server->values->why_unusable();
  if (why.empty()) return {false, fmt::format("the server {} answered after {:.1f} ms", server->name, took_ms), "", ""};
  return {true, fmt::format("the server {} can't be used: {}", server->name, why),
          fmt::format("each start loses {:.0f} ms and lacks the entries of other machines", took_ms),
          "unset HEARTH_CACHE_SERVER"};
}

}  // namespace

Result<Cache> Cache::At(const std::string& folder) {
  if (!folder.empty()) return Cache(folder);
  HEARTH_ASSIGN(const std::filesystem::path found, DefaultCacheFolder());
  return Cache(found.string());
}

Result<std::string> Cache::UsedFolder() const {
  const Result<std::filesystem::path> existing = PrepareFolder(folder_, FolderUse::kExisting);
  if (existing.ok()) return existing->string();
  if (existing.status().code() == StatusCode::kNotFound) return folder_;
  return existing.status();
}

Result<std::vector<CacheEntry>> Cache::List(const CacheFilter& filter) const {
  return ListEntries(folder_, filter);
}

Result<CacheEntry> Cache::Show(std::string_view digest_prefix) const {
  return ShowEntry(folder_, digest_prefix);
}

Result<CacheStats> Cache::Stats() const {
  return ReadStoreStats(folder_);
}

Result<CacheVerification> Cache::Verify(bool repair) const {
  return VerifyStore(folder_, repair);
}

Result<RemovedEntries> Cache::Clear(const CacheFilter& filter) const {
  return ClearStore(folder_, filter);
}

Result<RemovedEntries> Cache::Prune(uint64_t max_bytes) const {
  return PruneStore(folder_, max_bytes);
}

std::vector<CacheFinding> Cache::Examine(const CacheServer& server) const {
  const Result<uint64_t> limit = DefaultCacheMaxBytes();
  std::vector<CacheFinding> findings = ExamineCache(folder_, limit.ok() ? *limit : kUsualCacheBytes);
  const std::string address = server.address.empty() ? DefaultCacheServer().address : server.address;
  if (!address.empty()) findings.push_back(ExamineServer(address));
  if (!limit.ok()) {
    findings.push_back({true, limit.status().Within("HEARTH_CACHE_MAX_SIZE").message(), "the limit is 1 GiB",
                        "export HEARTH_CACHE_MAX_SIZE=1G"});
  }
  for (const BackendDef& backend : GpuBackends()) {
    if (const std::string why = WhyLeftOut(backend); !why.empty()) {
      findings.push_back({true, fmt::format("{}: {}", backend.name, why), "its devices are not used",
                          fmt::format("HEARTH_BACKENDS=+{} hearth devices", backend.name)});
    }
  }
  const bool has_mesa = !GlesDriverFiles().empty() || std::ranges::any_of(VulkanDriverFiles(), [](const auto& file) {
    return file.find("libvulkan_") != std::string::npos;  // as Mesa names its own
  });
  if (const std::string why = WhyMesaKeepsNothing(folder_); has_mesa && !why.empty()) {
    findings.push_back({true, fmt::format("Mesa's drivers keep no machine code: {}", why),
                        "they compile at each start, also where nothing of Hearth's is compiled",
                        "export MESA_SHADER_CACHE_DIR=/a/folder/of/your/own"});
  }
  if (std::string wrong = WrongBackendsVariable(); !wrong.empty())
    findings.push_back({true, std::move(wrong), "that word has no effect", "unset HEARTH_BACKENDS"});
  return findings;
}

Result<std::vector<CacheModel>> Cache::Models() const {
  return ListModels(folder_);
}

Result<CacheModel> Cache::FindModel(const std::string& model) const {
  return DescribeModel(folder_, FingerprintOfModel(model));
}

Status Cache::Pin(const std::string& model, bool is_pinned) const {
  return SetPinned(folder_, FingerprintOfModel(model), is_pinned);
}

Result<RemovedEntries> Cache::Remove(const std::string& model) const {
  return RemoveModel(folder_, FingerprintOfModel(model));
}

Result<std::vector<CacheQuarantine>> Cache::Quarantine() const {
  return ListQuarantine(folder_);
}

Result<uint64_t> Cache::LiftQuarantine() const {
  return hearth::LiftQuarantine(std::filesystem::path(folder_));
}

}  // namespace hearth
