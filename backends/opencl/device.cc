#include "backends/opencl/device.h"

#include "backends/opencl/buffer.h"
#include "backends/opencl/executable.h"
#include "backends/opencl/program.h"
#include "core/base/contains.h"
#include "core/base/error.h"

namespace hearth {
namespace {

// Whether texel views work at an offset. PoCL 3.1 makes an image over a whole buffer but returns CL_INVALID_MEM_OBJECT
// for one over a part of it. Only an attempt tells.
bool TakesTexelViewsOfParts(const OpenClDriver& driver, uint64_t part_bytes) {
  const Result<std::unique_ptr<Buffer>> buffer = OpenClBuffer::Create(driver, 2 * part_bytes, false);
  if (!buffer.ok()) return false;
  const TensorArg arg = {.name = "probe", .path = AccessPath::kTexelBuffer};
  return static_cast<OpenClBuffer&>(**buffer)
      .shared_memory()
      ->View(driver, {buffer->get(), part_bytes, part_bytes}, arg)
      .ok();
}

Status CheckContextHasDevice(const OpenClApi& api, cl_context context, cl_device_id device) {
  if (context == nullptr || device == nullptr)
    return Error(StatusCode::kInvalidArgument,
                 "a shared OpenCL context needs the context and its device; one of them is null");
  size_t size_bytes = 0;
  cl_int code = api.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size_bytes);
  std::vector<cl_device_id> devices(size_bytes / sizeof(cl_device_id));
  if (code == CL_SUCCESS) code = api.clGetContextInfo(context, CL_CONTEXT_DEVICES, size_bytes, devices.data(), nullptr);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the shared context");
  if (Contains(devices, device)) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "the shared OpenCL context does not contain the device given with it");
}

Status CheckQueue(const OpenClApi& api, cl_command_queue queue, cl_context context, cl_device_id device) {
  cl_context its_context = nullptr;
  cl_device_id its_device = nullptr;
  cl_command_queue_properties properties = 0;
  cl_int code = api.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof its_context, &its_context, nullptr);
  if (code == CL_SUCCESS)
    code = api.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof its_device, &its_device, nullptr);
  if (code == CL_SUCCESS)
    code = api.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the shared queue");
  if (its_context != context || its_device != device)
    return Error(StatusCode::kInvalidArgument, "the shared queue belongs to another context or device");
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
    return Error(StatusCode::kInvalidArgument, "the shared queue is out of order; give an in-order queue, or none");
  return Status::Ok();
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
  return Make(api, device, std::move(info), std::move(context), std::move(queue));
}

Result<std::unique_ptr<Device>> OpenClDevice::Share(const OpenClApi& api, const OpenClContext& shared,
                                                    DeviceInfo info) {
  auto* context = static_cast<cl_context>(shared.context);
  auto* device = static_cast<cl_device_id>(shared.device);
  HEARTH_TRY(CheckContextHasDevice(api, context, device));
  auto* queue = static_cast<cl_command_queue>(shared.queue);
  cl_int code = CL_SUCCESS;
  if (queue != nullptr) {
    HEARTH_TRY(CheckQueue(api, queue, context, device));
    code = api.clRetainCommandQueue(queue);
  } else {
    queue = api.clCreateCommandQueue(context, device, 0, &code);
  }
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "a queue in the shared context");
  QueueHandle queue_handle(api, queue);
  code = api.clRetainContext(context);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kInvalidArgument, "the shared context");
  return Make(api, device, std::move(info), ContextHandle(api, context), std::move(queue_handle));
}

Result<std::unique_ptr<Device>> OpenClDevice::Make(const OpenClApi& api, cl_device_id device, DeviceInfo info,
                                                   ContextHandle context, QueueHandle queue) {
  const OpenClDriver driver = {api, context.get(), device, queue.get(), info.max_texel_elements, nullptr};
  if (!TakesTexelViewsOfParts(driver, info.buffer_offset_alignment)) info.max_texel_elements = 0;
  return std::unique_ptr<Device>(new OpenClDevice(std::move(info), api, device, std::move(context), std::move(queue)));
}

OpenClDevice::~OpenClDevice() {
  if (!submissions_->wait_limit().has_hung()) return;
  // Releasing a queue waits for its commands, and their memory stays alive by itself.
  api_.clRetainCommandQueue(queue_.get());
  api_.clRetainContext(context_.get());
}

Result<std::unique_ptr<Buffer>> OpenClDevice::DoCreateBuffer(uint64_t size_bytes) {
  return OpenClBuffer::Create(driver(), size_bytes, info().unified_memory);
}

Result<std::unique_ptr<Buffer>> OpenClDevice::DoImportBuffer(const NativeMemory& memory) {
  if (memory.kind == MemoryKind::kDmaBuf) return OpenClBuffer::ImportDmaBuf(driver(), memory);
  if (memory.kind != MemoryKind::kClBuffer)
    return Error(StatusCode::kUnsupported, "OpenCL imports only cl_mem buffers and dma-bufs (no image, no GL object)");
  return OpenClBuffer::Import(driver(), reinterpret_cast<cl_mem>(memory.handle), memory.size_bytes);
}

Result<cl_command_queue> OpenClDevice::QueueForCopies() {
  if (!submissions_->AnyRunning()) return queue_.get();
  if (copy_queue_.get() == nullptr) {
    cl_int code = CL_SUCCESS;
    copy_queue_ = QueueHandle(api_, api_.clCreateCommandQueue(context_.get(), device_, 0, &code));
    if (copy_queue_.get() == nullptr) return OpenClError(code, StatusCode::kResourceExhausted, "a queue for copies");
  }
  return copy_queue_.get();
}

Status OpenClDevice::WithMapped(const Buffer& buffer, cl_map_flags flags, uint64_t offset_bytes, uint64_t size_bytes,
                                const std::function<Status(std::span<std::byte>)>& use) {
  const cl_mem memory = static_cast<const OpenClBuffer&>(buffer).memory();
  HEARTH_TRY(submissions_->wait_limit().Check());
  HEARTH_ASSIGN(const cl_command_queue queue, QueueForCopies());
  cl_int code = CL_SUCCESS;
  void* mapped =
      api_.clEnqueueMapBuffer(queue, memory, CL_TRUE, flags, offset_bytes, size_bytes, 0, nullptr, nullptr, &code);
  if (mapped == nullptr) {
    return OpenClError(code, StatusCode::kDeviceLost, fmt::format("mapping {} bytes at {}", size_bytes, offset_bytes));
  }
  Status used = use({static_cast<std::byte*>(mapped), size_bytes});
  code = api_.clEnqueueUnmapMemObject(queue, memory, mapped, 0, nullptr, nullptr);
  // Later commands of the same queue run after it anyway.
  if (code == CL_SUCCESS && queue != queue_.get()) code = api_.clFinish(queue);
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
