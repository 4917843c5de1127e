#ifndef HEARTH_BACKENDS_GLES_TEXTURE_H_
#define HEARTH_BACKENDS_GLES_TEXTURE_H_

#include <memory>

#include "backends/gles/context.h"
#include "hal/device.h"

namespace hearth::gles {

// The caller's texture, from the context's share group. Kernels read it unfiltered through a sampler, or write it as an
// image.
class GlesTexture : public Buffer {
 public:
  // kInvalidArgument if there is no such texture, or it has another size or format. A texture that kernels write must
  // be immutable (glTexStorage2D), as glBindImageTexture requires.
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
