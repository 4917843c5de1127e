// Finds EGL displays without a window system and makes OpenGL ES 3.1+ contexts without a window.
#ifndef HEARTH_BACKENDS_GLES_DISPLAY_H_
#define HEARTH_BACKENDS_GLES_DISPLAY_H_

#include <memory>
#include <string>
#include <vector>

#include "backends/gles/driver.h"
#include "hearth/interop.h"
#include "hearth/status.h"

namespace hearth::gles {

// One way to open a display. `device` is null except with EGL_EXT_platform_device.
struct DisplaySource {
  enum class Platform : uint8_t { kDevice, kSurfaceless, kDefault };

  Platform platform = Platform::kDefault;
  EGLDeviceEXT device = EGL_NO_DEVICE_EXT;
  std::string name;       // "EGL device 0 (/dev/dri/renderD128)", for messages
  bool software = false;  // the device says EGL_MESA_device_software
  std::string uuid;       // hex, from EGL_EXT_device_persistent_id
};

// All EGL devices in the driver's order, then the surfaceless platform if there is one, then the default display. The
// order is the same in every call, so an index identifies a display.
std::vector<DisplaySource> ListDisplays();

// A context that is current on the thread that made it, and is destroyed there. It has no surface, or a pbuffer of one
// pixel where the display lacks EGL_KHR_surfaceless_context.
class EglContext {
 public:
  // Asks for ES 3.2, then 3.1. kUnavailable with a reason that a person can act on.
  static Result<std::unique_ptr<EglContext>> Create(const DisplaySource& source);
  // The same in the share group of the caller's context. kInvalidArgument if the driver refuses.
  static Result<std::unique_ptr<EglContext>> Share(const GlContext& shared);
  ~EglContext();

  EGLDisplay display() const { return display_; }

  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

 private:
  // Makes the context, in the share group of `shared` unless that is EGL_NO_CONTEXT, and makes it current. Where
  // `config` is none, any that fits.
  static Result<std::unique_ptr<EglContext>> Make(EGLDisplay display, EGLConfig config, EGLContext shared,
                                                  const std::string& name);
  explicit EglContext(EGLDisplay display) : display_(display) {}
  // A pbuffer of one pixel, which nothing is drawn to.
  Status MakeSurface(EGLConfig config, const std::string& name);

  // Never terminated: EGL gives every caller in the process the same display, and terminating it would destroy other
  // callers' contexts.
  EGLDisplay display_;
  EGLContext context_ = EGL_NO_CONTEXT;
  EGLSurface surface_ = EGL_NO_SURFACE;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DISPLAY_H_
