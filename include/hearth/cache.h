// The cache: the results of `hearth cache` as values, warming models ahead of use, moving entries between machines.
//
//   auto cache = hearth::Cache::At();                         // the default folder
//   if (auto stats = cache->Stats(); stats.ok()) puts(hearth::CacheJson(*stats).c_str());
//   auto explanation = cache->Explain("mobilenet.tflite", {.device = "opencl"});
#ifndef HEARTH_CACHE_H_
#define HEARTH_CACHE_H_

#include <functional>
#include <map>
#include <string>
#include <variant>
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
  bool has_run = true;                // a session of this model used the cache before
  bool has_changed = false;           // it has not, but the cache knows another content of this path
  uint64_t hits() const;
  std::vector<CacheMiss> last_misses;  // of earlier starts of this model, newest first
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
  std::string model_path, device;  // the next pair; the last one when all are done
};
using WarmObserver = std::function<void(const WarmProgress&)>;

// A model whose programs can't be made from the cache alone.
struct ModelNeeded {
  std::string model_path, device;  // the model's last known path
  std::string reason;
};
struct RewarmResult {
  std::vector<WarmResult> results;  // one per stored plan and device, with the path of a model that uses it
  std::vector<ModelNeeded> needed;
};

// What a bundle claims to be, and whether that is true.
struct BundleInspection {
  std::string bundle;
  std::string made_by;        // Hearth's version
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of Hearth; empty: any
  std::string manifest_sha256;
  std::vector<CacheDevice> devices;
  std::map<std::string, CacheKindStats> kinds;  // only kinds that it contains
  uint64_t entries = 0, blob_bytes = 0;
  std::string signed_by;             // the trusted key in hex; empty: not signed by a trusted key
  std::string key_id;                // of whoever signed it, trusted or not; empty: nobody did
  std::string refusal;               // why an import here would refuse it even if it is trusted; empty: it would not
  std::vector<CacheDamage> damages;  // entries that differ from the manifest
};

// The store of one folder. Each function opens the store itself, does not create a missing one, and changes nothing
// unless its comment says so. Errors: kIoError when the folder is refused (the message says why) or damaged,
// kUnavailable when it is locked.
class HEARTH_EXPORT Cache {
 public:
  // `folder` empty: $HEARTH_CACHE_DIR, $XDG_CACHE_HOME/hearth or ~/.cache/hearth; kNotFound when none of them is set.
  // Touches no file.
  static Result<Cache> At(const std::string& folder = {});

  const std::string& folder() const { return folder_; }
  // The folder that sessions use: this one, or a private folder inside it if other users may write to it. kIoError when
  // refused.
  Result<std::string> UsedFolder() const;

  Result<std::vector<CacheEntry>> List(const CacheFilter& filter = {}) const;  // most recently used first
  // The one entry whose digest begins with `digest_prefix`; kNotFound for none or several.
  Result<CacheEntry> Show(std::string_view digest_prefix) const;
  Result<CacheStats> Stats() const;
  // Reads everything. `repair` deletes damaged entries and moves a damaged file aside.
  Result<CacheVerification> Verify(bool repair) const;
  // Deletes the entries that the filter selects (by default all) and returns the space to the file system. With
  // `signed_by` it also revokes that one key, and makes a missing store, which remembers that: kInvalidArgument with
  // any other condition, if entries of several keys begin with these digits, and if they are fewer than 8 and no
  // entry's key begins with them. With sources go the programs that need them.
  Result<RemovedEntries> Clear(const CacheFilter& filter = {}) const;
  // Deletes the longest unused entries until the store is not larger than `max_bytes`.
  Result<RemovedEntries> Prune(uint64_t max_bytes) const;

  // Checks the folder, the file, the disk and `server` (empty: the environment's). Gives each finding with its cost and
  // the command that repairs it. Changes nothing.
  std::vector<CacheFinding> Examine(const CacheServer& server = {}) const;

  // The models whose sessions used the cache. `model` is a file, the beginning of a fingerprint, or the path that the
  // model had. kNotFound: the cache knows no such model.
  Result<std::vector<CacheModel>> Models() const;
  Result<CacheModel> FindModel(const std::string& model) const;
  Status Pin(const std::string& model, bool is_pinned = true) const;  // a pinned model's entries are not evicted
  // Forgets the model and deletes the entries that no other model uses.
  Result<RemovedEntries> Remove(const std::string& model) const;

