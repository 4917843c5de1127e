#ifdef HEARTH_WITH_SODIUM
#include "cache/sodium_api.h"

#include <span>
#include <string>

#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth {
namespace {

Result<SodiumApi> LoadOnce() {
  // The system's library comes first, because it gets updates; then a wheel's own, below or beside the folder of the
  // code. The functions above are the same in both versions: 23 is Debian 12's, 26 began with libsodium 1.0.19.
  const std::string here = FolderOfThisCode();
  const std::string below = here + "/lib/libsodium.so.23", beside = here + "/../lib/libsodium.so.23";
  const char* const names[] = {"libsodium.so.23", "libsodium.so.26", below.c_str(), beside.c_str()};
  Result<DynamicLibrary> library = DynamicLibrary::Open(here.empty() ? std::span(names).first(2) : std::span(names));
  if (!library.ok()) return library.status().Within("signatures need libsodium");
  SodiumApi api;
#define HEARTH_FIND(name)                                                        \
  if (api.name = library->Symbol<decltype(&::name)>(#name); api.name == nullptr) \
    return Error(StatusCode::kUnavailable, "this libsodium lacks {}: update it", #name);
  HEARTH_SODIUM_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  if (api.sodium_init() < 0) return Error(StatusCode::kUnavailable, "libsodium has no source of random numbers");
  library->Leak();
  return api;
}

}  // namespace

Result<const SodiumApi*> LoadSodium() {
  static const Result<SodiumApi> loaded = LoadOnce();
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

}  // namespace hearth
#endif
