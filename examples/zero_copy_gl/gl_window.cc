#include "zero_copy_gl/gl_window.h"

#include <cstdio>

namespace examples {
namespace {

constexpr const char* kVertexShader = R"(#version 310 es
out vec2 at;
void main() {  // one triangle over everything
  at = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
}
)";

constexpr const char* kFrameShader = R"(#version 310 es
precision highp float;
in vec2 at;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D source;
layout(location = 0) uniform float zoom;
void main() { color = vec4(texture(source, (at - 0.5) / zoom + 0.5).rgb, 1.0); }
)";

constexpr const char* kMaskShader = R"(#version 310 es
precision highp float;
precision highp int;
layout(location = 0) out vec4 color;
layout(binding = 0) uniform sampler2D frame;
layout(std430, binding = 0) readonly buffer Scores { float scores[]; };
layout(location = 0) uniform vec3 colors[21];
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  int first = (pixel.y * 257 + pixel.x) * 21;
  int best = 0;
  for (int c = 1; c < 21; ++c) {
    if (scores[first + c] > scores[first + best]) best = c;
  }
  color = vec4(texelFetch(frame, pixel, 0).rgb, 1.0);
  if (best != 0) color.rgb = mix(color.rgb, colors[best], 0.6);
}
)";

GLuint CompileProgram(const char* fragment_text) {
  const GLuint program = glCreateProgram();
  for (const auto& [type, text] :
       {std::pair(GL_VERTEX_SHADER, kVertexShader), std::pair(GL_FRAGMENT_SHADER, fragment_text)}) {
    const GLuint shader = glCreateShader(type);
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
  }
  glLinkProgram(program);
  GLint linked = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  if (linked == GL_TRUE) return program;
  char log[1024] = "";
  glGetProgramInfoLog(program, sizeof log, nullptr, log);
  std::fprintf(stderr, "a program does not link: %s\n", log);
  return 0;
}

GLuint MakeTexture(int width, int height, const void* rgba) {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, width, height);
  if (rgba != nullptr) glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

GLuint MakeFramebuffer(GLuint texture) {
  GLuint framebuffer = 0;
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  return framebuffer;
}

EGLDisplay SurfacelessDisplay() {
  const auto platform_display =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (platform_display == nullptr) return eglGetDisplay(EGL_DEFAULT_DISPLAY);
  return platform_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
}

}  // namespace

bool GlWindow::Open(const Picture& picture) {
  display_ = SurfacelessDisplay();
  if (display_ == EGL_NO_DISPLAY || eglInitialize(display_, nullptr, nullptr) != EGL_TRUE) return false;
  eglBindAPI(EGL_OPENGL_ES_API);
  const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
  context_ = eglCreateContext(display_, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
  if (context_ == EGL_NO_CONTEXT || eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) != EGL_TRUE)
    return false;
  GLint buffers = 0;
  glGetIntegerv(GL_MAX_FRAGMENT_SHADER_STORAGE_BLOCKS, &buffers);
  if (buffers == 0) return false;

  source_ = MakeTexture(picture.width, picture.height, picture.rgba.data());
  input_ = MakeTexture(kSize, kSize, nullptr);
  shown_ = MakeTexture(kSize, kSize, nullptr);
  input_framebuffer_ = MakeFramebuffer(input_);
  shown_framebuffer_ = MakeFramebuffer(shown_);
  glGenBuffers(1, &scores_);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, scores_);
  glBufferData(GL_SHADER_STORAGE_BUFFER, kScoresBytes, nullptr, GL_DYNAMIC_COPY);
  frame_program_ = CompileProgram(kFrameShader);
  mask_program_ = CompileProgram(kMaskShader);
  if (frame_program_ == 0 || mask_program_ == 0) return false;
  float colors[kClasses * 3];
  for (int k = 0; k < kClasses * 3; ++k) colors[k] = ClassColor(k / 3)[k % 3] / 255.0f;
  glUseProgram(mask_program_);
  glUniform3fv(0, kClasses, colors);
  glViewport(0, 0, kSize, kSize);
  return glGetError() == GL_NO_ERROR;
}

GlWindow::~GlWindow() {
  if (context_ == EGL_NO_CONTEXT) return;
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_, context_);
}

void GlWindow::DrawFrame(float zoom) {
  glBindFramebuffer(GL_FRAMEBUFFER, input_framebuffer_);
  glUseProgram(frame_program_);
  glUniform1f(0, zoom);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, source_);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void GlWindow::DrawMask() {
  glBindFramebuffer(GL_FRAMEBUFFER, shown_framebuffer_);
  glUseProgram(mask_program_);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, input_);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, scores_);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

Picture GlWindow::Read(GLuint framebuffer) {
  Picture picture{kSize, kSize, std::vector<uint8_t>(size_t{4} * kSize * kSize)};
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glReadPixels(0, 0, kSize, kSize, GL_RGBA, GL_UNSIGNED_BYTE, picture.rgba.data());
  return picture;
}

}  // namespace examples