  // The entries that were in use when a process died. LiftQuarantine forgets these records, so that the entries are
  // accepted again, and returns how many there were.
  Result<std::vector<CacheQuarantine>> Quarantine() const;
  Result<uint64_t> LiftQuarantine() const;

  // Starts the model as a session with these options would, cold where entries are missing, and stores nothing. Says
  // for each entry that the start looks up whether it is there and, if not, what differs. The options' folder, observer
  // and store are ignored. Errors: as Session::Open.
  Result<CacheExplanation> Explain(const std::string& model_path, const SessionOptions& options) const;

  // Starts each model on each device ("all": every usable one but the CPU, which caches nothing), runs it once on zeros
  // and stores what later starts need. A failure is in the pair's result. `is_stopped` is asked before each pair; after
  // it returns true, the remaining pairs are missing from the results. kUnavailable: no device.
  Result<std::vector<WarmResult>> Warm(const std::vector<std::string>& model_paths,
                                       const std::vector<std::string>& devices, const SessionOptions& options,
                                       const WarmObserver& observer = {},
                                       const std::function<bool()>& is_stopped = {}) const;

  // After a driver update, makes programs again without the models' files: for each device ("all": every usable one but
  // the CPU) compiles the programs of the stored plans that fit it and runs them once, with zeros for inputs and
  // weights. `RewarmResult::needed` lists what needs a model's file. `is_stopped` is asked before each plan.
  // kUnavailable: no device.
  Result<RewarmResult> WarmFromCache(const std::vector<std::string>& devices, const WarmObserver& observer = {},
                                     const std::function<bool()>& is_stopped = {}) const;

  struct ExportOptions {
    CacheFilter filter;
    std::string sign_with;  // file of a secret key; empty: not signed
    // Both are part of the signed manifest. Imports and layers refuse the bundle after `valid_for_ms` (0: never), and
    // in a Hearth older than `least_version` (empty: any version is accepted).
    int64_t valid_for_ms = 0;
    std::string least_version;
  };
  // Makes a bundle: one file, which must not exist and whose name must end in ".tar". Equal entries make equal bytes
  // (with an expiry only if $SOURCE_DATE_EPOCH is set).
  Result<BundleExport> Export(const std::string& bundle, const ExportOptions& options) const;
  // Reads all of a bundle. `trusted_keys`: file of public keys whose signatures count; empty: none. Errors: the bundle
  // does not exist, or its manifest can't be read.
  static Result<BundleInspection> Inspect(const std::string& bundle, const std::string& trusted_keys = {});

  struct ImportOptions {
    bool is_trusted = false;   // accept entries that no trusted key signed
    std::string trusted_keys;  // file of public keys; empty: none
    bool any_device = false;   // also native code for devices that this machine lacks
    uint64_t max_bytes = 0;    // the store's limit; 0: as for sessions
  };
  // Checks the whole bundle, then stores its entries. kIoError: it does not match its manifest, or no trusted key
  // signed it.
  Result<BundleImport> Import(const std::string& bundle, const ImportOptions& options) const;

  // Makes `file` (secret, mode 0600) and `file`.pub; returns the public key in hex.
  static Result<std::string> MakeSigningKey(const std::string& file);

 private:
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

// What a function of Cache returned. A number is that of LiftQuarantine.
using CacheAnswer =
    std::variant<CacheEntry, std::vector<CacheEntry>, CacheStats, std::vector<CacheModel>, std::vector<CacheFinding>,
                 CacheVerification, RemovedEntries, uint64_t, CacheExplanation, BundleExport, BundleImport,
                 BundleInspection, std::vector<WarmResult>, RewarmResult>;
// The same as a JSON text, whose keys are listed in tools/README.md. `folder` is Cache::folder(), which answers about
// a whole store have.
HEARTH_EXPORT std::string CacheJson(const CacheAnswer& answer, const std::string& folder = {}, int indent = 2);

}  // namespace hearth

#endif  // HEARTH_CACHE_H_
