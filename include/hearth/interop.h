// Memory, contexts and fences that a program already has and lends to a session: pictures go in and results come out
// without a copy through the host. No driver's header is needed here: objects are given as pointers and numbers.
//
//   session->BindInput("image", {.memory = MemoryKind::kGlTexture, .handle = texture, .format = ElementFormat::kRgba8,
//                                .scale = {2, 2, 2, 2}, .offset = {-1, -1, -1, -1}});   // 0..255 becomes -1..1
//
// What is lent must stay alive, and of the session's own context (SharedContext), until it is bound anew or the session
// is gone. A pointer that is not an object of its kind can't be recognized: drivers crash on it.
#ifndef HEARTH_INTEROP_H_
#define HEARTH_INTEROP_H_

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

namespace hearth {

// ---- Contexts ----

// The session works in `context` on `device`, and on `queue` (in order) where one is given, else on a queue of its own.
struct OpenClContext {
  void* context = nullptr;  // cl_context
  void* device = nullptr;   // cl_device_id
  void* queue = nullptr;    // cl_command_queue; may be null
};

// The session works on `queue`; no call of the session that submits or waits may overlap with the program's own use of
// that queue. The instance must be of API version 1.1 or newer.
struct VulkanContext {
  void* instance = nullptr;         // VkInstance
  void* physical_device = nullptr;  // VkPhysicalDevice
  void* device = nullptr;           // VkDevice
  void* queue = nullptr;            // VkQueue of a family that computes
  uint32_t queue_family = 0;
};

// The session makes a context of its own in the share group of `context`, on a thread of its own; the program's context
// stays current where it is. OpenGL ES 3.1 or newer.
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
};

enum class ElementFormat : uint8_t {
  kFloat32,  // as many floats a pixel as the tensor has channels; as a texture RGBA32F
  kRgba8,    // four bytes a pixel, 0 to 255 standing for 0 to 1; tensors of 1 to 4 channels
  kRgba16f,  // four float16 a pixel; tensors of 1 to 4 channels
};

// One input or output of a model in memory that the program lends. Elements are real numbers: for a quantized tensor
// those that it stands for. Not for integer tensors.
struct Binding {
  MemoryKind memory = MemoryKind::kHost;
  uint64_t handle = 0;
  uint64_t size_bytes = 0;    // of the whole memory; not needed for textures
  uint64_t offset_bytes = 0;  // of the first pixel; a multiple of 4, of 8 for kRgba16f
  ElementFormat format = ElementFormat::kFloat32;
  uint64_t row_pitch_bytes = 0;  // from one row to the next; 0: tightly packed. A multiple of what offset_bytes is
  bool flip_vertically = false;  // the first row in memory is the picture's lowest
  // Inputs: tensor = scale * element + offset. Outputs: element = scale * tensor + offset, where components that the
  // tensor has no channel for count as 0. By channel; the first pair for all where the tensor has more than four.
  std::array<float, 4> scale = {1, 1, 1, 1};
  std::array<float, 4> offset = {0, 0, 0, 0};
};

// ---- Synchronization ----

// A GLsync, a VkSemaphore or a cl_event. `value` only counts for timeline semaphores.
struct SyncPoint {
  uint64_t handle = 0;
  uint64_t value = 0;
};

}  // namespace hearth

#endif  // HEARTH_INTEROP_H_
