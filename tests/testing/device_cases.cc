#include "tests/testing/device_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/kernel_source.h"

namespace hearth::testing {
namespace {

using Floats = std::vector<float>;

Floats Ramp(size_t count, float start = 0.5f, float step = 0.25f) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = start + step * static_cast<float>(i % 4096);
  return values;
}

KernelSource CopyKernel(AccessPath path = AccessPath::kBuffer) {
  KernelSource source;
  source.name = "copy";
  source.tensors = {{.name = "x", .path = path}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.scalars = {{"count", ScalarType::kInt}};
  source.local_size = {32, 1, 1};
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load(at));\n}\n";
  return source;
}

KernelSource AffineKernel() {  // y = scale * x + bias
  KernelSource source = CopyKernel();
  source.name = "affine";
  source.scalars = {{"count", ScalarType::kInt}, {"scale", ScalarType::kFloat}, {"bias", ScalarType::kInt}};
  source.body =
      "int at = GID(0);\nif (at < count) {\n"
      "  y_store(at, x_load(at) * scale + splat4(to_float(bias)));\n}\n";
  return source;
}

uint32_t GroupsFor(size_t texels, uint32_t local_size) {
  return static_cast<uint32_t>((texels + local_size - 1) / local_size);
}

// Expects success and takes the value; the caller stops on a null pointer.
template <typename T>
std::unique_ptr<T> Expect(Result<std::unique_ptr<T>> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(result).value() : nullptr;
}

std::unique_ptr<Buffer> BufferOf(Device& device, size_t floats) {
  return Expect(device.CreateBuffer(floats * sizeof(float)));
}

