#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "hearth/results.h"
#include "runtime/results/anchors.h"
#include "runtime/results/decoding.h"
#include "runtime/results/known_labels.h"
#include "runtime/results/output_facts.h"
#include "runtime/results/output_meaning.h"
#include "runtime/results/result_picture.h"
#include "runtime/results/yolo_form.h"

namespace hearth {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 27;

Result<std::vector<ResultGroup>> GroupsOf(const Model& model, const ModelMetadata& metadata,
                                          const InterpretOptions& options, const std::string& asked_by) {
  const Recipe& recipe = metadata.recipe;
  if (options.meaning) return FindResultsOf(*options.meaning, options.layout, asked_by, model, metadata);
  if (recipe.meaning.empty()) return FindResults(model, metadata);
  InterpretOptions told;
  if (SetShown(recipe.meaning, told)) return FindResultsOf(*told.meaning, told.layout, recipe.path, model, metadata);
  return Error(StatusCode::kMalformedInput, "{}: 'meaning' is '{}', which is no value of --show", recipe.path,
               recipe.meaning);
}

std::vector<std::string> LabelsFor(const ResultGroup& group, const ModelMetadata& metadata,
                                   const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  if (!metadata.recipe.labels.empty()) return metadata.recipe.labels;
  for (const size_t k : group.outputs) {
    if (k >= metadata.outputs.size()) continue;
    if (!metadata.outputs[k].axis_labels.empty()) return metadata.outputs[k].axis_labels;
    if (!metadata.outputs[k].value_labels.empty()) return metadata.outputs[k].value_labels;
  }
  return {};
}

// 0: unknown. YOLO's heads are counted when they are decoded.
size_t ClassCount(const Model& model, const std::vector<bool>& are_planar, const ResultGroup& group) {
  const std::vector<int32_t>& shape = model.outputs()[group.outputs[0]].shape;
  if (group.layout == Layout::kScoresPerPixel || group.layout == Layout::kScores) {
    return static_cast<size_t>(ChannelsLast(shape, are_planar[group.outputs[0]]).back());
  }
  for (const Node& node : model.data().graph.nodes()) {
    const auto* detection = std::get_if<DetectionPostProcess>(&node.op);
    if (group.layout == Layout::kDetections && detection != nullptr) return static_cast<size_t>(detection->num_classes);
  }
  return 0;
}

void DecodeBoxes(Interpretation& result) {
  if (IsYolo(result.group.layout)) {
    DecodeYolo(result);
  } else {
    result.boxes = result.group.layout == Layout::kAnchors
                       ? DecodeAnchors(result)
                       : ListedBoxes(result.values, result.labels, result.min_score);
  }
}

// Whether what a drawing reads is there. In a result that was made by hand it may not be.
bool IsWhole(const Interpretation& result) {
  const PixelMap& map = result.map;
  const bool is_map_whole = map.height > 0 && map.width > 0 &&
                            map.values.size() == static_cast<size_t>(map.height) * static_cast<size_t>(map.width);
  const auto has_points = [](const Skeleton* skeleton, const std::vector<KeyPoint>& points) {
    return skeleton == nullptr || points.size() >= skeleton->point_count;
  };
  switch (result.group.meaning) {
    case Meaning::kMask:
    case Meaning::kClassMap: return is_map_whole;
    case Meaning::kBoxes:
      return (is_map_whole || map.values.empty()) &&
             std::ranges::all_of(result.boxes, [&](const Box& box) { return has_points(box.skeleton, box.points); });
    case Meaning::kImage: {
      if (result.infos.empty() || result.values.empty() || result.infos[0].shape.size() < 3) return false;
      size_t count = 1;
      for (const int32_t dim : result.infos[0].shape) count *= static_cast<size_t>(dim);
      return count > 0 && result.values[0].size() == count;
    }
    case Meaning::kKeypoints: return has_points(result.points.skeleton, result.points.points);
    default: return true;
  }
}

}  // namespace

Result<Interpreter> Interpreter::Create(const Model& model, InterpretOptions options) {
  const Result<ModelMetadata> metadata = model.ReadMetadata();
  return Create(model, metadata.ok() ? *metadata : ModelMetadata(), std::move(options), "meaning");
}

Result<Interpreter> Interpreter::Create(const Model& model, const ModelMetadata& metadata, InterpretOptions options,
                                        const std::string& asked_by) {
  if (std::isnan(options.min_score))
    return Error(StatusCode::kInvalidArgument, "min_score is not a number: give one from 0 to 1");
  Interpreter made;
  ModelMetadata known = metadata;
  if (!options.labels.empty()) known.recipe.labels = options.labels;
  HEARTH_ASSIGN(made.groups_, GroupsOf(model, known, options, asked_by));
  made.are_planar_ = PlanarOutputs(model);
  for (ResultGroup& group : made.groups_) {
    made.labels_.push_back(LabelsFor(group, metadata, options.labels));
    GiveKnownLabels(ClassCount(model, made.are_planar_, group), group, made.labels_.back());
  }
  made.outputs_ = model.outputs();
  made.options_ = std::move(options);
  return made;
}

