#include "runtime/results/output_meaning.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/op_text.h"
#include "runtime/results/output_facts.h"
#include "runtime/results/skeleton.h"

namespace hearth {
namespace {

constexpr std::string_view kNames[] = {"none", "classes", "mask", "class-map", "image", "boxes", "keypoints"};

constexpr int32_t kFaceAnchors = 896, kFaceNumbers = 16;  // BlazeFace: 16x16x2 + 8x8x6; a box and six points

std::string OpText(const Outputs& outputs, size_t k) {
  const Op* op = outputs.MadeBy(k);
  return op == nullptr ? "" : fmt::format(", made by {}", OpName(*op));
}

// ---- Several outputs together ----

// The outputs of one TFLite_Detection_PostProcess by its slots, whatever their order in the file.
std::optional<ResultGroup> DetectionsOfOperator(const Outputs& outputs) {
  const auto first = outputs.FirstFree([&](size_t k) { return outputs.IsMadeBy<DetectionPostProcess>(k); });
  if (!first) return std::nullopt;
  std::array<std::optional<size_t>, 4> by_slot;  // boxes, classes, scores, count
  for (size_t k = 0; k < outputs.count(); ++k) {
    const Outputs::Maker maker = outputs.MakerOf(k);
    const bool is_its = outputs.is_free(k) && maker.node == outputs.MakerOf(*first).node;
    if (is_its && !by_slot.at(maker.slot)) by_slot.at(maker.slot) = k;
  }
  if (!by_slot[0] || !by_slot[1] || !by_slot[2]) return std::nullopt;
  ResultGroup group{Meaning::kBoxes, Layout::kDetections, "TFLite_Detection_PostProcess makes it", {}};
  for (const std::optional<size_t>& output : by_slot) {
    if (output) group.outputs.push_back(*output);
  }
  return group;
}

// By the file's metadata, whose lists may have any order: their names tell them apart.
std::optional<ResultGroup> DetectionsOfMetadata(const Outputs& outputs) {
  const auto boxes = outputs.FirstFree([&](size_t k) {
    return outputs.HasShape(k, {1, -1, 4}) && outputs.Content(k) == "boxes";
  });
  if (!boxes) return std::nullopt;
  const auto list_called = [&](std::initializer_list<std::string_view> words) {
    return outputs.FirstFree([&](size_t k) {
      return outputs.HasShape(k, {1, outputs.shape(*boxes)[1]}) && outputs.IsCalled(k, words);
    });
  };
  const auto scores = list_called({"score", "confidence", "probabilit"});
  const auto classes = list_called({"class", "categor", "label"});
  if (!scores || !classes || *scores == *classes) return std::nullopt;
  ResultGroup group{Meaning::kBoxes, Layout::kDetections, "the file's metadata says so", {*boxes, *classes, *scores}};
  const auto number = outputs.FirstFree([&](size_t k) { return outputs.ElementCount(k) == 1; });
  if (number && !Contains(group.outputs, *number)) group.outputs.push_back(*number);
  return group;
}

std::optional<ResultGroup> Faces(const Outputs& outputs) {
  const auto numbers = outputs.FirstFree([&](size_t k) {
    return outputs.HasShape(k, {1, kFaceAnchors, kFaceNumbers});
  });
  const auto scores = outputs.FirstFree([&](size_t k) { return outputs.HasShape(k, {1, kFaceAnchors, 1}); });
  const auto [height, width] = outputs.PictureSize();
  if (!numbers || !scores || height != width || height % 16 != 0) return std::nullopt;
  return ResultGroup{Meaning::kBoxes,
                     Layout::kAnchoredFaces,
                     "896 anchors with 16 numbers are BlazeFace's: a box and six points each",
                     {*numbers, *scores}};
}

std::optional<ResultGroup> Heatmaps(const Outputs& outputs) {
  const auto maps = outputs.FirstFree([&](size_t k) {
    return outputs.HasShape(k, {1, -1, -1, -1}) && outputs.IsCalled(k, {"heatmap"});
  });
  if (!maps || outputs.ElementCount(*maps) == 0) return std::nullopt;
  const std::vector<int32_t>& shape = outputs.shape(*maps);
  const auto offsets = outputs.FirstFree([&](size_t k) {
    return outputs.HasShape(k, {1, shape[1], shape[2], 2 * shape[3]}) && outputs.IsCalled(k, {"offset"});
  });
  if (!offsets) return std::nullopt;
  ResultGroup group{Meaning::kKeypoints,
                    Layout::kHeatmaps,
                    fmt::format("its name, and offsets for its {} maps", shape[3]),
                    {*maps, *offsets}};
  for (size_t k = 0; k < outputs.count(); ++k) {
    if (outputs.is_free(k) && outputs.IsCalled(k, {"displacement"})) group.outputs.push_back(k);
  }
  return group;
}

// 21 points of a hand or 468 of a face, each x, y, z, and the probability that there is one.
std::optional<ResultGroup> Landmarks(const Outputs& outputs) {
  if (outputs.PictureSize().first == 0 || outputs.count() < 2) return std::nullopt;
  const auto points = outputs.FirstFree([&](size_t k) {
    const size_t numbers = outputs.ElementCount(k);
    return (numbers == 3 * 21 || numbers == 3 * 468) && outputs.shape(k).back() > 3;
  });
  const auto sure = outputs.FirstFree([&](size_t k) { return outputs.ElementCount(k) == 1; });
  if (!points || !sure) return std::nullopt;
  const Skeleton& skeleton = *SkeletonOf(outputs.ElementCount(*points) / 3);
  ResultGroup group{Meaning::kKeypoints,
                    Layout::kPointsInPixels,
                    fmt::format("{} numbers beside a single one: x, y, z of the {} points of a {}",
                                outputs.ElementCount(*points), skeleton.point_count, skeleton.name),
                    {*points, *sure}};
  return group;
}

std::optional<ResultGroup> ScoredPoints(const Outputs& outputs) {
  // As the file has it: these are no pictures, whose channels may come first.
  const auto points = outputs.FirstFree([&](size_t k) {
    return outputs.info(k).shape == std::vector<int32_t>{1, 1, 17, 3};
  });
  if (!points) return std::nullopt;
  return ResultGroup{Meaning::kKeypoints, Layout::kScoredPoints, "17 points with y, x and a score", {*points}};
}

// ---- Single outputs ----

bool IsInteger(const TensorInfo& info) {
  return info.scales.empty() && (info.dtype.starts_with("int") || info.dtype.starts_with("uint"));
}

// C for [1,H,W,C], 1 for [1,H,W]; 0 for other shapes.
int32_t MapChannels(const Outputs& outputs, size_t k) {
  const std::vector<int32_t>& shape = outputs.shape(k);
  if (shape.size() < 3 || shape.size() > 4 || shape[0] != 1 || shape[1] < 2 || shape[2] < 2) return 0;
  return shape.size() == 3 ? 1 : shape[3];
}

bool IsVector(const Outputs& outputs, size_t k) {
  const std::vector<int32_t>& shape = outputs.shape(k);
  return !shape.empty() && shape.back() > 1 && outputs.ElementCount(k) == static_cast<size_t>(shape.back());
}

bool LooksLikePixels(const Outputs& outputs, size_t k) {
  const auto [height, width] = outputs.PictureSize();
  const std::vector<int32_t>& shape = outputs.shape(k);
  const bool grows =
      height > 0 && shape[1] % height == 0 && shape[2] % width == 0 && shape[1] / height == shape[2] / width;
  if (!grows || outputs.IsCalled(k, {"segment", "mask", "logit", "class"}) || outputs.IsMadeBy<Softmax>(k))
    return false;
  const bool is_bounded = outputs.IsMadeBy(k, {UnaryKind::kLogistic, UnaryKind::kTanh, UnaryKind::kRelu,
                                               UnaryKind::kRelu6, UnaryKind::kRelu0To1, UnaryKind::kReluN1To1}) ||
                          outputs.IsMadeBy<DepthToSpace>(k) || outputs.IsMadeBy<Binary>(k);
  return is_bounded || shape[1] > height;
}

ResultGroup NotSure(size_t k, std::string_view could_be, Meaning shown) {
  return {Meaning::kNone,
          Layout::kOther,
          fmt::format("not sure: it could be {}; --show {} shows it so", could_be, MeaningName(shown)),
          {k}};
}

// Whether [1,H,W] or [1,H,W,C] has the proportions of the picture that goes in. Lists of anchors, time steps and
// features have other ones.
bool HasProportionsOfPicture(const Outputs& outputs, size_t k) {
  const auto [height, width] = outputs.PictureSize();
  const std::vector<int32_t>& shape = outputs.shape(k);
  if (height == 0) return shape.size() == 4;
  // A map may have a row or column more than the stride says: 257 x 257 and 33 x 33.
  return std::abs(static_cast<float>(shape[1]) * static_cast<float>(width) /
                      (static_cast<float>(shape[2]) * static_cast<float>(height)) -
                  1) < 0.05f;
}

// Whether the file says that scores for each pixel are classes. Heat maps of joints look alike otherwise, but are
// smaller than the picture.
bool ScoresPixelsByClass(const Outputs& outputs, size_t k) {
  const auto [height, width] = outputs.PictureSize();
  return outputs.HasLabels(k) || outputs.IsMadeBy<Softmax>(k) ||
         outputs.IsCalled(k, {"segment", "mask", "class", "logit", "semantic"}) ||
         (outputs.shape(k)[1] >= height && outputs.shape(k)[2] >= width);
}

ResultGroup OfMap(const Outputs& outputs, size_t k, int32_t channels) {
  const std::string made = OpText(outputs, k);
  const auto group = [&](Meaning meaning, Layout layout, const std::string& reason) {
    return ResultGroup{meaning, layout, reason, {k}};
  };
  if (channels == 1 && IsInteger(outputs.info(k)) && !outputs.IsCalled(k, {"image", "picture"})) {
    return group(Meaning::kClassMap, Layout::kClassPerPixel, fmt::format("an integer per pixel{}", made));
  }
  if (outputs.Content(k) == "image" && (channels == 1 || channels == 3) && !outputs.HasLabels(k)) {
    return group(Meaning::kImage, Layout::kPixels, "the file's metadata says so");
  }
  const bool is_named = outputs.HasLabels(k) || outputs.IsCalled(k, {"segment", "mask", "image", "picture", "depth"});
  if (!is_named && !HasProportionsOfPicture(outputs, k)) {
    const Meaning shown = channels == 1 || channels == 3 ? Meaning::kImage : Meaning::kClassMap;
    return NotSure(k, shown == Meaning::kImage ? "a picture" : "scores of each pixel", shown);
  }
  if (channels == 1) {
    const bool is_mask = outputs.IsMadeBy(k, {UnaryKind::kLogistic}) || outputs.IsCalled(k, {"segment", "mask"});
    if (is_mask && outputs.PictureChannels() != 1) {
      return group(Meaning::kMask, Layout::kOneChannel, fmt::format("one number per pixel{}", made));
    }
    return group(Meaning::kImage, Layout::kPixels, fmt::format("one channel{}", made));
  }
  if (channels == 2) {
    return group(Meaning::kMask, Layout::kTwoChannels, "two scores per pixel: background, foreground");
  }
  if (channels == 3 && !outputs.HasLabels(k) && LooksLikePixels(outputs, k)) {
    return group(Meaning::kImage, Layout::kPixels, fmt::format("three channels{}", made));
  }
  if (!ScoresPixelsByClass(outputs, k)) {
    return NotSure(k, "a class for each pixel, or heat maps of key points", Meaning::kClassMap);
  }
  return group(Meaning::kClassMap, Layout::kScoresPerPixel, fmt::format("{} scores per pixel{}", channels, made));
}

// Networks of features end in a convolution or a mean, or have more numbers than most lists of classes.
bool LooksLikeLogits(const Outputs& outputs, size_t k) {
  const size_t count = outputs.ElementCount(k);
  const bool is_imagenets = count == 1000 || count == 1001;
  if (is_imagenets || outputs.IsCalled(k, {"class", "logit", "prob", "score", "predict"})) return true;
  return count <= 128 && !outputs.IsMadeBy<Conv2D>(k) && !outputs.IsMadeBy<Reduce>(k);
}

ResultGroup OfOne(const Outputs& outputs, size_t k, bool is_alone) {
  const int32_t channels = MapChannels(outputs, k);
  if (channels > 0) return OfMap(outputs, k, channels);
  ResultGroup nothing{Meaning::kNone, Layout::kOther, "its shape says nothing", {k}};
  if (outputs.ElementCount(k) == 1) nothing.reason = "a single number";
  if (!IsVector(outputs, k)) return nothing;
  ResultGroup scores{Meaning::kClasses, Layout::kScores, "", {k}};
  if (outputs.HasLabels(k)) {
    scores.reason = "the file's metadata names its classes";
  } else if (outputs.IsMadeBy<Softmax>(k) || outputs.IsMadeBy<LogSoftmax>(k) ||
             outputs.IsMadeBy(k, {UnaryKind::kLogistic})) {
    scores.reason = fmt::format("one score per class{}", OpText(outputs, k));
  } else if (is_alone && LooksLikeLogits(outputs, k)) {
    scores.reason = fmt::format("one number per class{}", OpText(outputs, k));
  } else if (is_alone && !outputs.IsMadeBy<L2Normalization>(k)) {
    return NotSure(k, "a number for each class, or features", Meaning::kClasses);
  } else {
    nothing.reason = fmt::format("{} numbers{}", outputs.ElementCount(k), OpText(outputs, k));
    return nothing;
  }
  return scores;
}

using GroupRule = std::optional<ResultGroup> (*)(const Outputs&);
constexpr GroupRule kGroupRules[] = {DetectionsOfOperator, DetectionsOfMetadata, Faces, Heatmaps, Landmarks,
                                     ScoredPoints};

// The layout that an output's shape allows for a meaning.
std::optional<Layout> LayoutFor(Meaning wanted, const Outputs& outputs, size_t k) {
  const int32_t channels = MapChannels(outputs, k);
  switch (wanted) {
    case Meaning::kClasses: return IsVector(outputs, k) ? std::optional(Layout::kScores) : std::nullopt;
    case Meaning::kMask:
      return channels == 1   ? std::optional(Layout::kOneChannel)
             : channels == 2 ? std::optional(Layout::kTwoChannels)
                             : std::nullopt;
    case Meaning::kClassMap:
      if (channels >= 2) return Layout::kScoresPerPixel;
      return channels == 1 && IsInteger(outputs.info(k)) ? std::optional(Layout::kClassPerPixel) : std::nullopt;
    case Meaning::kImage: return channels == 1 || channels == 3 ? std::optional(Layout::kPixels) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

std::string_view MeaningName(Meaning meaning) {
  return kNames[static_cast<size_t>(meaning)];
}

std::optional<Meaning> MeaningOf(std::string_view name) {
  return EnumNamed<Meaning>(kNames, name);
}

std::vector<std::string> MeaningNames() {
  std::vector<std::string> names(std::begin(kNames) + 1, std::end(kNames));
  names.emplace_back(kNames[0]);
  return names;
}

std::vector<ResultGroup> FindResults(const Model& model, const ModelMetadata& metadata) {
  Outputs outputs(model, metadata);
  std::vector<ResultGroup> groups;
  for (const GroupRule rule : kGroupRules) {
    if (std::optional<ResultGroup> group = rule(outputs)) {
      outputs.Take(group->outputs);
      groups.push_back(std::move(*group));
    }
  }
  const bool is_alone = outputs.count() == 1;
  for (size_t k = 0; k < outputs.count(); ++k) {
    if (outputs.is_free(k)) groups.push_back(OfOne(outputs, k, is_alone));
  }
  for (ResultGroup& group : groups) std::tie(group.input_height, group.input_width) = outputs.PictureSize();
  std::sort(groups.begin(), groups.end(),
            [](const ResultGroup& a, const ResultGroup& b) { return a.outputs[0] < b.outputs[0]; });
  return groups;
}

Result<std::vector<ResultGroup>> FindResultsOf(Meaning wanted, const std::string& asked_by, const Model& model,
                                               const ModelMetadata& metadata) {
  std::vector<ResultGroup> groups = FindResults(model, metadata);
  const bool is_found =
      std::any_of(groups.begin(), groups.end(), [&](const ResultGroup& group) { return group.meaning == wanted; });
  Outputs outputs(model, metadata);
  std::vector<ResultGroup> result;
  bool fits = is_found || wanted == Meaning::kNone;
  for (ResultGroup& group : groups) {
    if (group.meaning == wanted) {
      result.push_back(std::move(group));
      continue;
    }
    for (const size_t k : group.outputs) {
      const std::optional<Layout> layout = is_found ? std::nullopt : LayoutFor(wanted, outputs, k);
      fits |= layout.has_value();
      result.push_back({layout ? wanted : Meaning::kNone,
                        layout.value_or(Layout::kOther),
                        "asked for by " + asked_by,
                        {k},
                        group.input_height,
                        group.input_width});
    }
  }
  if (fits) return result;
  std::vector<std::string> shapes;
  for (const TensorInfo& info : model.outputs())
    shapes.push_back(fmt::format("'{}' [{}]", info.name, fmt::join(info.shape, ",")));
  return Error(StatusCode::kInvalidArgument, "{} {}: no output of this model has a form that can be shown so: {}",
               asked_by, MeaningName(wanted), fmt::join(shapes, ", "));
}

}  // namespace hearth
