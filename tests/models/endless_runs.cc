// Programs that run for months: runs and reloads of a model must not make the process grow. Label `slow`.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/sanitizer.h"
#include "hearth/session.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/device_names.h"
#include "tests/testing/small_models.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

constexpr int kReloads = 100;
constexpr int kRunsOfAll = 1'000'000;
constexpr int kRunsInFlight = 4;  // one run in this many is submitted and waited for
constexpr int64_t kMostGrowth = 1'000'000;
// What drivers and allocators make once for each of their threads and sizes is there after this many.
constexpr int kWarmReloads = 10, kWarmRuns = 1000;

// HEARTH_RUNS shortens the test for a try.
int RunsOfAll() {
  const char* const wanted = std::getenv("HEARTH_RUNS");
  return wanted == nullptr ? kRunsOfAll : std::atoi(wanted);
}

// Files that are mapped, such as drivers, do not count: the system may drop their pages.
int64_t AnonymousBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kib = 0;
    if (word == "RssAnon:" && status >> kib) return kib * 1024;
  }
  return -1;
}

struct Memory {
  int64_t anonymous = AnonymousBytes();
  int64_t in_use = static_cast<int64_t>(::mallinfo2().uordblks);  // of malloc: tells a leak from a fragmented heap
};

class EndlessRuns : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (kHasSanitizer) GTEST_SKIP() << "a sanitizer keeps freed memory";
    if (const Status usable = ChooseDevices(GetParam()).status(); !usable.ok()) GTEST_SKIP() << usable.message();
    const std::vector<std::byte> bytes = ModelOfAllKinds();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  // Reads the model, opens the device, runs and closes both.
  Status RunReloaded(int runs) {
    HEARTH_ASSIGN(Session session, Session::Open(path_, {.device = GetParam(), .use_cache = false}));
    const std::vector<float> x = {1, 2, 3, 4};
    HEARTH_TRY(session.SetInput<float>(0, x));
    std::vector<float> first;
    for (int run = 0; run < runs; ++run) {
      if (run % kRunsInFlight == kRunsInFlight - 1) {
        HEARTH_ASSIGN(const Ticket ticket, session.Submit());
        HEARTH_TRY(session.Wait(ticket));
      } else {
        HEARTH_TRY(session.Run());
      }
      HEARTH_ASSIGN(const std::span<const float> y, session.output<float>(0));
      if (run == 0) first.assign(y.begin(), y.end());
      if (!std::ranges::equal(y, first)) return Error(StatusCode::kInternal, "run {} gives another answer", run);
    }
    return Status::Ok();
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_.path() / "model.tflite";
};

TEST_P(EndlessRuns, TheProcessStaysAsLargeAsItWas) {
  for (int reload = 0; reload < kWarmReloads; ++reload) {
    const Status ran = RunReloaded(kWarmRuns);
    ASSERT_TRUE(ran.ok()) << ran.message();
  }
  const Memory before;
  ASSERT_GT(before.anonymous, 0);
  for (int reload = 0; reload < kReloads; ++reload) {
    const Status ran = RunReloaded(std::max(1, RunsOfAll() / kReloads));
    ASSERT_TRUE(ran.ok()) << "reload " << reload << ": " << ran.message();
  }
  const Memory after;
  RecordProperty("growth_bytes", fmt::format("{}", after.anonymous - before.anonymous));
  EXPECT_LT(after.anonymous - before.anonymous, kMostGrowth)
      << "malloc's part in use grew by " << after.in_use - before.in_use << " bytes";
}

INSTANTIATE_TEST_SUITE_P(Devices, EndlessRuns, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
