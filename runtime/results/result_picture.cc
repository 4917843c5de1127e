#include "runtime/results/result_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/results/decoding.h"
#include "runtime/results/skeleton.h"

namespace hearth {
namespace {

constexpr int kWholeSize = 768, kPanelSize = 384;  // the longer side, alone and in a pair
constexpr float kOpacity = 0.6f;                   // of colours over the picture
constexpr Colour kDarkPaper = {32, 32, 32}, kPointColour = {255, 220, 0}, kLimbColour = {0, 200, 255};

Image Canvas(const Image& picture, int size, int height, int width) {
  return ScaledTo(picture.values.empty() ? BlankImage(std::max(1, width), std::max(1, height)) : picture, size);
}

int TextScaleFor(const Image& image) {
  return std::max(1, std::max(image.width, image.height) / 384);
}

float GreyAt(const Image& image, int x, int y) {
  const float* pixel = image.values.data() + (static_cast<size_t>(y) * image.width + x) * 3;
  return 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
}

// The map's pixel nearest to pixel x, y of an image.
float ValueAt(const PixelMap& map, const Image& image, int x, int y) {
  const auto row = static_cast<size_t>(static_cast<int64_t>(y) * map.height / image.height);
  const auto column = static_cast<size_t>(static_cast<int64_t>(x) * map.width / image.width);
  return map.values[row * static_cast<size_t>(map.width) + column];
}

// Interpolates between the map's pixels.
Image Enlarged(const PixelMap& map, const Image& like) {
  return ResizeBilinear(Image{map.width, map.height, 1, map.values}, like.width, like.height);
}

// Gives each pixel the colour that `colour_at` returns for it.
template <typename ColourAt>
void Paint(Image& image, const ColourAt& colour_at) {
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const Colour colour = colour_at(x, y);
      std::copy_n(colour.begin(), 3, image.values.begin() + (static_cast<std::ptrdiff_t>(y) * image.width + x) * 3);
    }
  }
}

std::string BoxText(const Box& box) {
  return IsShare(box.score) ? fmt::format("{} {:.0f}%", ClassText(box), 100 * box.score)
                            : fmt::format("{} {:.3g}", ClassText(box), box.score);
}

// A box for each of the largest classes, with its name and its share of the picture. `areas` begins with the largest.
Image Legend(std::span<const ClassArea> areas, int width) {
  constexpr size_t kMostClasses = 64;
  areas = areas.first(std::min(areas.size(), kMostClasses));
  constexpr int kScale = 2, kPad = 8, kColumn = 256;
  const int columns = std::max(1, width / kColumn), row_height = TextHeight(kScale) + kPad;
  const int rows = (static_cast<int>(areas.size()) + columns - 1) / columns;
  Image legend = BlankImage(width, rows * row_height + kPad, kDarkPaper);
  for (size_t k = 0; k < areas.size(); ++k) {
    const int left = kPad + static_cast<int>(k) % columns * kColumn;
    const int top = kPad + static_cast<int>(k) / columns * row_height;
    const int side = TextHeight(kScale) - 4;
    FillRectangle(legend, left, top, left + side, top + side, ColourOfClass(areas[k].class_index));
    DrawFrame(legend, left, top, left + side, top + side, kWhite, 1);
    DrawText(legend, left + side + kPad, top, fmt::format("{} {:.1f}%", ClassText(areas[k]), 100 * areas[k].share),
             kWhite, kScale);
  }
  return legend;
}

// Points that are likely enough, and the limbs between them.
void DrawPoints(Image& drawn, std::span<const KeyPoint> points, const Skeleton* skeleton, float min_score, float size,
                const Colour& limb_colour) {
  const auto is_seen = [&](size_t k) { return points[k].score >= min_score; };
  const auto x = [&](size_t k) { return points[k].x * static_cast<float>(drawn.width); };
  const auto y = [&](size_t k) { return points[k].y * static_cast<float>(drawn.height); };
  if (skeleton != nullptr) {
    for (const auto& [from, to] : skeleton->limbs) {
      if (is_seen(from) && is_seen(to)) DrawLine(drawn, x(from), y(from), x(to), y(to), 1.5f * size, limb_colour);
    }
  }
  if (skeleton == CornersSkeleton()) return;
  for (size_t k = 0; k < points.size(); ++k) {
    if (is_seen(k)) DrawDisc(drawn, x(k), y(k), size, kPointColour);
  }
}

