#include "backends/gles/texture.h"

#include "core/base/error.h"

namespace hearth::gles {
namespace {

GLenum SizedFormat(StorageType texel) {
  switch (texel) {
    case StorageType::kUnorm8: return GL_RGBA8;
    case StorageType::kFloat16: return GL_RGBA16F;
    default: return GL_RGBA32F;
  }
}

// A sampler returns the same numbers for these formats: the alpha of a texture without one is 1.
bool Reads(GLenum wanted, GLenum format) {
  if (format == wanted) return true;
  switch (wanted) {
    case GL_RGBA8: return format == GL_RGBA || format == GL_RGB8 || format == GL_RGB;
    case GL_RGBA16F: return format == GL_RGB16F;
    default: return format == GL_RGB32F;
  }
}

struct TextureFacts {
  GLint width = 0, height = 0, format = 0, immutable = 0;
};

TextureFacts QueryTexture(GLuint id) {
  TextureFacts facts;
  glBindTexture(GL_TEXTURE_2D, id);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &facts.width);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &facts.height);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_INTERNAL_FORMAT, &facts.format);
  glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_IMMUTABLE_FORMAT, &facts.immutable);
  glBindTexture(GL_TEXTURE_2D, 0);
  return facts;
}

}  // namespace

Result<std::unique_ptr<GlesTexture>> GlesTexture::Import(Context& context, const NativeMemory& memory) {
  const uint64_t size_bytes = uint64_t{memory.width} * memory.height * TexelBytes(memory.texel);
  std::unique_ptr<GlesTexture> texture(new GlesTexture(context, size_bytes));
  HEARTH_TRY(context.OnThread([&] { return texture->Adopt(memory); }));
  return texture;
}

Status GlesTexture::Adopt(const NativeMemory& memory) {
  const auto id = static_cast<GLuint>(memory.handle);
  if (id != memory.handle || glIsTexture(id) != GL_TRUE) {
    return Error(StatusCode::kInvalidArgument,
                 "there is no texture {} in the session's share group (SessionOptions::shared)", memory.handle);
  }
  glActiveTexture(GL_TEXTURE0);
  const TextureFacts facts = QueryTexture(id);
  if (const Status errors = context_.Check("examining a lent texture"); !errors.ok()) {
    return Error(StatusCode::kInvalidArgument, "texture {} is not a GL_TEXTURE_2D: {}", id, errors.message());
  }
  if (static_cast<uint32_t>(facts.width) != memory.width || static_cast<uint32_t>(facts.height) != memory.height) {
    return Error(StatusCode::kInvalidArgument, "texture {} is {}x{}, {}x{} is needed", id, facts.width, facts.height,
                 memory.width, memory.height);
  }
  image_format_ = SizedFormat(memory.texel);
  const auto format = static_cast<GLenum>(facts.format);
  if (memory.is_written ? format != image_format_ : !Reads(image_format_, format)) {
    return Error(StatusCode::kInvalidArgument, "texture {} has the internal format 0x{:x}, 0x{:x} is needed", id,
                 format, image_format_);
  }
  if (memory.is_written && facts.immutable == 0) {
    return Error(StatusCode::kInvalidArgument,
                 "texture {} can't be written by kernels: make its memory with glTexStorage2D", id);
  }
  id_ = id;
  MakeSampler();
  return context_.Check("importing a lent texture");
}

void GlesTexture::MakeSampler() {
  // A sampler object makes an incomplete texture readable: the default filter needs mipmaps.
  glGenSamplers(1, &sampler_);
  glSamplerParameteri(sampler_, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glSamplerParameteri(sampler_, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

GlesTexture::~GlesTexture() {
  if (sampler_ == 0) return;
  context_.OnThread([this] {
    glDeleteSamplers(1, &sampler_);
    if (is_owned_) glDeleteTextures(1, &id_);
  });
}

}  // namespace hearth::gles
