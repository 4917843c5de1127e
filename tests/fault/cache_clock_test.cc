// Clocks that jump, between the starts and during them. A clock that jumps by so much is a store whose stamps lie so
// far away: the stamps are moved instead.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/store/entry_row.h"
#include "cache/store/making_claim.h"
#include "runtime/plans/open_cache.h"
#include "tests/testing/cache_crash.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::Bar;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StartProcess;
using testing::WaitFor;

constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1000;
constexpr int64_t kYearMs = 365 * kDayMs;

// The clock goes on by so much, or back. Two minus signs would begin a comment.
void Jump(const CacheFolder& folder, int64_t by_ms) {
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok());
  WaitBudget waits(5000);
  database->SetWaits(&waits);
  const std::string moved = fmt::format(
      "UPDATE entries SET created_ms=created_ms-({0}), last_used_ms=last_used_ms-({0});"
      "UPDATE quarantine SET since_ms=since_ms-({0}); UPDATE models SET last_used_ms=last_used_ms-({0});"
      "UPDATE counters SET value=value-({0}) WHERE name='latest_ms'",
      by_ms);
  const Status status = database->Run(moved);
  ASSERT_TRUE(status.ok()) << status.message();
}

// The stamps that a clock without bounds leaves.
void SetAllStamps(const CacheFolder& folder, int64_t time_ms) {
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok());
  WaitBudget waits(5000);
  database->SetWaits(&waits);
  const Status status = database->Run(
      fmt::format("UPDATE entries SET created_ms={0}, last_used_ms={0}; UPDATE quarantine SET since_ms={0};"
                  "UPDATE counters SET value={0} WHERE name='latest_ms'",
                  time_ms));
  ASSERT_TRUE(status.ok()) << status.message();
}

constexpr int64_t kFirstTime = std::numeric_limits<int64_t>::min(), kLastTime = std::numeric_limits<int64_t>::max();

bool IsTakenBack(const CacheFolder& folder) {
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  return folder.Open()->Get(NumberedKey(1)).has_value();
}

bool SaysThatTheClockIsBehind(const CacheFolder& folder) {
  const auto findings = ExamineCache(folder.path(), uint64_t{1} << 30);
  return std::ranges::any_of(findings, [](const CacheFinding& finding) {
    return finding.is_trouble && finding.what.find("the cache has seen") != std::string::npos;
  });
}

// As on a board without a battery, which starts in 1970 each time.
TEST(CacheClock, SetBackLiftsNoQuarantineAndNoneLastsUntilItHasCaughtUp) {
  for (const int64_t by_ms : {kDayMs, 8 * kDayMs, 50 * kYearMs}) {
    const CacheFolder folder;
    Bar(folder, NumberedKey(1), NumberedBlob(1, 100));
    Jump(folder, -by_ms);
    EXPECT_FALSE(IsTakenBack(folder)) << by_ms;
    const auto records = ListQuarantine(folder.path());
    ASSERT_TRUE(records.ok() && records->size() == 1) << by_ms;
    EXPECT_LE((*records)[0].until_ms, NowMs() + 7 * kDayMs);
    Jump(folder, 7 * kDayMs + 1);
    EXPECT_TRUE(IsTakenBack(folder)) << by_ms;
  }
}

TEST(CacheClock, SetForwardEndsAQuarantineAndNothingElse) {
  const CacheFolder folder;
  Bar(folder, NumberedKey(1), NumberedBlob(1, 100));
  PutOne(*folder.Open(), NumberedKey(2), NumberedBlob(2, 100));
  Jump(folder, kYearMs);
  EXPECT_TRUE(IsTakenBack(folder));
  EXPECT_EQ(folder.Open()->Get(NumberedKey(2)), NumberedBlob(2, 100));
}

TEST(CacheClock, JumpsDuringASessionThatGoesOn) {
  for (const int64_t by_ms : {-50 * kYearMs, -kDayMs, kDayMs, 50 * kYearMs}) {
    const CacheFolder folder;
    {
      const auto session = folder.Open();
      PutOne(*session, NumberedKey(1), NumberedBlob(1, 1000));
      Jump(folder, by_ms);
      EXPECT_EQ(session->Get(NumberedKey(1)), NumberedBlob(1, 1000)) << by_ms;
      PutOne(*session, NumberedKey(2), NumberedBlob(2, 1000));
      EXPECT_TRUE(session->TakeWarnings().empty()) << by_ms;
    }
    const auto next = folder.Open();
    for (const int number : {1, 2}) EXPECT_EQ(next->Get(NumberedKey(number)), NumberedBlob(number, 1000)) << by_ms;
    EXPECT_TRUE(VerifyStore(folder.path(), false)->clean()) << by_ms;
    const auto entries = ListEntries(folder.path()).value();
    for (const CacheEntry& entry : entries) {
      EXPECT_LE(entry.last_used_ms, NowMs() + kDayMs) << by_ms;
    }
  }
}

