// The functions of hiredis that Hearth calls, found at run time: without the library only the shared server is missing.
#ifndef HEARTH_CACHE_HIREDIS_API_H_
#define HEARTH_CACHE_HIREDIS_API_H_

#include <hiredis/hiredis.h>

#include "hearth/status.h"

namespace hearth {

#define HEARTH_HIREDIS_FUNCTIONS(X) \
  X(redisConnectWithTimeout)        \
  X(redisSetTimeout)                \
  X(redisCommand)                   \
  X(freeReplyObject)                \
  X(redisFree)

struct HiredisApi {
#define HEARTH_DECLARE(name) decltype(&::name) name = nullptr;
  HEARTH_HIREDIS_FUNCTIONS(HEARTH_DECLARE)
#undef HEARTH_DECLARE
};

// The process's one table, opened at the first call and kept. kUnavailable, each time with the same message, where
// hiredis is not installed in the version that Hearth was built with. Threads: any.
Result<const HiredisApi*> LoadHiredis();

}  // namespace hearth

#endif  // HEARTH_CACHE_HIREDIS_API_H_
