#include "backends/gles/context.h"

#include <mutex>

#include "core/base/error.h"

namespace hearth::gles {

Result<std::unique_ptr<Context>> Context::Open(const DisplaySource& source, const DeviceProfile* profile) {
  std::unique_ptr<Context> context(new Context());
  HEARTH_TRY(context->Start([&] { return EglContext::Create(source); }, source, profile));
  return context;
}

Result<std::unique_ptr<Context>> Context::Share(const GlContext& shared) {
  std::unique_ptr<Context> context(new Context());
  context->is_shared_ = true;
  const DisplaySource source{.name = "the shared OpenGL ES context"};
  HEARTH_TRY(context->Start([&] { return EglContext::Share(shared); }, source, nullptr));
  return context;
}

Status Context::Start(const std::function<Result<std::unique_ptr<EglContext>>()>& create, const DisplaySource& source,
                      const DeviceProfile* profile) {
  HEARTH_ASSIGN(worker_, Worker::Start());
  const auto open = [&]() -> Status {
    HEARTH_ASSIGN(egl_context_, create());
    HEARTH_ASSIGN(facts_, QueryDriverFacts(source));
    if (profile != nullptr) facts_.info = Simulated(std::move(facts_.info), *profile);
    if (facts_.parallel_compile) glMaxShaderCompilerThreadsKHR(0xffffffffu);
    return Check("opening the device");
  };
  HEARTH_TRY(worker_->Call(open));
  submissions_ = std::make_unique<Submissions>(*worker_, facts_.info.is_software());
  return Status::Ok();
}

Status Context::CallInTime(const std::function<void()>& work) {
  WaitLimit& limit = submissions_->wait_limit();
  HEARTH_TRY(limit.Check());
  if (!limit.is_set()) {
    worker_->Call(work);
    return Status::Ok();
  }
  return worker_->CallWithin(limit.limit(), work) ? Status::Ok() : limit.Over();
}

void Context::Close(std::unique_ptr<Context> context) {
  static auto& hung = *new std::vector<std::unique_ptr<Context>>();
  static std::mutex mutex;
  if (context == nullptr || !context->submissions_->wait_limit().has_hung()) return;
  const std::lock_guard lock(mutex);
  hung.push_back(std::move(context));
}

Context::~Context() {
  submissions_.reset();
  if (egl_context_ != nullptr) {
    worker_->Call([this] { egl_context_.reset(); });
  }
}

Status Context::Check(std::string_view what) const {
  Status status = TakeGlErrors(what);
  if (status.ok() && facts_.reset_status && glGetGraphicsResetStatusEXT() != GL_NO_ERROR) {
    return Error(StatusCode::kDeviceLost, "the GPU was reset while {}; open the device again", what);
  }
  return status;
}

}  // namespace hearth::gles
