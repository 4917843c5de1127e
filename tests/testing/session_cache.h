// A session's cache over a store that a test gives.
#ifndef HEARTH_TESTS_TESTING_SESSION_CACHE_H_
#define HEARTH_TESTS_TESTING_SESSION_CACHE_H_

#include <memory>
#include <utility>

#include "runtime/session/session_store.h"

namespace hearth::testing {

// Null for no store.
inline std::shared_ptr<SessionCache> CacheOf(std::shared_ptr<ResultCache> store) {
  if (store == nullptr) return nullptr;
  auto cache = std::make_shared<SessionCache>();
  cache->store = std::move(store);
  return cache;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SESSION_CACHE_H_
