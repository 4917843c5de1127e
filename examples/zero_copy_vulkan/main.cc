// Segments pictures in VkBuffers, or VkImages, of the program's own device: the session works on the program's queue,
// and timeline semaphores order the two.
//
//   zero_copy_vulkan deeplabv3_257_mv_gpu.tflite picture.jpg result.png [--images] [--check]
//
// Two buffers, or images, take turns as the input (rgba8, as a camera delivers it), so that the next frame is prepared
// while one is segmented. Buffers have the model's size; images are larger, and a part is cut out. Nothing is read back
// between frames; at the end the scores of the last one are looked at, and its mask is written as a PNG. With --check
// it is compared with that of a session that is given, and gives back, host memory.
#include <cstdio>
#include <cstring>

#include "hearth/hearth.h"
#include "segmentation_picture.h"
#include "zero_copy_vulkan/vulkan_device.h"

namespace {

constexpr int kFrames = 4;
constexpr int kSize = 257;
constexpr int kMargin = 40;  // of an image, around what the model sees
constexpr int kImageSize = kSize + 2 * kMargin;
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

// Where the program puts its pictures: a buffer as an input of the model's own size, or the middle of an image as a
// frame.
class InputPicture {
 public:
  // False where there is no memory of that kind.
  bool Make(examples::VulkanDevice& device, bool as_image) {
    if (as_image) image_ = device.MakeImage(kImageSize, kImageSize);
    if (!as_image) buffer_ = device.MakeBuffer(kPictureBytes);
    return image_.image != VK_NULL_HANDLE || buffer_.buffer != VK_NULL_HANDLE;
  }

  void Write(const examples::Picture& picture) const {
    const size_t row_bytes = size_t{kSize} * 4;
    const bool is_image = image_.pixels != nullptr;
    const uint64_t pitch_bytes = is_image ? image_.row_pitch_bytes : row_bytes;
    std::byte* const rows = is_image ? image_.pixels + kMargin * (pitch_bytes + 4)  // the margin stays as it is
                                     : static_cast<std::byte*>(buffer_.address);
    for (size_t y = 0; y < kSize; ++y) std::memcpy(rows + y * pitch_bytes, &picture.rgba[y * row_bytes], row_bytes);
  }

  hearth::Status Bind(hearth::Session& session) const {
    const std::string& name = session.inputs()[0].name;
    if (image_.image != VK_NULL_HANDLE) {
      // A part of another size would be resized, and could be turned and mirrored.
      return session.BindFrame(name, {.memory = hearth::MemoryKind::kVulkanImage,
                                      .format = hearth::PixelFormat::kRgba8,
                                      .width = kImageSize,
                                      .height = kImageSize,
                                      .planes = {{{.handle = reinterpret_cast<uint64_t>(image_.image)}}},
                                      .crop = {kMargin, kMargin, kSize, kSize},
                                      .mean = {127.5f, 127.5f, 127.5f},
                                      .scale = {1 / 127.5f, 1 / 127.5f, 1 / 127.5f},
                                      .image_layout = VK_IMAGE_LAYOUT_GENERAL});
    }
    return session.BindInput(name, {.memory = hearth::MemoryKind::kVulkanBuffer,
                                    .handle = reinterpret_cast<uint64_t>(buffer_.buffer),
                                    .size_bytes = kPictureBytes,
                                    .format = hearth::ElementFormat::kRgba8,
                                    .scale = {2, 2, 2, 2},
                                    .offset = {-1, -1, -1, -1}});
  }

 private:
  examples::MappedBuffer buffer_;
  examples::MappedImage image_;
};

hearth::Result<hearth::Ticket> SubmitFrame(hearth::Session& session, const FrameClock& clock, const InputPicture& input,
                                           uint64_t frame) {
  const hearth::Status bound = input.Bind(session);
  if (!bound.ok()) return bound;
  return session.Submit({.wait_for = {{reinterpret_cast<uint64_t>(clock.ready), frame}},
                         .signal = {{reinterpret_cast<uint64_t>(clock.done), frame}}});
}

// All frames; the scores of the last one are there then.
hearth::Status SegmentFrames(hearth::Session& session, examples::VulkanDevice& device, const FrameClock& clock,
                             const InputPicture (&inputs)[2], const examples::Picture& picture) {
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
    inputs[frame % 2].Write(Shifted(picture, kFrames - frame));
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

struct Flags {
  bool check = false, images = false;
};

int Run(const char* model, const examples::Picture& picture, const char* result_path, const Flags& flags) {
  examples::VulkanDevice device;
  if (const std::string reason = device.Open(); !reason.empty()) {
    std::fprintf(stderr, "%s\n", reason.c_str());
    return examples::kSkipped;
  }
  InputPicture inputs[2];
  if (!inputs[0].Make(device, flags.images) || !inputs[1].Make(device, flags.images)) {
    std::fprintf(stderr, "the driver has no %s that the host writes\n", flags.images ? "images" : "buffers");
    return examples::kSkipped;
  }
  const examples::MappedBuffer scores = device.MakeBuffer(kScoresBytes);
  const FrameClock clock{device.MakeTimeline(), device.MakeTimeline()};
  if (scores.buffer == VK_NULL_HANDLE || clock.done == VK_NULL_HANDLE) return 1;
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
  if (!flags.check) return 0;
  const auto copied = CopiedPicture(model, picture);
  if (!copied.ok()) return Fail("the copying way", copied.status());
  const double different = examples::DifferentShare(shown, *copied);
  std::printf("%.3f %% of the pixels differ from the copying way's\n", different * 100);
  return different <= 0.001 ? 0 : 1;  // pixels whose two best classes score the same to the last digits
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: zero_copy_vulkan model.tflite picture result.png [--images] [--check]\n");
    return 2;
  }
  examples::Picture picture;
  if (const int code = examples::LoadPicture(argv[2], argv[1], picture); code != 0) return code;
  Flags flags;
  for (int k = 4; k < argc; ++k) {
    if (std::strcmp(argv[k], "--check") == 0) flags.check = true;
    if (std::strcmp(argv[k], "--images") == 0) flags.images = true;
  }
  return Run(argv[1], examples::Resized(picture, kSize, kSize), argv[3], flags);
}
