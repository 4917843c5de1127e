#ifndef HEARTH_BACKENDS_GLES_EXECUTABLE_H_
#define HEARTH_BACKENDS_GLES_EXECUTABLE_H_

#include <memory>
#include <vector>

#include "backends/gles/context.h"
#include "hal/device/device.h"

namespace hearth::gles {

// A prepared command list: GL objects are looked up and buffer textures made, so a run only binds and dispatches.
class GlesExecutable : public Executable {
 public:
  // `commands` was checked by Device::Prepare. kResourceExhausted if a texel range exceeds the limit.
  static Result<std::unique_ptr<GlesExecutable>> Prepare(Context& context, const CommandList& commands);
  ~GlesExecutable() override;

  Result<uint64_t> Submit(const SubmitSync& sync) override;
  Status Wait(uint64_t submission) override { return context_.submissions().Wait(submission); }
  Result<std::vector<double>> RunProfiled() override;

 private:
  struct StorageBinding {
    GLuint buffer = 0;
    GLintptr offset_bytes = 0;
    GLsizeiptr size_bytes = 0;
    friend bool operator==(const StorageBinding&, const StorageBinding&) = default;
  };
  struct Sampled {
    GLenum target = GL_TEXTURE_BUFFER;
    GLuint texture = 0, sampler = 0;
  };
  struct Image {
    GLuint texture = 0;
    GLenum format = 0;
  };
  struct Dispatch {
    GLuint program = 0;
    std::vector<StorageBinding> storage;  // by binding number
    std::vector<Sampled> textures;        // by texture unit
    std::vector<Image> images;            // by image unit
    std::vector<GLint> scalars;
    std::array<uint32_t, 3> group_count = {1, 1, 1};
    bool barrier_before = false;
  };
  // A view of a range, made once for each distinct range of the list.
  struct Texture {
    StorageBinding range;
    GLenum format = 0;
    GLuint id = 0;
  };

  explicit GlesExecutable(Context& context) : context_(context) {}

  Result<Dispatch> PrepareDispatch(const DispatchCommand& command);
  Result<GLuint> TextureFor(const StorageBinding& range, StorageType storage);
  static void Issue(const Dispatch& dispatch);
  static Status EndRun(const Context& context);  // makes the results visible to later commands
  static Result<double> TimeOne(const Context& context, const Dispatch& dispatch, GLuint query);
  static Status TimeAll(const Context& context, const std::vector<Dispatch>& dispatches, std::vector<double>& times_ms);

  Context& context_;
  // Shared with submissions: once the device has hung, the worker may still use it after this object is destroyed.
  std::shared_ptr<std::vector<Dispatch>> dispatches_ = std::make_shared<std::vector<Dispatch>>();
  std::vector<Texture> textures_;
  uint64_t last_submission_ = 0;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_EXECUTABLE_H_
