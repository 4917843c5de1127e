#include "tests/testing/external_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/float16.h"
#include "hal/io/binding_layout.h"
#include "hearth/graph_builder.h"
#include "tests/testing/pictures.h"

namespace hearth::testing {
namespace {

constexpr auto kUntouched = std::byte{0x5a};
const TensorDesc kDesc{DType::kFloat32, {1, kExternalHeight, kExternalWidth, kExternalChannels}, {}};

struct Format {
  const char* name;
  ElementFormat format;
  uint64_t pixel_bytes;
  double tolerance;  // for a stored component around 1: half a step of the format plus the drivers' rounding
};
constexpr Format kFormats[] = {{"float32", ElementFormat::kFloat32, 12, 1e-6},
                               {"rgba8", ElementFormat::kRgba8, 4, 1.01 / 255},
                               {"rgba16f", ElementFormat::kRgba16f, 8, 1.0 / 1024}};

// The layout of one side: bytes before the picture and between its rows.
Binding LayoutFor(const Format& format, MemoryKind kind, bool is_spread, bool is_output) {
  Binding binding{.memory = kind, .format = format.format};
  const uint64_t row = kExternalWidth * format.pixel_bytes;
  binding.offset_bytes = is_spread ? 3 * format.pixel_bytes : 0;
  binding.offset_bytes -= binding.offset_bytes % 8;
  binding.row_pitch_bytes = is_spread ? row + 8 + (row % 8) : 0;
  const uint64_t pitch = is_spread ? binding.row_pitch_bytes : row;
  binding.size_bytes = binding.offset_bytes + (kExternalHeight - 1) * pitch + row + (is_spread ? 16 : 0);
  binding.size_bytes = (binding.size_bytes + 3) / 4 * 4;
  binding.flip_vertically = is_spread;
  if (is_output) {  // the network negates: negated again into the range of every format
    binding.scale = {-0.5f, -0.5f, -0.5f, 0};
    binding.offset = {0.5f, 0.5f, 0.5f, 1};
  } else if (is_spread) {
    binding.scale = {2, -1, 0.5f, 1};
    binding.offset = {-1, 0.25f, 0, 0};
  }
  return binding;
}

std::vector<std::byte> Picture(const Format& format, uint64_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (size_t k = 0; k < size_bytes / 4; ++k) {
    const float value = static_cast<float>((k * 37 + 11) % 101) / 101.0f;
    if (format.format == ElementFormat::kFloat32) {
      std::memcpy(&bytes[k * 4], &value, 4);
    } else if (format.format == ElementFormat::kRgba16f) {
      const uint16_t halves[2] = {FloatToHalf(value), FloatToHalf(1 - value)};
      std::memcpy(&bytes[k * 4], halves, 4);
    } else {
      for (size_t c = 0; c < 4; ++c) bytes[k * 4 + c] = static_cast<std::byte>((k * 53 + c * 71) % 256);
    }
  }
  return bytes;
}

std::vector<float> Components(ElementFormat format, std::span<const std::byte> bytes) {
  std::vector<float> values;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    if (format == ElementFormat::kFloat32) {
      float value = 0;
      std::memcpy(&value, &bytes[at], 4);
      values.push_back(value);
    } else if (format == ElementFormat::kRgba16f) {
      uint16_t halves[2];
      std::memcpy(halves, &bytes[at], 4);
      for (uint16_t half : halves) values.push_back(HalfToFloat(half));
    } else {
      for (size_t c = 0; c < 4; ++c) values.push_back(std::to_integer<int>(bytes[at + c]) / 255.0f);
    }
  }
  return values;
}

// The expected memory after a run: the host's conversions around a session without bindings.
std::vector<std::byte> ExpectedBytes(const Binding& input, std::span<const std::byte> picture, const Binding& output) {
  const Result<BindingLayout> in = LayoutOf(input, kDesc), out = LayoutOf(output, kDesc);
  EXPECT_TRUE(in.ok() && out.ok()) << in.status().message() << out.status().message();
  std::vector<std::byte> bytes(output.size_bytes, kUntouched);
  if (!in.ok() || !out.ok()) return bytes;
  std::vector<std::byte> dense(kDesc.size_bytes());
  ReadBinding(*in, kDesc, picture, dense);
  const Model model = ExternalMemoryModel();
  Result<Session> plain = Session::Create(model, SharedOptions({}, "cpu"));
  EXPECT_TRUE(plain.ok() && plain->SetInput(0, dense).ok() && plain->Run().ok());
  WriteBinding(*out, kDesc, plain->output(0), bytes);
  return bytes;
}

}  // namespace

