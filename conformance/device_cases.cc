#include "conformance/device_cases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/emit/kernel_source.h"
#include "core/graph/op.h"

namespace hearth::conformance {
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

Status Check(bool holds, std::string_view what) {
  return holds ? Status::Ok() : Error(StatusCode::kInternal, "{}", what);
}

Status SameFloats(const Floats& expected, const Result<Floats>& result) {
  HEARTH_TRY(result.status());
  const Floats& seen = *result;
  if (seen.size() != expected.size()) {
    return Error(StatusCode::kInternal, "{} numbers where {} belong", seen.size(), expected.size());
  }
  for (size_t k = 0; k < expected.size(); ++k) {
    if (seen[k] != expected[k]) {
      return Error(StatusCode::kInternal, "number {} is {}, expected {}", k, seen[k], expected[k]);
    }
  }
  return Status::Ok();
}

Status Lacks(const Device& device, const char* what) {
  return Error(StatusCode::kUnsupported, "no {} on {}", what, device.info().name);
}

Result<std::unique_ptr<Buffer>> BufferOf(Device& device, size_t floats) {
  return device.CreateBuffer(floats * sizeof(float));
}

Status WriteBytes(Device& device, Buffer& buffer, const void* data, size_t size_bytes, uint64_t offset_bytes = 0) {
  return device.Write(buffer, offset_bytes, size_bytes, [&](std::span<std::byte> room) {
    std::memcpy(room.data(), data, std::min(room.size(), size_bytes));
    return Check(room.size() == size_bytes, "the room to write has another size");
  });
  return Status::Ok();
}

Status WriteFloats(Device& device, Buffer& buffer, const Floats& values, uint64_t offset_bytes = 0) {
  return WriteBytes(device, buffer, values.data(), values.size() * sizeof(float), offset_bytes);
}

Result<Floats> ReadFloats(Device& device, const Buffer& buffer, size_t count, uint64_t offset_bytes = 0) {
  Floats values(count, -12345.0f);
  HEARTH_TRY(device.Read(buffer, offset_bytes, count * sizeof(float), [&](std::span<const std::byte> bytes) {
    std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), count * sizeof(float)));
    return Status::Ok();
  }));
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

Status RunList(Device& device, const CommandList& list) {
  HEARTH_ASSIGN(const auto executable, device.Prepare(list));
  return executable->Run();
}

// Runs a kernel of one input "x" and one output "y" over `input.size() / 4` texels and reads y back.
Result<Floats> RunUnary(Device& device, Program& program, const Floats& input, std::vector<uint32_t> scalars) {
  HEARTH_ASSIGN(const auto x, BufferOf(device, input.size()));
  HEARTH_ASSIGN(const auto y, BufferOf(device, input.size()));
  HEARTH_TRY(WriteFloats(device, *x, input));
  const uint32_t groups = GroupsFor(input.size() / 4, program.source().local_size[0]);
  HEARTH_TRY(RunList(device, ListOf(DispatchOf(program, {Whole(*x), Whole(*y)}, std::move(scalars), {groups, 1, 1}))));
  return ReadFloats(device, *y, input.size());
}

Result<Floats> CompileAndRunUnary(Device& device, const KernelSource& source, const Floats& input,
                                  std::vector<uint32_t> scalars) {
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  return RunUnary(device, *group->programs()[0], input, std::move(scalars));
}

Status CopyThroughBuffer(Device& device) {
  const Floats input = Ramp(4 * 1000);
  return SameFloats(input, CompileAndRunUnary(device, CopyKernel(), input, {1000}));
}

Status CopyThroughTexelBuffer(Device& device) {
  if (device.info().max_texel_elements == 0) return Lacks(device, "texel buffers");
  const Floats input = Ramp(4 * 1000);
  return SameFloats(input, CompileAndRunUnary(device, CopyKernel(AccessPath::kTexelBuffer), input, {1000}));
}

