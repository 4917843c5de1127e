#include "tools/hearth/results/result_report.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "runtime/results/decoding.h"
#include "runtime/results/output_meaning.h"
#include "runtime/results/result_picture.h"
#include "tools/hearth/results/model_outputs.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr size_t kMostPointsInText = 40;
constexpr float kMaskThreshold = 0.5f;

std::string ShareText(float share) {
  return fmt::format("{:.3f}", share);
}

// What a column of numbers is called: a score lies between 0 and 1, a logit or anything else may not.
template <typename Items>
std::string ScoreTitle(const Items& items) {
  return std::ranges::all_of(items, [](const auto& item) { return IsShare(item.score); }) ? "score" : "value";
}

std::string TopText(const Interpretation& result) {
  TextTable table({">  class", ">" + ScoreTitle(result.classes), "label"});
  for (const ScoredClass& entry : result.classes) {
    table.AddRow({std::to_string(entry.class_index), fmt::format("{:.6f}", entry.score), entry.label});
  }
  return table.ToString();
}

std::string BoxesText(const Interpretation& result) {
  if (result.boxes.empty())
    return fmt::format("  nothing found that is at least {} sure (--min-score)\n", result.min_score);
  TextTable table({">  " + ScoreTitle(result.boxes), ">class", ">left", ">top", ">right", ">bottom", "label"});
  for (const Box& box : result.boxes) {
    table.AddRow({fmt::format("{:.3f}", box.score), std::to_string(box.class_index), ShareText(box.left),
                  ShareText(box.top), ShareText(box.right), ShareText(box.bottom), box.label});
  }
  return table.ToString();
}

std::string PointsText(const Interpretation& result) {
  const KeyPoints& points = result.points;
  std::string text;
  if (result.group.outputs.size() > 1 && points.skeleton != nullptr && result.group.layout != Layout::kHeatmaps) {
    text = fmt::format("  {} sure that there is a {}\n", ShareText(points.score), points.skeleton->name);
  }
  if (points.points.size() > kMostPointsInText) return text + fmt::format("  {} points\n", points.points.size());
  TextTable table({">  x", ">y", ">score", "point"});
  for (size_t k = 0; k < points.points.size(); ++k) {
    const KeyPoint& point = points.points[k];
    table.AddRow({ShareText(point.x), ShareText(point.y), ShareText(point.score), PointName(points.skeleton, k)});
  }
  return text + table.ToString();
}

std::string AreasText(const Interpretation& result) {
  TextTable table({">  class", ">share", "label"});
  for (const ClassArea& area : result.areas) {
    table.AddRow({std::to_string(area.class_index), fmt::format("{:.1f}%", 100 * area.share), area.label});
  }
  return table.ToString();
}

// The share of pixels with at least `threshold`.
float ShareOf(const PixelMap& mask, float threshold) {
  if (mask.values.empty()) return 0;
  const auto count = std::ranges::count_if(mask.values, [&](float value) { return value >= threshold; });
  return static_cast<float>(count) / static_cast<float>(mask.values.size());
}

Json JsonOf(const KeyPoint& point, const std::string& name) {
  return {{"name", name}, {"x", point.x}, {"y", point.y}, {"score", point.score}};
}

Json JsonOf(const Box& box) {
  Json json = {{"class", box.class_index}, {"label", box.label}, {"score", box.score},  {"left", box.left},
               {"top", box.top},           {"right", box.right}, {"bottom", box.bottom}};
  for (size_t k = 0; k < box.points.size(); ++k)
    json["keypoints"].push_back(JsonOf(box.points[k], PointName(box.skeleton, k)));
  return json;
}

Json JsonOf(const KeyPoints& points) {
  Json list = Json::array();
  for (size_t k = 0; k < points.points.size(); ++k)
    list.push_back(JsonOf(points.points[k], PointName(points.skeleton, k)));
  return {{"kind", points.skeleton == nullptr ? "" : std::string(points.skeleton->name)},
          {"score", points.score},
          {"points", list}};
}

// ---- Doubts ----

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
  const auto is_in = [&](size_t at) { return mask.values[at] >= kMaskThreshold; };
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

