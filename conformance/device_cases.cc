// Single kernels: access paths, offsets, scalars, storage, work groups.
#include "conformance/device_cases.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "conformance/device_case_support.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/group_size.h"
#include "core/emit/kernel_source.h"
#include "core/graph/op.h"

namespace hearth::conformance {
namespace {

template <AccessPath kPath>
Status Copy(Device& device) {
  HEARTH_TRY(CheckReadPath(device, kPath));
  const Floats input = Ramp(4 * 1000);
  return SameFloats(input, CompileAndRunUnary(device, CopyKernel(device, kPath), input, {1000}));
}

// Two inputs and the output in one buffer, each at an aligned offset other than 0.
template <AccessPath kPath>
Status RangesInsideOneBuffer(Device& device) {
  HEARTH_TRY(CheckReadPath(device, kPath));
  KernelSource source;
  source.name = "subtract";
  source.tensors = {
      {.name = "a", .path = kPath}, {.name = "b", .path = kPath}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.scalars = {{"count", ScalarType::kInt}};
  source.local_size = FittingGroup({16, 1, 1}, device.info());
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, a_load(at) - b_load(at));\n}\n";
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));

  constexpr uint32_t texels = 37;
  const uint64_t size = uint64_t{texels} * 16;
  const uint64_t alignment = device.info().buffer_offset_alignment;
  const uint64_t stride = RoundUp(size, alignment);
  HEARTH_ASSIGN(const auto buffer, device.CreateBuffer(4 * stride + size));
  HEARTH_TRY(WriteFloats(device, *buffer, Ramp(4 * texels, 100.0f, 1.0f), stride));
  HEARTH_TRY(WriteFloats(device, *buffer, Ramp(4 * texels, 0.0f, 0.5f), 3 * stride));
  const std::vector<BoundRange> ranges = {
      {buffer.get(), stride, size}, {buffer.get(), 3 * stride, size}, {buffer.get(), 2 * stride, size}};
  HEARTH_TRY(RunList(device, {{DispatchOf(*group->programs()[0], ranges, {texels}, texels)}}));
  return SameFloats(Ramp(4 * texels, 100.0f, 0.5f), ReadFloats(device, *buffer, 4 * texels, 2 * stride));
}

// A buffer, such as a network's arena, can be larger than the part that a kernel can see.
Status PartsOfABufferOverTheBindingLimitAreBound(Device& device) {
  const DeviceInfo& info = device.info();
  constexpr uint64_t kMostBytesTried = uint64_t{1} << 29;
  const uint64_t offset_bytes = (info.max_binding_bytes + info.buffer_offset_alignment) / info.buffer_offset_alignment *
                                info.buffer_offset_alignment;
  if (offset_bytes + 4096 > std::min(info.max_buffer_bytes, kMostBytesTried)) return Lacks(device, "such a buffer");
  const KernelSource source = CopyKernel(device);
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto large, device.CreateBuffer(offset_bytes + 4096));
  HEARTH_ASSIGN(const auto small, device.CreateBuffer(4096));
  const Floats input = Ramp(1024);
  HEARTH_TRY(WriteFloats(device, *small, input));
  const BoundRange part = {large.get(), offset_bytes, 4096};
  HEARTH_TRY(RunList(device, {{DispatchOf(*group->programs()[0], {Whole(*small), part}, {256}, 256)}}));
  HEARTH_TRY(SameFloats(input, ReadFloats(device, *large, 1024, offset_bytes)));
  HEARTH_TRY(WriteFloats(device, *small, Floats(1024, 0.0f)));
  HEARTH_TRY(RunList(device, {{DispatchOf(*group->programs()[0], {part, Whole(*small)}, {256}, 256)}}));
  return SameFloats(input, ReadFloats(device, *small, 1024));
}

Status ScalarsOfBothTypesReachTheKernel(Device& device) {
  const Floats input = Ramp(4 * 50);
  Floats expected = input;
  for (float& value : expected) value = value * -0.5f - 7.0f;
  return SameFloats(expected, CompileAndRunUnary(device, AffineKernel(device), input,
                                                 {50, std::bit_cast<uint32_t>(-0.5f), static_cast<uint32_t>(-7)}));
}

Status EpilogueRunsBeforeTheStore(Device& device) {
  KernelSource source = CopyKernel(device);
  source.epilogue = {{StatementForm::kUnary, ElementFunction::Of(UnaryKind::kSquare)},
                     {.form = StatementForm::kAdd, .arguments = {"x"}}};
  const Floats input = Ramp(4 * 64);
  Floats expected = input;
  for (float& value : expected) value = value * value + value;
  return SameFloats(expected, CompileAndRunUnary(device, source, input, {64}));
}

Status SharedMemoryReductionSumsAGroup(Device& device) {
  KernelSource source = UnaryKernel(device, "group_sum", 64,
                                    "int t = LID(0);\n"
                                    "part[t] = x_load(GID(0));\n"
                                    "BARRIER;\n"
                                    "for (int width = half_group; width > 0; width = width / 2) {\n"
                                    "  if (t < width) {\n    part[t] = part[t] + part[t + width];\n  }\n"
                                    "  BARRIER;\n"
                                    "}\n"
                                    "if (t == 0) {\n  y_store(WGID(0), part[0]);\n}\n");
  const uint32_t items = source.local_size[0];
  source.shared = {{"part", "float4", items}};
  source.scalars = {{"half_group", ScalarType::kInt}};
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  const size_t groups = 5;
  HEARTH_ASSIGN(const auto x, BufferOf(device, groups * items * 4));
  HEARTH_ASSIGN(const auto y, BufferOf(device, groups * 4));
  Floats input(groups * items * 4);
  Floats expected(groups * 4, 0.0f);
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>(i % 97);  // sums of small integers: exact in any order
    expected[i / (items * 4) * 4 + i % 4] += input[i];
  }
  HEARTH_TRY(WriteFloats(device, *x, input));
  HEARTH_TRY(RunList(
      device, {{DispatchOf(*group->programs()[0], {Whole(*x), Whole(*y)}, {items / 2}, uint64_t{groups} * items)}}));
  return SameFloats(expected, ReadFloats(device, *y, groups * 4));
}

