#include "conformance/device_case_support.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/device/group_size.h"

namespace hearth::conformance {

Floats Ramp(size_t count, float start, float step) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = start + step * static_cast<float>(i % 4096);
  return values;
}

KernelSource UnaryKernel(const Device& device, std::string name, uint32_t group_items, std::string body) {
  KernelSource source;
  source.name = std::move(name);
  source.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = FittingGroup({group_items, 1, 1}, device.info());
  source.body = std::move(body);
  return source;
}

KernelSource CopyKernel(const Device& device, AccessPath path) {
  KernelSource source =
      UnaryKernel(device, "copy", 32, "int at = GID(0);\nif (at < count) {\n  y_store(at, x_load(at));\n}\n");
  source.tensors[0].path = path;
  source.scalars = {{"count", ScalarType::kInt}};
  return source;
}

KernelSource AffineKernel(const Device& device) {
  KernelSource source = CopyKernel(device);
  source.name = "affine";
  source.scalars = {{"count", ScalarType::kInt}, {"scale", ScalarType::kFloat}, {"bias", ScalarType::kInt}};
  source.body =
      "int at = GID(0);\nif (at < count) {\n"
      "  y_store(at, x_load(at) * scale + splat4(to_float(bias)));\n}\n";
  return source;
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

Status CheckReadPath(const Device& device, AccessPath path) {
  const bool has_it = path != AccessPath::kTexelBuffer || device.info().max_texel_elements > 0;
  return has_it ? Status::Ok() : Lacks(device, "texel buffers");
}

Result<std::unique_ptr<Buffer>> BufferOf(Device& device, size_t floats) {
  return device.CreateBuffer(floats * sizeof(float));
}

Status WriteBytes(Device& device, Buffer& buffer, const void* data, size_t size_bytes, uint64_t offset_bytes) {
  return device.Write(buffer, offset_bytes, size_bytes, [&](std::span<std::byte> room) {
    std::memcpy(room.data(), data, std::min(room.size(), size_bytes));
    return Check(room.size() == size_bytes, "the room to write has another size");
  });
}

Status WriteFloats(Device& device, Buffer& buffer, const Floats& values, uint64_t offset_bytes) {
  return WriteBytes(device, buffer, values.data(), values.size() * sizeof(float), offset_bytes);
}

Result<Floats> ReadFloats(Device& device, const Buffer& buffer, size_t count, uint64_t offset_bytes) {
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

DispatchCommand DispatchOf(Program& program, std::vector<BoundRange> tensors, std::vector<uint32_t> scalars,
                           uint64_t items) {
  const uint32_t groups = GroupsFor(items, program.source().local_size[0]);
  return DispatchOf(program, std::move(tensors), std::move(scalars), {groups, 1, 1});
}

Status RunList(Device& device, const CommandList& list) {
  HEARTH_ASSIGN(const auto executable, device.Prepare(list));
  return executable->Run();
}

Result<Floats> RunUnary(Device& device, Program& program, const Floats& input, std::vector<uint32_t> scalars) {
  HEARTH_ASSIGN(const auto x, BufferOf(device, input.size()));
  HEARTH_ASSIGN(const auto y, BufferOf(device, input.size()));
  HEARTH_TRY(WriteFloats(device, *x, input));
  const DispatchCommand dispatch = DispatchOf(program, {Whole(*x), Whole(*y)}, std::move(scalars), input.size() / 4);
  HEARTH_TRY(RunList(device, {{dispatch}}));
  return ReadFloats(device, *y, input.size());
}

Result<Floats> CompileAndRunUnary(Device& device, const KernelSource& source, const Floats& input,
                                  std::vector<uint32_t> scalars) {
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  return RunUnary(device, *group->programs()[0], input, std::move(scalars));
}

}  // namespace hearth::conformance
