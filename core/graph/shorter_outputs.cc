#include "core/graph/shorter_outputs.h"

#include <map>
#include <utility>

#include "core/base/contains.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// --- the best few scores

bool IsRowOfScores(const TensorDesc& desc, int32_t k) {
  const int rank = desc.shape.rank();
  if (rank < 1 || !IsReal(desc) || desc.dtype == DType::kBool || desc.shape[rank - 1] <= k) return false;
  // The largest of a row of several grids would need those of their places, which only the run knows.
  if (desc.quantization && desc.quantization->scales.size() > 1) return false;
  for (int d = 1; d + 1 < rank; ++d) {
    if (desc.shape[d] != 1) return false;
  }
  return true;
}

struct TopValues {
  ValueId best = kNoValue, places = kNoValue;
};

TopValues AddTopOf(ValueId scores, int32_t k, Graph& graph) {
  Value best{.name = graph.value(scores).name, .desc = graph.value(scores).desc};
  Value places{.name = best.name + "_indices"};
  graph.value(scores).name += "_all";
  std::vector<int32_t> dims(best.desc.shape.dims().begin(), best.desc.shape.dims().end());
  dims.back() = k;
  best.desc.shape = places.desc.shape = Shape::FromSpan(dims);
  places.desc.dtype = DType::kInt32;
  // No node takes or makes a tensor without elements, which a batch of 0 gives.
  if (best.desc.shape.element_count() == 0) {
    const ValueId best_id = graph.AddConstantValue(std::move(best.name), std::move(best.desc), {});
    return {best_id, graph.AddConstantValue(std::move(places.name), std::move(places.desc), {})};
  }
  const ValueId best_id = graph.AddValue(std::move(best)), places_id = graph.AddValue(std::move(places));
  graph.AddNode({.op = TopK{k}, .inputs = {scores}, .outputs = {best_id, places_id}, .name = "top_k"});
  return {best_id, places_id};
}

// --- the class of each pixel

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

std::vector<size_t> KeepTopOfOutputs(Graph& graph, int32_t k) {
  std::vector<size_t> changed;
  std::map<ValueId, TopValues> tops;  // by scores: a file may list them as several outputs
  const size_t count = graph.outputs.size();
  for (size_t index = 0; index < count; ++index) {
    const ValueId scores = graph.outputs[index];
    if (!IsRowOfScores(graph.value(scores).desc, k)) continue;
    const auto [top, is_new] = tops.try_emplace(scores);
    if (is_new) top->second = AddTopOf(scores, k, graph);
    graph.outputs[index] = top->second.best;
    graph.outputs.push_back(top->second.places);
    changed.push_back(index);
  }
  return changed;
}

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
