// How a tensor holds a picture.
#ifndef HEARTH_HAL_IO_PICTURE_SHAPE_H_
#define HEARTH_HAL_IO_PICTURE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hearth {

// [batch, height, width, channels], or planar, as ONNX's pictures are: [batch, channels, height, width].
struct PictureShape {
  int32_t height = 0, width = 0, channels = 0;
  bool is_planar = false;
};

// Of four dimensions, the last or the second of which is 1, 3 or 4: the last decides. Sizes may be open (-1).
inline std::optional<PictureShape> PictureShapeOf(std::span<const int32_t> dims) {
  const auto is_channels = [&](size_t d) { return dims[d] == 1 || dims[d] == 3 || dims[d] == 4; };
  if (dims.size() != 4) return std::nullopt;
  if (is_channels(3)) return PictureShape{dims[1], dims[2], dims[3], false};
  if (is_channels(1)) return PictureShape{dims[2], dims[3], dims[1], true};
  return std::nullopt;
}

// The elements of [height, width, channels] as [channels, height, width].
template <typename Element>
std::vector<Element> ChannelsFirst(const std::vector<Element>& pixels, int32_t channels) {
  std::vector<Element> planes(pixels.size());
  const size_t count = static_cast<size_t>(channels), plane = pixels.size() / count;
  for (size_t k = 0; k < pixels.size(); ++k) planes[k % count * plane + k / count] = pixels[k];
  return planes;
}

}  // namespace hearth

#endif  // HEARTH_HAL_IO_PICTURE_SHAPE_H_