Status AllThreeGridDimensionsCount(Device& device) {
  KernelSource source;
  source.name = "grid";
  source.tensors = {{.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = FittingGroup({4, 2, 1}, device.info());
  const auto columns = static_cast<int>(source.local_size[0]), lines = static_cast<int>(source.local_size[1]);
  source.body =
      "int at = (GID(2) * 6 + GID(1)) * 8 + GID(0);\n"
      "y_store(at, make_float4(to_float(GID(0)), to_float(GID(1)), to_float(GID(2)), "
      "to_float(WGID(0) * 100 + LID(0) * 10 + LID(1))));\n";
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const auto y, BufferOf(device, 8 * 6 * 5 * 4));
  HEARTH_TRY(RunList(device, {{DispatchOf(*group->programs()[0], {Whole(*y)}, {},
                                          {8 / source.local_size[0], 6 / source.local_size[1], 5})}}));
  Floats expected;
  for (int z = 0; z < 5; ++z) {
    for (int h = 0; h < 6; ++h) {
      for (int w = 0; w < 8; ++w) {
        const int place = w / columns * 100 + w % columns * 10 + h % lines;
        for (int value : {w, h, z, place}) expected.push_back(static_cast<float>(value));
      }
    }
  }
  return SameFloats(expected, ReadFloats(device, *y, expected.size()));
}

Status WideLoadsAndStoresMoveSixteenValues(Device& device) {
  KernelSource source = CopyKernel(device);
  source.name = "wide_copy";
  source.tensors[0].wide = source.tensors[1].wide = true;
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store16(at * 4, 1, 4, x_load16(at));\n}\n";
  const Floats input = Ramp(16 * 40);
  return SameFloats(input, CompileAndRunUnary(device, source, input, {40}));
}

Status LoadsFromABaseCountFromThere(Device& device) {
  KernelSource source = CopyKernel(device);
  source.name = "copy_from";
  source.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load_from(at / 2, at - at / 2));\n}\n";
  const Floats input = Ramp(4 * 41);
  return SameFloats(input, CompileAndRunUnary(device, source, input, {41}));
}

// Stores a float32 input as float16 and reads it back by this path in a second kernel.
template <AccessPath kPath>
Status HalfRoundTrip(Device& device) {
  if (!device.info().fp16_storage) return Lacks(device, "16-bit storage");
  HEARTH_TRY(CheckReadPath(device, kPath));
  KernelSource narrow = CopyKernel(device);
  narrow.name = "narrow";
  narrow.tensors[1].storage = StorageType::kFloat16;
  KernelSource widen = CopyKernel(device, kPath);
  widen.name = "widen";
  widen.tensors[0].storage = StorageType::kFloat16;
  widen.body = "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load_from(at / 2, at - at / 2));\n}\n";
  const std::vector<KernelSource> sources = {narrow, widen};
  HEARTH_ASSIGN(const auto group, device.Compile(sources));
  const Floats input = Ramp(4 * 200, -3.0f, 0.25f);  // all are exact in float16
  HEARTH_ASSIGN(const auto x, BufferOf(device, input.size()));
  HEARTH_ASSIGN(const auto half, device.CreateBuffer(input.size() * 2));
  HEARTH_ASSIGN(const auto y, BufferOf(device, input.size()));
  HEARTH_TRY(WriteFloats(device, *x, input));
  CommandRecorder recorder;
  recorder.Record(DispatchOf(*group->programs()[0], {Whole(*x), Whole(*half)}, {200}, 200), {false, true});
  recorder.Record(DispatchOf(*group->programs()[1], {Whole(*half), Whole(*y)}, {200}, 200), {false, true});
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

constexpr DeviceCase kCases[] = {
    {"CopyThroughBuffer", Copy<AccessPath::kBuffer>},
    {"CopyThroughTexelBuffer", Copy<AccessPath::kTexelBuffer>},
    {"OffsetsInsideABufferAreRespected", RangesInsideOneBuffer<AccessPath::kBuffer>},
    HEARTH_DEVICE_CASE(PartsOfABufferOverTheBindingLimitAreBound),
    {"OffsetsInsideATexelBufferAreRespected", RangesInsideOneBuffer<AccessPath::kTexelBuffer>},
    HEARTH_DEVICE_CASE(ScalarsOfBothTypesReachTheKernel),
    HEARTH_DEVICE_CASE(EpilogueRunsBeforeTheStore),
    HEARTH_DEVICE_CASE(SharedMemoryReductionSumsAGroup),
    HEARTH_DEVICE_CASE(AllThreeGridDimensionsCount),
    HEARTH_DEVICE_CASE(WideLoadsAndStoresMoveSixteenValues),
    HEARTH_DEVICE_CASE(LoadsFromABaseCountFromThere),
    {"HalfPrecisionStorageKeepsValues", HalfRoundTrip<AccessPath::kBuffer>},
    {"HalfPrecisionTexelsKeepValues", HalfRoundTrip<AccessPath::kTexelBuffer>}};

}  // namespace

std::span<const DeviceCase> DeviceCases() {
  static const std::vector<DeviceCase> kAll = [] {
    std::vector<DeviceCase> all(std::begin(kCases), std::end(kCases));
    for (const auto& more : {ListCases(), RunsInFlightCases(), ContractCases()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

}  // namespace hearth::conformance
