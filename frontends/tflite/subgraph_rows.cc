// Tensors whose number of rows depends on data (WHERE, UNIQUE). The graph holds them in their largest size, with the
// number of valid rows beside each. Operators on them keep that number, mask the other rows, or are refused.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

constexpr int32_t kShapeCode = 77;

// Whether each output row depends only on the same row of operand 0, and dimension 0 stays the rows. Precondition: only
// operand 0 has `rows` rows.
bool IsByRow(const Op& op, int rank, int32_t rows) {
  if (const auto* slice = std::get_if<Slice>(&op)) {
    return slice->begin[0] == 0 && slice->size[0] == rows && slice->strides[0] == 1;
  }
  if (const auto* transpose = std::get_if<Transpose>(&op)) return transpose->permutation[0] == 0;
  if (const auto* reduce = std::get_if<Reduce>(&op)) return (reduce->axes_mask & 1u) == 0;
  if (const auto* search = std::get_if<ArgReduce>(&op)) return search->axis != 0 && search->axis + rank != 0;
  if (const auto* one_hot = std::get_if<OneHot>(&op)) return one_hot->axis != 0;
  if (std::holds_alternative<Softmax>(op) || std::holds_alternative<LogSoftmax>(op)) return rank > 1;
  if (std::holds_alternative<FullyConnected>(op)) return rank == 2;
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Unary>(op) || std::holds_alternative<Cast>(op);
}

bool IsElementwise(const Op& op) {
  return std::holds_alternative<Binary>(op) || std::holds_alternative<Select>(op) ||
         std::holds_alternative<PRelu>(op) || std::holds_alternative<AddN>(op);
}

// Whether the op looks up rows by index. Invalid rows of the indices give invalid results.
bool LooksUpRows(const Op& op) {
  const auto* gather = std::get_if<Gather>(&op);
  return std::holds_alternative<GatherNd>(op) || (gather != nullptr && gather->axis == 0 && gather->batch_dims == 0);
}

// The neutral element of a reduction, which replaces invalid elements.
double Neutral(ReduceKind kind, const TensorDesc& desc) {
  const bool is_real = desc.dtype == DType::kFloat32;
  const double largest = is_real ? std::numeric_limits<double>::infinity() : std::numeric_limits<int32_t>::max();
  switch (kind) {
    case ReduceKind::kMax: return is_real ? -largest : std::numeric_limits<int32_t>::min();
    case ReduceKind::kMin: return largest;
    case ReduceKind::kProd:
    case ReduceKind::kAll: return 1.0;
    default: return 0.0;
  }
}

}  // namespace

ValueId SubgraphReader::RowsOf(ValueId value) const {
  const auto found = reading_.rows.find(value);
  return found == reading_.rows.end() ? kNoValue : found->second;
}

Status SubgraphReader::CheckRoom(const TensorDesc& desc) const {
  if (tensors_.HasRoomFor(desc.size_bytes())) return Status::Ok();
  return Error(StatusCode::kUnsupported, "it needs too many constants for the size of the file");
}

Result<ValueId> SubgraphReader::AddNumbers(const TensorDesc& desc, const std::vector<double>& numbers) {
  if (!tensors_.ChargeMade(desc.size_bytes())) return CheckRoom(desc);
  std::vector<std::byte> bytes(desc.size_bytes());
  HEARTH_TRY(ReferenceToBytes({desc.shape, numbers}, desc, bytes));
  return graph_.AddConstantValue(fmt::format("made_{}", graph_.values().size()), desc, std::move(bytes));
}

Result<ValueId> SubgraphReader::AddIndices(const Shape& shape) {
  const TensorDesc desc = {DType::kInt32, shape, std::nullopt};
  HEARTH_TRY(CheckRoom(desc));
  std::vector<double> numbers(static_cast<size_t>(shape.element_count()));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return AddNumbers(desc, numbers);
}

// `value` with `number` in its invalid rows.
Result<ValueId> SubgraphReader::MaskRows(int index, ValueId value, double number) {
  const TensorDesc desc = graph_.value(value).desc;
  Shape column = desc.shape;
  for (int d = 1; d < column.rank(); ++d) column[d] = 1;
  HEARTH_ASSIGN(const ValueId places, AddIndices(column));
  HEARTH_ASSIGN(const ValueId counts, AddMadeNode(index, Binary{.kind = BinaryKind::kLess}, {places, RowsOf(value)},
                                                  {DType::kBool, Shape(), std::nullopt}));
  HEARTH_ASSIGN(const ValueId other, AddNumbers({desc.dtype, {1}, std::nullopt}, {number}));
  return AddMadeNode(index, Select{}, {counts, value, other}, {desc.dtype, Shape(), std::nullopt});
}

