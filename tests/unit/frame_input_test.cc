// Inputs that are bound to pictures, on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/numbers.h"
#include "hal/io/transfers.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/pictures.h"
#include "tests/testing/temporary_folder.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using testing::ExpectedValues;
using ::testing::HasSubstr;
using testing::kPixelFormats;
using testing::TestPicture;

constexpr int32_t kFrameHeight = 11, kFrameWidth = 14;

Model Negated(int32_t height = kFrameHeight, int32_t width = kFrameWidth, int32_t channels = 3) {
  return testing::NegationModel({1, height, width, channels});
}

// y = max(x, 0) of 8 bits.
Result<Model> ByteModel(wire::TensorType type, float scale, int64_t zero_point,
                        const std::vector<int32_t>& shape = {1, kFrameHeight, kFrameWidth, 3}) {
  TfliteWriter writer;
  const WrittenQuantization grid{{scale}, {zero_point}};
  const int32_t x = writer.AddTensor({"x", shape, type, grid});
  const int32_t y = writer.AddTensor({"y", shape, type, grid});
  writer.AddOperator(kRelu, {x}, {y});
  return Model::FromMemory(writer.Finish({x}, {y}), "bytes");
}

std::vector<float> FirstOutput(const Session& session) {
  const Result<std::span<const float>> floats = session.output<float>(0);
  EXPECT_TRUE(floats.ok()) << floats.status().message();
  return floats.ok() ? std::vector<float>(floats->begin(), floats->end()) : std::vector<float>();
}

std::vector<float> Negatives(const Frame& frame, int32_t height, int32_t width, int32_t channels = 3) {
  std::vector<float> values = ExpectedValues(frame, height, width, channels);
  for (size_t k = 0; k < values.size(); ++k) {
    const size_t c = k % static_cast<size_t>(channels);
    values[k] = -((values[k] - frame.mean[c]) * frame.scale[c]);
  }
  return values;
}

class FrameInputs : public testing::SessionsOnDevice {
 protected:
  void Run(Session& session, const Frame& frame) {
    for (const Status& status : {session.BindFrame("x", frame), session.Run()})
      ASSERT_TRUE(status.ok()) << status.message();
  }
  Session Discrete(const Model& model) {
    options_.simulate = GetParam() == "cpu" ? "" : "navi21";
    Session session = Opened(model);
    options_.simulate.clear();
    return session;
  }
};

// [1, channels, height, width], as ONNX's networks take pictures.
TEST_P(FrameInputs, GiveAPlanarTensorTheSameNumbers) {
  for (const int32_t channels : {1, 3, 4}) {
    const Model pixels = Negated(kFrameHeight, kFrameWidth, channels);
    const Model planar = testing::NegationModel({1, channels, kFrameHeight, kFrameWidth});
    Session of_pixels = Opened(pixels), of_planes = Opened(planar), discrete = Discrete(planar);
    for (const PixelFormat format : {PixelFormat::kRgba8, PixelFormat::kRgb8, PixelFormat::kNv12}) {
      const TestPicture picture(format, 37, 25, 7, 3, true);
      Frame frame = picture.frame();
      frame.mean = {127.5f, 100, 3, 0};
      frame.scale = {1 / 127.5f, 0.1f, -2, 1};
      frame.rotation = 90;
      Run(of_pixels, frame);
      const std::vector<float> expected = FirstOutput(of_pixels);
      for (Session* session : {&of_planes, &discrete}) {
        Run(*session, frame);
        const std::vector<float> seen = FirstOutput(*session);
        ASSERT_EQ(seen.size(), expected.size());
        const size_t plane = seen.size() / static_cast<size_t>(channels);
        size_t different = 0;
        for (size_t k = 0; k < seen.size(); ++k)
          different += seen[k] != expected[k % plane * static_cast<size_t>(channels) + k / plane];
        EXPECT_EQ(different, 0u) << channels << " channels";
      }
    }
  }
}

