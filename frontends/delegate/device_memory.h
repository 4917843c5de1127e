// The memory of a tensor that stays on a device between runs, and comes to the host when somebody asks for it.
#ifndef HEARTH_FRONTENDS_DELEGATE_DEVICE_MEMORY_H_
#define HEARTH_FRONTENDS_DELEGATE_DEVICE_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <vector>

#include "frontends/delegate/tflite_c.h"
#include "hal/device/device.h"
#include "hal/io/transfers.h"
#include "hearth/status.h"
#include "runtime/devices/device_choice.h"

namespace hearth {

// Any thread. The host's address stays the same.
class DeviceMemory {
 public:
  enum class Access : uint8_t { kRead, kWrite, kReadWrite };  // kWrite: all of it is written
  static constexpr size_t kAlignment = 64;

  // Zeros at first. It moves to the device that asks for it.
  explicit DeviceMemory(size_t bytes) : bytes_(bytes) {}
  // Memory that the program uses too, by its own calls of the driver: it has the content while the host does not.
  DeviceMemory(size_t bytes, std::shared_ptr<Device> device, std::shared_ptr<Buffer> buffer)
      : bytes_(bytes), is_lent_(true), device_(std::move(device)), buffer_(std::move(buffer)), has_host_(false) {}
  size_t size_bytes() const { return bytes_; }

  // The host's copy, until EndHost: what the host has written counts then.
  Result<std::byte*> OnHost(Access access);
  Status EndHost();

  // The buffer that runs on this device read and write; with the content for all but kWrite. Counts what crosses. The
  // content is lost if the device is. After kWrite and kReadWrite the buffer has the content. kUnsupported for lent
  // memory of another device.
  Result<std::shared_ptr<Buffer>> OnDevice(const std::shared_ptr<Device>& device, Access access,
                                           TransferCounts& counts);

 private:
  struct Aligned {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t(kAlignment)); }
  };
  Status BringToHost(TransferCounts& counts);  // if only the device has the content
  Status BringToDevice();
  std::byte* Host();

  const size_t bytes_;
  const bool is_lent_ = false;
  std::mutex mutex_;  // guards everything below
  std::unique_ptr<std::byte[], Aligned> host_;
  std::shared_ptr<Device> device_;  // of buffer_
  std::shared_ptr<Buffer> buffer_;
  bool has_host_ = true, has_device_ = false;  // who has the content
  bool is_lent_changed_ = false;               // on the host
};

// ---- Memory of a partition's inputs and outputs outside of the interpreter's tensors: LiteRT 2's buffers ----

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

#endif  // HEARTH_FRONTENDS_DELEGATE_DEVICE_MEMORY_H_
