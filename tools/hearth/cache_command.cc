// hearth cache path|ls|show|stats|verify|doctor|prune|clear|pin|rm|warm|explain|export|import: looks after the cache.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cache/folder.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "hearth/cache.h"
#include "hearth/device.h"
#include "tools/hearth/cache_text.h"
#include "tools/hearth/confirm_deletion.h"
#include "tools/hearth/interrupt.h"
#include "tools/hearth/option_checks.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kBlobKindCount; ++kind) names.emplace_back(BlobKindName(static_cast<BlobKind>(kind)));
  return names;
}

int64_t NowMs() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class CacheCommand final : public Verb {
 public:
  CacheCommand() : Verb({"cache", "Looks after the cache", "hearth cache ls --kind program"}) {}

  void AddOptions(CLI::App& app) override {
    app.require_subcommand(1);
    app_ = &app;
    AddPart("path", "Where the cache is", "hearth cache path", &CacheCommand::Path);
    CLI::App* list = AddPart("ls", "The entries, most recently used first", "hearth cache ls --kind weights --json -",
                             &CacheCommand::List);
    AddFilterOptions(*list);
    list->add_flag("--by-model", by_model_, "The models that used the cache, with what each has alone and shares");
    AddPart("doctor", "What is wrong with the cache, what that costs and what mends it; exit code 1 where anything is",
            "hearth cache doctor", &CacheCommand::Doctor);
    AddPart("show", "One entry with its full key", "hearth cache show 1f2e3d", &CacheCommand::Show)
        ->add_option("DIGEST", digest_, "The first hex digits of an entry's digest")
        ->required()
        ->type_name("");
    AddPart("stats", "Sizes by kind, and what the cache was good for", "hearth cache stats", &CacheCommand::Stats);
    AddPart("verify", "Reads everything and checks it; exit code 1 where damage was found",
            "hearth cache verify --repair", &CacheCommand::Verify)
        ->add_flag("--repair", repair_, "Delete damaged entries, move a damaged file aside");
    AddDeletingParts();
    AddModelParts();
    AddBundleParts();
  }

  Result<ExitCode> Run() override {
    HEARTH_ASSIGN(const Cache cache, Cache::At(folder_));
    const CLI::App* named = app_->get_subcommands().front();
    for (const Part& part : parts_) {
      if (part.app == named) return (this->*part.run)(cache);
    }
    return ExitCode::kUsage;
  }

 private:
  using RunPart = Result<ExitCode> (CacheCommand::*)(const Cache& cache);
  struct Part {
    CLI::App* app;
    RunPart run;
  };

  CLI::App* AddPart(const std::string& name, const std::string& description, const std::string& example, RunPart run) {
    CLI::App* part = app_->add_subcommand(name, description);
    AddCacheOption(*part, folder_);
    output_.AddOptions(*part);
    part->footer("Example:\n  " + example);
    parts_.push_back({part, run});
    return part;
  }

  void AddFilterOptions(CLI::App& part) {
    part.add_option("--kind", filter_.kind, "Only entries of this kind")
        ->check(CLI::IsMember(KindNames()))
        ->type_name("KIND");
    part.add_option("--model", filter_model_, "Only entries that this model asks for, on --device or on all devices")
        ->type_name("FILE");
    part.add_option("--device", filter_.device, "Only entries made for this device: opencl, or part of its name")
        ->type_name("D");
    part.add_option("--unused-for", unused_for_, "Only entries not used for that long: 30d, 12h, 45m, 10s")
        ->type_name("AGE");
    part.add_option("--from", filter_.origin, "Only entries that were made here, or came from a bundle or a server")
        ->check(CLI::IsMember({"here", "bundle", "server"}))
        ->type_name("ORIGIN");
    part.add_option("--signed-by", filter_.signed_by, "Only entries that this public key has signed: its hex digits")
        ->type_name("KEY");
  }

  void AddDeletingParts() {
    CLI::App* prune = AddPart("prune", "Deletes the entries least worth keeping until the file fits a size",
                              "hearth cache prune --max-size 256M --yes", &CacheCommand::Prune);
    prune
        ->add_option("--max-size", max_size_,
                     "256MB, 256MiB, 1.5G, or bytes (default, without --unused-for: $HEARTH_CACHE_MAX_SIZE or 1G)")
        ->type_name("SIZE");
    prune->add_option("--unused-for", unused_for_, "Only, or before that, entries not used for that long: 30d, 12h")
        ->type_name("AGE");
    CLI::App* clear =
        AddPart("clear", "Deletes the entries", "hearth cache clear --kind program --yes", &CacheCommand::Clear);
    AddFilterOptions(*clear);
    clear->add_flag("--quarantine", quarantine_, "No entries: what crashed three runs in a row is taken back");
    CLI::App* pin = AddPart("pin", "Keeps what a model uses, however full the cache gets",
                            "hearth cache pin model.tflite", &CacheCommand::Pin);
    pin->add_flag("--off", unpin_, "No longer");
    CLI::App* remove = AddPart("rm", "Forgets a model and deletes the entries that no other model uses",
                               "hearth cache rm model.tflite --yes", &CacheCommand::Remove);
    for (CLI::App* part : {pin, remove}) {
      part->add_option("MODEL", named_model_, "A file, the path that it had, or a fingerprint's first digits")
          ->required()
          ->type_name("")
          ->check(NotEmpty());
    }
    for (CLI::App* part : {prune, clear, remove}) {
      part->add_flag("--yes", yes_, "Don't ask (needed where there is no terminal)");
    }
  }

  void AddModelParts() {
    CLI::App* warm = AddPart("warm", "Makes ahead of time what models need, so that their first start is a warm one",
                             "hearth cache warm mobilenet.tflite --device all", &CacheCommand::Warm);
    warm->add_option("MODEL", models_, "A .tflite file")->required()->type_name("...");
    AddDevicesOption(*warm, devices_, "As for run; all: every usable device")->capture_default_str();
    warm_flags_.AddChoices(*warm);
    AddPlanOptions(*warm, session_options_);
    AddTuneOption(*warm, session_options_);
    AddCacheTierOptions(*warm, session_options_);
    CLI::App* explain = AddPart("explain", "Which entries a model finds, and for the others what differs",
                                "hearth cache explain mobilenet.tflite --device opencl", &CacheCommand::Explain);
    explain_flags_.AddOptions(*explain);
    AddDeviceOption(*explain, session_options_.device);
    AddPlanOptions(*explain, session_options_);
    AddCacheTierOptions(*explain, session_options_);
  }

  void AddBundleParts() {
    CLI::App* key = AddPart("key", "Makes a key to sign bundles with: FILE, and FILE.pub for those who import them",
                            "hearth cache key ~/.config/hearth.key", &CacheCommand::Key);
    key->add_option("FILE", key_file_, "Where the secret key goes; must not exist")->required()->type_name("");
    CLI::App* bundle =
        AddPart("export", "Copies entries into a bundle: a folder for other machines, or a read-only layer",
                "hearth cache export bundle --kind program --sign ~/.config/hearth.key", &CacheCommand::Export);
    bundle->add_option("BUNDLE", bundle_, "A folder that is missing or empty")->required()->type_name("");
    AddFilterOptions(*bundle);
    bundle->add_option("--sign", export_.sign_with, "Secret key (hearth cache key)")->type_name("FILE");
    bundle->add_option("--valid-for", valid_for_, "Refuse the bundle after so long, such as 90d")->type_name("AGE");
    bundle->add_option("--least-version", export_.least_version, "Refuse it in an older Hearth")->type_name("X.Y.Z");
    CLI::App* import = AddPart("import", "Checks a bundle and stores its entries",
                               "hearth cache import bundle --keys trusted.pub", &CacheCommand::Import);
    import->add_option("BUNDLE", bundle_, "What export made")->required()->type_name("");
    import->add_option("--keys", import_.trusted_keys, "Public keys whose signatures count")->type_name("FILE");
    import->add_flag("--trust", import_.is_trusted, "Take entries that no such key signed");
    import->add_flag("--any-device", import_.any_device, "Also native code for devices that are not here");
  }

  Status WriteJsonText(const std::string& text) const { return output_.WriteJson(Json::parse(text)); }
  Result<ExitCode> Done(const std::string& json) const {
    HEARTH_TRY(WriteJsonText(json));
    return ExitCode::kFine;
  }

  Result<ExitCode> Path(const Cache& cache) {
    HEARTH_ASSIGN(const std::string folder, cache.UsedFolder());
    std::error_code error;
    const std::filesystem::path file = std::filesystem::path(folder) / kStoreFileName;
    output_.PrintText(folder + "\n");
    HEARTH_TRY(output_.WriteJson(
        {{"folder", folder}, {"file", file.string()}, {"exists", std::filesystem::exists(file, error)}}));
    return ExitCode::kFine;
  }

  // Digests of the entries that the model finds.
  Status AddEntriesOfModel(const Cache& cache, std::vector<std::string>& digests) const {
    std::vector<std::string> devices{filter_.device};
    if (filter_.device.empty()) {
      devices.clear();
      for (const DeviceDescription& device : ListDevices()) {
        if (device.usable) devices.push_back(device.id);
      }
    }
    for (const std::string& device : devices) {
      SessionOptions options;
      options.device = device;
      HEARTH_ASSIGN(const CacheExplanation explanation, cache.Explain(filter_model_, options));
      for (const CacheNeed& need : explanation.needs) {
        if (need.is_hit) digests.push_back(need.digest);
      }
    }
    return Status::Ok();
  }

  Result<CacheFilter> Filter(const Cache& cache) const {
    CacheFilter filter = filter_;
    if (!unused_for_.empty()) {
      HEARTH_ASSIGN(const int64_t age_ms, ParseAgeMs(unused_for_));
      filter.unused_since_ms = NowMs() - age_ms;
    }
    if (!filter_model_.empty()) {
      HEARTH_TRY(AddEntriesOfModel(cache, filter.digests.emplace()));
      filter.device.clear();  // what a model shares between devices names none
    }
    filter.device = filter.device.substr(0, filter.device.find(':'));  // "opencl:0" in keys is "opencl"
    return filter;
  }

  Result<ExitCode> Doctor(const Cache& cache) {
    const std::vector<CacheFinding> findings = cache.Examine();
    output_.PrintText(TextOf(findings));
    HEARTH_TRY(WriteJsonText(CacheFindingsJson(cache.folder(), findings)));
    return std::ranges::any_of(findings, &CacheFinding::is_trouble) ? ExitCode::kFailed : ExitCode::kFine;
  }

  Result<ExitCode> Pin(const Cache& cache) {
    HEARTH_TRY(cache.Pin(named_model_, !unpin_));
    return ListModels(cache);
  }

  Result<ExitCode> Remove(const Cache& cache) {
    if (!yes_) {  // nothing is announced that may not be there: PrintRemoved says what was
      const std::string what = fmt::format("what only {} uses of the cache in {}", named_model_, cache.folder());
      if (const ExitCode code = ConfirmDeletion(what, yes_, output_); code != ExitCode::kFine) return code;
    }
    HEARTH_ASSIGN(const RemovedEntries removed, cache.Remove(named_model_));
    return PrintRemoved(cache, removed);
  }

  Result<ExitCode> ListModels(const Cache& cache) {
    HEARTH_ASSIGN(const std::vector<CacheModel> models, cache.Models());
    output_.PrintText(TextOf(models));
    return Done(CacheModelsJson(cache.folder(), models));
  }

  Result<ExitCode> List(const Cache& cache) {
    if (by_model_) return ListModels(cache);
    HEARTH_ASSIGN(const CacheFilter filter, Filter(cache));
    HEARTH_ASSIGN(const std::vector<CacheEntry> entries, cache.List(filter));
    output_.PrintText(TextOf(entries));
    return Done(CacheListJson(cache.folder(), entries));
  }

  Result<ExitCode> Show(const Cache& cache) {
    HEARTH_ASSIGN(const CacheEntry entry, cache.Show(digest_));
    output_.PrintText(TextOf(entry));
    return Done(CacheEntryJson(entry));
  }

  Result<ExitCode> Stats(const Cache& cache) {
    HEARTH_ASSIGN(const CacheStats stats, cache.Stats());
    output_.PrintText(TextOf(stats));
    return Done(CacheStatsJson(stats));
  }

  Result<ExitCode> Verify(const Cache& cache) {
    HEARTH_ASSIGN(const CacheVerification verification, cache.Verify(repair_));
    output_.PrintText(TextOf(verification, cache.folder()));
    HEARTH_TRY(WriteJsonText(CacheVerificationJson(cache.folder(), verification)));
    return verification.clean() ? ExitCode::kFine : ExitCode::kFailed;
  }

  Result<ExitCode> PrintRemoved(const Cache& cache, const RemovedEntries& removed) const {
    output_.PrintText(fmt::format("{} entries deleted, {}\n", removed.entries, BytesText(removed.blob_bytes)));
    return Done(RemovedEntriesJson(cache.folder(), removed));
  }

  Result<ExitCode> Prune(const Cache& cache) {
    const bool by_age = !unused_for_.empty(), by_size = !by_age || !max_size_.empty();
    const Result<uint64_t> max_bytes = max_size_.empty() ? DefaultCacheMaxBytes() : ParseSizeBytes(max_size_);
    if (!max_bytes.ok()) {
      PrintError(max_bytes.status().Within(max_size_.empty() ? "HEARTH_CACHE_MAX_SIZE" : "--max-size").message());
      return ExitCode::kUsage;
    }
    HEARTH_ASSIGN(CacheFilter filter, Filter(cache));
    filter.spares_pinned = true;
    HEARTH_ASSIGN(const CacheStats stats, cache.Stats());
    std::string what;
    if (by_age) what = fmt::format("the entries not used for {}", unused_for_);
    if (by_size) {
      what += fmt::format("{}the entries least worth keeping until it fits {}", by_age ? ", then " : "",
                          BytesText(*max_bytes));
    }
    what += fmt::format(", of the cache in {} ({} now)", cache.folder(), BytesText(stats.file_bytes));
    if (const ExitCode code = ConfirmDeletion(what, yes_, output_); code != ExitCode::kFine) return code;
    RemovedEntries removed;
    if (by_age) {
      HEARTH_ASSIGN(removed, cache.Clear(filter));
    }
    if (by_size) {
      HEARTH_ASSIGN(const RemovedEntries more, cache.Prune(*max_bytes));
      removed.entries += more.entries;
      removed.blob_bytes += more.blob_bytes;
    }
    return PrintRemoved(cache, removed);
  }

  Result<ExitCode> Clear(const Cache& cache) {
    if (quarantine_) {
      HEARTH_ASSIGN(const uint64_t count, cache.LiftQuarantine());
      output_.PrintText(fmt::format("{} entries were in quarantine\n", count));
      return Done(RemovedEntriesJson(cache.folder(), {}));
    }
    HEARTH_ASSIGN(const CacheFilter filter, Filter(cache));
    // A damaged store has no list; clearing moves it aside.
    const Result<std::vector<CacheEntry>> entries = cache.List(filter);
    std::string what = fmt::format("the store in {}", cache.folder());
    if (entries.ok()) {
      uint64_t bytes = 0;
      for (const CacheEntry& entry : *entries) bytes += entry.size_bytes;
      what = fmt::format("{} entries ({}) of the cache in {}", entries->size(), BytesText(bytes), cache.folder());
    }
    if (const ExitCode code = ConfirmDeletion(what, yes_, output_); code != ExitCode::kFine) return code;
    HEARTH_ASSIGN(const RemovedEntries removed, cache.Clear(filter));
    return PrintRemoved(cache, removed);
  }

  Result<ExitCode> Warm(const Cache& cache) {
    const auto observer = [&](const WarmProgress& progress) {
      output_.ShowProgress(
          progress.done, progress.total,
          fmt::format("{} on {}", std::filesystem::path(progress.model_path).filename().string(), progress.device));
    };
    HEARTH_ASSIGN(session_options_.model, warm_flags_.Options(nullptr));
    HEARTH_TRY(output_.CheckJson());
    CatchInterrupts();
    HEARTH_ASSIGN(const std::vector<WarmResult> results,
                  cache.Warm(models_, devices_, session_options_, observer, IsInterrupted));
    output_.PrintText(TextOf(results));
    HEARTH_TRY(WriteJsonText(WarmResultsJson(cache.folder(), results)));
    for (const WarmResult& result : results) {
      if (!result.status.ok()) return result.status.Within(fmt::format("{} on {}", result.model_path, result.device));
    }
    if (IsInterrupted()) return ExitCode::kInterrupted;
    return ExitCode::kFine;
  }

  Result<ExitCode> Explain(const Cache& cache) {
    HEARTH_ASSIGN(session_options_.model, explain_flags_.Options(nullptr));
    HEARTH_ASSIGN(const CacheExplanation explanation, cache.Explain(explain_flags_.path(), session_options_));
    for (const std::string& warning : explanation.warnings) output_.PrintWarning(warning);
    output_.PrintText(TextOf(explanation));
    return Done(CacheExplanationJson(cache.folder(), explanation));
  }

  Result<ExitCode> Key(const Cache&) {
    HEARTH_ASSIGN(const std::string public_key, Cache::MakeSigningKey(key_file_));
    output_.PrintText(fmt::format("{0} and {0}.pub: key {1}\n", key_file_, public_key));
    HEARTH_TRY(output_.WriteJson({{"secret", key_file_}, {"public", key_file_ + ".pub"}, {"key", public_key}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> Export(const Cache& cache) {
    HEARTH_ASSIGN(export_.filter, Filter(cache));
    if (!valid_for_.empty()) {
      HEARTH_ASSIGN(export_.valid_for_ms, ParseAgeMs(valid_for_));
    }
    HEARTH_ASSIGN(const BundleExport bundle, cache.Export(bundle_, export_));
    output_.PrintText(TextOf(bundle));
    return Done(BundleExportJson(bundle));
  }

  Result<ExitCode> Import(const Cache& cache) {
    HEARTH_ASSIGN(const BundleImport bundle, cache.Import(bundle_, import_));
    output_.PrintText(TextOf(bundle));
    return Done(BundleImportJson(cache.folder(), bundle));
  }

  CLI::App* app_ = nullptr;
  std::vector<Part> parts_;
  OutputOptions output_;
  std::string folder_, digest_, named_model_, unused_for_, filter_model_, max_size_, bundle_, key_file_, valid_for_;
  ModelFlags warm_flags_, explain_flags_;
  Cache::ExportOptions export_;
  Cache::ImportOptions import_;
  CacheFilter filter_;
  std::vector<std::string> models_, devices_{"auto"};
  SessionOptions session_options_;
  bool repair_ = false, yes_ = false, quarantine_ = false, by_model_ = false, unpin_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeCacheCommand() {
  return std::make_unique<CacheCommand>();
}

}  // namespace hearth
