// What is known of a model's outputs before it runs: shapes, names, metadata, and the operators that make them.
#ifndef HEARTH_RUNTIME_RESULTS_OUTPUT_FACTS_H_
#define HEARTH_RUNTIME_RESULTS_OUTPUT_FACTS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/contains.h"
#include "core/base/text.h"
#include "core/graph/graph.h"
#include "hal/io/picture_shape.h"
#include "hearth/model.h"
#include "hearth/model_metadata.h"
#include "runtime/model/model_data.h"

namespace hearth {

// Which outputs hold pictures with channels first, as ONNX's do: those of four dimensions of a model that takes such
// pictures, unless only the other order has the picture's proportions.
inline std::vector<bool> PlanarOutputs(const Model& model) {
  std::optional<PictureShape> picture;
  for (const TensorInfo& input : model.inputs()) {
    if (!picture) picture = PictureShapeOf(input.shape);
  }
  std::vector<bool> are_planar;
  for (const TensorInfo& output : model.outputs()) {
    const auto has_proportions = [&](size_t height, size_t width) {
      return int64_t{output.shape[height]} * picture->width == int64_t{output.shape[width]} * picture->height;
    };
    const bool may_be = picture && picture->is_planar && output.shape.size() == 4;
    are_planar.push_back(may_be && (has_proportions(2, 3) || !has_proportions(1, 2)));
  }
  return are_planar;
}

inline std::vector<int32_t> ChannelsLast(const std::vector<int32_t>& shape, bool is_planar) {
  return is_planar ? std::vector<int32_t>{shape[0], shape[2], shape[3], shape[1]} : shape;
}

// Of one model; notes which outputs have found their place.
class Outputs {
 public:
  Outputs(const Model& model, const ModelMetadata& metadata)
      : model_(model), metadata_(metadata), taken_(model.outputs().size()), producers_(model.data().graph.Producers()) {
    const std::vector<bool> are_planar = PlanarOutputs(model);
    for (size_t k = 0; k < count(); ++k) shapes_.push_back(ChannelsLast(model.outputs()[k].shape, are_planar[k]));
  }

  size_t count() const { return taken_.size(); }
  const TensorInfo& info(size_t k) const { return model_.outputs()[k]; }
  const std::vector<int32_t>& shape(size_t k) const { return shapes_[k]; }  // channels last
  bool is_free(size_t k) const { return !taken_[k]; }
  void Take(const std::vector<size_t>& outputs) {
    for (const size_t k : outputs) taken_[k] = true;
  }

  bool HasShape(size_t k, std::initializer_list<int32_t> wanted) const {  // -1: any
    return std::equal(shape(k).begin(), shape(k).end(), wanted.begin(), wanted.end(),
                      [](int32_t has, int32_t wants) { return wants == -1 || has == wants; });
  }
  size_t ElementCount(size_t k) const {
    size_t count = 1;
    for (const int32_t size : shape(k)) count *= static_cast<size_t>(std::max(size, 0));
    return count;
  }
  std::optional<size_t> FirstFree(const std::function<bool(size_t)>& fits) const {
    for (size_t k = 0; k < count(); ++k) {
      if (is_free(k) && fits(k)) return k;
    }
    return std::nullopt;
  }

  const TensorMetadata* Metadata(size_t k) const {
    return k < metadata_.outputs.size() ? &metadata_.outputs[k] : nullptr;
  }
  std::string Content(size_t k) const { return Metadata(k) == nullptr ? "" : Metadata(k)->content; }
  bool HasLabels(size_t k) const { return Metadata(k) != nullptr && !Metadata(k)->axis_labels.empty(); }

  const ModelMetadata& metadata() const { return metadata_; }
  // How many classes the recipe's or the file's labels name; 0 without labels.
  size_t LabelCount(size_t k) const {
    if (!metadata_.recipe.labels.empty()) return metadata_.recipe.labels.size();
    return Metadata(k) == nullptr ? 0 : Metadata(k)->axis_labels.size();
  }

  // Whether the output's name contains one of the words.
  bool IsCalled(size_t k, std::initializer_list<std::string_view> words) const {
    const std::string names =
        LowerCase(info(k).name + " " + info(k).alias + " " + (Metadata(k) == nullptr ? "" : Metadata(k)->name));
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return names.find(word) != std::string::npos; });
  }

  // The operation that makes an output, behind nodes that only change its form, its node and which of the node's
  // outputs it is; `op` is null for an input or a constant.
  struct Maker {
    const Op* op = nullptr;
    int node = -1;
    size_t slot = 0;
  };
  Maker MakerOf(size_t k) const {
    const Graph& graph = model_.data().graph;
    if (k >= graph.outputs.size()) return {};
    ValueId value = graph.outputs[k];
    for (int at = producers_[static_cast<size_t>(value)]; at >= 0; at = producers_[static_cast<size_t>(value)]) {
      const Node& node = graph.nodes()[static_cast<size_t>(at)];
      const auto* unary = std::get_if<Unary>(&node.op);
      const bool is_form =
          std::holds_alternative<Reshape>(node.op) || std::holds_alternative<Cast>(node.op) ||
          std::holds_alternative<Transpose>(node.op) ||
          (unary != nullptr && (unary->kind == UnaryKind::kQuantize || unary->kind == UnaryKind::kDequantize ||
                                unary->kind == UnaryKind::kCopy));
      const auto slot = std::ranges::find(node.outputs, value) - node.outputs.begin();
      if (!is_form) return {&node.op, at, static_cast<size_t>(slot)};
      value = node.inputs.at(0);
    }
    return {};
  }
  const Op* MadeBy(size_t k) const { return MakerOf(k).op; }
  template <typename T>
  bool IsMadeBy(size_t k) const {
    const Op* op = MadeBy(k);
    return op != nullptr && std::holds_alternative<T>(*op);
  }
  bool IsMadeBy(size_t k, std::initializer_list<UnaryKind> kinds) const {
    const Op* op = MadeBy(k);
    const auto* unary = op == nullptr ? nullptr : std::get_if<Unary>(op);
    return unary != nullptr && Contains(kinds, unary->kind);
  }

  // Height and width of the input for pictures; zeros if there is none.
  std::pair<int32_t, int32_t> PictureSize() const {
    const std::optional<PictureShape> shape = Picture();
    return shape ? std::pair(shape->height, shape->width) : std::pair(0, 0);
  }
  int32_t PictureChannels() const {
    const std::optional<PictureShape> shape = Picture();
    return shape ? shape->channels : 0;
  }

 private:
  std::optional<PictureShape> Picture() const {
    for (const TensorInfo& input : model_.inputs()) {
      const std::optional<PictureShape> shape = PictureShapeOf(input.shape);
      if (shape && shape->height > 1 && shape->width > 1) return shape;
    }
    return std::nullopt;
  }

  const Model& model_;
  const ModelMetadata& metadata_;
  std::vector<bool> taken_;
  std::vector<int> producers_;  // by value
  std::vector<std::vector<int32_t>> shapes_;
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_OUTPUT_FACTS_H_
