#include "runtime/results/decoding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "runtime/results/skeleton.h"

namespace hearth {
namespace {

constexpr size_t kMostBoxes = 300;
constexpr float kNoClass = -1;  // of a pixel whose number is none, as -1 is

// Of a polygon, by its corners in order around it (the shoelace formula).
float AreaOf(const std::vector<KeyPoint>& corners) {
  float twice = 0;
  for (size_t k = 0; k < corners.size(); ++k) {
    const KeyPoint &from = corners[k], &to = corners[(k + 1) % corners.size()];
    twice += from.x * to.y - to.x * from.y;
  }
  return std::abs(twice) / 2;
}

// What lies within both of two convex polygons: the one is cut along each side of the other (Sutherland and Hodgman,
// 1974).
std::vector<KeyPoint> WithinBoth(std::vector<KeyPoint> cut, const std::vector<KeyPoint>& sides) {
  for (size_t k = 0; k < sides.size(); ++k) {
    const KeyPoint &from = sides[k], &to = sides[(k + 1) % sides.size()];
    const auto inside_by = [&](const KeyPoint& point) {
      return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
    };
    const std::vector<KeyPoint> whole = std::exchange(cut, {});
    for (size_t p = 0; p < whole.size(); ++p) {
      const KeyPoint &here = whole[p], &next = whole[(p + 1) % whole.size()];
      const float inside = inside_by(here), next_inside = inside_by(next);
      if (inside >= 0) cut.push_back(here);
      if ((inside >= 0) == (next_inside >= 0)) continue;
      const float part = inside / (inside - next_inside);
      cut.push_back({here.x + part * (next.x - here.x), here.y + part * (next.y - here.y)});
    }
  }
  return cut;
}

float OverlapOf(const Box& a, const Box& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  if (a.skeleton == CornersSkeleton() && b.skeleton == CornersSkeleton()) {
    const float within = AreaOf(WithinBoth(a.points, b.points));
    return within / (AreaOf(a.points) + AreaOf(b.points) - within);
  }
  const float both = (a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top);
  return width * height / (both - width * height);
}

// ---- Key points ----

// A logit or a probability, depending on the model.
float ScoreOf(float value) {
  return IsShare(value) ? value : Sigmoid(value);
}

// The cell with each map's highest score. With offsets (PoseNet) it is moved by its own, and a grid of n cells spans
// the input from its first pixel to its last; without, the point is the cell's centre.
KeyPoints FromHeatmaps(const TensorInfo& info, const GroupValues& values, int input_height, int input_width) {
  const int height = info.shape[1], width = info.shape[2];
  const size_t count = static_cast<size_t>(info.shape[3]), cells = static_cast<size_t>(height) * width;
  KeyPoints result{SkeletonOf(count), 1, {}};
  // Heat maps that were trained to be 0 to 1 pass these by a little; logits pass them by far.
  const bool are_shares = LieWithin(values[0], -0.5f, 1.5f);
  const auto score_of = [&](float value) { return are_shares ? std::clamp(value, 0.0f, 1.0f) : Sigmoid(value); };
  const auto step = [](int input, int grid) {
    return grid > 1 ? static_cast<float>(input - 1) / static_cast<float>(grid - 1) : 0.0f;
  };
  for (size_t k = 0; k < count; ++k) {
    size_t best = 0;
    for (size_t cell = 1; cell < cells; ++cell) {
      if (values[0][cell * count + k] > values[0][best * count + k]) best = cell;
    }
    const size_t row = best / static_cast<size_t>(width), column = best % static_cast<size_t>(width);
    const float score = score_of(values[0][best * count + k]);
    if (values.size() < 2) {
      result.points.push_back({(static_cast<float>(column) + 0.5f) / static_cast<float>(width),
                               (static_cast<float>(row) + 0.5f) / static_cast<float>(height), score});
      continue;
    }
    const float* offsets = values[1].data() + best * 2 * count;  // all y, then all x
    const float y = static_cast<float>(row) * step(input_height, height) + offsets[k];
    const float x = static_cast<float>(column) * step(input_width, width) + offsets[count + k];
    result.points.push_back(
        {x / static_cast<float>(std::max(1, input_width)), y / static_cast<float>(std::max(1, input_height)), score});
  }
  return result;
}

// BlazePose: the last 6 of 39 points are aids for the next frame.
KeyPoints FromPose(const GroupValues& values, int input_height, int input_width) {
  constexpr size_t kNumbers = 5, kBodyPoints = 33;
  KeyPoints result{SkeletonOf(kBodyPoints), 1, {}};
  if (values.size() > 1) result.score = ScoreOf(values[1][0]);
  for (size_t k = 0; k < kBodyPoints; ++k) {
    const float* point = values[0].data() + kNumbers * k;  // x, y, z, logits of visibility and presence
    result.points.push_back({point[0] / static_cast<float>(std::max(1, input_width)),
                             point[1] / static_cast<float>(std::max(1, input_height)),
                             Sigmoid(std::min(point[3], point[4]))});
  }
  return result;
}

KeyPoints FromPixels(const GroupValues& values, int input_height, int input_width) {
  const size_t count = values[0].size() / 3;
  KeyPoints result{SkeletonOf(count), 1, {}};
  if (values.size() > 1 && !values[1].empty()) result.score = ScoreOf(values[1][0]);
  for (size_t k = 0; k < count; ++k) {
    result.points.push_back({values[0][3 * k] / static_cast<float>(std::max(1, input_width)),
                             values[0][3 * k + 1] / static_cast<float>(std::max(1, input_height)), 1});
  }
  return result;
}

KeyPoints FromScoredPoints(const GroupValues& values) {
  const size_t count = values[0].size() / 3;
  KeyPoints result{SkeletonOf(count), 1, {}};
  for (size_t k = 0; k < count; ++k) {
    result.points.push_back({values[0][3 * k + 1], values[0][3 * k], values[0][3 * k + 2]});
  }
  return result;
}

}  // namespace

bool LieWithin(std::span<const float> values, float low, float high) {
  const auto outside = std::ranges::count_if(values, [&](float value) { return !(value >= low && value <= high); });
  return outside == 0 || static_cast<size_t>(outside) * 100 < values.size();
}

float MiddleOf(std::vector<float> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

float Sigmoid(float value) {
  return 1.0f / (1.0f + std::exp(-value));
}

Result<std::vector<double>> OutputAsReals(const TensorInfo& info, std::span<const std::byte> bytes) {
  const std::optional<DType> dtype = DTypeFromName(info.dtype);
  if (!dtype || BitsOf(*dtype) < 8) {
    return Error(StatusCode::kUnsupported, "outputs of type {} can't be shown", info.dtype);
  }
  std::vector<double> values(bytes.size() * 8 / static_cast<size_t>(BitsOf(*dtype)));
  if (*dtype == DType::kFloat32) {  // an eighth of the time
    float value = 0;
    for (size_t k = 0; k < values.size(); ++k) {
      std::memcpy(&value, bytes.data() + k * sizeof(value), sizeof(value));
      values[k] = value;
    }
  } else {
    for (size_t k = 0; k < values.size(); ++k) values[k] = LoadElement(*dtype, bytes, static_cast<int64_t>(k));
  }
  if (info.scales.size() == 1) {
    const double zero_point = info.zero_points.empty() ? 0.0 : static_cast<double>(info.zero_points[0]);
    for (double& value : values) value = static_cast<double>(info.scales[0]) * (value - zero_point);
  }
  return values;
}

std::vector<ScoredClass> HighestScores(std::span<const float> scores, size_t count,
                                       std::span<const std::string> labels) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t k) {
    return std::isnan(scores[k]) ? -std::numeric_limits<float>::infinity() : scores[k];
  };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
  std::vector<ScoredClass> top;
  for (size_t k = 0; k < count; ++k) {
    top.push_back({order[k], LabelOf(order[k], labels), scores[order[k]]});
  }
  return top;
}

