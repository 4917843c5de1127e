#include "backends/gles/executable.h"

#include <bit>

#include "backends/gles/buffer.h"
#include "backends/gles/program.h"
#include "backends/gles/texture.h"
#include "core/base/error.h"
#include "core/plan/storage.h"
#include "hal/device/stopwatch.h"

namespace hearth::gles {
namespace {

// A dispatch reads earlier writes as shader storage or through a buffer texture.
constexpr GLbitfield kBetweenDispatches = GL_SHADER_STORAGE_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT;
// glMapBufferRange comes next.
constexpr GLbitfield kAfterRun = kBetweenDispatches | GL_BUFFER_UPDATE_BARRIER_BIT;

}  // namespace

Result<std::unique_ptr<GlesExecutable>> GlesExecutable::Prepare(Context& context, const CommandList& commands) {
  std::unique_ptr<GlesExecutable> executable(new GlesExecutable(context));
  const auto prepare = [&]() -> Status {
    bool barrier = false;
    for (const Command& command : commands.commands) {
      if (std::holds_alternative<CopyCommand>(command))
        return Error(StatusCode::kUnsupported, "OpenGL ES stages copies itself");
      const auto* dispatch = std::get_if<DispatchCommand>(&command);
      if (dispatch == nullptr) {
        barrier = true;
        continue;
      }
      auto prepared = executable->PrepareDispatch(*dispatch);
      if (!prepared.ok()) return prepared.status().Within("dispatch '" + dispatch->label + "'");
      prepared->barrier_before = std::exchange(barrier, false);
      executable->dispatches_->push_back(*std::move(prepared));
    }
    return context.Check("preparing a command list");
  };
  HEARTH_TRY(context.OnThread(prepare));
  return executable;
}

GlesExecutable::~GlesExecutable() {
  // A failure is reported to the caller that waits for the results.
  if (last_submission_ != 0) (void)context_.submissions().Wait(last_submission_);
  if (textures_.empty()) return;
  context_.OnThread([this] {
    for (const Texture& texture : textures_) glDeleteTextures(1, &texture.id);
  });
}

Result<GlesExecutable::Dispatch> GlesExecutable::PrepareDispatch(const DispatchCommand& command) {
  Dispatch dispatch;
  dispatch.program = static_cast<const GlesProgram*>(command.program)->id();
  dispatch.group_count = command.group_count;
  for (uint32_t scalar : command.scalars) dispatch.scalars.push_back(std::bit_cast<GLint>(scalar));
  const std::vector<TensorArg>& args = command.program->source().tensors;
  for (size_t k = 0; k < args.size(); ++k) {
    const BoundRange& range = command.tensors[k];
    if (args[k].path == AccessPath::kTexture) {
      const auto& texture = static_cast<const GlesTexture&>(*range.buffer);
      if (IsImage(args[k])) {
        dispatch.images.push_back({texture.id(), texture.image_format()});
      } else {
        dispatch.textures.push_back({GL_TEXTURE_2D, texture.id(), texture.sampler()});
      }
      continue;
    }
    StorageBinding binding = {static_cast<const GlesBuffer*>(range.buffer)->id(),
                              static_cast<GLintptr>(range.offset_bytes), static_cast<GLsizeiptr>(range.size_bytes)};
    if (IsSampled(args[k])) {
      binding.size_bytes = static_cast<GLsizeiptr>(
          TexelViewBytes(range.offset_bytes, range.size_bytes, range.buffer->size_bytes(), TexelBytes(args[k].storage),
                         context_.facts().info.max_texel_elements));
      auto texture = TextureFor(binding, args[k].storage);
      if (!texture.ok()) return texture.status().Within("tensor '" + args[k].name + "'");
      dispatch.textures.push_back({GL_TEXTURE_BUFFER, *texture, 0});
    } else {
      dispatch.storage.push_back(binding);
    }
  }
  return dispatch;
}

Result<GLuint> GlesExecutable::TextureFor(const StorageBinding& range, StorageType storage) {
  const DeviceInfo& info = context_.facts().info;
  const uint64_t texels = static_cast<uint64_t>(range.size_bytes) / TexelBytes(storage);
  if (texels == 0 || texels > info.max_texel_elements) {
    return Error(StatusCode::kResourceExhausted, "a texel buffer of {} texels is needed; {} supports 1 to {}", texels,
                 info.name, info.max_texel_elements);
  }
  const GLenum format = storage == StorageType::kFloat16 ? GL_RGBA16F : GL_RGBA32F;
  for (const Texture& known : textures_) {
    if (known.range == range && known.format == format) return known.id;
  }
  Texture texture{.range = range, .format = format};
  glGenTextures(1, &texture.id);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_BUFFER, texture.id);
  glTexBufferRangeEXT(GL_TEXTURE_BUFFER, format, range.buffer, range.offset_bytes, range.size_bytes);
  textures_.push_back(texture);
  return texture.id;
}

