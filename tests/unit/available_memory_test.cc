// What memory a process may still take, from fake files of the kernel; and that nobody asks for more than there is.
#include "backends/cpu/available_memory.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

class FakeKernel {
 public:
  FakeKernel() {
    Write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\nSwapTotal: 50 kB\nSwapFree: 10 kB\n");
  }
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void WriteGroups(const std::string& mounts, const std::string& group) const {
    Write("proc/self/mountinfo", mounts);
    Write("proc/self/cgroup", group);
  }
  std::optional<uint64_t> Available() const { return AvailableMemoryBytes(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

constexpr const char* kUnified = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kMemoryOfVersion1 = "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(AvailableMemory, IsNothingWhereNoFileTells) {
  EXPECT_EQ(AvailableMemoryBytes(TemporaryFolder().path()), std::nullopt);
}

TEST(AvailableMemory, IsWhatTheKernelCallsAvailableAndFreeSwapSpace) {
  EXPECT_EQ(FakeKernel().Available(), 1010 * 1024U);
}

TEST(AvailableMemory, OfAGroupOfVersion2IsWhatIsLeftBelowItsLimitWithoutPagesOfFiles) {
  const FakeKernel kernel;
  kernel.WriteGroups(kUnified, "0::/job\n");
  kernel.Write("sys/fs/cgroup/job/memory.max", "500000\n");
  kernel.Write("sys/fs/cgroup/job/memory.current", "300000\n");
  kernel.Write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 40000\nactive_file 60000\n");
  EXPECT_EQ(kernel.Available(), 300000U + 10 * 1024);
}

TEST(AvailableMemory, IsThatOfTheNarrowestGroupAroundTheProcess) {
  const FakeKernel kernel;
  kernel.WriteGroups(kUnified, "0::/a/b\n");
  kernel.Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  kernel.Write("sys/fs/cgroup/a/b/memory.current", "100\n");
  kernel.Write("sys/fs/cgroup/a/memory.max", "4096\n");
  kernel.Write("sys/fs/cgroup/a/memory.current", "8192\n");  // over it already
  EXPECT_EQ(kernel.Available(), 10 * 1024U);
}

TEST(AvailableMemory, KnowsGroupsOfVersion1) {
  const FakeKernel kernel;
  kernel.WriteGroups(kMemoryOfVersion1, "5:memory:/job\n");
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
