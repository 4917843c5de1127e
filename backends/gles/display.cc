#include "backends/gles/display.h"

#include <array>

#include "core/base/error.h"
#include "core/base/sha256.h"

namespace hearth::gles {
namespace {

// EGL_EXT_device_persistent_id, which libepoxy 1.5.10 does not know.
using QueryDeviceBinaryFn = EGLBoolean (*)(EGLDeviceEXT, EGLint, EGLint, void*, EGLint*);
constexpr EGLint kDeviceUuid = 0x335C;  // EGL_DEVICE_UUID_EXT

std::string DeviceUuid(EGLDeviceEXT device, const char* extensions) {
  if (!HasExtension(extensions, "EGL_EXT_device_persistent_id")) return "";
  const auto query = reinterpret_cast<QueryDeviceBinaryFn>(eglGetProcAddress("eglQueryDeviceBinaryEXT"));
  std::array<unsigned char, 16> bytes{};
  EGLint size_bytes = 0;
  if (query == nullptr || !query(device, kDeviceUuid, static_cast<EGLint>(bytes.size()), bytes.data(), &size_bytes)) {
    eglGetError();
    return "";
  }
  return HexOf(bytes);
}

DisplaySource DescribeDevice(EGLDeviceEXT device, int index) {
  DisplaySource source{.platform = DisplaySource::Platform::kDevice, .device = device};
  source.name = fmt::format("EGL device {}", index);
  const char* extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
  source.software = HasExtension(extensions, "EGL_MESA_device_software");
  source.uuid = DeviceUuid(device, extensions);
  if (!source.software && HasExtension(extensions, "EGL_EXT_device_drm")) {
    const char* file = eglQueryDeviceStringEXT(device, EGL_DRM_DEVICE_FILE_EXT);
    if (file != nullptr) source.name += fmt::format(" ({})", file);
  }
  return source;
}

void ListDevices(const char* client_extensions, std::vector<DisplaySource>& sources) {
  const bool can_list = HasExtension(client_extensions, "EGL_EXT_device_base") ||
                        (HasExtension(client_extensions, "EGL_EXT_device_enumeration") &&
                         HasExtension(client_extensions, "EGL_EXT_device_query"));
  if (!can_list || !HasExtension(client_extensions, "EGL_EXT_platform_device")) return;
  std::array<EGLDeviceEXT, 32> devices{};
  EGLint count = 0;
  if (!eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count)) count = 0;
  for (int k = 0; k < count; ++k) sources.push_back(DescribeDevice(devices[k], k));
}

EGLDisplay OpenDisplay(const DisplaySource& source) {
  switch (source.platform) {
    case DisplaySource::Platform::kDevice:
      return eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, source.device, nullptr);
    case DisplaySource::Platform::kSurfaceless:
      return eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
    case DisplaySource::Platform::kDefault: return eglGetDisplay(EGL_DEFAULT_DISPLAY);
  }
  return EGL_NO_DISPLAY;
}

bool NeedsSurface(const char* extensions) {
  return !HasExtension(extensions, "EGL_KHR_surfaceless_context");
}

// The config for a context: none if the driver allows that and no surface needs one, else any that supports ES 3 and,
// where a surface is needed, pbuffers.
EGLConfig ChooseConfig(EGLDisplay display, const char* extensions) {
  EGLConfig config = EGL_NO_CONFIG_KHR;
  const bool needs_surface = NeedsSurface(extensions);
  if (!needs_surface && HasExtension(extensions, "EGL_KHR_no_config_context")) return config;
  const EGLint surfaces = needs_surface ? EGL_PBUFFER_BIT : EGL_DONT_CARE;
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, surfaces, EGL_NONE};
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) return EGL_NO_CONFIG_KHR;
  return config;
}

// The config of the caller's context: EGL may refuse to share between contexts of different configs.
EGLConfig ConfigOf(EGLDisplay display, EGLContext context) {
  EGLint id = 0;
  if (!eglQueryContext(display, context, EGL_CONFIG_ID, &id) || id == 0) return EGL_NO_CONFIG_KHR;
  const EGLint wanted[] = {EGL_CONFIG_ID, id, EGL_NONE};
  EGLConfig config = EGL_NO_CONFIG_KHR;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) return EGL_NO_CONFIG_KHR;
  return config;
}

EGLContext CreateContext(EGLDisplay display, EGLConfig config, EGLContext shared, const char* extensions) {
  // With a reset strategy, a driver that lost the GPU says so; without one, results are silently wrong.
  const bool can_report_reset = HasExtension(extensions, "EGL_EXT_create_context_robustness");
  for (const bool report_reset : {can_report_reset, false}) {
    for (const EGLint minor : {2, 1}) {
      std::vector<EGLint> wanted = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, minor};
      if (report_reset) {
        wanted.push_back(EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT);
        wanted.push_back(EGL_LOSE_CONTEXT_ON_RESET_EXT);
      }
      wanted.push_back(EGL_NONE);
      const EGLContext context = eglCreateContext(display, config, shared, wanted.data());
      if (context != EGL_NO_CONTEXT) return context;
    }
  }
  return EGL_NO_CONTEXT;
}

