#ifdef HEARTH_WITH_REDIS
#include "cache/hiredis_api.h"

#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth {
namespace {

#define HEARTH_TEXT_OF(token) #token
#define HEARTH_TEXT(macro) HEARTH_TEXT_OF(macro)

Result<HiredisApi> LoadOnce() {
  // Only the version of the headers: redisReply is laid out differently from 0.14 to 1.0.
  constexpr const char* kNames[] = {"libhiredis.so." HEARTH_TEXT(HIREDIS_SONAME)};
  Result<DynamicLibrary> library = DynamicLibrary::Open(kNames);
  if (!library.ok()) return library.status().Within("a cache server needs hiredis");
  HiredisApi api;
#define HEARTH_FIND(name)                                                        \
  if (api.name = library->Symbol<decltype(&::name)>(#name); api.name == nullptr) \
    return Error(StatusCode::kUnavailable, "this hiredis lacks {}: update it", #name);
  HEARTH_HIREDIS_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  library->Leak();
  return api;
}

}  // namespace

Result<const HiredisApi*> LoadHiredis() {
  static const Result<HiredisApi> loaded = LoadOnce();
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

}  // namespace hearth
#endif
