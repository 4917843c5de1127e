// Frames in dma-bufs and AHardwareBuffers: on every device the bits of the same frame in host memory.
#include "hal/io/external_frame.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "hal/io/hardware_buffer.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/pictures.h"
#include "tests/testing/shared_memory.h"

// What the test's functions AHardwareBuffer_* work on.
struct AHardwareBuffer {
  hearth::HardwareBufferDesc desc{};
  std::vector<std::byte> bytes;
  hearth::HardwareBufferPlanes planes{};
  int references = 0, locks = 0, lock_error = 0;
};

namespace hearth {
namespace {

using ::testing::HasSubstr;
using testing::SharedMemory;
using testing::TestPicture;

constexpr int32_t kTensorRows = 9, kTensorColumns = 12, kExternalPictureWidth = 37, kExternalPictureHeight = 25;

std::vector<std::byte> OutputOf(Session& session) {
  return {session.output(0).begin(), session.output(0).end()};
}

class ExternalFrames : public testing::SessionsOnDevice {
 protected:
  std::vector<std::byte> AnswerTo(Session& session, const Frame& frame) {
    for (const Status& status : {session.BindFrame("x", frame), session.Run()})
      EXPECT_TRUE(status.ok()) << status.message();
    return OutputOf(session);
  }
  // Either the device reads the memory itself, or the report says that the host does.
  static void ExpectImportedOrSaid(const Session& session) {
    const bool is_said = std::ranges::any_of(session.report().warnings, [](const std::string& warning) {
      return warning.find("the host reads the frame's memory") != std::string::npos;
    });
    const bool has_device = GetParam() != "cpu";
    const char* must_import = std::getenv("HEARTH_TEST_IMPORTS_DMA_BUF");
    if (must_import != nullptr && GetParam() == must_import) {
      EXPECT_FALSE(is_said) << ::testing::PrintToString(session.report().warnings);
      EXPECT_EQ(session.report().transfers.to_device_bytes, 0u);
    } else if (has_device) {
      EXPECT_NE(is_said, session.report().transfers.to_device_bytes == 0)
          << ::testing::PrintToString(session.report().warnings);
    }
  }
  const Model model_ = testing::NegationModel({1, kTensorRows, kTensorColumns, 3});
};

Frame InMemory(Frame frame, const SharedMemory& memory) {
  frame.memory = MemoryKind::kDmaBuf;
  frame.planes[0].handle = memory.descriptor();
  frame.planes[0].size_bytes = 0;
  return frame;
}

TEST_P(ExternalFrames, InOneDmaBufGiveTheHostsBitsInEveryFormat) {
  options_.simulate = GetParam() == "cpu" ? "" : "navi21";  // so that bytes are counted
  Session on_host = Opened(model_);
  for (const PixelFormat format : testing::kPixelFormats) {
    Session session = Opened(model_);
    const TestPicture picture(format, kExternalPictureWidth, kExternalPictureHeight, 3, 8, true);
    const SharedMemory memory(picture.memory(0));
    Frame frame = picture.frame();
    frame.mean = {10, 20, 30, 0};
    for (frame.rotation = 0; frame.rotation < 360; frame.rotation += 90) {
      frame.crop = frame.rotation == 90 ? PixelRectangle{3, 2, 19, 13} : PixelRectangle{};
      ASSERT_EQ(AnswerTo(session, InMemory(frame, memory)), AnswerTo(on_host, frame))
          << testing::NameOf(format) << " turned by " << frame.rotation;
    }
    ExpectImportedOrSaid(session);
  }
}

TEST_P(ExternalFrames, MayHaveADmaBufForEachPlaneOrOneDescriptorEach) {
  Session session = Opened(model_), on_host = Opened(model_);
  for (const PixelFormat format : {PixelFormat::kNv12, PixelFormat::kI420}) {
    const TestPicture apart(format, kExternalPictureWidth, kExternalPictureHeight, 4),
        joint(format, kExternalPictureWidth, kExternalPictureHeight, 4, 0, true);
    std::vector<std::unique_ptr<SharedMemory>> memories;
    Frame frame = apart.frame();
    frame.memory = MemoryKind::kDmaBuf;
    for (size_t k = 0; k < 3 && frame.planes[k].handle != 0; ++k) {
      memories.push_back(std::make_unique<SharedMemory>(apart.memory(k)));
      frame.planes[k].handle = memories[k]->descriptor();
    }
    EXPECT_EQ(AnswerTo(session, frame), AnswerTo(on_host, apart.frame())) << testing::NameOf(format);

    const SharedMemory memory(joint.memory(0));
    const int second = ::dup(static_cast<int>(memory.descriptor()));
    Frame twice = InMemory(joint.frame(), memory);
    twice.planes[1].handle = static_cast<uint64_t>(second);
    EXPECT_EQ(AnswerTo(session, twice), AnswerTo(on_host, joint.frame())) << testing::NameOf(format);
    ::close(second);
  }
}

TEST_P(ExternalFrames, AreReadByEachRunAfterTheCallerClosedItsDescriptor) {
  Session session = Opened(model_), on_host = Opened(model_);
  const TestPicture first(PixelFormat::kNv12, kExternalPictureWidth, kExternalPictureHeight, 1, 4, true),
      second(PixelFormat::kNv12, kExternalPictureWidth, kExternalPictureHeight, 2, 4, true);
  SharedMemory memory(first.memory(0));
  const int other = ::dup(static_cast<int>(memory.descriptor()));
  ASSERT_EQ(AnswerTo(session, InMemory(first.frame(), memory)), AnswerTo(on_host, first.frame()));
  memory.Write(second.memory(0));
  memory.Close();
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(session.Run().ok());
    EXPECT_EQ(OutputOf(session), AnswerTo(on_host, second.frame()));
  }
  const std::span<const std::byte> again = first.memory(0);
  ASSERT_EQ(::pwrite(other, again.data(), again.size(), 0), static_cast<ssize_t>(again.size()));
  const Result<Ticket> ticket = session.Submit();
  ASSERT_TRUE(ticket.ok() && session.Wait(*ticket).ok());
  EXPECT_EQ(OutputOf(session), AnswerTo(on_host, first.frame()));
  ::close(other);
}

TEST_P(ExternalFrames, LeaveNoDescriptorOpenAndIgnorePlanesThatTheFormatLacks) {
  Session session = Opened(model_), on_host = Opened(model_);
  const TestPicture picture(PixelFormat::kNv12, kExternalPictureWidth, kExternalPictureHeight, 5, 1, true);
  const SharedMemory memory(picture.memory(0));
  Frame frame = InMemory(picture.frame(), memory);
  frame.planes[2].handle = 12345;
  ASSERT_EQ(AnswerTo(session, frame), AnswerTo(on_host, picture.frame()));
  ASSERT_TRUE(session.UnbindInput("x").ok());
  const size_t before = SharedMemory::CountOpen();
  for (int k = 0; k < 3; ++k) AnswerTo(session, frame);
  ASSERT_TRUE(session.UnbindInput("x").ok());
  EXPECT_EQ(SharedMemory::CountOpen(), before);
}

TEST_P(ExternalFrames, OfOddSizesAndOffsetsAreReadByTheHost) {
  Session session = Opened(model_), on_host = Opened(model_);
  const TestPicture picture(PixelFormat::kRgba8, kExternalPictureWidth, kExternalPictureHeight, 6);
  std::vector<std::byte> shifted(1);
  shifted.insert(shifted.end(), picture.memory(0).begin(), picture.memory(0).end());
  const SharedMemory memory(shifted);
  Frame frame = InMemory(picture.frame(), memory);
  frame.planes[0].offset_bytes = 1;
  EXPECT_EQ(AnswerTo(session, frame), AnswerTo(on_host, picture.frame()));
}

struct Damage {
  const char* what;
  void (*make)(Frame& frame);
  const char* message;
};

TEST_P(ExternalFrames, ThatAreDamagedAreErrorsAndLeaveTheOneBefore) {
  Session session = Opened(model_);
  const TestPicture picture(PixelFormat::kNv12, kExternalPictureWidth, kExternalPictureHeight, 7, 0, true);
  const SharedMemory memory(picture.memory(0));
  const Frame right = InMemory(picture.frame(), memory);
  const std::vector<std::byte> answer = AnswerTo(session, right);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  static uint64_t pipe_end = 0, folder = 0;
  pipe_end = static_cast<uint64_t>(ends[0]);
  folder = static_cast<uint64_t>(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Damage damages[] = {
      {"no memory", [](Frame& f) { f.planes[0].handle = 0; }, "no memory"},
      {"a closed descriptor", [](Frame& f) { f.planes[0].handle = 987654; }, "987654 is no open file descriptor"},
      {"a number too large", [](Frame& f) { f.planes[0].handle = UINT64_MAX; }, "is no open file descriptor"},
      {"a pipe", [](Frame& f) { f.planes[0].handle = pipe_end; }, "of no memory"},
      {"a folder", [](Frame& f) { f.planes[1].handle = folder; }, "plane 1: the file descriptor is that of no memory"},
      {"a size too large", [](Frame& f) { f.planes[0].size_bytes = 1 << 20; }, "the frame says 1048576"},
      {"a picture too large", [](Frame& f) { f.height = 4000; }, "don't fit"},
      {"an offset that overflows", [](Frame& f) { f.planes[1].offset_bytes = UINT64_MAX; }, "don't fit"},
      {"a pitch that overflows", [](Frame& f) { f.planes[0].row_pitch_bytes = UINT64_MAX - 3; }, "don't fit"},
      {"a pitch below a row", [](Frame& f) { f.planes[1].row_pitch_bytes = 8; }, "plane 1: a row takes 38 bytes"},
      {"no format", [](Frame& f) { f.format = static_cast<PixelFormat>(77); }, "format"},
      {"an unknown modifier", [](Frame& f) { f.drm_modifier = 0x00ffffffffffffff; }, "DRM_FORMAT_MOD_INVALID"},
      {"odd planes in tiles", [](Frame& f) { f.drm_modifier = 0x0100000000000001; }, "even width and height"},
      {"tiles that no driver here reads",
       [](Frame& f) {
         f.drm_modifier = 0x0100000000000001;
         f.format = PixelFormat::kBgra8;
       },
       "the host can't read a dma-buf with the modifier 0x100000000000001"},
      {"more planes than the format has",
       [](Frame& f) {
         f.planes[2].handle = 4;
         f.planes[0].row_pitch_bytes = 1;
       },
       "plane 0: a row takes 37 bytes"},
      {"a second plane of tiles behind the end",
       [](Frame& f) {
         f.drm_modifier = 0x0100000000000001;
         f.planes[1].offset_bytes = UINT64_MAX;
       },
       "plane 1: the offset (18446744073709551615)"},
      {"tiles behind the end",
       [](Frame& f) {
         f.drm_modifier = 0x0100000000000001;
         f.planes[0].offset_bytes = 1 << 20;
       },
       "is not inside the dma-buf"},
  };
  for (const Damage& damage : damages) {
    Frame frame = right;
    damage.make(frame);
    const Status refused = session.BindFrame("x", frame);
    EXPECT_THAT(refused.message(), HasSubstr(damage.message)) << damage.what;
    EXPECT_THAT(refused.message(), HasSubstr("'x': ")) << damage.what;
    ASSERT_TRUE(session.Run().ok()) << damage.what;
    EXPECT_EQ(OutputOf(session), answer) << damage.what;
  }
  ::close(ends[0]);
  ::close(ends[1]);
  ::close(static_cast<int>(folder));
  EXPECT_EQ(
      session.BindInput("x", {.memory = MemoryKind::kDmaBuf, .handle = memory.descriptor(), .size_bytes = 4096}).code(),
      StatusCode::kUnsupported);
}

TEST_P(ExternalFrames, WhoseMemoryBecameSmallerAreErrors) {
  Session session = Opened(model_);
  const TestPicture picture(PixelFormat::kRgba8, kExternalPictureWidth, kExternalPictureHeight, 8);
  const SharedMemory memory(picture.memory(0));
  AnswerTo(session, InMemory(picture.frame(), memory));
  memory.Shrink();
  EXPECT_THAT(session.Run().message(), HasSubstr("and has 1 now"));
  EXPECT_THAT(session.Submit().status().message(), HasSubstr("'x': "));
}

// Functions of an Android that lies in this process.
class HardwareBuffers : public ExternalFrames {
 protected:
  void SetUp() override {
    ExternalFrames::SetUp();
    if (IsSkipped()) return;
    HardwareBufferApi& api = TheHardwareBufferApi();
    before_ = api;
    api.acquire = [](AHardwareBuffer* buffer) { ++buffer->references; };
    api.release = [](AHardwareBuffer* buffer) { --buffer->references; };
    api.describe = [](const AHardwareBuffer* buffer, HardwareBufferDesc* desc) { *desc = buffer->desc; };
    api.lock = [](AHardwareBuffer* buffer, uint64_t, int32_t, const void*, void** address) {
      *address = buffer->bytes.data();
      buffer->locks += buffer->lock_error == 0 ? 1 : 0;
      return buffer->lock_error;
    };
    api.lock_planes = [](AHardwareBuffer* buffer, uint64_t, int32_t, const void*, HardwareBufferPlanes* planes) {
      *planes = buffer->planes;
      buffer->locks += buffer->lock_error == 0 ? 1 : 0;
      return buffer->lock_error;
    };
    api.unlock = [](AHardwareBuffer* buffer, int32_t*) { return --buffer->locks; };
  }
  void TearDown() override {
    if (!IsSkipped()) TheHardwareBufferApi() = before_;
  }

  // The buffer of a picture whose planes lie in one memory, and the frame that names it.
  static Frame In(AHardwareBuffer& buffer, const TestPicture& picture) {
    const Frame host = picture.frame();
    const bool is_yuv = host.format >= PixelFormat::kNv12;
    buffer.bytes = picture.memory(0);
    buffer.desc = {kExternalPictureWidth, kExternalPictureHeight, 1,
                   is_yuv                              ? 0x23u
                   : host.format == PixelFormat::kRgb8 ? 3u
                                                       : 1u,
                   3};
    buffer.desc.stride =
        static_cast<uint32_t>(host.planes[0].row_pitch_bytes / (host.format == PixelFormat::kRgb8 ? 3 : 4));
    const auto place = [&](size_t k, size_t plane, uint64_t more, uint32_t step) {
      buffer.planes.planes[k] = {buffer.bytes.data() + host.planes[plane].offset_bytes + more, step,
                                 static_cast<uint32_t>(host.planes[plane].row_pitch_bytes)};
    };
    if (is_yuv) {
      const bool is_i420 = host.format == PixelFormat::kI420;
      buffer.planes.count = 3;
      place(0, 0, 0, 1);
      place(1, 1, host.format == PixelFormat::kNv21 ? 1 : 0, is_i420 ? 1 : 2);
      place(2, is_i420 ? 2 : 1, host.format == PixelFormat::kNv12 ? 1 : 0, is_i420 ? 1 : 2);
    }
    Frame frame = host;
    frame.memory = MemoryKind::kAndroidHardwareBuffer;
    if (is_yuv) frame.format = PixelFormat::kNv12;  // the buffer knows better
    frame.planes = {};
    frame.planes[0].handle = reinterpret_cast<uintptr_t>(&buffer);
    return frame;
  }

 private:
  HardwareBufferApi before_;
};

TEST_P(HardwareBuffers, GiveTheHostsBitsAndAreLockedOnlyWhileTheyAreRead) {
  Session on_host = Opened(model_);
  for (const PixelFormat format :
       {PixelFormat::kRgba8, PixelFormat::kRgb8, PixelFormat::kNv12, PixelFormat::kNv21, PixelFormat::kI420}) {
    AHardwareBuffer buffer;
    {
      Session session = Opened(model_);
      const TestPicture picture(format, kExternalPictureWidth, kExternalPictureHeight, 9, 12, true);
      Frame frame = In(buffer, picture), host = picture.frame();
      frame.rotation = host.rotation = 90;
      EXPECT_EQ(AnswerTo(session, frame), AnswerTo(on_host, host)) << testing::NameOf(format);
      EXPECT_EQ(buffer.locks, 0);
      buffer.lock_error = -22;
      EXPECT_THAT(session.Run().message(), HasSubstr("CPU_READ_OFTEN"));
      EXPECT_THAT(session.BindFrame("x", frame).message(), HasSubstr("can't lock the AHardwareBuffer (error -22)"));
      EXPECT_EQ(buffer.references, 1);
    }
    EXPECT_EQ(buffer.references, 0);
    EXPECT_EQ(buffer.locks, 0);
  }
}

TEST_P(HardwareBuffers, OfAnotherSizeOrFormatAreRefused) {
  Session session = Opened(model_);
  AHardwareBuffer buffer;
  const TestPicture picture(PixelFormat::kNv12, kExternalPictureWidth, kExternalPictureHeight, 9, 12, true);
  const Frame frame = In(buffer, picture);
  Frame wider = frame;
  wider.width = kExternalPictureWidth + 1;
  EXPECT_THAT(session.BindFrame("x", wider).message(), HasSubstr("is 37x25, but the frame says 38x25"));
  Frame rgba = frame;
  rgba.format = PixelFormat::kRgba8;
  EXPECT_THAT(session.BindFrame("x", rgba).message(), HasSubstr("has the format 0x23, which is not the frame's"));
  buffer.planes.planes[2].data = buffer.bytes.data();
  EXPECT_THAT(session.BindFrame("x", frame).message(), HasSubstr("2 bytes apart, which no format has"));
  EXPECT_EQ(buffer.references, 0);
  TheHardwareBufferApi() = {};
  EXPECT_THAT(session.BindFrame("x", frame).message(), HasSubstr("this system has no AHardwareBuffer"));
}

INSTANTIATE_TEST_SUITE_P(Devices, ExternalFrames, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Devices, HardwareBuffers, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
