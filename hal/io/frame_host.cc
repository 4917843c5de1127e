// Frames on the host: the arithmetic of the kernel read_frame, four floats at a time.
#include <cmath>
#include <cstring>

#include "core/graph/quantize.h"
#include "hal/io/frame_layout.h"
#include "hal/io/slices.h"

namespace hearth {
namespace {

using Float4 = float __attribute__((vector_size(16)));
using Byte4 = uint8_t __attribute__((vector_size(4)));
using Int4 = int32_t __attribute__((vector_size(16)));

// Byte offsets from the start of each plane's picture, along a line or between lines. U and V each have a row pitch.
struct Place {
  uint64_t pixel = 0, u = 0, v = 0;
};

struct Column {
  Place low, high;
  float weight = 0;
};

// A row of the picture, or a column if the picture is turned.
struct Line {
  const std::byte* pixels = nullptr;
  const std::byte* u = nullptr;
  const std::byte* v = nullptr;
};

Place PlaceOf(const FrameLayout& layout, int32_t place, bool is_column) {
  const auto bytes = [&](size_t plane, int32_t count) {
    const PlaneLayout& lies = layout.planes[plane];
    return static_cast<uint64_t>(count) * (is_column ? lies.step_bytes : lies.pitch_bytes);
  };
  return {bytes(0, place), bytes(1, place / 2), bytes(2, place / 2)};
}

float NumberAt(const std::byte* at) {
  return static_cast<float>(std::to_integer<int>(*at));
}

Float4 FloorOfPositive(Float4 v) {
  return __builtin_convertvector(__builtin_convertvector(v, Int4), Float4);
}

// Red, green, blue and alpha.
struct FourBytes {
  explicit FourBytes(const FrameLayout& /*layout*/) {}
  Float4 At(const Line& line, const Place& place) const {
    Byte4 bytes;
    std::memcpy(&bytes, line.pixels + place.pixel, sizeof bytes);
    return __builtin_convertvector(bytes, Float4);
  }
};

struct BlueFirst {
  explicit BlueFirst(const FrameLayout& layout) : as_they_lie(layout) {}
  Float4 At(const Line& line, const Place& place) const {
    const Float4 v = as_they_lie.At(line, place);
    return Float4{v[2], v[1], v[0], v[3]};
  }
  FourBytes as_they_lie;
};

struct ThreeBytes {
  explicit ThreeBytes(const FrameLayout& /*layout*/) {}
  Float4 At(const Line& line, const Place& place) const {
    const std::byte* at = line.pixels + place.pixel;
    return Float4{NumberAt(at), NumberAt(at + 1), NumberAt(at + 2), 255.0f};
  }
};

struct Yuv {
  explicit Yuv(const FrameLayout& layout)
      : lowest(layout.yuv.y_lowest),
        all(layout.yuv.y),
        of_u{0, -layout.yuv.g_u, layout.yuv.b_u, 0},
        of_v{layout.yuv.r_v, -layout.yuv.g_v, 0, 0} {}
  // All numbers up to the division are integers below 2^24. Negative ones become 0.
  Float4 At(const Line& line, const Place& place) const {
    const float luma = (NumberAt(line.pixels + place.pixel) - lowest) * all + 8192.0f;
    const float blue = NumberAt(line.u + place.u) - 128.0f, red = NumberAt(line.v + place.v) - 128.0f;
    Float4 v = of_u * blue + of_v * red + luma;
    v = v > 0.0f ? v * (1.0f / 16384.0f) : Float4{};
    v = FloorOfPositive(v);
    v = v < 255.0f ? v : Float4{} + 255.0f;
    v[3] = 255.0f;
    return v;
  }
  float lowest, all;
  Float4 of_u, of_v;
};

template <typename Format>
struct Grey {
  explicit Grey(const FrameLayout& layout) : colors(layout) {}
  Float4 At(const Line& line, const Place& place) const {
    const Float4 v = colors.At(line, place);
    return FloorOfPositive(Float4{} + (v[0] * 77.0f + v[1] * 150.0f + v[2] * 29.0f) * 0.00390625f);
  }
  Format colors;
};

Float4 Blend(Float4 a, Float4 b, float weight) {
  return a + (b - a) * weight;
}

// One line of the picture at the columns of the tensor.
struct BlendedLine {
  struct Value {
    Float4 rgba;
  };
  int32_t place = -1;
  std::vector<Value> values;
};

struct Source {
  const FrameLayout& layout;
  std::span<const std::byte* const, 3> planes;
  std::vector<Column> columns;