// Two inputs and the output inside one buffer, each at an aligned offset that is not 0.
Status RangesInsideOneBuffer(Device& device, AccessPath path) {
  KernelSource source;
  source.name = "subtract";
  source.tensors = {
      {.name = "a", .path = path}, {.name = "b", .path = path}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.scalars = {{"count", ScalarType::kInt}};
  source.local_size = {16, 1, 1};
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, a_load(at) - b_load(at));\n}\n";
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));

  const uint64_t texels = 37;
  const uint64_t size = texels * 16;
  const uint64_t alignment = device.info().buffer_offset_alignment;
  const uint64_t stride = (size + alignment - 1) / alignment * alignment;
  HEARTH_ASSIGN(const auto buffer, device.CreateBuffer(4 * stride + size));
  HEARTH_TRY(WriteFloats(device, *buffer, Ramp(4 * texels, 100.0f, 1.0f), stride));
  HEARTH_TRY(WriteFloats(device, *buffer, Ramp(4 * texels, 0.0f, 0.5f), 3 * stride));
  const std::vector<BoundRange> ranges = {
      {buffer.get(), stride, size}, {buffer.get(), 3 * stride, size}, {buffer.get(), 2 * stride, size}};
  HEARTH_TRY(RunList(device, ListOf(DispatchOf(*group->programs()[0], ranges, {static_cast<uint32_t>(texels)},
                                               {GroupsFor(texels, 16), 1, 1}))));
  return SameFloats(Ramp(4 * texels, 100.0f, 0.5f), ReadFloats(device, *buffer, 4 * texels, 2 * stride));
}

Status OffsetsInsideABufferAreRespected(Device& device) {
  return RangesInsideOneBuffer(device, AccessPath::kBuffer);
}

// Devices limit what a kernel sees of a buffer, and hold larger ones: the networks' arenas.
Status PartsOfABufferOverTheBindingLimitAreBound(Device& device) {
  const DeviceInfo& info = device.info();
  constexpr uint64_t kMostBytesTried = uint64_t{1} << 29;
  const uint64_t offset_bytes = (info.max_binding_bytes + info.buffer_offset_alignment) / info.buffer_offset_alignment *
                                info.buffer_offset_alignment;
  if (offset_bytes + 4096 > std::min(info.max_buffer_bytes, kMostBytesTried)) return Lacks(device, "such a buffer");
  const KernelSource source = CopyKernel();
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto large, device.CreateBuffer(offset_bytes + 4096));
  HEARTH_ASSIGN(const auto small, device.CreateBuffer(4096));
  const Floats input = Ramp(1024);
  HEARTH_TRY(WriteFloats(device, *small, input));
  const BoundRange part = {large.get(), offset_bytes, 4096};
  HEARTH_TRY(RunList(device, ListOf(DispatchOf(*group->programs()[0], {Whole(*small), part}, {256}, {8, 1, 1}))));
  HEARTH_TRY(SameFloats(input, ReadFloats(device, *large, 1024, offset_bytes)));
  HEARTH_TRY(WriteFloats(device, *small, Floats(1024, 0.0f)));
  HEARTH_TRY(RunList(device, ListOf(DispatchOf(*group->programs()[0], {part, Whole(*small)}, {256}, {8, 1, 1}))));
  return SameFloats(input, ReadFloats(device, *small, 1024));
}

Status OffsetsInsideATexelBufferAreRespected(Device& device) {
  if (device.info().max_texel_elements == 0) return Lacks(device, "texel buffers");
  return RangesInsideOneBuffer(device, AccessPath::kTexelBuffer);
}

Status ScalarsOfBothTypesReachTheKernel(Device& device) {
  const Floats input = Ramp(4 * 50);
  Floats expected = input;
  for (float& value : expected) value = value * -0.5f - 7.0f;
  return SameFloats(expected, CompileAndRunUnary(device, AffineKernel(), input,
                                                 {50, std::bit_cast<uint32_t>(-0.5f), static_cast<uint32_t>(-7)}));
}

Status EpilogueRunsBeforeTheStore(Device& device) {
  KernelSource source = CopyKernel();
  source.epilogue = {{StatementForm::kUnary, ElementFunction::Of(UnaryKind::kSquare)},
                     {.form = StatementForm::kAdd, .arguments = {"x"}}};
  const Floats input = Ramp(4 * 64);
  Floats expected = input;
  for (float& value : expected) value = value * value + value;
  return SameFloats(expected, CompileAndRunUnary(device, source, input, {64}));
}

Status SharedMemoryReductionSumsAGroup(Device& device) {
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
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  const size_t groups = 5;
  HEARTH_ASSIGN(const auto x, BufferOf(device, groups * 64 * 4));
  HEARTH_ASSIGN(const auto y, BufferOf(device, groups * 4));
  Floats input(groups * 64 * 4);
  Floats expected(groups * 4, 0.0f);
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>(i % 97);  // sums of small integers: exact in any order
    expected[i / 256 * 4 + i % 4] += input[i];
  }
  HEARTH_TRY(WriteFloats(device, *x, input));
  HEARTH_TRY(RunList(device, ListOf(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {}, {groups, 1, 1}))));
  return SameFloats(expected, ReadFloats(device, *y, groups * 4));
}

