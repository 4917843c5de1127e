// What the OpenGL ES backend asks of its driver, seen in the functions that it calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/gles/backend.h"
#include "backends/gles/driver.h"
#include "conformance/device_cases.h"
#include "tests/testing/gl_stand_ins.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct GlesCallsSeen {
  int surfaces_made = 0, surfaces_left = 0;
  bool refuses_surfaces = false;
  std::vector<GLbitfield> mappings;
};
GlesCallsSeen& SeenCalls() {
  static auto& seen = *new GlesCallsSeen();
  return seen;
}

const char* QueryStringWithoutSurfacelessContexts(EGLDisplay display, EGLint name) {
  constexpr std::string_view kHidden = "EGL_KHR_surfaceless_context";
  static auto& texts = *new std::set<std::string>();  // the driver's live as long as the display
  static std::mutex mutex;
  const char* text = HEARTH_DRIVERS_OWN(eglQueryString)(display, name);
  if (text == nullptr) return nullptr;
  std::string left = text;
  if (const size_t at = left.find(kHidden); at != std::string::npos) left.erase(at, kHidden.size());
  const std::scoped_lock lock(mutex);
  return texts.insert(std::move(left)).first->c_str();
}

EGLBoolean MakeCurrentWithASurface(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext context) {
  if (context != EGL_NO_CONTEXT && (draw == EGL_NO_SURFACE || read == EGL_NO_SURFACE)) return EGL_FALSE;
  return HEARTH_DRIVERS_OWN(eglMakeCurrent)(display, draw, read, context);
}

EGLSurface CreatePbufferSurfaceSeen(EGLDisplay display, EGLConfig config, const EGLint* attributes) {
  if (SeenCalls().refuses_surfaces) return EGL_NO_SURFACE;
  const EGLSurface surface = HEARTH_DRIVERS_OWN(eglCreatePbufferSurface)(display, config, attributes);
  if (surface != EGL_NO_SURFACE) ++SeenCalls().surfaces_made, ++SeenCalls().surfaces_left;
  return surface;
}

EGLBoolean DestroySurfaceSeen(EGLDisplay display, EGLSurface surface) {
  --SeenCalls().surfaces_left;
  return HEARTH_DRIVERS_OWN(eglDestroySurface)(display, surface);
}

void* MapBufferRangeSeen(GLenum target, GLintptr offset, GLsizeiptr size, GLbitfield access) {
  SeenCalls().mappings.push_back(access);
  return HEARTH_DRIVERS_OWN(glMapBufferRange)(target, offset, size, access);
}

// Skipped where no device is usable as it is.
class GlesDriverCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    SeenCalls() = {};
    std::string reason;
    if (FirstDevice(reason) == nullptr) GTEST_SKIP() << reason;
  }

  void HideSurfacelessContexts() {
    driver_.Put(eglQueryString, QueryStringWithoutSurfacelessContexts);
    driver_.Put(eglMakeCurrent, MakeCurrentWithASurface);
    driver_.Put(eglCreatePbufferSurface, CreatePbufferSurfaceSeen);
    driver_.Put(eglDestroySurface, DestroySurfaceSeen);
  }

  static std::unique_ptr<Device> FirstDevice(std::string& reason) {
    reason = "no OpenGL ES device was listed";
    for (const DeviceCandidate& candidate : EnumerateGles()) {
      Result<std::unique_ptr<Device>> device = OpenGles(candidate);
      if (device.ok()) return std::move(device).value();
      reason = device.status().message();
    }
    return nullptr;
  }

  testing::GlStandIns driver_;
};

// --- displays without EGL_KHR_surfaceless_context

TEST_F(GlesDriverCalls, WithoutSurfacelessContextsADeviceHasAPbufferAndCalculates) {
  HideSurfacelessContexts();
  std::string reason;
  {
    const std::unique_ptr<Device> device = FirstDevice(reason);
    ASSERT_NE(device, nullptr) << reason;
    EXPECT_EQ(SeenCalls().surfaces_left, 1);
    for (const conformance::DeviceCase& test : conformance::DeviceCases()) {
      const Status status = test.run(*device);
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnsupported) << test.name << ": " << status.message();
    }
  }
  EXPECT_EQ(SeenCalls().surfaces_left, 0);
}

