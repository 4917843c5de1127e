// WHERE and UNIQUE, whose results have their largest size and a row count (subgraph_rows.cc).
#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

// The first `count` rows if that number is constant, otherwise all rows with `count` as their row count.
Result<ValueId> CutRows(Expansion& to, ValueId value, ValueId count) {
  if (!to.IsConstant(count)) {
    to.SetRows(value, count);
    return value;
  }
  HEARTH_ASSIGN(const std::vector<int64_t> rows, to.IntegersOf(count));
  return to.AddSlice(value, 0, 0, static_cast<int32_t>(rows[0]));
}

}  // namespace

Expanded ExpandWhere(Expansion& to) {
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(Where{}, {to.operand(0)}, {{DType::kInt64, DType::kInt32}}));
  return OneValue(CutRows(to, made[0], made[1]));
}

Expanded ExpandUnique(Expansion& to) {
  if (to.output_count() != 2) return Error(StatusCode::kMalformedInput, "it has {} outputs", to.output_count());
  const TensorDesc& desc = to.desc(to.operand(0));
  if (desc.quantization) return Error(StatusCode::kUnsupported, "of quantized numbers");
  HEARTH_ASSIGN(const TensorDesc indices, to.DeclaredOutput(1));
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(Unique{}, {to.operand(0)}, {{desc.dtype, indices.dtype, DType::kInt32}}));
  HEARTH_ASSIGN(const ValueId values, CutRows(to, made[0], made[2]));
  return std::vector{values, made[1]};
}

}  // namespace hearth
