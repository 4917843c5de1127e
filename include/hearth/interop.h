// Memory, contexts and fences that a program lends to a session, so that inputs and outputs need no copy through the
// host. No driver header is needed: objects are given as pointers and numbers.
//
//   session->BindInput("image", {.memory = MemoryKind::kGlTexture, .handle = texture, .format = ElementFormat::kRgba8,
//                                .scale = {2, 2, 2, 2}, .offset = {-1, -1, -1, -1}});   // 0..255 becomes -1..1
//
// Lent objects must belong to the session's context (SharedContext), and must stay alive until something else is bound
// or the session is destroyed. An invalid pointer cannot be detected: drivers crash on it.
#ifndef HEARTH_INTEROP_H_
#define HEARTH_INTEROP_H_

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

namespace hearth {

// ---- Contexts ----

// The session works in `context` on `device`, and on `queue` (in-order) if it is given, else on its own queue.
struct OpenClContext {
  void* context = nullptr;  // cl_context
  void* device = nullptr;   // cl_device_id; null: the queue's
  void* queue = nullptr;    // cl_command_queue; may be null
};

// The session works on `queue`; no call of the session that submits or waits may overlap with the program's own use of
// that queue. The instance must be of API version 1.1 or newer.
struct VulkanContext {
  void* instance = nullptr;         // VkInstance
  void* physical_device = nullptr;  // VkPhysicalDevice
  void* device = nullptr;           // VkDevice
  void* queue = nullptr;            // VkQueue of a family with compute support
  uint32_t queue_family = 0;
};

// The session makes its own context in the share group of `context`, on its own thread; the program's context stays
// current on its thread. OpenGL ES 3.1 or newer.
struct GlContext {
  void* display = nullptr;  // EGLDisplay, initialized
  void* context = nullptr;  // EGLContext
};

// monostate: the session opens a device itself.
using SharedContext = std::variant<std::monostate, OpenClContext, VulkanContext, GlContext>;

// ---- Memory ----

enum class MemoryKind : uint8_t {
  kHost,          // handle: the address
  kGlBuffer,      // handle: the buffer's name
  kGlTexture,     // handle: the texture's name, GL_TEXTURE_2D, level 0, as wide and high as the tensor (batches below)
  kVulkanBuffer,  // handle: VkBuffer with VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
  kClBuffer,      // handle: cl_mem
  kVulkanImage,   // handle: VkImage with VK_IMAGE_USAGE_TRANSFER_SRC_BIT, two-dimensional, mip level 0, array layer 0,
                  // one sample, of which the queue's family is the owner; inputs only, as wide and high as the tensor
  // Memory that several drivers share; frames only (hearth/frame.h). Needs no SharedContext.
  kDmaBuf,                 // handle: a file descriptor, other than 0
  kAndroidHardwareBuffer,  // handle: AHardwareBuffer*
};

enum class ElementFormat : uint8_t {
  kFloat32,  // as many floats a pixel as the tensor has channels; as a texture or image RGBA32F
  kRgba8,    // four bytes a pixel, where 0 to 255 mean 0 to 1; tensors of 1 to 4 channels. Of an sRGB VkImage the
             // bytes as they are stored
  kRgba16f,  // four float16 a pixel; tensors of 1 to 4 channels
};

// Memory that the program lends for one input or output. Elements are real numbers, for quantized tensors the
// dequantized ones. Integer tensors can't be bound.
struct Binding {
  MemoryKind memory = MemoryKind::kHost;
  uint64_t handle = 0;
  uint64_t size_bytes = 0;    // of the whole memory; not needed for textures and images
  uint64_t offset_bytes = 0;  // of the first pixel; a multiple of 4, of 8 for kRgba16f
  ElementFormat format = ElementFormat::kFloat32;
  uint64_t row_pitch_bytes = 0;  // from one row to the next; 0: tightly packed; aligned like offset_bytes
  bool flip_vertically = false;  // the first row in memory is the picture's bottom row
  // By channel. Inputs: tensor = scale * element + offset. Outputs: element = scale * tensor + offset, where missing
  // channels of the tensor count as 0. If the tensor has more than four channels, the first pair is used for all.
  std::array<float, 4> scale = {1, 1, 1, 1};
  std::array<float, 4> offset = {0, 0, 0, 0};
  // Of a VkImage: the VkImageLayout that it has when a run begins, and has again when the run is finished. Neither
  // UNDEFINED nor PREINITIALIZED. GENERAL and TRANSFER_SRC_OPTIMAL are read as they are.
  uint32_t image_layout = 0;
};

// ---- Synchronization ----

// A GLsync, a VkSemaphore or a cl_event. `value` is used only for timeline semaphores.
struct SyncPoint {
  uint64_t handle = 0;
  uint64_t value = 0;
};

}  // namespace hearth

#endif  // HEARTH_INTEROP_H_
