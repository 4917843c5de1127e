#include "core/graph/class_maps.h"

#include <map>
#include <utility>

#include "core/base/contains.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int kMapRank = 3;  // batch, height, width

bool AreScoresOfPixels(const TensorDesc& desc, const std::vector<int32_t>& declared) {
  if (desc.shape.rank() != kMapRank + 1 || !IsReal(desc) || desc.dtype == DType::kBool) return false;
  if (declared.size() != kMapRank + 1 || Contains(declared, 0)) return false;
  return (declared[1] != 1 || declared[2] != 1) && declared[kMapRank] != 1;
}

ValueId AddMapOf(ValueId scores, Graph& graph) {
  const Shape& shape = graph.value(scores).desc.shape;
  Value map{.name = graph.value(scores).name, .desc = {DType::kInt32, Shape{shape[0], shape[1], shape[2]}, {}}};
  graph.value(scores).name += "_scores";
  // No node takes or makes a tensor without elements, which a batch or picture of size 0 gives.
  if (map.desc.shape.element_count() == 0) return graph.AddConstantValue(std::move(map.name), std::move(map.desc), {});
  const ValueId id = graph.AddValue(std::move(map));
  graph.AddNode({.op = ArgReduce{ArgKind::kMax, kMapRank}, .inputs = {scores}, .outputs = {id}, .name = "class_map"});
  return id;
}

}  // namespace

std::vector<size_t> MapClassesOfOutputs(Graph& graph, std::span<const std::vector<int32_t>> declared) {
  std::vector<size_t> changed;
  std::map<ValueId, ValueId> maps;  // by scores: a file may list them as several outputs
  for (size_t index = 0; index < graph.outputs.size(); ++index) {
    const ValueId scores = graph.outputs[index];
    if (!AreScoresOfPixels(graph.value(scores).desc, declared[index])) continue;
    const auto [place, is_new] = maps.try_emplace(scores, kNoValue);
    if (is_new) place->second = AddMapOf(scores, graph);
    graph.outputs[index] = place->second;
    changed.push_back(index);
  }
  return changed;
}

}  // namespace hearth
