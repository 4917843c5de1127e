// Owners of Vulkan objects.
#ifndef HEARTH_BACKENDS_VULKAN_HANDLE_H_
#define HEARTH_BACKENDS_VULKAN_HANDLE_H_

#include <utility>

#include "backends/vulkan/driver_api.h"

namespace hearth::vulkan {

// A handle that belongs to a VkDevice, destroyed by `destroy`; move-only. The device must outlive it.
template <typename Handle>
class Owned {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);

  Owned() = default;
  Owned(VkDevice device, Handle handle, Destroy destroy) : device_(device), handle_(handle), destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, VK_NULL_HANDLE)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned() {
    if (handle_ != VK_NULL_HANDLE) destroy_(device_, handle_, nullptr);
  }

  Handle get() const { return handle_; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_HANDLE_H_
