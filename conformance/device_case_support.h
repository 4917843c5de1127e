// Code that device cases share: kernels, buffers of numbers, running lists.
#ifndef HEARTH_CONFORMANCE_DEVICE_CASE_SUPPORT_H_
#define HEARTH_CONFORMANCE_DEVICE_CASE_SUPPORT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device/device.h"

namespace hearth::conformance {

using Floats = std::vector<float>;

Floats Ramp(size_t count, float start = 0.5f, float step = 0.25f);

// Their groups, and those of other cases, are as large as the device takes: it may take a single item.
KernelSource UnaryKernel(const Device& device, std::string name, uint32_t group_items, std::string body);  // x to y
KernelSource CopyKernel(const Device& device, AccessPath path = AccessPath::kBuffer);
KernelSource AffineKernel(const Device& device);  // y = scale * x + bias

Status Check(bool holds, std::string_view what);  // kInternal with this text if it does not hold
Status SameFloats(const Floats& expected, const Result<Floats>& result);
Status Lacks(const Device& device, const char* what);  // kUnsupported
Status CheckReadPath(const Device& device, AccessPath path);

Result<std::unique_ptr<Buffer>> BufferOf(Device& device, size_t floats);
Status WriteBytes(Device& device, Buffer& buffer, const void* data, size_t size_bytes, uint64_t offset_bytes = 0);
Status WriteFloats(Device& device, Buffer& buffer, const Floats& values, uint64_t offset_bytes = 0);
Result<Floats> ReadFloats(Device& device, const Buffer& buffer, size_t count, uint64_t offset_bytes = 0);

BoundRange Whole(Buffer& buffer);
// As many groups as `items` need, or these.
DispatchCommand DispatchOf(Program& program, std::vector<BoundRange> tensors, std::vector<uint32_t> scalars,
                           uint64_t items);
DispatchCommand DispatchOf(Program& program, std::vector<BoundRange> tensors, std::vector<uint32_t> scalars,
                           std::array<uint32_t, 3> group_count);
Status RunList(Device& device, const CommandList& list);

// Runs a kernel of one input "x" and one output "y" over `input.size() / 4` texels and reads y back.
Result<Floats> RunUnary(Device& device, Program& program, const Floats& input, std::vector<uint32_t> scalars);
Result<Floats> CompileAndRunUnary(Device& device, const KernelSource& source, const Floats& input,
                                  std::vector<uint32_t> scalars);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_DEVICE_CASE_SUPPORT_H_
