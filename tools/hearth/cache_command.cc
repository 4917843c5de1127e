// hearth cache path|ls|show|stats|verify|doctor|prune|clear|pin|rm|warm|explain|key|export|import|inspect.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cache/files/folder.h"
#include "cache/store/entry_row.h"
#include "cache/trust/signature.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "hearth/cache.h"
#include "tools/hearth/cache_bundle_parts.h"
#include "tools/hearth/cache_filter_flags.h"
#include "tools/hearth/cache_text.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::string WhatClearDeletes(const std::vector<CacheEntry>& entries, const CacheFilter& filter,
                             const std::string& folder) {
  uint64_t bytes = 0;
  for (const CacheEntry& entry : entries) AddSize(bytes, entry.size_bytes);
  const bool has_sources = std::ranges::any_of(entries, [](const CacheEntry& entry) { return entry.kind == "source"; });
  return fmt::format("{}{} entries ({}) of the cache in {}{}",
                     filter.signed_by.empty() ? "" : "what a key has signed, which is revoked: ", entries.size(),
                     BytesText(bytes), folder, has_sources ? ", and the programs that need sources among them" : "");
}

// `digits`: of the revoked key; empty where none was.
std::string RevocationText(const std::string& digits) {
  if (digits.empty()) return "";
  return fmt::format("{} {} revoked; ", digits.size() < kKeyDigits ? "keys that begin with" : "key", digits);
}

class CacheCommand final : public Verb {
 public:
  CacheCommand() : Verb({"cache", "Inspects, fills, moves and cleans the cache", "hearth cache ls --kind program"}) {}

  void AddOptions(CLI::App& app) override {
    app.require_subcommand(1);
    app_ = &app;
    AddPart("path", "Where the cache is", "hearth cache path", &CacheCommand::Path);
    CLI::App* list = AddPart("ls", "The entries, most recently used first", "hearth cache ls --kind weights --json -",
                             &CacheCommand::List);
    CLI::Option* by_model = list->add_flag(
        "--by-model", by_model_, "The models that used the cache, with the bytes that each has alone and shares");
    // A list of models, or of what crashed, that ignored a filter would pass for the filtered one.
    for (CLI::Option* option : filter_.AddOptions(*list)) by_model->excludes(option);
    AddPart("doctor", "What is wrong with the cache, what that costs and what repairs it; exit code 1 if anything is",
            "hearth cache doctor", &CacheCommand::Doctor);
    AddPart("show", "One entry with its full key", "hearth cache show 1f2e3d", &CacheCommand::Show)
        ->add_option("DIGEST", digest_, "The first hex digits of an entry's digest")
        ->required()
        ->type_name("");
    AddPart("stats", "Sizes by kind, hits and time saved", "hearth cache stats", &CacheCommand::Stats)
        ->add_option("--html", html_path_, "Draw a web page: sizes by kind and model, hits and time saved by origin")
        ->type_name("FILE");
    AddPart("verify", "Reads and checks everything; exit code 1 if damage was found", "hearth cache verify --repair",
            &CacheCommand::Verify)
        ->add_flag("--repair", repair_, "Delete damaged entries, move a damaged file aside");
    AddDeletingParts();
    AddModelParts();
    bundle_parts_.AddTo([this](const std::string& name, const std::string& description, const std::string& example,
                               RunCachePart run) { return AddPart(name, description, example, std::move(run)); });
  }

  Result<ExitCode> Run() override {
    HEARTH_ASSIGN(const Cache cache, Cache::At(folder_));
    const CLI::App* named = app_->get_subcommands().front();
    for (const Part& part : parts_) {
      if (part.app != named) continue;
      const Result<ExitCode> code = part.run(cache);
      // A store that another process keeps locked is no device that is not usable.
      const bool opens_device = named->get_name() == "warm" || named->get_name() == "explain";
      const bool is_locked = code.status().code() == StatusCode::kUnavailable && !opens_device;
      return is_locked ? Error(StatusCode::kIoError, "{}", code.status().message()) : code;
    }
    return ExitCode::kUsage;
  }

 private:
  struct Part {
    CLI::App* app;
    RunCachePart run;
  };

