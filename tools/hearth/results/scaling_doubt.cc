#include "tools/hearth/results/scaling_doubt.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "runtime/results/result_picture.h"

namespace hearth {
namespace {

// What networks are trained with most, as reals of -1 to 1, 0 to 1, 0 to 255, and by ImageNet's statistics.
const std::array<PixelScaling, 4>& UsualScalings() {
  static const std::array<PixelScaling, 4> scalings = {
      {{{127.5f}, {127.5f}}, {{0}, {255}}, {{0}, {1}}, {{123.675f, 116.28f, 103.53f}, {58.395f, 57.12f, 57.375f}}}};
  return scalings;
}

std::string_view TroubleOfPixels(const Image& image) {
  constexpr float kLeastDeviation = 3,
                  kMostExtreme = 0.9f;  // a black picture of a wrong scale has 1, photos 40 and 0.4
  const double count = static_cast<double>(image.values.size()) / 3;
  bool is_constant = true;
  for (size_t channel = 0; channel < 3; ++channel) {
    double sum = 0, squares = 0;
    for (size_t at = channel; at < image.values.size(); at += 3) {
      sum += image.values[at];
      squares += image.values[at] * image.values[at];
    }
    is_constant &= squares / count - sum / count * (sum / count) < kLeastDeviation * kLeastDeviation;
  }
  if (is_constant) return "nearly constant";
  const auto extreme = std::ranges::count_if(image.values, [](float value) { return value < 1 || value > 254; });
  return static_cast<double>(extreme) > kMostExtreme * 3 * count ? "nearly all black and white" : "";
}

// The border of a disc has 4.5 steps from pixel to pixel for each pixel along the root of its area. Four segmentation
// networks had 4 to 11 on photos that were scaled rightly, 12 to 190 where scaling made a grid of spots.
std::string_view TroubleOfMask(const PixelMap& mask) {
  constexpr double kMostBorder = 12;
  const auto is_in = [&](size_t at) { return mask.values[at] >= 0.5f; };
  double area = 0, border = 0;
  for (size_t at = 0; at < mask.values.size(); ++at) {
    const size_t width = static_cast<size_t>(mask.width);
    area += is_in(at);
    border += at % width != 0 && is_in(at) != is_in(at - 1);
    border += at >= width && is_in(at) != is_in(at - width);
  }
  const double smaller = std::min(area, static_cast<double>(mask.values.size()) - area);
  if (smaller == 0) return area == 0 ? "empty" : "everywhere";
  return border > kMostBorder * std::sqrt(smaller) ? "ragged" : "";
}

std::string_view TroubleOf(const Interpretation& result) {
  switch (result.group.meaning) {
    case Meaning::kImage: return TroubleOfPixels(PixelsOf(result.infos[0], result.values[0]));
    case Meaning::kMask: return TroubleOfMask(result.map);
    case Meaning::kClassMap:
      return std::set(result.map.values.begin(), result.map.values.end()).size() == 1 ? "of one class" : "";
    default: return "";
  }
}

}  // namespace

std::string ScalingDoubt(const Interpretation& result, const PixelScaling& tried) {
  const std::string_view trouble = TroubleOf(result);
  if (trouble.empty()) return "";
  const auto known = std::ranges::find(UsualScalings(), tried);
  const auto next = known == UsualScalings().end() ? UsualScalings().begin() : known + 1;
  const std::string advice =
      next == UsualScalings().end()
          ? "see the model's documentation for --mean and --std"
          : fmt::format("try --mean {} --std {}", fmt::join(next->mean, ","), fmt::join(next->std, ","));
  return fmt::format("the {} '{}' is {}: perhaps the model expects pictures that are scaled otherwise; {}",
                     MeaningName(result.group.meaning), result.infos[0].name, trouble, advice);
}

}  // namespace hearth
