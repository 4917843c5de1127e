// The cache as values: what `hearth cache` prints, warming models up ahead of use, moving entries between machines.
//
//   auto cache = hearth::Cache::At();                         // the default folder
//   if (auto stats = cache->Stats(); stats.ok()) puts(hearth::CacheStatsJson(*stats).c_str());
//   auto explanation = cache->Explain("mobilenet.tflite", {.device = "opencl"});
#ifndef HEARTH_CACHE_H_
#define HEARTH_CACHE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hearth/cache_types.h"
#include "hearth/export.h"
#include "hearth/session.h"
#include "hearth/status.h"

namespace hearth {

struct CacheExplanation {
  std::string model_path, model_fingerprint, device;
  std::vector<CacheNeed> needs;       // each entry that a start asks for, in order of first use
  std::vector<std::string> warnings;  // why the cache could not be used, among others
  uint64_t hits() const;
};

// One model on one device.
struct WarmResult {
  std::string model_path, device;
  Status status;  // why it could not be warmed
  int compiled = 0, loaded = 0;
  uint64_t bytes_written = 0, put_errors = 0;
  double milliseconds = 0;
};
struct WarmProgress {
  size_t done = 0, total = 0;      // pairs of model and device
  std::string model_path, device;  // what is next, or was last when all are done
};
using WarmObserver = std::function<void(const WarmProgress&)>;

// A start whose programs can't be made from the cache alone.
struct ModelNeeded {
  std::string model_path, device;  // the path where it was last
  std::string reason;
};
struct RewarmResult {
  std::vector<WarmResult> results;  // one for each stored plan and device; the path is that of a model that uses it
  std::vector<ModelNeeded> needed;
};

// What a bundle says of itself, and whether that is so.
struct BundleInspection {
  std::string bundle;
  bool is_file = false;       // else a folder
  std::string made_by;        // Hearth's version
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of Hearth; empty: any
  std::string manifest_sha256;
  std::string since;      // the manifest_sha256 of the bundle that this one leaves out; empty: it stands alone
  uint64_t left_out = 0;  // entries of that one
  std::vector<CacheDevice> devices;
  std::map<std::string, CacheKindStats> kinds;  // those that it holds
  uint64_t entries = 0, blob_bytes = 0;
  std::string signed_by;             // the trusted key in hex; empty: not signed by a trusted one
  std::string refusal;               // why an import here would refuse it whoever signed it; empty: nothing is wrong
  std::vector<CacheDamage> damages;  // entries that are not what the manifest promises
};

// The store of one folder. Functions open the store for themselves, make none where there is none, and change nothing
// unless they say so. Errors: kIoError when the folder is refused (the sentence says why) or damaged,
// kUnavailable when it is locked.
class HEARTH_EXPORT Cache {
 public:
  // `folder` empty: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth; kNotFound when none of them is set.
  // Touches no file.
  static Result<Cache> At(const std::string& folder = {});

  const std::string& folder() const { return folder_; }
  // The folder that sessions use: this one, or the private one in it where others may write. kIoError when refused.
  Result<std::string> UsedFolder() const;

  Result<std::vector<CacheEntry>> List(const CacheFilter& filter = {}) const;  // most recently used first
  // The one entry whose digest begins so; kNotFound for none or several.
  Result<CacheEntry> Show(std::string_view digest_prefix) const;
  Result<CacheStats> Stats() const;
  // Reads everything. `repair` deletes damaged entries and moves a damaged file aside.
  Result<CacheVerification> Verify(bool repair) const;
  // Deletes what the filter selects, everything by default, and gives the space back to the file system.
  Result<RemovedEntries> Clear(const CacheFilter& filter = {}) const;
  // Deletes the longest unused entries until the store is not larger than `max_bytes`.
  Result<RemovedEntries> Prune(uint64_t max_bytes) const;

  // What is wrong with the folder, the file, the disk or `server` (empty: that of the environment), what it costs, and
  // the command that mends it; also what is well. Changes nothing.
  std::vector<CacheFinding> Examine(const CacheServer& server = {}) const;

  // The models whose sessions used the cache. `model`: a file, its fingerprint or the beginning of it, or the path that
  // it had. kNotFound: none of them.
  Result<std::vector<CacheModel>> Models() const;
  Result<CacheModel> FindModel(const std::string& model) const;
  Status Pin(const std::string& model, bool is_pinned = true) const;  // what it uses is not evicted
  // Forgets the model and deletes what no other model uses.
  Result<RemovedEntries> Remove(const std::string& model) const;

  // What was in use when a process died. Lifting forgets all of it, so that it is taken back; how many records.
  Result<std::vector<CacheQuarantine>> Quarantine() const;
  Result<uint64_t> LiftQuarantine() const;

