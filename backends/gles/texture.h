#ifndef HEARTH_BACKENDS_GLES_TEXTURE_H_
#define HEARTH_BACKENDS_GLES_TEXTURE_H_

#include <memory>

#include "backends/gles/context.h"
#include "hal/device/device.h"

namespace hearth::gles {

// The caller's texture, from the context's share group, or one over memory that other drivers use too. Kernels read it
// unfiltered through a sampler, or write the caller's as an image.
class GlesTexture : public Buffer {
 public:
  // kInvalidArgument if there is no such texture, or it has another size or format. A texture that kernels write must
  // be immutable (glTexStorage2D), as glBindImageTexture requires.
  static Result<std::unique_ptr<GlesTexture>> Import(Context& context, const NativeMemory& memory);
  // A texture over a dma-buf or an AHardwareBuffer (external_texture.cc). Of a linear dma-buf its texels are the bytes
  // of the memory, four by four; of any other memory they are the picture's, red first. kUnsupported if the driver does
  // not take it.
  static Result<std::unique_ptr<GlesTexture>> ImportExternal(Context& context, const NativeMemory& memory);
  ~GlesTexture() override;

  GLuint id() const { return id_; }
  GLuint sampler() const { return sampler_; }
  GLenum image_format() const { return image_format_; }

 private:
  GlesTexture(Context& context, uint64_t size_bytes) : Buffer(size_bytes, true), context_(context) {}
  Status Adopt(const NativeMemory& memory);
  Status MakeFrom(EGLImageKHR image);
  void MakeSampler();

  Context& context_;
  GLuint id_ = 0, sampler_ = 0;
  bool is_owned_ = false;
  GLenum image_format_ = 0;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_TEXTURE_H_