void WriteBytes(Device& device, Buffer& buffer, const void* data, size_t size_bytes, uint64_t offset_bytes = 0) {
  const Status status = device.Write(buffer, offset_bytes, size_bytes, [&](std::span<std::byte> room) {
    EXPECT_EQ(room.size(), size_bytes);
    std::memcpy(room.data(), data, std::min(room.size(), size_bytes));
    return Status::Ok();
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

void WriteFloats(Device& device, Buffer& buffer, const Floats& values, uint64_t offset_bytes = 0) {
  WriteBytes(device, buffer, values.data(), values.size() * sizeof(float), offset_bytes);
}

Floats ReadFloats(Device& device, const Buffer& buffer, size_t count, uint64_t offset_bytes = 0) {
  Floats values(count, -12345.0f);
  const Status status = device.Read(buffer, offset_bytes, count * sizeof(float), [&](std::span<const std::byte> bytes) {
    std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), count * sizeof(float)));
    return Status::Ok();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return values;
}

BoundRange Whole(Buffer& buffer) {
  return {&buffer, 0, buffer.size_bytes()};
}

DispatchCommand DispatchOf(Program& program, std::vector<BoundRange> tensors, std::vector<uint32_t> scalars,
                           std::array<uint32_t, 3> group_count) {
  return {&program, std::move(tensors), std::move(scalars), group_count, program.source().name};
}

CommandList ListOf(DispatchCommand dispatch) {
  return {{std::move(dispatch)}};
}

void RunList(Device& device, const CommandList& list) {
  const auto executable = Expect(device.Prepare(list));
  if (executable == nullptr) return;
  const Status status = executable->Run();
  EXPECT_TRUE(status.ok()) << status.message();
}

// Runs a kernel of one input "x" and one output "y" over `input.size() / 4` texels and reads y back.
Floats RunUnary(Device& device, Program& program, const Floats& input, std::vector<uint32_t> scalars) {
  const auto x = BufferOf(device, input.size());
  const auto y = BufferOf(device, input.size());
  if (x == nullptr || y == nullptr) return {};
  WriteFloats(device, *x, input);
  const uint32_t groups = GroupsFor(input.size() / 4, program.source().local_size[0]);
  RunList(device, ListOf(DispatchOf(program, {Whole(*x), Whole(*y)}, std::move(scalars), {groups, 1, 1})));
  return ReadFloats(device, *y, input.size());
}

Floats CompileAndRunUnary(Device& device, const KernelSource& source, const Floats& input,
                          std::vector<uint32_t> scalars) {
  const auto group = Expect(device.Compile({&source, 1}));
  return group == nullptr ? Floats{} : RunUnary(device, *group->programs()[0], input, std::move(scalars));
}

void CopyThroughBuffer(Device& device) {
  const Floats input = Ramp(4 * 1000);
  EXPECT_EQ(CompileAndRunUnary(device, CopyKernel(), input, {1000}), input);
}

void CopyThroughTexelBuffer(Device& device) {
  if (device.info().max_texel_elements == 0) GTEST_SKIP() << "no texel buffers on " << device.info().name;
  const Floats input = Ramp(4 * 1000);
  EXPECT_EQ(CompileAndRunUnary(device, CopyKernel(AccessPath::kTexelBuffer), input, {1000}), input);
}

// Two inputs and the output inside one buffer, each at an aligned offset that is not 0.
void RangesInsideOneBuffer(Device& device, AccessPath path) {
  KernelSource source;
  source.name = "subtract";
  source.tensors = {
      {.name = "a", .path = path}, {.name = "b", .path = path}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.scalars = {{"count", ScalarType::kInt}};
  source.local_size = {16, 1, 1};
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, a_load(at) - b_load(at));\n}\n";
  const auto group = Expect(device.Compile({&source, 1}));
  if (group == nullptr) return;

  const uint64_t texels = 37;
  const uint64_t size = texels * 16;
  const uint64_t alignment = device.info().buffer_offset_alignment;
  const uint64_t stride = (size + alignment - 1) / alignment * alignment;
  const auto buffer = Expect(device.CreateBuffer(4 * stride + size));
  if (buffer == nullptr) return;
  WriteFloats(device, *buffer, Ramp(4 * texels, 100.0f, 1.0f), stride);
  WriteFloats(device, *buffer, Ramp(4 * texels, 0.0f, 0.5f), 3 * stride);
  const std::vector<BoundRange> ranges = {
      {buffer.get(), stride, size}, {buffer.get(), 3 * stride, size}, {buffer.get(), 2 * stride, size}};
  RunList(device, ListOf(DispatchOf(*group->programs()[0], ranges, {static_cast<uint32_t>(texels)},
                                    {GroupsFor(texels, 16), 1, 1})));
  EXPECT_EQ(ReadFloats(device, *buffer, 4 * texels, 2 * stride), Ramp(4 * texels, 100.0f, 0.5f));
}

void OffsetsInsideABufferAreRespected(Device& device) {
  RangesInsideOneBuffer(device, AccessPath::kBuffer);
}

void OffsetsInsideATexelBufferAreRespected(Device& device) {
  if (device.info().max_texel_elements == 0) GTEST_SKIP() << "no texel buffers on " << device.info().name;
  RangesInsideOneBuffer(device, AccessPath::kTexelBuffer);
}

void ScalarsOfBothTypesReachTheKernel(Device& device) {
  const Floats input = Ramp(4 * 50);
  Floats expected = input;
  for (float& value : expected) value = value * -0.5f - 7.0f;
  EXPECT_EQ(CompileAndRunUnary(device, AffineKernel(), input,
                               {50, std::bit_cast<uint32_t>(-0.5f), static_cast<uint32_t>(-7)}),
            expected);
}

void EpilogueRunsBeforeTheStore(Device& device) {
  KernelSource source = CopyKernel();
  source.epilogue = {"v = v * 2.0f;", "v = vmax(v - splat4(20.0f), splat4(0.0f)) + x_load(i);"};
  const Floats input = Ramp(4 * 64);
  Floats expected = input;
  for (float& value : expected) value = std::max(value * 2.0f - 20.0f, 0.0f) + value;
  EXPECT_EQ(CompileAndRunUnary(device, source, input, {64}), expected);
}

void SharedMemoryReductionSumsAGroup(Device& device) {
  KernelSource source;
  source.name = "group_sum";
  source.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.shared = {{"part", "float4", 64}};
  source.local_size = {64, 1, 1};
  source.body =
      "int t = LID(0);\n"
      "part[t] = x_load(GID(0));\n"
      "BARRIER;\n"
      "for (int width = 32; width > 0; width = width / 2) {\n"
      "  if (t < width) {\n    part[t] = part[t] + part[t + width];\n  }\n"
      "  BARRIER;\n"
      "}\n"
      "if (t == 0) {\n  y_store(WGID(0), part[0]);\n}\n";
  const auto group = Expect(device.Compile({&source, 1}));
  if (group == nullptr) return;
  const size_t groups = 5;
  const auto x = BufferOf(device, groups * 64 * 4);
  const auto y = BufferOf(device, groups * 4);
  if (x == nullptr || y == nullptr) return;
  Floats input(groups * 64 * 4);
  Floats expected(groups * 4, 0.0f);
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>(i % 97);  // sums of small integers: exact in any order
    expected[i / 256 * 4 + i % 4] += input[i];
  }
  WriteFloats(device, *x, input);
  RunList(device, ListOf(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {}, {groups, 1, 1})));
  EXPECT_EQ(ReadFloats(device, *y, groups * 4), expected);
}

