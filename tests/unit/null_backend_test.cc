#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/null/backend.h"
#include "backends/null/device.h"
#include "conformance/device_cases.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

KernelSource ScaleKernel() {
  KernelSource source;
  source.name = "scale";
  source.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.scalars = {{"factor", ScalarType::kFloat}};
  source.local_size = {32, 2, 1};
  source.body = "y_store(GID(0), x_load(GID(0)) * factor);";
  return source;
}

Status CompileWith(const DeviceInfo& info, const KernelSource& source) {
  NullDevice device(info);
  return device.Compile({&source, 1}).status();
}

TEST(NullBackend, ItsOneDeviceIsAlwaysUsable) {
  const std::vector<DeviceCandidate> candidates = EnumerateNull();
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_TRUE(candidates[0].usable);
  const auto device = OpenNull(candidates[0]);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->info().backend, "null");
  EXPECT_EQ((*device)->info().name, candidates[0].name);
}

TEST(NullBackend, ABufferHoldsWhatWasWrittenAndStartsAsZero) {
  NullDevice device(NullDeviceInfo());
  const auto buffer = device.CreateBuffer(100);
  ASSERT_TRUE(buffer.ok());
  const auto fill = [](std::span<std::byte> bytes) {
    std::ranges::fill(bytes, std::byte{7});
    return Status::Ok();
  };
  ASSERT_TRUE(device.Write(**buffer, 10, 20, fill).ok());
  std::vector<std::byte> seen;
  const auto view = [&](std::span<const std::byte> bytes) {
    seen.assign(bytes.begin(), bytes.end());
    return Status::Ok();
  };
  ASSERT_TRUE(device.Read(**buffer, 9, 22, view).ok());
  std::vector<std::byte> expected(22, std::byte{7});
  expected.front() = expected.back() = std::byte{0};
  EXPECT_EQ(seen, expected);
}

TEST(NullBackend, WhatItIsAskedIsCounted) {
  NullDevice device(NullDeviceInfo());
  const KernelSource source = ScaleKernel();
  const auto buffer = device.CreateBuffer(1024);
  const auto group = device.Compile({&source, 1});
  ASSERT_TRUE(buffer.ok() && group.ok());
  CommandRecorder recorder;
  for (int k = 0; k < 3; ++k) {
    recorder.Record(
        {(*group)->programs()[0].get(), {{buffer->get(), 0, 256}, {buffer->get(), 512, 256}}, {0}, {1, 1, 1}, ""},
        {false, true});
  }
  const auto executable = device.Prepare(recorder.Finish());
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  ASSERT_TRUE((*executable)->Run().ok());
  const auto times = (*executable)->RunProfiled();
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->size(), 3u);
  EXPECT_EQ(device.counts().buffers_created, 1);
  EXPECT_EQ(device.counts().programs_compiled, 1);
  EXPECT_EQ(device.counts().programs_loaded, 0);
  EXPECT_EQ(device.counts().lists_prepared, 1);
  EXPECT_EQ(device.counts().dispatches_run, 6);
}

TEST(NullBackend, AListWithARaceIsRefusedWithBothLabels) {
  NullDevice device(NullDeviceInfo());
  const KernelSource source = ScaleKernel();
  const auto buffer = device.CreateBuffer(1024);
  const auto group = device.Compile({&source, 1});
  ASSERT_TRUE(buffer.ok() && group.ok());
  Program* scale = (*group)->programs()[0].get();
  const auto part = [&](uint64_t offset_bytes) { return BoundRange{buffer->get(), offset_bytes, 256}; };
  const auto prepare = [&](bool with_barrier) {
    CommandList list;
    list.commands.emplace_back(DispatchCommand{scale, {part(0), part(256)}, {0}, {1, 1, 1}, "writer"});
    if (with_barrier) list.commands.emplace_back(BarrierCommand{});
    list.commands.emplace_back(DispatchCommand{scale, {part(256), part(512)}, {0}, {1, 1, 1}, "reader"});
    return device.Prepare(list).status();
  };
  EXPECT_EQ(prepare(false).code(), StatusCode::kInternal);
  EXPECT_THAT(prepare(false).message(), HasSubstr("'writer' and 'reader'"));
  EXPECT_TRUE(prepare(true).ok());
}

TEST(NullBackend, ABinaryLoadsForItsOwnSourcesOnly) {
  NullDevice device(NullDeviceInfo());
  const KernelSource source = ScaleKernel();
  const auto group = device.Compile({&source, 1});
  ASSERT_TRUE(group.ok());
  const auto binary = (*group)->Binary();
  ASSERT_TRUE(binary.ok());
  EXPECT_TRUE(device.Load({&source, 1}, *binary).ok());
  KernelSource other = source;
  other.body = "y_store(GID(0), x_load(GID(0)) + splat4(factor));";
  EXPECT_EQ(device.Load({&other, 1}, *binary).status().code(), StatusCode::kMalformedInput);
  EXPECT_EQ(device.counts().programs_loaded, 1);
}

class NullCases : public ::testing::TestWithParam<conformance::DeviceCase> {};
TEST_P(NullCases, Holds) {
  NullDevice device(NullDeviceInfo());
  const Status status = GetParam().run(device);
  if (status.code() == StatusCode::kUnsupported) GTEST_SKIP() << status.message();
  EXPECT_TRUE(status.ok()) << status.message();
}
INSTANTIATE_TEST_SUITE_P(NullBackend, NullCases, ::testing::ValuesIn(conformance::ContractCases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NullBackend, AKernelThatNeedsMoreThanTheDeviceHasIsRefused) {
  const KernelSource source = ScaleKernel();
  DeviceInfo info = NullDeviceInfo();
  info.max_local_invocations = 63;
  EXPECT_THAT(CompileWith(info, source).message(), HasSubstr("kernel scale needs 64 items in a work group"));
  info = NullDeviceInfo();
  info.max_local_size[1] = 1;
  EXPECT_EQ(CompileWith(info, source).code(), StatusCode::kResourceExhausted);
  info = NullDeviceInfo();
  info.max_scalar_bytes = 0;
  EXPECT_EQ(CompileWith(info, source).code(), StatusCode::kResourceExhausted);
  info = NullDeviceInfo();
  info.max_storage_buffers = 1;
  EXPECT_EQ(CompileWith(info, source).code(), StatusCode::kResourceExhausted);
}

TEST(NullBackend, SharedArraysAreHeldAgainstLocalMemory) {
  KernelSource source = ScaleKernel();
  source.shared = {{"part", "float4", 64}, {"row", "float", 16}};
  DeviceInfo info = NullDeviceInfo();
  info.local_memory_bytes = 64 * 16 + 16 * 4;
  EXPECT_TRUE(CompileWith(info, source).ok());
  info.local_memory_bytes -= 1;
  EXPECT_EQ(CompileWith(info, source).code(), StatusCode::kResourceExhausted);
}

TEST(NullBackend, TexelReadsNeedADeviceThatHasThem) {
  KernelSource source = ScaleKernel();
  source.tensors[0].path = AccessPath::kTexelBuffer;
  DeviceInfo info = NullDeviceInfo();
  EXPECT_TRUE(CompileWith(info, source).ok());
  info.max_storage_buffers = 1;  // the texel read is none
  EXPECT_TRUE(CompileWith(info, source).ok());
  info.max_texel_elements = 0;
  EXPECT_EQ(CompileWith(info, source).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace hearth