std::vector<Box> ListedBoxes(const GroupValues& values, std::span<const std::string> labels, float min_score) {
  const size_t listed = values[2].size();
  const size_t count = values.size() > 3 ? std::min(listed, IndexOf(values[3].at(0))) : listed;
  std::vector<Box> boxes, sorted;
  for (size_t k = 0; k < count; ++k) {
    const float* corners = values[0].data() + 4 * k;  // ymin, xmin, ymax, xmax
    const bool is_box = std::isfinite(corners[0] + corners[1] + corners[2] + corners[3]) && values[1][k] > -1;
    if (!(values[2][k] >= min_score) || !is_box) continue;
    const size_t class_index = IndexOf(values[1][k]);
    boxes.push_back(
        {class_index, LabelOf(class_index, labels), values[2][k], corners[1], corners[0], corners[3], corners[2], {}});
  }
  for (const size_t k : BestFirst(boxes)) sorted.push_back(std::move(boxes[k]));
  return sorted;
}

std::vector<size_t> BestFirst(std::span<const Box> boxes) {
  std::vector<size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return boxes[a].score != boxes[b].score ? boxes[a].score > boxes[b].score : a < b;
  });
  return order;
}

std::vector<size_t> WithoutOverlaps(std::span<const Box> boxes, float most_overlap) {
  std::vector<size_t> kept;
  for (const size_t k : BestFirst(boxes)) {
    if (kept.size() == kMostBoxes) break;
    const bool is_new = std::ranges::none_of(kept, [&](size_t better) {
      return boxes[better].class_index == boxes[k].class_index && OverlapOf(boxes[k], boxes[better]) > most_overlap;
    });
    if (is_new) kept.push_back(k);
  }
  return kept;
}

