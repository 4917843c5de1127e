#include "backends/gles/display.h"

#include <array>

#include "core/base/error.h"
#include "core/base/sha256.h"

namespace hearth::gles {
namespace {

std::string DeviceUuid(const EglApi& egl, EGLDeviceEXT device, const char* extensions) {
  if (egl.QueryDeviceBinaryEXT == nullptr || !HasExtension(extensions, "EGL_EXT_device_persistent_id")) return "";
  std::array<unsigned char, 16> bytes{};
  EGLint size_bytes = 0;
  if (!egl.QueryDeviceBinaryEXT(device, EGL_DEVICE_UUID_EXT, static_cast<EGLint>(bytes.size()), bytes.data(),
                                &size_bytes)) {
    egl.GetError();
    return "";
  }
  return HexOf(bytes);
}

DisplaySource DescribeDevice(const EglApi& egl, EGLDeviceEXT device, int index) {
  DisplaySource source{.platform = DisplaySource::Platform::kDevice, .device = device};
  source.name = fmt::format("EGL device {}", index);
  if (egl.QueryDeviceStringEXT == nullptr) return source;
  const char* extensions = egl.QueryDeviceStringEXT(device, EGL_EXTENSIONS);
  source.software = HasExtension(extensions, "EGL_MESA_device_software");
  source.uuid = DeviceUuid(egl, device, extensions);
  if (!source.software && HasExtension(extensions, "EGL_EXT_device_drm")) {
    const char* file = egl.QueryDeviceStringEXT(device, EGL_DRM_DEVICE_FILE_EXT);
    if (file != nullptr) source.name += fmt::format(" ({})", file);
  }
  return source;
}

void ListDevices(const EglApi& egl, const char* client_extensions, std::vector<DisplaySource>& sources) {
  const bool can_list = HasExtension(client_extensions, "EGL_EXT_device_base") ||
                        HasExtension(client_extensions, "EGL_EXT_device_enumeration");
  if (!can_list || !HasExtension(client_extensions, "EGL_EXT_platform_device")) return;
  if (egl.QueryDevicesEXT == nullptr || egl.GetPlatformDisplayEXT == nullptr) return;
  std::array<EGLDeviceEXT, 32> devices{};
  EGLint count = 0;
  if (!egl.QueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count)) count = 0;
  for (int k = 0; k < count; ++k) sources.push_back(DescribeDevice(egl, devices[k], k));
}

EGLDisplay OpenDisplay(const EglApi& egl, const DisplaySource& source) {
  const auto platform_display = [&egl](EGLenum platform, void* native) -> EGLDisplay {
    if (egl.GetPlatformDisplayEXT != nullptr) return egl.GetPlatformDisplayEXT(platform, native, nullptr);
    if (egl.GetPlatformDisplay != nullptr) return egl.GetPlatformDisplay(platform, native, nullptr);
    return EGL_NO_DISPLAY;
  };
  switch (source.platform) {
    case DisplaySource::Platform::kDevice: return platform_display(EGL_PLATFORM_DEVICE_EXT, source.device);
    case DisplaySource::Platform::kSurfaceless: return platform_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr);
    case DisplaySource::Platform::kDefault: return egl.GetDisplay(EGL_DEFAULT_DISPLAY);
  }
  return EGL_NO_DISPLAY;
}

bool NeedsSurface(const char* extensions) {
  return !HasExtension(extensions, "EGL_KHR_surfaceless_context");
}

// The config for a context: none if the driver allows that and no surface needs one, else any that supports ES 3 and,
// where a surface is needed, pbuffers.
EGLConfig ChooseConfig(const EglApi& egl, EGLDisplay display, const char* extensions) {
  EGLConfig config = EGL_NO_CONFIG_KHR;
  const bool needs_surface = NeedsSurface(extensions);
  if (!needs_surface && HasExtension(extensions, "EGL_KHR_no_config_context")) return config;
  const EGLint surfaces = needs_surface ? EGL_PBUFFER_BIT : EGL_DONT_CARE;
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, surfaces, EGL_NONE};
  EGLint count = 0;
  if (!egl.ChooseConfig(display, wanted, &config, 1, &count) || count == 0) return EGL_NO_CONFIG_KHR;
  return config;
}

// The config of the caller's context: EGL may refuse to share between contexts of different configs.
EGLConfig ConfigOf(const EglApi& egl, EGLDisplay display, EGLContext context) {
  EGLint id = 0;
  if (!egl.QueryContext(display, context, EGL_CONFIG_ID, &id) || id == 0) return EGL_NO_CONFIG_KHR;
  const EGLint wanted[] = {EGL_CONFIG_ID, id, EGL_NONE};
  EGLConfig config = EGL_NO_CONFIG_KHR;
  EGLint count = 0;
  if (!egl.ChooseConfig(display, wanted, &config, 1, &count) || count == 0) return EGL_NO_CONFIG_KHR;
  return config;
}

EGLContext CreateContext(const EglApi& egl, EGLDisplay display, EGLConfig config, EGLContext shared,
                         const char* extensions) {
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
      const EGLContext context = egl.CreateContext(display, config, shared, wanted.data());
      if (context != EGL_NO_CONTEXT) return context;
    }
  }
  return EGL_NO_CONTEXT;
}

