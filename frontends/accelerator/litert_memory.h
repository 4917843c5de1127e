// LiteRT's tensor buffers as the memory of partitions.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_LITERT_MEMORY_H_
#define HEARTH_FRONTENDS_ACCELERATOR_LITERT_MEMORY_H_

#include "frontends/accelerator/litert_runtime.h"
#include "frontends/delegate/device_memory.h"

namespace hearth {

// Takes every kind of buffer that can be locked, and reads and writes host memory where it is. A network's states,
// which are inputs and outputs of one shape, stay on the device (hearth_buffer.h). An asynchronous invocation on host
// memory returns at once: its outputs get events, which are signalled when they are written.
class LiteRtMemory final : public InterpreterMemory {
 public:
  // `device`: in the program's OpenCL context; null: none.
  LiteRtMemory(const LiteRtRuntime& runtime, std::shared_ptr<const OpenedDevice> device)
      : runtime_(runtime), device_(std::move(device)) {}

  bool stays_on_device() const override { return runtime_.custom_handle != nullptr; }
  const OpenedDevice* device() const override { return device_.get(); }
  Status Announce(tflite_c::TfLiteContext& context, std::span<const SizedTensor> inputs,
                  std::span<const SizedTensor> outputs, const std::set<int>& others) override;
  Result<std::unique_ptr<BoundMemory>> Hold(tflite_c::TfLiteContext& context, std::span<const int> inputs,
                                            std::span<const int> outputs) override;

 private:
  // The kind of buffer that LiteRT is to make.
  litert_c::LiteRtTensorBufferType FirstKind(const tflite_c::TfLiteTensor& tensor, bool is_state) const;
  LiteRtRuntime runtime_;
  std::shared_ptr<const OpenedDevice> device_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_LITERT_MEMORY_H_
