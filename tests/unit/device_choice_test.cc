// `auto` and names over backends that a test makes up.
#include "runtime/devices/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/null/device.h"
#include "core/base/error.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/fake_backends.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::FakeBackendRows;
using testing::FakeBackends;
using testing::FakeDevice;
using ::testing::HasSubstr;
using testing::TheFakeBackends;

FakeDevice Works(const char* name, DeviceType type = DeviceType::kDiscreteGpu) {
  return {name, type, "", [] { return std::unique_ptr<Device>(std::make_unique<NullDevice>(NullDeviceInfo())); }};
}

FakeDevice FailsToOpen(const char* name) {
  return {name, DeviceType::kDiscreteGpu, "", [] { return Status(StatusCode::kUnavailable, "the cable is loose"); }};
}

FakeDevice Unusable(const char* name) {
  return {name, DeviceType::kDiscreteGpu, "no driver", nullptr};
}

std::vector<std::string> Ids(const std::string& wanted) {
  const Result<std::vector<ListedDevice>> chosen = ChooseDevices(wanted, FakeBackendRows());
  EXPECT_TRUE(chosen.ok()) << chosen.status().message();
  std::vector<std::string> ids;
  for (const ListedDevice& device : *chosen) ids.push_back(device.id);
  return ids;
}

class DeviceChoice : public ::testing::Test {
 protected:
  ~DeviceChoice() override { TheFakeBackends() = {}; }
};

TEST_F(DeviceChoice, AutoTakesDiscreteGpusThenOthersThenTheCpuInTheOrderOfTheBackends) {
  TheFakeBackends() = {{Works("small", DeviceType::kIntegratedGpu), Unusable("gone"), Works("large")},
                       {Works("software", DeviceType::kCpu), Works("other", DeviceType::kOther), Works("large too")}};
  EXPECT_THAT(Ids("auto"), ElementsAre("first:1", "second:2", "first:0", "second:1", "cpu"));
}

TEST_F(DeviceChoice, AutoWithoutHardwareIsTheCpuAndSaysWhy) {
  TheFakeBackends() = {{Works("software", DeviceType::kCpu)}, {Unusable("gone")}};
  const Result<OpenedDevice> opened = OpenChosenDevice("auto", {}, FakeBackendRows());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->id, "cpu");
  EXPECT_EQ(opened->reason, "no hardware GPU is usable");
  EXPECT_TRUE(opened->warnings.empty());
}

TEST_F(DeviceChoice, AutoPassesADeviceThatFailsToOpenWithAWarning) {
  TheFakeBackends() = {{FailsToOpen("loose")}, {Works("fine")}};
  const Result<OpenedDevice> opened = OpenChosenDevice("auto", {}, FakeBackendRows());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->id, "second:0");
  EXPECT_EQ(opened->reason, "the devices before it failed");
  ASSERT_EQ(opened->warnings.size(), 1u);
  EXPECT_THAT(opened->warnings[0], HasSubstr("first:0 failed to open, the next device is taken: the cable is loose"));
}

TEST_F(DeviceChoice, AutoLeavesOutWhatFailedBefore) {
  TheFakeBackends() = {{Works("one"), Works("two")}, {}};
  const Result<OpenedDevice> opened = OpenChosenDevice("auto", {"first:0"}, FakeBackendRows());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->id, "first:1");
  EXPECT_EQ(OpenChosenDevice("auto", {"first:0", "first:1", "cpu"}, FakeBackendRows()).status().code(),
            StatusCode::kUnavailable);
}

TEST_F(DeviceChoice, AForkAsksNoDriverThatItsParentUsed) {
  TheFakeBackends().first = {Works("fast")};
  const BackendDef rows[] = {FakeBackendRows().front(), FakeBackendRows().back()};
  ASSERT_TRUE(OpenChosenDevice("auto", {}, rows).ok());
  const auto in_fork = [&rows] {
    const Status named = OpenChosenDevice("first", {}, rows).status();
    const Result<OpenedDevice> chosen = OpenChosenDevice("auto", {}, rows);
    constexpr std::string_view kWhy = "of which this one is a fork, has used the first driver";
    const bool is_told = named.code() == StatusCode::kUnavailable && named.message().find(kWhy) != std::string::npos;
    const bool has_cpu = chosen.ok() && chosen->id == "cpu" && chosen->warnings.size() == 1;
    return is_told && has_cpu ? 0 : 1;
  };
  EXPECT_EQ(testing::WaitFor(testing::StartProcess(in_fork)), 0);
}

TEST_F(DeviceChoice, ANamedDeviceIsTheOnlyOne) {
  TheFakeBackends() = {{FailsToOpen("loose"), Works("fine")}, {Unusable("gone")}};
  EXPECT_THAT(OpenChosenDevice("first:0", {}, FakeBackendRows()).status().message(), HasSubstr("the cable is loose"));
  EXPECT_EQ(OpenChosenDevice("first:1", {}, FakeBackendRows())->reason, "asked for as 'first:1'");
  const Status gone = OpenChosenDevice("second", {}, FakeBackendRows()).status();
  EXPECT_EQ(gone.code(), StatusCode::kUnavailable);
  EXPECT_THAT(gone.message(), HasSubstr("no driver"));
}

TEST_F(DeviceChoice, AContextOfABackendThatIsNotInTheBuildIsUnsupported) {
  const VulkanContext context;
  EXPECT_EQ(OpenSharedDevice(context, "auto", FakeBackendRows()).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace hearth