  // Starts the model as a session with these options would, cold where entries are missing, without storing anything;
  // says for each entry that it asks for whether it is there and, if not, what differs. The options' folder, observer
  // and store are not used. Errors: as Session::Open.
  Result<CacheExplanation> Explain(const std::string& model_path, const SessionOptions& options) const;

  // Starts each model on each device ("all": every usable one but the CPU, which keeps nothing), runs it once on
  // zeros and stores what later starts need. A pair that fails is in its result. `is_stopped` is asked before each
  // pair; those that are left when it says yes are not in the results. kUnavailable: no device.
  Result<std::vector<WarmResult>> Warm(const std::vector<std::string>& model_paths,
                                       const std::vector<std::string>& devices, const SessionOptions& options,
                                       const WarmObserver& observer = {},
                                       const std::function<bool()>& is_stopped = {}) const;

  // For each device ("all": every usable one but the CPU) compiles the programs of the stored plans that fit it and
  // runs them once on zeros, weights too: what is needed after an update of its driver, without the models. What needs
  // a model's file is told. `is_stopped` is asked before each plan. kUnavailable: no device.
  Result<RewarmResult> WarmFromCache(const std::vector<std::string>& devices, const WarmObserver& observer = {},
                                     const std::function<bool()>& is_stopped = {}) const;

  struct ExportOptions {
    CacheFilter filter;
    std::string sign_with;  // file of a secret key; empty: not signed
    // Under the signature: who imports the bundle, or uses it as a layer, refuses it after that time, or in an older
    // Hearth. 0: for ever. Empty: any version.
    int64_t valid_for_ms = 0;
    std::string least_version;
    // A bundle: what it holds, with the same bytes, is left out; empty: nothing is. It must be sound, still be valid,
    // and where there are keys, the one of `sign_with` or those in the file `trusted_keys`, one of them must have
    // signed it: who gets the new bundle has what a bundle holds that his import took.
    std::string since, trusted_keys;
  };
  // Makes a bundle: one file where the name ends in ".tar", of which equal entries make equal bytes (as does an expiry
  // where $SOURCE_DATE_EPOCH says from when), else a folder. It must be missing, or an empty folder.
  Result<BundleExport> Export(const std::string& bundle, const ExportOptions& options) const;
  // Reads all of a bundle. `trusted_keys`: file of public keys whose signatures count; empty: none. Errors: there is
  // none, or its manifest can't be read.
  static Result<BundleInspection> Inspect(const std::string& bundle, const std::string& trusted_keys = {});

  struct ImportOptions {
    bool is_trusted = false;   // take entries that no trusted key signed
    std::string trusted_keys;  // file of public keys; empty: none
    bool any_device = false;   // also native code for devices that this machine has not
    uint64_t max_bytes = 0;    // of the store; 0: as for sessions
  };
  // Stores what the bundle holds, after all of it was checked. kIoError: it does not match its manifest, or holds
  // entries that no trusted key signed.
  Result<BundleImport> Import(const std::string& bundle, const ImportOptions& options) const;

  // Makes `file` (secret, mode 0600) and `file`.pub; returns the public key in hex.
  static Result<std::string> MakeSigningKey(const std::string& file);

 private:
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

// JSON texts; their keys are listed in tools/README.md.
HEARTH_EXPORT std::string CacheEntryJson(const CacheEntry& entry, int indent = 2);
HEARTH_EXPORT std::string CacheListJson(const std::string& folder, const std::vector<CacheEntry>& entries,
                                        int indent = 2);
HEARTH_EXPORT std::string CacheStatsJson(const CacheStats& stats, int indent = 2);
HEARTH_EXPORT std::string CacheModelsJson(const std::string& folder, const std::vector<CacheModel>& models,
                                          int indent = 2);
HEARTH_EXPORT std::string CacheFindingsJson(const std::string& folder, const std::vector<CacheFinding>& findings,
                                            int indent = 2);
HEARTH_EXPORT std::string CacheVerificationJson(const std::string& folder, const CacheVerification& verification,
                                                int indent = 2);
HEARTH_EXPORT std::string RemovedEntriesJson(const std::string& folder, const RemovedEntries& removed, int indent = 2);
HEARTH_EXPORT std::string CacheExplanationJson(const std::string& folder, const CacheExplanation& explanation,
                                               int indent = 2);
HEARTH_EXPORT std::string BundleExportJson(const BundleExport& bundle, int indent = 2);
HEARTH_EXPORT std::string BundleImportJson(const std::string& folder, const BundleImport& bundle, int indent = 2);
HEARTH_EXPORT std::string BundleInspectionJson(const BundleInspection& bundle, int indent = 2);
HEARTH_EXPORT std::string WarmResultsJson(const std::string& folder, const std::vector<WarmResult>& results,
                                          int indent = 2);
HEARTH_EXPORT std::string RewarmResultJson(const std::string& folder, const RewarmResult& result, int indent = 2);

}  // namespace hearth

#endif  // HEARTH_CACHE_H_
