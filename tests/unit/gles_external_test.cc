// Dma-bufs and AHardwareBuffers as textures: on a driver without EGLImages of them, which this test then makes itself.
// Its modifier means that rows lie from the last to the first.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hal/io/dma_buf.h"
#include "hal/io/hardware_buffer.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"
#include "tests/testing/gl_stand_ins.h"
#include "tests/testing/pictures.h"
#include "tests/testing/shared_memory.h"

namespace hearth {
namespace gles_with_external_images {

constexpr uint64_t kUpsideDown = 0x0100000000000001;
constexpr int32_t kPictureWidth = 37, kPictureHeight = 25;

// The image that was made last, and what a driver refuses.
struct Image {
  int width = 0, height = 0;
  std::vector<std::byte> rgba;
} image;
int images = 0, refused_target = 0;
std::vector<std::byte> android_pixels;

const char* Query(EGLDisplay display, EGLint name) {
  const char* known = HEARTH_DRIVERS_OWN(eglQueryString)(display, name);
  if (display == EGL_NO_DISPLAY || name != EGL_EXTENSIONS) return known;
  static const std::string more =
      std::string(known) +
      " EGL_EXT_image_dma_buf_import EGL_EXT_image_dma_buf_import_modifiers"
      " EGL_ANDROID_image_native_buffer EGL_ANDROID_get_native_client_buffer EGL_KHR_image_base";
  return more.c_str();
}

EGLImageKHR ImageOfDmaBuf(const EGLint* attributes) {
  std::map<EGLint, uint32_t> of;
  for (; *attributes != EGL_NONE; attributes += 2) of[attributes[0]] = static_cast<uint32_t>(attributes[1]);
  image = {static_cast<int>(of[EGL_WIDTH]), static_cast<int>(of[EGL_HEIGHT]), {}};
  const uint64_t modifier = of[EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT] | uint64_t{of[EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT]}
                                                                         << 32;
  const uint32_t format = of[EGL_LINUX_DRM_FOURCC_EXT];
  const bool is_bgra = format == DrmFormatOf(PixelFormat::kBgra8);
  if (modifier != 0 && modifier != kUpsideDown) return EGL_NO_IMAGE_KHR;
  if (!is_bgra && format != DrmFormatOf(PixelFormat::kRgba8)) return EGL_NO_IMAGE_KHR;
  const size_t row_bytes = static_cast<size_t>(image.width) * 4;
  image.rgba.resize(row_bytes * static_cast<size_t>(image.height));
  for (int y = 0; y < image.height; ++y) {
    const int row = modifier == 0 ? y : image.height - 1 - y;
    const uint64_t at =
        of[EGL_DMA_BUF_PLANE0_OFFSET_EXT] + static_cast<uint64_t>(row) * of[EGL_DMA_BUF_PLANE0_PITCH_EXT];
    if (::pread(static_cast<int>(of[EGL_DMA_BUF_PLANE0_FD_EXT]), &image.rgba[row_bytes * static_cast<size_t>(y)],
                row_bytes, static_cast<off_t>(at)) < 0)
      return EGL_NO_IMAGE_KHR;
  }
  for (size_t k = 0; is_bgra && k < image.rgba.size(); k += 4) std::swap(image.rgba[k], image.rgba[k + 2]);
  ++images;
  return &image;
}

EGLImageKHR CreateImage(EGLDisplay, EGLContext, EGLenum target, EGLClientBuffer buffer, const EGLint* attributes) {
  if (target == EGL_LINUX_DMA_BUF_EXT) return ImageOfDmaBuf(attributes);
  if (target != EGL_NATIVE_BUFFER_ANDROID || buffer != static_cast<void*>(&android_pixels)) return EGL_NO_IMAGE_KHR;
  image = {kPictureWidth, kPictureHeight, android_pixels};
  ++images;
  return &image;
}

EGLBoolean DestroyImage(EGLDisplay, EGLImageKHR) {
  --images;
  return EGL_TRUE;
}

EGLClientBuffer ClientBuffer(const AHardwareBuffer* buffer) {
  return const_cast<AHardwareBuffer*>(buffer);
}

void Target(GLenum target, GLeglImageOES) {
  if (refused_target-- > 0) {
    glBindTexture(0xdead, 1);  // leaves an error
    return;
  }
  glTexImage2D(target, 0, GL_RGBA8, image.width, image.height, 0, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
}

bool IsRight(bool condition, std::string_view what) {
  if (!condition) std::fprintf(stderr, "wrong: %.*s\n", static_cast<int>(what.size()), what.data());
  return condition;
}

bool GivesThePicture(Session& session, const Frame& lent, Session& on_host, const Frame& frame) {
  const Status bound = session.BindFrame("x", lent), ran = session.Run();
  bool is_right = on_host.BindFrame("x", frame).ok() && on_host.Run().ok();
  is_right &= IsRight(bound.ok() && ran.ok(), bound.message() + ran.message());
  is_right &= IsRight(images == 0, "images that are left");
  return IsRight(std::ranges::equal(session.output(0), on_host.output(0)), testing::NameOf(frame.format)) && is_right;
}

std::vector<std::byte> UpsideDown(const std::vector<std::byte>& rows) {
  constexpr size_t kRowBytes = size_t{kPictureWidth} * 4;
  std::vector<std::byte> memory(4096, std::byte{7});
  for (size_t y = kPictureHeight; y-- > 0;) {
    const auto row = rows.begin() + static_cast<ptrdiff_t>(y * kRowBytes);
    memory.insert(memory.end(), row, row + kRowBytes);
    memory.resize(memory.size() + 8);
  }
  return memory;
}

bool ReadsDmaBufs(Session& session, Session& on_host) {
  bool is_right = true;
  for (const PixelFormat format : testing::kPixelFormats) {
    const testing::TestPicture linear(format, kPictureWidth, kPictureHeight, 1, 8, true),
        rows(format, kPictureWidth, kPictureHeight, 1);
    const testing::SharedMemory memory(linear.memory(0));
    Frame lent = linear.frame();
    lent.memory = MemoryKind::kDmaBuf;
    lent.planes[0].handle = memory.descriptor();
    lent.planes[0].size_bytes = 0;
    is_right &= GivesThePicture(session, lent, on_host, linear.frame());
    if (format > PixelFormat::kBgra8) continue;
    const testing::SharedMemory upside_down(UpsideDown(rows.memory(0)));
    lent.planes = {FramePlane{upside_down.descriptor(), 0, 4096, kPictureWidth * 4 + 8}};
    lent.drm_modifier = kUpsideDown;
    is_right &= GivesThePicture(session, lent, on_host, rows.frame());
    lent.drm_modifier = 77;
    is_right &= IsRight(!session.BindFrame("x", lent).ok(), "a modifier that the driver lacks");
  }
  return is_right;
}

bool ReadsHardwareBuffers(Session& session, Session& on_host) {
  HardwareBufferApi& api = TheHardwareBufferApi();
  api.acquire = api.release = [](AHardwareBuffer*) {};
  api.describe = [](const AHardwareBuffer*, HardwareBufferDesc* desc) {
    *desc = {kPictureWidth, kPictureHeight, 1, 1};
  };
  api.lock = [](AHardwareBuffer*, uint64_t, int32_t, const void*, void**) { return -1; };
  api.unlock = [](AHardwareBuffer*, int32_t*) { return 0; };
  const testing::TestPicture picture(PixelFormat::kRgba8, kPictureWidth, kPictureHeight, 2);
  android_pixels = picture.memory(0);
  Frame lent = picture.frame();
  lent.memory = MemoryKind::kAndroidHardwareBuffer;
  lent.planes = {FramePlane{reinterpret_cast<uintptr_t>(&android_pixels)}};
  return GivesThePicture(session, lent, on_host, picture.frame());
}

bool FallsBackToTheHost(Session& session, Session& on_host) {
  refused_target = 1;
  const testing::TestPicture picture(PixelFormat::kNv12, kPictureWidth, kPictureHeight, 3, 4, true);
  const testing::SharedMemory memory(picture.memory(0));
  Frame lent = picture.frame();
  lent.memory = MemoryKind::kDmaBuf;
  lent.planes[0].handle = memory.descriptor();
  return GivesThePicture(session, lent, on_host, picture.frame()) &&
         IsRight(session.report().warnings.size() == 1, "no warning");
}

[[noreturn]] void RunAll() {
  testing::GlStandIns driver;
  driver.Put(eglQueryString, Query);
  driver.Put(eglCreateImageKHR, CreateImage);
  driver.Put(eglDestroyImageKHR, DestroyImage);
  driver.Put(eglGetNativeClientBufferANDROID, ClientBuffer);
  driver.Put(glEGLImageTargetTexture2DOES, Target);
  const Model model = testing::NegationModel({1, 9, 12, 3});
  SessionOptions options;
  options.device = "gles";
  options.use_cache = false;
  Result<Session> session = Session::Create(model, options), on_host = Session::Create(model, options);
  bool is_right = true;
  if (session.ok() && on_host.ok()) {
    const size_t before = testing::SharedMemory::CountOpen();
    is_right = ReadsDmaBufs(*session, *on_host) && ReadsHardwareBuffers(*session, *on_host);
    is_right &= IsRight(session->report().warnings.empty(), "a warning");
    is_right &= FallsBackToTheHost(*session, *on_host);
    is_right &= session->UnbindInput("x").ok() &&
                IsRight(testing::SharedMemory::CountOpen() == before, "descriptors are left open");
  }
  std::fprintf(stderr, session.ok() && on_host.ok() ? "done\n" : "no device here\n");
  std::_Exit(is_right ? 0 : 1);
}

}  // namespace gles_with_external_images

namespace {

TEST(GlesExternalImagesDeathTest, AreReadInEveryFormatAndByTheHostWhereTheDriverRefuses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(gles_with_external_images::RunAll(), ::testing::ExitedWithCode(0), "done|no device here");
}

}  // namespace
}  // namespace hearth
