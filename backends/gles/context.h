// A GL context on its own thread, and its driver's abilities. Buffers, programs and executables share it.
#ifndef HEARTH_BACKENDS_GLES_CONTEXT_H_
#define HEARTH_BACKENDS_GLES_CONTEXT_H_

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/gles/display.h"
#include "backends/gles/driver_facts.h"
#include "backends/gles/submissions.h"
#include "backends/gles/worker.h"
#include "core/device/device_profiles.h"
#include "hearth/status.h"

namespace hearth::gles {

class Context {
 public:
  // Starts a thread and makes the context there. The driver must have been opened. kUnavailable with a reason.
  static Result<std::unique_ptr<Context>> Open(const DisplaySource& source, const DeviceProfile* profile = nullptr);
  // The same in the share group of the caller's context. kInvalidArgument if the driver refuses that.
  static Result<std::unique_ptr<Context>> Share(const GlContext& shared);
  ~Context();

  const DriverFacts& facts() const { return facts_; }

  EGLDisplay display() const { return egl_context_->display(); }

  // Runs `work` on the context's thread and returns its result: nothing, a Status or a Result. Once the device has
  // hung, it returns kDeviceLost instead. Threads: any.
  template <typename Work>
  auto OnThread(Work&& work) -> std::invoke_result_t<Work&> {
    using Answer = std::invoke_result_t<Work&>;
    if constexpr (std::is_void_v<Answer>) {
      static_cast<void>(CallInTime(work));
    } else {
      std::optional<Answer> answer;
      const Status called = CallInTime([&] { answer.emplace(work()); });
      if (!called.ok()) return called;
      return *std::move(answer);
    }
  }

  bool is_shared() const { return is_shared_; }
  Submissions& submissions() { return *submissions_; }

  // Called when the owner ends. Objects that a hung device may be using stay until the process ends.
  static void Close(std::unique_ptr<Context> context);

  // Returns the GL errors since the last call, or that the GPU was reset. Only on the context's thread.
  Status Check(std::string_view what) const;

 private:
  Context() = default;
  Status CallInTime(const std::function<void()>& work);
  Status Start(const std::function<Result<std::unique_ptr<EglContext>>()>& create, const DisplaySource& source,
               const DeviceProfile* profile);

  DriverFacts facts_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<EglContext> egl_context_;
  std::unique_ptr<Submissions> submissions_;
  bool is_shared_ = false;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_CONTEXT_H_
