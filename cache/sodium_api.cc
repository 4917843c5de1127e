#ifdef HEARTH_WITH_SODIUM
#include "cache/sodium_api.h"

#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth {
namespace {

Result<SodiumApi> LoadOnce() {
  // The functions above are the same in both: 23 is Debian 12's, 26 began with libsodium 1.0.19.
  constexpr const char* kNames[] = {"libsodium.so.23", "libsodium.so.26"};
  Result<DynamicLibrary> library = DynamicLibrary::Open(kNames);
  if (!library.ok()) return library.status().Within("signatures need libsodium");
  SodiumApi api;
#define HEARTH_FIND(name)                                                        \
  if (api.name = library->Symbol<decltype(&::name)>(#name); api.name == nullptr) \
    return Error(StatusCode::kUnavailable, "this libsodium lacks {}: update it", #name);
  HEARTH_SODIUM_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  if (api.sodium_init() < 0) return Error(StatusCode::kUnavailable, "libsodium finds no source of random numbers");
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
