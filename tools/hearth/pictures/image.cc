#include "tools/hearth/pictures/image.h"

#include <fmt/ranges.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "hal/io/picture_shape.h"
#include "tools/hearth/files.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

// ---- The orientation in a JPEG's EXIF data ----

constexpr uint8_t kMarker = 0xff, kStartOfImage = 0xd8, kApp1 = 0xe1, kStartOfScan = 0xda;
constexpr uint16_t kOrientationTag = 0x0112, kShortType = 3;
constexpr std::string_view kExifHead("Exif\0\0", 6);

// TIFF data. Its head gives the byte order.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Reads byte order and offset of the first directory; false if it is no TIFF data.
  bool ReadHead() {
    if (bytes_.size() < 8) return false;
    const auto first = std::to_integer<char>(bytes_[0]);
    if (first != std::to_integer<char>(bytes_[1]) || (first != 'I' && first != 'M')) return false;
    is_little_ = first == 'I';
    return Number(2, 2) == 42;
  }

  // A number of the first directory; nothing if the entry is missing or outside of the file.
  std::optional<uint32_t> ShortOf(uint16_t tag) const {
    constexpr size_t kEntryBytes = 12;
    const size_t directory = Number(4, 4);
    if (!Holds(directory, 2)) return std::nullopt;
    const size_t count = Number(directory, 2);
    for (size_t k = 0; k < count; ++k) {
      const size_t at = directory + 2 + k * kEntryBytes;
      if (!Holds(at, kEntryBytes)) return std::nullopt;
      if (Number(at, 2) == tag) {
        return Number(at + 2, 2) == kShortType ? std::optional(Number(at + 8, 2)) : std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  bool Holds(size_t at, size_t size) const { return at <= bytes_.size() && size <= bytes_.size() - at; }
  // Precondition: the number lies within the data.
  uint32_t Number(size_t at, size_t size) const {
    uint32_t number = 0;
    for (size_t k = 0; k < size; ++k) {
      number = (number << 8) | std::to_integer<uint32_t>(bytes_[at + (is_little_ ? size - 1 - k : k)]);
    }
    return number;
  }

  std::span<const std::byte> bytes_;
  bool is_little_ = true;
};

int OrientationIn(std::span<const std::byte> segment) {
  if (segment.size() < kExifHead.size() || std::memcmp(segment.data(), kExifHead.data(), kExifHead.size()) != 0)
    return 0;
  Tiff tiff(segment.subspan(kExifHead.size()));
  if (!tiff.ReadHead()) return 0;
  const uint32_t orientation = tiff.ShortOf(kOrientationTag).value_or(0);
  return orientation <= 8 ? static_cast<int>(orientation) : 0;
}

// 1 to 8 as in the standard (CIPA DC-008, tag 0x0112); 1, upright, if the file has none. The beginning of `file`
// suffices. All of its content is checked before use.
int ExifOrientation(std::span<const std::byte> file) {
  const auto byte_at = [&](size_t at) { return std::to_integer<uint8_t>(file[at]); };
  if (file.size() < 4 || byte_at(0) != kMarker || byte_at(1) != kStartOfImage) return 1;
  for (size_t at = 2; at + 4 <= file.size() && byte_at(at) == kMarker;) {
    const uint8_t kind = byte_at(at + 1);
    if (kind == kMarker) {  // fill byte
      ++at;
      continue;
    }
    if (kind == kStartOfScan) break;
    const size_t size = (size_t{byte_at(at + 2)} << 8) | byte_at(at + 3);  // includes these two bytes
    if (size < 2 || at + 2 + size > file.size()) break;
    if (kind == kApp1) {
      if (const int orientation = OrientationIn(file.subspan(at + 4, size - 2)); orientation > 0) return orientation;
    }
    at += 2 + size;
  }
  return 1;
}

// Whether width and height are exchanged.
bool TurnsSideways(int orientation) {
  return orientation >= 5;
}

// ---- Pictures ----

constexpr uint64_t kMostPictureBytes = uint64_t{512} << 20;  // of a file
constexpr int64_t kMostPixels = int64_t{1} << 27;            // the largest cameras' photographs have a sixth of that

// (x - mean) / std for each channel.
struct ChannelScaling {
  float mean = 0, std = 1;
};

std::vector<ChannelScaling> ScalingOfChannels(const PixelScaling& scaling, int channels) {
  std::vector<ChannelScaling> result;
  for (int c = 0; c < channels; ++c) {
    const auto of = [&](const std::vector<float>& values) {
      return values[values.size() == 1 ? 0 : static_cast<size_t>(c)];
    };
    // A single pair applies to colours: the fourth channel is an opacity.
    const bool is_share = c == 3 && scaling.mean.size() == 1 && scaling.std.size() == 1;
    result.push_back(is_share ? ChannelScaling{0, 255} : ChannelScaling{of(scaling.mean), of(scaling.std)});
  }
  return result;
}

std::vector<float> Scaled(const Image& image, const PixelScaling& scaling, bool has_mask) {
  const std::vector<ChannelScaling> channels = ScalingOfChannels(scaling, image.channels);
  std::vector<float> values(image.values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const size_t c = k % channels.size();
    values[k] = c == 3 && !has_mask ? 0.0f : (image.values[k] - channels[c].mean) / channels[c].std;
  }
  return values;
}

bool HasMask(const Image& image) {
  for (size_t k = 3; image.channels == 4 && k < image.values.size(); k += 4) {
    if (image.values[k] < 255) return true;
  }
  return false;
}

Status CheckTakesPictures(const TensorInfo& info, const PixelScaling& scaling, const std::string& scaling_of) {
  const std::optional<PictureShape> shape = PictureShapeOf(info.shape);
  const bool has_shape = shape && info.shape[0] == 1 && shape->height > 0 && shape->width > 0;
  const bool has_type = info.dtype == "float32" || info.dtype == "uint8" || info.dtype == "int8";
  if (!has_shape || !has_type) return TakesNoPicture(info);
  for (const auto* values : {&scaling.mean, &scaling.std}) {
    if (values->size() != 1 && values->size() != static_cast<size_t>(shape->channels)) {
      return Error(StatusCode::kInvalidArgument, "input '{}' has {} channels, but the mean or std of {} has {} values",
                   info.name, shape->channels, scaling_of, values->size());
    }
  }
  return Status::Ok();
}

// The decoder counts in int; a larger file is cut off there.
int DecoderBytes(std::span<const std::byte> file) {
  return static_cast<int>(std::min<size_t>(file.size(), INT_MAX));
}

Status NoPicture(const std::string& path) {
  return Error(StatusCode::kMalformedInput, "{} is not a PNG, JPEG or BMP picture that can be read ({})", path,
               stbi_failure_reason());
}

// The picture, rotated by its EXIF orientation.
Image Upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool sideways = TurnsSideways(orientation);
  Image turned = image;
  if (sideways) std::swap(turned.width, turned.height);
  const auto channels = static_cast<size_t>(image.channels);
  for (int y = 0; y < turned.height; ++y) {
    for (int x = 0; x < turned.width; ++x) {
      // The pixel's position in the file: for 5 to 8 rows and columns are exchanged first.
      int from_x = sideways ? y : x, from_y = sideways ? x : y;
      if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        from_x = image.width - 1 - from_x;
      if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        from_y = image.height - 1 - from_y;
      const size_t from = (static_cast<size_t>(from_y) * image.width + from_x) * channels;
      const size_t to = (static_cast<size_t>(y) * turned.width + x) * channels;
      std::copy_n(image.values.begin() + static_cast<std::ptrdiff_t>(from), channels,
                  turned.values.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return turned;
}

}  // namespace

Status TakesNoPicture(const TensorInfo& info) {
  std::string dims;
  for (const int32_t dim : info.shape.empty() ? info.declared_shape : info.shape)
    dims += fmt::format("{}{}", dims.empty() ? "" : ",", dim < 0 ? "?" : std::to_string(dim));
  return Error(StatusCode::kInvalidArgument,
               "input '{}' is {}[{}], where a picture needs 1 x height x width x 1, 3 or 4 channels; give it a .npy or "
               ".bin file",
               info.name, info.dtype, dims);
}

Result<Image> ReadImage(const std::string& path, int channels) {
  HEARTH_ASSIGN(const std::vector<std::byte> file, ReadFile(path, kMostPictureBytes));
  Image image;
  image.channels = channels;
  int channels_in_file = 0;
  const auto* bytes = reinterpret_cast<const stbi_uc*>(file.data());
  if (stbi_info_from_memory(bytes, DecoderBytes(file), &image.width, &image.height, &channels_in_file) != 0 &&
      int64_t{image.width} * image.height > kMostPixels) {
    return Error(StatusCode::kInvalidArgument, "{} has {} x {} pixels, more than {}: make it smaller", path,
                 image.width, image.height, kMostPixels);
  }
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes, DecoderBytes(file), &image.width, &image.height, &channels_in_file, channels),
      stbi_image_free);
  if (pixels == nullptr) return NoPicture(path);
  const size_t count = static_cast<size_t>(image.width) * image.height * channels;
  image.values.assign(pixels.get(), pixels.get() + count);
  return Upright(std::move(image), ExifOrientation(file));
}

Result<PictureSize> SizeOfPicture(const std::string& path) {
  HEARTH_ASSIGN(const std::vector<std::byte> file, ReadFile(path, kMostPictureBytes));
  PictureSize size;
  const int found = stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), DecoderBytes(file),
                                          &size.width, &size.height, &size.channels);
  if (found == 0) return NoPicture(path);
  if (TurnsSideways(ExifOrientation(file))) std::swap(size.width, size.height);
  return size;
}