void GlesExecutable::Issue(const Dispatch& dispatch) {
  if (dispatch.barrier_before) glMemoryBarrier(kBetweenDispatches);
  glUseProgram(dispatch.program);
  for (GLuint k = 0; k < dispatch.storage.size(); ++k) {
    const StorageBinding& binding = dispatch.storage[k];
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, k, binding.buffer, binding.offset_bytes, binding.size_bytes);
  }
  for (GLuint k = 0; k < dispatch.textures.size(); ++k) {
    glActiveTexture(GL_TEXTURE0 + k);
    glBindTexture(dispatch.textures[k].target, dispatch.textures[k].texture);
    glBindSampler(k, dispatch.textures[k].sampler);
  }
  for (GLuint k = 0; k < dispatch.images.size(); ++k) {
    glBindImageTexture(k, dispatch.images[k].texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, dispatch.images[k].format);
  }
  if (!dispatch.scalars.empty()) {
    glUniform1iv(0, static_cast<GLsizei>(dispatch.scalars.size()), dispatch.scalars.data());
  }
  glDispatchCompute(dispatch.group_count[0], dispatch.group_count[1], dispatch.group_count[2]);
}

Status GlesExecutable::EndRun(const Context& context) {
  glMemoryBarrier(context.is_shared() ? GL_ALL_BARRIER_BITS : kAfterRun);
  glUseProgram(0);
  return context.Check("running a command list");
}

Result<uint64_t> GlesExecutable::Submit(const SubmitSync& sync) {
  const auto issue = [&context = context_, dispatches = dispatches_] {
    for (const Dispatch& dispatch : *dispatches) Issue(dispatch);
    return EndRun(context);
  };
  HEARTH_ASSIGN(last_submission_, context_.submissions().Submit(issue, sync));
  return last_submission_;
}

// The milliseconds of one dispatch that runs alone. The host's clock counts if the device has none or was disturbed.
Result<double> GlesExecutable::TimeOne(const Context& context, const Dispatch& dispatch, GLuint query) {
  glFinish();
  GLint disjoint = 0;
  if (query != 0) glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);  // reading clears it
  const Stopwatch watch;
  if (query != 0) glBeginQuery(GL_TIME_ELAPSED_EXT, query);
  Issue(dispatch);
  if (query != 0) glEndQuery(GL_TIME_ELAPSED_EXT);
  glFinish();
  const double host_ms = watch.milliseconds();
  if (query == 0) return host_ms;
  GLuint64 elapsed_ns = 0;
  glGetQueryObjectui64vEXT(query, GL_QUERY_RESULT, &elapsed_ns);
  glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
  HEARTH_TRY(context.Check("timing a dispatch"));
  return disjoint != 0 || elapsed_ns == 0 ? host_ms : static_cast<double>(elapsed_ns) * 1e-6;
}

Status GlesExecutable::TimeAll(const Context& context, const std::vector<Dispatch>& dispatches,
                               std::vector<double>& times_ms) {
  GLuint query = 0;
  if (context.facts().timer_query) glGenQueries(1, &query);
  Status status;
  for (const Dispatch& dispatch : dispatches) {
    const Result<double> time_ms = TimeOne(context, dispatch, query);
    status = time_ms.status();
    if (!status.ok()) break;
    times_ms.push_back(*time_ms);
  }
  if (query != 0) glDeleteQueries(1, &query);
  const Status finished = EndRun(context);
  return status.ok() ? finished : status;
}

// A submission like others, so that the wait limit applies. What it writes to outlives a submission that was given up.
Result<std::vector<double>> GlesExecutable::RunProfiled() {
  const auto times_ms = std::make_shared<std::vector<double>>();
  const auto issue = [&context = context_, dispatches = dispatches_, times_ms] {
    return TimeAll(context, *dispatches, *times_ms);
  };
  HEARTH_ASSIGN(last_submission_, context_.submissions().Submit(issue, {}));
  HEARTH_TRY(context_.submissions().Wait(last_submission_));
  return *times_ms;
}

}  // namespace hearth::gles
