// Memory that stays on a device between runs.
#include "frontends/delegate/device_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backends/null/device.h"

namespace hearth {
namespace {

using Access = DeviceMemory::Access;

class DeviceMemoryTest : public ::testing::Test {
 protected:
  float* Host(Access access) {
    const Result<std::byte*> host = memory_.OnHost(access);
    EXPECT_TRUE(host.ok()) << host.status().message();
    return host.ok() ? reinterpret_cast<float*>(*host) : nullptr;
  }
  std::shared_ptr<Buffer> OnDevice(Access access) {
    Result<std::shared_ptr<Buffer>> buffer = memory_.OnDevice(device_, access, counts_);
    EXPECT_TRUE(buffer.ok()) << buffer.status().message();
    return buffer.ok() ? *buffer : nullptr;
  }
  // What a run would do.
  void WriteOnDevice(float value) {
    const Status status = device_->Write(*OnDevice(Access::kWrite), 0, 8, [&](std::span<std::byte> bytes) {
      for (size_t k = 0; k < 2; ++k) std::memcpy(bytes.data() + 4 * k, &value, 4);
      return Status::Ok();
    });
    ASSERT_TRUE(status.ok());
  }

  std::shared_ptr<NullDevice> device_ = std::make_shared<NullDevice>(NullDeviceInfo());
  TransferCounts counts_;
  DeviceMemory memory_{8};
};

TEST_F(DeviceMemoryTest, HoldsZerosAtFirst) {
  EXPECT_EQ(Host(Access::kRead)[1], 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(Host(Access::kRead)) % DeviceMemory::kAlignment, 0u);
}

TEST_F(DeviceMemoryTest, CrossesOnceInEachDirection) {
  Host(Access::kWrite)[1] = 5;
  const std::shared_ptr<Buffer> buffer = OnDevice(Access::kRead);
  EXPECT_EQ(OnDevice(Access::kRead), buffer);
  EXPECT_EQ(counts_.to_device_bytes, 8u);
  WriteOnDevice(7);
  EXPECT_EQ(OnDevice(Access::kRead), buffer);
  EXPECT_EQ(counts_.to_device_bytes, 8u);
  EXPECT_EQ(device_->counts().bytes_read, 0);
  EXPECT_EQ(Host(Access::kRead)[1], 7);
  EXPECT_EQ(Host(Access::kReadWrite)[0], 7);
  EXPECT_EQ(device_->counts().bytes_read, 8);
}

TEST_F(DeviceMemoryTest, WhatTheHostWritesReachesTheDeviceAgain) {
  WriteOnDevice(7);
  Host(Access::kReadWrite)[0] = 9;
  OnDevice(Access::kRead);
  EXPECT_EQ(counts_.to_device_bytes, 8u);
  WriteOnDevice(1);
  EXPECT_EQ(Host(Access::kRead)[0], 1);
}

TEST_F(DeviceMemoryTest, MovesToTheDeviceThatAsksForIt) {
  WriteOnDevice(7);
  const std::shared_ptr<NullDevice> first = std::exchange(device_, std::make_shared<NullDevice>(NullDeviceInfo()));
  OnDevice(Access::kReadWrite);
  EXPECT_EQ(counts_.to_host_bytes, 8u);
  EXPECT_EQ(counts_.to_device_bytes, 8u);
  EXPECT_EQ(Host(Access::kRead)[1], 7);
}

TEST_F(DeviceMemoryTest, LentMemoryKeepsWhatTheProgramAndTheHostWrite) {
  const std::shared_ptr<Buffer> buffer = device_->CreateBuffer(8).value();
  const auto fill = [&](std::byte value) {
    ASSERT_TRUE(device_
                    ->Write(*buffer, 0, 8,
                            [&](std::span<std::byte> bytes) {
                              std::ranges::fill(bytes, value);
                              return Status::Ok();
                            })
                    .ok());
  };
  DeviceMemory lent(8, device_, buffer);
  for (const std::byte value : {std::byte{3}, std::byte{4}}) {
    fill(value);
    EXPECT_EQ(*lent.OnHost(Access::kRead).value(), value);
    EXPECT_TRUE(lent.EndHost().ok());
  }
  *lent.OnHost(Access::kReadWrite).value() = std::byte{5};
  EXPECT_TRUE(lent.EndHost().ok());
  ASSERT_TRUE(device_
                  ->Read(*buffer, 0, 2,
                         [](std::span<const std::byte> bytes) {
                           EXPECT_EQ(bytes[0], std::byte{5});
                           EXPECT_EQ(bytes[1], std::byte{4});
                           return Status::Ok();
                         })
                  .ok());
  EXPECT_EQ(lent.OnDevice(device_, Access::kWrite, counts_).value(), buffer);
  EXPECT_EQ(counts_.to_device_bytes + counts_.to_host_bytes, 0u);
  const auto other = std::make_shared<NullDevice>(NullDeviceInfo());
  EXPECT_EQ(lent.OnDevice(other, Access::kRead, counts_).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace hearth
