// A session in the share group of the program's own OpenGL ES context: buffers, textures, fences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/gles/backend.h"
#include "backends/gles/driver.h"
#include "tests/testing/external_memory.h"
#include "tests/testing/pictures.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr int kPictureWidth = testing::kExternalWidth, kPictureHeight = testing::kExternalHeight;

// A program with a current context of its own, without a window.
class GlProgram {
 public:
  ~GlProgram() {
    if (context_ == EGL_NO_CONTEXT) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
  }
  std::string Open() {
    const Status opened = gles::OpenDriver();
    if (!opened.ok()) return opened.message();
    if (!gles::HasExtension(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS), "EGL_EXT_platform_base"))
      return "no EGL_EXT_platform_base";
    display_ = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    EGLint major = 0, minor = 0;
    if (display_ == EGL_NO_DISPLAY || !eglInitialize(display_, &major, &minor)) return "no surfaceless display";
    eglBindAPI(EGL_OPENGL_ES_API);
    context_ = NewContext();
    if (context_ == EGL_NO_CONTEXT) return "no OpenGL ES 3.1 context";
    return MakeCurrent() ? "" : "the context can't be made current";
  }
  EGLContext NewContext() {
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
    return eglCreateContext(display_, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
  }
  bool MakeCurrent() { return eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE; }
  EGLDisplay display() const { return display_; }
  GlContext shared() const { return {display_, context_}; }

  // With `pixels` of four components each, of `type`.
  GLuint Texture(GLenum internal_format, GLenum type, const void* pixels, bool is_immutable = true) {
    GLuint id = 0;
    glGenTextures(1, &id);
    glBindTexture(GL_TEXTURE_2D, id);
    if (is_immutable) {
      glTexStorage2D(GL_TEXTURE_2D, 1, internal_format, kPictureWidth, kPictureHeight);
      glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, kPictureWidth, kPictureHeight, GL_RGBA, type, pixels);
    } else {
      glTexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(internal_format), kPictureWidth, kPictureHeight, 0, GL_RGBA,
                   type, pixels);
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    return id;
  }
  void ReadTexture(GLuint texture, GLenum type, void* pixels) {
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glReadPixels(0, 0, kPictureWidth, kPictureHeight, GL_RGBA, type, pixels);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
  }

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

class GlMemory final : public testing::ExternalMemory {
 public:
  ~GlMemory() override { glDeleteBuffers(static_cast<GLsizei>(buffers_.size()), buffers_.data()); }
  MemoryKind kind() const override { return MemoryKind::kGlBuffer; }
  uint64_t Make(std::span<const std::byte> bytes) override {
    GLuint id = 0;
    glGenBuffers(1, &id);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, id);
    glBufferData(GL_SHADER_STORAGE_BUFFER, static_cast<GLsizeiptr>(bytes.size()), bytes.data(), GL_DYNAMIC_COPY);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
    glFinish();
    buffers_.push_back(id);
    return id;
  }
  std::vector<std::byte> Read(uint64_t handle, size_t size_bytes) override {
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, static_cast<GLuint>(handle));
    const auto* mapped = static_cast<const std::byte*>(
        glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, static_cast<GLsizeiptr>(size_bytes), GL_MAP_READ_BIT));
    std::vector<std::byte> bytes(mapped, mapped + size_bytes);
    glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
    return bytes;
  }

 private:
  std::vector<GLuint> buffers_;
};

class GlesSharing : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = program_.Open();
    if (!reason.empty()) GTEST_SKIP() << reason;
    Result<Session> session = Session::Create(model_, testing::SharedOptions(program_.shared(), "gles"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(std::move(session).value());
  }
  GlProgram program_;
  const Model model_ = testing::ExternalMemoryModel();
  std::optional<Session> session_;
};

TEST_F(GlesSharing, EveryFormatOfABufferRunsWithoutACopy) {
  GlMemory memory;
  testing::ExpectEveryFormatRuns(*session_, memory, true);
  testing::ExpectFramesRun(*session_, memory);
}

