// Textures over memory that other drivers made: dma-bufs and AHardwareBuffers, through EGLImages.
#include <cstdint>
#include <vector>

#include "backends/gles/texture.h"
#include "core/base/error.h"
#include "hal/io/dma_buf.h"

namespace hearth::gles {
namespace {

// A texture over the bytes of linear memory has rows of one page, an alignment that every driver takes. The kernels'
// index of an element (kTextureLoad) is then its place in memory.
constexpr uint32_t kTexelsInARow = 1024;
constexpr uint64_t kRowBytes = uint64_t{kTexelsInARow} * 4;

Status Lacks(const Context& context, std::string_view extension) {
  return Error(StatusCode::kUnsupported, "{} has no {}", context.facts().info.name, extension);
}

Status CheckExtensions(const Context& context, const std::vector<const char*>& of_egl) {
  const char* extensions = eglQueryString(context.display(), EGL_EXTENSIONS);
  for (const char* name : of_egl) {
    if (!HasExtension(extensions, name)) return Lacks(context, name);
  }
  const bool can_target = HasExtension(extensions, "EGL_KHR_image_base") &&
                          HasExtension(reinterpret_cast<const char*>(glGetString(GL_EXTENSIONS)), "GL_OES_EGL_image");
  return can_target ? Status::Ok() : Lacks(context, "GL_OES_EGL_image");
}

struct DmaBufAttributes {
  std::vector<EGLint> list;
  void Add(EGLint name, uint64_t value) {
    list.push_back(name);
    list.push_back(static_cast<EGLint>(static_cast<uint32_t>(value)));
  }
  void AddPlane(size_t k, uint64_t descriptor, uint64_t offset_bytes, uint64_t pitch_bytes) {
    constexpr EGLint kNames[3][3] = {
        {EGL_DMA_BUF_PLANE0_FD_EXT, EGL_DMA_BUF_PLANE0_OFFSET_EXT, EGL_DMA_BUF_PLANE0_PITCH_EXT},
        {EGL_DMA_BUF_PLANE1_FD_EXT, EGL_DMA_BUF_PLANE1_OFFSET_EXT, EGL_DMA_BUF_PLANE1_PITCH_EXT},
        {EGL_DMA_BUF_PLANE2_FD_EXT, EGL_DMA_BUF_PLANE2_OFFSET_EXT, EGL_DMA_BUF_PLANE2_PITCH_EXT}};
    Add(kNames[k][0], descriptor);
    Add(kNames[k][1], offset_bytes);
    Add(kNames[k][2], pitch_bytes);
  }
  void AddModifier(size_t k, uint64_t modifier) {
    constexpr EGLint kNames[3][2] = {{EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT},
                                     {EGL_DMA_BUF_PLANE1_MODIFIER_LO_EXT, EGL_DMA_BUF_PLANE1_MODIFIER_HI_EXT},
                                     {EGL_DMA_BUF_PLANE2_MODIFIER_LO_EXT, EGL_DMA_BUF_PLANE2_MODIFIER_HI_EXT}};
    Add(kNames[k][0], modifier);
    Add(kNames[k][1], modifier >> 32);
  }
  void AddSize(uint64_t width, uint64_t height, PixelFormat format) {
    Add(EGL_WIDTH, width);
    Add(EGL_HEIGHT, height);
    Add(EGL_LINUX_DRM_FOURCC_EXT, DrmFormatOf(format));
  }
};

Result<std::vector<EGLint>> AttributesOfBytes(const Context& context, const NativeMemory& memory) {
  GLint most_rows = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most_rows);
  const uint64_t rows = memory.size_bytes / kRowBytes;
  if (memory.size_bytes % kRowBytes != 0 || rows > static_cast<uint64_t>(most_rows)) {
    return Error(StatusCode::kUnsupported, "a dma-buf of {} bytes; {} reads whole pages of {} bytes, at most {}",
                 memory.size_bytes, context.facts().info.name, kRowBytes, most_rows);
  }
  DmaBufAttributes attributes;
  attributes.AddSize(kTexelsInARow, rows, PixelFormat::kRgba8);
  attributes.AddPlane(0, memory.handle, 0, kRowBytes);
  attributes.list.push_back(EGL_NONE);
  return attributes.list;
}

// The driver would convert planes of Y, U and V by coefficients of its own.
Result<std::vector<EGLint>> AttributesOfTexels(const Context& context, const NativeMemory& memory) {
  if (memory.pixels != PixelFormat::kRgba8 && memory.pixels != PixelFormat::kBgra8)
    return Error(StatusCode::kUnsupported, "OpenGL ES reads a dma-buf with a modifier only as RGBA8 or BGRA8");
  HEARTH_TRY(CheckExtensions(context, {"EGL_EXT_image_dma_buf_import_modifiers"}));
  DmaBufAttributes attributes;
  attributes.AddSize(memory.width, memory.height, memory.pixels);
  for (size_t k = 0; k < memory.external_planes.size(); ++k) {
    const FramePlane& plane = memory.external_planes[k];
    if ((plane.offset_bytes | plane.row_pitch_bytes) > INT32_MAX)
      return Error(StatusCode::kUnsupported, "EGL counts a dma-buf's bytes in 32 bits: a plane begins behind them");
    attributes.AddPlane(k, plane.handle != 0 ? plane.handle : memory.handle, plane.offset_bytes, plane.row_pitch_bytes);
    attributes.AddModifier(k, memory.drm_modifier);
  }
  attributes.list.push_back(EGL_NONE);
  return attributes.list;
}

Result<EGLImageKHR> ImageOfDmaBuf(const Context& context, const NativeMemory& memory) {
  HEARTH_TRY(CheckExtensions(context, {"EGL_EXT_image_dma_buf_import"}));
  HEARTH_ASSIGN(const std::vector<EGLint> attributes,
                (memory.drm_modifier == 0 ? AttributesOfBytes : AttributesOfTexels)(context, memory));
  return eglCreateImageKHR(context.display(), EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, nullptr, attributes.data());
}

Result<EGLImageKHR> ImageOfHardwareBuffer(const Context& context, const NativeMemory& memory) {
  HEARTH_TRY(CheckExtensions(context, {"EGL_ANDROID_image_native_buffer", "EGL_ANDROID_get_native_client_buffer"}));
  if (memory.pixels != PixelFormat::kRgba8)
    return Error(StatusCode::kUnsupported, "OpenGL ES reads an AHardwareBuffer only as RGBA8");
  const auto buffer = eglGetNativeClientBufferANDROID(reinterpret_cast<const AHardwareBuffer*>(memory.handle));
  const EGLint attributes[] = {EGL_IMAGE_PRESERVED_KHR, EGL_TRUE, EGL_NONE};
  return eglCreateImageKHR(context.display(), EGL_NO_CONTEXT, EGL_NATIVE_BUFFER_ANDROID, buffer, attributes);
}

}  // namespace

