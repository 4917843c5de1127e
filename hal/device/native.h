// The caller's objects that a device works with: buffers, textures, fences. The public side is hearth/interop.h.
#ifndef HEARTH_HAL_DEVICE_NATIVE_H_
#define HEARTH_HAL_DEVICE_NATIVE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/emit/kernel_source.h"
#include "hearth/frame.h"

namespace hearth {

// One plane of an image: its size, and its offset in the tightly packed bytes that kernels read.
struct ImagePlane {
  uint64_t offset_bytes = 0;
  uint32_t width = 0, height = 0;
};

// Whether the memory is an object with texels, whose size only the driver knows, instead of a buffer of bytes.
inline bool HasTexels(MemoryKind kind) {
  return kind == MemoryKind::kGlTexture || kind == MemoryKind::kVulkanImage ||
         kind == MemoryKind::kAndroidHardwareBuffer;
}

// Whether the memory belongs to no context of an API: any driver may import it.
inline bool IsExternal(MemoryKind kind) {
  return kind == MemoryKind::kDmaBuf || kind == MemoryKind::kAndroidHardwareBuffer;
}

// A buffer of the device's own, which several plans use: the handle of a Binding points to a std::shared_ptr<Buffer>.
// Not for programs, which have no such buffers.
inline constexpr MemoryKind kOwnBuffer{UINT8_MAX};

// Memory to import. A texture has a size in texels and a texel format.
struct NativeMemory {
  MemoryKind kind = MemoryKind::kHost;
  uint64_t handle = 0;
  uint64_t size_bytes = 0;  // of a buffer: at most the object's size
  uint32_t width = 0, height = 0;
  StorageType texel = StorageType::kFloat32;
  bool is_written = false;  // by kernels: drivers have stricter rules for such a texture
  // The planes of an image, whose bytes become a buffer of size_bytes. Of a linear dma-buf: none, its bytes are read
  // where they are.
  std::vector<ImagePlane> planes = {};
  uint32_t image_layout = 0;
  // Of a dma-buf or an AHardwareBuffer.
  PixelFormat pixels = PixelFormat::kRgba8;
  uint64_t drm_modifier = 0;
  std::vector<FramePlane> external_planes = {};  // of a dma-buf: those that its frame gives
};

// Synchronization of a submission with work outside the device's own submissions.
struct SubmitSync {
  std::span<const SyncPoint> wait_for;  // waited for before the first command
  std::span<const SyncPoint> signal;    // signaled after the last command; only VkSemaphores
  // If not null, receives a GLsync or cl_event after the last command, which the caller destroys.
  uint64_t* fence = nullptr;
};

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_NATIVE_H_