// What the network makes of a constant picture is its negative.
TEST_F(GlesSharing, TexturesOfEveryFormatAreReadAndWritten) {
  std::vector<float> floats(size_t{kPictureWidth} * kPictureHeight * 4), seen(floats.size());
  for (size_t k = 0; k < floats.size(); ++k) floats[k] = k % 4 == 3 ? 1.0f : static_cast<float>(k % 4) * 0.25f;
  for (const auto& [format, internal] :
       {std::pair(ElementFormat::kFloat32, GL_RGBA32F), std::pair(ElementFormat::kRgba16f, GL_RGBA16F)}) {
    const GLuint in = program_.Texture(internal, GL_FLOAT, floats.data());
    const GLuint out = program_.Texture(internal, GL_FLOAT, seen.data());
    ASSERT_TRUE(session_->BindInput("x", {.memory = MemoryKind::kGlTexture, .handle = in, .format = format}).ok());
    const Status bound = session_->BindOutput(
        "y", {.memory = MemoryKind::kGlTexture, .handle = out, .format = format, .offset = {0, 0, 0, 0.5f}});
    ASSERT_TRUE(bound.ok()) << bound.message();
    glFinish();
    const Status ran = session_->Run();
    ASSERT_TRUE(ran.ok()) << ran.message();
    EXPECT_EQ(session_->report().transfers.to_host_bytes, 0u);
    program_.ReadTexture(out, GL_FLOAT, seen.data());
    for (size_t k = 0; k < seen.size(); ++k) ASSERT_EQ(seen[k], k % 4 == 3 ? 0.5f : -floats[k]) << k;
  }
}

TEST_F(GlesSharing, APartOfATextureIsCutOutTurnedAndResized) {
  const testing::TestPicture picture(PixelFormat::kRgba8, kPictureWidth, kPictureHeight, 3);
  Frame frame = picture.frame();
  frame.crop = {1, 2, 5, 3};
  frame.rotation = 90;
  frame.flip_vertically = true;
  const Model model = testing::ExternalMemoryModel();
  Result<Session> plain = Session::Create(model, testing::SharedOptions({}, "cpu"));
  ASSERT_TRUE(plain.ok() && plain->BindFrame("x", frame).ok() && plain->Run().ok());
  Frame lent = frame;
  lent.memory = MemoryKind::kGlTexture;
  lent.planes[0] = {.handle = program_.Texture(GL_RGBA8, GL_UNSIGNED_BYTE, picture.memory(0).data())};
  glFinish();
  for (const Status& status : {session_->BindFrame("x", lent), session_->Run()})
    ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(std::ranges::equal(session_->output(0), plain->output(0)));
  EXPECT_EQ(session_->report().transfers.to_device_bytes, 0u);
  lent.format = PixelFormat::kNv12;
  EXPECT_THAT(session_->BindFrame("x", lent).message(), HasSubstr("planes lie in a buffer"));
  lent.format = PixelFormat::kRgba8;
  lent.width = kPictureWidth + 1;
  EXPECT_THAT(session_->BindFrame("x", lent).message(), HasSubstr("is needed"));
}

TEST_F(GlesSharing, ARunWaitsForTheProgramsFenceAndGivesOneBack) {
  std::vector<uint8_t> bytes(size_t{kPictureWidth} * kPictureHeight * 4, 51), seen(bytes.size());
  const GLuint in = program_.Texture(GL_RGBA8, GL_UNSIGNED_BYTE, bytes.data(), false);
  const GLuint out = program_.Texture(GL_RGBA8, GL_UNSIGNED_BYTE, seen.data());
  const Binding input{.memory = MemoryKind::kGlTexture, .handle = in, .format = ElementFormat::kRgba8};
  Binding output = input;
  output.handle = out;
  output.scale = {-1, -2, -3, 0};
  output.offset = {0, 0, 0, 1};
  ASSERT_TRUE(session_->BindInput("x", input).ok());
  ASSERT_TRUE(session_->BindOutput("y", output).ok());
  GLsync written = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glFlush();
  const Result<Ticket> ticket =
      session_->Submit({.wait_for = {{reinterpret_cast<uint64_t>(written)}}, .make_fence = true});
  ASSERT_TRUE(ticket.ok()) << ticket.status().message();
  const auto done = reinterpret_cast<GLsync>(ticket->fence);
  ASSERT_EQ(glIsSync(done), GL_TRUE);
  glWaitSync(done, 0, GL_TIMEOUT_IGNORED);
  program_.ReadTexture(out, GL_UNSIGNED_BYTE, seen.data());
  for (size_t k = 0; k < seen.size(); k += 4) {
    ASSERT_EQ(seen[k], 51);
    ASSERT_EQ(seen[k + 1], 102);
    ASSERT_EQ(seen[k + 2], 153);
    ASSERT_EQ(seen[k + 3], 255);
  }
  EXPECT_TRUE(session_->Wait(*ticket).ok());
  glDeleteSync(done);
  glDeleteSync(written);
}

