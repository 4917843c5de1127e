// A cache on a file system without locks, as NFS is without its lock service: each asks for one in vain.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <functional>

#include "cache/desk/reports.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/refused_calls.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

int WithoutLocks(const std::function<int()>& body) {
  constexpr testing::RefusedCall kLocks[] = {{__NR_flock, ENOLCK},
                                             {__NR_fcntl, ENOLCK, F_GETLK},
                                             {__NR_fcntl, ENOLCK, F_SETLK},
                                             {__NR_fcntl, ENOLCK, F_SETLKW}};
  return testing::WithRefusedCalls(kLocks, body);
}

TEST(CacheWithoutLocks, WhatItHoldsIsUsedAndNobodyWaits) {
  const CacheFolder folder;
  for (int number = 0; number < 3; ++number) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 40000));
  const int exit_code = WithoutLocks([&folder] {
    SessionWaits waits;
    StoreOptions options{.folder = folder.path(), .waits = &waits};
    const auto store = testing::StoreCache::Open(options);
    if (!store.ok()) return 1;
    for (int number = 0; number < 3; ++number) {
      if ((*store)->Get(NumberedKey(number)) != NumberedBlob(number, 40000)) return 2;
    }
    PutOne(**store, NumberedKey(7), NumberedBlob(7, 100));
    if ((*store)->counters().put_errors != 1) return 3;
    const auto warnings = (*store)->TakeWarnings();
    if (warnings.size() != 1 || warnings[0].find("has no locks") == std::string::npos) return 4;
    return waits.others.waited_ms() == 0 ? 0 : 5;
  });
  SKIP_WHERE_FORBIDDEN(exit_code);
  EXPECT_EQ(exit_code, 0);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheWithoutLocks, ANewOneIsRefusedAtOnceWithAWayOut) {
  const CacheFolder folder;
  const int exit_code = WithoutLocks([&folder] {
    for (int time = 0; time < 2; ++time) {
      SessionWaits waits;
      StoreOptions options{.folder = folder.path(), .waits = &waits};
      const Status status = testing::StoreCache::Open(options).status();
      if (status.message().find("without locks") == std::string::npos) return 1;
      if (status.message().find("--cache") == std::string::npos) return 2;
      if (waits.others.waited_ms() != 0) return 3;
    }
    return 0;
  });
  SKIP_WHERE_FORBIDDEN(exit_code);
  EXPECT_EQ(exit_code, 0);
}

TEST(CacheWithoutLocks, ReportsWorkAndWhatChangesSaysWhyNotAndClearingWorks) {
  const CacheFolder folder;
  for (int number = 0; number < 3; ++number) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 40000));
  const int exit_code = WithoutLocks([&folder] {
    if (ListEntries(folder.path())->size() != 3) return 1;
    if (!VerifyStore(folder.path(), false)->clean()) return 2;
    CacheFilter programs{.kind = "program"};
    for (const Status& status : {ClearStore(folder.path(), programs).status(), PruneStore(folder.path(), 1000).status(),
                                 LiftQuarantine(folder.path()).status(), SetPinned(folder.path(), "model", true)}) {
      if (status.message().find("without locks") == std::string::npos) return 3;
    }
    bool is_told = false;
    for (const CacheFinding& finding : ExamineCache(folder.path(), uint64_t{1} << 30)) {
      is_told |= finding.is_trouble && finding.what.find("without locks") != std::string::npos;
    }
    if (!is_told) return 4;
    if (ClearStore(folder.path())->entries != 3) return 5;
    return ListEntries(folder.path())->empty() ? 0 : 6;
  });
  SKIP_WHERE_FORBIDDEN(exit_code);
  EXPECT_EQ(exit_code, 0);
}

}  // namespace
}  // namespace hearth
