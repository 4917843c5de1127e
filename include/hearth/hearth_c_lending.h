/* Inputs and outputs in memory that the program lends, and pictures as inputs: the part of hearth/hearth_c.h that
 * corresponds to hearth/interop.h and hearth/frame.h. Include hearth/hearth_c.h instead. */
#ifndef HEARTH_C_LENDING_H_
#define HEARTH_C_LENDING_H_

#ifndef HEARTH_C_EXPORT
#error "include hearth/hearth_c.h"
#endif

/* ---- Memory that the program lends: inputs and outputs without a copy ---- */

typedef struct hearth_binding hearth_binding;

enum {
  HEARTH_MEMORY_HOST = 0,          /* handle: the address */
  HEARTH_MEMORY_GL_BUFFER = 1,     /* the buffer's name */
  HEARTH_MEMORY_GL_TEXTURE = 2,    /* the name of a GL_TEXTURE_2D, as wide and high as the tensor */
  HEARTH_MEMORY_VULKAN_BUFFER = 3, /* VkBuffer */
  HEARTH_MEMORY_CL_BUFFER = 4,     /* cl_mem */
  HEARTH_MEMORY_VULKAN_IMAGE = 5,  /* since version 2: VkImage, for inputs and frames */
  /* Since version 2, for frames, in every session. */
  HEARTH_MEMORY_DMA_BUF = 6,                /* a file descriptor, other than 0 */
  HEARTH_MEMORY_ANDROID_HARDWARE_BUFFER = 7 /* AHardwareBuffer* */
};
enum { HEARTH_FORMAT_FLOAT32 = 0, HEARTH_FORMAT_RGBA8 = 1, HEARTH_FORMAT_RGBA16F = 2 };

/* Float32, tightly packed and unscaled until set otherwise. `size_bytes` is that of the whole memory, 0 for
 * textures and images. hearth/interop.h says which formats fit which memory. */
HEARTH_C_EXPORT hearth_status hearth_binding_create(int32_t memory, uint64_t handle, uint64_t size_bytes,
                                                    hearth_binding** out);
HEARTH_C_EXPORT void hearth_binding_destroy(hearth_binding* binding);
HEARTH_C_EXPORT hearth_status hearth_binding_set_format(hearth_binding* binding, int32_t format);
/* Offset of the first pixel, distance of rows (0: tightly packed), whether the first row is the picture's bottom
 * row. */
HEARTH_C_EXPORT hearth_status hearth_binding_set_layout(hearth_binding* binding, uint64_t offset_bytes,
                                                        uint64_t row_pitch_bytes, int32_t flip_vertically);
/* Four numbers each, by channel. Inputs: tensor = scale * element + offset; outputs: element = scale * tensor + offset.
 */
HEARTH_C_EXPORT hearth_status hearth_binding_set_scale(hearth_binding* binding, const float* scale,
                                                       const float* offset);
/* Since version 2. Of a VkImage: the VkImageLayout that it has when a run begins, and has again when it is finished. */
HEARTH_C_EXPORT hearth_status hearth_binding_set_image_layout(hearth_binding* binding, uint32_t layout);
/* From now on each run reads or writes there. The binding is copied; the memory must stay alive. NULL returns to
 * hearth_session_set_input and hearth_session_output_data. */
HEARTH_C_EXPORT hearth_status hearth_session_bind_input(hearth_session* session, size_t index,
                                                        const hearth_binding* binding);
HEARTH_C_EXPORT hearth_status hearth_session_bind_output(hearth_session* session, size_t index,
                                                         const hearth_binding* binding);

/* ---- Frames: the device makes inputs from pictures of cameras and decoders ---- */

/* Since version 2. hearth/frame.h describes the conversion. */
typedef struct hearth_frame hearth_frame;

enum {
  HEARTH_PIXELS_RGBA8 = 0,
  HEARTH_PIXELS_BGRA8 = 1,
  HEARTH_PIXELS_RGB8 = 2,
  HEARTH_PIXELS_NV12 = 3, /* planes: Y; pairs of U and V */
  HEARTH_PIXELS_NV21 = 4, /* planes: Y; pairs of V and U */
  HEARTH_PIXELS_I420 = 5  /* planes: Y; U; V */
};
enum { HEARTH_MATRIX_BT601 = 0, HEARTH_MATRIX_BT709 = 1 };

/* Since version 2. In host memory, not cropped or rotated, BT.601 with Y from 16 to 235, tensor = value (0 to 255). */
HEARTH_C_EXPORT hearth_status hearth_frame_create(int32_t format, int32_t width, int32_t height, hearth_frame** out);
HEARTH_C_EXPORT void hearth_frame_destroy(hearth_frame* frame);
/* Since version 2. The planes' memory, by default HEARTH_MEMORY_HOST. A texture holds a frame of RGBA8 or BGRA8; a
 * device buffer holds all planes at their offsets; a VkImage, in plane 0, holds RGBA8, BGRA8, NV12 or I420. The planes
 * of a dma-buf have file descriptors, which hearth_session_bind_frame duplicates. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_memory(hearth_frame* frame, int32_t memory);
/* Since version 2. Plane 0, 1 or 2. `handle` is the address; planes 1 and 2 with handle 0 lie in the memory of plane
 * 0 at `offset_bytes` (0: directly after the previous plane, which then must lie in that memory too, else
 * hearth_session_bind_frame answers HEARTH_INVALID_ARGUMENT). `size_bytes` is that of the whole memory;
 * `row_pitch_bytes` 0: tightly packed. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_plane(hearth_frame* frame, size_t plane, uint64_t handle,
                                                     uint64_t size_bytes, uint64_t offset_bytes,
                                                     uint64_t row_pitch_bytes);
/* Since version 2. Only this part of the picture is used. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_crop(hearth_frame* frame, int32_t x, int32_t y, int32_t width,
                                                    int32_t height);
/* Since version 2. Rotates clockwise by 0, 90, 180 or 270 degrees, then mirrors where not 0. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_orientation(hearth_frame* frame, int32_t rotation,
                                                           int32_t flip_horizontally, int32_t flip_vertically);
/* Since version 2. The standard of Y, U and V; `is_full_range` other than 0: Y from 0 to 255. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_matrix(hearth_frame* frame, int32_t matrix, int32_t is_full_range);
/* Since version 2. Four numbers each, by channel: tensor = (value - mean) * scale. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_scale(hearth_frame* frame, const float* mean, const float* scale);
/* Since version 2. Of a VkImage, as hearth_binding_set_image_layout. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_image_layout(hearth_frame* frame, uint32_t layout);
/* Since version 2. Of a dma-buf: the DRM format modifier that its producer reports; 0, the default: linear. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_drm_modifier(hearth_frame* frame, uint64_t modifier);
/* Since version 2. For 8-bit inputs. Not 0, the default: the input is the value itself (int8: minus 128). 0: it is
 * the scaled number, rounded to the tensor's grid. */
HEARTH_C_EXPORT hearth_status hearth_frame_set_raw_bytes(hearth_frame* frame, int32_t is_raw);
/* Since version 2. From now on each run makes the input from this picture. The frame is copied; the memory must stay
 * alive. Call it again for the next picture. NULL returns to hearth_session_set_input. */
HEARTH_C_EXPORT hearth_status hearth_session_bind_frame(hearth_session* session, size_t index,
                                                        const hearth_frame* frame);

#endif /* HEARTH_C_LENDING_H_ */
