// Owners of Vulkan objects.
#ifndef HEARTH_BACKENDS_VULKAN_HANDLE_H_
#define HEARTH_BACKENDS_VULKAN_HANDLE_H_

#include <mutex>
#include <utility>
#include <vector>

#include "backends/vulkan/driver_api.h"
#include "hal/device/wait_limit.h"

namespace hearth::vulkan {

// Objects that a hung device may be using stay, and leak checkers find them here.
template <typename Handle>
void KeepForever(Handle handle) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<Handle>();
  const std::lock_guard lock(mutex);
  kept.push_back(handle);
}

// A move-only handle of an object of a VkDevice. `destroy` destroys it, unless the device has hung and may use it for
// ever. The device must outlive it.
template <typename Handle>
class Owned {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);

  Owned() = default;
  Owned(VkDevice device, Handle handle, Destroy destroy, const WaitLimit& limit)
      : device_(device), handle_(handle), destroy_(destroy), limit_(&limit) {}
  Owned(Owned&& other) noexcept
      : device_(other.device_),
        handle_(std::exchange(other.handle_, VK_NULL_HANDLE)),
        destroy_(other.destroy_),
        limit_(other.limit_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    std::swap(limit_, other.limit_);
    return *this;
  }
  ~Owned() {
    if (handle_ == VK_NULL_HANDLE) return;
    if (limit_->has_hung()) {
      KeepForever(handle_);
    } else {
      destroy_(device_, handle_, nullptr);
    }
  }

  Handle get() const { return handle_; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
  const WaitLimit* limit_ = nullptr;
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_HANDLE_H_
