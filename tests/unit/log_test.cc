#include "core/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/engine/open_cache.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

// What is logged while it lives.
class Listener {
 public:
  Listener() {
    SetLogSink([this](LogLevel level, std::string_view message) {
      if (level == LogLevel::kDebug) details.emplace_back(message);
    });
  }
  ~Listener() { SetLogSink(nullptr); }
  std::vector<std::string> details;
};

TEST(Log, NobodyHearsAMessageWithoutASink) {
  EXPECT_FALSE(HasLogSink());
  EXPECT_FALSE(Log(LogLevel::kInfo, "unheard"));
}

TEST(Log, DetailsTellWhatTheCacheHad) {
  const CacheFolder folder;
  Listener listener;
  const OpenedCache cache = OpenCache({.folder = folder.path()});
  ASSERT_NE(cache.store, nullptr);
  EXPECT_FALSE(cache.store->Get(NumberedKey(1)));
  PutOne(*cache.store, NumberedKey(1), NumberedBlob(1, 300));
  EXPECT_TRUE(cache.store->Get(NumberedKey(1)));
  EXPECT_THAT(listener.details,
              ElementsAre(MatchesRegex("cache: miss [a-z-]+ [0-9a-f]+ of 0 bytes"),
                          MatchesRegex("cache: stored .* of 300 bytes"), MatchesRegex("cache: hit .* of 300 bytes")));
}

}  // namespace
}  // namespace hearth
