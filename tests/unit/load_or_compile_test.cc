// Which of its two cached forms a program is made from, and when it is compiled.
#include "hal/load_or_compile.h"

#include <gtest/gtest.h>

#include "backends/null/device.h"
#include "core/emit/kernel_library.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::CallFault;
using testing::FailingDevice;
using testing::MemoryStore;

// One start on a device with this driver; programs made from source and loaded, in that order.
std::pair<int64_t, int64_t> StartOnce(const std::string& driver, const std::string& compiler, MemoryStore& store) {
  NullDevice null_device(NullDeviceInfo());
  DeviceInfo info = NullDeviceInfo();
  info.driver_version = driver;
  CallFault fault;
  FailingDevice device(null_device, fault, info, compiler);
  const std::vector<KernelSource> sources = {*LoadKernel("softmax"), *LoadKernel("probe_read")};
  auto programs = LoadOrCompile(device, sources, &store, 2);
  EXPECT_TRUE(programs.ok());
  EXPECT_TRUE(StoreFreshPrograms(*programs, store).empty());
  return {null_device.counts().programs_compiled, null_device.counts().programs_loaded};
}

using Counts = std::pair<int64_t, int64_t>;

TEST(LoadOrCompile, ADriverUpdateCostsOnlyTheNativeForm) {
  MemoryStore store;
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), Counts(2, 0));
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), Counts(0, 2));
  const size_t entries = store.entries().size();
  EXPECT_EQ(StartOnce("1.1", "compiler 1", store), Counts(0, 2));
  EXPECT_EQ(store.entries().size(), entries + entries / 2) << "the portable form is stored once";
  EXPECT_EQ(StartOnce("1.1", "compiler 2", store), Counts(0, 2)) << "a fitting binary needs no compiler";
  EXPECT_EQ(StartOnce("1.2", "compiler 2", store), Counts(2, 0)) << "another compiler's text is not taken";
}

TEST(LoadOrCompile, WithoutAPortableFormADriverUpdateCompilesAgain) {
  MemoryStore store;
  EXPECT_EQ(StartOnce("1.0", "", store), Counts(2, 0));
  EXPECT_EQ(StartOnce("1.0", "", store), Counts(0, 2));
  EXPECT_EQ(StartOnce("1.1", "", store), Counts(2, 0));
}

TEST(LoadOrCompile, APortableFormThatTheDriverRefusesIsRejectedAndCompiled) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  for (auto& [digest, entry] : store.entries()) entry.bytes.push_back(std::byte{0});
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), Counts(2, 0));
  EXPECT_EQ(store.counters().rejected, 4u) << "both forms of two programs";
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), Counts(0, 2));
}

}  // namespace
}  // namespace hearth
