// One OpenCL device with its context and its one in-order queue.
#ifndef HEARTH_BACKENDS_OPENCL_DEVICE_H_
#define HEARTH_BACKENDS_OPENCL_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/opencl/driver_api.h"
#include "backends/opencl/submissions.h"
#include "core/device/driver_names.h"
#include "hal/device/device.h"

namespace hearth {

class OpenClDevice final : public Device {
 public:
  // Makes the context and the queue. kUnavailable or kResourceExhausted with the driver's error.
  static Result<std::unique_ptr<Device>> Create(const OpenClApi& api, cl_platform_id platform, cl_device_id device,
                                                DeviceInfo info);
  ~OpenClDevice() override;
  // On the caller's context, and on its queue if it has one. kInvalidArgument if they don't belong together or the
  // queue is out of order.
  static Result<std::unique_ptr<Device>> Share(const OpenClApi& api, const OpenClContext& shared, DeviceInfo info);

  uint32_t items_as_compiled() const override { return items_as_compiled_; }

  bool is_quiet() const override { return !is_pocl_ || OpenClTraffic::OfProcess().IsQuiet(); }

 private:
  OpenClDevice(DeviceInfo info, const OpenClApi& api, cl_device_id device, ContextHandle context, QueueHandle queue)
      : Device(std::move(info)),
        api_(api),
        device_(device),
        context_(std::move(context)),
        queue_(std::move(queue)),
        submissions_(std::make_unique<OpenClSubmissions>(api)) {}
  static Result<std::unique_ptr<Device>> Make(const OpenClApi& api, cl_device_id device, DeviceInfo info,
                                              ContextHandle context, QueueHandle queue);

  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { submissions_->wait_limit().Set(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override;
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override;
  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override;
  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override;
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override;
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override;
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override;

  Status WithMapped(const Buffer& buffer, cl_map_flags flags, uint64_t offset_bytes, uint64_t size_bytes,
                    const std::function<Status(std::span<std::byte>)>& use);

  // The queue for copies. While kernels run it is another queue than theirs, so that copies don't wait for them.
  Result<cl_command_queue> QueueForCopies();

  OpenClDriver driver() const {
    return {api_,
            context_.get(),
            device_,
            queue_.get(),
            info().max_texel_elements,
            submissions_.get(),
            info().is_software(),
            is_pocl_,
            &items_as_compiled_};
  }

  const OpenClApi& api_;
  cl_device_id device_;
  const bool is_pocl_ = IsPocl(DriverWords(info()));
  ContextHandle context_;
  QueueHandle queue_;       // thread-safe by the standard; released before the context
  QueueHandle copy_queue_;  // made when it is first needed
  std::unique_ptr<OpenClSubmissions> submissions_;
  mutable std::atomic<uint32_t> items_as_compiled_ = UINT32_MAX;  // programs are built on several threads
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_DEVICE_H_
