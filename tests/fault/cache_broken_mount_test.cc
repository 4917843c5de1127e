// A cache on a mount whose calls fail for good, as those of FUSE and NFS do once their server is gone.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "cache/desk/reports.h"
#include "cache/files/folder.h"
#include "core/base/sanitizer.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/refused_calls.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::RefuseCalls;
using testing::RefusedCall;
using testing::StartProcess;
using testing::StoreCache;
using testing::WaitFor;

struct NamedCall {
  const char* name;
  int number;
};
constexpr NamedCall kCalls[] = {
    {"openat", __NR_openat},       {"newfstatat", __NR_newfstatat}, {"fstat", __NR_fstat},
    {"flock", __NR_flock},         {"fcntl", __NR_fcntl},           {"pread64", __NR_pread64},
    {"pwrite64", __NR_pwrite64},   {"write", __NR_write},           {"ftruncate", __NR_ftruncate},
    {"fdatasync", __NR_fdatasync}, {"fsync", __NR_fsync},           {"getdents64", __NR_getdents64},
    {"statfs", __NR_statfs},       {"unlinkat", __NR_unlinkat},     {"mkdirat", __NR_mkdirat},
    {"linkat", __NR_linkat},       {"lseek", __NR_lseek},           {"fchmod", __NR_fchmod},
#ifdef __x86_64__
    {"unlink", __NR_unlink},       {"mkdir", __NR_mkdir},           {"rename", __NR_rename},
    {"access", __NR_access},       {"chmod", __NR_chmod},
#endif
};
// Not EINTR: sqlite repeats what was interrupted, without end.
constexpr int kErrors[] = {EIO, ESTALE, ENOSPC, EACCES, ENOENT, EMFILE};
enum class From : uint8_t { kBeforeOpening, kAfterOpening };

// What a start does with its cache. It ends itself if it takes far longer than its waits allow.
int UseCache(const CacheFolder& folder, From from, const RefusedCall& call) {
  constexpr unsigned kMostSeconds = 20;
  ::alarm(kMostSeconds);
  SessionWaits waits(20, 20);
  StoreOptions options = folder.options();
  options.waits = &waits;
  const auto refuse = [&](From now) { return now != from || RefuseCalls({&call, 1}); };
  if (!refuse(From::kBeforeOpening)) return testing::kNotAllowed;
  const auto made = PrepareFolder(folder.path() / "a" / "b", FolderUse::kCreate);
  if (made.status().ok() != made.status().message().empty()) return 1;
  const auto cache = StoreCache::Open(options);
  if (!refuse(From::kAfterOpening)) return testing::kNotAllowed;
  if (!cache.ok()) return cache.status().message().empty() ? 2 : 0;
  const auto found = (*cache)->Get(NumberedKey(0));
  if (found && found != NumberedBlob(0, 40000)) return 3;
  const MakingTurn turn = (*cache)->TakeTurn(NumberedKey(1));
  (*cache)->BeginUse(NumberedKey(0));
  (*cache)->EndUse(NumberedKey(0));
  PutOne(**cache, NumberedKey(1), NumberedBlob(1, 40000));
  return 0;
}

TEST(CacheOnABrokenMount, ACallThatFailsForGoodEndsNoStartAndHoldsNoneUp) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(0), NumberedBlob(0, 40000));
  for (const NamedCall& call : kCalls) {
    if (kHasSanitizer && call.number == __NR_write) continue;  // a sanitizer ends a process that it can't write for
    for (const int error : kErrors) {
      for (const From from : {From::kBeforeOpening, From::kAfterOpening}) {
        const int exit_code = WaitFor(StartProcess([&] {
          return UseCache(folder, from, RefusedCall{call.number, error});
        }));
        SKIP_WHERE_FORBIDDEN(exit_code);
        EXPECT_EQ(exit_code, 0) << call.name << " " << error << (from == From::kAfterOpening ? " once open" : "");
      }
    }
    EXPECT_TRUE(VerifyStore(folder.path(), false)->clean()) << call.name;
    EXPECT_EQ(folder.Open()->Get(NumberedKey(0)), NumberedBlob(0, 40000)) << call.name;
  }
}

}  // namespace
}  // namespace hearth
