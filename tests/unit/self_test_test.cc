// Devices that say they are hardware are used only when they compute: the self-test of a session's start.
#include "runtime/devices/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/device/device_profiles.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/session_cache.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using testing::FakeBackendRows;
using ::testing::HasSubstr;
using testing::MemoryStore;
using ::testing::Not;
using testing::SumModel;

class SelfTest : public testing::FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    if (!Computes()) GTEST_SKIP() << "no software driver is usable";
  }

  Status BeforeOpening(DeviceInfo& info) override {
    if (!driver_version_.empty()) info.driver_version = driver_version_;
    return Status::Ok();
  }

  // As drivers that were made for tests do: everything is taken, nothing is executed.
  void ExecuteNothing() {
    fault_.spoil_read = [](std::span<std::byte> bytes) { std::memset(bytes.data(), 0, bytes.size()); };
  }
  void ExecuteRightly() { fault_.spoil_read = nullptr; }

  Result<Session> Start(const std::string& device = "auto", bool read_only = false) {
    SessionRequest request;
    request.options.device = device;
    request.options.start = "ready";
    request.options.cache_read_only = read_only;
    request.cache = testing::CacheOf(store_);
    request.options.use_cache = false;  // the store stays
    request.backends = FakeBackendRows();
    return CreateSession(model_, std::move(request));
  }

  std::string DeviceOf(const Result<Session>& session) {
    return session.ok() ? session->report().device.id : session.status().message();
  }

  // A whole life of a session: only what was used is kept.
  std::string UseOnce(const std::string& device = "auto") {
    Result<Session> session = Start(device);
    if (!session.ok()) return session.status().message();
    const std::vector<float> ones(8, 1.0f);
    EXPECT_TRUE(session->SetInput(0, std::as_bytes(std::span(ones))).ok());
    EXPECT_TRUE(session->Run().ok());
    session->SaveToCache();
    return session->report().device.id;
  }

  std::string driver_version_;
  const Model model_ = SumModel();
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(SelfTest, ADeviceThatComputesIsUsed) {
  EXPECT_EQ(DeviceOf(Start()), "first:0");
  EXPECT_EQ(DeviceOf(Start("first")), "first:0");
}

TEST_F(SelfTest, ADeviceThatExecutesNothingIsLeftForTheNextAndTheReportSaysWhy) {
  ExecuteNothing();
  const Result<Session> session = Start();
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_THAT(session->report().device.reason, HasSubstr("first:0"));
  EXPECT_THAT(session->report().warnings, ::testing::Contains(HasSubstr("failed the self-test")));
}

TEST_F(SelfTest, ADeviceThatIsNamedAndExecutesNothingIsAnErrorThatNamesTheSelfTest) {
  ExecuteNothing();
  const Result<Session> session = Start("first");
  EXPECT_EQ(session.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(session.status().message(), AllOf(HasSubstr("failed the self-test"), HasSubstr("update it")));
}

TEST_F(SelfTest, OneWrongNumberIsEnough) {
  fault_.spoil_read = [](std::span<std::byte> bytes) {
    float number = 0;
    std::memcpy(&number, bytes.data(), sizeof(number));
    number += 0.5f;
    std::memcpy(bytes.data(), &number, sizeof(number));
  };
  EXPECT_THAT(DeviceOf(Start("first")), HasSubstr("failed the self-test"));
}

TEST_F(SelfTest, ADeviceThatIsLostInItIsNotUsed) {
  fault_.Arm(6, Status(StatusCode::kDeviceLost, "fell off the bus"));
  const std::string answer = DeviceOf(Start("first"));
  EXPECT_TRUE(fault_.Disarm());
  EXPECT_THAT(answer, AllOf(HasSubstr("fell off the bus"), Not(HasSubstr("update it"))));
}

TEST_F(SelfTest, APassIsTrustedFromTheCache) {
  EXPECT_EQ(UseOnce(), "first:0");
  ExecuteNothing();
  EXPECT_EQ(DeviceOf(Start()), "first:0");
}

TEST_F(SelfTest, APassOfAnotherDriverVersionIsNot) {
  EXPECT_EQ(UseOnce(), "first:0");
  ExecuteNothing();
  driver_version_ = "the next one";
  EXPECT_EQ(DeviceOf(Start()), "cpu");
}

TEST_F(SelfTest, AFailureIsTestedAgainAtTheNextStart) {
  ExecuteNothing();
  EXPECT_EQ(UseOnce(), "cpu");
  ExecuteRightly();
  EXPECT_EQ(UseOnce(), "first:0");
}

TEST_F(SelfTest, AReadOnlyCacheRemembersNothing) {
  store_ = std::make_shared<MemoryStore>(nullptr, true);
  {
    Result<Session> session = Start("auto", true);
    ASSERT_TRUE(session.ok()) << session.status().message();
    const std::vector<float> ones(8, 1.0f);
    ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(ones))).ok());
    ASSERT_TRUE(session->Run().ok());
  }
  EXPECT_TRUE(store_->entries().empty());
  ExecuteNothing();
  EXPECT_EQ(DeviceOf(Start()), "cpu");
}

TEST_F(SelfTest, SoftwareDriversAreNotTested) {
  EXPECT_FALSE(NeedsSelfTest(inner_->info()));
  Result<const DeviceProfile*> profile = FindDeviceProfile("navi21");
  ASSERT_TRUE(profile.ok());
  EXPECT_TRUE(NeedsSelfTest(Simulated(inner_->info(), **profile)));
}

TEST(SelfTestOfDrivers, EveryDriverHerePassesIt) {
  int tested = 0;
  for (const ListedDevice& listed : ListAllDevices()) {
    if (listed.backend->is_host() || !listed.candidate.usable) continue;
    SCOPED_TRACE(listed.id);
    const Result<std::unique_ptr<Device>> device = listed.backend->open(listed.candidate);
    ASSERT_TRUE(device.ok()) << device.status().message();
    EXPECT_EQ(RunSelfTest(**device).message(), "");
    ++tested;
  }
  if (tested == 0) GTEST_SKIP() << "no driver is usable";
}

}  // namespace
}  // namespace hearth
