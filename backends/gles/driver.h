// The driver's libraries and their errors in words. The functions of OpenGL ES and EGL are libepoxy's, which finds each
// one at its first call.
#ifndef HEARTH_BACKENDS_GLES_DRIVER_H_
#define HEARTH_BACKENDS_GLES_DRIVER_H_

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <string_view>

#include "hal/device/loader_names.h"
#include "hearth/status.h"

namespace hearth::gles {

// Opens the libraries that libepoxy opens (for good: drivers start threads). Call it before any function of theirs, for
// libepoxy aborts the process where it finds no library or no function. kUnavailable when a library is missing, or a
// function of it that this code calls. Tests hide the driver by other names. Threads: any.
Status OpenDriver(const LoaderNames& names = LoaderNamesOn(ThisSystem()));

// Whether `name` is in the space-separated list `extensions` (which may be null). Ask before you call a function of an
// extension: libepoxy calls nothing where the driver has none.
inline bool HasExtension(const char* extensions, const char* name) {
  return epoxy_extension_in_string(extensions, name);
}

// kUnavailable unless `text` (EGL_VERSION or GL_VERSION; may be null) has a version in it, which libepoxy takes for
// granted.
Status CheckVersion(const char* text, std::string_view display);

// The GL errors since the last call as a Status, "while <what>": kResourceExhausted for out of memory, kDeviceLost for
// a lost context, kUnavailable for calls that the driver refused. Needs a current context.
Status TakeGlErrors(std::string_view what);

// "EGL_BAD_ALLOC", ... of the calling thread's last EGL error.
std::string_view TakeEglError();

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DRIVER_H_