  Line LineAt(int32_t line) const {
    const Place place = PlaceOf(layout, line, layout.is_turned);
    const auto at = [&](size_t plane, uint64_t bytes) {
      return planes[plane] + layout.planes[plane].first_bytes + bytes;
    };
    if (!layout.is_yuv()) return {at(0, place.pixel)};
    return {at(0, place.pixel), at(1, place.u), at(2, place.v)};
  }
};

template <typename Format>
void Fill(const Source& source, const Format& format, int32_t place, BlendedLine& to) {
  if (to.place == place) return;
  to.place = place;
  const Line line = source.LineAt(place);
  for (size_t k = 0; k < source.columns.size(); ++k) {
    const Column& column = source.columns[k];
    to.values[k].rgba = Blend(format.At(line, column.low), format.At(line, column.high), column.weight);
  }
}

Float4 FourOf(const std::array<float, 4>& numbers) {
  return Float4{numbers[0], numbers[1], numbers[2], numbers[3]};
}

template <int kChannels, typename Format>
void Sample(const Source& source, std::byte* to) {
  const Format format(source.layout);
  const Float4 mean = FourOf(source.layout.mean), scale = FourOf(source.layout.scale);
  BlendedLine top, bottom;
  top.values.resize(source.columns.size());
  bottom.values.resize(source.columns.size());
  for (const BilinearSample& sample : source.layout.down) {
    if (bottom.place == sample.low) std::swap(top, bottom);
    Fill(source, format, sample.low, top);
    Fill(source, format, sample.high, bottom);
    for (size_t k = 0; k < source.columns.size(); ++k, to += kChannels * sizeof(float)) {
      const Float4 value = (Blend(top.values[k].rgba, bottom.values[k].rgba, sample.weight) - mean) * scale;
      std::memcpy(to, &value, kChannels * sizeof(float));
    }
  }
}

template <typename Format>
void SampleChannels(const Source& source, int32_t channels, std::byte* to) {
  switch (channels) {
    case 1: return Sample<1, Grey<Format>>(source, to);
    case 3: return Sample<3, Format>(source, to);
    default: return Sample<4, Format>(source, to);
  }
}

}  // namespace

void SampleFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, int32_t channels,
                 std::span<std::byte> floats) {
  if (layout.across.empty() || layout.down.empty()) return;  // no elements; a kept frame has no bytes then
  Source source{layout, planes, {}};
  for (const BilinearSample& sample : layout.across) {
    source.columns.push_back({PlaceOf(layout, sample.low, !layout.is_turned),
                              PlaceOf(layout, sample.high, !layout.is_turned), sample.weight});
  }
  if (layout.is_yuv()) return SampleChannels<Yuv>(source, channels, floats.data());
  if (layout.pixel_bytes() == 3) return SampleChannels<ThreeBytes>(source, channels, floats.data());
  if (layout.format == PixelFormat::kBgra8) return SampleChannels<BlueFirst>(source, channels, floats.data());
  return SampleChannels<FourBytes>(source, channels, floats.data());
}

void ReadFrame(const FrameLayout& layout, std::span<const std::byte* const, 3> planes, const TensorDesc& desc,
               std::span<std::byte> dense) {
  const PictureShape shape = *PictureShapeOf(desc.shape.dims());
  if (IsPlainFloat32(desc) && !shape.is_planar) return SampleFrame(layout, planes, shape.channels, dense);
  std::vector<float> values(static_cast<size_t>(desc.shape.element_count()));
  SampleFrame(layout, planes, shape.channels, std::as_writable_bytes(std::span(values)));
  if (shape.is_planar) values = ChannelsFirst(values, shape.channels);
  const std::span<const std::byte> floats = std::as_bytes(std::span(values));
  if (!layout.is_raw) return FloatsToDense(desc, floats, dense);
  const int offset = desc.dtype == DType::kInt8 ? 128 : 0;
  for (size_t k = 0; k < values.size(); ++k)
    dense[k] = static_cast<std::byte>(static_cast<int>(values[k] + 0.5f) - offset);
}

void ReadFrame(const KeptFrame& frame, const TensorDesc& desc, std::span<std::byte> dense) {
  const std::byte* const bytes = frame.bytes.data();
  ReadFrame(frame.layout, std::array{bytes, bytes, bytes}, desc, dense);
}

}  // namespace hearth
