// Functions of OpenGL ES and EGL that tests replace: libepoxy's pointers, through which all of the process calls them.
#ifndef HEARTH_TESTS_TESTING_GL_STAND_INS_H_
#define HEARTH_TESTS_TESTING_GL_STAND_INS_H_

#include <dlfcn.h>

#include <functional>
#include <string_view>
#include <vector>

#include "backends/gles/driver.h"

namespace hearth::testing {

// The driver's function of this name, null without one. What a stand-in calls: libepoxy's pointer may not have been
// called before, and would then find the stand-in.
template <typename Fn>
Fn* DriversOwn(Fn* /*of the type of*/, const char* name) {
  static void* const egl = dlopen("libEGL.so.1", RTLD_LAZY);
  static void* const gles = dlopen("libGLESv2.so.2", RTLD_LAZY);
  if (egl == nullptr || gles == nullptr) return nullptr;
  void* found = dlsym(std::string_view(name).starts_with("egl") ? egl : gles, name);
  if (found == nullptr) {
    using GetProcAddress = void* (*)(const char*);
    found = reinterpret_cast<GetProcAddress>(dlsym(egl, "eglGetProcAddress"))(name);
  }
  return reinterpret_cast<Fn*>(found);
}
#define HEARTH_DRIVERS_OWN(function) ::hearth::testing::DriversOwn(function, #function)

// Each stand-in is called as long as this lives.
class GlStandIns {
 public:
  GlStandIns() = default;
  GlStandIns(const GlStandIns&) = delete;
  GlStandIns& operator=(const GlStandIns&) = delete;
  ~GlStandIns() {
    for (auto restore = restores_.rbegin(); restore != restores_.rend(); ++restore) (*restore)();
  }

  // Put(glFinish, FinishOfTheTest)
  template <typename Fn>
  void Put(Fn*& function, Fn* stand_in) {
    restores_.emplace_back([&function, before = function] { function = before; });
    function = stand_in;
  }

 private:
  std::vector<std::function<void()>> restores_;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_GL_STAND_INS_H_