TEST_P(FrameInputs, GiveAPlanarTensorOf8BitsTheSameNumbers) {
  for (const bool raw_bytes : {true, false}) {
    const auto pixels = ByteModel(wire::TensorType_UINT8, 0.5f, 3);
    const auto planar = ByteModel(wire::TensorType_UINT8, 0.5f, 3, {1, 3, kFrameHeight, kFrameWidth});
    ASSERT_TRUE(pixels.ok() && planar.ok());
    Session of_pixels = Opened(*pixels), of_planes = Opened(*planar);
    const TestPicture picture(PixelFormat::kRgba8, 37, 25, 7, 3, true);
    Frame frame = picture.frame();
    frame.raw_bytes = raw_bytes;
    frame.scale = {0.3f, 0.2f, 0.4f, 1};
    Run(of_pixels, frame);
    Run(of_planes, frame);
    const auto expected = of_pixels.output(0), seen = of_planes.output(0);
    constexpr size_t kPlane = size_t{kFrameHeight} * kFrameWidth;
    ASSERT_EQ(seen.size(), expected.size());
    size_t different = 0;
    for (size_t k = 0; k < seen.size(); ++k) different += seen[k] != expected[k % kPlane * 3 + k / kPlane];
    EXPECT_EQ(different, 0u) << "raw bytes: " << raw_bytes;
  }
}

TEST_P(FrameInputs, GiveTheHostsBitsInEveryFormatTurnedAndFlipped) {
  const Model model = Negated();
  Session session = Opened(model);
  for (const PixelFormat format : kPixelFormats) {
    for (const auto& [width, height] : {std::pair(37, 25), std::pair(5, 3), std::pair(1, 1)}) {
      const TestPicture picture(format, width, height, 7, 3, true);
      Frame frame = picture.frame();
      frame.mean = {127.5f, 100, 3, 0};
      frame.scale = {1 / 127.5f, 0.1f, -2, 0};
      for (int turn = 0; turn < 16; ++turn) {
        frame.rotation = turn / 4 * 90;
        frame.flip_horizontally = turn % 2 != 0;
        frame.flip_vertically = turn / 2 % 2 != 0;
        Run(session, frame);
        ASSERT_EQ(FirstOutput(session), Negatives(frame, kFrameHeight, kFrameWidth))
            << testing::NameOf(format) << " " << width << "x" << height << ", turn " << turn;
      }
    }
  }
}

TEST_P(FrameInputs, OfOneAndFourChannelsAreGreyAndHaveAlpha) {
  for (const int32_t channels : {1, 4}) {
    const Model model = Negated(6, 5, channels);
    Session session = Discrete(model);
    for (const PixelFormat format : kPixelFormats) {
      const TestPicture picture(format, 16, 31, 8);
      Run(session, picture.frame());
      ASSERT_EQ(FirstOutput(session), Negatives(picture.frame(), 6, 5, channels)) << testing::NameOf(format);
    }
  }
}

TEST_P(FrameInputs, FollowACropThatMovesAndGrows) {
  const Model model = Negated();
  Session shared = Opened(model), discrete = Discrete(model);
  const TestPicture picture(PixelFormat::kNv12, 200, 150, 4);
  Frame frame = picture.frame();
  for (int k = 0; k < 12; ++k) {
    frame.crop = {k * 9 % 70, k * 7 % 50, 3 + k * 11, 1 + k * 8};
    for (Session* session : {&shared, &discrete}) {
      Run(*session, frame);
      ASSERT_EQ(FirstOutput(*session), Negatives(frame, kFrameHeight, kFrameWidth)) << "crop " << k;
    }
  }
}

TEST_P(FrameInputs, CrossTheBusWithoutWhatNobodyReads) {
  const Model model = Negated();
  Session session = Discrete(model);
  const TestPicture picture(PixelFormat::kRgba8, 640, 480, 4);
  for (int run = 0; run < 2; ++run) {
    Run(session, picture.frame());
    const uint64_t table_bytes = RoundUp((kFrameHeight + kFrameWidth) * 16, 256),
                   pixel_bytes = uint64_t{kFrameHeight} * kFrameWidth * 4 * 4;
    EXPECT_LE(session.report().transfers.to_device_bytes, GetParam() == "cpu" ? 0 : table_bytes + pixel_bytes);
  }
}

