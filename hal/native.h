// Objects of the caller's that a device works with: buffers, textures, fences. The public side is hearth/interop.h.
#ifndef HEARTH_HAL_NATIVE_H_
#define HEARTH_HAL_NATIVE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/emit/kernel_source.h"
#include "hearth/interop.h"

namespace hearth {

// Of an image: where one of its planes lies in the bytes that kernels read, tightly packed, and its size.
struct ImagePlane {
  uint64_t offset_bytes = 0;
  uint32_t width = 0, height = 0;
};

// Whether the memory is an object with texels, whose size only the driver knows, and not a buffer of bytes.
inline bool HasTexels(MemoryKind kind) {
  return kind == MemoryKind::kGlTexture || kind == MemoryKind::kVulkanImage;
}

// Memory to import. Of a texture the size in texels and the format of one.
struct NativeMemory {
  MemoryKind kind = MemoryKind::kHost;
  uint64_t handle = 0;
  uint64_t size_bytes = 0;  // of a buffer, at most what the object has
  uint32_t width = 0, height = 0;
  StorageType texel = StorageType::kFloat32;
  bool is_written = false;  // by kernels: drivers ask more of a texture then
  // Of an image, whose bytes become a buffer of size_bytes: one plane, or several of a format that has them.
  std::vector<ImagePlane> planes = {};
  uint32_t image_layout = 0;
};

// What a submission is ordered against beyond the device's own submissions.
struct SubmitSync {
  std::span<const SyncPoint> wait_for;  // before the first command
  std::span<const SyncPoint> signal;    // behind the last one; only VkSemaphores
  // Where set: gets a GLsync or cl_event behind the last command, which the caller destroys.
  uint64_t* fence = nullptr;
};

}  // namespace hearth

#endif  // HEARTH_HAL_NATIVE_H_
