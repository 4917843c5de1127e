// Segments what OpenGL ES draws, and draws the result with OpenGL ES: the pixels never pass through the host.
//
//   zero_copy_gl deeplabv3_257_mv_gpu.tflite picture.jpg result.png [--check]
//
// A picture is drawn into a texture, closer in each frame; the session reads the texture and writes a storage buffer
// with the scores of 21 classes a pixel; a fragment shader colors the best class of each pixel. Fences order the two:
// the host never waits between frames. Only the last picture is read back, to write the PNG. With --check it is
// compared with that of a session that is given, and gives back, host memory.
#include <cstdio>
#include <cstring>

#include "hearth/hearth.h"
#include "zero_copy_gl/gl_window.h"

namespace {

constexpr int kFrames = 4;

int Fail(const char* what, const hearth::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  return status.code() == hearth::StatusCode::kUnavailable ? examples::kSkipped : 1;
}

hearth::Status BindEnds(hearth::Session& session, const examples::GlWindow& window) {
  hearth::Status bound = session.BindInput(session.inputs()[0].name, {.memory = hearth::MemoryKind::kGlTexture,
                                                                      .handle = window.input_texture(),
                                                                      .format = hearth::ElementFormat::kRgba8,
                                                                      .scale = {2, 2, 2, 2},
                                                                      .offset = {-1, -1, -1, -1}});
  if (!bound.ok()) return bound;
  return session.BindOutput(session.outputs()[0].name,
                            {.memory = hearth::MemoryKind::kGlBuffer,
                             .handle = window.scores_buffer(),
                             .size_bytes = static_cast<uint64_t>(examples::GlWindow::kScoresBytes)});
}

// One frame: drawn, segmented, drawn with its mask; handed to the driver and not waited for.
hearth::Result<hearth::Ticket> ShowFrame(hearth::Session& session, examples::GlWindow& window, float zoom) {
  window.DrawFrame(zoom);
  GLsync drawn = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glFlush();
  hearth::Result<hearth::Ticket> ticket =
      session.Submit({.wait_for = {{reinterpret_cast<uint64_t>(drawn)}}, .make_fence = true});
  if (!ticket.ok()) return ticket;
  const auto segmented = reinterpret_cast<GLsync>(ticket->fence);
  glWaitSync(segmented, 0, GL_TIMEOUT_IGNORED);
  glDeleteSync(segmented);
  glDeleteSync(drawn);
  window.DrawMask();
  return ticket;
}

// The same picture by way of the host.
hearth::Result<examples::Picture> CopiedPicture(const std::string& model, const examples::Picture& frame) {
  auto session = hearth::Session::Open(model, {.device = "gles"});
  if (!session.ok()) return session.status();
  const std::vector<float> input = examples::ModelInput(frame);
  hearth::Status status = session->SetInput(0, std::as_bytes(std::span(input)));
  if (status.ok()) status = session->Run();
  if (!status.ok()) return status;
  std::vector<float> scores(session->output(0).size() / sizeof(float));
  std::memcpy(scores.data(), session->output(0).data(), session->output(0).size());
  return examples::WithMask(frame, scores);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: zero_copy_gl model.tflite picture result.png [--check]\n");
    return 2;
  }
  examples::Picture picture;
  if (const int code = examples::LoadPicture(argv[2], argv[1], picture); code != 0) return code;
  examples::GlWindow window;
  if (!window.Open(picture)) {
    std::fprintf(stderr, "no OpenGL ES 3.1 with storage buffers in fragment shaders\n");
    return examples::kSkipped;
  }
  hearth::SessionOptions options;
  options.shared = hearth::GlContext{window.display(), window.context()};
  auto session = hearth::Session::Open(argv[1], options);
  if (!session.ok()) return Fail("opening the session", session.status());
  if (const hearth::Status bound = BindEnds(*session, window); !bound.ok()) return Fail("lending memory", bound);

  for (int frame = 1; frame <= kFrames; ++frame) {
    const auto ticket = ShowFrame(*session, window, 1.0f + 0.1f * static_cast<float>(kFrames - frame));
    if (!ticket.ok()) return Fail("a frame", ticket.status());
    if (const hearth::Status done = session->Wait(*ticket); !done.ok()) return Fail("a frame", done);
    const auto& transfers = session->report().transfers;
    std::printf("frame %d: %llu bytes to the device, %llu bytes to the host\n", frame,
                static_cast<unsigned long long>(transfers.to_device_bytes),
                static_cast<unsigned long long>(transfers.to_host_bytes));
    if (transfers.to_device_bytes + transfers.to_host_bytes != 0) return 1;
  }
  const examples::Picture shown = window.ReadShown();
  if (!examples::SavePng(shown, argv[3])) return 1;
  if (argc < 5 || std::strcmp(argv[4], "--check") != 0) return 0;
  const auto copied = CopiedPicture(argv[1], window.ReadFrame());
  if (!copied.ok()) return Fail("the copying way", copied.status());
  const double different = examples::DifferentShare(shown, *copied);
  std::printf("%.3f %% of the pixels differ from the copying way's\n", different * 100);
  return different <= 0.001 ? 0 : 1;  // pixels whose two best classes score the same to the last digits
}