Result<std::vector<Interpretation>> Interpreter::Interpret(const Session& session) const {
  std::vector<Interpretation> results;
  for (size_t k = 0; k < groups_.size(); ++k) {
    HEARTH_ASSIGN(Interpretation result, InterpretGroup(session, k));
    results.push_back(std::move(result));
  }
  return results;
}

Result<Interpretation> Interpreter::InterpretGroup(const Session& session, size_t index) const {
  if (index >= groups_.size())
    return Error(StatusCode::kInvalidArgument, "there is no result {}, only {}", index, groups_.size());
  Interpretation result{.group = groups_.at(index), .labels = labels_.at(index), .min_score = options_.min_score};
  const ResultGroup& group = result.group;
  for (const size_t k : group.outputs) {
    const auto& outputs = session.outputs();
    if (outputs.size() != outputs_.size() || outputs[k].shape != outputs_[k].shape) {
      return Error(StatusCode::kInvalidArgument,
                   "the session's outputs are not those of the model that the interpreter was made for; after a "
                   "resize make another");
    }
    const std::span<const std::byte> bytes = session.output(k);
    if (bytes.size() != outputs[k].size_bytes) {
      return Error(StatusCode::kInvalidArgument, "output '{}' is in the caller's memory; read it there",
                   outputs[k].name);
    }
    HEARTH_ASSIGN(const std::vector<double> reals, OutputAsReals(outputs[k], bytes));
    result.infos.push_back(outputs[k]);
    result.infos.back().shape = ChannelsLast(outputs[k].shape, are_planar_[k]);
    std::vector<float>& values = result.values.emplace_back(reals.begin(), reals.end());
    if (!are_planar_[k]) continue;
    const size_t channels = static_cast<size_t>(outputs[k].shape[1]);
    const size_t batch = static_cast<size_t>(outputs[k].shape[0]);
    const size_t one = reals.size() / std::max<size_t>(batch, 1), plane = one / std::max<size_t>(channels, 1);
    for (size_t at = 0; at < values.size(); ++at)
      values[at] = static_cast<float>(reals[at / one * one + at % channels * plane + at % one / channels]);
  }
  switch (group.meaning) {
    case Meaning::kNone:
      if (!group.is_asked_for && IsYolo(group.layout)) DecodeYolo(result);  // its values can settle it
      break;
    case Meaning::kImage: break;
    case Meaning::kClasses: result.classes = HighestScores(result.values[0], options_.top, result.labels); break;
    case Meaning::kBoxes: DecodeBoxes(result); break;
    case Meaning::kKeypoints: result.points = DecodeKeyPoints(group, result.infos, result.values); break;
    case Meaning::kMask: result.map = DecodeMask(group, result.infos[0], result.values[0]); break;
    case Meaning::kClassMap:
      result.map = DecodeClassMap(group, result.infos[0], result.values[0]);
      result.areas = AreasOf(result.map, result.labels);
      break;
  }
  if (group.meaning == Meaning::kNone) result.group.layout = Layout::kOther;
  return result;
}

Result<std::vector<Interpretation>> Interpret(const Session& session, InterpretOptions options) {
  HEARTH_ASSIGN(const Interpreter interpreter, Interpreter::Create(session.model(), std::move(options)));
  return interpreter.Interpret(session);
}

Result<RgbPicture> Draw(const Interpretation& result, const RgbPicture& picture) {
  if (result.group.meaning == Meaning::kNone)
    return Error(StatusCode::kInvalidArgument, "a result without a meaning can't be drawn: {}", result.group.reason);
  if (!IsWhole(result)) {
    return Error(StatusCode::kInvalidArgument,
                 "this result's numbers are not all there: {} is drawn as it came out of Interpret",
                 MeaningName(result.group.meaning));
  }
  const int64_t pixels = int64_t{picture.width} * picture.height;
  if (picture.width < 0 || picture.height < 0 || picture.values.size() != static_cast<uint64_t>(pixels) * 3) {
    return Error(StatusCode::kInvalidArgument, "a picture of {} x {} pixels has {} values, not {}", picture.width,
                 picture.height, picture.values.size(), 3 * pixels);
  }
  if (pixels > kMostPixels) {
    return Error(StatusCode::kResourceExhausted, "a picture of {} x {} pixels has more than {}", picture.width,
                 picture.height, kMostPixels);
  }
  Image image;
  if (pixels > 0) image = {picture.width, picture.height, 3, {picture.values.begin(), picture.values.end()}};
  const Image drawn = PictureOf(result, image);
  RgbPicture rgb{drawn.width, drawn.height, std::vector<uint8_t>(drawn.values.size())};
  std::ranges::transform(drawn.values, rgb.values.begin(), RoundedPixel);
  return rgb;
}

}  // namespace hearth