// 64 bits hold nanoseconds from 1677 to 2262.
TEST(CacheClock, ThatIsBefore1970OrAfter2262IsReadAsItIs) {
  EXPECT_EQ(TimeMs({0, 999'999}), 0);
  EXPECT_EQ(TimeMs({-1, 500'000'000}), -500);
  EXPECT_EQ(TimeMs({-20'000'000'000, 0}), -20'000'000'000'000);
  EXPECT_EQ(TimeMs({9'223'372'037, 1'000'000}), 9'223'372'037'001);
  EXPECT_EQ(TimeMs({253'402'300'800, 0}), 253'402'300'800'000) << "the year 10000";
}

TEST(CacheClock, EndsWhereAMillionYearsMoreStillFit) {
  for (const std::time_t last : {kFirstTime, kFirstTime + 1, -kMostTimeMs, kMostTimeMs, kLastTime}) {
    const int64_t time_ms = TimeMs({last, 999'999'999});
    EXPECT_TRUE(last < 0 ? time_ms < -kMostTimeMs + 2000 : time_ms > kMostTimeMs - 2000) << last;
    EXPECT_LE(std::abs(time_ms), kMostTimeMs) << last;
    EXPECT_LT(kMostTimeMs, kLastTime - 1'000'000 * kYearMs);
  }
  EXPECT_LT(std::abs(NowMs() / 1000 - std::time(nullptr)), 10);
}

// By a broken clock, or by somebody who may write to the store.
TEST(CacheClock, StampsAtTheEndsOf64BitsAreOldAndNewOnes) {
  for (const int64_t time_ms : {kFirstTime, kLastTime}) {
    const CacheFolder folder;
    Bar(folder, NumberedKey(1), NumberedBlob(1, 100));
    PutOne(*folder.Open(), NumberedKey(2), NumberedBlob(2, 100));
    SetAllStamps(folder, time_ms);
    EXPECT_EQ(SaysThatTheClockIsBehind(folder), time_ms == kLastTime);
    EXPECT_EQ(folder.Open()->Get(NumberedKey(2)), NumberedBlob(2, 100)) << time_ms;
    const auto entries = ListEntries(folder.path()).value();
    ASSERT_EQ(entries.size(), 1u) << time_ms;
    EXPECT_LT(std::abs(entries[0].last_used_ms - NowMs()), kDayMs) << time_ms << ": the next use is known";
    EXPECT_EQ(IsTakenBack(folder), time_ms == kFirstTime) << "a week has passed, or begins";
    ASSERT_TRUE(PruneStore(folder.path(), 0).ok()) << time_ms;
    EXPECT_TRUE(ListEntries(folder.path())->empty()) << time_ms;
  }
}

TEST(CacheClock, ThatWasAheadKeepsNoStoreOfAnotherFormatFromBeingCleared) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  for (const std::time_t written : {std::time_t{0}, static_cast<std::time_t>((NowMs() + 50 * kYearMs) / 1000),
                                    std::time_t{kLastTime}, std::time_t{kFirstTime}}) {
    const fs::path older = folder.path() / "hearth-1.db";
    testing::WriteFile(older, "x");
    const std::array<timespec, 2> times{timespec{written, 0}, timespec{written, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, older.c_str(), times.data(), 0), 0);
    ASSERT_TRUE(ClearStore(folder.path()).ok());
    EXPECT_FALSE(fs::exists(older)) << written;
  }
}

// What was used last stays, whatever the clock was then.
TEST(CacheClock, SetBackKeepsNoEntryFromBeingEvicted) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 600'000;
  for (int number = 0; number < 5; ++number) {
    PutOne(*CacheFolder::Open(options), NumberedKey(number), NumberedBlob(number, 40'000));
  }
  Jump(folder, -50 * kYearMs);
  for (int number = 10; number < 30; ++number) {
    const auto store = CacheFolder::Open(options);
    PutOne(*store, NumberedKey(number), NumberedBlob(number, 40'000));
    EXPECT_EQ(store->counters().put_errors, 0u) << number;
  }
  const auto store = CacheFolder::Open(options);
  EXPECT_TRUE(store->Get(NumberedKey(29)));
  EXPECT_FALSE(store->Get(NumberedKey(0)));
}

// A bundle of one program that can be imported so long, and was made then.
struct ExpiringBundle {
  ExpiringBundle(const std::optional<SigningKey>& key, int64_t expires_ms, int64_t made_ms) {
    PutOne(*source.Open(), NumberedKey(1), NumberedBlob(1, 100));
    ExportRequest request{source.path(), file, {}, key, "1"};
    request.made_ms = made_ms;
    request.expires_ms = expires_ms;
    const auto exported = ExportBundle(request);
    EXPECT_TRUE(exported.ok()) << exported.status().message();
  }
  Status ImportInto(const CacheFolder& folder, const std::vector<PublicKey>& keys) const {
    ImportRequest request;
    request.bundle = file;
    request.store = folder.path();
    request.trusted_keys = keys;
    request.is_trusted = keys.empty();
    return ImportBundle(request).status();
  }

  CacheFolder source, parent;
  fs::path file = parent.path() / "bundle.tar";
};

SigningKey OneKey() {
  SigningKey key;
  key.seed.fill(1);
  return key;
}

TEST(CacheClock, SetBackMakesNoExpiredBundleUsableAgain) {
  const CacheFolder folder;
  const ExpiringBundle bundle(std::nullopt, NowMs() + kDayMs, NowMs());
  EXPECT_TRUE(bundle.ImportInto(folder, {}).ok());
  EXPECT_FALSE(SaysThatTheClockIsBehind(folder));
  Jump(folder, -2 * kDayMs);
  EXPECT_NE(bundle.ImportInto(folder, {}).message().find("set the clock"), std::string::npos);
  EXPECT_TRUE(SaysThatTheClockIsBehind(folder));
  const CacheFolder other;
  for (const bool is_other : {false, true}) {
    const SessionOptions session{.cache_folder = (is_other ? other : folder).path().string(),
                                 .cache_layers = {bundle.file.string()},
                                 .trust_cache_layers = true};
    EXPECT_EQ(OpenCache(session).warnings.empty(), is_other);
  }
}

// The clock was wrong when it was far ahead.
TEST(CacheClock, ThatWasFarAheadOnceIsForgottenByClear) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(2), NumberedBlob(2, 100));
  Jump(folder, -50 * kYearMs);
  PutOne(*folder.Open(), NumberedKey(3), NumberedBlob(3, 100));
  const ExpiringBundle bundle(std::nullopt, NowMs() + kDayMs, NowMs());
  EXPECT_FALSE(bundle.ImportInto(folder, {}).ok());
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  EXPECT_FALSE(SaysThatTheClockIsBehind(folder));
  const Status imported = bundle.ImportInto(folder, {});
  EXPECT_TRUE(imported.ok()) << imported.message();
}

TEST(CacheClock, IsBehindWhatATrustedKeySignedAndNotBehindWhatOthersWrote) {
  if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
  const std::vector<PublicKey> keys = {*PublicKeyOf(OneKey())};
  const ExpiringBundle older(OneKey(), NowMs() + 5 * kDayMs, NowMs());
  for (const bool is_signed : {true, false}) {
    const CacheFolder folder;
    const auto key = is_signed ? std::optional(OneKey()) : std::nullopt;
    const ExpiringBundle newer(key, NowMs() + 20 * kDayMs, NowMs() + 10 * kDayMs);
    ASSERT_TRUE(newer.ImportInto(folder, is_signed ? keys : std::vector<PublicKey>()).ok());
    EXPECT_EQ(older.ImportInto(folder, keys).ok(), !is_signed);
  }
}

// A claim is timed by its file.
TEST(CacheClock, JumpsWhileOthersMakeAProgramAndNobodyWaitsForThem) {
  const std::time_t now_s = std::time(nullptr), long_s = 50 * kYearMs / 1000;
  for (const std::time_t made_s : {now_s - long_s, now_s - 3600, now_s + 3600, now_s + long_s, kFirstTime, kLastTime}) {
    const CacheFolder folder;
    const auto store = folder.Open();
    PutOne(*store, NumberedKey(2), NumberedBlob(2, 100), 10'000);  // what such an entry costs
    const MakingTurn maker = store->TakeTurn(NumberedKey(1));
    ASSERT_NE(maker.claim, nullptr);
    const pid_t child = StartProcess([&] {
      const auto other = folder.Open();
      const auto file = folder.path() / ("making-" + NumberedKey(1).digest().ToHex());
      const std::array<timespec, 2> times{timespec{made_s, 0}, timespec{made_s, 0}};
      if (::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) != 0) return 2;
      const MakingTurn turn = other->TakeTurn(NumberedKey(1));
      return turn.claim == nullptr && !turn.has_waited ? 0 : 3;
    });
    EXPECT_EQ(WaitFor(child), 0) << made_s;
  }
}

// Its manifest could not be read, and the bundle not be imported, where it told a negative time.
TEST(CacheClock, BeforeOrAt1970MakesBundlesThatCanBeImported) {
  for (const int64_t made_ms : {kFirstTime, int64_t{-1}, int64_t{0}, int64_t{1}}) {
    const CacheFolder folder;
    const ExpiringBundle bundle(std::nullopt, NowMs() + kDayMs, made_ms);
    const Status imported = bundle.ImportInto(folder, {});
    EXPECT_TRUE(imported.ok()) << made_ms << ": " << imported.message();
  }
  const CacheFolder source, parent;
  ExportRequest request{source.path(), parent.path() / "bundle.tar", {}, {}, "1"};
  request.made_ms = -2 * kDayMs;
  request.expires_ms = -kDayMs;
  EXPECT_EQ(ExportBundle(request).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(request.bundle));
}

}  // namespace
}  // namespace hearth
