// The EGL and OpenGL ES functions that this backend calls, as tables filled at run time. Calling a
// function that is not in these lists fails at link time, since nothing links libEGL or libGLESv2.
#ifndef HEARTH_BACKENDS_GLES_DRIVER_API_H_
#define HEARTH_BACKENDS_GLES_DRIVER_API_H_

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
//
#include <GLES2/gl2ext.h>

#include <string_view>

#include "backends/gles/driver_libraries.h"
#include "hearth/status.h"

namespace hearth::gles {

// EGL 1.4, in every libEGL.
#define HEARTH_EGL_FUNCTIONS(X) \
  X(BindAPI)                    \
  X(ChooseConfig)               \
  X(CreateContext)              \
  X(CreatePbufferSurface)       \
  X(DestroyContext)             \
  X(DestroySurface)             \
  X(GetDisplay)                 \
  X(GetError)                   \
  X(GetProcAddress)             \
  X(Initialize)                 \
  X(MakeCurrent)                \
  X(QueryContext)               \
  X(QueryString)                \
  X(ReleaseThread)

// The functions of OpenGL ES 3.1 that compute needs.
#define HEARTH_GL_FUNCTIONS(X) \
  X(ActiveTexture)             \
  X(AttachShader)              \
  X(BeginQuery)                \
  X(BindBuffer)                \
  X(BindBufferRange)           \
  X(BindImageTexture)          \
  X(BindSampler)               \
  X(BindTexture)               \
  X(BufferData)                \
  X(ClientWaitSync)            \
  X(CompileShader)             \
  X(CreateProgram)             \
  X(CreateShader)              \
  X(DeleteBuffers)             \
  X(DeleteProgram)             \
  X(DeleteQueries)             \
  X(DeleteSamplers)            \
  X(DeleteShader)              \
  X(DeleteSync)                \
  X(DeleteTextures)            \
  X(DispatchCompute)           \
  X(EndQuery)                  \
  X(FenceSync)                 \
  X(Finish)                    \
  X(Flush)                     \
  X(GenBuffers)                \
  X(GenQueries)                \
  X(GenSamplers)               \
  X(GenTextures)               \
  X(GetBufferParameteri64v)    \
  X(GetError)                  \
  X(GetInteger64v)             \
  X(GetIntegeri_v)             \
  X(GetIntegerv)               \
  X(GetProgramBinary)          \
  X(GetProgramInfoLog)         \
  X(GetProgramiv)              \
  X(GetQueryObjectuiv)         \
  X(GetQueryiv)                \
  X(GetShaderInfoLog)          \
  X(GetShaderiv)               \
  X(GetString)                 \
  X(GetTexLevelParameteriv)    \
  X(GetTexParameteriv)         \
  X(IsBuffer)                  \
  X(IsSync)                    \
  X(IsTexture)                 \
  X(LinkProgram)               \
  X(MapBufferRange)            \
  X(MemoryBarrier)             \
  X(ProgramBinary)             \
  X(ProgramParameteri)         \
  X(SamplerParameteri)         \
  X(ShaderSource)              \
  X(Uniform1iv)                \
  X(UnmapBuffer)               \
  X(UseProgram)                \
  X(WaitSync)

struct EglApi {
#define HEARTH_MEMBER(name) decltype(&::egl##name) name = nullptr;
  HEARTH_EGL_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER

  // From extensions or EGL 1.5; null without them.
  PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplayEXT = nullptr;
  decltype(&::eglGetPlatformDisplay) GetPlatformDisplay = nullptr;
  PFNEGLQUERYDEVICESEXTPROC QueryDevicesEXT = nullptr;
  PFNEGLQUERYDEVICESTRINGEXTPROC QueryDeviceStringEXT = nullptr;
  PFNEGLQUERYDEVICEBINARYEXTPROC QueryDeviceBinaryEXT = nullptr;
  PFNEGLCREATEIMAGEKHRPROC CreateImageKHR = nullptr;
  PFNEGLDESTROYIMAGEKHRPROC DestroyImageKHR = nullptr;
  PFNEGLGETNATIVECLIENTBUFFERANDROIDPROC GetNativeClientBufferANDROID = nullptr;
};

struct GlApi {
#define HEARTH_MEMBER(name) decltype(&::gl##name) name = nullptr;
  HEARTH_GL_FUNCTIONS(HEARTH_MEMBER)
#undef HEARTH_MEMBER

  // From extensions or ES 3.2. A driver's lookup may answer with a stub for a function that the context
  // lacks, so callers ask the context's extensions first.
  PFNGLTEXBUFFERRANGEEXTPROC TexBufferRange = nullptr;
  PFNGLGETQUERYOBJECTUI64VEXTPROC GetQueryObjectui64v = nullptr;
  PFNGLMAXSHADERCOMPILERTHREADSKHRPROC MaxShaderCompilerThreads = nullptr;
  PFNGLGETGRAPHICSRESETSTATUSEXTPROC GetGraphicsResetStatus = nullptr;
  PFNGLEGLIMAGETARGETTEXTURE2DOESPROC EGLImageTargetTexture2DOES = nullptr;
};

struct DriverApi {
  EglApi egl;
  GlApi gl;
};

// Opens the libraries (for good: drivers start threads) and fills the tables. kUnavailable when a library
// or one of its functions is missing. Threads: any.
Result<DriverApi> LoadDriverApi(const DriverLibraries& libraries);

// For tests: called with the loaded tables, to replace functions.
using TableFilter = void (*)(DriverApi&);
TableFilter& TheTableFilter();

// Whether `name` is in the space-separated list `extensions` (which may be null).
bool HasExtension(const char* extensions, std::string_view name);

// The GL errors since the last call as a Status, "while <what>": kResourceExhausted for out of memory, kDeviceLost for
// a lost context, kUnavailable for calls that the driver refused. Needs a current context.
Status TakeGlErrors(const GlApi& gl, std::string_view what);

// "EGL_BAD_ALLOC", ... of the calling thread's last EGL error.
std::string_view TakeEglError(const EglApi& egl);

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DRIVER_API_H_
