// What every device refuses before its backend is asked, seen on a null device with narrow limits.
#include "hal/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/null/device.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

DeviceInfo NarrowInfo() {
  DeviceInfo info = NullDeviceInfo();
  info.max_buffer_bytes = 4096;
  info.buffer_offset_alignment = 64;
  info.max_group_count = {16, 8, 4};
  return info;
}

class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() : device_(NarrowInfo()) {
    source_.name = "copy";
    source_.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
    source_.scalars = {{"count", ScalarType::kInt}};
    source_.body = "y_store(GID(0), x_load(GID(0)));";
    group_ = std::move(device_.Compile({&source_, 1})).value();
    buffer_ = std::move(device_.CreateBuffer(1024)).value();
    dispatch_ = {group_->programs()[0].get(),
                 {{buffer_.get(), 0, 256}, {buffer_.get(), 256, 256}},
                 {16},
                 {16, 1, 1},
                 "first copy"};
  }

  Status Prepared() { return device_.Prepare({{dispatch_}}).status(); }

  NullDevice device_;
  KernelSource source_;
  std::unique_ptr<ProgramGroup> group_;
  std::unique_ptr<Buffer> buffer_;
  DispatchCommand dispatch_;  // a good one; a test spoils it
};

TEST_F(DeviceTest, ABufferOfNothingIsTheCallersMistake) {
  EXPECT_EQ(device_.CreateBuffer(0).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(DeviceTest, ABufferOverTheLimitIsRefusedWithBothSizes) {
  const Status status = device_.CreateBuffer(4097).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("4097"));
  EXPECT_THAT(status.message(), HasSubstr("4096"));
  EXPECT_TRUE(device_.CreateBuffer(4096).ok());
}

TEST_F(DeviceTest, WritesAndReadsOutsideABufferAreRefusedBeforeTheCallback) {
  bool called = false;
  const auto fill = [&](std::span<std::byte>) {
    called = true;
    return Status::Ok();
  };
  const auto view = [&](std::span<const std::byte>) {
    called = true;
    return Status::Ok();
  };
  for (const auto& [offset, size] :
       {std::pair<uint64_t, uint64_t>{0, 1025}, {1024, 1}, {8, UINT64_MAX - 4}, {UINT64_MAX, 2}}) {
    EXPECT_EQ(device_.Write(*buffer_, offset, size, fill).code(), StatusCode::kInvalidArgument)
        << offset << "+" << size;
    EXPECT_EQ(device_.Read(*buffer_, offset, size, view).code(), StatusCode::kInvalidArgument) << offset << "+" << size;
  }
  EXPECT_FALSE(called);
}

TEST_F(DeviceTest, ARangeOfNothingIsDoneWithoutTheCallback) {
  const auto fill = [](std::span<std::byte>) { return Status(StatusCode::kInternal, "called"); };
  EXPECT_TRUE(device_.Write(*buffer_, 1024, 0, fill).ok());
}

TEST_F(DeviceTest, CompilingOrLoadingNothingIsRefused) {
  EXPECT_EQ(device_.Compile({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(device_.Load({&source_, 1}, {}).status().code(), StatusCode::kInvalidArgument);
  const std::byte byte{};
  EXPECT_EQ(device_.Load({}, {&byte, 1}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(DeviceTest, AGoodDispatchIsPrepared) {
  const Status status = Prepared();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(DeviceTest, ADispatchWithoutAProgramIsRefusedByItsLabel) {
  dispatch_.program = nullptr;
  EXPECT_EQ(Prepared().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Prepared().message(), HasSubstr("first copy"));
}

TEST_F(DeviceTest, TooFewTensorsOrTooManyScalarsAreRefused) {
  dispatch_.scalars.push_back(1);
  EXPECT_EQ(Prepared().code(), StatusCode::kInvalidArgument);
  dispatch_.scalars.pop_back();
  dispatch_.tensors.pop_back();
  EXPECT_EQ(Prepared().code(), StatusCode::kInvalidArgument);
}

TEST_F(DeviceTest, GroupCountsAreHeldAgainstTheDevicesLimits) {
  for (const std::array<uint32_t, 3> count :
       {std::array<uint32_t, 3>{17, 1, 1}, {1, 9, 1}, {1, 1, 5}, {0, 1, 1}, {1, 1, 0}}) {
    dispatch_.group_count = count;
    EXPECT_EQ(Prepared().code(), StatusCode::kResourceExhausted) << count[0] << "," << count[1] << "," << count[2];
  }
  dispatch_.group_count = {16, 8, 4};
  EXPECT_TRUE(Prepared().ok());
}

TEST_F(DeviceTest, UnalignedUnboundEmptyOrOverlongRangesAreRefused) {
  for (const BoundRange& bad :
       {BoundRange{buffer_.get(), 32, 64}, BoundRange{nullptr, 0, 64}, BoundRange{buffer_.get(), 0, 0},
        BoundRange{buffer_.get(), 64, 1024}, BoundRange{buffer_.get(), 64, UINT64_MAX}}) {
    dispatch_.tensors[1] = bad;
    EXPECT_EQ(Prepared().code(), StatusCode::kInvalidArgument) << bad.offset_bytes << "+" << bad.size_bytes;
  }
}

}  // namespace
}  // namespace hearth