Model ExternalMemoryModel() {
  GraphBuilder builder("lent");
  const auto x = builder.Input("x", {1, kExternalHeight, kExternalWidth, kExternalChannels});
  builder.Output(builder.Unary("neg", builder.MaxPool2D(x, 2, 2, {})), "y");
  Result<Model> model = std::move(builder).Build();
  HEARTH_CHECK(model.ok());
  return std::move(model).value();
}

SessionOptions SharedOptions(const SharedContext& shared, const std::string& device) {
  SessionOptions options{.device = device, .use_cache = false, .shared = shared};
  return options;
}

void ExpectEveryFormatRuns(Session& session, ExternalMemory& memory, bool copies_nothing) {
  for (const Format& format : kFormats) {
    for (const bool is_spread : {false, true}) {
      SCOPED_TRACE(std::string(format.name) + (is_spread ? ", spread and flipped" : ", packed"));
      Binding input = LayoutFor(format, memory.kind(), is_spread, false);
      Binding output = LayoutFor(format, memory.kind(), is_spread, true);
      const std::vector<std::byte> picture = Picture(format, input.size_bytes);
      const std::vector<std::byte> expected = ExpectedBytes(input, picture, output);
      input.handle = memory.Make(picture);
      output.handle = memory.Make(std::vector<std::byte>(output.size_bytes, kUntouched));
      for (const Status& bound : {session.BindInput("x", input), session.BindOutput("y", output)})
        ASSERT_TRUE(bound.ok()) << bound.message();
      const Status ran = session.Run();
      ASSERT_TRUE(ran.ok()) << ran.message();
      if (copies_nothing) {
        EXPECT_EQ(session.report().transfers.to_device_bytes, 0u);
        EXPECT_EQ(session.report().transfers.to_host_bytes, 0u);
      }
      const std::vector<float> want = Components(format.format, expected);
      const std::vector<float> have = Components(format.format, memory.Read(output.handle, output.size_bytes));
      ASSERT_EQ(want.size(), have.size());
      for (size_t k = 0; k < want.size(); ++k) {
        ASSERT_NEAR(want[k], have[k], format.tolerance * std::max(1.0f, std::abs(want[k]))) << "component " << k;
      }
    }
  }
}

void ExpectFramesRun(Session& session, ExternalMemory& memory) {
  const Model model = ExternalMemoryModel();
  Result<Session> plain = Session::Create(model, SharedOptions({}, "cpu"));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(session.UnbindOutput("y").ok());
  for (const PixelFormat format : kPixelFormats) {
    const TestPicture picture(format, 24, 18, 11, 4, true);
    std::vector<std::byte> bytes = picture.memory(0);
    bytes.resize((bytes.size() + 3) / 4 * 4);
    Frame frame = picture.frame();
    frame.mean = {10, 20, 30, 0};
    frame.scale = {0.5f, -0.25f, 2, 0};
    for (frame.rotation = 0; frame.rotation < 360; frame.rotation += 90) {
      frame.flip_horizontally = frame.rotation == 180;
      frame.crop = frame.rotation == 0 ? PixelRectangle{} : PixelRectangle{3, 2, 19, 13};
      ASSERT_TRUE(plain->BindFrame("x", frame).ok() && plain->Run().ok());
      Frame lent = frame;
      lent.memory = memory.kind();
      lent.planes[0].handle = memory.Make(bytes);
      lent.planes[0].size_bytes = bytes.size();
      for (const Status& status : {session.BindFrame("x", lent), session.Run()})
        ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(std::ranges::equal(session.output(0), plain->output(0)))
          << NameOf(format) << " turned by " << frame.rotation;
      EXPECT_EQ(session.report().transfers.to_device_bytes, 0u);
      lent.planes[0].size_bytes -= 2;
      EXPECT_EQ(session.BindFrame("x", lent).code(), StatusCode::kInvalidArgument);
    }
  }
  ASSERT_TRUE(session.UnbindInput("x").ok());
}

}  // namespace hearth::testing
