// Clocks that jump, between the starts and during them. A clock that jumps by so much is a store whose stamps lie so
// far away: the stamps are moved instead.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>

#include "cache/database.h"
#include "cache/entry_row.h"
#include "cache/making_claim.h"
#include "cache/reports.h"
#include "tests/testing/cache_crash.h"

namespace hearth {
namespace {

using testing::Bar;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StartProcess;
using testing::WaitFor;

constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1000;
constexpr int64_t kYearMs = 365 * kDayMs;

// The clock goes on by so much, or back.
void Jump(const CacheFolder& folder, int64_t by_ms) {
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok());
  WaitBudget waits(5000);
  database->SetWaits(&waits);
  const std::string moved = fmt::format(
      "UPDATE entries SET created_ms=created_ms-{0}, last_used_ms=last_used_ms-{0};"
      "UPDATE quarantine SET since_ms=since_ms-{0}; UPDATE models SET last_used_ms=last_used_ms-{0}",
      by_ms);
  const Status status = database->Run(moved);
  ASSERT_TRUE(status.ok()) << status.message();
}

bool IsTakenBack(const CacheFolder& folder) {
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  return folder.Open()->Get(NumberedKey(1)).has_value();
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

// A claim is timed by its file.
TEST(CacheClock, JumpsWhileOthersMakeAProgramAndNobodyWaitsForThem) {
  for (const int64_t by_s : {-50 * kYearMs / 1000, int64_t{-3600}, int64_t{3600}, 50 * kYearMs / 1000}) {
    const CacheFolder folder;
    SessionWaits waits(10'000);
    MakingClaims claims(folder.path(), waits.makers);
    const MakingTurn maker = claims.Take(NumberedKey(1).digest(), [] { return 10'000.0; });
    ASSERT_NE(maker.claim, nullptr);
    const pid_t child = StartProcess([&] {
      SessionWaits own(10'000);
      MakingClaims others(folder.path(), own.makers);
      const auto file = folder.path() / ("making-" + NumberedKey(1).digest().ToHex());
      struct stat info;
      if (::stat(file.c_str(), &info) != 0) return 1;
      const timespec moved{info.st_mtim.tv_sec - by_s, 0};
      const std::array<timespec, 2> times{moved, moved};
      if (::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) != 0) return 2;
      const MakingTurn turn = others.Take(NumberedKey(1).digest(), [] { return 10'000.0; });
      return turn.claim == nullptr && !turn.has_waited ? 0 : 3;
    });
    EXPECT_EQ(WaitFor(child), 0) << by_s;
  }
}

}  // namespace
}  // namespace hearth