void AllThreeGridDimensionsCount(Device& device) {
  KernelSource source;
  source.name = "grid";
  source.tensors = {{.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = {4, 2, 1};
  source.body =
      "int at = (GID(2) * 6 + GID(1)) * 8 + GID(0);\n"
      "y_store(at, make_float4(to_float(GID(0)), to_float(GID(1)), to_float(GID(2)), "
      "to_float(WGID(0) * 100 + LID(0) * 10 + LID(1))));\n";
  const auto group = Expect(device.Compile({&source, 1}));
  const auto y = BufferOf(device, 8 * 6 * 5 * 4);
  if (group == nullptr || y == nullptr) return;
  RunList(device, ListOf(DispatchOf(*group->programs()[0], {Whole(*y)}, {}, {2, 3, 5})));
  Floats expected;
  for (int z = 0; z < 5; ++z) {
    for (int h = 0; h < 6; ++h) {
      for (int w = 0; w < 8; ++w) {
        for (int value : {w, h, z, w / 4 * 100 + w % 4 * 10 + h % 2}) expected.push_back(static_cast<float>(value));
      }
    }
  }
  EXPECT_EQ(ReadFloats(device, *y, expected.size()), expected);
}

void WideLoadsAndStoresMoveSixteenValues(Device& device) {
  KernelSource source = CopyKernel();
  source.name = "wide_copy";
  source.tensors[0].wide = source.tensors[1].wide = true;
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store16(at * 4, 1, 4, x_load16(at));\n}\n";
  const Floats input = Ramp(16 * 40);
  EXPECT_EQ(CompileAndRunUnary(device, source, input, {40}), input);
}

// A float32 input stored as float16 and read back through a second kernel by `path`.
void HalfRoundTrip(Device& device, AccessPath path) {
  KernelSource narrow = CopyKernel();
  narrow.name = "narrow";
  narrow.tensors[1].storage = StorageType::kFloat16;
  KernelSource widen = CopyKernel(path);
  widen.name = "widen";
  widen.tensors[0].storage = StorageType::kFloat16;
  const std::vector<KernelSource> sources = {narrow, widen};
  const auto group = Expect(device.Compile(sources));
  const Floats input = Ramp(4 * 200, -3.0f, 0.25f);  // all exact in float16
  const auto x = BufferOf(device, input.size());
  const auto half = Expect(device.CreateBuffer(input.size() * 2));
  const auto y = BufferOf(device, input.size());
  if (group == nullptr || x == nullptr || half == nullptr || y == nullptr) return;
  WriteFloats(device, *x, input);
  CommandRecorder recorder;
  recorder.Record(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*half)}, {200}, {GroupsFor(200, 32), 1, 1}),
                  {false, true});
  recorder.Record(DispatchOf(*group->programs()[1], {Whole(*half), Whole(*y)}, {200}, {GroupsFor(200, 32), 1, 1}),
                  {false, true});
  RunList(device, recorder.Finish());
  EXPECT_EQ(ReadFloats(device, *y, input.size()), input);
  uint16_t first = 0;
  const Status status = device.Read(*half, 0, sizeof first, [&](std::span<const std::byte> bytes) {
    std::memcpy(&first, bytes.data(), sizeof first);
    return Status::Ok();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(first, 0xc200) << "-3.0 in IEEE half precision";
}

void HalfPrecisionStorageKeepsValues(Device& device) {
  if (!device.info().fp16_storage) GTEST_SKIP() << "no 16-bit storage on " << device.info().name;
  HalfRoundTrip(device, AccessPath::kBuffer);
}

void HalfPrecisionTexelsKeepValues(Device& device) {
  if (!device.info().fp16_storage) GTEST_SKIP() << "no 16-bit storage on " << device.info().name;
  if (device.info().max_texel_elements == 0) GTEST_SKIP() << "no texel buffers on " << device.info().name;
  HalfRoundTrip(device, AccessPath::kTexelBuffer);
}

// A chain a -> b -> a -> ..., where each dispatch reads what the one before wrote, in reversed order so
// that a group depends on another group's writes.
void DependentChain(Device& device, AccessPath path) {
  constexpr size_t kTexels = 4096;
  constexpr int kSteps = 21;
  KernelSource source = CopyKernel(path);
  source.name = "reverse_and_add";
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load(count - 1 - at) + splat4(1.0f));\n}\n";
  const auto group = Expect(device.Compile({&source, 1}));
  const auto a = BufferOf(device, kTexels * 4);
  const auto b = BufferOf(device, kTexels * 4);
  if (group == nullptr || a == nullptr || b == nullptr) return;
  Floats input(kTexels * 4);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i);
  WriteFloats(device, *a, input);
  CommandRecorder recorder;
  for (int step = 0; step < kSteps; ++step) {
    Buffer& from = step % 2 == 0 ? *a : *b;
    Buffer& to = step % 2 == 0 ? *b : *a;
    recorder.Record(DispatchOf(*group->programs()[0], {Whole(from), Whole(to)}, {kTexels}, {kTexels / 32, 1, 1}),
                    {false, true});
  }
  RunList(device, recorder.Finish());
  Floats expected(input.size());
  for (size_t i = 0; i < input.size(); ++i) {
    expected[i] = input[(kTexels - 1 - i / 4) * 4 + i % 4] + static_cast<float>(kSteps);
  }
  EXPECT_EQ(ReadFloats(device, *b, expected.size()), expected);
}

