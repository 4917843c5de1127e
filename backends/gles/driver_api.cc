#include "backends/gles/driver_api.h"

#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "hal/driver_files.h"
#include "hal/driver_isolation.h"

namespace hearth::gles {
namespace {

// Looks in the library first: before EGL 1.5, eglGetProcAddress need not know core functions.
template <typename Fn>
void Find(const DynamicLibrary& library, const EglApi& egl, const char* name, Fn& function) {
  function = library.Symbol<Fn>(name);
  if (function == nullptr) function = reinterpret_cast<Fn>(egl.GetProcAddress(name));
}

Status FillEgl(const DynamicLibrary& library, EglApi& egl) {
#define HEARTH_FIND(name)                                                 \
  egl.name = library.Symbol<decltype(egl.name)>("egl" #name);             \
  if (egl.name == nullptr) {                                              \
    return Error(StatusCode::kUnavailable, "libEGL has no egl{}", #name); \
  }
  HEARTH_EGL_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  egl.GetPlatformDisplay = library.Symbol<decltype(egl.GetPlatformDisplay)>("eglGetPlatformDisplay");
  Find(library, egl, "eglGetPlatformDisplayEXT", egl.GetPlatformDisplayEXT);
  Find(library, egl, "eglQueryDevicesEXT", egl.QueryDevicesEXT);
  Find(library, egl, "eglQueryDeviceStringEXT", egl.QueryDeviceStringEXT);
  Find(library, egl, "eglQueryDeviceBinaryEXT", egl.QueryDeviceBinaryEXT);
  Find(library, egl, "eglCreateImageKHR", egl.CreateImageKHR);
  Find(library, egl, "eglDestroyImageKHR", egl.DestroyImageKHR);
  Find(library, egl, "eglGetNativeClientBufferANDROID", egl.GetNativeClientBufferANDROID);
  return Status::Ok();
}

Status FillGl(const DynamicLibrary& library, const EglApi& egl, GlApi& gl) {
#define HEARTH_FIND(name)                                                                            \
  Find(library, egl, "gl" #name, gl.name);                                                           \
  if (gl.name == nullptr) {                                                                          \
    return Error(StatusCode::kUnavailable, "libGLESv2 has no gl{}: OpenGL ES 3.1 is needed", #name); \
  }
  HEARTH_GL_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  Find(library, egl, "glTexBufferRange", gl.TexBufferRange);
  if (gl.TexBufferRange == nullptr) Find(library, egl, "glTexBufferRangeEXT", gl.TexBufferRange);
  Find(library, egl, "glGetQueryObjectui64vEXT", gl.GetQueryObjectui64v);
  Find(library, egl, "glMaxShaderCompilerThreadsKHR", gl.MaxShaderCompilerThreads);
  Find(library, egl, "glEGLImageTargetTexture2DOES", gl.EGLImageTargetTexture2DOES);
  Find(library, egl, "glGetGraphicsResetStatus", gl.GetGraphicsResetStatus);
  if (gl.GetGraphicsResetStatus == nullptr)
    Find(library, egl, "glGetGraphicsResetStatusEXT", gl.GetGraphicsResetStatus);
  return Status::Ok();
}

std::string_view GlErrorName(GLenum error) {
  switch (error) {
    case GL_INVALID_ENUM: return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE: return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION: return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION: return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY: return "GL_OUT_OF_MEMORY";
    case GL_CONTEXT_LOST: return "GL_CONTEXT_LOST";
    default: return "an unknown error";
  }
}

StatusCode CodeOf(GLenum error) {
  switch (error) {
    case GL_OUT_OF_MEMORY: return StatusCode::kResourceExhausted;
    case GL_CONTEXT_LOST: return StatusCode::kDeviceLost;
    default: return StatusCode::kUnavailable;  // the driver refused one call; others may work
  }
}

}  // namespace

Result<DriverApi> LoadDriverApi(const DriverLibraries& libraries) {
  HEARTH_TRY(IsolateDrivers("gles", GlesDriverFiles));
  HEARTH_ASSIGN(DynamicLibrary egl_library, DynamicLibrary::Open(libraries.egl));
  HEARTH_ASSIGN(DynamicLibrary gles_library, DynamicLibrary::Open(libraries.gles));
  DriverApi api;
  HEARTH_TRY(FillEgl(egl_library, api.egl));
  HEARTH_TRY(FillGl(gles_library, api.egl, api.gl));
  egl_library.Leak();
  gles_library.Leak();
  if (TheTableFilter() != nullptr) TheTableFilter()(api);
  return api;
}

TableFilter& TheTableFilter() {
  static TableFilter filter = nullptr;
  return filter;
}

bool HasExtension(const char* extensions, std::string_view name) {
  std::string_view rest = extensions != nullptr ? extensions : "";
  while (!rest.empty()) {
    const size_t end = rest.find(' ');
    if (rest.substr(0, end) == name) return true;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return false;
}

Status TakeGlErrors(const GlApi& gl, std::string_view what) {
  GLenum first = gl.GetError();
  if (first == GL_NO_ERROR) return Status::Ok();
  // Several flags can be set at once, and a lost context may return an error for ever.
  for (int k = 0; k < 16; ++k) {
    const GLenum next = gl.GetError();
    if (next == GL_NO_ERROR) break;
    if (next == GL_CONTEXT_LOST) first = next;
  }
  return Error(CodeOf(first), "OpenGL ES answered {} (0x{:x}) while {}", GlErrorName(first), first, what);
}

std::string_view TakeEglError(const EglApi& egl) {
  switch (egl.GetError()) {
    case EGL_SUCCESS: return "no error";
    case EGL_NOT_INITIALIZED: return "EGL_NOT_INITIALIZED";
    case EGL_BAD_ACCESS: return "EGL_BAD_ACCESS";
    case EGL_BAD_ALLOC: return "EGL_BAD_ALLOC";
    case EGL_BAD_ATTRIBUTE: return "EGL_BAD_ATTRIBUTE";
    case EGL_BAD_CONFIG: return "EGL_BAD_CONFIG";
    case EGL_BAD_CONTEXT: return "EGL_BAD_CONTEXT";
    case EGL_BAD_DISPLAY: return "EGL_BAD_DISPLAY";
    case EGL_BAD_MATCH: return "EGL_BAD_MATCH";
    case EGL_BAD_PARAMETER: return "EGL_BAD_PARAMETER";
    case EGL_BAD_SURFACE: return "EGL_BAD_SURFACE";
    case EGL_CONTEXT_LOST: return "EGL_CONTEXT_LOST";
    default: return "an unknown EGL error";
  }
}

}  // namespace hearth::gles
