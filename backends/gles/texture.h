#ifndef HEARTH_BACKENDS_GLES_TEXTURE_H_
#define HEARTH_BACKENDS_GLES_TEXTURE_H_

#include <memory>

#include "backends/gles/context.h"
#include "hal/device.h"

namespace hearth::gles {

// A texture of the caller's, from the share group of the context: read by kernels through a sampler that takes texels
// as they are, or written as an image.
class GlesTexture : public Buffer {
 public:
  // kInvalidArgument when there is no such texture, or it has another size or format; a texture to be written must be
  // immutable (glTexStorage2D), which glBindImageTexture asks for.
  static Result<std::unique_ptr<GlesTexture>> Import(Context& context, const NativeMemory& memory);
  ~GlesTexture() override;

  GLuint id() const { return id_; }
  GLuint sampler() const { return sampler_; }
  GLenum image_format() const { return image_format_; }

 private:
  GlesTexture(Context& context, uint64_t size_bytes) : Buffer(size_bytes, true), context_(context) {}
  Status Adopt(const NativeMemory& memory);

  Context& context_;
  GLuint id_ = 0, sampler_ = 0;
  GLenum image_format_ = 0;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_TEXTURE_H_
