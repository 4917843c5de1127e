// A device's limits and features, which a backend reads from its driver once. core decides everything (support,
// kernels, tiles, access paths) from this value alone.
#ifndef HEARTH_CORE_DEVICE_DEVICE_INFO_H_
#define HEARTH_CORE_DEVICE_DEVICE_INFO_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth {

enum class Dialect : uint8_t { kOpenCl, kGles, kVulkan };
constexpr std::string_view DialectName(Dialect dialect) {
  constexpr std::string_view kNames[] = {"opencl", "gles", "vulkan"};
  return kNames[static_cast<int>(dialect)];
}

// The host processor as a device without kernels: every operation is a step on the host.
inline constexpr std::string_view kHostBackend = "cpu";

enum class DeviceType : uint8_t { kCpu, kIntegratedGpu, kDiscreteGpu, kOther };
constexpr std::string_view DeviceTypeName(DeviceType type) {
  constexpr std::string_view kNames[] = {"cpu", "integrated-gpu", "discrete-gpu", "other"};
  return kNames[static_cast<int>(type)];
}

// How a kernel reads or writes a tensor argument. kTexture is a 2-D texture that the caller lent: texel i is in column
// i % width of row i / width. kBuffer64, on Vulkan, is a buffer to which float32 texels are written as two 64-bit
// integers.
enum class AccessPath : uint8_t { kBuffer, kTexelBuffer, kBuffer64, kTexture };
constexpr std::string_view AccessPathName(AccessPath path) {
  constexpr std::string_view kNames[] = {"buffer", "texel-buffer", "buffer-64", "texture"};
  return kNames[static_cast<int>(path)];
}

// Whether a driver compiles one program at a time (then kernels share a program) or many.
enum class CompileGrouping : uint8_t { kTogether, kEach };

// The number of work groups along one dimension that every device takes.
inline constexpr int64_t kMostGroups = 65535;
// A tensor's share of max_argument_bytes.
inline constexpr uint32_t kPointerBytes = 8;

// Rules of the table in device_rules.h that a user forced, one bit each.
struct ForcedRules {
  uint32_t on = 0, off = 0;
  friend bool operator==(const ForcedRules&, const ForcedRules&) = default;
};

struct DeviceInfo {
  std::string backend = "null";        // its name in the list of backends, or kHostBackend
  Dialect dialect = Dialect::kOpenCl;  // meaningless on the host
  DeviceType type = DeviceType::kOther;

  // Its name for users ("gles:0"), for messages; empty if devices were not listed.
  std::string id;
  // Identity, for people and for cache keys.
  std::string name;
  std::string vendor;
  std::string driver_version;  // everything that the driver reports about its build
  std::string uuid;            // hex; empty if the API has none
  // Environment variables that change what the driver makes, as they were when the device was read
  // (core/device/driver_environment.h); empty if none is set.
  std::string driver_environment;

  std::array<uint32_t, 3> max_local_size = {128, 128, 64};
  uint32_t max_local_invocations = 128;
  std::array<uint32_t, 3> max_group_count = {65535, 65535, 65535};
  uint32_t local_memory_bytes = 16384;
  uint64_t max_buffer_bytes = 1u << 27;      // one buffer
  uint64_t max_binding_bytes = 1u << 27;     // the part of a buffer that one kernel argument can see
  uint64_t max_texel_elements = 0;           // 0: no texel buffers
  uint32_t buffer_offset_alignment = 256;    // for storage and texel bindings both
  uint32_t max_storage_buffers = 4;          // per program
  uint32_t max_texel_buffers = 16;           // per program, including lent textures
  uint32_t max_scalar_bytes = 128;           // push constants or uniforms per dispatch
  uint32_t max_argument_bytes = UINT32_MAX;  // scalars and kPointerBytes per tensor together
  uint32_t compute_units = 1;
  uint32_t native_vector_floats = 1;  // float32 numbers in a vector register; a CPU with 16 has 32 such registers
  uint32_t subgroup_size = 1;         // invocations whose values a kernel may read from each other (shuffle)
  // Rows, columns and depth of the product of two matrices of float16 that a subgroup adds to one of float32 in one
  // step (VK_KHR_cooperative_matrix); zeros: it can't.
  std::array<uint32_t, 3> matrix_shape = {0, 0, 0};
  bool multiplies_bytes = false;  // the host has kernels for products of 8-bit integers
  bool int64 = false;             // kernels may use 64-bit integers
  bool fp16_storage = false;
  bool fp16_arithmetic = false;
  bool unified_memory = false;     // the host sees device memory without a copy
  bool is_cached_by_host = false;  // that memory; false where the API does not tell
  CompileGrouping compile_grouping = CompileGrouping::kEach;
  uint32_t binary_cpus = 0;  // a number of CPUs without which the driver refuses a stored binary; 0: none
  ForcedRules forced_rules;
  std::string simulates;  // the device profile whose limits these are (device_profiles.h); empty: its own

  bool is_host() const { return backend == kHostBackend; }
  bool is_software() const { return type == DeviceType::kCpu; }
  // Whether the host reads mapped device memory as fast as its own, so that weights may be packed, and stored ones
  // checked, where they are. Vulkan tells whether the host caches it. OpenGL ES does not, and many GPUs' drivers map it
  // uncached. OpenCL does not either; its drivers are taken to cache what the host shares.
  bool is_read_fast_by_host() const {
    return unified_memory && (dialect == Dialect::kOpenCl || is_software() || is_cached_by_host);
  }
};

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DEVICE_INFO_H_
