// Windows that reach over the borders of an image give the bits of the same windows in an image with zeros around it,
// where none does: kernels tell the two apart.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "tests/testing/on_device.h"
#include "tests/testing/parsed_graph.h"
#include "tests/testing/run_lowered.h"

namespace hearth {
namespace {

struct PaddedLayer {
  int batch, height, width, channels, channels_out, kernel, stride = 1, dilation = 1;

  int border() const { return dilation * (kernel - 1) / 2; }  // on every side
};

// Odd sizes, tiles of pixels that end within a line, images of one window and of less than one, several images.
constexpr PaddedLayer kPaddedLayers[] = {{1, 9, 11, 3, 21, 3},       {2, 7, 5, 18, 16, 3}, {3, 7, 9, 5, 35, 3, 2},
                                         {1, 13, 10, 8, 9, 3, 1, 3}, {2, 1, 3, 7, 17, 5},  {1, 17, 23, 1, 40, 7, 2}};

Graph GraphOf(const PaddedLayer& layer, bool is_padded) {
  const int border = is_padded ? 2 * layer.border() : 0;
  return testing::Parsed(
      fmt::format("%0 = input : float32[{0}x{1}x{2}x{3}] \"x\"\n"
                  "%1 = constant : float32[{4}x{5}x{5}x{3}] \"w\" = fill(pattern)\n"
                  "%2 = constant : float32[{4}] \"b\" = fill(pattern)\n"
                  "%3 = conv_2d(%0, %1, %2) stride={6}x{6} dilation={7}x{7} {8} : float32[{0}x{9}x{10}x{4}] \"y\"\n"
                  "output %3\n",
                  layer.batch, layer.height + border, layer.width + border, layer.channels, layer.channels_out,
                  layer.kernel, layer.stride, layer.dilation, is_padded ? "" : "padding=same",
                  (layer.height - 1) / layer.stride + 1, (layer.width - 1) / layer.stride + 1));
}

std::vector<float> WithZerosAround(const PaddedLayer& layer, const std::vector<float>& image) {
  const int border = layer.border(), width = layer.width + 2 * border;
  std::vector<float> padded(static_cast<size_t>(layer.batch * (layer.height + 2 * border) * width * layer.channels));
  const int line = layer.width * layer.channels;
  for (int row = 0; row < layer.batch * layer.height; ++row) {
    const int to = row / layer.height * (layer.height + 2 * border) + row % layer.height + border;
    std::copy_n(image.begin() + row * line, line, padded.begin() + (to * width + border) * layer.channels);
  }
  return padded;
}

class PaddedWindows : public testing::OnDevice {
 protected:
  std::vector<std::byte> ResultOf(const Graph& graph, const std::vector<float>& input) {
    auto result = testing::RunLowered(opened_, graph, {}, std::as_bytes(std::span(input)));
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(result).value() : std::vector<std::byte>();
  }
};

TEST_P(PaddedWindows, GiveTheBitsOfThoseOfAnImageWithZerosAround) {
  std::mt19937 random(20261127);
  std::uniform_real_distribution<float> number(-2, 2);
  for (const PaddedLayer& layer : kPaddedLayers) {
    std::vector<float> image(static_cast<size_t>(layer.batch * layer.height * layer.width * layer.channels));
    std::ranges::generate(image, [&] { return number(random); });
    const auto expected = ResultOf(GraphOf(layer, true), WithZerosAround(layer, image));
    ASSERT_FALSE(expected.empty());
    EXPECT_TRUE(ResultOf(GraphOf(layer, false), image) == expected)
        << layer.height << "x" << layer.width << ", kernel " << layer.kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEachDriver, PaddedWindows, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& device) { return std::string(device.param); });

}  // namespace
}  // namespace hearth
