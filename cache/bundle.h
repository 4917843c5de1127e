// Bundles: entries with a manifest, to be carried to another machine, or to lie below a store as a read-only layer.
//
// A bundle is a folder with hearth.db (no write-ahead log), manifest.txt (manifest.h) and, when signed, manifest.sig
// (an Ed25519 signature of manifest.txt in hex); or one file (bundle_file.h), of which equal entries make equal bytes.
// Both have the same manifest.
#ifndef HEARTH_CACHE_BUNDLE_H_
#define HEARTH_CACHE_BUNDLE_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/revocations.h"
#include "cache/signature.h"
#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

struct ExportRequest {
  std::filesystem::path store;   // folder
  std::filesystem::path bundle;  // a file where the name ends in ".tar", else a folder; missing, or an empty folder
  CacheFilter filter;
  std::optional<SigningKey> sign_with;
  std::string made_by;        // Hearth's version
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of the Hearth that may use it; empty: any
  // A bundle: what it holds, with the same bytes, is left out. It is checked as an import would: whole, not expired,
  // and, where keys are given, signed by one of them, of which `sign_with` is always one. Empty: nothing is left out.
  std::filesystem::path since;
  std::vector<PublicKey> trusted_keys;
};
// Entries that are damaged in the store are left out and counted. Leaves nothing behind when it fails.
Result<BundleExport> ExportBundle(const ExportRequest& request);

struct ImportRequest {
  std::filesystem::path bundle;
  std::filesystem::path store;  // folder; made where it is missing
  uint64_t max_bytes = 0;       // of the store
  bool is_trusted = false;      // take entries that no trusted key signed
  std::vector<PublicKey> trusted_keys;
  // Those that the store knew before the keys were read (StoreOptions::revocations).
  std::optional<std::set<Revocation>> revocations;
  // Whether native entries for this device are wanted; all are where it is empty.
  std::function<bool(const CacheDevice&)> is_wanted;
};
// All or nothing is checked before anything is stored. kIoError: entries that no trusted key signed, or anything
// that does not match the manifest; the message says what. kNotFound: no bundle there.
Result<BundleImport> ImportBundle(const ImportRequest& request);

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_H_