void DependentDispatchesRunInOrder(Device& device) {
  DependentChain(device, AccessPath::kBuffer);
}

void TexelReadsSeeEarlierWrites(Device& device) {
  if (device.info().max_texel_elements == 0) GTEST_SKIP() << "no texel buffers on " << device.info().name;
  DependentChain(device, AccessPath::kTexelBuffer);
}

void APreparedListRunsAgainOnNewInput(Device& device) {
  const KernelSource source = CopyKernel();
  const auto group = Expect(device.Compile({&source, 1}));
  const auto x = BufferOf(device, 4 * 96);
  const auto y = BufferOf(device, 4 * 96);
  if (group == nullptr || x == nullptr || y == nullptr) return;
  const auto executable =
      Expect(device.Prepare(ListOf(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {96}, {3, 1, 1}))));
  if (executable == nullptr) return;
  for (int run = 0; run < 5; ++run) {
    const Floats input = Ramp(4 * 96, static_cast<float>(run));
    WriteFloats(device, *x, input);
    const Status status = executable->Run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(ReadFloats(device, *y, input.size()), input) << "run " << run;
  }
}

void AListIsPreparedTwice(Device& device) {
  const KernelSource source = AffineKernel();
  const auto group = Expect(device.Compile({&source, 1}));
  const auto x = BufferOf(device, 4 * 32);
  const auto y = BufferOf(device, 4 * 32);
  if (group == nullptr || x == nullptr || y == nullptr) return;
  const auto list_with_bias = [&](uint32_t bias) {
    return ListOf(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {32, std::bit_cast<uint32_t>(1.0f), bias},
                             {1, 1, 1}));
  };
  WriteFloats(device, *x, Floats(4 * 32, 1.0f));
  const auto first = Expect(device.Prepare(list_with_bias(1)));
  const auto second = Expect(device.Prepare(list_with_bias(2)));
  if (first == nullptr || second == nullptr) return;
  EXPECT_TRUE(second->Run().ok());
  EXPECT_EQ(ReadFloats(device, *y, 4 * 32), Floats(4 * 32, 3.0f));
  EXPECT_TRUE(first->Run().ok());
  EXPECT_EQ(ReadFloats(device, *y, 4 * 32), Floats(4 * 32, 2.0f));
}

void AnEmptyListRuns(Device& device) {
  RunList(device, CommandList{});
}