// Each box's pixels in its colour.
void Tint(Image& drawn, const PixelMap& map, std::span<const Box> boxes) {
  Paint(drawn, [&](int x, int y) {
    const float* below = drawn.values.data() + (static_cast<size_t>(y) * drawn.width + x) * 3;
    Colour colour = {below[0], below[1], below[2]};
    const size_t place = IndexOf(ValueAt(map, drawn, x, y));
    if (place == 0 || place > boxes.size()) return colour;
    const Colour over = ColourOfClass(boxes[place - 1].class_index + 1);
    for (size_t c = 0; c < 3; ++c) colour[c] += (over[c] - colour[c]) * kOpacity;
    return colour;
  });
}

Image DrawBoxes(const Image& picture, std::span<const Box> boxes, const PixelMap& map, float min_score) {
  Image drawn = Canvas(picture, kWholeSize, std::max(1, map.height), std::max(1, map.width));
  if (!map.values.empty()) Tint(drawn, map, boxes);
  const int scale = TextScaleFor(drawn), thickness = 2 * scale;
  const auto place = [](float share, int size) {
    return static_cast<int>(
        std::lround(std::clamp(std::isfinite(share) ? share : 0.0f, 0.0f, 1.0f) * static_cast<float>(size)));
  };
  for (size_t k = boxes.size(); k-- > 0;) {  // the highest scores on top
    const Box& box = boxes[k];
    const Colour colour = ColourOfClass(box.class_index + 1);
    const int left = place(box.left, drawn.width), top = place(box.top, drawn.height);
    const bool is_rotated = box.skeleton == CornersSkeleton();
    if (!is_rotated)
      DrawFrame(drawn, left, top, place(box.right, drawn.width), place(box.bottom, drawn.height), colour, thickness);
    DrawPoints(drawn, box.points, box.skeleton, min_score, 2.0f * static_cast<float>(scale),
               is_rotated ? colour : kLimbColour);
    DrawPlate(drawn, left, top - TextHeight(scale) - 2 * scale, BoxText(box), colour, scale);
  }
  if (boxes.empty()) DrawPlate(drawn, 0, 0, "nothing found", kDarkPaper, scale);
  return drawn;
}

Image DrawKeyPoints(const Image& picture, const KeyPoints& points, float min_score) {
  Image drawn = Canvas(picture, kWholeSize, 1, 1);
  const bool are_many = points.points.size() > 100;
  const float size = static_cast<float>(TextScaleFor(drawn)) * (are_many ? 0.8f : 2.0f);
  // If the model finds no object, its points mean nothing.
  if (points.score >= min_score) DrawPoints(drawn, points.points, points.skeleton, min_score, size, kLimbColour);
  if (points.score < min_score) {
    const std::string name(points.skeleton == nullptr ? "nothing" : points.skeleton->name);
    DrawPlate(drawn, 0, 0, fmt::format("{}: only {:.0f}% sure that there is one", name, 100 * points.score), kDarkPaper,
              TextScaleFor(drawn));
  }
  return drawn;
}

Image DrawMask(const Image& picture, const PixelMap& mask) {
  constexpr Colour kMaskColour = {0, 230, 80};
  const Image panel = Canvas(picture, kPanelSize, mask.height, mask.width);
  Image drawn = panel;
  const Image shares = Enlarged(mask, panel);
  Paint(drawn, [&](int x, int y) {
    const float value = shares.values[static_cast<size_t>(y) * drawn.width + x];
    const float share = std::isfinite(value) ? std::clamp(value, 0.0f, 1.0f) : 0.0f;
    const float grey = GreyAt(panel, x, y) * (picture.values.empty() ? 1 : 0.6f);
    Colour colour;
    for (size_t c = 0; c < 3; ++c)
      colour[c] = grey + (kMaskColour[c] - grey) * share * (picture.values.empty() ? 1 : kOpacity);
    return colour;
  });
  return picture.values.empty() ? drawn : Beside(panel, drawn);
}

