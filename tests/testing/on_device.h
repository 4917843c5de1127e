// Tests that run on each device, and are skipped with the reason if it is not usable here.
#ifndef HEARTH_TESTS_TESTING_ON_DEVICE_H_
#define HEARTH_TESTS_TESTING_ON_DEVICE_H_

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "hearth/session.h"
#include "runtime/devices/device_choice.h"

namespace hearth::testing {

// The parameter is a device's name. Sessions have no cache unless the test gives them one.
class SessionsOnDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
    if (!opened.ok()) GTEST_SKIP() << opened.status().message();
    options_.device = GetParam();
    options_.use_cache = false;
  }

  Session Opened(const Model& model) {
    Result<Session> session = Session::Create(model, options_);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return std::move(session).value();
  }

  // One session at a time: its model stays here.
  Session Opened(std::span<const std::byte> bytes) {
    Result<Model> model = Model::FromMemory(bytes);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return Opened(model_.emplace(std::move(model).value()));
  }

  SessionOptions options_;

 private:
  std::optional<Model> model_;
};

// The parameter is a device's name. A derived SetUp calls this one and returns if IsSkipped.
class OnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<OpenedDevice> opened = OpenChosenDevice(GetParam());
    if (!opened.ok()) GTEST_SKIP() << opened.status().message();
    opened_ = std::move(opened).value();
  }

  OpenedDevice opened_;
};

// Also skipped on a device without 16-bit storage of real numbers.
class Fp16Device : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (!opened_.info.fp16_storage) GTEST_SKIP() << opened_.id << " stores no 16-bit numbers";
  }
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_ON_DEVICE_H_