void ProfileGivesOneTimePerDispatch(Device& device) {
  const KernelSource source = CopyKernel();
  const auto group = Expect(device.Compile({&source, 1}));
  const auto x = BufferOf(device, 4 * 4096);
  const auto y = BufferOf(device, 4 * 4096);
  const auto z = BufferOf(device, 4 * 4096);
  if (group == nullptr || x == nullptr || y == nullptr || z == nullptr) return;
  WriteFloats(device, *x, Ramp(4 * 4096));
  CommandRecorder recorder;
  Program& copy = *group->programs()[0];
  recorder.Record(DispatchOf(copy, {Whole(*x), Whole(*y)}, {4096}, {128, 1, 1}), {false, true});
  recorder.Record(DispatchOf(copy, {Whole(*y), Whole(*z)}, {4096}, {128, 1, 1}), {false, true});
  const auto executable = Expect(device.Prepare(recorder.Finish()));
  if (executable == nullptr) return;
  for (int run = 0; run < 2; ++run) {
    const auto times = executable->RunProfiled();
    ASSERT_TRUE(times.ok()) << times.status().message();
    ASSERT_EQ(times->size(), 2u);
    for (double milliseconds : *times) {
      EXPECT_GE(milliseconds, 0.0);
      EXPECT_LT(milliseconds, 60000.0);
    }
  }
  EXPECT_EQ(ReadFloats(device, *z, 4 * 4096), Ramp(4 * 4096));
  EXPECT_TRUE(executable->Run().ok()) << "an ordinary run after a profiled one";
}

void ABinaryLoadsToEqualResults(Device& device) {
  const std::vector<KernelSource> sources = {CopyKernel(), AffineKernel()};
  const auto compiled = Expect(device.Compile(sources));
  if (compiled == nullptr) return;
  const Floats input = Ramp(4 * 100);
  const std::vector<uint32_t> scalars = {100, std::bit_cast<uint32_t>(3.0f), 5};
  const Floats copied = RunUnary(device, *compiled->programs()[0], input, {100});
  const Floats scaled = RunUnary(device, *compiled->programs()[1], input, scalars);
  const auto binary = compiled->Binary();
  if (!binary.ok() && binary.status().code() == StatusCode::kUnsupported) GTEST_SKIP() << binary.status().message();
  ASSERT_TRUE(binary.ok()) << binary.status().message();
  const auto loaded = Expect(device.Load(sources, *binary));
  if (loaded == nullptr) return;
  ASSERT_EQ(loaded->programs().size(), 2u);
  EXPECT_EQ(loaded->spirv_compiled(), 0);
  EXPECT_EQ(RunUnary(device, *loaded->programs()[0], input, {100}), copied);
  EXPECT_EQ(RunUnary(device, *loaded->programs()[1], input, scalars), scaled);
}

void ACompileErrorNamesTheKernel(Device& device) {
  KernelSource source = CopyKernel();
  source.name = "broken_on_purpose";
  source.body = "int at = no_such_function(1);\ny_store(at, x_load(at));\n";
  const auto group = device.Compile({&source, 1});
  ASSERT_FALSE(group.ok());
  EXPECT_NE(group.status().message().find("broken_on_purpose"), std::string::npos) << group.status().message();
}

void KernelsCompileFromSeveralThreads(Device& device) {
  constexpr int kThreads = 4;
  std::vector<std::unique_ptr<ProgramGroup>> groups(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&device, &groups, t] {
      KernelSource source = AffineKernel();
      source.defines = {{"OFFSET", std::to_string(t) + ".0f"}};
      source.body =
          "int at = GID(0);\nif (at < count) {\n"
          "  y_store(at, x_load(at) * scale + splat4(to_float(bias) + OFFSET));\n}\n";
      auto group = device.Compile({&source, 1});
      if (group.ok()) groups[t] = std::move(group).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    ASSERT_NE(groups[t], nullptr) << "thread " << t;
    EXPECT_EQ(RunUnary(device, *groups[t]->programs()[0], Floats(64, 2.0f), {16, std::bit_cast<uint32_t>(1.0f), 10}),
              Floats(64, 12.0f + static_cast<float>(t)));
  }
}

void AFailedFillIsPassedOn(Device& device) {
  const auto buffer = BufferOf(device, 16);
  if (buffer == nullptr) return;
  const Status refuse(StatusCode::kMalformedInput, "refused on purpose");
  EXPECT_EQ(device.Write(*buffer, 0, 64, [&](std::span<std::byte>) { return refuse; }).message(), refuse.message());
  EXPECT_EQ(device.Read(*buffer, 0, 64, [&](std::span<const std::byte>) { return refuse; }).message(),
            refuse.message());
}

