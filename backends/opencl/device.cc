#include "backends/opencl/device.h"

#include <atomic>
#include <span>
#include <vector>

#include "backends/opencl/buffer.h"
#include "backends/opencl/executable.h"
#include "backends/opencl/program.h"
#include "backends/opencl/submissions.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/device/driver_names.h"

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

class OpenClDevice final : public Device {
 public:
  OpenClDevice(DeviceInfo info, const OpenClApi& api, cl_device_id device, ContextHandle context, QueueHandle queue)
      : Device(std::move(info)),
        context_(std::move(context)),
        queue_(std::move(queue)),
        submissions_(api),
        driver_{api,
                context_.get(),
                device,
                queue_.get(),
                this->info().max_texel_elements,
                &submissions_,
                this->info().is_software(),
                IsPocl(DriverWords(this->info())),
                &items_as_compiled_} {}
  ~OpenClDevice() override {
    if (!submissions_.wait_limit().has_hung()) return;
    // Releasing a queue waits for its commands, and their memory stays alive by itself.
    driver_.api.clRetainCommandQueue(queue_.get());
    driver_.api.clRetainContext(context_.get());
  }

  uint32_t items_as_compiled() const override { return items_as_compiled_; }

  bool is_quiet() const override { return !driver_.is_pocl || OpenClTraffic::OfProcess().IsQuiet(); }

 private:
  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { submissions_.wait_limit().Set(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override {
    return OpenClBuffer::Create(driver_, size_bytes, info().unified_memory);
  }
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override {
    if (memory.kind == MemoryKind::kDmaBuf) return OpenClBuffer::ImportDmaBuf(driver_, memory);
    if (memory.kind != MemoryKind::kClBuffer)
      return Error(StatusCode::kUnsupported,
                   "OpenCL imports only cl_mem buffers and dma-bufs (no image, no GL object)");
    return OpenClBuffer::Import(driver_, reinterpret_cast<cl_mem>(memory.handle), memory.size_bytes);
  }
  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override {
    return WithMapped(buffer, CL_MAP_WRITE_INVALIDATE_REGION, offset_bytes, size_bytes, fill);
  }
  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override {
    return WithMapped(buffer, CL_MAP_READ, offset_bytes, size_bytes,
                      [&](std::span<std::byte> bytes) { return view(bytes); });
  }
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override {
    return OpenClProgramGroup::Compile(driver_, sources);
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override {
    return OpenClProgramGroup::Load(driver_, sources, binary);
  }
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override {
    return OpenClExecutable::Create(driver_, commands);
  }

  Status WithMapped(const Buffer& buffer, cl_map_flags flags, uint64_t offset_bytes, uint64_t size_bytes,
                    const std::function<Status(std::span<std::byte>)>& use) {
    const cl_mem memory = static_cast<const OpenClBuffer&>(buffer).memory();
    HEARTH_TRY(submissions_.wait_limit().Check());
    HEARTH_ASSIGN(const cl_command_queue queue, QueueForCopies());
    cl_int code = CL_SUCCESS;
    void* mapped = driver_.api.clEnqueueMapBuffer(queue, memory, CL_TRUE, flags, offset_bytes, size_bytes, 0, nullptr,
                                                  nullptr, &code);
    if (mapped == nullptr) {
      return OpenClError(code, StatusCode::kDeviceLost,
                         fmt::format("mapping {} bytes at {}", size_bytes, offset_bytes));
    }
    Status used = use({static_cast<std::byte*>(mapped), size_bytes});
    code = driver_.api.clEnqueueUnmapMemObject(queue, memory, mapped, 0, nullptr, nullptr);
    // Later commands of the same queue run after it anyway.
    if (code == CL_SUCCESS && queue != queue_.get()) code = driver_.api.clFinish(queue);
    if (used.ok() && code != CL_SUCCESS) {
      return OpenClError(code, StatusCode::kDeviceLost,
                         fmt::format("unmapping {} bytes at {}", size_bytes, offset_bytes));
    }
    return used;
  }

  // The queue for copies. While kernels run it is another queue than theirs, so that copies don't wait for them.
  Result<cl_command_queue> QueueForCopies() {
    if (!submissions_.AnyRunning()) return queue_.get();
    if (copy_queue_.get() == nullptr) {
      cl_int code = CL_SUCCESS;
      copy_queue_ =
          QueueHandle(driver_.api, driver_.api.clCreateCommandQueue(context_.get(), driver_.device, 0, &code));
      if (copy_queue_.get() == nullptr) return OpenClError(code, StatusCode::kResourceExhausted, "a queue for copies");
    }
    return copy_queue_.get();
  }

  ContextHandle context_;
  QueueHandle queue_;       // thread-safe by the standard; released before the context
  QueueHandle copy_queue_;  // made when it is first needed
  OpenClSubmissions submissions_;
  std::atomic<uint32_t> items_as_compiled_ = UINT32_MAX;  // programs are built on several threads
  const OpenClDriver driver_;
};

Result<std::unique_ptr<Device>> DeviceWith(const OpenClApi& api, cl_device_id device, DeviceInfo info,
                                           ContextHandle context, QueueHandle queue) {
  const OpenClDriver driver = {api, context.get(), device, queue.get(), info.max_texel_elements, nullptr};
  if (!TakesTexelViewsOfParts(driver, info.buffer_offset_alignment)) info.max_texel_elements = 0;
  return std::make_unique<OpenClDevice>(std::move(info), api, device, std::move(context), std::move(queue));
}

}  // namespace

Result<std::unique_ptr<Device>> MakeOpenClDevice(const OpenClApi& api, const OpenClDeviceId& id, DeviceInfo info) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(id.platform),
                                              0};
  cl_int code = CL_SUCCESS;
  ContextHandle context(api, api.clCreateContext(properties, 1, &id.device, nullptr, nullptr, &code));
  if (context.get() == nullptr) return OpenClError(code, StatusCode::kUnavailable, "a context on " + info.name);
  QueueHandle queue(api, api.clCreateCommandQueue(context.get(), id.device, 0, &code));
  if (queue.get() == nullptr) return OpenClError(code, StatusCode::kUnavailable, "a queue on " + info.name);
  return DeviceWith(api, id.device, std::move(info), std::move(context), std::move(queue));
}

Result<std::unique_ptr<Device>> ShareOpenClDevice(const OpenClApi& api, const OpenClContext& shared, DeviceInfo info) {
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
  return DeviceWith(api, device, std::move(info), ContextHandle(api, context), std::move(queue_handle));
}

}  // namespace hearth
