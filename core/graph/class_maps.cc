#include "core/graph/class_maps.h"

#include <map>
#include <utility>

#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int kMapRank = 3;  // batch, height, width

bool AreScoresOfPixels(const TensorDesc& desc) {
  const Shape& shape = desc.shape;
  if (shape.rank() != kMapRank + 1 || !IsReal(desc) || desc.dtype == DType::kBool) return false;
  return shape[0] > 0 && CountBetween(shape, 1, kMapRank) > 1 && shape[kMapRank] >= 2;
}

ValueId AddMapOf(ValueId scores, Graph& graph) {
  const Shape& shape = graph.value(scores).desc.shape;
  Value map{.name = graph.value(scores).name, .desc = {DType::kInt32, Shape{shape[0], shape[1], shape[2]}, {}}};
  graph.value(scores).name += "_scores";
  const ValueId id = graph.AddValue(std::move(map));
  graph.AddNode({.op = ArgReduce{ArgKind::kMax, kMapRank}, .inputs = {scores}, .outputs = {id}, .name = "class_map"});
  return id;
}

}  // namespace

std::vector<size_t> MapClassesOfOutputs(Graph& graph) {
  std::vector<size_t> changed;
  std::map<ValueId, ValueId> maps;  // by scores: a file may list them as several outputs
  for (size_t index = 0; index < graph.outputs.size(); ++index) {
    const ValueId scores = graph.outputs[index];
    if (!AreScoresOfPixels(graph.value(scores).desc)) continue;
    const auto [place, is_new] = maps.try_emplace(scores, kNoValue);
    if (is_new) place->second = AddMapOf(scores, graph);
    graph.outputs[index] = place->second;
    changed.push_back(index);
  }
  return changed;
}

}  // namespace hearth