  CLI::App* AddPart(const std::string& name, const std::string& description, const std::string& example,
                    Result<ExitCode> (CacheCommand::*run)(const Cache& cache)) {
    return AddPart(name, description, example, [this, run](const Cache& cache) { return (this->*run)(cache); });
  }
  CLI::App* AddPart(const std::string& name, const std::string& description, const std::string& example,
                    RunCachePart run) {
    CLI::App* part = app_->add_subcommand(name, description);
    AddCacheOption(*part, folder_);
    output_.AddOptions(*part);
    part->footer("Example:\n  " + example);
    parts_.push_back({part, std::move(run)});
    return part;
  }

  void AddDeletingParts() {
    CLI::App* prune = AddPart("prune", "Deletes the entries least worth keeping until the file fits a size",
                              "hearth cache prune --max-size 256M --yes", &CacheCommand::Prune);
    prune
        ->add_option("--max-size", max_size_,
                     "256MB, 256MiB, 1.5G, or bytes (default, without --unused-for: $HEARTH_CACHE_MAX_SIZE or 1G)")
        ->type_name("SIZE");
    prune->add_option("--unused-for", unused_for_, "Only, or before that, entries not used for that long: 30d, 12h")
        ->check(Age())
        ->type_name("AGE");
    CLI::App* clear =
        AddPart("clear", "Deletes the entries", "hearth cache clear --kind program --yes", &CacheCommand::Clear);
    CLI::Option* quarantine =
        clear->add_flag("--quarantine", quarantine_,
                        "Deletes no entries: lifts the quarantine of all that crashed three runs in a row");
    const std::vector<CLI::Option*> filters = filter_.AddOptions(*clear);
    for (CLI::Option* option : filters) quarantine->excludes(option);
    // Another condition would leave most of what a revoked key has signed.
    CLI::Option* signed_by = clear->get_option("--signed-by");
    signed_by->description("Revokes this public key (its hex digits, or the first ones): all that it signed goes");
    for (CLI::Option* option : filters) {
      if (option != signed_by) signed_by->excludes(option);
    }
    CLI::App* pin = AddPart("pin", "Keeps a model's entries, however full the cache gets",
                            "hearth cache pin model.tflite", &CacheCommand::Pin);
    pin->add_flag("--off", unpin_, "No longer");
    CLI::App* remove = AddPart("rm", "Forgets a model and deletes the entries that no other model uses",
                               "hearth cache rm model.tflite --yes", &CacheCommand::Remove);
    for (CLI::App* part : {pin, remove}) {
      part->add_option("MODEL", named_model_, "A file, the path that it had, or a fingerprint's first digits")
          ->required()
          ->type_name("");
    }
    for (CLI::App* part : {prune, clear, remove}) {
      part->add_flag("--yes", yes_, "Don't ask (needed without a terminal)");
    }
  }

