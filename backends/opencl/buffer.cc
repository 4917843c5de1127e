#include "backends/opencl/buffer.h"

#include "backends/opencl/device_queries.h"
#include "core/base/error.h"
#include "core/base/large_pages.h"
#include "hal/io/dma_buf.h"

namespace hearth {
namespace {

Result<MemoryHandle> SubBuffer(const OpenClApi& api, cl_mem whole, const BoundRange& range) {
  const cl_buffer_region region = {range.offset_bytes, range.size_bytes};
  cl_int code = CL_SUCCESS;
  const cl_mem part = api.clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  if (part == nullptr) {
    return OpenClError(code, StatusCode::kUnavailable,
                       fmt::format("sub-buffer of {} bytes at {}", range.size_bytes, range.offset_bytes));
  }
  return MemoryHandle(api, part);
}

Result<MemoryHandle> TexelImage(const OpenClDriver& driver, cl_mem memory, uint64_t texels, StorageType storage) {
  const cl_image_format format = {
      CL_RGBA, static_cast<cl_channel_type>(storage == StorageType::kFloat16 ? CL_HALF_FLOAT : CL_FLOAT)};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  desc.image_width = texels;
  desc.buffer = memory;
  cl_int code = CL_SUCCESS;
  const cl_mem image = driver.api.clCreateImage(driver.context, CL_MEM_READ_ONLY, &format, &desc, nullptr, &code);
  if (image == nullptr) {
    return OpenClError(code, StatusCode::kUnavailable, fmt::format("texel view of {} texels", texels));
  }
  return MemoryHandle(driver.api, image);
}

void CL_CALLBACK Release(cl_mem /*memory*/, void* host_memory) {
  ReleaseLargePages()(static_cast<std::byte*>(host_memory));
}

// A buffer in large pages of the host's memory, which lives as long as the driver uses it. Null if that fails.
MemoryHandle BufferInLargePages(const OpenClDriver& driver, uint64_t size_bytes) {
  LargePageMemory host_memory = AllocateInLargePages(size_bytes);
  if (host_memory == nullptr) return {};
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(driver.api, driver.api.clCreateBuffer(driver.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                            size_bytes, host_memory.get(), &code));
  if (memory.get() == nullptr) return {};
  code = driver.api.clSetMemObjectDestructorCallback(memory.get(), Release, host_memory.get());
  if (code == CL_SUCCESS) static_cast<void>(host_memory.release());
  // Without the callback, `memory` drops the driver's reference here, before `host_memory` is freed.
  return code == CL_SUCCESS ? std::move(memory) : MemoryHandle();
}

}  // namespace

Result<std::unique_ptr<Buffer>> OpenClBuffer::Create(const OpenClDriver& driver, uint64_t size_bytes,
                                                     bool host_allocated) {
  if (host_allocated && driver.is_software && size_bytes >= kLargePageBytes) {
    MemoryHandle memory = BufferInLargePages(driver, size_bytes);
    if (memory.get() != nullptr) return std::unique_ptr<Buffer>(new OpenClBuffer(size_bytes, std::move(memory)));
  }
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (host_allocated ? CL_MEM_ALLOC_HOST_PTR : 0);
  cl_int code = CL_SUCCESS;
  const cl_mem memory = driver.api.clCreateBuffer(driver.context, flags, size_bytes, nullptr, &code);
  if (memory == nullptr) {
    return OpenClError(code, StatusCode::kResourceExhausted, fmt::format("buffer of {} bytes", size_bytes));
  }
  return std::unique_ptr<Buffer>(new OpenClBuffer(size_bytes, MemoryHandle(driver.api, memory)));
}

Result<std::unique_ptr<Buffer>> OpenClBuffer::Import(const OpenClDriver& driver, cl_mem memory, uint64_t size_bytes) {
  const OpenClApi& api = driver.api;
  cl_context context = nullptr;
  cl_mem_object_type type = 0;
  size_t its_size_bytes = 0;
  cl_int code = api.clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, nullptr);
  if (code == CL_SUCCESS) code = api.clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (code == CL_SUCCESS)
    code = api.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof its_size_bytes, &its_size_bytes, nullptr);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the lent cl_mem");
  if (context != driver.context) {
    return Error(StatusCode::kInvalidArgument,
                 "the lent cl_mem belongs to another context: open the session with it (SessionOptions::shared)");
  }
  if (type != CL_MEM_OBJECT_BUFFER) return Error(StatusCode::kInvalidArgument, "the lent cl_mem is not a buffer");
  // The whole buffer is used: it may be a sub-buffer, which has no sub-buffers.
  if (its_size_bytes != size_bytes) {
    return Error(StatusCode::kInvalidArgument, "the lent cl_mem has {} bytes, but the binding says {}", its_size_bytes,
                 size_bytes);
  }
  code = api.clRetainMemObject(memory);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the lent cl_mem");
  return std::unique_ptr<Buffer>(new OpenClBuffer(size_bytes, MemoryHandle(api, memory)));
}

