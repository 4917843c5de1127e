#include "tools/hearth/results/result_report.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/error.h"
#include "runtime/results/decoding.h"
#include "runtime/results/output_meaning.h"
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
