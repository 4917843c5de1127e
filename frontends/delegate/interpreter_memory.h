// Memory of a partition's inputs and outputs that lies outside of the interpreter's tensors: LiteRT 2's buffers.
#ifndef HEARTH_FRONTENDS_DELEGATE_INTERPRETER_MEMORY_H_
#define HEARTH_FRONTENDS_DELEGATE_INTERPRETER_MEMORY_H_

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "frontends/delegate/device_memory.h"
#include "frontends/delegate/tflite_c.h"
#include "hearth/status.h"
#include "runtime/devices/device_choice.h"

namespace hearth {

// The memory of one invocation, until it is destroyed.
class BoundMemory {
 public:
  virtual ~BoundMemory() = default;

  // In the order of the tensors that were asked for.
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<std::byte>> outputs;
  // Instead of spans, which are empty then, of those that may stay on the device; null for the others, empty for none.
  std::vector<DeviceMemory*> inputs_on_device, outputs_on_device;
  // The invocation may return before its work is done, which it then does on another thread: Wait first, and
  // destroying this object tells the outputs' readers.
  bool is_async = false;

  // Waits until the inputs are there.
  virtual Status Wait() { return Status::Ok(); }
};

// A tensor of the interpreter's with its size as Hearth infers it: the interpreter may not know it yet.
struct SizedTensor {
  int index = -1;
  size_t bytes = 0;
};

// Called for one network at a time.
class InterpreterMemory {
 public:
  virtual ~InterpreterMemory() = default;

  // Whether Hold may give DeviceMemory: all kernels then share a device.
  virtual bool stays_on_device() const { return false; }
  // That device, if the memory belongs to one; null: the options choose it.
  virtual const OpenedDevice* device() const { return nullptr; }

  // While a network is prepared: the partition's inputs and outputs. `others`: tensors that nodes outside of the
  // delegate's partitions read or make.
  virtual Status Announce(tflite_c::TfLiteContext& context, std::span<const SizedTensor> inputs,
                          std::span<const SizedTensor> outputs, const std::set<int>& others) = 0;

  // The memory of these tensors in this invocation. Errors name the tensor.
  virtual Result<std::unique_ptr<BoundMemory>> Hold(tflite_c::TfLiteContext& context, std::span<const int> inputs,
                                                    std::span<const int> outputs) = 0;
};

// The memory that the interpreter gives its tensors.
class MemoryOfTensors final : public InterpreterMemory {
 public:
  Status Announce(tflite_c::TfLiteContext&, std::span<const SizedTensor>, std::span<const SizedTensor>,
                  const std::set<int>&) override {
    return Status::Ok();
  }
  Result<std::unique_ptr<BoundMemory>> Hold(tflite_c::TfLiteContext& context, std::span<const int> inputs,
                                            std::span<const int> outputs) override;
};

// kInvalidArgument if the interpreter gave it none.
Result<std::span<std::byte>> BytesOfTensor(const tflite_c::TfLiteContext& context, int index);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_INTERPRETER_MEMORY_H_
