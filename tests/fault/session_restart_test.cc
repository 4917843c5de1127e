// A first run that fails because of what the cache held ends well all the same, whichever of the entries is to blame.
#include <gtest/gtest.h>

#include <map>

#include "backends/null/device.h"
#include "runtime/session/session_data.h"
#include "tests/testing/built_models.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/fake_backends.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/session_cache.h"

namespace hearth {
namespace {

using testing::CallFault;
using testing::FailingDevice;
using testing::FakeBackendRows;
using testing::TheFakeBackends;

// No submission of the device ends until an entry of this kind has been rejected.
class StoreWithABadEntry final : public testing::MemoryStore {
 public:
  StoreWithABadEntry(NullDevice& device, BlobKind bad) {
    on_remove = [this, &device, bad](const CacheKey& key) {
      ++rejected[key.kind()];
      if (key.kind() == bad) device.NeverEnd(UINT64_MAX);
    };
  }

  std::map<BlobKind, int> rejected;
};

class SessionRestart : public ::testing::Test {
 protected:
  SessionRestart() {
    DeviceInfo info = NullDeviceInfo();
    info.type = DeviceType::kCpu;  // as a software driver, which passes no self-test
    TheFakeBackends().first = {{"fake", DeviceType::kCpu, "", [this, info]() -> Result<std::unique_ptr<Device>> {
                                  return std::unique_ptr<Device>(
                                      std::make_unique<FailingDevice>(device_, no_fault_, info, "compiler 1"));
                                }}};
  }
  ~SessionRestart() override { TheFakeBackends() = {}; }

  Result<Session> Opened(const std::shared_ptr<ResultCache>& store) {
    SessionRequest request;
    request.options.device = "first:0";
    request.options.start = "ready";
    request.options.wait_limit_ms = 0;
    request.options.use_cache = false;  // the store stays
    request.cache = testing::CacheOf(store);
    request.backends = FakeBackendRows();
    return CreateSession(model_, std::move(request));
  }

  static Status RunOnce(Session& session) {
    const std::vector<std::byte> input(session.inputs()[0].size_bytes);
    const Status set = session.SetInput(0, input);
    return set.ok() ? session.Run() : set;
  }

  const Model model_ = testing::SumModel();
  NullDevice device_{NullDeviceInfo()};
  CallFault no_fault_;
};

class SessionRestartWithout : public SessionRestart, public ::testing::WithParamInterface<BlobKind> {};

TEST_P(SessionRestartWithout, LeavesOutTheEntryThatIsToBlame) {
  const auto store = std::make_shared<StoreWithABadEntry>(device_, GetParam());
  {
    Result<Session> first = Opened(store);
    ASSERT_TRUE(first.ok()) << first.status().message();
    ASSERT_TRUE(RunOnce(*first).ok());
    first->SaveToCache();
  }
  ASSERT_TRUE(store->rejected.empty());
  Result<Session> session = Opened(store);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_GT(session->report().programs.loaded, 0);
  device_.NeverEnd(0);
  const Status ran = RunOnce(*session);
  EXPECT_TRUE(ran.ok()) << ran.message();
  EXPECT_GT(store->rejected[BlobKind::kProgram], 0);
  EXPECT_EQ(store->rejected.contains(BlobKind::kSource), GetParam() == BlobKind::kSource);
}

INSTANTIATE_TEST_SUITE_P(Entries, SessionRestartWithout, ::testing::Values(BlobKind::kProgram, BlobKind::kSource),
                         [](const auto& info) { return std::string(BlobKindName(info.param)); });

// A driver that always fails ends in its error, also with a store that gives rejected entries again, as a server may.
TEST_F(SessionRestart, EndsWhereEveryRunFails) {
  const auto store = std::make_shared<testing::MemoryStore>();
  int rejections = 0;
  store->keeps_removed = true;
  store->on_remove = [&](const CacheKey&) { ++rejections; };
  {
    Result<Session> first = Opened(store);
    ASSERT_TRUE(first.ok() && RunOnce(*first).ok());
    first->SaveToCache();
  }
  Result<Session> session = Opened(store);
  ASSERT_TRUE(session.ok()) << session.status().message();
  device_.NeverEnd(0);
  EXPECT_EQ(RunOnce(*session).code(), StatusCode::kInternal);
  EXPECT_GT(rejections, 1);
}

}  // namespace
}  // namespace hearth
