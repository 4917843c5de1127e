#include "tools/hearth/comparison_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/hearth/drawing.h"

namespace hearth {
namespace {

constexpr int kNameWidth = 460, kBarWidth = 480, kRowHeight = 14, kPad = 6, kHeadHeight = 40;
constexpr double kLowest = -4, kHighest = 2;  // powers of ten, relative to the allowed difference
constexpr size_t kMostPictureRows = 1500;     // a picture 20,000 pixels high is of no use
constexpr Colour kPaper = {250, 250, 250}, kFine = {70, 130, 180}, kOver = {205, 50, 40}, kGrid = {200, 200, 200};

int BarEnd(double ratio) {
  const double power = ratio > 0 ? std::log10(ratio) : kLowest;
  return kNameWidth +
         static_cast<int>(kBarWidth * (std::clamp(power, kLowest, kHighest) - kLowest) / (kHighest - kLowest));
}

void DrawRow(Image& image, int row, const std::string& name, const TensorComparison& output) {
  const int top = kHeadHeight + row * kRowHeight;
  std::string cut = name;
  while (cut.size() > 4 && TextWidth(cut, 1) > kNameWidth - 2 * kPad) cut.erase(cut.size() / 2, 1);
  DrawText(image, kPad, top + 2, cut, output.is_over ? kOver : kBlack, 1);
  FillRectangle(image, kNameWidth, top + 1, BarEnd(output.ratio()), top + kRowHeight - 2,
                output.is_over ? kOver : kFine);
}

}  // namespace

Image DrawComparison(const std::vector<TensorComparison>& outputs, const std::vector<LayerComparison>& layers) {
  const size_t rows = std::min(kMostPictureRows, layers.empty() ? outputs.size() : layers.size());
  const int height = kHeadHeight + static_cast<int>(rows) * kRowHeight + kPad;
  Image image = BlankImage(kNameWidth + kBarWidth + kPad, height, kPaper);
  DrawText(image, kPad, kPad, layers.empty() ? "output" : "layer", kBlack, 1);
  for (int power = static_cast<int>(kLowest); power <= static_cast<int>(kHighest); ++power) {
    const int x = BarEnd(std::pow(10.0, power));
    FillRectangle(image, x, kHeadHeight - 4, x + (power == 0 ? 2 : 1), height, power == 0 ? kBlack : kGrid);
    DrawText(image, std::min(x, image.width - 40), kPad + kRowHeight,
             power == 0 ? "allowed" : fmt::format("1e{}", power), kBlack, 1);
  }
  for (size_t k = 0; k < rows; ++k) {
    const auto row = static_cast<int>(k);
    if (layers.empty()) {
      DrawRow(image, row, outputs[k].info.name, outputs[k]);
    } else {
      DrawRow(image, row, fmt::format("{} {} {}", layers[k].layer.index, layers[k].layer.op, layers[k].layer.name),
              layers[k].output);
    }
  }
  return image;
}

}  // namespace hearth
