#include "frontends/writer/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace hearth {
namespace {

// Whether each output row depends only on the same row of operand 0, and dimension 0 stays the rows.
bool IsByRow(const Op& op, int rank, int32_t rows) {
  if (const auto* slice = std::get_if<Slice>(&op)) {
    return slice->begin[0] == 0 && slice->size[0] == rows && slice->strides[0] == 1;
  }
  if (const auto* transpose = std::get_if<Transpose>(&op)) return transpose->permutation[0] == 0;
  if (const auto* reduce = std::get_if<Reduce>(&op)) return (reduce->axes_mask & 1u) == 0;
  if (const auto* search = std::get_if<ArgReduce>(&op)) return search->axis != 0 && search->axis + rank != 0;
  if (const auto* split = std::get_if<Split>(&op)) return split->axis != 0;
  if (const auto* gather = std::get_if<Gather>(&op)) return gather->axis > 0 && gather->batch_dims == 0;
  if (const auto* one_hot = std::get_if<OneHot>(&op)) return one_hot->axis != 0;
  if (std::holds_alternative<Softmax>(op) || std::holds_alternative<LogSoftmax>(op)) return rank > 1;
  if (std::holds_alternative<FullyConnected>(op)) return rank == 2;
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Unary>(op) || std::holds_alternative<Cast>(op);
}

bool IsElementwise(const Op& op) {
  return std::holds_alternative<Binary>(op) || std::holds_alternative<Select>(op) ||
         std::holds_alternative<PRelu>(op) || std::holds_alternative<AddN>(op);
}

// Whether each output row depends only on the same rows of operands, one by one.
bool JoinsRows(const Op& op) {
  const auto* concat = std::get_if<Concat>(&op);
  return IsElementwise(op) || (concat != nullptr && concat->axis > 0);
}

// Whether the op looks up rows by index. Invalid rows of the indices give invalid results.
bool LooksUpRows(const Op& op) {
  const auto* gather = std::get_if<Gather>(&op);
  return std::holds_alternative<GatherNd>(op) || (gather != nullptr && gather->axis == 0 && gather->batch_dims == 0);
}

// The neutral element of a reduction, which replaces invalid elements.
double Neutral(ReduceKind kind, const TensorDesc& desc) {
  const bool is_real = desc.dtype == DType::kFloat32, is_long = desc.dtype == DType::kInt64;
  const double largest = is_real   ? std::numeric_limits<double>::infinity()
                         : is_long ? std::nextafter(0x1p63, 0.0)  // int64 has 1,023 larger ones
                                   : std::numeric_limits<int32_t>::max();
  switch (kind) {
    case ReduceKind::kMax: return is_real ? -largest : is_long ? -0x1p63 : std::numeric_limits<int32_t>::min();
    case ReduceKind::kMin: return largest;
    case ReduceKind::kProd:
    case ReduceKind::kAll: return 1.0;
    default: return 0.0;
  }
}

// `value` with `number` in its invalid rows.
Made MaskRows(NodeWriter& to, ValueId value, double number) {
  const DType dtype = to.desc(value).dtype;
  Shape column = to.shape(value);
  for (int d = 1; d < column.rank(); ++d) column[d] = 1;
  const Made is_valid = to.Add(BinaryKind::kLess, {to.AddIndices(column), to.marks().RowsOf(value)});
  return to.AddAs(Select{}, {is_valid, value, to.AddNumber(dtype, number)}, PlainType(dtype));
}

Made ReduceRows(NodeWriter& to, const Reduce& reduce, ValueId value, const TensorDesc& made) {
  const TensorDesc desc = to.desc(value);
  const bool is_mean = reduce.kind == ReduceKind::kMean;
  const bool is_integer = desc.dtype == DType::kInt32 || desc.dtype == DType::kInt64;
  if (desc.quantization || (desc.dtype != DType::kFloat32 && desc.dtype != DType::kBool && (is_mean || !is_integer))) {
    return Error(StatusCode::kUnsupported, "it reduces {}[{}], whose number of rows depends on data",
                 DTypeName(desc.dtype), desc.shape.ToString());
  }
  Reduce of_all = reduce;
  if (is_mean) of_all.kind = ReduceKind::kSum;
  HEARTH_ASSIGN(const ValueId masked, MaskRows(to, value, Neutral(reduce.kind, desc)));
  to.marks().masked.insert(masked);
  HEARTH_ASSIGN(const ValueId result, to.AddAs(of_all, {masked}, made));
  if (!is_mean) return result;
  double others = 1.0;  // elements of a row in one mean
  for (int d = 1; d < desc.shape.rank(); ++d) others *= (reduce.axes_mask >> d & 1u) != 0 ? desc.shape[d] : 1;
  const Made rows = to.Add(Cast{DType::kFloat32}, {to.marks().RowsOf(value)}, DType::kFloat32);
  const Made count = to.Add(BinaryKind::kMul, {rows, to.AddNumber(DType::kFloat32, others)});
  return to.AddReshape(to.Add(BinaryKind::kDiv, {result, count}), to.shape(result));
}

bool IsTurn(const Op& op) {
  const auto* transpose = std::get_if<Transpose>(&op);
  return transpose != nullptr && transpose->permutation == Shape{1, 0};
}

// The number of valid slices along dimension 1 of a result; kNoValue if all are valid, or that is unknown.
ValueId ColumnsOfResult(const NodeWriter& to, const Op& op, std::span<const ValueId> operands, const Shape& made) {
  const Shape& shape = to.shape(operands[0]);
  const ValueId rows = to.marks().RowsOf(operands[0]);
  const bool lies_down =
      std::holds_alternative<Reshape>(op) && made.rank() > 1 && made[0] == 1 && shape.rank() > 0 && made[1] == shape[0];
  if (rows != kNoValue && (IsTurn(op) || lies_down)) return rows;
  ValueId columns = kNoValue;
  for (const ValueId operand : operands) columns = std::max(columns, to.marks().ColumnsOf(operand));
  if (columns == kNoValue || made.rank() < 2) return kNoValue;
  const bool is_first = columns == to.marks().ColumnsOf(operands[0]) && made[1] == shape[1];
  const auto* slice = std::get_if<Slice>(&op);
  const auto* split = std::get_if<Split>(&op);
  const auto* gather = std::get_if<Gather>(&op);
  const auto* concat = std::get_if<Concat>(&op);
  const bool takes_slices = (slice != nullptr && slice->begin[1] == 0 && slice->strides[1] == 1) ||
                            (split != nullptr && split->axis != 1) || std::holds_alternative<Unary>(op) ||
                            (gather != nullptr && gather->axis != 1 && !HaveRows(to, operands.subspan(1))) ||
                            std::holds_alternative<Cast>(op);
  if (takes_slices && is_first) return columns;
  if (!IsElementwise(op) && (concat == nullptr || concat->axis == 1)) return kNoValue;
  const auto joins = [&](ValueId operand) {
    const Shape& its = to.shape(operand);
    const int d = its.rank() - made.rank() + 1;  // of its own that is dimension 1 of the result
    const bool repeats = concat == nullptr && !HaveRows(to, {&operand, 1}) && (d < 0 || its[d] == 1);
    return repeats || (d == 1 && to.marks().ColumnsOf(operand) == columns);
  };
  return std::ranges::all_of(operands, joins) ? columns : kNoValue;
}

// The number of valid rows of a result whose operand has valid columns, which are its rows now.
ValueId RowsOfColumns(const NodeWriter& to, const Op& op, ValueId operand, const Shape& made) {
  const Shape& shape = to.shape(operand);
  const bool stands_up = std::holds_alternative<Reshape>(op) && made.rank() > 0 && shape.rank() > 1 && shape[0] == 1 &&
                         made[0] == shape[1];
  return IsTurn(op) || stands_up ? to.marks().ColumnsOf(operand) : kNoValue;
}

// The number of valid rows among the first ones, which a slice takes.
Made RowsOfFirst(NodeWriter& to, const Op& op, ValueId operand) {
  const auto* slice = std::get_if<Slice>(&op);
  const ValueId rows = to.marks().RowsOf(operand);
  if (slice == nullptr || rows == kNoValue || slice->begin[0] != 0 || slice->strides[0] != 1) return kNoValue;
  if (slice->size[0] == to.shape(operand)[0]) return rows;
  return to.Add(BinaryKind::kMinimum, {rows, to.AddNumber(DType::kInt32, slice->size[0])});
}

// The number of valid rows of `made`; kNoValue if all are valid. An error if that is unknown.
Made RowsOfResult(const NodeWriter& to, const Op& op, std::span<const ValueId> operands, const Shape& made) {
  const auto rows_at = [&](size_t k) { return k < operands.size() ? to.marks().RowsOf(operands[k]) : kNoValue; };
  const ValueId first = rows_at(0);
  if (LooksUpRows(op) && rows_at(1) == kNoValue) return kNoValue;  // the indices are all valid, so the results are
  if (LooksUpRows(op) && first == kNoValue) return rows_at(1);
  const Shape& shape = to.shape(operands[0]);
  const bool keeps_rows = made.rank() > 0 && shape.rank() > 0 && made[0] == shape[0];
  if (first != kNoValue && keeps_rows && rows_at(1) == kNoValue && IsByRow(op, shape.rank(), shape[0])) return first;
  ValueId rows = kNoValue;
  bool is_known = JoinsRows(op) && made.rank() > 0;
  for (const ValueId input : operands) {
    is_known = is_known && to.marks().ColumnsOf(input) == kNoValue;
    const Shape operand = input == kNoValue ? Shape() : to.shape(input);
    const bool has_all = operand.rank() == made.rank() && operand[0] == made[0];
    const bool repeats = operand.rank() < made.rank() || operand[0] == 1;
    const ValueId of_input = to.marks().RowsOf(input);
    is_known = is_known && (has_all || (of_input == kNoValue && repeats));
    is_known = is_known && (rows == kNoValue || of_input == kNoValue || rows == of_input);
    if (of_input != kNoValue) rows = of_input;
  }
  if (is_known) return rows;
  return Error(StatusCode::kUnsupported,
               "it needs the number of rows of an operand, which depends on data (WHERE, UNIQUE, NonMaxSuppression): "
               "do this step after "
               "the model, on its output");
}

}  // namespace

