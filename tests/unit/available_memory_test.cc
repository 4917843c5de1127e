// What memory a process may still take, from fake files of the kernel; and that nobody asks for more than there is.
#include <gmock/gmock.h>

#include "backends/cpu/host/process_limits.h"
#include "tests/testing/fake_kernel_files.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

class FakeMemory : public FakeKernelFiles {
 public:
  FakeMemory() {
    Write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\nSwapTotal: 50 kB\nSwapFree: 10 kB\n");
  }
  std::optional<uint64_t> Available() const { return AvailableMemoryBytes(root()); }
};

constexpr const char* kMountOfMemory = "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(AvailableMemory, IsNothingWhereNoFileTells) {
  EXPECT_EQ(AvailableMemoryBytes(FakeKernelFiles().root()), std::nullopt);
}

TEST(AvailableMemory, IsWhatTheKernelCallsAvailableAndFreeSwapSpace) {
  EXPECT_EQ(FakeMemory().Available(), 1010 * 1024U);
}

TEST(AvailableMemory, OfAGroupOfVersion2IsWhatIsLeftBelowItsLimitWithoutPagesOfFiles) {
  const FakeMemory kernel;
  kernel.WriteGroups(kMountOfVersion2, "0::/job\n");
  kernel.Write("sys/fs/cgroup/job/memory.max", "500000\n");
  kernel.Write("sys/fs/cgroup/job/memory.current", "300000\n");
  kernel.Write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 40000\nactive_file 60000\n");
  EXPECT_EQ(kernel.Available(), 300000U + 10 * 1024);
}

TEST(AvailableMemory, IsThatOfTheNarrowestGroupAroundTheProcess) {
  const FakeMemory kernel;
  kernel.WriteGroups(kMountOfVersion2, "0::/a/b\n");
  kernel.Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  kernel.Write("sys/fs/cgroup/a/b/memory.current", "100\n");
  kernel.Write("sys/fs/cgroup/a/memory.max", "4096\n");
  kernel.Write("sys/fs/cgroup/a/memory.current", "8192\n");  // over it already
  EXPECT_EQ(kernel.Available(), 10 * 1024U);
}

TEST(AvailableMemory, KnowsGroupsOfVersion1) {
  const FakeMemory kernel;
  kernel.WriteGroups(kMountOfMemory, "5:memory:/job\n");
  kernel.Write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "500000\n");
  kernel.Write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "300000\n");
  kernel.Write("sys/fs/cgroup/memory/job/memory.stat",
               "inactive_file 7\ntotal_inactive_file 40000\ntotal_active_file 60000\n");
  EXPECT_EQ(kernel.Available(), 300000U + 10 * 1024);
}

TEST(AvailableMemory, MoreThanThereIsIsRefusedWithBothNumbers) {
  const std::optional<uint64_t> available = AvailableMemoryBytes();
  if (!available) GTEST_SKIP() << "this system does not tell how much memory is available";
  EXPECT_TRUE(CheckAvailableMemory(1, "one byte").ok());
  const Status status = CheckAvailableMemory(*available * 2, "the network's values");
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("the network's values need " + std::to_string(*available * 2) + " bytes"));
}

}  // namespace
}  // namespace hearth
