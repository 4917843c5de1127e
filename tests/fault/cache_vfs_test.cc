// The Nth call below sqlite fails, N = 1, 2, ... until nothing fails any more: the session gets right bytes or none, no
// matter which call it was, and the next session finds a sound store.
#include "cache/desk/reports.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/failing_vfs.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::FailingVfs;
using testing::FaultKind;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

constexpr int kReadEntries = 4;
constexpr size_t kReadBlobBytes = 5000;

// Reads all, writes some over the budget, so that others are evicted, and closes. False: wrong bytes came out.
bool UseStore(StoreOptions options) {
  SessionWaits waits(0);
  options.waits = &waits;
  const auto store = testing::StoreCache::Open(options);
  if (!store.ok()) return !store.status().message().empty();  // no cache in this session, and it says why
  bool is_right = true;
  const auto look = [&](int number) {
    const auto found = (*store)->Get(NumberedKey(number));
    is_right &= !found || *found == NumberedBlob(number, kReadBlobBytes);
  };
  for (int number = 0; number < kReadEntries; ++number) look(number);
  for (int number = kReadEntries; number < 2 * kReadEntries; ++number) {
    PutOne(**store, NumberedKey(number), NumberedBlob(number, kReadBlobBytes));
    look(number);
  }
  (*store)->Reject(NumberedKey(0), "test");
  (*store)->Flush();
  return is_right;
}

class CacheVfs : public ::testing::TestWithParam<std::tuple<FaultKind, bool, bool>> {};

TEST_P(CacheVfs, WhicheverCallFailsTheBytesAreRightAndTheNextSessionIsSound) {
  const auto [kind, lasts, has_log] = GetParam();
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.page_size_bytes = 1024;
  options.allow_write_ahead_log = has_log;
  options.max_bytes = 60000;  // about eight entries with what surrounds them
  options.stamp_age_ms = 0;
  for (int number = 0; number < kReadEntries; ++number) {
    PutOne(*CacheFolder::Open(options), NumberedKey(number), NumberedBlob(number, kReadBlobBytes));
  }
  const std::string sound = testing::ReadFile(folder.file());
  FailingVfs vfs;
  int n = 1, failures = 1;
  for (; failures > 0; ++n) {
    ASSERT_LT(n, 3000) << "it never ends";
    for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
    testing::WriteFile(folder.file(), sound);
    vfs.Arm(kind, n, lasts);
    const bool is_right = UseStore(options);
    failures = vfs.Disarm();
    ASSERT_TRUE(is_right) << "wrong bytes with call " << n;
    // Opening heals what is to be healed.
    const auto store = CacheFolder::Open(options);
    ASSERT_NE(store, nullptr) << n;
    PutOne(*store, NumberedKey(100), NumberedBlob(100, kReadBlobBytes));
    ASSERT_EQ(store->Get(NumberedKey(100)), NumberedBlob(100, kReadBlobBytes)) << "call " << n;
    const auto report = VerifyStore(folder.path(), false);
    ASSERT_TRUE(report.ok()) << n << ": " << report.status().message();
    ASSERT_TRUE(report->clean()) << "call " << n << ": " << report->damages[0].what;
  }
  RecordProperty("calls", n);
  EXPECT_GT(n, 3) << "nothing was made to fail";
}

TEST(CacheVfsOnce, AReadThatFailsOnceLosesNothingOfASoundStore) {
  const CacheFolder folder;
  for (int number = 0; number < kReadEntries; ++number) {
    PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, kReadBlobBytes));
  }
  FailingVfs vfs;
  int n = 1, failures = 1;
  for (; failures > 0; ++n) {
    vfs.Arm(FaultKind::kMisread, n, false);
    {
      const auto store = testing::StoreCache::Open(folder.options());
      for (int number = 0; store.ok() && number < kReadEntries; ++number) {
        EXPECT_TRUE((*store)->Get(NumberedKey(number))) << "call " << n << ", entry " << number;
      }
    }
    failures = vfs.Disarm();
    ASSERT_FALSE(fs::exists(folder.file().string() + ".damaged")) << "call " << n;
    ASSERT_EQ(ListEntries(folder.path())->size(), static_cast<size_t>(kReadEntries)) << "call " << n;
  }
  EXPECT_GT(n, 3) << "nothing was made to fail";
}

TEST(CacheVfsOnce, RepairReadsAgainBeforeItMovesAFileAside) {
  const CacheFolder folder;
  for (int number = 0; number < kReadEntries; ++number) {
    PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, kReadBlobBytes));
  }
  FailingVfs vfs;
  int failures = 1;
  for (int n = 1; failures > 0; ++n) {
    vfs.Arm(FaultKind::kMisread, n, false);
    static_cast<void>(VerifyStore(folder.path(), true));
    failures = vfs.Disarm();
    ASSERT_FALSE(fs::exists(folder.file().string() + ".damaged")) << "call " << n;
    ASSERT_EQ(ListEntries(folder.path())->size(), static_cast<size_t>(kReadEntries)) << "call " << n;
  }
}

TEST(CacheVfsOnce, AFileThatTakesTheStoresPlaceBetweenCheckAndOpeningIsRefused) {
  const CacheFolder folder, stranger;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, kReadBlobBytes));
  PutOne(*stranger.Open(), NumberedKey(2), NumberedBlob(2, kReadBlobBytes));
  FailingVfs vfs;
  vfs.BeforeOpening([&] { fs::rename(stranger.file(), folder.file()); });
  const auto store = testing::StoreCache::Open(folder.options());
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.status().message().find("replaced"), std::string::npos) << store.status().message();
}

TEST(CacheVfsOnce, AWriteBeyondTheUsersQuotaSaysSo) {
  const CacheFolder folder, empty;
  FailingVfs vfs;
  const auto store = folder.Open();
  vfs.Arm(FaultKind::kQuota, 1, true);
  const auto made = testing::StoreCache::Open(empty.options());
  EXPECT_EQ(made.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(made.status().message().find("quota"), std::string::npos) << made.status().message();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, kReadBlobBytes));
  store->Flush();
  const std::vector<std::string> warnings = store->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("quota"), std::string::npos) << warnings[0];
  EXPECT_GT(vfs.Disarm(), 0);
}

std::string NameOf(const ::testing::TestParamInfo<CacheVfs::ParamType>& info) {
  const auto [kind, lasts, has_log] = info.param;
  const char* const names[] = {"IoError", "DiskFull", "FileTooBig", "Misread", "CantOpen", "Locked"};
  return fmt::format("{}{}{}", names[static_cast<int>(kind)], lasts ? "Lasting" : "Once", has_log ? "Wal" : "Journal");
}

INSTANTIATE_TEST_SUITE_P(Faults, CacheVfs,
                         ::testing::Combine(::testing::Values(FaultKind::kIoError, FaultKind::kDiskFull,
                                                              FaultKind::kFileTooBig, FaultKind::kMisread,
                                                              FaultKind::kCantOpen, FaultKind::kLocked),
                                            ::testing::Bool(), ::testing::Bool()),
                         NameOf);

}  // namespace
}  // namespace hearth