TEST_F(GlesDriverCalls, WithoutSurfacelessContextsAndPbuffersADeviceSaysSo) {
  HideSurfacelessContexts();
  SeenCalls().refuses_surfaces = true;
  std::string reason;
  EXPECT_EQ(FirstDevice(reason), nullptr);
  EXPECT_THAT(reason, HasSubstr("EGL_KHR_surfaceless_context"));
}

TEST_F(GlesDriverCalls, WithSurfacelessContextsNoSurfaceIsMade) {
  driver_.Put(eglCreatePbufferSurface, CreatePbufferSurfaceSeen);
  std::string reason;
  EXPECT_NE(FirstDevice(reason), nullptr) << reason;
  EXPECT_EQ(SeenCalls().surfaces_made, 0);
}

TEST_F(GlesDriverCalls, WithoutSurfacelessContextsASharedContextHasAPbuffer) {
  HideSurfacelessContexts();
  ASSERT_TRUE(gles::OpenDriver().ok());
  if (!gles::HasExtension(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS), "EGL_EXT_platform_base"))
    GTEST_SKIP() << "no EGL_EXT_platform_base";
  const EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) GTEST_SKIP() << "no surfaceless display";
  eglBindAPI(EGL_OPENGL_ES_API);
  const std::array wanted = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
  EGLConfig config = EGL_NO_CONFIG_KHR;
  EGLint count = 0;
  ASSERT_TRUE(eglChooseConfig(display, wanted.data(), &config, 1, &count) == EGL_TRUE && count == 1);
  const std::array version = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version.data());
  ASSERT_NE(context, EGL_NO_CONTEXT);
  {
    const auto device = OpenSharedGles(GlContext{display, context});
    EXPECT_TRUE(device.ok()) << device.status().message();
    EXPECT_EQ(SeenCalls().surfaces_left, 1);
  }
  EXPECT_EQ(SeenCalls().surfaces_left, 0);
  eglDestroyContext(display, context);
}

// --- errors

GLenum& TheErrorToTake() {
  static GLenum error = GL_NO_ERROR;
  return error;
}

StatusCode CodeOfGlError(GLenum error) {
  TheErrorToTake() = error;
  testing::GlStandIns driver;
  driver.Put(
      glGetError, +[] { return std::exchange(TheErrorToTake(), GLenum{GL_NO_ERROR}); });
  return gles::TakeGlErrors("compiling kernels").code();
}

TEST(GlesErrors, OnlyALostContextIsALostDevice) {
  EXPECT_EQ(CodeOfGlError(GL_CONTEXT_LOST), StatusCode::kDeviceLost);
  EXPECT_EQ(CodeOfGlError(GL_OUT_OF_MEMORY), StatusCode::kResourceExhausted);
  for (const GLenum refusal : {GL_INVALID_OPERATION, GL_INVALID_VALUE, 0x9999})
    EXPECT_EQ(CodeOfGlError(refusal), StatusCode::kUnavailable) << refusal;
}

// --- mappings

// Constants fill a whole buffer and are read back there where they are packed in place, which a mapping must allow.
TEST_F(GlesDriverCalls, AWholeBufferThatIsWrittenMayBeReadAndPartsAreNotKept) {
  driver_.Put(glMapBufferRange, MapBufferRangeSeen);
  std::string reason;
  const std::unique_ptr<Device> device = FirstDevice(reason);
  ASSERT_NE(device, nullptr) << reason;
  if (!device->info().is_read_fast_by_host()) GTEST_SKIP() << device->info().name << " is no software driver";
  const auto buffer = device->CreateBuffer(256);
  ASSERT_TRUE(buffer.ok());
  const auto fill = [](std::span<std::byte>) { return Status::Ok(); };
  EXPECT_TRUE(device->Write(**buffer, 0, 256, fill).ok());
  EXPECT_TRUE(device->Write(**buffer, 0, 128, fill).ok());
  EXPECT_THAT(SeenCalls().mappings,
              ElementsAre(GL_MAP_READ_BIT | GL_MAP_WRITE_BIT, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT));
}

}  // namespace
}  // namespace hearth