TEST_P(FrameInputs, Of8BitsTakeTheBytesThatTheCpuTakes) {
  for (const auto& [type, zero_point] :
       {std::pair(wire::TensorType_UINT8, 128), std::pair(wire::TensorType_INT8, -5)}) {
    const Result<Model> model = ByteModel(type, 0.0173f, zero_point);
    ASSERT_TRUE(model.ok()) << model.status().message();
    Session session = Discrete(*model), other = Opened(*model);
    const TestPicture picture(PixelFormat::kI420, 57, 43, 5);
    Frame frame = picture.frame();
    frame.mean = {120, 127.5f, 3, 0};
    frame.scale = {1 / 58.0f, 1 / 70.0f, 1 / 100.0f, 0};
    TensorDesc desc{
        type == wire::TensorType_INT8 ? DType::kInt8 : DType::kUInt8, {1, kFrameHeight, kFrameWidth, 3}, {}};
    desc.quantization = Quantization{{0.0173f}, {zero_point}, 0};
    for (const bool is_raw : {true, false}) {
      frame.raw_bytes = is_raw;
      std::vector<std::byte> dense(desc.size_bytes());
      const Result<FrameLayout> layout = LayoutOfFrame(frame, desc);
      ASSERT_TRUE(layout.ok()) << layout.status().message();
      ReadFrame(*layout, HostPlanes(frame), desc, dense);
      for (Session* each : {&session, &other}) {
        Run(*each, frame);
        const std::vector<std::byte> of_frame(each->output(0).begin(), each->output(0).end());
        ASSERT_TRUE(each->UnbindInput("x").ok() && each->SetInput(0, dense).ok() && each->Run().ok());
        EXPECT_TRUE(std::ranges::equal(of_frame, each->output(0))) << "raw " << is_raw;
      }
    }
  }
}

TEST_P(FrameInputs, OfRunsInFlightAreReadWhenTheRunIsSubmitted) {
  const Model model = Negated();
  options_.max_in_flight = 3;
  Session shared = Opened(model), discrete = Discrete(model);
  for (Session* session : {&shared, &discrete}) {
    std::vector<Ticket> tickets;
    std::vector<std::vector<float>> expected;
    for (uint32_t k = 0; k < 3; ++k) {
      // The second one needs more room and another kernel, the third one is turned.
      const TestPicture picture(k == 1 ? PixelFormat::kI420 : PixelFormat::kRgba8, k == 1 ? 90 : 9, 20, k);
      Frame frame = picture.frame();
      frame.rotation = k == 2 ? 90 : 0;
      ASSERT_TRUE(session->BindFrame("x", frame).ok());
      const Result<Ticket> ticket = session->Submit();
      ASSERT_TRUE(ticket.ok()) << ticket.status().message();
      tickets.push_back(*ticket);
      expected.push_back(Negatives(frame, kFrameHeight, kFrameWidth));
    }
    for (const size_t k : {1u, 2u, 0u}) {
      const Status waited = session->Wait(tickets[k]);
      ASSERT_TRUE(waited.ok()) << waited.message();
      EXPECT_EQ(FirstOutput(*session), expected[k]) << "run " << k;
    }
  }
}

TEST_P(FrameInputs, CountForTheMemoryLimitAndAreMadeByTheCpuBeyondIt) {
  const Model model = Negated();
  const TestPicture large(PixelFormat::kRgba8, 300, 200, 1), small(PixelFormat::kRgba8, 9, 9, 2);
  constexpr uint64_t kLeastBytes = kFrameHeight * kFrameWidth * 4;  // only the rows and columns that are read cross
  for (const bool is_discrete : {false, true}) {
    options_.memory_limit_bytes = 0;
    Session free = is_discrete ? Discrete(model) : Opened(model);
    const uint64_t needed = free.report().memory.needed_bytes;
    Run(free, large.frame());
    const bool reads_frames = GetParam() != "cpu" && GetParam() != "null";
    const uint64_t with_frame = free.report().memory.needed_bytes;
    EXPECT_EQ(with_frame > needed + kLeastBytes * (is_discrete ? 2 : 1), reads_frames) << with_frame - needed;
    ASSERT_TRUE(free.UnbindInput("x").ok() &&
                free.SetInput(0, std::vector<std::byte>(size_t{4} * kFrameHeight * kFrameWidth * 3)).ok() &&
                free.Run().ok());
    EXPECT_EQ(free.report().memory.needed_bytes, needed) << "it went";

    options_.memory_limit_bytes = with_frame - (reads_frames ? 1 : 0);
    Session limited = is_discrete ? Discrete(model) : Opened(model);
    Run(limited, large.frame());
    EXPECT_EQ(FirstOutput(limited), Negatives(large.frame(), kFrameHeight, kFrameWidth));
    EXPECT_EQ(limited.report().memory.needed_bytes, needed);
    Run(limited, small.frame());
    EXPECT_EQ(FirstOutput(limited), Negatives(small.frame(), kFrameHeight, kFrameWidth));
    EXPECT_EQ(limited.report().memory.needed_bytes > needed, reads_frames);
    const std::vector<std::string> warnings = limited.report().warnings;
    EXPECT_EQ(
        std::ranges::count_if(
            warnings, [](const std::string& warning) { return warning.find("memory limit") != std::string::npos; }),
        reads_frames ? 1 : 0);
  }
}