bool AtLeastEgl15(EGLint major, EGLint minor) {
  return major > 1 || (major == 1 && minor >= 5);
}

}  // namespace

std::vector<DisplaySource> ListDisplays(const EglApi& egl) {
  std::vector<DisplaySource> sources;
  // Null without EGL_EXT_client_extensions; the query then leaves an error behind.
  const char* client_extensions = egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (client_extensions == nullptr) egl.GetError();
  ListDevices(egl, client_extensions, sources);
  if (HasExtension(client_extensions, "EGL_MESA_platform_surfaceless")) {
    sources.push_back({.platform = DisplaySource::Platform::kSurfaceless, .name = "EGL surfaceless platform"});
  }
  sources.push_back({.platform = DisplaySource::Platform::kDefault, .name = "EGL default display"});
  return sources;
}

Result<std::unique_ptr<EglContext>> EglContext::Create(const EglApi& egl, const DisplaySource& source) {
  const EGLDisplay display = OpenDisplay(egl, source);
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY || !egl.Initialize(display, &major, &minor)) {
    return Error(StatusCode::kUnavailable, "{}: no EGL display ({}); install an OpenGL ES driver, or check its rights",
                 source.name, TakeEglError(egl));
  }
  const char* extensions = egl.QueryString(display, EGL_EXTENSIONS);
  if (!AtLeastEgl15(major, minor) && !HasExtension(extensions, "EGL_KHR_create_context")) {
    return Error(StatusCode::kUnavailable, "{}: EGL {}.{} can't create an OpenGL ES 3.1 context", source.name, major,
                 minor);
  }
  if (!egl.BindAPI(EGL_OPENGL_ES_API)) {
    return Error(StatusCode::kUnavailable, "{}: EGL without OpenGL ES ({})", source.name, TakeEglError(egl));
  }
  return Make(egl, display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, source.name);
}

Result<std::unique_ptr<EglContext>> EglContext::Share(const EglApi& egl, const GlContext& shared) {
  const auto display = static_cast<EGLDisplay>(shared.display);
  const auto context = static_cast<EGLContext>(shared.context);
  if (display == EGL_NO_DISPLAY || context == EGL_NO_CONTEXT)
    return Error(StatusCode::kInvalidArgument, "the shared OpenGL ES context needs a display and a context");
  EGLint client_type = 0;
  if (!egl.QueryContext(display, context, EGL_CONTEXT_CLIENT_TYPE, &client_type)) {
    return Error(StatusCode::kInvalidArgument, "the shared EGL context does not belong to that display ({})",
                 TakeEglError(egl));
  }
  if (client_type != EGL_OPENGL_ES_API)
    return Error(StatusCode::kInvalidArgument, "the shared EGL context is not an OpenGL ES context");
  egl.BindAPI(EGL_OPENGL_ES_API);
  Result<std::unique_ptr<EglContext>> made =
      Make(egl, display, ConfigOf(egl, display, context), context, "a context in the share group");
  if (!made.ok()) return Status(StatusCode::kInvalidArgument, made.status().message());
  return made;
}

Result<std::unique_ptr<EglContext>> EglContext::Make(const EglApi& egl, EGLDisplay display, EGLConfig config,
                                                     EGLContext shared, const std::string& name) {
  std::unique_ptr<EglContext> context(new EglContext(egl, display));
  const char* extensions = egl.QueryString(display, EGL_EXTENSIONS);
  if (config == EGL_NO_CONFIG_KHR) config = ChooseConfig(egl, display, extensions);
  if (NeedsSurface(extensions)) HEARTH_TRY(context->MakeSurface(config, name));
  context->context_ = CreateContext(egl, display, config, shared, extensions);
  if (context->context_ == EGL_NO_CONTEXT) {
    return Error(StatusCode::kUnavailable, "{}: no OpenGL ES 3.1 context ({}); compute needs 3.1", name,
                 TakeEglError(egl));
  }
  if (!egl.MakeCurrent(display, context->surface_, context->surface_, context->context_)) {
    return Error(StatusCode::kUnavailable, "{}: the OpenGL ES context can't be made current ({})", name,
                 TakeEglError(egl));
  }
  return context;
}

Status EglContext::MakeSurface(EGLConfig config, const std::string& name) {
  const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
  if (config != EGL_NO_CONFIG_KHR) surface_ = egl_.CreatePbufferSurface(display_, config, size);
  if (surface_ != EGL_NO_SURFACE) return Status::Ok();
  return Error(StatusCode::kUnavailable,
               "{}: a context needs a surface, since EGL has no EGL_KHR_surfaceless_context, and there is no pbuffer "
               "for it ({})",
               name, TakeEglError(egl_));
}

EglContext::~EglContext() {
  egl_.MakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (surface_ != EGL_NO_SURFACE) egl_.DestroySurface(display_, surface_);
  if (context_ != EGL_NO_CONTEXT) egl_.DestroyContext(display_, context_);
  egl_.ReleaseThread();
}

}  // namespace hearth::gles