void ShowOptions::AddOptions(CLI::App& app) {
  app.add_option("--show", show_, "What the outputs mean, if the program guesses wrong")
      ->check(CLI::IsMember(ShowWords()))
      ->type_name("WHAT");
  AddNumber(app, "--top", top_, "K", 1, 1000000, "Show the K highest scores of outputs that hold one score per class");
  app.add_option("--labels", labels_path_,
                 "Names of the classes, one a line, line 0 first; not needed if the model's file has them")
      ->type_name("FILE");
  AddNumber(app, "--min-score", min_score_, "S", 0.0, 1.0, "Leave out boxes and key points with a lower score");
}

Status ShowOptions::Prepare() {
  if (labels_path_.empty()) return Status::Ok();
  HEARTH_ASSIGN(labels_, ReadLabels(labels_path_));
  return Status::Ok();
}

Result<Interpreter> ShowOptions::InterpreterFor(const Model& model, const ModelMetadata& metadata) const {
  InterpretOptions options{.labels = labels_, .top = static_cast<size_t>(top_), .min_score = min_score_};
  SetShown(show_, options);
  return Interpreter::Create(model, metadata, options, "--show");
}

std::string TextOf(const Interpretation& result) {
  switch (result.group.meaning) {
    case Meaning::kNone:
    case Meaning::kImage: return "";
    case Meaning::kClasses: return TopText(result);
    case Meaning::kBoxes: return BoxesText(result);
    case Meaning::kKeypoints: return PointsText(result);
    case Meaning::kMask:
      return fmt::format("  the mask covers {:.1f}% of the picture\n", 100 * ShareOf(result.map, kMaskThreshold));
    case Meaning::kClassMap: return AreasText(result);
  }
  return "";
}

std::string LineOf(const Interpretation& result) {
  std::vector<std::string> parts;
  switch (result.group.meaning) {
    case Meaning::kNone:
    case Meaning::kImage: return std::string(MeaningName(result.group.meaning));
    case Meaning::kClasses:
      for (const ScoredClass& entry : result.classes)
        parts.push_back(fmt::format("{} {:.3f}", ClassText(entry), entry.score));
      break;
    case Meaning::kBoxes:
      for (const Box& box : result.boxes) parts.push_back(fmt::format("{} {:.3f}", ClassText(box), box.score));
      return fmt::format("{} boxes{}{}", parts.size(), parts.empty() ? "" : ": ", fmt::join(parts, ", "));
    case Meaning::kKeypoints: return fmt::format("{} key points", result.points.points.size());
    case Meaning::kMask: return fmt::format("mask {:.1f}%", 100 * ShareOf(result.map, kMaskThreshold));
    case Meaning::kClassMap:
      for (const ClassArea& area : result.areas)
        parts.push_back(fmt::format("{} {:.1f}%", ClassText(area), 100 * area.share));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json JsonOf(const Interpretation& result) {
  Json json = Json::object();
  switch (result.group.meaning) {
    case Meaning::kNone:
    case Meaning::kImage: break;
    case Meaning::kClasses:
      json["top"] = Json::array();
      for (const ScoredClass& entry : result.classes) {
        json["top"].push_back({{"index", entry.class_index}, {"label", entry.label}, {"score", entry.score}});
      }
      break;
    case Meaning::kBoxes:
      json["boxes"] = Json::array();
      for (const Box& box : result.boxes) json["boxes"].push_back(JsonOf(box));
      break;
    case Meaning::kKeypoints: json["keypoints"] = JsonOf(result.points); break;
    case Meaning::kMask:
      json["mask"] = {{"share", ShareOf(result.map, kMaskThreshold)}, {"threshold", kMaskThreshold}};
      break;
    case Meaning::kClassMap:
      json["areas"] = Json::array();
      for (const ClassArea& area : result.areas) {
        json["areas"].push_back({{"class", area.class_index}, {"label", area.label}, {"share", area.share}});
      }
      break;
  }
  return json;
}

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

Status CheckDrawable(const std::vector<ResultGroup>& groups, const std::vector<TensorInfo>& outputs) {
  const auto may_be_drawn = [](const ResultGroup& group) {
    return group.meaning != Meaning::kNone || group.layout != Layout::kOther;
  };
  if (std::any_of(groups.begin(), groups.end(), may_be_drawn)) return Status::Ok();
  std::string reasons;
  for (const ResultGroup& group : groups) {
    reasons += fmt::format("{}'{}' ({})", reasons.empty() ? "" : ", ", outputs[group.outputs[0]].name, group.reason);
  }
  return Error(StatusCode::kInvalidArgument,
               "--picture: nothing that can be drawn comes out of this model: {}; --show says what an output means",
               reasons);
}

}  // namespace hearth