void BytesAtOddOffsetsAreWrittenAndRead(Device& device) {
  const auto buffer = Expect(device.CreateBuffer(1003));
  if (buffer == nullptr) return;
  std::string first(1003, 'a');
  WriteBytes(device, *buffer, first.data(), first.size());
  WriteBytes(device, *buffer, "hello", 5, 997);
  WriteBytes(device, *buffer, "x", 1, 3);
  first.replace(997, 5, "hello");
  first[3] = 'x';
  std::string seen;
  const Status status = device.Read(*buffer, 1, 1002, [&](std::span<const std::byte> bytes) {
    seen.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status::Ok();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(seen, first.substr(1));
}

void WrongArgumentsAreRefused(Device& device) {
  const KernelSource source = CopyKernel();
  const auto group = Expect(device.Compile({&source, 1}));
  const auto x = BufferOf(device, 4 * 32);
  if (group == nullptr || x == nullptr) return;
  Program& copy = *group->programs()[0];
  const auto refused = [&](std::vector<BoundRange> tensors, std::vector<uint32_t> scalars) {
    return !device.Prepare(ListOf(DispatchOf(copy, std::move(tensors), std::move(scalars), {1, 1, 1}))).ok();
  };
  EXPECT_TRUE(refused({Whole(*x)}, {32})) << "a tensor is missing";
  EXPECT_TRUE(refused({Whole(*x), Whole(*x)}, {})) << "a scalar is missing";
  EXPECT_TRUE(refused({Whole(*x), {x.get(), 0, x->size_bytes() + 1}}, {32})) << "a range ends behind its buffer";
  EXPECT_TRUE(refused({Whole(*x), {nullptr, 0, 16}}, {32})) << "no buffer";
}

constexpr DeviceCase kCases[] = {
    {"CopyThroughBuffer", CopyThroughBuffer},
    {"CopyThroughTexelBuffer", CopyThroughTexelBuffer},
    {"OffsetsInsideABufferAreRespected", OffsetsInsideABufferAreRespected},
    {"OffsetsInsideATexelBufferAreRespected", OffsetsInsideATexelBufferAreRespected},
    {"ScalarsOfBothTypesReachTheKernel", ScalarsOfBothTypesReachTheKernel},
    {"EpilogueRunsBeforeTheStore", EpilogueRunsBeforeTheStore},
    {"SharedMemoryReductionSumsAGroup", SharedMemoryReductionSumsAGroup},
    {"AllThreeGridDimensionsCount", AllThreeGridDimensionsCount},
    {"WideLoadsAndStoresMoveSixteenValues", WideLoadsAndStoresMoveSixteenValues},
    {"HalfPrecisionStorageKeepsValues", HalfPrecisionStorageKeepsValues},
    {"HalfPrecisionTexelsKeepValues", HalfPrecisionTexelsKeepValues},
    {"DependentDispatchesRunInOrder", DependentDispatchesRunInOrder},
    {"TexelReadsSeeEarlierWrites", TexelReadsSeeEarlierWrites},
    {"APreparedListRunsAgainOnNewInput", APreparedListRunsAgainOnNewInput},
    {"AListIsPreparedTwice", AListIsPreparedTwice},
    {"AnEmptyListRuns", AnEmptyListRuns},
    {"ProfileGivesOneTimePerDispatch", ProfileGivesOneTimePerDispatch},
    {"ABinaryLoadsToEqualResults", ABinaryLoadsToEqualResults},
    {"ACompileErrorNamesTheKernel", ACompileErrorNamesTheKernel},
    {"KernelsCompileFromSeveralThreads", KernelsCompileFromSeveralThreads},
    {"AFailedFillIsPassedOn", AFailedFillIsPassedOn},
    {"BytesAtOddOffsetsAreWrittenAndRead", BytesAtOddOffsetsAreWrittenAndRead},
    {"WrongArgumentsAreRefused", WrongArgumentsAreRefused},
};

}  // namespace

std::span<const DeviceCase> DeviceCases() {
  return kCases;
}

}  // namespace hearth::testing