Result<ValueId> SubgraphReader::ReduceRows(int index, const Reduce& reduce, ValueId value, const TensorDesc& made) {
  const TensorDesc desc = graph_.value(value).desc;
  const bool is_mean = reduce.kind == ReduceKind::kMean;
  if (desc.quantization ||
      (desc.dtype != DType::kFloat32 && desc.dtype != DType::kBool && (is_mean || desc.dtype != DType::kInt32))) {
    return Error(StatusCode::kUnsupported, "it reduces {}[{}], whose number of rows depends on data",
                 DTypeName(desc.dtype), desc.shape.ToString());
  }
  HEARTH_ASSIGN(const ValueId masked, MaskRows(index, value, Neutral(reduce.kind, desc)));
  Reduce of_all = reduce;
  if (is_mean) of_all.kind = ReduceKind::kSum;
  HEARTH_ASSIGN(const ValueId result, AddMadeNode(index, of_all, {masked}, made));
  if (!is_mean) return result;
  double others = 1.0;  // elements of a row in one mean
  for (int d = 1; d < desc.shape.rank(); ++d) others *= (reduce.axes_mask >> d & 1u) != 0 ? desc.shape[d] : 1;
  HEARTH_ASSIGN(const ValueId rows,
                AddMadeNode(index, Cast{DType::kFloat32}, {RowsOf(value)}, {DType::kFloat32, Shape(), std::nullopt}));
  HEARTH_ASSIGN(const ValueId by, AddNumbers({DType::kFloat32, {1}, std::nullopt}, {others}));
  const TensorDesc plain = {DType::kFloat32, Shape(), std::nullopt};
  HEARTH_ASSIGN(const ValueId count, AddMadeNode(index, Binary{.kind = BinaryKind::kMul}, {rows, by}, plain));
  HEARTH_ASSIGN(const ValueId mean, AddMadeNode(index, Binary{.kind = BinaryKind::kDiv}, {result, count}, plain));
  const Shape shape = graph_.value(result).desc.shape;
  return shape == graph_.value(mean).desc.shape ? mean : AddMadeNode(index, Reshape{shape}, {mean}, plain);
}

// SHAPE of such a tensor: the number of valid rows, then the other dimensions.
Result<ValueId> SubgraphReader::ShapeOfRows(int index, ValueId value, const TensorDesc& made) {
  const Shape shape = graph_.value(value).desc.shape;
  const TensorDesc desc = {made.dtype, Shape(), std::nullopt};
  ValueId rows = RowsOf(value);
  if (made.dtype != DType::kInt32) {
    HEARTH_ASSIGN(rows, AddMadeNode(index, Cast{made.dtype}, {rows}, desc));
  }
  if (shape.rank() == 1) return rows;
  const std::vector<double> others(shape.dims().begin() + 1, shape.dims().end());
  HEARTH_ASSIGN(const ValueId rest, AddNumbers({made.dtype, {shape.rank() - 1}, std::nullopt}, others));
  return AddMadeNode(index, Concat{.axis = 0}, {rows, rest}, desc);
}

// The number of valid rows of the last node's result; kNoValue if all are valid. An error if that is unknown.
Result<ValueId> SubgraphReader::RowsOfLastNode() const {
  const Node& node = graph_.nodes().back();
  const Shape& made = graph_.value(node.outputs[0]).desc.shape;
  const ValueId first = RowsOf(node.inputs[0]);
  const auto rows_at = [&](size_t k) { return k < node.inputs.size() ? RowsOf(node.inputs[k]) : kNoValue; };
  if (LooksUpRows(node.op) && rows_at(1) == kNoValue) return kNoValue;  // the indices are all valid, so the results are
  if (LooksUpRows(node.op) && first == kNoValue) return rows_at(1);
  const Shape& shape = graph_.value(node.inputs[0]).desc.shape;
  const bool keeps_rows = made.rank() > 0 && shape.rank() > 0 && made[0] == shape[0];
  if (first != kNoValue && keeps_rows && IsByRow(node.op, shape.rank(), shape[0])) return first;
  ValueId rows = kNoValue;
  bool is_known = IsElementwise(node.op) && made.rank() > 0;
  for (const ValueId input : node.inputs) {
    const Shape& operand = input == kNoValue ? Shape() : graph_.value(input).desc.shape;
    const bool repeats = operand.rank() < made.rank() || operand[0] == 1;
    const ValueId of_input = RowsOf(input);
    is_known = is_known && (of_input == kNoValue ? repeats : operand.rank() == made.rank() && operand[0] == made[0]);
    is_known = is_known && (rows == kNoValue || of_input == kNoValue || rows == of_input);
    if (of_input != kNoValue) rows = of_input;
  }
  if (is_known) return rows;
  return Error(StatusCode::kUnsupported,
               "it needs the number of rows of an operand, which depends on data (WHERE, UNIQUE): do this step after "
               "the model, on its output");
}

