// The memory of a tensor that stays on a device between runs, and comes to the host when somebody asks for it.
#ifndef HEARTH_FRONTENDS_DELEGATE_DEVICE_MEMORY_H_
#define HEARTH_FRONTENDS_DELEGATE_DEVICE_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#include "hal/device/device.h"
#include "hal/io/transfers.h"

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

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_DEVICE_MEMORY_H_
