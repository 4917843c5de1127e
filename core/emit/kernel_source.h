// A kernel as a value: equal values make equal programs. Built by lowering from a .kernel
// file (see kernels/README.md), turned into driver text by Emit, compiled by a backend.
#ifndef HEARTH_CORE_EMIT_KERNEL_SOURCE_H_
#define HEARTH_CORE_EMIT_KERNEL_SOURCE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/emit/statement.h"
#include "hearth/status.h"

namespace hearth {

enum class ArgDirection : uint8_t { kRead, kWrite };
// The type of one element in memory. Real numbers are float32 or float16 and loaded as float4; integers are int32 and
// loaded as int4, never through texels. The last two exist only in memory that a caller lends: kUnorm8 is four bytes
// per texel, where 0 to 255 mean 0 to 1; kScalar is one float32 per texel, loaded as (value, 0, 0, 0).
enum class StorageType : uint8_t { kFloat32, kFloat16, kInt32, kUnorm8, kScalar };
constexpr uint64_t TexelBytes(StorageType storage) {
  if (storage == StorageType::kUnorm8 || storage == StorageType::kScalar) return 4;
  return storage == StorageType::kFloat16 ? 8 : 16;
}

// A tensor argument, seen by the body as <name>_load(i) or <name>_store(i, v), i in texels of 4 channels.
struct TensorArg {
  std::string name;
  ArgDirection direction = ArgDirection::kRead;
  AccessPath path = AccessPath::kBuffer;  // kTexelBuffer only of reads, kBuffer64 only of writes
  StorageType storage = StorageType::kFloat32;
  bool wide = false;  // also <name>_load16 and <name>_span / <name>_store16
  friend bool operator==(const TensorArg&, const TensorArg&) = default;
};

enum class ScalarType : uint8_t { kInt, kFloat };
struct ScalarArg {
  std::string name;
  ScalarType type = ScalarType::kInt;
  friend bool operator==(const ScalarArg&, const ScalarArg&) = default;
};

struct SharedArray {  // local memory, used as name[i] in the body
  std::string name;
  std::string type;  // a dialect type: "float4"
  uint32_t count = 0;
  friend bool operator==(const SharedArray&, const SharedArray&) = default;
};

struct Define {
  std::string name;
  std::string value;
  friend bool operator==(const Define&, const Define&) = default;
};

// Whether the argument is read through a sampler, or written as an image.
constexpr bool IsSampled(const TensorArg& arg) {
  return arg.direction == ArgDirection::kRead && arg.path != AccessPath::kBuffer;
}
constexpr bool IsImage(const TensorArg& arg) {
  return arg.direction == ArgDirection::kWrite && arg.path == AccessPath::kTexture;
}

struct KernelSource {
  std::string name;  // the .kernel file's name without its ending
  std::vector<TensorArg> tensors;
  std::vector<ScalarArg> scalars;  // 4 bytes each
  std::vector<SharedArray> shared;
  std::vector<Define> defines;
  // Statements on `v` (texel4, the value being stored) and `i` (its texel index) that run before every store to the
  // first written tensor. They may use the tensors and scalars above.
  std::vector<EpilogueStatement> epilogue;
  std::array<uint32_t, 3> local_size = {1, 1, 1};
  std::string body;
  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

// The kernel's name inside emitted OpenCL text: unique per OpenCL text of a kernel, so that several
// kernels can share a program ("hearth_pointwise_wide_1f2e3d4c"). GLSL entry points are "main".
std::string EntryPoint(const KernelSource& source);

// The whole program text for a driver. emit.h has the text of several OpenCL kernels.
std::string Emit(const KernelSource& source, Dialect dialect);

// Bindings as the emitter numbers them, the same in every dialect:
//   OpenCL: kernel arguments, tensors in order, then scalars in order.
//   GLES:   buffers: SSBO binding = index of the tensor among buffer-path tensors;
//           texel and texture reads: sampler binding (texture unit) = index among them;
//           texture writes: image unit = index among them;
//           scalars: "uniform int px_scalars[N]" at location 0, floats as their bits.
//   Vulkan: descriptor set 0, binding = index of the tensor; texel reads are uniform texel
//           buffers, the rest storage buffers; scalars are push constants, 4 bytes each in order.

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_SOURCE_H_
