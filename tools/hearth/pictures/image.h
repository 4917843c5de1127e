// Pictures: reading, resizing, converting to tensors, writing.
#ifndef HEARTH_TOOLS_HEARTH_PICTURES_IMAGE_H_
#define HEARTH_TOOLS_HEARTH_PICTURES_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/status.h"
#include "hearth/tensor_info.h"
#include "runtime/results/drawing.h"

namespace hearth {

// Reads PNG, JPEG or BMP, by content, as 1 (grey), 3 (RGB) or 4 (RGBA) channels, upright by a JPEG's EXIF data.
// kNotFound; kMalformedInput with the decoder's reason.
Result<Image> ReadImage(const std::string& path, int channels);

struct PictureSize {
  int width = 0, height = 0, channels = 0;  // grey 1, RGB 3, RGBA 4
};

// Upright, as ReadImage. kNotFound, kMalformedInput.
Result<PictureSize> SizeOfPicture(const std::string& path);

// The conversion of pixels for a float input: (x - mean) / std, one pair, or one per channel.
struct PixelScaling {
  std::vector<float> mean = {127.5f}, std = {127.5f};
  friend bool operator==(const PixelScaling&, const PixelScaling&) = default;
};

// A picture as an input's bytes, and the steps of its conversion: "cat.jpg: 1280x720, turned upright, stretched to
// 224x224; ...".
struct PictureInput {
  std::vector<std::byte> bytes;
  std::string story;
};

// The error of a picture for an input of another shape or type.
Status TakesNoPicture(const TensorInfo& info);

// For input `info`, a [1,H,W,C] or [1,C,H,W] tensor with 1, 3 or 4 channels: resized to it; float32 scaled, uint8 the
// raw values, int8 the raw values minus 128. A fourth channel is the file's alpha channel (floats: 255ths, unless
// `scaling` has its own value for it). If the file has none, or one that is opaque everywhere, it is 0 (no mask yet).
// kInvalidArgument if the input is not a picture.
Result<PictureInput> ReadImageAsInput(const std::string& path, const TensorInfo& info, const PixelScaling& scaling,
                                      const std::string& scaling_of);

// kIoError.
Status WritePng(const std::string& path, const Image& image);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_PICTURES_IMAGE_H_