Result<std::unique_ptr<GlesTexture>> GlesTexture::ImportExternal(Context& context, const NativeMemory& memory) {
  std::unique_ptr<GlesTexture> texture(new GlesTexture(context, memory.size_bytes));
  const auto import = [&]() -> Status {
    const bool is_dma_buf = memory.kind == MemoryKind::kDmaBuf;
    HEARTH_ASSIGN(const EGLImageKHR image, (is_dma_buf ? ImageOfDmaBuf : ImageOfHardwareBuffer)(context, memory));
    if (image == EGL_NO_IMAGE_KHR) {
      return Error(StatusCode::kUnsupported, "{} takes no such {} ({})", context.facts().info.name,
                   is_dma_buf ? "dma-buf" : "AHardwareBuffer", TakeEglError());
    }
    const Status made = texture->MakeFrom(image);
    eglDestroyImageKHR(context.display(), image);  // the texture keeps the memory
    return made;
  };
  HEARTH_TRY(context.OnThread(import));
  return texture;
}

Status GlesTexture::MakeFrom(EGLImageKHR image) {
  HEARTH_TRY(context_.Check("work before a frame"));
  glGenTextures(1, &id_);
  is_owned_ = true;
  MakeSampler();
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, id_);
  glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image);
  glBindTexture(GL_TEXTURE_2D, 0);
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return Status::Ok();
  return Error(StatusCode::kUnsupported, "{} makes no texture of the frame's memory (error 0x{:x})",
               context_.facts().info.name, error);
}

}  // namespace hearth::gles
