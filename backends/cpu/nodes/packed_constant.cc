#include "backends/cpu/nodes/packed_constant.h"

#include <vector>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

// Floats are packed directly, without a copy in between; null for other numbers.
template <typename Number>
const Number* InPlace(DType dtype, std::span<const std::byte> bytes) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % alignof(Number) == 0;
  if (dtype != DType::kFloat32 || !std::is_same_v<Number, float> || !is_aligned) return nullptr;
  return reinterpret_cast<const Number*>(bytes.data());
}

// A layer's weights as a file has them, a row for each number of the depth: copied row by row from any address. Null
// for others. Changes the layout to theirs.
template <typename Number>
const Number* RowsInFile(const Graph& graph, ValueId constant, MatrixLayout& layout) {
  const Value& value = graph.value(constant);
  const Constant& stored = graph.constant(*value.constant);
  const bool is_turned = layout.count == 1 && layout.row_step == 1 && layout.column_step == layout.depth;
  if (!std::is_same_v<Number, float> || value.desc.dtype != DType::kFloat32 || layout.is_checked || !is_turned ||
      stored.elements == nullptr ||
      stored.elements->form() != StoredForm{{0, {{layout.columns, 1}, {layout.depth, layout.columns}}}}) {
    return nullptr;
  }
  stored.was_read.Set();
  layout.row_step = layout.columns;
  layout.column_step = 1;
  return reinterpret_cast<const Number*>(stored.bytes.data());
}

template <typename Number>
struct CheckedMatrices {
  PackedNumbers<Number> matrices;
  bool are_finite = true;
  uint64_t bytes() const { return matrices.bytes(); }
};

template <typename Number>
[[gnu::cold]] Result<CheckedMatrices<Number>> PackNumbers(const HostNodeRequest& request, ValueId constant,
                                                          MatrixLayout layout) {
  std::vector<Number> converted;
  OrderedBytes stored;
  const Number* numbers = RowsInFile<Number>(request.graph, constant, layout);
  if (numbers == nullptr) {
    stored = request.graph.ReadConstant(constant);
    numbers = InPlace<Number>(request.graph.value(constant).desc.dtype, stored.bytes);
  }
  if (numbers == nullptr) {
    HEARTH_ASSIGN(converted, ConstantAs<Number>(request.graph, constant));
    numbers = converted.data();
  }
  std::vector<MatrixOf<Number>> views;
  for (int64_t k = 0; k < layout.count; ++k) {
    views.push_back({numbers + k * layout.depth * layout.columns, layout.row_step, layout.column_step, {}});
  }
  const auto count = static_cast<size_t>(layout.count * layout.depth * layout.columns);
  CheckedMatrices<Number> packed{{layout.depth, layout.columns, layout.count, BestVectorSet(), request.weights},
                                 !layout.is_checked || AllFinite(std::span<const Number>(numbers, count))};
  packed.matrices.Pack(views, request.workers);
  return packed;
}

}  // namespace

template <typename Number>
[[gnu::cold]] Result<PackedOf<Number>> PackedConstant(const HostNodeRequest& request, ValueId constant,
                                                      const MatrixLayout& layout) {
  WeightsKey key("panels");
  key.Add(request.graph, constant).Add(static_cast<int64_t>(BestVectorSet()));
  key.Add(layout.depth).Add(layout.columns).Add(layout.count).Add(layout.row_step).Add(layout.column_step);
  key.Add(layout.is_checked ? 1 : 0).Add(sizeof(Number));
  HEARTH_ASSIGN(const auto packed, request.weights.FindOrTry<CheckedMatrices<Number>>(
                                       key, [&] { return PackNumbers<Number>(request, constant, layout); }));
  return PackedOf<Number>{{packed, &packed->matrices}, packed->are_finite};
}

template Result<PackedOf<float>> PackedConstant(const HostNodeRequest&, ValueId, const MatrixLayout&);
template Result<PackedOf<double>> PackedConstant(const HostNodeRequest&, ValueId, const MatrixLayout&);

}  // namespace hearth