Result<ValueId> SubgraphReader::MakeOnRows(int index, const std::vector<int32_t>& inputs, int32_t output) {
  HEARTH_ASSIGN(const TensorDesc declared, tensors_.Describe(output));
  const TensorDesc made = {declared.dtype, Shape(), declared.quantization};
  const OperatorRow& row = *CodeOf(index).row;
  Op op = UnknownOp{};
  if (row.read != nullptr && row.input_order.empty() && row.state_inputs.empty()) {
    HEARTH_ASSIGN(op, ReadOp(index, inputs));
  }
  std::vector<ValueId> operands;
  for (size_t k = 0; k < inputs.size() && (row.code == kShapeCode || k < static_cast<size_t>(row.data_inputs)); ++k) {
    ValueId value = kNoValue;
    if (inputs[k] != -1) {
      HEARTH_ASSIGN(value, OperandOf(index, op, inputs[k]));
    }
    operands.push_back(value);
  }
  if (row.code == kShapeCode && !operands.empty()) return ShapeOfRows(index, operands[0], made);
  const auto* reduce = std::get_if<Reduce>(&op);
  if (reduce != nullptr && (reduce->axes_mask & 1u) != 0) return ReduceRows(index, *reduce, operands[0], made);
  if (std::holds_alternative<UnknownOp>(op) ||
      std::ranges::none_of(operands, [&](ValueId value) { return RowsOf(value) != kNoValue; })) {
    return Error(StatusCode::kUnsupported,
                 "an operand has a number of rows that depends on data (WHERE, UNIQUE): do this step after the model, "
                 "on its output");
  }
  HEARTH_ASSIGN(const ValueId result, AddMadeNode(index, std::move(op), std::move(operands), made));
  HEARTH_ASSIGN(const ValueId rows, RowsOfLastNode());
  if (rows != kNoValue) reading_.rows.emplace(result, rows);
  return result;
}

// True if an operand's number of rows depends on data: the operator was read, or an UnknownOp says why not.
Result<bool> SubgraphReader::ReadOnRows(int index, const std::vector<int32_t>& inputs,
                                        const std::vector<int32_t>& outputs) {
  if (reading_.rows.empty() || CodeOf(index).row == nullptr) return false;
  bool has_rows = false;
  for (const int32_t tensor : inputs) {
    if (tensor == -1 || !tensors_.IsMade(tensor)) continue;
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    has_rows = has_rows || RowsOf(value) != kNoValue;
  }
  if (!has_rows) return false;
  const size_t first_node = graph_.nodes().size();
  Result<std::vector<ValueId>> made = Error(StatusCode::kUnsupported, "it makes several tensors of rows");
  if (outputs.size() == 1) {
    const Result<ValueId> one = MakeOnRows(index, inputs, outputs[0]);
    made = one.ok() ? Result<std::vector<ValueId>>(std::vector{*one}) : Result<std::vector<ValueId>>(one.status());
  }
  HEARTH_TRY(FinishMade(index, inputs, outputs, made, first_node));
  return true;
}

// Adds an output with the number of valid rows for each model output that has one.
Status SubgraphReader::AddRowOutputs() {
  for (const ValueId output : std::vector<ValueId>(graph_.outputs)) {
    if (RowsOf(output) == kNoValue) continue;
    HEARTH_ASSIGN(const ValueId rows, AddCopy(RowsOf(output), graph_.value(output).name + "_rows"));
    graph_.outputs.push_back(rows);
  }
  return Status::Ok();
}

}  // namespace hearth