bool HaveRows(const NodeWriter& to, std::span<const ValueId> operands) {
  return std::ranges::any_of(operands, [&](ValueId value) {
    return to.marks().RowsOf(value) != kNoValue || to.marks().ColumnsOf(value) != kNoValue;
  });
}

Status NeedsAllRows() {
  return Error(StatusCode::kUnsupported,
               "an operand has a number of rows that depends on data (WHERE, UNIQUE, NonMaxSuppression): do this step "
               "after the model, on "
               "its output");
}

Made AddOnRows(NodeWriter& to, Op op, std::vector<ValueId> operands, const TensorDesc& made) {
  const auto* reduce = std::get_if<Reduce>(&op);
  if (!HaveRows(to, operands)) return to.AddAs(std::move(op), std::move(operands), made);
  if (reduce != nullptr && (reduce->axes_mask & 1u) != 0 && to.marks().RowsOf(operands[0]) != kNoValue) {
    return ReduceRows(to, *reduce, operands[0], made);
  }
  HEARTH_ASSIGN(const ValueId result, to.AddAs(op, operands, made));
  HEARTH_ASSIGN(const ValueId rows, RowsOfResult(to, op, operands, to.shape(result)));
  if (rows != kNoValue) to.marks().rows.emplace(result, rows);
  return result;
}

