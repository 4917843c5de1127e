// Pictures in every format of hearth/frame.h and their expected conversion, written pixel by pixel: the oracle of
// frames.
#ifndef HEARTH_TESTS_TESTING_PICTURES_H_
#define HEARTH_TESTS_TESTING_PICTURES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/frame.h"

namespace hearth::testing {

inline constexpr PixelFormat kPixelFormats[] = {PixelFormat::kRgba8, PixelFormat::kBgra8, PixelFormat::kRgb8,
                                                PixelFormat::kNv12,  PixelFormat::kNv21,  PixelFormat::kI420};
std::string NameOf(PixelFormat format);

// Random bytes, determined by the seed, with `padding` bytes after each row of the first plane, twice as many in the
// second and three times in the third. Planes have separate memory, or follow each other in one.
class TestPicture {
 public:
  TestPicture(PixelFormat format, int32_t width, int32_t height, uint32_t seed, int padding = 0,
              bool is_in_one = false);

  // Its address, sizes and pitches; other fields as in a new Frame.
  Frame frame() const;
  const std::vector<std::byte>& memory(size_t plane) const { return memories_[plane]; }

 private:
  PixelFormat format_;
  int32_t width_, height_;
  bool is_in_one_;
  std::array<uint64_t, 3> pitches_{};
  std::array<std::vector<std::byte>, 3> memories_;
};

// The values, 0 to 255, that `frame` gives a tensor [1, height, width, channels], before mean and scale.
std::vector<float> ExpectedValues(const Frame& frame, int32_t height, int32_t width, int32_t channels);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_PICTURES_H_
