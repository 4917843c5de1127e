#include "backends/opencl/device_queries.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/device/driver_environment.h"
#include "core/device/usable_limits.h"

namespace hearth {
namespace {

constexpr size_t kLeastArgumentBytes = 256;
// Ids are `int` in kernels. GPU drivers with the launch limits of CUDA or Vulkan take 65535 in y and z, and OpenCL has
// no query for it.
constexpr uint32_t kAnyGroupCount = 0x7fffffff;
constexpr uint32_t kGpuGroupCount = 65535;

// Queries of one device, and their first error. An unknown query is no error.
struct AskedDevice {
  const OpenClApi& api;
  cl_device_id id;
  cl_int failure = CL_SUCCESS;

  cl_int Ask(cl_device_info what, size_t size, void* value, size_t* size_out) {
    const cl_int code = api.clGetDeviceInfo(id, what, size, value, size_out);
    if (code != CL_SUCCESS && code != CL_INVALID_VALUE) failure = code;
    return code;
  }
};

// The value, or `fallback` if the driver does not know the query.
template <typename T>
T DeviceValue(AskedDevice& device, cl_device_info what, T fallback) {
  T value = {};
  return device.Ask(what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : fallback;
}

template <typename Query>
std::string Text(const Query& query) {
  size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (query(size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  // Vendors' texts may be in Latin-1: "(R)" as byte 0xAE.
  return ValidUtf8(std::string_view(text).substr(std::min(text.find_first_not_of(' '), text.size())));
}

std::string DeviceText(AskedDevice& device, cl_device_info what) {
  return Text([&](size_t size, void* value, size_t* size_out) { return device.Ask(what, size, value, size_out); });
}

std::string PlatformText(const OpenClApi& api, cl_platform_id platform, cl_platform_info what) {
  return Text([&](size_t size, void* value, size_t* size_out) {
    return api.clGetPlatformInfo(platform, what, size, value, size_out);
  });
}

bool HasExtension(AskedDevice& device, const std::string& name) {
  return (" " + DeviceText(device, CL_DEVICE_EXTENSIONS) + " ").find(" " + name + " ") != std::string::npos;
}

DeviceType TypeOf(cl_device_type type, bool unified_memory) {
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceType::kCpu;
  if ((type & CL_DEVICE_TYPE_GPU) == 0) return DeviceType::kOther;
  return unified_memory ? DeviceType::kIntegratedGpu : DeviceType::kDiscreteGpu;
}

std::string UuidOf(AskedDevice& device) {
  if (!HasExtension(device, "cl_khr_device_uuid")) return "";
  std::array<cl_uchar, CL_UUID_SIZE_KHR> bytes = {};
  if (device.Ask(CL_DEVICE_UUID_KHR, bytes.size(), bytes.data(), nullptr) != CL_SUCCESS) return "";
  return HexOf(bytes);
}

// A device may have more than three dimensions, and refuses a query with room for fewer than it has.
std::array<size_t, 3> MaxLocalSize(AskedDevice& device) {
  std::array<size_t, 3> local = {1, 1, 1};
  size_t size_bytes = 0;
  if (device.Ask(CL_DEVICE_MAX_WORK_ITEM_SIZES, 0, nullptr, &size_bytes) != CL_SUCCESS) return local;
  std::vector<size_t> sizes(size_bytes / sizeof(size_t));
  if (sizes.size() < local.size() ||
      device.Ask(CL_DEVICE_MAX_WORK_ITEM_SIZES, size_bytes, sizes.data(), nullptr) != CL_SUCCESS) {
    return local;
  }
  std::copy_n(sizes.begin(), local.size(), local.begin());
  return local;
}

void ReadLimits(AskedDevice& device, DeviceInfo& info) {
  const auto at_most = [](uint64_t value, uint64_t limit) { return static_cast<uint32_t>(std::min(value, limit)); };
  const std::array<size_t, 3> local = MaxLocalSize(device);
  for (int d = 0; d < 3; ++d) info.max_local_size[d] = at_most(local[d], UINT32_MAX);
  info.max_local_invocations = at_most(DeviceValue<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1), UINT32_MAX);
  const uint32_t groups = info.type == DeviceType::kCpu ? kAnyGroupCount : kGpuGroupCount;
  info.max_group_count = {kAnyGroupCount, groups, groups};
  info.local_memory_bytes = at_most(DeviceValue<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, 16384), UINT32_MAX);
  info.max_buffer_bytes = DeviceValue<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, info.max_buffer_bytes);
  info.max_binding_bytes = info.max_buffer_bytes;
  if (DeviceValue<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT, CL_FALSE) == CL_TRUE) {
    info.max_texel_elements = DeviceValue<size_t>(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 0);
  }
  const auto align_bits = DeviceValue<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 2048);
  info.buffer_offset_alignment = UsableAlignment({128, align_bits / 8});
  // Buffers and scalars share one limit, at least 256 bytes on embedded devices, which is the fallback.
  info.max_argument_bytes =
      at_most(DeviceValue<size_t>(device, CL_DEVICE_MAX_PARAMETER_SIZE, kLeastArgumentBytes), UINT32_MAX);
  info.max_scalar_bytes = info.max_argument_bytes;
  info.max_storage_buffers = info.max_argument_bytes / kPointerBytes;
  info.max_texel_buffers = DeviceValue<cl_uint>(device, CL_DEVICE_MAX_READ_IMAGE_ARGS, 0);
  info.compute_units = DeviceValue<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 0);
  info.native_vector_floats = DeviceValue<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1);
}

}  // namespace

