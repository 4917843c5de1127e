// Calls to EGL and OpenGL ES fail, one after the other. Functions that answer nothing are left out, and glGetError
// tells.
#include <algorithm>
#include <type_traits>

#include "backends/gles/driver_api.h"
#include "tests/fault/driver_call_faults.h"

namespace hearth {
namespace {

using testing::DriverCall;
using testing::DriverFault;

// Of the one context that is used.
GLenum& PendingError() {
  static thread_local GLenum error = GL_NO_ERROR;
  return error;
}
bool& IsReset() {
  static thread_local bool is_reset = false;
  return is_reset;
}

GLenum GlesCodeOf(DriverFault fault) {
  return fault == DriverFault::kLost          ? GL_CONTEXT_LOST
         : fault == DriverFault::kOutOfMemory ? GL_OUT_OF_MEMORY
                                              : GL_INVALID_OPERATION;
}

struct GlRules {
  template <typename R>
  static bool CanFail(std::string_view name) {
    return !name.starts_with("Delete") && name != "GetError" && name != "GetGraphicsResetStatus" &&
           name != "MaxShaderCompilerThreads";
  }

  static bool Waits(std::string_view name) { return name == "Finish" || name == "ClientWaitSync"; }

  template <typename R, typename... A>
  static R Failed(DriverFault fault, std::string_view name, A...) {
    if (PendingError() == GL_NO_ERROR) PendingError() = GlesCodeOf(fault);
    IsReset() = IsReset() || fault == DriverFault::kLost;
    if constexpr (!std::is_void_v<R>) {
      if constexpr (std::is_same_v<R, GLenum>) {
        if (name == "ClientWaitSync") return GL_WAIT_FAILED;
      }
      return R();
    }
  }

  template <typename R, typename First, typename... A>
  static int Made(std::string_view name, R result, First first, A... rest) {
    if constexpr (std::is_same_v<First, GLsizei>) {
      if (name.starts_with("Gen")) return first;
      if (name.starts_with("Delete")) return -NamesIn(first, rest...);
    }
    if (name.starts_with("Delete")) return first != First() ? -1 : 0;
    return (name.starts_with("Create") || name == "FenceSync") && result != R() ? 1 : 0;
  }
  // Without that which is no name; GL ignores it.
  static int NamesIn(GLsizei count, const GLuint* names) {
    return static_cast<int>(std::count_if(names, names + count, [](GLuint name) { return name != 0; }));
  }
  template <typename... A>
  static int NamesIn(A...) {
    return 0;
  }
  template <typename R>
  static int Made(std::string_view, R result) {
    return result != R() ? 1 : 0;  // glCreateProgram
  }
};

struct EglRules {
  template <typename R>
  static bool CanFail(std::string_view name) {
    return name != "GetError" && name != "GetProcAddress" && name != "ReleaseThread" && !name.starts_with("Destroy");
  }

  static bool Waits(std::string_view) { return false; }

  template <typename R, typename... A>
  static R Failed(DriverFault, std::string_view, A...) {
    return R();
  }

  template <typename R, typename... A>
  static int Made(std::string_view name, R result, A...) {
    if (name == "DestroyContext" || name == "DestroySurface") return -1;
    return (name == "CreateContext" || name == "CreatePbufferSurface") && result != R() ? 1 : 0;
  }
};

GLenum (*driver_get_error)() = nullptr;
GLenum (*driver_reset_status)() = nullptr;

GLenum GetErrorOrThatOfTheTest() {
  const GLenum error = std::exchange(PendingError(), GL_NO_ERROR);
  return error != GL_NO_ERROR ? error : driver_get_error();
}

GLenum ResetStatusOrThatOfTheTest() {
  return IsReset() ? GL_UNKNOWN_CONTEXT_RESET : driver_reset_status();
}

void Replace(gles::DriverApi& api) {
#define HEARTH_PUT(name) DriverCall<GlRules, &gles::GlApi::name>::Put(api.gl, #name);
  HEARTH_GL_FUNCTIONS(HEARTH_PUT)
  HEARTH_PUT(TexBufferRange)
#undef HEARTH_PUT
#define HEARTH_PUT(name) DriverCall<EglRules, &gles::EglApi::name>::Put(api.egl, #name);
  HEARTH_EGL_FUNCTIONS(HEARTH_PUT)
  HEARTH_PUT(GetPlatformDisplayEXT)
  HEARTH_PUT(GetPlatformDisplay)
  HEARTH_PUT(QueryDevicesEXT)
  HEARTH_PUT(QueryDeviceStringEXT)
#undef HEARTH_PUT
  driver_get_error = DriverCall<GlRules, &gles::GlApi::GetError>::driver;
  api.gl.GetError = GetErrorOrThatOfTheTest;
  if (api.gl.GetGraphicsResetStatus == nullptr) return;
  driver_reset_status = std::exchange(api.gl.GetGraphicsResetStatus, ResetStatusOrThatOfTheTest);
}

class GlesCallFaults : public testing::DriverCallFaults {
 protected:
  void SetUp() override {
    gles::TheTableFilter() = Replace;
    Begin("gles");
  }
};

HEARTH_DRIVER_CALL_TESTS(GlesCallFaults);

}  // namespace
}  // namespace hearth
