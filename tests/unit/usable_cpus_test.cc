// The number of CPUs that a process may use, from fake files of the kernel.
#include <gtest/gtest.h>

#include <thread>

#include "backends/cpu/host/process_limits.h"
#include "tests/testing/fake_kernel_files.h"
#include "tests/testing/pinned_thread.h"

namespace hearth {
namespace {

class FakeQuota : public FakeKernelFiles {
 public:
  std::optional<double> Quota() const { return CpuQuota(root()); }
};

constexpr const char* kMountOfCpu = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

TEST(CpuQuota, IsNothingWhereNoFileTellsOne) {
  EXPECT_EQ(FakeQuota().Quota(), std::nullopt);
}

TEST(CpuQuota, OfVersion2IsQuotaByPeriod) {
  const FakeQuota kernel;
  kernel.WriteGroups(kMountOfVersion2, "0::/job\n");
  kernel.Write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(kernel.Quota(), 1.5);
}

TEST(CpuQuota, OfVersion2WithoutLimitIsNothing) {
  const FakeQuota kernel;
  kernel.WriteGroups(kMountOfVersion2, "0::/job\n");
  kernel.Write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(kernel.Quota(), std::nullopt);
}

TEST(CpuQuota, IsTheSmallestOfAllGroupsAroundTheProcess) {
  const FakeQuota kernel;
  kernel.WriteGroups(kMountOfVersion2, "0::/a/b/c\n");
  kernel.Write("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  kernel.Write("sys/fs/cgroup/a/b/cpu.max", "20000 10000\n");
  kernel.Write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  kernel.Write("sys/fs/cgroup/other/cpu.max", "10000 100000\n");
  EXPECT_EQ(kernel.Quota(), 2.0);
}

TEST(CpuQuota, OfVersion1IsReadWhereItsControllerIsMounted) {
  const FakeQuota kernel;
  kernel.WriteGroups(std::string(kMountOfCpu) + "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
                     "9:memory:/elsewhere\n4:cpu,cpuacct:/box\n0::/\n");
  kernel.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
  kernel.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(kernel.Quota(), 0.5);
}

TEST(CpuQuota, OfVersion1WithoutLimitIsNothing) {
  const FakeQuota kernel;
  kernel.WriteGroups(kMountOfCpu, "4:cpu,cpuacct:/box\n");
  kernel.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  kernel.Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(kernel.Quota(), std::nullopt);
}

TEST(CpuQuota, OfBothVersionsIsTheSmaller) {
  const FakeQuota kernel;
  kernel.WriteGroups(std::string(kMountOfVersion2) + kMountOfCpu, "4:cpu,cpuacct:/\n0::/\n");
  kernel.Write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  kernel.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  kernel.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(kernel.Quota(), 3.0);
}

TEST(CpuQuota, OfAContainerIsReadAtTheMountWhoseRootIsItsGroup) {
  const FakeQuota kernel;
  kernel.WriteGroups("33 31 0:30 /docker/0123 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n",
                     "4:cpu:/docker/0123/inner\n");
  kernel.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  kernel.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(kernel.Quota(), 2.0);
}

TEST(CpuQuota, OfAGroupOutsideTheMountIsTheMountsOwn) {
  for (const char* group : {"0::/../../else\n", "0::/else\n"}) {
    const FakeQuota kernel;
    kernel.WriteGroups("29 23 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", group);
    kernel.Write("sys/fs/cgroup/cpu.max", "70000 100000\n");
    EXPECT_EQ(kernel.Quota(), 0.7) << group;
  }
}

TEST(CpuQuota, FindsMountPointsWithBlanksInTheirNames) {
  const FakeQuota kernel;
  kernel.WriteGroups("29 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n", "0::/job\n");
  kernel.Write("my groups/job/cpu.max", "100000 50000\n");
  EXPECT_EQ(kernel.Quota(), 2.0);
}

TEST(CpuQuota, DamagedFilesAreNoQuota) {
  const FakeQuota kernel;
  kernel.WriteGroups(std::string("- - -\n1 2 3\n\n29 23 0:26 / /sys rw - cgroup2\n") + kMountOfVersion2,
                     "0\n:::\n0::/job\n4:cpu\n");
  for (const char* text : {"", "a b\n", "100000\n", "100000 0\n", "-5 100000\n", "nan nan\n"}) {
    kernel.Write("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(kernel.Quota(), std::nullopt) << text;
  }
}

TEST(UsableCpus, AreNoMoreThanTheAffinityOfTheCallingThreadAllows) {
  std::thread([] {
    ASSERT_TRUE(testing::PinThisThreadToOneCpu());
    EXPECT_EQ(UsableCpus(), 1);
  }).join();
}

}  // namespace
}  // namespace hearth
