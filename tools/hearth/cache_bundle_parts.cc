#include "tools/hearth/cache_bundle_parts.h"

#include <fmt/format.h>

#include "cache/trust/manifest.h"
#include "core/base/error.h"
#include "hearth/version.h"
#include "tools/hearth/cache_text.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::string WhyNoVersion(const std::string& text) {
  return VersionNumbers(text) ? "" : fmt::format("'{}' is not a version like {}", text, HEARTH_VERSION);
}

}  // namespace

void CacheBundleParts::AddTo(const AddCachePart& add_part) {
  CLI::App* key = add_part("key", "Makes a key for signing bundles: FILE, and FILE.pub for those who import them",
                           "hearth cache key ~/.config/hearth.key", [this](const Cache&) { return Key(); });
  key->add_option("FILE", key_file_, "Where the secret key goes; must not exist")->required()->type_name("");
  CLI::App* bundle =
      add_part("export", "Copies entries into a bundle for other machines, a file that is also a read-only layer",
               "hearth cache export programs.tar --kind program --sign ~/.config/hearth.key",
               [this](const Cache& cache) { return Export(cache); });
  bundle->add_option("BUNDLE", bundle_, "A file NAME.tar that does not exist")->required()->type_name("");
  filter_.AddOptions(*bundle);
  bundle->add_option("--sign", export_.sign_with, "Secret key (hearth cache key)")->type_name("FILE");
  bundle->add_option("--valid-for", valid_for_, "Refuse the bundle after this time, such as 90d")
      ->check(Age(1))
      ->type_name("AGE");
  bundle->add_option("--least-version", export_.least_version, "Refuse it in an older Hearth")
      ->check(WhyNoVersion)
      ->type_name("X.Y.Z");
  CLI::App* import = add_part("import", "Checks a bundle and stores its entries",
                              "hearth cache import programs.tar --keys trusted.pub",
                              [this](const Cache& cache) { return Import(cache); });
  import->add_option("BUNDLE", bundle_, "What export made")->required()->type_name("");
  import->add_option("--keys", import_.trusted_keys, "Public keys whose signatures count")->type_name("FILE");
  import->add_flag("--trust", import_.is_trusted, "Accept entries that no such key signed");
  import->add_flag("--any-device", import_.any_device, "Also native code for devices that this machine lacks");
  CLI::App* inspect =
      add_part("inspect", "What a bundle holds, for which devices, and who signed it; exit code 1 where it is damaged",
               "hearth cache inspect programs.tar --keys trusted.pub", [this](const Cache&) { return Inspect(); });
  inspect->add_option("BUNDLE", bundle_, "What export made")->required()->type_name("");
  inspect->add_option("--keys", inspect_keys_, "Public keys whose signatures count")->type_name("FILE");
}

Result<ExitCode> CacheBundleParts::Key() {
  HEARTH_ASSIGN(const std::string public_key, Cache::MakeSigningKey(key_file_));
  output_.PrintText(fmt::format("{0} and {0}.pub: key {1}\n", key_file_, public_key));
  HEARTH_TRY(output_.WriteJson({{"secret", key_file_}, {"public", key_file_ + ".pub"}, {"key", public_key}}));
  return ExitCode::kFine;
}

Result<ExitCode> CacheBundleParts::Export(const Cache& cache) {
  HEARTH_ASSIGN(export_.filter, filter_.Filter(cache));
  if (!valid_for_.empty()) {
    HEARTH_ASSIGN(export_.valid_for_ms, ParseAgeMs(valid_for_));
  }
  HEARTH_ASSIGN(const BundleExport bundle, cache.Export(bundle_, export_));
  return WriteAnswer(output_, TextOf(bundle), CacheJson(bundle));
}

Result<ExitCode> CacheBundleParts::Import(const Cache& cache) {
  HEARTH_ASSIGN(const BundleImport bundle, cache.Import(bundle_, import_));
  for (const std::string& warning : bundle.warnings) output_.PrintWarning(warning);
  return WriteAnswer(output_, TextOf(bundle), CacheJson(bundle, cache.folder()));
}

Result<ExitCode> CacheBundleParts::Inspect() {
  HEARTH_ASSIGN(const BundleInspection bundle, Cache::Inspect(bundle_, inspect_keys_));
  return WriteAnswer(output_, TextOf(bundle), CacheJson(bundle),
                     bundle.damages.empty() ? ExitCode::kFine : ExitCode::kFailed);
}

}  // namespace hearth