Result<PictureInput> ReadImageAsInput(const std::string& path, const TensorInfo& info, const PixelScaling& scaling,
                                      const std::string& scaling_of) {
  HEARTH_TRY(CheckTakesPictures(info, scaling, scaling_of));
  const PictureShape shape = *PictureShapeOf(info.shape);
  HEARTH_ASSIGN(Image image, ReadImage(path, shape.channels));
  const bool has_mask = HasMask(image);
  PictureInput input;
  input.story = fmt::format("{}: {}x{} stretched to {}x{}", path, image.width, image.height, shape.width, shape.height);
  if (shape.channels == 4)
    input.story += has_mask ? ", fourth channel from its alpha" : ", fourth channel 0 (the picture has none)";
  image = ResizeBilinear(image, shape.width, shape.height);
  if (info.dtype == "float32") {
    std::vector<float> values = Scaled(image, scaling, has_mask);
    if (shape.is_planar) values = ChannelsFirst(values, image.channels);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    input.bytes.assign(bytes.begin(), bytes.end());
    return input;
  }
  const int offset = info.dtype == "int8" ? 128 : 0;
  input.bytes.resize(image.values.size());
  for (size_t k = 0; k < image.values.size(); ++k) {
    const float value = k % image.channels == 3 && !has_mask ? 0.0f : image.values[k];
    input.bytes[k] = static_cast<std::byte>(RoundedPixel(value) - offset);
  }
  if (shape.is_planar) input.bytes = ChannelsFirst(input.bytes, image.channels);
  return input;
}

Status WritePng(const std::string& path, const Image& image) {
  // The encoder counts its bytes in int.
  if (image.height > 0 && int64_t{image.width} * image.channels >= INT_MAX / image.height) {
    return Error(StatusCode::kResourceExhausted, "a picture of {} x {} pixels is too large for {}", image.width,
                 image.height, path);
  }
  std::vector<uint8_t> pixels(image.values.size());
  std::transform(image.values.begin(), image.values.end(), pixels.begin(), RoundedPixel);
  std::string file;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  if (stbi_write_png_to_func(append, &file, image.width, image.height, image.channels, pixels.data(),
                             image.width * image.channels) == 0) {
    return Error(StatusCode::kResourceExhausted, "the picture {} could not be encoded", path);
  }
  return WriteFile(path, file);
}

}  // namespace hearth
