#include "backends/opencl/device.h"

#include "backends/opencl/buffer.h"
#include "backends/opencl/executable.h"
#include "backends/opencl/program.h"
#include "core/error.h"

namespace hearth {
namespace {

// Whether texel views work at an offset: PoCL 3.1 makes an image over a whole buffer but answers
// CL_INVALID_MEM_OBJECT over a part of one, and only an attempt tells.
bool TakesTexelViewsOfParts(const OpenClDriver& driver, uint64_t part_bytes) {
  const Result<std::unique_ptr<Buffer>> buffer = OpenClBuffer::Create(driver, 2 * part_bytes, false);
  if (!buffer.ok()) return false;
  const TensorArg arg = {.name = "probe", .path = AccessPath::kTexelBuffer};
  return OpenClView::Create(driver, {buffer->get(), part_bytes, part_bytes}, arg).ok();
}

}  // namespace

Result<std::unique_ptr<Device>> OpenClDevice::Create(const OpenClApi& api, cl_platform_id platform, cl_device_id device,
                                                     DeviceInfo info) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform),
                                              0};
  cl_int code = CL_SUCCESS;
  ContextHandle context(api, api.clCreateContext(properties, 1, &device, nullptr, nullptr, &code));
  if (context.get() == nullptr) return OpenClError(code, StatusCode::kUnavailable, "a context on " + info.name);
  QueueHandle queue(api, api.clCreateCommandQueue(context.get(), device, 0, &code));
  if (queue.get() == nullptr) return OpenClError(code, StatusCode::kUnavailable, "a queue on " + info.name);
  const OpenClDriver driver = {api, context.get(), device, queue.get(), info.max_texel_elements};
  if (!TakesTexelViewsOfParts(driver, info.buffer_offset_alignment)) info.max_texel_elements = 0;
  return std::unique_ptr<Device>(new OpenClDevice(std::move(info), api, device, std::move(context), std::move(queue)));
}

Result<std::unique_ptr<Buffer>> OpenClDevice::DoCreateBuffer(uint64_t size_bytes) {
  return OpenClBuffer::Create(driver(), size_bytes, info().unified_memory);
}

Status OpenClDevice::WithMapped(const Buffer& buffer, cl_map_flags flags, uint64_t offset_bytes, uint64_t size_bytes,
                                const std::function<Status(std::span<std::byte>)>& use) {
  const cl_mem memory = static_cast<const OpenClBuffer&>(buffer).memory();
  cl_int code = CL_SUCCESS;
  void* mapped = api_.clEnqueueMapBuffer(queue_.get(), memory, CL_TRUE, flags, offset_bytes, size_bytes, 0, nullptr,
                                         nullptr, &code);
  if (mapped == nullptr) {
    return OpenClError(code, StatusCode::kDeviceLost, fmt::format("mapping {} bytes at {}", size_bytes, offset_bytes));
  }
  const Status used = use({static_cast<std::byte*>(mapped), size_bytes});
  // Not waited for: later commands of the same queue come after it.
  code = api_.clEnqueueUnmapMemObject(queue_.get(), memory, mapped, 0, nullptr, nullptr);
  if (used.ok() && code != CL_SUCCESS) {
    return OpenClError(code, StatusCode::kDeviceLost,
                       fmt::format("unmapping {} bytes at {}", size_bytes, offset_bytes));
  }
  return used;
}

Status OpenClDevice::DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                             const std::function<Status(std::span<std::byte>)>& fill) {
  return WithMapped(buffer, CL_MAP_WRITE_INVALIDATE_REGION, offset_bytes, size_bytes, fill);
}

Status OpenClDevice::DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                            const std::function<Status(std::span<const std::byte>)>& view) {
  return WithMapped(buffer, CL_MAP_READ, offset_bytes, size_bytes,
                    [&](std::span<std::byte> bytes) { return view(bytes); });
}

Result<std::unique_ptr<ProgramGroup>> OpenClDevice::DoCompile(std::span<const KernelSource> sources) {
  return OpenClProgramGroup::Compile(driver(), sources);
}

Result<std::unique_ptr<ProgramGroup>> OpenClDevice::DoLoad(std::span<const KernelSource> sources,
                                                           std::span<const std::byte> binary) {
  return OpenClProgramGroup::Load(driver(), sources, binary);
}

Result<std::unique_ptr<Executable>> OpenClDevice::DoPrepare(const CommandList& commands) {
  return OpenClExecutable::Create(driver(), commands);
}

}  // namespace hearth
