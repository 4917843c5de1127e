#include "core/graph/top_outputs.h"

#include "core/graph/quantize.h"

namespace hearth {
namespace {

bool IsRowOfScores(const TensorDesc& desc, int32_t k) {
  const int rank = desc.shape.rank();
  if (rank < 1 || !IsReal(desc) || desc.dtype == DType::kBool || desc.shape[rank - 1] <= k) return false;
  for (int d = 1; d + 1 < rank; ++d) {
    if (desc.shape[d] != 1) return false;
  }
  return true;
}

}  // namespace

std::vector<size_t> KeepTopOfOutputs(Graph& graph, int32_t k) {
  std::vector<size_t> changed;
  const size_t count = graph.outputs.size();
  for (size_t index = 0; index < count; ++index) {
    const ValueId scores = graph.outputs[index];
    Value best{.name = graph.value(scores).name, .desc = graph.value(scores).desc};
    if (!IsRowOfScores(best.desc, k)) continue;
    std::vector<int32_t> dims(best.desc.shape.dims().begin(), best.desc.shape.dims().end());
    dims.back() = k;
    Value places{.name = best.name + "_indices"};
    graph.value(scores).name += "_all";
    best.desc.shape = places.desc.shape = Shape::FromSpan(dims);
    places.desc.dtype = DType::kInt32;
    const ValueId best_id = graph.AddValue(std::move(best)), places_id = graph.AddValue(std::move(places));
    graph.AddNode({.op = TopK{k}, .inputs = {scores}, .outputs = {best_id, places_id}, .name = "top_k"});
    graph.outputs[index] = best_id;
    graph.outputs.push_back(places_id);
    changed.push_back(index);
  }
  return changed;
}

}  // namespace hearth
