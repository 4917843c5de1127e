#include "frontends/delegate/interpreter_memory.h"

#include "core/base/error.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {

Result<std::span<std::byte>> BytesOfTensor(const tflite_c::TfLiteContext& context, int index) {
  const tflite_c::TfLiteTensor* tensor = TensorAt(context, index);
  if (tensor == nullptr || (tensor->data == nullptr && tensor->bytes > 0)) {
    return Error(StatusCode::kInvalidArgument, "the interpreter gave no memory to {}", TensorLabel(context, index));
  }
  return std::span<std::byte>(static_cast<std::byte*>(tensor->data), tensor->bytes);
}

// Finds the interpreter's tensors each time: it may move them between invocations.
Result<std::unique_ptr<BoundMemory>> MemoryOfTensors::Hold(tflite_c::TfLiteContext& context,
                                                           std::span<const int> inputs, std::span<const int> outputs) {
  auto held = std::make_unique<BoundMemory>();
  for (const int index : inputs) {
    HEARTH_ASSIGN(const std::span<std::byte> bytes, BytesOfTensor(context, index));
    held->inputs.emplace_back(bytes);
  }
  for (const int index : outputs) {
    HEARTH_ASSIGN(const std::span<std::byte> bytes, BytesOfTensor(context, index));
    held->outputs.push_back(bytes);
  }
  return held;
}

}  // namespace hearth
