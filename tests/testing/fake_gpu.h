// Sessions on a fake GPU: a software driver that fails when the test says so.
#ifndef HEARTH_TESTS_TESTING_FAKE_GPU_H_
#define HEARTH_TESTS_TESTING_FAKE_GPU_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "backends/null/device.h"
#include "core/base/error.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/built_models.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/fake_backends.h"

namespace hearth::testing {

class FakeGpuTest : public ::testing::Test {
 protected:
  ~FakeGpuTest() override { TheFakeBackends() = {}; }

  // The first backend's device is a software driver that claims to be a GPU and fails as `fault_` says. Without a
  // driver it is the null device.
  void SetUp() override {
    for (const ListedDevice& listed : ListAllDevices()) {
      if (listed.backend->is_host() || !listed.candidate.usable) continue;
      Result<std::unique_ptr<Device>> opened = listed.backend->open(listed.candidate);
      if (opened.ok()) inner_ = std::move(opened).value();
      if (opened.ok()) break;
    }
    if (inner_ == nullptr) inner_ = std::make_unique<NullDevice>(NullDeviceInfo());
    TheFakeBackends().first = {{"fake", DeviceType::kDiscreteGpu, "", [this]() -> Result<std::unique_ptr<Device>> {
                                  DeviceInfo info = inner_->info();
                                  info.type = DeviceType::kDiscreteGpu;
                                  HEARTH_TRY(BeforeOpening(info));
                                  return std::unique_ptr<Device>(
                                      std::make_unique<FailingDevice>(*inner_, fault_, info, ""));
                                }}};
  }

  // Called before the fake GPU opens; may change its info.
  virtual Status BeforeOpening(DeviceInfo& /*info*/) { return Status::Ok(); }

  bool Computes() const { return inner_->info().backend != "null"; }

  CallFault fault_;
  std::unique_ptr<Device> inner_;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_FAKE_GPU_H_
