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
#include "runtime/results/anchors.h"
#include "runtime/results/output_facts.h"
#include "runtime/results/point_meaning.h"
#include "runtime/results/yolo_form.h"

namespace hearth {
namespace {

constexpr std::string_view kNames[] = {"none", "classes", "mask", "class-map", "image", "boxes", "keypoints"};

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
  const bool is_named =
      (channels > 1 && outputs.HasLabels(k)) || outputs.IsCalled(k, {"segment", "mask", "image", "picture", "depth"});
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
    return NotSure(k, "heat maps of key points (--show keypoints), or a class for each pixel", Meaning::kClassMap);
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
  if (outputs.HasLabels(k) && outputs.LabelCount(k) <= outputs.ElementCount(k)) {
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
constexpr GroupRule kGroupRules[] = {DetectionsOfOperator, DetectionsOfMetadata, FindAnchors,     FindYolo,
                                     FindHeatmaps,         FindLandmarks,        FindScoredPoints};

// The layout that an output's shape allows for a meaning; `layout` or none if a user chose one.
std::optional<Layout> LayoutFor(Meaning wanted, std::optional<Layout> layout, const Outputs& outputs, size_t k) {
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
    case Meaning::kBoxes: return YoloLayoutOf(outputs, k, layout);
    case Meaning::kKeypoints: return PointLayoutFor(outputs, k);
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

std::vector<std::string> ShowWords() {
  std::vector<std::string> words(std::begin(kNames) + 1, std::end(kNames));
  words.emplace_back(kNames[0]);
  for (const auto& [word, layout] : kYoloWords) words.emplace_back(word);
  return words;
}

bool SetShown(std::string_view word, InterpretOptions& options) {
  if (const std::optional<Meaning> meaning = MeaningOf(word)) {
    options.meaning = meaning;
    return true;
  }
  for (const auto& [name, layout] : kYoloWords) {
    if (name != word) continue;
    options.meaning = Meaning::kBoxes;
    options.layout = layout;
    return true;
  }
  return false;
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

Result<std::vector<ResultGroup>> FindResultsOf(Meaning wanted, std::optional<Layout> layout,
                                               const std::string& asked_by, const Model& model,
                                               const ModelMetadata& metadata) {
  std::vector<ResultGroup> groups = FindResults(model, metadata);
  const auto is_it = [&](const ResultGroup& group) {
    return group.meaning == wanted && (!layout || group.layout == *layout);
  };
  const bool is_found = std::any_of(groups.begin(), groups.end(), is_it);
  Outputs outputs(model, metadata);
  std::vector<ResultGroup> result;
  bool fits = is_found || wanted == Meaning::kNone;
  for (ResultGroup& group : groups) {
    if (is_it(group)) {
      group.is_asked_for = true;
      result.push_back(std::move(group));
      continue;
    }
    // Boxes that were not sure, or that the user takes for another kind, keep the outputs that belong to them.
    const bool was_unsure = wanted == Meaning::kBoxes && !is_found && !layout && group.layout != Layout::kOther &&
                            group.meaning == Meaning::kNone;
    if (was_unsure || (layout && IsYolo(group.layout) && YoloLayoutOf(outputs, group.outputs[0], layout))) {
      fits = true;
      group.meaning = wanted;
      if (layout) group.layout = *layout;
      group.reason = "asked for by " + asked_by;
      group.is_asked_for = true;
      result.push_back(std::move(group));
      continue;
    }
    for (const size_t k : group.outputs) {
      const std::optional<Layout> allowed = is_found ? std::nullopt : LayoutFor(wanted, layout, outputs, k);
      fits |= allowed.has_value();
      result.push_back({allowed ? wanted : Meaning::kNone,
                        allowed.value_or(Layout::kOther),
                        "asked for by " + asked_by,
                        {k},
                        group.input_height,
                        group.input_width,
                        true});
    }
  }
  if (fits) return result;
  std::vector<std::string> shapes;
  for (const TensorInfo& info : model.outputs())
    shapes.push_back(fmt::format("'{}' [{}]", info.name, fmt::join(info.shape, ",")));
  const auto* const name = std::find_if(std::begin(kYoloWords), std::end(kYoloWords),
                                        [&](const auto& named) { return layout == named.second; });
  return Error(StatusCode::kInvalidArgument, "{} {}: no output of this model has a form that can be shown so: {}",
               asked_by, name == std::end(kYoloWords) ? MeaningName(wanted) : name->first, fmt::join(shapes, ", "));
}

}  // namespace hearth