Status KeepRows(NodeWriter& to, size_t first_node) {
  for (size_t k = first_node; k < to.graph().nodes().size(); ++k) {
    if (!HaveRows(to, to.graph().nodes()[k].inputs)) continue;
    const Node node = to.graph().nodes()[k];  // a copy: nodes may be added
    if (HaveRows(to, node.outputs) || to.marks().masked.contains(node.inputs[0])) continue;
    const Shape made = to.shape(node.outputs[0]);
    if (const ValueId columns = ColumnsOfResult(to, node.op, node.inputs, made); columns != kNoValue) {
      for (const ValueId output : node.outputs) to.marks().columns.emplace(output, columns);
      continue;
    }
    ValueId rows = RowsOfColumns(to, node.op, node.inputs[0], made);
    if (rows == kNoValue) {
      HEARTH_ASSIGN(rows, RowsOfFirst(to, node.op, node.inputs[0]));
    }
    if (rows == kNoValue) {
      HEARTH_ASSIGN(rows, RowsOfResult(to, node.op, node.inputs, made));
    }
    if (rows == kNoValue) continue;
    for (const ValueId output : node.outputs) to.marks().rows.emplace(output, rows);
  }
  return Status::Ok();
}

Made AddRows(NodeWriter& to, ValueId value, ValueId count) {
  if (!to.IsConstant(count)) {
    to.marks().rows.emplace(value, count);
    return value;
  }
  HEARTH_ASSIGN(const std::vector<int64_t> rows, to.Integers(count));
  return to.AddSlice(value, 0, 0, static_cast<int32_t>(rows[0]));
}

Made AddShapeOf(NodeWriter& to, ValueId value, const TensorDesc& made) {
  const Shape shape = to.shape(value);
  const std::vector<double> sizes(shape.dims().begin(), shape.dims().end());
  const ValueId rows = to.marks().RowsOf(value), columns = to.marks().ColumnsOf(value);
  if (columns != kNoValue) {
    Operands parts{to.AddNumber(made.dtype, sizes[0]), to.AddCast(columns, made.dtype)};
    for (size_t d = 2; d < sizes.size(); ++d) parts.Append(to.AddNumber(made.dtype, sizes[d]));
    return to.Add(Concat{.axis = 0}, parts);
  }
  if (rows == kNoValue) return to.AddConstant({made.dtype, {shape.rank()}, made.quantization}, sizes);
  const Made cast = to.AddCast(rows, made.dtype);
  if (shape.rank() == 1) return cast;
  const Made others = to.AddConstant({shape.rank() - 1}, made.dtype, {sizes.begin() + 1, sizes.end()});
  return to.Add(Concat{.axis = 0}, {cast, others});
}

Status AddRowOutputs(NodeWriter& to) {
  for (const ValueId output : std::vector<ValueId>(to.graph().outputs)) {
    const ValueId rows = to.marks().RowsOf(output), columns = to.marks().ColumnsOf(output);
    if (rows == kNoValue && columns == kNoValue) continue;
    const std::string name = to.graph().value(output).name + (rows == kNoValue ? "_columns" : "_rows");
    HEARTH_ASSIGN(const ValueId count, to.AddCopy(rows == kNoValue ? columns : rows, name));
    to.graph().outputs.push_back(count);
  }
  return Status::Ok();
}

}  // namespace hearth