Status AllThreeGridDimensionsCount(Device& device) {
  KernelSource source;
  source.name = "grid";
  source.tensors = {{.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = {4, 2, 1};
  source.body =
      "int at = (GID(2) * 6 + GID(1)) * 8 + GID(0);\n"
      "y_store(at, make_float4(to_float(GID(0)), to_float(GID(1)), to_float(GID(2)), "
      "to_float(WGID(0) * 100 + LID(0) * 10 + LID(1))));\n";
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 8 * 6 * 5 * 4));
  HEARTH_TRY(RunList(device, ListOf(DispatchOf(*group->programs()[0], {Whole(*y)}, {}, {2, 3, 5}))));
  Floats expected;
  for (int z = 0; z < 5; ++z) {
    for (int h = 0; h < 6; ++h) {
      for (int w = 0; w < 8; ++w) {
        for (int value : {w, h, z, w / 4 * 100 + w % 4 * 10 + h % 2}) expected.push_back(static_cast<float>(value));
      }
    }
  }
  return SameFloats(expected, ReadFloats(device, *y, expected.size()));
}

Status WideLoadsAndStoresMoveSixteenValues(Device& device) {
  KernelSource source = CopyKernel();
  source.name = "wide_copy";
  source.tensors[0].wide = source.tensors[1].wide = true;
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store16(at * 4, 1, 4, x_load16(at));\n}\n";
  const Floats input = Ramp(16 * 40);
  return SameFloats(input, CompileAndRunUnary(device, source, input, {40}));
}

// A float32 input stored as float16 and read back through a second kernel by `path`.
Status HalfRoundTrip(Device& device, AccessPath path) {
  KernelSource narrow = CopyKernel();
  narrow.name = "narrow";
  narrow.tensors[1].storage = StorageType::kFloat16;
  KernelSource widen = CopyKernel(path);
  widen.name = "widen";
  widen.tensors[0].storage = StorageType::kFloat16;
  const std::vector<KernelSource> sources = {narrow, widen};
  HEARTH_ASSIGN(const auto group, device.Compile(sources));
  const Floats input = Ramp(4 * 200, -3.0f, 0.25f);  // all exact in float16
  HEARTH_ASSIGN(const auto x, BufferOf(device, input.size()));
  HEARTH_ASSIGN(const auto half, device.CreateBuffer(input.size() * 2));
  HEARTH_ASSIGN(const auto y, BufferOf(device, input.size()));
  HEARTH_TRY(WriteFloats(device, *x, input));
  CommandRecorder recorder;
  recorder.Record(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*half)}, {200}, {GroupsFor(200, 32), 1, 1}),
                  {false, true});
  recorder.Record(DispatchOf(*group->programs()[1], {Whole(*half), Whole(*y)}, {200}, {GroupsFor(200, 32), 1, 1}),
                  {false, true});
  HEARTH_TRY(RunList(device, recorder.Finish()));
  HEARTH_TRY(SameFloats(input, ReadFloats(device, *y, input.size())));
  uint16_t first = 0;
  const Status status = device.Read(*half, 0, sizeof first, [&](std::span<const std::byte> bytes) {
    std::memcpy(&first, bytes.data(), sizeof first);
    return Status::Ok();
  });
  HEARTH_TRY(status);
  return Check(first == 0xc200, "-3.0 in IEEE half precision");
}

Status HalfPrecisionStorageKeepsValues(Device& device) {
  if (!device.info().fp16_storage) return Lacks(device, "16-bit storage");
  return HalfRoundTrip(device, AccessPath::kBuffer);
}

Status HalfPrecisionTexelsKeepValues(Device& device) {
  if (!device.info().fp16_storage) return Lacks(device, "16-bit storage");
  if (device.info().max_texel_elements == 0) return Lacks(device, "texel buffers");
  return HalfRoundTrip(device, AccessPath::kTexelBuffer);
}