  void AddModelParts() {
    CLI::App* warm = AddPart("warm", "Prepares models ahead of time, so that their first start is warm",
                             "hearth cache warm mobilenet.tflite --device all", &CacheCommand::Warm);
    CLI::Option* models = warm->add_option("MODEL", models_, "A model file")->type_name("...");
    CLI::Option* from_cache =
        warm->add_flag("--from-cache", from_cache_,
                       "No models: what the cache's own plans need, for use after a driver update")
            ->excludes(models);
    AddDevicesOption(*warm, devices_, "As for run; all: every usable device")->capture_default_str();
    AddSimulateOption(*warm, session_options_.simulate)->excludes(from_cache);
    warm_flags_.AddChoices(*warm);
    AddPlanOptions(*warm, session_options_);
    AddTuneOption(*warm, session_options_);
    AddCacheTierOptions(*warm, session_options_);
    CLI::App* explain = AddPart("explain", "Which entries a model finds, and what differs in the others",
                                "hearth cache explain mobilenet.tflite --device opencl", &CacheCommand::Explain);
    explain_flags_.AddOptions(*explain);
    AddDeviceOption(*explain, session_options_.device);
    AddSimulateOption(*explain, session_options_.simulate);
    AddPlanOptions(*explain, session_options_);
    AddCacheTierOptions(*explain, session_options_);
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

  Result<ExitCode> Doctor(const Cache& cache) {
    const std::vector<CacheFinding> findings = cache.Examine();
    const bool is_trouble = std::ranges::any_of(findings, &CacheFinding::is_trouble);
    return WriteAnswer(output_, TextOf(findings), CacheJson(findings, cache.folder()),
                       is_trouble ? ExitCode::kFailed : ExitCode::kFine);
  }

  Result<ExitCode> Pin(const Cache& cache) {
    HEARTH_TRY(cache.Pin(named_model_, !unpin_));
    return ListModels(cache);
  }

  Result<ExitCode> Remove(const Cache& cache) {
    HEARTH_ASSIGN(const CacheModel model, cache.FindModel(named_model_));
    const std::string what = fmt::format("what only {} uses of the cache in {} ({})", named_model_, cache.folder(),
                                         BytesText(model.own_bytes));
    if (const ExitCode code = ConfirmDeletion(what, yes_, output_); code != ExitCode::kFine) return code;
    HEARTH_ASSIGN(const RemovedEntries removed, cache.Remove(named_model_));
    return PrintRemoved(cache, removed);
  }

  Result<ExitCode> ListModels(const Cache& cache) {
    HEARTH_ASSIGN(const std::vector<CacheModel> models, cache.Models());
    return WriteAnswer(output_, TextOf(models), CacheJson(models, cache.folder()));
  }

  Result<ExitCode> List(const Cache& cache) {
    if (by_model_) return ListModels(cache);
    HEARTH_ASSIGN(const CacheFilter filter, filter_.Filter(cache));
    HEARTH_ASSIGN(const std::vector<CacheEntry> entries, cache.List(filter));
    return WriteAnswer(output_, TextOf(entries), CacheJson(entries, cache.folder()));
  }

  Result<ExitCode> Show(const Cache& cache) {
    HEARTH_ASSIGN(const CacheEntry entry, cache.Show(digest_));
    return WriteAnswer(output_, TextOf(entry), CacheJson(entry));
  }

  Result<ExitCode> Stats(const Cache& cache) {
    if (!html_path_.empty()) HEARTH_TRY(CheckWritable(html_path_));
    HEARTH_ASSIGN(const CacheStats stats, cache.Stats());
    output_.PrintText(TextOf(stats));
    std::string page;
    if (!html_path_.empty()) {
      HEARTH_ASSIGN(const std::vector<CacheModel> models, cache.Models());
      HEARTH_TRY(WriteFile(html_path_, PageOf(stats, models)));
      page = fmt::format("the page is {}\n", html_path_);
    }
    return WriteAnswer(output_, page, CacheJson(stats));
  }

  Result<ExitCode> Verify(const Cache& cache) {
    HEARTH_ASSIGN(const CacheVerification verification, cache.Verify(repair_));
    return WriteAnswer(output_, TextOf(verification, cache.folder()), CacheJson(verification, cache.folder()),
                       verification.clean() ? ExitCode::kFine : ExitCode::kFailed);
  }

  Result<ExitCode> PrintRemoved(const Cache& cache, const RemovedEntries& removed) const {
    if (!removed.why_larger.empty()) output_.PrintWarning(removed.why_larger);
    if (removed.other_formats_bytes > 0) {
      output_.PrintWarning(fmt::format(
          "stores of other versions of Hearth in {} ({}) keep what the key has signed: `hearth cache clear` "
          "removes them",
          cache.folder(), BytesText(removed.other_formats_bytes)));
    }
    const std::string text = fmt::format("{}{} entries deleted, {}\n", RevocationText(removed.revoked_key),
                                         removed.entries, BytesText(removed.blob_bytes));
    return WriteAnswer(output_, text, CacheJson(removed, cache.folder()));
  }

  Result<ExitCode> Prune(const Cache& cache) {
    const bool by_age = !unused_for_.empty(), by_size = !by_age || !max_size_.empty();
    const Result<uint64_t> max_bytes = max_size_.empty() ? DefaultCacheMaxBytes() : ParseSizeBytes(max_size_);
    if (!max_bytes.ok()) {
      PrintError(max_bytes.status().Within(max_size_.empty() ? "HEARTH_CACHE_MAX_SIZE" : "--max-size").message());
      return ExitCode::kUsage;
    }
    CacheFilter filter;
    if (by_age) {
      HEARTH_ASSIGN(filter.unused_since_ms, UnusedSinceMs(unused_for_));
    }
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
      AddSize(removed.blob_bytes, more.blob_bytes);
      removed.why_larger = more.why_larger;
    }
    return PrintRemoved(cache, removed);
  }