TEST_P(FrameInputs, EndWithUnbindAndDoNotCountForRunsOnOtherMemory) {
  const Model model = Negated();
  Session session = Discrete(model);
  const TestPicture picture(PixelFormat::kRgb8, 9, 9, 1);
  Run(session, picture.frame());
  std::vector<float> given(size_t{kFrameHeight} * kFrameWidth * 3, 4.0f), result(given.size());
  const std::span<const std::byte> in = std::as_bytes(std::span(given));
  const std::span<std::byte> out = std::as_writable_bytes(std::span(result));
  ASSERT_TRUE(session.Run({&in, 1}, {&out, 1}).ok());
  EXPECT_EQ(result, std::vector<float>(given.size(), -4.0f));
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(FirstOutput(session), Negatives(picture.frame(), kFrameHeight, kFrameWidth)) << "still bound";
  const Result<std::vector<ProfileEntry>> profile = session.RunProfiled();
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_EQ(FirstOutput(session), Negatives(picture.frame(), kFrameHeight, kFrameWidth)) << "profiled";
  EXPECT_THAT(session.ResizeBatch(1).message(), HasSubstr("'x' is bound"));
  ASSERT_TRUE(session.UnbindInput("x").ok());
  EXPECT_EQ(session.Run().code(), StatusCode::kInvalidArgument) << "the input was never set";
  ASSERT_TRUE(session.SetInput(0, in).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(FirstOutput(session), result);
}

TEST_P(FrameInputs, FindTheirKernelInTheCacheAtTheNextStart) {
  const TemporaryFolder folder;
  const Model model = Negated();
  const TestPicture picture(PixelFormat::kRgba8, 9, 9, 1);
  options_.use_cache = true;
  options_.cache_folder = folder.path().string();
  for (const bool is_first : {true, false}) {
    Session session = Opened(model);
    Run(session, picture.frame());
    EXPECT_EQ(FirstOutput(session), Negatives(picture.frame(), kFrameHeight, kFrameWidth));
    session.SaveToCache();
    if (is_first) continue;
    EXPECT_EQ(session.report().programs.compiled, 0);
  }
}

TEST_P(FrameInputs, ThatAreWrongLeaveTheOneBeforeThem) {
  const Model model = Negated();
  Session session = Opened(model);
  const TestPicture picture(PixelFormat::kRgba8, 9, 9, 1);
  Run(session, picture.frame());
  Frame wrong = picture.frame();
  wrong.planes[0].size_bytes = 8;
  const Status refused = session.BindFrame("x", wrong);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("'x': plane 0"));
  EXPECT_THAT(session.BindFrame("nobody", picture.frame()).message(), HasSubstr("'x'"));
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(FirstOutput(session), Negatives(picture.frame(), kFrameHeight, kFrameWidth));
}

INSTANTIATE_TEST_SUITE_P(Devices, FrameInputs, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

TEST(FrameInput, KeepsItsCommandsWhileNoFrameNeedsMoreRoom) {
  const HostTransfer transfer{.desc = {DType::kFloat32, {1, kFrameHeight, kFrameWidth, 3}, {}}};
  const DeviceInfo device;
  FrameInput input;
  const TestPicture large(PixelFormat::kNv12, 64, 48, 1), small(PixelFormat::kNv12, 7, 5, 1);
  EXPECT_TRUE(*input.Set(large.frame(), transfer, device));
  const uint64_t size_bytes = input.size_bytes();
  EXPECT_FALSE(*input.Set(small.frame(), transfer, device));
  EXPECT_FALSE(*input.Set(large.frame(), transfer, device));
  EXPECT_EQ(input.size_bytes(), size_bytes);
  Frame turned = large.frame();
  turned.rotation = 90;
  EXPECT_TRUE(*input.Set(turned, transfer, device));
}

TEST(FrameInput, IsRefusedWhereNoKernelSeesAllOfIt) {
  const HostTransfer transfer{.desc = {DType::kFloat32, {1, kFrameHeight, kFrameWidth, 3}, {}}};
  DeviceInfo device;
  device.name = "a small one";
  device.max_binding_bytes = 500;
  FrameInput input;
  const TestPicture large(PixelFormat::kRgba8, 40, 40, 1), small(PixelFormat::kRgba8, 11, 11, 1);
  const Status refused = input.Set(large.frame(), transfer, device).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("a small one can read at most 500"));
  EXPECT_TRUE(input.Set(small.frame(), transfer, device).ok());
}

}  // namespace
}  // namespace hearth
