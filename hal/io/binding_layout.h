// The layout of an input or output in memory that the caller lends, and the kernel that moves it between there and
// slices.
#ifndef HEARTH_HAL_IO_BINDING_LAYOUT_H_
#define HEARTH_HAL_IO_BINDING_LAYOUT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"
#include "core/plan/plan.h"
#include "hal/device/native.h"

namespace hearth {

// A Binding with all defaults filled in. Positions are in elements, the unit of a kernel's index.
struct BindingLayout {
  StorageType element = StorageType::kScalar;
  bool is_pixel = false;           // an element is a whole pixel
  uint64_t first = 0;              // element of the first pixel
  uint64_t pitch = 0, stride = 0;  // elements from row to row and from pixel to pixel
  bool flip_vertically = false;
  std::array<float, 4> scale{}, offset{};
};

// kInvalidArgument for a binding that does not fit the tensor: the message says which number is wrong and what is
// right. kUnsupported for a tensor of integers.
Result<BindingLayout> LayoutOf(const Binding& binding, const TensorDesc& desc);

// The memory to import for the binding. Precondition: it fits the tensor.
NativeMemory MemoryOf(const Binding& binding, const TensorDesc& desc, bool is_written);

enum class Side : uint8_t { kInput, kOutput };

// A dispatch without its tensors: x is read, y is written.
struct BindingKernel {
  KernelSource source;
  std::vector<uint32_t> scalars;
  std::array<uint32_t, 3> group_count = {1, 1, 1};
  friend bool operator==(const BindingKernel&, const BindingKernel&) = default;
};

// From an input's lent memory to slices, or from slices to an output's.
Result<BindingKernel> BorrowedKernel(Side side, const BindingLayout& layout, bool is_texture,
                                     const HostTransfer& transfer, const DeviceInfo& device);
// Whether the tensor's numbers cross to this device and back as the caller has them, and its kernels move them to and
// from slices: 8-bit numbers (a quarter of the bytes over the bus) and large float32 tensors (no fourth channel for
// three; on an H100 the host's conversion of DeepLab's 21 channels took 2.5 times as long as all kernels). If the
// device shares the host's memory there is no gain: the host converts while it copies, in the time of a dispatch or
// less.
bool CrossesDense(const HostTransfer& transfer, const DeviceInfo& device);
uint64_t CrossingBytes(const HostTransfer& transfer);  // what lies between: the dense numbers, in whole elements
// From there to slices for an input, back for an output; the same bits as DenseToSlices and SlicesToDense.
Result<BindingKernel> DenseKernel(Side side, const HostTransfer& transfer, const DeviceInfo& device);
// From slices to slices, as they are.
Result<BindingKernel> CopyKernel(const HostTransfer& transfer, const DeviceInfo& device);

// The same on the host: between lent host memory and a dense tensor of the model's type. `memory` starts at the
// binding's handle.
void ReadBinding(const BindingLayout& layout, const TensorDesc& desc, std::span<const std::byte> memory,
                 std::span<std::byte> dense);
void WriteBinding(const BindingLayout& layout, const TensorDesc& desc, std::span<const std::byte> dense,
                  std::span<std::byte> memory);

}  // namespace hearth

#endif  // HEARTH_HAL_IO_BINDING_LAYOUT_H_
