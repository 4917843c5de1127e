// Segments pictures in VkBuffers of the program's own device: the session works on the program's queue, and
// timeline semaphores order the two.
//
//   zero_copy_vulkan deeplabv3_257_mv_gpu.tflite picture.jpg result.png [--check]
//
// Two buffers take turns as the input (rgba8, as a camera delivers it), so that the next frame is prepared while one is
// segmented. Nothing is read back between frames; at the end the scores of the last one are looked at, and its mask is
// written as a PNG. With --check it is compared with that of a session that is given, and gives back, host memory.
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "hearth/hearth.h"
#include "segmentation_picture.h"
#include "zero_copy_vulkan/vulkan_device.h"

namespace {

constexpr int kFrames = 4;
constexpr int kSize = 257;
constexpr uint64_t kPictureBytes = uint64_t{kSize} * kSize * 4;
constexpr uint64_t kScoresBytes = uint64_t{kSize} * kSize * examples::kClasses * 4;

int Fail(const char* what, const hearth::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  return status.code() == hearth::StatusCode::kUnavailable ? examples::kSkipped : 1;
}

// The picture moved to the right by some columns: stands for what a camera sees.
examples::Picture Shifted(const examples::Picture& picture, int columns) {
  examples::Picture shifted = picture;
  const size_t row_bytes = static_cast<size_t>(picture.width) * 4, shift_bytes = static_cast<size_t>(columns) * 4;
  for (int y = 0; y < picture.height; ++y) {
    std::memcpy(&shifted.rgba[y * row_bytes + shift_bytes], &picture.rgba[y * row_bytes], row_bytes - shift_bytes);
  }
  return shifted;
}

// Frame k is in its buffer when `ready` is k, and segmented when `done` is. Two, since values must grow: the next frame
// may be ready before this one is done.
struct FrameClock {
  VkSemaphore ready, done;
};

hearth::Result<hearth::Ticket> SubmitFrame(hearth::Session& session, const FrameClock& clock,
                                           const examples::MappedBuffer& input, uint64_t frame) {
  const hearth::Status bound =
      session.BindInput(session.inputs()[0].name, {.memory = hearth::MemoryKind::kVulkanBuffer,
                                                   .handle = reinterpret_cast<uint64_t>(input.buffer),
                                                   .size_bytes = kPictureBytes,
                                                   .format = hearth::ElementFormat::kRgba8,
                                                   .scale = {2, 2, 2, 2},
                                                   .offset = {-1, -1, -1, -1}});
  if (!bound.ok()) return bound;
  return session.Submit({.wait_for = {{reinterpret_cast<uint64_t>(clock.ready), frame}},
                         .signal = {{reinterpret_cast<uint64_t>(clock.done), frame}}});
}

// All frames; the scores of the last one are there then.
hearth::Status SegmentFrames(hearth::Session& session, examples::VulkanDevice& device, const FrameClock& clock,
                             const examples::MappedBuffer (&inputs)[2], const examples::Picture& picture) {
  hearth::Ticket tickets[kFrames + 1];
  for (int frame = 1; frame <= kFrames; ++frame) {
    // Both buffers are full: the older frame's must be done with.
    if (frame > 2) {
      hearth::Status done = session.Wait(tickets[frame - 2]);
      if (!done.ok()) return done;
    }
    const auto ticket = SubmitFrame(session, clock, inputs[frame % 2], static_cast<uint64_t>(frame));
    if (!ticket.ok()) return ticket.status();
    tickets[frame] = *ticket;
    // The run is waiting on the device already.
    const examples::Picture seen = Shifted(picture, kFrames - frame);
    std::memcpy(inputs[frame % 2].address, seen.rgba.data(), kPictureBytes);
    device.Signal(clock.ready, static_cast<uint64_t>(frame));
  }
  device.Wait(clock.done, kFrames);
  for (int frame : {kFrames - 1, kFrames}) {
    hearth::Status done = session.Wait(tickets[frame]);
    if (!done.ok()) return done;
  }
  return hearth::Status::Ok();
}

// The same picture by way of the host.
hearth::Result<examples::Picture> CopiedPicture(const std::string& model, const examples::Picture& frame) {
  auto session = hearth::Session::Open(model, {.device = "vulkan"});
  if (!session.ok()) return session.status();
  const std::vector<float> input = examples::ModelInput(frame);
  hearth::Status status = session->SetInput(0, std::as_bytes(std::span(input)));
  if (status.ok()) status = session->Run();
  if (!status.ok()) return status;
  std::vector<float> scores(session->output(0).size() / sizeof(float));
  std::memcpy(scores.data(), session->output(0).data(), session->output(0).size());
  return examples::WithMask(frame, scores);
}

int Run(const char* model, const examples::Picture& picture, const char* result_path, bool check) {
  examples::VulkanDevice device;
  if (const std::string reason = device.Open(); !reason.empty()) {
    std::fprintf(stderr, "%s\n", reason.c_str());
    return examples::kSkipped;
  }
  const examples::MappedBuffer inputs[2] = {device.MakeBuffer(kPictureBytes), device.MakeBuffer(kPictureBytes)};
  const examples::MappedBuffer scores = device.MakeBuffer(kScoresBytes);
  const FrameClock clock{device.MakeTimeline(), device.MakeTimeline()};
  if (inputs[1].buffer == VK_NULL_HANDLE || scores.buffer == VK_NULL_HANDLE || clock.done == VK_NULL_HANDLE) return 1;
  hearth::SessionOptions options;
  options.shared = hearth::VulkanContext{device.instance(), device.physical(), device.device(), device.queue(),
                                         device.queue_family()};
  auto session = hearth::Session::Open(model, options);
  if (!session.ok()) return Fail("opening the session", session.status());
  const hearth::Status bound =
      session->BindOutput(session->outputs()[0].name, {.memory = hearth::MemoryKind::kVulkanBuffer,
                                                       .handle = reinterpret_cast<uint64_t>(scores.buffer),
                                                       .size_bytes = kScoresBytes});
  if (!bound.ok()) return Fail("lending the output's buffer", bound);
  if (const hearth::Status done = SegmentFrames(*session, device, clock, inputs, picture); !done.ok())
    return Fail("a frame", done);
  const auto& transfers = session->report().transfers;
  std::printf("%d frames; of the last one %llu bytes to the device, %llu bytes to the host\n", kFrames,
              static_cast<unsigned long long>(transfers.to_device_bytes),
              static_cast<unsigned long long>(transfers.to_host_bytes));
  if (transfers.to_device_bytes + transfers.to_host_bytes != 0) return 1;

  const examples::Picture shown =
      examples::WithMask(picture, {static_cast<const float*>(scores.address), kScoresBytes / sizeof(float)});
  if (!examples::SavePng(shown, result_path)) return 1;
  if (!check) return 0;
  const auto copied = CopiedPicture(model, picture);
  if (!copied.ok()) return Fail("the copying way", copied.status());
  const double different = examples::DifferentShare(shown, *copied);
  std::printf("%.3f %% of the pixels differ from the copying way's\n", different * 100);
  return different <= 0.001 ? 0 : 1;  // pixels whose two best classes score the same to the last digits
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: zero_copy_vulkan model.tflite picture result.png [--check]\n");
    return 2;
  }
  if (!std::filesystem::exists(argv[1])) {
    std::fprintf(stderr, "there is no model %s\n", argv[1]);
    return examples::kSkipped;
  }
  const auto picture = examples::LoadPicture(argv[2]);
  if (!picture) {
    std::fprintf(stderr, "%s is not a picture\n", argv[2]);
    return 1;
  }
  return Run(argv[1], examples::Resized(*picture, kSize, kSize), argv[3],
             argc > 4 && std::strcmp(argv[4], "--check") == 0);
}
