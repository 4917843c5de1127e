// LiteRT's tensor buffers as the memory of partitions.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_LITERT_MEMORY_H_
#define HEARTH_FRONTENDS_ACCELERATOR_LITERT_MEMORY_H_

#include "frontends/accelerator/litert_runtime.h"
#include "frontends/delegate/interpreter_memory.h"

namespace hearth {

// Takes every kind of buffer that can be locked, and reads and writes host memory where it is. An asynchronous
// invocation on host memory returns at once: its outputs get events, which are signalled when they are written.
class LiteRtMemory final : public InterpreterMemory {
 public:
  explicit LiteRtMemory(const LiteRtRuntime& runtime) : runtime_(runtime) {}

  Status Announce(tflite_c::TfLiteContext& context, std::span<const SizedTensor> inputs,
                  std::span<const SizedTensor> outputs, const std::set<int>& others) override;
  Result<std::unique_ptr<HeldMemory>> Hold(tflite_c::TfLiteContext& context, std::span<const int> inputs,
                                           std::span<const int> outputs) override;

 private:
  LiteRtRuntime runtime_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_LITERT_MEMORY_H_