KeyPoints DecodeKeyPoints(const ResultGroup& group, std::span<const TensorInfo> infos, const GroupValues& values) {
  if (group.layout == Layout::kHeatmaps) return FromHeatmaps(infos[0], values, group.input_height, group.input_width);
  if (group.layout == Layout::kScoredPoints) return FromScoredPoints(values);
  if (group.layout == Layout::kPosePoints) return FromPose(values, group.input_height, group.input_width);
  return FromPixels(values, group.input_height, group.input_width);
}

PixelMap DecodeMask(const ResultGroup& group, const TensorInfo& info, std::span<const float> values) {
  PixelMap mask{info.shape[1], info.shape[2], {}};
  if (group.layout == Layout::kOneChannel) {
    const bool are_bytes =
        info.dtype == "uint8" && std::ranges::any_of(values, [](float value) { return value > kHighestShare; });
    const bool are_shares = AreShares(values);
    for (const float value : values) {
      mask.values.push_back(are_bytes ? value / 255 : are_shares ? std::clamp(value, 0.0f, 1.0f) : Sigmoid(value));
    }
    return mask;
  }
  const auto pixels = values.size() / 2;
  // Probabilities of both classes sum to 1, logits do not.
  std::vector<float> sums;
  for (size_t k = 0; k < pixels; ++k) sums.push_back(values[2 * k] + values[2 * k + 1]);
  const bool are_shares = LieWithin(sums, 0.98f, 1.02f) && LieWithin(values, 0, 1.02f);
  for (size_t k = 0; k < pixels; ++k) {
    const float background = values[2 * k], foreground = values[2 * k + 1];
    mask.values.push_back(are_shares ? std::clamp(foreground, 0.0f, 1.0f) : Sigmoid(foreground - background));
  }
  return mask;
}

PixelMap DecodeClassMap(const ResultGroup& group, const TensorInfo& info, std::span<const float> values) {
  PixelMap classes{info.shape[1], info.shape[2], {}};
  if (group.layout == Layout::kClassPerPixel) {
    for (const float value : values) classes.values.push_back(IsClass(value) ? value : kNoClass);
    return classes;
  }
  const auto count = static_cast<size_t>(info.shape[3]);
  for (size_t at = 0; at + count <= values.size(); at += count) {
    const auto of_pixel = values.subspan(at, count);
    const auto best = std::max_element(of_pixel.begin(), of_pixel.end(),
                                       [](float a, float b) { return a < b || (std::isnan(a) && !std::isnan(b)); });
    classes.values.push_back(std::isnan(*best) ? kNoClass : static_cast<float>(best - of_pixel.begin()));
  }
  return classes;
}

std::vector<ClassArea> AreasOf(const PixelMap& classes, std::span<const std::string> labels) {
  std::map<size_t, size_t> counts;
  for (const float value : classes.values)
    if (value != kNoClass) ++counts[IndexOf(value)];
  std::vector<ClassArea> areas;
  for (const auto& [class_index, count] : counts) {
    areas.push_back({class_index, LabelOf(class_index, labels),
                     static_cast<float>(count) / static_cast<float>(classes.values.size())});
  }
  std::stable_sort(areas.begin(), areas.end(),
                   [](const ClassArea& a, const ClassArea& b) { return a.share > b.share; });
  return areas;
}

}  // namespace hearth