Result<std::vector<OpenClDeviceId>> FindOpenClDevices(const OpenClApi& api) {
  // PoCL 3.1 finds its devices during the first query. A second thread that asks meanwhile gets devices without a name,
  // or none.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  cl_uint platform_count = 0;
  cl_int code = api.clGetPlatformIDs(0, nullptr, &platform_count);
  std::vector<cl_platform_id> platforms(code == CL_SUCCESS ? platform_count : 0);
  if (!platforms.empty()) code = api.clGetPlatformIDs(platform_count, platforms.data(), nullptr);
  if (code != CL_SUCCESS || platforms.empty()) {
    return Error(StatusCode::kUnavailable,
                 "the OpenCL loader finds no driver ({}); install one (pocl-opencl-icd runs on the CPU) or look at "
                 "/etc/OpenCL/vendors and OCL_ICD_VENDORS",
                 OpenClErrorName(code));
  }
  std::vector<OpenClDeviceId> found;
  for (const cl_platform_id platform : platforms) {
    cl_uint count = 0;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> devices(count);
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) != CL_SUCCESS) continue;
    for (const cl_device_id device : devices) found.push_back({platform, device});
  }
  if (found.empty()) {
    return Error(StatusCode::kUnavailable, "{} OpenCL platform(s), but none has a device (the first is {})",
                 platforms.size(), PlatformText(api, platforms[0], CL_PLATFORM_NAME));
  }
  return found;
}

Result<DeviceInfo> ReadOpenClDeviceInfo(const OpenClApi& api, const OpenClDeviceId& id) {
  AskedDevice device{api, id.device};
  DeviceInfo info;
  info.backend = "opencl";
  info.dialect = Dialect::kOpenCl;
  info.unified_memory = DeviceValue<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE) == CL_TRUE;
  info.type = TypeOf(DeviceValue<cl_device_type>(device, CL_DEVICE_TYPE, 0), info.unified_memory);
  if (info.type == DeviceType::kCpu) info.unified_memory = true;
  info.name = DeviceText(device, CL_DEVICE_NAME);
  info.vendor = DeviceText(device, CL_DEVICE_VENDOR);
  info.driver_version = fmt::format("{}; {}; {}", PlatformText(api, id.platform, CL_PLATFORM_VERSION),
                                    DeviceText(device, CL_DRIVER_VERSION), DeviceText(device, CL_DEVICE_VERSION));
  info.uuid = UuidOf(device);
  info.driver_environment = DriverEnvironmentOf(info);
  ReadLimits(device, info);
  info.fp16_storage = true;  // vload_half and vstore_half are core
  info.fp16_arithmetic = HasExtension(device, "cl_khr_fp16");
  // PoCL compiles under one lock for the whole process: 12 programs took 4.1-5.1 s on one thread and on two.
  info.compile_grouping = info.type == DeviceType::kCpu ? CompileGrouping::kTogether : CompileGrouping::kEach;
  // Guessed limits would lead to a worse plan, or to one that the device can't run.
  if (device.failure != CL_SUCCESS) return OpenClError(device.failure, StatusCode::kUnavailable, "clGetDeviceInfo");
  return WithUsableLimits(std::move(info));
}

bool HasOpenClExtension(const OpenClApi& api, cl_device_id device, const std::string& name) {
  AskedDevice asked{api, device};
  return HasExtension(asked, name);
}

std::string OpenClUnusableReason(const OpenClApi& api, const OpenClDeviceId& id) {
  AskedDevice device{api, id.device};
  const std::string version = DeviceText(device, CL_DEVICE_VERSION);  // "OpenCL 3.0 and the vendor's text"
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12) {
    return fmt::format("the driver supports '{}'; OpenCL 1.2 or later is needed", version);
  }
  if (DeviceValue<cl_bool>(device, CL_DEVICE_AVAILABLE, CL_FALSE) != CL_TRUE) {
    return "the driver reports that the device is not available";
  }
  if (DeviceValue<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE) != CL_TRUE) {
    return "the driver has no compiler for OpenCL C";
  }
  return "";
}

}  // namespace hearth
