// Processes that die while a driver uses a cache entry.
#ifndef HEARTH_TESTS_TESTING_CACHE_CRASH_H_
#define HEARTH_TESTS_TESTING_CACHE_CRASH_H_

#include <csignal>
#include <vector>

#include "tests/testing/cache_folder.h"

namespace hearth::testing {

// Makes a process die while it uses the blob.
inline void DieUsing(const OpenOptions& options, const CacheKey& key) {
  const pid_t child = StartProcess([&] {
    const auto store = StoreCache::Open(options);
    if (!store.ok() || !(*store)->Get(key)) return 1;
    (*store)->BeginUse(NumberedKey(1000));
    (*store)->BeginUse(key);
    (*store)->EndUse(NumberedKey(1000));
    ::raise(SIGKILL);
    return 2;
  });
  ASSERT_EQ(WaitFor(child), 128 + SIGKILL);
}

// Makes three processes die with the blob, so that it is no longer accepted.
inline void Bar(const CacheFolder& folder, const CacheKey& key, const std::vector<std::byte>& bytes) {
  for (int crash = 0; crash < 3; ++crash) {
    PutOne(*folder.Open(), key, bytes);
    DieUsing(folder.options(), key);
  }
  folder.Open().reset();
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_CACHE_CRASH_H_