bool AtLeastEgl15(EGLint major, EGLint minor) {
  return major > 1 || (major == 1 && minor >= 5);
}

}  // namespace

std::vector<DisplaySource> ListDisplays() {
  std::vector<DisplaySource> sources;
  // Null without EGL_EXT_client_extensions; the query then leaves an error behind.
  const char* client_extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (client_extensions == nullptr) eglGetError();
  if (HasExtension(client_extensions, "EGL_EXT_platform_base")) {
    ListDevices(client_extensions, sources);
    if (HasExtension(client_extensions, "EGL_MESA_platform_surfaceless"))
      sources.push_back({.platform = DisplaySource::Platform::kSurfaceless, .name = "EGL surfaceless platform"});
  }
  sources.push_back({.platform = DisplaySource::Platform::kDefault, .name = "EGL default display"});
  return sources;
}

Result<std::unique_ptr<EglContext>> EglContext::Create(const DisplaySource& source) {
  const EGLDisplay display = OpenDisplay(source);
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor)) {
    return Error(StatusCode::kUnavailable, "{}: no EGL display ({}); install an OpenGL ES driver, or check its rights",
                 source.name, TakeEglError());
  }
  const char* extensions = eglQueryString(display, EGL_EXTENSIONS);
  if (!AtLeastEgl15(major, minor) && !HasExtension(extensions, "EGL_KHR_create_context")) {
    return Error(StatusCode::kUnavailable, "{}: EGL {}.{} can't create an OpenGL ES 3.1 context", source.name, major,
                 minor);
  }
  if (!eglBindAPI(EGL_OPENGL_ES_API)) {
    return Error(StatusCode::kUnavailable, "{}: EGL without OpenGL ES ({})", source.name, TakeEglError());
  }
  return Make(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, source.name);
}

Result<std::unique_ptr<EglContext>> EglContext::Share(const GlContext& shared) {
  const auto display = static_cast<EGLDisplay>(shared.display);
  const auto context = static_cast<EGLContext>(shared.context);
  if (display == EGL_NO_DISPLAY || context == EGL_NO_CONTEXT)
    return Error(StatusCode::kInvalidArgument, "the shared OpenGL ES context needs a display and a context");
  EGLint client_type = 0;
  if (!eglQueryContext(display, context, EGL_CONTEXT_CLIENT_TYPE, &client_type)) {
    return Error(StatusCode::kInvalidArgument, "the shared EGL context does not belong to that display ({})",
                 TakeEglError());
  }
  if (client_type != EGL_OPENGL_ES_API)
    return Error(StatusCode::kInvalidArgument, "the shared EGL context is not an OpenGL ES context");
  eglBindAPI(EGL_OPENGL_ES_API);
  Result<std::unique_ptr<EglContext>> made =
      Make(display, ConfigOf(display, context), context, "a context in the share group");
  if (!made.ok()) return Status(StatusCode::kInvalidArgument, made.status().message());
  return made;
}

Result<std::unique_ptr<EglContext>> EglContext::Make(EGLDisplay display, EGLConfig config, EGLContext shared,
                                                     const std::string& name) {
  HEARTH_TRY(CheckVersion(eglQueryString(display, EGL_VERSION), name));
  std::unique_ptr<EglContext> context(new EglContext(display));
  const char* extensions = eglQueryString(display, EGL_EXTENSIONS);
  if (config == EGL_NO_CONFIG_KHR) config = ChooseConfig(display, extensions);
  if (NeedsSurface(extensions)) HEARTH_TRY(context->MakeSurface(config, name));
  context->context_ = CreateContext(display, config, shared, extensions);
  if (context->context_ == EGL_NO_CONTEXT) {
    return Error(StatusCode::kUnavailable, "{}: no OpenGL ES 3.1 context ({}); compute needs 3.1", name,
                 TakeEglError());
  }
  if (!eglMakeCurrent(display, context->surface_, context->surface_, context->context_)) {
    return Error(StatusCode::kUnavailable, "{}: the OpenGL ES context can't be made current ({})", name,
                 TakeEglError());
  }
  return context;
}

Status EglContext::MakeSurface(EGLConfig config, const std::string& name) {
  const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
  if (config != EGL_NO_CONFIG_KHR) surface_ = eglCreatePbufferSurface(display_, config, size);
  if (surface_ != EGL_NO_SURFACE) return Status::Ok();
  return Error(StatusCode::kUnavailable,
               "{}: a context needs a surface, since EGL has no EGL_KHR_surfaceless_context, and there is no pbuffer "
               "for it ({})",
               name, TakeEglError());
}

EglContext::~EglContext() {
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
  if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
  eglReleaseThread();
}

}  // namespace hearth::gles