TEST_F(GlesSharing, AFenceThatIsNoneIsAnErrorOfTheRun) {
  GlMemory memory;
  const std::vector<float> zeros(size_t{kPictureWidth} * kPictureHeight * 3);
  ASSERT_TRUE(session_->SetInput(0, std::as_bytes(std::span(zeros))).ok());
  const Result<Ticket> ticket = session_->Submit({.wait_for = {{0x1234}}});
  const Status status = ticket.ok() ? session_->Wait(*ticket) : ticket.status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
  EXPECT_TRUE(session_->Run().ok()) << "the next run is a sound one";
}

TEST_F(GlesSharing, AnErrorIsThatOfItsOwnRun) {
  const std::vector<float> zeros(size_t{kPictureWidth} * kPictureHeight * 3);
  ASSERT_TRUE(session_->SetInput(0, std::as_bytes(std::span(zeros))).ok());
  const Result<Ticket> wrong = session_->Submit({.wait_for = {{0x1234}}});
  const Result<Ticket> right = session_->Submit();
  ASSERT_TRUE(wrong.ok() && right.ok());
  EXPECT_TRUE(session_->Wait(*right).ok());
  EXPECT_EQ(session_->Wait(*wrong).code(), StatusCode::kInvalidArgument);
}

TEST_F(GlesSharing, WhatDoesNotFitIsRefused) {
  const std::vector<float> pixels(size_t{kPictureWidth} * kPictureHeight * 4);
  const GLuint mutable_texture = program_.Texture(GL_RGBA, GL_UNSIGNED_BYTE, pixels.data(), false);
  const GLuint halves = program_.Texture(GL_RGBA16F, GL_FLOAT, pixels.data());
  Binding binding{.memory = MemoryKind::kGlTexture, .handle = mutable_texture, .format = ElementFormat::kRgba8};
  EXPECT_TRUE(session_->BindInput("x", binding).ok()) << "reading needs no immutable texture";
  EXPECT_EQ(session_->BindOutput("y", binding).code(), StatusCode::kInvalidArgument);
  binding.handle = halves;
  const Status wrong_format = session_->BindInput("x", binding);
  EXPECT_EQ(wrong_format.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong_format.message(), HasSubstr("0x881a"));
  binding.handle = 4711;
  EXPECT_THAT(session_->BindInput("x", binding).message(), HasSubstr("no texture 4711"));
  GlMemory memory;
  Binding small{.memory = MemoryKind::kGlBuffer, .size_bytes = 420};
  small.handle = memory.Make(std::vector<std::byte>(400));
  EXPECT_THAT(session_->BindInput("x", small).message(), HasSubstr("400 bytes"));
  small.handle = 4711;
  EXPECT_THAT(session_->BindInput("x", small).message(), HasSubstr("no buffer 4711"));
  small.memory = MemoryKind::kClBuffer;
  EXPECT_EQ(session_->BindInput("x", small).code(), StatusCode::kUnsupported);
}

TEST_F(GlesSharing, ADeadContextOrOneOfNothingIsRefused) {
  const EGLContext dead = program_.NewContext();
  ASSERT_NE(dead, EGL_NO_CONTEXT);
  eglDestroyContext(program_.display(), dead);
  const Status status = OpenSharedGles(GlContext{program_.display(), dead}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("EGL"));
  EXPECT_EQ(OpenSharedGles(GlContext{program_.display(), nullptr}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(program_.MakeCurrent()) << "the program's own context is as it was";
}

TEST_F(GlesSharing, TheProgramsContextStaysCurrent) {
  GlMemory memory;
  const std::vector<std::byte> bytes(64, std::byte{7});
  EXPECT_EQ(memory.Read(memory.Make(bytes), 64), bytes);
}

}  // namespace
}  // namespace hearth
