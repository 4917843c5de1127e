// Classifies camera frames in OpenCL buffers of the program's own context.
//
//   zero_copy_opencl mobilenet_v1_1.0_224.tflite picture.jpg labels.txt [--check]
//
// The camera is held on its side and sees more than the subject: its NV12 frame is cut out, turned upright, resized and
// scaled by the device, in the run's own submission. Two buffers take turns, so that the camera delivers a frame while
// the one before is classified; events order the two. Of the model's scores only the five highest and their indices
// come back: 64 bytes a frame, since numbers travel in fours. With --check the same frame is also given in host memory,
// which gives the same answer.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "hearth/hearth.h"
#include "zero_copy_opencl/camera.h"

namespace {

constexpr int kFrames = 4;
constexpr int kMargin = 64;
constexpr int kTop = 5;
constexpr uint64_t kMostAnswerBytes = 2 * 8 * 4;

int Fail(const char* what, const hearth::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  return status.code() == hearth::StatusCode::kUnavailable ? examples::kSkipped : 1;
}

struct Answer {
  float scores[kTop] = {};
  int32_t classes[kTop] = {};
};

hearth::Result<Answer> AnswerOf(const hearth::Session& session) {
  const auto scores = session.output<float>(0);
  if (!scores.ok()) return scores.status();
  const auto classes = session.output<int32_t>(1);
  if (!classes.ok()) return classes.status();
  Answer answer;
  std::copy_n(scores->begin(), kTop, answer.scores);
  std::copy_n(classes->begin(), kTop, answer.classes);
  return answer;
}

// How the model wants a camera's frames; memory and address are the caller's.
hearth::Frame FrameOf(const examples::Nv12Frame& seen) {
  return {.format = hearth::PixelFormat::kNv12,
          .width = seen.width,
          .height = seen.height,
          .crop = {kMargin, kMargin, seen.width - 2 * kMargin, seen.height - 2 * kMargin},
          .rotation = 90,
          .mean = {127.5f, 127.5f, 127.5f},
          .scale = {1 / 127.5f, 1 / 127.5f, 1 / 127.5f}};
}

hearth::Result<hearth::Ticket> SubmitFrame(hearth::Session& session, examples::Camera& camera,
                                           const examples::Nv12Frame& seen, cl_mem buffer) {
  hearth::Frame frame = FrameOf(seen);
  frame.memory = hearth::MemoryKind::kClBuffer;
  frame.planes[0] = {.handle = reinterpret_cast<uint64_t>(buffer), .size_bytes = seen.bytes.size()};
  const hearth::Status bound = session.BindFrame(session.inputs()[0].name, frame);
  if (!bound.ok()) return bound;
  cl_event delivered = camera.Deliver(seen, buffer);
  auto ticket = session.Submit({.wait_for = {{reinterpret_cast<uint64_t>(delivered)}}});
  clReleaseEvent(delivered);
  return ticket;
}

// All frames; the session has the last one's answer then.
hearth::Status ClassifyFrames(hearth::Session& session, examples::Camera& camera, const examples::Nv12Frame& seen,
                              const cl_mem (&buffers)[2]) {
  hearth::Ticket tickets[kFrames];
  for (int frame = 0; frame < kFrames; ++frame) {
    if (frame >= 2) {  // the older frame's buffer is written again
      hearth::Status done = session.Wait(tickets[frame - 2]);
      if (!done.ok()) return done;
    }
    const auto ticket = SubmitFrame(session, camera, seen, buffers[frame % 2]);
    if (!ticket.ok()) return ticket.status();
    tickets[frame] = *ticket;
  }
  for (int frame : {kFrames - 2, kFrames - 1}) {
    hearth::Status done = session.Wait(tickets[frame]);
    if (!done.ok()) return done;
  }
  return hearth::Status::Ok();
}

// The same frame by way of the host.
hearth::Result<Answer> CopiedAnswer(const std::string& model, const examples::Nv12Frame& seen,
                                    const hearth::SessionOptions& options) {
  auto session = hearth::Session::Open(model, options);
  if (!session.ok()) return session.status();
  hearth::Frame frame = FrameOf(seen);
  frame.planes[0] = {.handle = reinterpret_cast<uint64_t>(seen.bytes.data()), .size_bytes = seen.bytes.size()};
  hearth::Status status = session->BindFrame(session->inputs()[0].name, frame);
  if (status.ok()) status = session->Run();
  if (!status.ok()) return status;
  return AnswerOf(*session);
}

int Run(const char* model, const examples::Picture& picture, const std::vector<std::string>& labels, bool check) {
  examples::Camera camera;
  if (const std::string reason = camera.Open(); !reason.empty()) {
    std::fprintf(stderr, "%s\n", reason.c_str());
    return examples::kSkipped;
  }
  const examples::Nv12Frame seen = examples::SeenSideways(picture, kMargin);
  const cl_mem buffers[2] = {camera.MakeBuffer(seen.bytes.size()), camera.MakeBuffer(seen.bytes.size())};
  if (buffers[0] == nullptr || buffers[1] == nullptr) return 1;
  hearth::SessionOptions options;
  // Without the camera's queue the session works on its own one: events alone order the two.
  options.shared = hearth::OpenClContext{camera.context(), camera.device()};
  options.model.top_k = kTop;
  auto session = hearth::Session::Open(model, options);
  if (!session.ok()) return Fail("opening the session", session.status());
  if (session->outputs().size() != 2) {
    std::fprintf(stderr, "%s is no classifier of more than %d classes\n", model, kTop);
    return 1;
  }
  if (const hearth::Status done = ClassifyFrames(*session, camera, seen, buffers); !done.ok())
    return Fail("a frame", done);
  const auto& transfers = session->report().transfers;
  std::printf("%d frames of %dx%d; of the last one %llu bytes to the device, %llu bytes to the host\n", kFrames,
              seen.width, seen.height, static_cast<unsigned long long>(transfers.to_device_bytes),
              static_cast<unsigned long long>(transfers.to_host_bytes));
  const auto answer = AnswerOf(*session);
  if (!answer.ok()) return Fail("the answer", answer.status());
  for (int k = 0; k < kTop; ++k) {
    const auto index = static_cast<size_t>(answer->classes[k]);
    std::printf("%.2f %s\n", answer->scores[k], index < labels.size() ? labels[index].c_str() : "");
  }
  if (transfers.to_device_bytes != 0 || transfers.to_host_bytes > kMostAnswerBytes) return 1;
  if (!check) return 0;
  const auto copied = CopiedAnswer(model, seen, options);
  if (!copied.ok()) return Fail("the copying way", copied.status());
  const bool is_same = std::memcmp(&*answer, &*copied, sizeof(Answer)) == 0;
  std::printf("the copying way gives %s\n", is_same ? "the same bits" : "another answer");
  return is_same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: zero_copy_opencl model.tflite picture labels.txt [--check]\n");
    return 2;
  }
  examples::Picture picture;
  if (const int code = examples::LoadPicture(argv[2], argv[1], picture); code != 0) return code;
  std::vector<std::string> labels;
  std::ifstream file(argv[3]);
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  return Run(argv[1], picture, labels, argc > 4 && std::strcmp(argv[4], "--check") == 0);
}
