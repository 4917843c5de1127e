// Calls to EGL and OpenGL ES fail, one after the other. Functions that answer nothing are left out, and glGetError
// tells.
#include <algorithm>
#include <deque>
#include <string>
#include <type_traits>

#include "tests/fault/driver_call_faults.h"
#include "tests/testing/gl_stand_ins.h"

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

GLenum GetErrorOrThatOfTheTest() {
  const GLenum error = std::exchange(PendingError(), GL_NO_ERROR);
  return error != GL_NO_ERROR ? error : HEARTH_DRIVERS_OWN(glGetError)();
}

GLenum ResetStatusOrThatOfTheTest() {
  return IsReset() ? GL_UNKNOWN_CONTEXT_RESET : HEARTH_DRIVERS_OWN(glGetGraphicsResetStatusEXT)();
}

// Puts a counted call before each function of a list, "&glFinish, &glFlush".
template <typename Rules, auto... kVariables>
void PutAll(std::string_view prefix, std::string_view listed) {
  static auto& names = *new std::deque<std::string>();  // calls keep pointers to them
  const auto put = [&]<auto kVariable>() {
    listed.remove_prefix(listed.find('&') + 1);
    const char* name = names.emplace_back(listed.substr(0, listed.find(','))).c_str();
    DriverCall<Rules, kVariable>::Put(testing::DriversOwn(*kVariable, name), name + prefix.size());
  };
  (put.template operator()<kVariables>(), ...);
}
#define HEARTH_PUT_ALL(Rules, prefix, ...) PutAll<Rules, __VA_ARGS__>(prefix, #__VA_ARGS__)

void Replace() {
  HEARTH_PUT_ALL(GlRules, "gl", &glActiveTexture, &glAttachShader, &glBeginQuery, &glBindBuffer, &glBindBufferRange,
                 &glBindImageTexture, &glBindSampler, &glBindTexture, &glBufferData, &glClientWaitSync,
                 &glCompileShader, &glCreateProgram, &glCreateShader, &glDeleteBuffers, &glDeleteProgram,
                 &glDeleteQueries, &glDeleteSamplers, &glDeleteShader, &glDeleteSync, &glDeleteTextures,
                 &glDispatchCompute, &glEndQuery, &glFenceSync, &glFinish, &glFlush, &glGenBuffers, &glGenQueries,
                 &glGenSamplers, &glGenTextures, &glGetBufferParameteri64v, &glGetInteger64v, &glGetIntegeri_v,
                 &glGetIntegerv, &glGetProgramBinary, &glGetProgramInfoLog, &glGetProgramiv, &glGetQueryObjectuiv,
                 &glGetQueryiv, &glGetShaderInfoLog, &glGetShaderiv, &glGetString, &glGetTexLevelParameteriv,
                 &glGetTexParameteriv, &glIsBuffer, &glIsSync, &glIsTexture, &glLinkProgram, &glMapBufferRange,
                 &glMemoryBarrier, &glProgramBinary, &glProgramParameteri, &glSamplerParameteri, &glShaderSource,
                 &glUniform1iv, &glUnmapBuffer, &glUseProgram, &glWaitSync, &glTexBufferRangeEXT);
  HEARTH_PUT_ALL(EglRules, "egl", &eglBindAPI, &eglChooseConfig, &eglCreateContext, &eglCreatePbufferSurface,
                 &eglDestroyContext, &eglDestroySurface, &eglGetDisplay, &eglGetError, &eglGetProcAddress,
                 &eglInitialize, &eglMakeCurrent, &eglQueryContext, &eglQueryString, &eglReleaseThread,
                 &eglGetPlatformDisplayEXT, &eglQueryDevicesEXT, &eglQueryDeviceStringEXT);
  glGetError = GetErrorOrThatOfTheTest;
  if (HEARTH_DRIVERS_OWN(glGetGraphicsResetStatusEXT) != nullptr)
    glGetGraphicsResetStatusEXT = ResetStatusOrThatOfTheTest;
}

class GlesCallFaults : public testing::DriverCallFaults {
 protected:
  void SetUp() override {
    Replace();
    Begin("gles");
  }
};

HEARTH_DRIVER_CALL_TESTS(GlesCallFaults);

}  // namespace
}  // namespace hearth
