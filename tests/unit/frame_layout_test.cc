// Frames on the host: the tensor that a picture becomes, what of it would cross to a device, what is refused.
#include "hal/io/frame_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/testing/pictures.h"

namespace hearth {
namespace {

using testing::ExpectedValues;
using ::testing::HasSubstr;
using testing::kPixelFormats;
using testing::TestPicture;

TensorDesc Picture(int32_t height, int32_t width, int32_t channels = 3, DType dtype = DType::kFloat32) {
  return {dtype, {1, height, width, channels}, {}};
}

FrameLayout Layout(const Frame& frame, const TensorDesc& desc) {
  Result<FrameLayout> layout = LayoutOfFrame(frame, desc);
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return layout.ok() ? std::move(layout).value() : FrameLayout{};
}

std::vector<float> FrameValues(const Frame& frame, const TensorDesc& desc) {
  const FrameLayout layout = Layout(frame, desc);
  std::vector<float> values(static_cast<size_t>(desc.shape.element_count()));
  SampleFrame(layout, HostPlanes(frame), ToBhwc(desc.shape).c, std::as_writable_bytes(std::span(values)));
  return values;
}

// With rows rounded up to four bytes, and for U and V to whole blocks.
size_t BytesOf(const Frame& frame) {
  const std::vector<PlaneSize> sizes = PlaneSizes(frame);
  size_t bytes = 0;
  for (const PlaneSize& size : sizes) bytes += (size.row_bytes() + 5) * (size.rows + 1);
  return bytes;
}

// The same from the copy that would go to a device.
std::vector<float> ValuesOfCopy(const Frame& frame, const TensorDesc& desc) {
  FrameLayout layout = Layout(frame, desc);
  PackedFrame packed = PackFrame(layout);
  // One column and row more than needed: of a frame before this one.
  const PackedPlaces places = PlacesOf(layout, packed.columns.size() + 1, packed.rows.size() + 1);
  std::vector<std::byte> memory(places.size_bytes, std::byte{0xa5});
  CopyFrame(layout, HostPlanes(frame), packed, places, memory);
  layout.across = packed.across;
  layout.down = packed.down;
  layout.planes = places.planes;
  std::vector<float> values(static_cast<size_t>(desc.shape.element_count()));
  const std::array<const std::byte*, 3> planes = {memory.data(), memory.data(), memory.data()};
  SampleFrame(layout, planes, ToBhwc(desc.shape).c, std::as_writable_bytes(std::span(values)));
  return values;
}

// The same from the copy for a run that is repeated when the frame is gone.
std::vector<float> ValuesOfKept(const Frame& frame, const TensorDesc& desc, KeptFrame& kept) {
  KeepFrame(Layout(frame, desc), HostPlanes(frame), kept);
  std::vector<float> values(static_cast<size_t>(desc.shape.element_count()));
  ReadFrame(kept, desc, std::as_writable_bytes(std::span(values)));
  return values;
}

void ExpectTheOracles(const Frame& frame, int32_t height, int32_t width, int32_t channels) {
  SCOPED_TRACE(testing::NameOf(frame.format) + " " + std::to_string(frame.width) + "x" + std::to_string(frame.height) +
               " to " + std::to_string(width) + "x" + std::to_string(height) + "x" + std::to_string(channels) +
               " turned by " + std::to_string(frame.rotation) + (frame.flip_horizontally ? " flipped across" : "") +
               (frame.flip_vertically ? " flipped down" : ""));
  const std::vector<float> expected = ExpectedValues(frame, height, width, channels);
  EXPECT_EQ(FrameValues(frame, Picture(height, width, channels)), expected);
  EXPECT_EQ(ValuesOfCopy(frame, Picture(height, width, channels)), expected);
  static KeptFrame kept;  // used again, as in a session
  EXPECT_EQ(ValuesOfKept(frame, Picture(height, width, channels), kept), expected);
  EXPECT_LE(kept.bytes.size(), BytesOf(frame));
}

class FrameOfFormat : public ::testing::TestWithParam<PixelFormat> {};

TEST_P(FrameOfFormat, IsWhatDecodingCuttingTurningAndResizingGiveOneByOne) {
  for (const auto& [width, height] : {std::pair(13, 9), std::pair(1, 1), std::pair(2, 7), std::pair(64, 47)}) {
    for (const int padding : {0, 5}) {
      const TestPicture picture(GetParam(), width, height, static_cast<uint32_t>(width + padding), padding,
                                padding != 0);
      Frame frame = picture.frame();
      for (int flips = 0; flips < 4; ++flips) {
        frame.flip_horizontally = flips % 2 != 0;
        frame.flip_vertically = flips / 2 != 0;
        for (frame.rotation = 0; frame.rotation < 360; frame.rotation += 90) {
          ExpectTheOracles(frame, 5, 7, 3);
          ExpectTheOracles(frame, 21, 30, 3);  // enlarged, but for the largest
        }
      }
    }
  }
}

TEST_P(FrameOfFormat, IsCutAtAnyPlaceUpToItsBorders) {
  const TestPicture picture(GetParam(), 31, 23, 5, 3);
  Frame frame = picture.frame();
  for (const PixelRectangle& crop :
       {PixelRectangle{0, 0, 31, 23}, PixelRectangle{0, 0, 1, 1}, PixelRectangle{30, 22, 1, 1},
        PixelRectangle{1, 1, 30, 22}, PixelRectangle{7, 3, 2, 20}, PixelRectangle{3, 21, 27, 1}}) {
    frame.crop = crop;
    for (frame.rotation = 0; frame.rotation < 360; frame.rotation += 90) {
      ExpectTheOracles(frame, 4, 6, 3);
      ExpectTheOracles(frame, 3, 2, 4);
    }
  }
}

TEST_P(FrameOfFormat, BecomesGreyAsTheDecoderOfPicturesMakesIt) {
  const TestPicture picture(GetParam(), 17, 12, 6);
  ExpectTheOracles(picture.frame(), 12, 17, 1);
  ExpectTheOracles(picture.frame(), 5, 5, 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, FrameOfFormat, ::testing::ValuesIn(kPixelFormats),
                         [](const auto& info) { return testing::NameOf(info.param); });

TEST(Frame, YuvBecomesRgbAsTheStandardsSayWithinHalfAStep) {
  for (const YuvMatrix matrix : {YuvMatrix::kBt601, YuvMatrix::kBt709}) {
    for (const bool is_full : {false, true}) {
      const TestPicture picture(PixelFormat::kI420, 40, 40, 9);
      Frame frame = picture.frame();
      frame.matrix = matrix;
      frame.is_full_range = is_full;
      ExpectTheOracles(frame, 40, 40, 3);
      const std::vector<float> values = FrameValues(frame, Picture(40, 40));
      const double red = matrix == YuvMatrix::kBt601 ? 0.299 : 0.2126,
                   blue = matrix == YuvMatrix::kBt601 ? 0.114 : 0.0722;
      for (size_t y = 0; y < 40; ++y) {
        for (size_t x = 0; x < 40; ++x) {
          const auto at = [&](size_t plane, size_t place) {
            return static_cast<double>(std::to_integer<int>(picture.memory(plane)[place]));
          };
          const size_t block = y / 2 * 20 + x / 2;
          const double luma = is_full ? at(0, y * 40 + x) : (at(0, y * 40 + x) - 16) * 255 / 219;
          const double step = is_full ? 1 : 255.0 / 224;
          const double r = luma + (at(2, block) - 128) * step * 2 * (1 - red);
          const double b = luma + (at(1, block) - 128) * step * 2 * (1 - blue);
          // Where the parts stay in range, they make Y again.
          if (r < 0 || r > 255 || b < 0 || b > 255) continue;
          const double g = (luma - red * r - blue * b) / (1 - red - blue);
          const double expected[3] = {r, std::clamp(g, 0.0, 255.0), b};
          // Half a step, and 128 times the half of 1 / 16384 in each of two coefficients.
          for (size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(values[(y * 40 + x) * 3 + c], expected[c], 0.5 + 3 * 128 / 32768.0);
        }
      }
    }
  }
}

TEST_P(FrameOfFormat, OfATensorWithoutElementsIsEmptyAndTouchesNoMemory) {
  const TestPicture picture(GetParam(), 13, 9, 5, 3);
  Frame frame = picture.frame();
  for (const auto& [height, width] : {std::pair(4, 0), std::pair(0, 4), std::pair(0, 0)}) {
    for (frame.rotation = 0; frame.rotation < 360; frame.rotation += 90) {
      KeptFrame kept;
      EXPECT_TRUE(ValuesOfKept(frame, Picture(height, width), kept).empty());
      EXPECT_TRUE(kept.bytes.empty());
      EXPECT_TRUE(FrameValues(frame, Picture(height, width)).empty());
      EXPECT_TRUE(ValuesOfCopy(frame, Picture(height, width)).empty());
    }
  }
}

TEST(Frame, MeanAndScaleGoByChannel) {
  const TestPicture picture(PixelFormat::kRgba8, 3, 2, 1);
  Frame frame = picture.frame();
  frame.mean = {1, 20, 127.5f, 9};
  frame.scale = {1, 0.5f, 1 / 127.5f, 0};
  std::vector<float> dense(24);
  ReadFrame(Layout(frame, Picture(2, 3, 4)), HostPlanes(frame), Picture(2, 3, 4),
            std::as_writable_bytes(std::span(dense)));
  const std::vector<float> values = ExpectedValues(frame, 2, 3, 4);
  for (size_t k = 0; k < dense.size(); ++k) EXPECT_EQ(dense[k], (values[k] - frame.mean[k % 4]) * frame.scale[k % 4]);
}

TEST(Frame, InputsOf8BitsTakeTheValuesOrTheNumbersThatTheyStandFor) {
  const TestPicture picture(PixelFormat::kNv12, 9, 7, 2);
  Frame frame = picture.frame();
  frame.mean = {127.5f, 127.5f, 127.5f, 0};
  frame.scale = {1 / 60.0f, 1 / 60.0f, 1 / 60.0f, 1};
  const std::vector<float> values = ExpectedValues(frame, 5, 4, 3);
  TensorDesc plain = Picture(5, 4, 3, DType::kUInt8), grid = Picture(5, 4, 3, DType::kInt8);
  grid.quantization = Quantization{{0.015f}, {3}, 0};
  std::vector<std::byte> dense(60);
  ReadFrame(Layout(frame, plain), HostPlanes(frame), plain, dense);
  for (size_t k = 0; k < 60; ++k)
    EXPECT_EQ(std::to_integer<int>(dense[k]), static_cast<int>(std::floor(values[k] + 0.5f)));
  ReadFrame(Layout(frame, grid), HostPlanes(frame), grid, dense);
  for (size_t k = 0; k < 60; ++k)
    EXPECT_EQ(static_cast<int8_t>(dense[k]), static_cast<int>(std::floor(values[k] + 0.5f)) - 128);
  frame.raw_bytes = false;
  ReadFrame(Layout(frame, grid), HostPlanes(frame), grid, dense);
  for (size_t k = 0; k < 60; ++k) {
    const float real = (values[k] - 127.5f) * (1 / 60.0f);
    EXPECT_NEAR(static_cast<int8_t>(dense[k]), std::clamp(real / 0.015f + 3, -128.0f, 127.0f), 0.5001f);
  }
}

TEST(Frame, OnlyRowsAndColumnsThatAreReadCrossTheBus) {
  const TestPicture picture(PixelFormat::kRgba8, 400, 300, 3);
  const PackedFrame packed = PackFrame(Layout(picture.frame(), Picture(10, 20)));
  EXPECT_EQ(packed.columns.size(), 40u);
  EXPECT_EQ(packed.rows.size(), 20u);
  EXPECT_EQ(PlacesOf(Layout(picture.frame(), Picture(10, 20)), 40, 20).size_bytes, 40u * 20 * 4);
}

struct LayoutMistake {
  const char* what;
  void (*make)(Frame& frame);
  const char* message;
};

TEST(Frame, UAndVHaveARowPitchEach) {
  const TestPicture picture(PixelFormat::kI420, 13, 9, 3);
  const Frame alike = picture.frame();
  constexpr size_t kColumns = 7, kRows = 5, kPitch = 12;
  std::vector<std::byte> v((kRows - 1) * kPitch + kColumns);  // nothing behind the last row
  for (size_t row = 0; row < kRows; ++row)
    std::copy_n(picture.memory(2).begin() + static_cast<ptrdiff_t>(row * kColumns), kColumns,
                v.begin() + static_cast<ptrdiff_t>(row * kPitch));
  Frame apart = alike;
  apart.planes[2] = {reinterpret_cast<uintptr_t>(v.data()), v.size(), 0, kPitch};
  for (const int rotation : {0, 90}) {
    Frame a = alike, b = apart;
    a.rotation = b.rotation = rotation;
    EXPECT_EQ(FrameValues(b, Picture(6, 5)), FrameValues(a, Picture(6, 5))) << "turned by " << rotation;
    EXPECT_EQ(ValuesOfCopy(b, Picture(6, 5)), FrameValues(a, Picture(6, 5))) << "turned by " << rotation;
  }
}

TEST(Frame, APlaneIsOnlyBehindOneInTheFirstOnesMemory) {
  Frame frame = TestPicture(PixelFormat::kI420, 8, 6, 1).frame();  // planes apart
  Frame without_v = frame;
  without_v.planes[2] = {};
  const Status refused = LayoutOfFrame(without_v, Picture(4, 4)).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(),
              HasSubstr("plane 2 has no handle and no offset, but the plane before it lies in other"));
  frame.planes[0].size_bytes = 48 + 12 + 12;  // Y, U and V in one memory
  frame.planes[2] = {};
  frame.planes[1] = {};
  EXPECT_EQ(Layout(frame, Picture(4, 4)).planes[2].first_bytes, 60u);
  frame.planes[1] = {frame.planes[0].handle, frame.planes[0].size_bytes, 48};
  EXPECT_EQ(Layout(frame, Picture(4, 4)).planes[2].first_bytes, 60u) << "with the same handle";
  frame.planes[1].handle += 1;
  frame.planes[2].offset_bytes = 60;
  EXPECT_EQ(Layout(frame, Picture(4, 4)).planes[2].first_bytes, 60u) << "an offset says where";
}

TEST(Frame, AMistakeIsNamed) {
  const LayoutMistake mistakes[] = {
      {"no memory", [](Frame& f) { f.planes[0].handle = 0; }, "no memory"},
      {"no pixels", [](Frame& f) { f.width = 0; }, "0x6 pixels"},
      {"negative", [](Frame& f) { f.height = -6; }, "8x-6 pixels"},
      {"huge", [](Frame& f) { f.width = 1 << 30; }, "1 to 65536"},
      {"pitch below a row", [](Frame& f) { f.planes[0].row_pitch_bytes = 7; }, "plane 0: a row takes 8 bytes"},
      {"pitch of pairs", [](Frame& f) { f.planes[1].row_pitch_bytes = 6; }, "plane 1: a row takes 8 bytes"},
      {"pitch that overflows", [](Frame& f) { f.planes[0].row_pitch_bytes = UINT64_MAX - 3; }, "don't fit"},
      {"too small", [](Frame& f) { f.planes[0].size_bytes = 47; },
       "plane 0: 6 rows of 8 bytes, 8 bytes apart, don't fit"},
      {"pairs too small", [](Frame& f) { f.planes[1].size_bytes = 23; }, "plane 1: 3 rows"},
      {"pairs behind the end", [](Frame& f) { f.planes[1] = {}; }, "plane 1"},
      {"offset behind the end", [](Frame& f) { f.planes[0].offset_bytes = UINT64_MAX; }, "don't fit"},
      {"turned askew", [](Frame& f) { f.rotation = 45; }, "not by 45"},
      {"turned back", [](Frame& f) { f.rotation = -90; }, "not by -90"},
      {"crop beyond the right",
       [](Frame& f) {
         f.crop = {1, 0, 8, 6};
       },
       "(1, 0) is not inside the frame of 8x6"},
      {"crop that is empty",
       [](Frame& f) {
         f.crop = {1, 1, 0, 3};
       },
       "0x3 pixels"},
      {"crop of no pixels at a place",
       [](Frame& f) {
         f.crop = {1, 0, 0, 0};
       },
       "0x0 pixels at (1, 0)"},
      {"crop of a height alone",
       [](Frame& f) {
         f.crop = {0, 0, 0, 1};
       },
       "0x1 pixels"},
      {"crop that overflows",
       [](Frame& f) {
         f.crop = {2147483647, 0, 2147483647, 1};
       },
       "not inside"},
      {"crop before the left",
       [](Frame& f) {
         f.crop = {-1, 0, 4, 4};
       },
       "not inside"},
      {"no number", [](Frame& f) { f.scale[1] = NAN; }, "not a finite number"},
      {"no format", [](Frame& f) { f.format = static_cast<PixelFormat>(77); }, "format"},
  };
  const TestPicture picture(PixelFormat::kNv12, 8, 6, 1);
  for (const LayoutMistake& mistake : mistakes) {
    Frame frame = picture.frame();
    mistake.make(frame);
    const Status status = LayoutOfFrame(frame, Picture(4, 4)).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << mistake.what;
    EXPECT_THAT(status.message(), HasSubstr(mistake.message)) << mistake.what;
  }
  for (const TensorDesc& desc :
       {Picture(6, 4, 2), Picture(6, 4, 5), TensorDesc{DType::kFloat32, {2, 4, 4, 3}, {}},
        TensorDesc{DType::kFloat32, {4, 4, 3}, {}}, Picture(4, 4, 3, DType::kInt32), Picture(4, 4, 3, DType::kBool)})
    EXPECT_EQ(LayoutOfFrame(picture.frame(), desc).status().code(), StatusCode::kUnsupported);
  Frame real = picture.frame();
  real.raw_bytes = false;
  EXPECT_THAT(LayoutOfFrame(real, Picture(4, 4, 3, DType::kUInt8)).status().message(), HasSubstr("no scale"));
}

}  // namespace
}  // namespace hearth