// A chain a -> b -> a -> ..., where each dispatch reads what the one before wrote, in reversed order so
// that a group depends on another group's writes.
Status DependentChain(Device& device, AccessPath path) {
  constexpr size_t kTexels = 4096;
  constexpr int kSteps = 21;
  KernelSource source = CopyKernel(path);
  source.name = "reverse_and_add";
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load(count - 1 - at) + splat4(1.0f));\n}\n";
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto a, BufferOf(device, kTexels * 4));
  HEARTH_ASSIGN(const auto b, BufferOf(device, kTexels * 4));
  Floats input(kTexels * 4);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i);
  HEARTH_TRY(WriteFloats(device, *a, input));
  CommandRecorder recorder;
  for (int step = 0; step < kSteps; ++step) {
    Buffer& from = step % 2 == 0 ? *a : *b;
    Buffer& to = step % 2 == 0 ? *b : *a;
    recorder.Record(DispatchOf(*group->programs()[0], {Whole(from), Whole(to)}, {kTexels}, {kTexels / 32, 1, 1}),
                    {false, true});
  }
  HEARTH_TRY(RunList(device, recorder.Finish()));
  Floats expected(input.size());
  for (size_t i = 0; i < input.size(); ++i) {
    expected[i] = input[(kTexels - 1 - i / 4) * 4 + i % 4] + static_cast<float>(kSteps);
  }
  return SameFloats(expected, ReadFloats(device, *b, expected.size()));
}

Status DependentDispatchesRunInOrder(Device& device) {
  return DependentChain(device, AccessPath::kBuffer);
}

Status TexelReadsSeeEarlierWrites(Device& device) {
  if (device.info().max_texel_elements == 0) return Lacks(device, "texel buffers");
  return DependentChain(device, AccessPath::kTexelBuffer);
}

Status APreparedListRunsAgainOnNewInput(Device& device) {
  const KernelSource source = CopyKernel();
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto x, BufferOf(device, 4 * 96));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 4 * 96));
  HEARTH_ASSIGN(const auto executable,
                device.Prepare(ListOf(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {96}, {3, 1, 1}))));
  for (int run = 0; run < 5; ++run) {
    const Floats input = Ramp(4 * 96, static_cast<float>(run));
    HEARTH_TRY(WriteFloats(device, *x, input));
    const Status status = executable->Run();
    HEARTH_TRY(status);
    HEARTH_TRY(SameFloats(input, ReadFloats(device, *y, input.size())));
  }
  return Status::Ok();
}

Status AListIsPreparedTwice(Device& device) {
  const KernelSource source = AffineKernel();
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto x, BufferOf(device, 4 * 32));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 4 * 32));
  const auto list_with_bias = [&](uint32_t bias) {
    return ListOf(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {32, std::bit_cast<uint32_t>(1.0f), bias},
                             {1, 1, 1}));
  };
  HEARTH_TRY(WriteFloats(device, *x, Floats(4 * 32, 1.0f)));
  HEARTH_ASSIGN(const auto first, device.Prepare(list_with_bias(1)));
  HEARTH_ASSIGN(const auto second, device.Prepare(list_with_bias(2)));
  HEARTH_TRY(second->Run());
  HEARTH_TRY(SameFloats(Floats(4 * 32, 3.0f), ReadFloats(device, *y, 4 * 32)));
  HEARTH_TRY(first->Run());
  return SameFloats(Floats(4 * 32, 2.0f), ReadFloats(device, *y, 4 * 32));
}

Status AnEmptyListRuns(Device& device) {
  HEARTH_TRY(RunList(device, CommandList{}));
  return Status::Ok();
}

Status ProfileGivesOneTimePerDispatch(Device& device) {
  const KernelSource source = CopyKernel();
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto x, BufferOf(device, 4 * 4096));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 4 * 4096));
  HEARTH_ASSIGN(const auto z, BufferOf(device, 4 * 4096));
  HEARTH_TRY(WriteFloats(device, *x, Ramp(4 * 4096)));
  CommandRecorder recorder;
  Program& copy = *group->programs()[0];
  recorder.Record(DispatchOf(copy, {Whole(*x), Whole(*y)}, {4096}, {128, 1, 1}), {false, true});
  recorder.Record(DispatchOf(copy, {Whole(*y), Whole(*z)}, {4096}, {128, 1, 1}), {false, true});
  HEARTH_ASSIGN(const auto executable, device.Prepare(recorder.Finish()));
  for (int run = 0; run < 2; ++run) {
    const auto times = executable->RunProfiled();
    HEARTH_TRY(Check(times.ok(), "times.ok()"));
    HEARTH_TRY(Check(times->size() == 2u, "times->size() == 2u"));
    for (double milliseconds : *times) {
      HEARTH_TRY(Check(milliseconds >= 0.0, "milliseconds >= 0.0"));
      HEARTH_TRY(Check(milliseconds < 60000.0, "milliseconds < 60000.0"));
    }
  }
  HEARTH_TRY(SameFloats(Ramp(4 * 4096), ReadFloats(device, *z, 4 * 4096)));
  HEARTH_TRY(executable->Run());
  return Status::Ok();
}

