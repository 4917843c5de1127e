#include "backends/gles/context.h"

#include "core/error.h"

namespace hearth::gles {

Result<std::unique_ptr<Context>> Context::Open(const DriverApi& api, const DisplaySource& source) {
  std::unique_ptr<Context> context(new Context(api));
  HEARTH_ASSIGN(context->worker_, Worker::Start());
  const auto open = [&]() -> Status {
    HEARTH_ASSIGN(context->egl_context_, EglContext::Create(context->api_.egl, source));
    HEARTH_ASSIGN(context->facts_, QueryDriverFacts(context->gl(), source));
    if (context->facts_.parallel_compile) context->gl().MaxShaderCompilerThreads(0xffffffffu);
    return context->Check("opening the device");
  };
  HEARTH_TRY(context->worker_->Call(open));
  return context;
}

Context::~Context() {
  if (egl_context_ != nullptr) {
    worker_->Call([this] { egl_context_.reset(); });
  }
}

Status Context::Check(std::string_view what) const {
  Status status = TakeGlErrors(gl(), what);
  if (status.ok() && facts_.reset_status && gl().GetGraphicsResetStatus() != GL_NO_ERROR) {
    return Error(StatusCode::kDeviceLost, "the GPU was reset while {}; open the device again", what);
  }
  return status;
}

}  // namespace hearth::gles
