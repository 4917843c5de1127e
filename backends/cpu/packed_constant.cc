#include "backends/cpu/packed_constant.h"

#include <vector>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

// Floats in a file are packed directly, without a copy in between.
const float* InPlace(const Graph& graph, ValueId constant) {
  const std::span<const std::byte> bytes = graph.ConstantBytes(constant);
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0;
  if (graph.value(constant).desc.dtype != DType::kFloat32 || !is_aligned) return nullptr;
  return reinterpret_cast<const float*>(bytes.data());
}

struct CheckedMatrices {
  PackedMatrices matrices;
  bool are_finite = true;
  uint64_t bytes() const { return matrices.bytes(); }
};

PackedFloats MatricesOf(const std::shared_ptr<const CheckedMatrices>& held) {
  return {{held, &held->matrices}, held->are_finite};
}

}  // namespace

Result<PackedFloats> PackedConstant(const HostNodeRequest& request, ValueId constant, const MatrixLayout& layout) {
  const Graph& graph = request.graph;
  const VectorSet set = BestVectorSet();
  WeightsKey key("panels");
  key.Add(graph, constant).Add(static_cast<int64_t>(set)).Add(layout.depth).Add(layout.columns).Add(layout.count);
  key.Add(layout.row_step).Add(layout.column_step).Add(layout.is_checked ? 1 : 0);
  if (const auto found = request.weights.Find<CheckedMatrices>(key)) return MatricesOf(found);
  std::vector<float> converted;
  const float* floats = InPlace(graph, constant);
  if (floats == nullptr) {
    HEARTH_ASSIGN(converted, ConstantAsFloats(graph, constant));
    floats = converted.data();
  }
  std::vector<MatrixView> views;
  for (int64_t k = 0; k < layout.count; ++k) {
    views.push_back({floats + k * layout.depth * layout.columns, layout.row_step, layout.column_step, {}});
  }
  const auto count = static_cast<size_t>(layout.count * layout.depth * layout.columns);
  CheckedMatrices packed{{layout.depth, layout.columns, layout.count, set},
                         !layout.is_checked || AllFinite(std::span(floats, count))};
  packed.matrices.Pack(views, request.workers);
  return MatricesOf(request.weights.Add(key, std::move(packed)));
}

}  // namespace hearth