Result<std::unique_ptr<Buffer>> OpenClBuffer::ImportDmaBuf(const OpenClDriver& driver, const NativeMemory& memory) {
  const OpenClApi& api = driver.api;
  constexpr const char* kExtension = "cl_khr_external_memory_dma_buf";
  if (memory.drm_modifier != 0) return Error(StatusCode::kUnsupported, "OpenCL reads only linear dma-bufs");
  if (api.clCreateBufferWithProperties == nullptr || !HasOpenClExtension(api, driver.device, kExtension))
    return Error(StatusCode::kUnsupported, "the OpenCL driver has no {}", kExtension);
  cl_platform_id platform = nullptr;
  api.clGetDeviceInfo(driver.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
  const auto find = [&](const char* name) {
    return reinterpret_cast<OpenClTurn>(api.clGetExtensionFunctionAddressForPlatform(platform, name));
  };
  const OpenClTurns turns{find("clEnqueueAcquireExternalMemObjectsKHR"), find("clEnqueueReleaseExternalMemObjectsKHR")};
  if (turns.acquire == nullptr || turns.release == nullptr)
    return Error(StatusCode::kUnsupported, "the OpenCL driver has {}, but not its functions", kExtension);
  HEARTH_ASSIGN(Descriptor lent, DescriptorForDriver(memory.handle));
  const cl_ulong properties[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, static_cast<cl_ulong>(lent.get()), 0};
  cl_int code = CL_SUCCESS;
  const cl_mem taken =
      api.clCreateBufferWithProperties(driver.context, properties, CL_MEM_READ_ONLY, memory.size_bytes, nullptr, &code);
  if (taken == nullptr) return OpenClError(code, StatusCode::kUnsupported, "a dma-buf as a buffer");
  lent.Release();
  std::unique_ptr<OpenClBuffer> buffer(new OpenClBuffer(memory.size_bytes, MemoryHandle(api, taken)));
  buffer->turns_ = turns;
  return std::unique_ptr<Buffer>(std::move(buffer));
}

OpenClMemory::~OpenClMemory() {
  while (!views_.empty()) views_.pop_back();
}

Result<cl_mem> OpenClMemory::Find(const Key& key, const std::function<Result<MemoryHandle>()>& make) {
  if (const auto found = found_.find(key); found != found_.end()) return found->second;
  HEARTH_ASSIGN(MemoryHandle made, make());
  views_.push_back(std::move(made));
  return found_[key] = views_.back().get();
}

Result<cl_mem> OpenClMemory::WholeOrPart(const OpenClApi& api, const BoundRange& range) {
  if (range.offset_bytes == 0 && range.size_bytes == range.buffer->size_bytes()) return whole_.get();
  return Find({range.offset_bytes, range.size_bytes, {}}, [&] { return SubBuffer(api, whole_.get(), range); });
}

Result<cl_mem> OpenClMemory::View(const OpenClDriver& driver, const BoundRange& range, const TensorArg& arg) {
  const std::lock_guard lock(mutex_);
  HEARTH_ASSIGN(const cl_mem memory, WholeOrPart(driver.api, range));
  if (arg.path != AccessPath::kTexelBuffer || arg.direction == ArgDirection::kWrite) return memory;

  const uint64_t texels = range.size_bytes / TexelBytes(arg.storage);
  if (texels == 0 || texels > driver.max_texels) {
    return Error(StatusCode::kResourceExhausted, "argument '{}' reads {} texels; the device supports 1 to {}", arg.name,
                 texels, driver.max_texels);
  }
  return Find({range.offset_bytes, range.size_bytes, arg.storage},
              [&] { return TexelImage(driver, memory, texels, arg.storage); });
}

}  // namespace hearth