Image DrawClassMap(const Image& picture, const PixelMap& classes, std::span<const ClassArea> areas) {
  const Image panel = Canvas(picture, kPanelSize, classes.height, classes.width);
  const float opacity = picture.values.empty() ? 1 : kOpacity;
  Image drawn = panel;
  Paint(drawn, [&](int x, int y) {
    const size_t class_index = IndexOf(ValueAt(classes, drawn, x, y));
    // Over grey, so that a class's colour differs from the picture's own.
    const float grey = GreyAt(panel, x, y);
    Colour colour = ColourOfClass(class_index);
    for (float& channel : colour) channel = class_index == 0 ? grey : grey + (channel - grey) * opacity;
    return colour;
  });
  if (!picture.values.empty()) drawn = Beside(panel, drawn);
  return Above(drawn, Legend(areas, drawn.width));
}

Image DrawScores(const Image& picture, std::span<const ScoredClass> top) {
  constexpr int kScale = 2, kPad = 8;
  constexpr size_t kMostRows = 64;
  top = top.first(std::min(top.size(), kMostRows));
  const Image panel = Canvas(picture, kWholeSize / 2, 1, 1);
  const Image head = Beside(panel, BlankImage(kWholeSize - panel.width, panel.height, kDarkPaper));
  Image table = BlankImage(kWholeSize, static_cast<int>(top.size()) * (TextHeight(kScale) + kPad) + kPad, kDarkPaper);
  for (size_t k = 0; k < top.size(); ++k) {
    const int y = kPad + static_cast<int>(k) * (TextHeight(kScale) + kPad);
    const bool is_share = IsShare(top[k].score);
    if (is_share) {
      const auto end = static_cast<int>(top[k].score * static_cast<float>(kWholeSize));
      FillRectangle(table, 0, y - kPad / 2, end, y + TextHeight(kScale), {40, 90, 140});
    }
    DrawText(table, kPad, y, fmt::format("{:.3f}  {}", top[k].score, ClassText(top[k])), kWhite, kScale);
  }
  return Above(head, table);
}

}  // namespace

Image PixelsOf(const TensorInfo& info, std::span<const float> values) {
  const int channels = info.shape.size() == 4 ? info.shape[3] : 1;
  Image image{info.shape[2], info.shape[1], channels, std::vector<float>(values.begin(), values.end())};
  for (float& value : image.values) value = std::isfinite(value) ? value : 0.0f;
  if (info.dtype == "uint8" && info.scales.empty()) return AsRgb(image);
  // Without one in a thousand on either side: a few wild pixels do not decide how the others are shown.
  std::vector<float> in_order = image.values;
  std::ranges::sort(in_order);
  const float lowest = in_order[in_order.size() / 1000],
              highest = in_order[in_order.size() - 1 - in_order.size() / 1000];
  float low = 0, high = 255;
  if (channels == 1 && (lowest < 0 || highest > 255)) {
    low = lowest, high = highest;
  } else if (lowest >= -0.1f && highest <= 1.1f) {
    high = 1;
  } else if (lowest >= -1.1f && highest <= 1.1f) {
    low = -1, high = 1;
  } else if (lowest < -64 || highest > 320) {
    low = lowest, high = highest;
  }
  for (float& value : image.values) value = std::clamp((value - low) / std::max(high - low, 1e-6f), 0.0f, 1.0f) * 255;
  return AsRgb(image);
}

Image PictureOf(const Interpretation& result, const Image& picture) {
  switch (result.group.meaning) {
    case Meaning::kNone: break;
    case Meaning::kImage: return PixelsOf(result.infos[0], result.values[0]);
    case Meaning::kClasses: return DrawScores(picture, result.classes);
    case Meaning::kBoxes: return DrawBoxes(picture, result.boxes, result.map, result.min_score);
    case Meaning::kKeypoints: return DrawKeyPoints(picture, result.points, result.min_score);
    case Meaning::kMask: return DrawMask(picture, result.map);
    case Meaning::kClassMap: return DrawClassMap(picture, result.map, result.areas);
  }
  return picture;
}

}  // namespace hearth
