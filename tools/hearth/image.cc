#include "tools/hearth/image.h"

#include <fmt/ranges.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

// Where output pixel `index` reads: two neighbours and the weight of the second.
struct Sample {
  int low, high;
  float weight;
};

Sample SampleAt(int index, int in_size, int out_size) {
  const float position =
      (static_cast<float>(index) + 0.5f) * static_cast<float>(in_size) / static_cast<float>(out_size) - 0.5f;
  const float low = std::floor(position);
  const int last = in_size - 1;
  return {std::clamp(static_cast<int>(low), 0, last), std::clamp(static_cast<int>(low) + 1, 0, last), position - low};
}

uint8_t Rounded(float value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5f), 0.0f, 255.0f));
}

float OfChannel(const std::vector<float>& values, size_t channel) {
  return values[values.size() == 1 ? 0 : channel];
}

std::vector<std::byte> ScaledFloats(const Image& image, const PixelScaling& scaling) {
  std::vector<std::byte> bytes(image.values.size() * sizeof(float));
  for (size_t k = 0; k < image.values.size(); ++k) {
    const size_t channel = k % image.channels;
    const float value = (image.values[k] - OfChannel(scaling.mean, channel)) / OfChannel(scaling.std, channel);
    std::memcpy(bytes.data() + k * sizeof(float), &value, sizeof value);
  }
  return bytes;
}

Status CheckTakesPictures(const TensorInfo& info, const PixelScaling& scaling) {
  const bool has_shape = info.shape.size() == 4 && info.shape[0] == 1 && info.shape[1] > 0 && info.shape[2] > 0 &&
                         (info.shape[3] == 1 || info.shape[3] == 3 || info.shape[3] == 4);
  const bool has_type = info.dtype == "float32" || info.dtype == "uint8" || info.dtype == "int8";
  if (!has_shape || !has_type) {
    return Error(StatusCode::kInvalidArgument,
                 "input '{}' is {}[{}], not a picture of 1, 3 or 4 channels; give it a .npy or .bin file", info.name,
                 info.dtype, fmt::join(info.shape, ","));
  }
  for (const auto* values : {&scaling.mean, &scaling.std}) {
    if (values->size() != 1 && values->size() != static_cast<size_t>(info.shape[3])) {
      return Error(StatusCode::kInvalidArgument, "input '{}' has {} channels, but --mean or --std has {} values",
                   info.name, info.shape[3], values->size());
    }
  }
  return Status::Ok();
}

}  // namespace

Result<Image> ReadImage(const std::string& path, int channels) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Error(StatusCode::kNotFound, "can't read {}: {}", path, std::strerror(errno));
  Image image;
  image.channels = channels;
  int channels_in_file = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_file(file, &image.width, &image.height, &channels_in_file, channels), stbi_image_free);
  std::fclose(file);
  if (pixels == nullptr) {
    return Error(StatusCode::kMalformedInput, "{} is no PNG, JPEG or BMP picture that can be read ({})", path,
                 stbi_failure_reason());
  }
  const size_t count = static_cast<size_t>(image.width) * image.height * channels;
  image.values.assign(pixels.get(), pixels.get() + count);
  return image;
}

Result<PictureSize> SizeOfPicture(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Error(StatusCode::kNotFound, "can't read {}: {}", path, std::strerror(errno));
  PictureSize size;
  const int found = stbi_info_from_file(file, &size.width, &size.height, &size.channels);
  std::fclose(file);
  if (found == 0) {
    return Error(StatusCode::kMalformedInput, "{} is no PNG, JPEG or BMP picture that can be read ({})", path,
                 stbi_failure_reason());
  }
  return size;
}

Image ResizeBilinear(const Image& image, int width, int height) {
  Image resized{width, height, image.channels,
                std::vector<float>(static_cast<size_t>(width) * height * image.channels)};
  size_t out = 0;
  for (int y = 0; y < height; ++y) {
    const Sample sy = SampleAt(y, image.height, height);
    for (int x = 0; x < width; ++x) {
      const Sample sx = SampleAt(x, image.width, width);
      for (int c = 0; c < image.channels; ++c) {
        const auto at = [&](int row, int column) {
          return image.values[(static_cast<size_t>(row) * image.width + column) * image.channels + c];
        };
        const float top = at(sy.low, sx.low) + (at(sy.low, sx.high) - at(sy.low, sx.low)) * sx.weight;
        const float bottom = at(sy.high, sx.low) + (at(sy.high, sx.high) - at(sy.high, sx.low)) * sx.weight;
        resized.values[out++] = top + (bottom - top) * sy.weight;
      }
    }
  }
  return resized;
}

Result<std::vector<std::byte>> ReadImageAsInput(const std::string& path, const TensorInfo& info,
                                                const PixelScaling& scaling) {
  HEARTH_TRY(CheckTakesPictures(info, scaling));
  HEARTH_ASSIGN(Image image, ReadImage(path, info.shape[3]));
  image = ResizeBilinear(image, info.shape[2], info.shape[1]);
  if (info.dtype == "float32") return ScaledFloats(image, scaling);
  const int offset = info.dtype == "int8" ? 128 : 0;
  std::vector<std::byte> bytes(image.values.size());
  std::transform(image.values.begin(), image.values.end(), bytes.begin(),
                 [&](float value) { return static_cast<std::byte>(Rounded(value) - offset); });
  return bytes;
}

Status WritePng(const std::string& path, const Image& image) {
  std::vector<uint8_t> pixels(image.values.size());
  std::transform(image.values.begin(), image.values.end(), pixels.begin(), Rounded);
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
