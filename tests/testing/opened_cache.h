// A cache that was opened as sessions do it, whose entries tests read and write by key.
#ifndef HEARTH_TESTS_TESTING_OPENED_CACHE_H_
#define HEARTH_TESTS_TESTING_OPENED_CACHE_H_

#include <memory>
#include <utility>

#include "runtime/plans/open_cache.h"
#include "tests/testing/test_cache.h"

namespace hearth::testing {

struct OpenedTestCache {
  explicit OpenedTestCache(const SessionOptions& options)
      : store(std::make_unique<TestCache>(OpenCacheParts(options, nullptr, {}, opened))), warnings(opened.warnings) {}
  OpenedCache opened;  // all but its store
  std::unique_ptr<TestCache> store;
  std::vector<std::string> warnings;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_OPENED_CACHE_H_