Status ABinaryLoadsToEqualResults(Device& device) {
  const std::vector<KernelSource> sources = {CopyKernel(), AffineKernel()};
  HEARTH_ASSIGN(const auto compiled, device.Compile(sources));
  const Floats input = Ramp(4 * 100);
  const std::vector<uint32_t> scalars = {100, std::bit_cast<uint32_t>(3.0f), 5};
  HEARTH_ASSIGN(const Floats copied, RunUnary(device, *compiled->programs()[0], input, {100}));
  HEARTH_ASSIGN(const Floats scaled, RunUnary(device, *compiled->programs()[1], input, scalars));
  const auto binary = compiled->Binary();
  if (!binary.ok() && binary.status().code() == StatusCode::kUnsupported) return binary.status();
  HEARTH_TRY(Check(binary.ok(), "binary.ok()"));
  HEARTH_ASSIGN(const auto loaded, device.Load(sources, *binary));
  HEARTH_TRY(Check(loaded->programs().size() == 2u, "loaded->programs().size() == 2u"));
  HEARTH_TRY(Check(loaded->spirv_compiled() == 0, "loaded->spirv_compiled() == 0"));
  HEARTH_TRY(SameFloats(copied, RunUnary(device, *loaded->programs()[0], input, {100})));
  return SameFloats(scaled, RunUnary(device, *loaded->programs()[1], input, scalars));
}

Status KernelsCompileFromSeveralThreads(Device& device) {
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
    HEARTH_TRY(Check(groups[t] != nullptr, "thread "));
    HEARTH_TRY(SameFloats(
        Floats(64, 12.0f + static_cast<float>(t)),
        RunUnary(device, *groups[t]->programs()[0], Floats(64, 2.0f), {16, std::bit_cast<uint32_t>(1.0f), 10})));
  }
  return Status::Ok();
}

Status AFailedFillIsPassedOn(Device& device) {
  HEARTH_ASSIGN(const auto buffer, BufferOf(device, 16));
  const Status refuse(StatusCode::kMalformedInput, "refused on purpose");
  HEARTH_TRY(Check(
      device.Write(*buffer, 0, 64, [&](std::span<std::byte>) { return refuse; }).message() == refuse.message(),
      "device.Write(*buffer, 0, 64, [&](std::span<std::byte>) { return refuse; }).message() == refuse.message()"));
  HEARTH_TRY(Check(
      device.Read(*buffer, 0, 64, [&](std::span<const std::byte>) { return refuse; }).message() == refuse.message(),
      "device.Read(*buffer, 0, 64, [&](std::span<const std::byte>) { return refuse; }).message() == refuse.message()"));
  return Status::Ok();
}

Status BytesAtOddOffsetsAreWrittenAndRead(Device& device) {
  HEARTH_ASSIGN(const auto buffer, device.CreateBuffer(1003));
  std::string first(1003, 'a');
  HEARTH_TRY(WriteBytes(device, *buffer, first.data(), first.size()));
  HEARTH_TRY(WriteBytes(device, *buffer, "hello", 5, 997));
  HEARTH_TRY(WriteBytes(device, *buffer, "x", 1, 3));
  first.replace(997, 5, "hello");
  first[3] = 'x';
  std::string seen;
  const Status status = device.Read(*buffer, 1, 1002, [&](std::span<const std::byte> bytes) {
    seen.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status::Ok();
  });
  HEARTH_TRY(status);
  return Check(seen == first.substr(1), "seen == first.substr(1)");
}

constexpr DeviceCase kCases[] = {
    {"CopyThroughBuffer", CopyThroughBuffer},
    {"CopyThroughTexelBuffer", CopyThroughTexelBuffer},
    {"OffsetsInsideABufferAreRespected", OffsetsInsideABufferAreRespected},
    {"PartsOfABufferOverTheBindingLimitAreBound", PartsOfABufferOverTheBindingLimitAreBound},
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
    {"KernelsCompileFromSeveralThreads", KernelsCompileFromSeveralThreads},
    {"AFailedFillIsPassedOn", AFailedFillIsPassedOn},
    {"BytesAtOddOffsetsAreWrittenAndRead", BytesAtOddOffsetsAreWrittenAndRead},
};

}  // namespace

std::span<const DeviceCase> DeviceCases() {
  static const std::vector<DeviceCase> kAll = [] {
    std::vector<DeviceCase> all(std::begin(kCases), std::end(kCases));
    for (const auto& more : {RequestCases(), ContractCases()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

}  // namespace hearth::conformance
