#include "core/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/testing/cache_folder.h"
#include "tests/testing/opened_cache.h"

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

// What goes to standard error without a sink.
std::string Said(LogLevel level, const char* environment) {
  if (environment == nullptr) {
    unsetenv("HEARTH_LOG");
  } else {
    setenv("HEARTH_LOG", environment, 1);
  }
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Log(level, "x"), IsLogged(level));
  unsetenv("HEARTH_LOG");
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, WarningsGoToStandardErrorWithoutASink) {
  EXPECT_EQ(Said(LogLevel::kInfo, nullptr), "");
  EXPECT_EQ(Said(LogLevel::kWarning, nullptr), "hearth: warning: x\n");
  EXPECT_EQ(Said(LogLevel::kError, nullptr), "hearth: error: x\n");
}

TEST(Log, TheEnvironmentSaysAnotherLevel) {
  EXPECT_EQ(Said(LogLevel::kDebug, "debug"), "hearth: debug: x\n");
  EXPECT_EQ(Said(LogLevel::kDebug, "info"), "");
  EXPECT_EQ(Said(LogLevel::kWarning, "error"), "");
  EXPECT_EQ(Said(LogLevel::kError, "off"), "");
}

TEST(Log, AnUnknownLevelIsToldOnceAndCountsAsWarning) {
  const std::string first = Said(LogLevel::kWarning, "loud\x1b[31m");
  EXPECT_THAT(first, ::testing::HasSubstr("HEARTH_LOG is 'loud [31m'"));
  EXPECT_THAT(first, ::testing::EndsWith("hearth: warning: x\n"));
  EXPECT_EQ(Said(LogLevel::kInfo, "loud"), "");
  EXPECT_EQ(Said(LogLevel::kWarning, "loud"), "hearth: warning: x\n");
}

TEST(Log, ASinkThatThrowsLosesItsMessageAndNothingElse) {
  SetLogSink([](LogLevel, std::string_view) { throw std::runtime_error("full"); });
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(Log(LogLevel::kWarning, "x"));
  SetLogSink(nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "hearth: error: the log sink threw 'full' at: x\n");
}

TEST(Log, ASinkMaySetAnother) {
  std::string said;
  const std::string own(100, 'x');  // that the first sink holds
  SetLogSink([&said, own](LogLevel, std::string_view message) {
    SetLogSink([&said](LogLevel, std::string_view later) { said += later; });
    said += own;
    said += message;
  });
  Log(LogLevel::kInfo, "first");
  Log(LogLevel::kInfo, "second");
  SetLogSink(nullptr);
  EXPECT_EQ(said, own + "firstsecond");
}

TEST(Log, DetailsTellWhatTheCacheHad) {
  const CacheFolder folder;
  Listener listener;
  const testing::OpenedTestCache cache({.cache_folder = folder.path()});
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