  Result<ExitCode> Clear(const Cache& cache) {
    if (quarantine_) {
      HEARTH_ASSIGN(const uint64_t count, cache.LiftQuarantine());
      return WriteAnswer(output_, fmt::format("{} entries were in quarantine\n", count),
                         CacheJson(count, cache.folder()));
    }
    HEARTH_ASSIGN(const CacheFilter filter, filter_.Filter(cache));
    // A damaged store has no list; clearing moves it aside.
    const Result<std::vector<CacheEntry>> entries = cache.List(filter);
    // A mistake in the arguments, or a lock: it is not waited for again.
    const StatusCode failure = entries.status().code();
    if (failure == StatusCode::kInvalidArgument || failure == StatusCode::kUnavailable) return entries.status();
    std::string what = fmt::format("the store in {}", cache.folder());
    if (entries.ok()) what = WhatClearDeletes(*entries, filter, cache.folder());
    if (const ExitCode code = ConfirmDeletion(what, yes_, output_); code != ExitCode::kFine) return code;
    const Result<RemovedEntries> removed = cache.Clear(filter);
    if (removed.status().code() == StatusCode::kInvalidArgument && !filter.signed_by.empty()) {
      PrintError(removed.status().message());  // digits of several keys, or too few
      return ExitCode::kUsage;
    }
    if (!removed.ok()) return removed.status();
    return PrintRemoved(cache, *removed);
  }

  Result<ExitCode> Warm(const Cache& cache) {
    if (models_.empty() && !from_cache_) {
      PrintError("name a MODEL to warm, or use --from-cache (hearth cache warm --help)");
      return ExitCode::kUsage;
    }
    const auto observer = [&](const WarmProgress& progress) {
      output_.ShowProgress(
          progress.done, progress.total,
          fmt::format("{} on {}", std::filesystem::path(progress.model_path).filename().string(), progress.device));
    };
    HEARTH_ASSIGN(session_options_.model, warm_flags_.Options(nullptr));
    HEARTH_TRY(output_.CheckJson());
    CatchInterrupts();
    if (from_cache_) {
      HEARTH_ASSIGN(const RewarmResult rewarmed, cache.WarmFromCache(devices_, observer, IsInterrupted));
      HEARTH_TRY(WriteAnswer(output_, TextOf(rewarmed), CacheJson(rewarmed, cache.folder())).status());
      return CodeOf(rewarmed.results);
    }
    HEARTH_ASSIGN(const std::vector<WarmResult> results,
                  cache.Warm(models_, devices_, session_options_, observer, IsInterrupted));
    HEARTH_TRY(WriteAnswer(output_, TextOf(results), CacheJson(results, cache.folder())).status());
    return CodeOf(results);
  }

  static Result<ExitCode> CodeOf(const std::vector<WarmResult>& results) {
    for (const WarmResult& result : results) {
      if (result.status.ok()) continue;
      // Without a model the device itself failed, and its message names it.
      return result.model_path.empty()
                 ? result.status
                 : result.status.Within(fmt::format("{} on {}", result.model_path, result.device));
    }
    if (IsInterrupted()) return ExitCode::kInterrupted;
    return ExitCode::kFine;
  }

  Result<ExitCode> Explain(const Cache& cache) {
    HEARTH_ASSIGN(session_options_.model, explain_flags_.Options(nullptr));
    HEARTH_ASSIGN(const CacheExplanation explanation, cache.Explain(explain_flags_.path(), session_options_));
    for (const std::string& warning : explanation.warnings) output_.PrintWarning(warning);
    return WriteAnswer(output_, TextOf(explanation), CacheJson(explanation, cache.folder()));
  }

  CLI::App* app_ = nullptr;
  std::vector<Part> parts_;
  OutputOptions output_;
  std::string folder_, digest_, named_model_, unused_for_, max_size_;
  std::string html_path_;
  ModelFlags warm_flags_, explain_flags_;
  CacheFilterFlags filter_;
  CacheBundleParts bundle_parts_{output_};
  std::vector<std::string> models_, devices_{"auto"};
  SessionOptions session_options_;
  bool repair_ = false, yes_ = false, quarantine_ = false, by_model_ = false, unpin_ = false, from_cache_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeCacheCommand() {
  return std::make_unique<CacheCommand>();
}

}  // namespace hearth
