// The program's own OpenGL ES: a context without a window, and the two drawings of each frame.
#ifndef HEARTH_EXAMPLES_ZERO_COPY_GL_GL_WINDOW_H_
#define HEARTH_EXAMPLES_ZERO_COPY_GL_GL_WINDOW_H_

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>

#include "segmentation_picture.h"

namespace examples {

constexpr int kSize = 257;  // the model's picture

// Current on the thread that made it.
class GlWindow {
 public:
  // False where there is no OpenGL ES 3.1, or no storage buffers in fragment shaders.
  bool Open(const Picture& picture);
  ~GlWindow();

  EGLDisplay display() const { return display_; }
  EGLContext context() const { return context_; }
  GLuint input_texture() const { return input_; }   // rgba8, kSize x kSize
  GLuint scores_buffer() const { return scores_; }  // kClasses floats a pixel
  static constexpr GLsizeiptr kScoresBytes = GLsizeiptr{kSize} * kSize * kClasses * 4;

  // Draws the picture into the input texture, enlarged by `zoom` around its middle.
  void DrawFrame(float zoom);
  // Draws the frame and the colors of its pixels' best classes into the picture that is shown.
  void DrawMask();
  // Copies to the host: what is shown, or the frame.
  Picture ReadShown() { return Read(shown_framebuffer_); }
  Picture ReadFrame() { return Read(input_framebuffer_); }

 private:
  Picture Read(GLuint framebuffer);

  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  GLuint source_ = 0, input_ = 0, shown_ = 0, scores_ = 0;
  GLuint input_framebuffer_ = 0, shown_framebuffer_ = 0;
  GLuint frame_program_ = 0, mask_program_ = 0;
};

}  // namespace examples

#endif  // HEARTH_EXAMPLES_ZERO_COPY_GL_GL_WINDOW_H_
