#include "frontends/tflite/expansion.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"

namespace hearth {
namespace {

constexpr int64_t kMostIntegers = 1 << 22;

// Sorted by code.
constexpr ExpansionRow kExpansions[] = {
    // code, fewest and most operands, number of leading required ones, function
    {33, 5, 5, 5, ExpandEmbeddingLookupSparse},
    {46, 9, 12, 9, ExpandBidirectionalRnn},
    {52, 39, 48, 1, ExpandBidirectionalLstm},
    {68, 4, 4, 4, ExpandSparseToDense},
    {80, 1, 1, 1, ExpandFakeQuant},
    {94, 2, 2, 2, ExpandFill},
    {103, 1, 1, 1, ExpandUnique},
    {109, 1, 1, 1, ExpandWhere},
    {112, 2, 2, 2, ExpandReverseSequence},
    {113, 1, 1, 1, ExpandMatrixDiag},
    {115, 2, 2, 2, ExpandMatrixSetDiag},
    {120, 5, 5, 5, ExpandNonMaxSuppression},
    {121, 6, 6, 6, ExpandNonMaxSuppression},
    {122, 3, 3, 3, ExpandScatterNd},
    {125, 2, 2, 2, ExpandSegments},
    {131, 2, 2, 2, ExpandRfft2D},
    {132, 2, 3, 2, ExpandConv3D},
    {133, 1, 1, 0, ExpandImaginary},
    {134, 1, 1, 0, ExpandReal},
    {135, 1, 1, 0, ExpandComplexAbs},
    {141, 3, 4, 3, ExpandConv3DTranspose},
    {146, 1, 1, 1, ExpandRandomNumbers},
    {147, 1, 1, 1, ExpandBucketize},
    {148, 1, 1, 1, ExpandRandomNumbers},
    {149, 2, 2, 2, ExpandMultinomial},
    {153, 3, 3, 3, ExpandSegments},
    {154, 3, 3, 3, ExpandSegments},
    {155, 3, 3, 3, ExpandSegments},
    {157, 3, 3, 3, ExpandSegments},
    {159, 1, 1, 1, ExpandBitcast},
    {163, 2, 2, 2, ExpandHloBinary},
    {165, 2, 2, 2, ExpandHloBinary},
    {166, 2, 2, 2, ExpandHloBinary},
    {171, 2, 2, 2, ExpandHloConvolution},
    {176, 2, 2, 2, ExpandHloBinary},
    {181, 2, 2, 2, ExpandHloBinary},
    {190, 3, 3, 3, ExpandHloScatter},
    {191, 2, 2, 2, ExpandHloCompare},
    {195, 2, 2, 2, ExpandHloPad},
    {198, 2, 2, 2, ExpandHloReduceWindow},
    {199, 1, 64, 1, ExpandHloSort},
    {201, 2, 2, 2, ExpandHloGather},
    {203, 3, 3, 3, ExpandDilate},
    {204, 1, 1, 1, ExpandRandomBits},
    {205, 5, 5, 5, ExpandReduceWindow},
    {207, 2, 2, 2, ExpandHloShiftLeft},
};
static_assert(std::is_sorted(std::begin(kExpansions), std::end(kExpansions),
                             [](const ExpansionRow& a, const ExpansionRow& b) { return a.code < b.code; }));

Status CheckOperandCount(const ExpansionRow& row, const wire::Operator& op, const std::vector<int32_t>& inputs) {
  if (inputs.size() < row.least_inputs || inputs.size() > row.most_inputs) {
    return Error(StatusCode::kMalformedInput, "it has {} inputs, but needs {} to {}", inputs.size(), row.least_inputs,
                 row.most_inputs);
  }
  for (size_t i = 0; i < row.present_inputs; ++i) {
    if (inputs[i] == -1) return Error(StatusCode::kMalformedInput, "input {} is absent", i);
  }
  if (op.outputs() == nullptr || op.outputs()->size() == 0) return Error(StatusCode::kMalformedInput, "no output");
  return Status::Ok();
}

}  // namespace

const ExpansionRow* FindExpansion(int32_t code) {
  const auto* found = std::find_if(std::begin(kExpansions), std::end(kExpansions),
                                   [&](const ExpansionRow& each) { return each.code == code; });
  return found == std::end(kExpansions) ? nullptr : found;
}

Status Expansion::ReadOperands() {
  for (const int32_t tensor : tensors_) {
    ValueId value = kNoValue;
    if (tensor != -1 && reader_.tensors_.ComplexOf(tensor) == nullptr) {
      HEARTH_ASSIGN(value, reader_.OperandOf(index_, Op(Unary{}), tensor));
    }
    operands_.push_back(value);
  }
  return Status::Ok();
}

Result<std::vector<int64_t>> Expansion::Integers(size_t i) const {
  return IntegersOf(operand(i));
}

Result<std::vector<int64_t>> Expansion::IntegersOf(ValueId id) const {
  if (!IsConstant(id)) {
    return Error(StatusCode::kUnsupported, "'{}' is computed at run time", reader_.graph_.value(id).name);
  }
  if ((desc(id).dtype != DType::kInt32 && desc(id).dtype != DType::kInt64) || desc(id).quantization ||
      shape(id).element_count() > kMostIntegers) {
    return Error(StatusCode::kMalformedInput, "'{}' is {}[{}]{} where integers belong", reader_.graph_.value(id).name,
                 DTypeName(desc(id).dtype), shape(id).ToString(), desc(id).quantization ? ", quantized," : "");
  }
  HEARTH_ASSIGN(const ReferenceTensor read, ReferenceFromBytes(desc(id), reader_.graph_.ConstantBytes(id)));
  std::vector<int64_t> numbers;
  for (const double number : read.values) numbers.push_back(ToInt64(number));
  return numbers;
}

Result<Shape> Expansion::ShapeOperand(size_t i, int64_t most_elements) const {
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, Integers(i));
  std::vector<int32_t> dims;
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || size > most_elements / elements || dims.size() >= Shape::kMaxRank) {
      return Error(StatusCode::kUnsupported, "a shape with the size {}, of rank {}", size, sizes.size());
    }
    elements *= std::max<int64_t>(size, 1);
    dims.push_back(static_cast<int32_t>(size));
  }
  return Shape::FromSpan(dims);
}

Result<std::vector<ValueId>> Expansion::AddSeveral(Op op, std::vector<ValueId> inputs, std::span<const DType> types) {
  Graph& graph = reader_.graph_;
  Node node{std::move(op), std::move(inputs), {}, "", source_index()};
  for (const DType type : types) {
    const std::string name = fmt::format("{}_{}", reader_.CodeOf(index_).row->name, graph.values().size());
    node.outputs.push_back(graph.AddValue({name, {type, Shape(), std::nullopt}, std::nullopt}));
  }
  HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
  std::vector<ValueId> made = node.outputs;
  graph.AddNode(std::move(node));
  ConstantResults constants = reader_.ConstantsOfLastNode();
  if (constants.empty()) return made;
  for (size_t k = 0; k < made.size(); ++k) graph.MakeConstant(made[k], std::move(constants[k]));
  graph.nodes().pop_back();
  return made;
}

Result<ValueId> Expansion::AddWithRunCount(Op op, std::vector<ValueId> inputs, DType dtype) {
  // A variable: WHILE may call a drawing subgraph, and each iteration continues where the previous one ended.
  const std::string place = subgraph() < 0 ? "" : fmt::format("_of_subgraph_{}", subgraph());
  const std::string name = fmt::format("{}_{}{}_runs", reader_.CodeOf(index_).row->name, index_, place);
  reader_.reading_.own_variables.emplace(name, TensorDesc{DType::kInt32, {1}, std::nullopt});
  HEARTH_ASSIGN(const ValueId runs, reader_.CurrentValue(index_, name));
  inputs.push_back(runs);
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                AddSeveral(std::move(op), std::move(inputs), {{dtype, DType::kInt32}}));
  HEARTH_TRY(reader_.Assign(name, made[1]));
  return made[0];
}

Result<ValueId> Expansion::Add(Op op, std::vector<ValueId> inputs, std::optional<DType> dtype) {
  TensorDesc made = desc(inputs[std::holds_alternative<Select>(op) ? 1 : 0]);
  if (dtype && *dtype != made.dtype) made = {*dtype, {}, std::nullopt};
  made.shape = Shape();
  return reader_.AddMadeNode(index_, std::move(op), std::move(inputs), std::move(made));
}

Result<ValueId> Expansion::AddReshape(ValueId value, const Shape& wanted) {
  if (shape(value) == wanted) return value;
  return Add(Reshape{wanted}, {value});
}

Result<ValueId> Expansion::AddTranspose(ValueId value, const Shape& permutation) {
  if (std::is_sorted(permutation.dims().begin(), permutation.dims().end())) return value;
  return Add(Transpose{permutation}, {value});
}

Result<ValueId> Expansion::AddSlice(ValueId value, int axis, int32_t first, int32_t count, int32_t stride) {
  Slice slice{shape(value), shape(value), shape(value), {}};
  for (int d = 0; d < slice.size.rank(); ++d) {
    slice.begin[d] = d == axis ? first : 0;
    slice.strides[d] = d == axis ? stride : 1;
  }
  slice.size[axis] = count;
  slice.shape = slice.size;
  if (first == 0 && stride == 1 && count == shape(value)[axis]) return value;
  return Add(slice, {value});
}

Result<ValueId> Expansion::AddPad(ValueId value, int axis, int32_t before, int32_t after, double number) {
  if (before == 0 && after == 0) return value;
  Pad pad{shape(value), shape(value), number};
  for (int d = 0; d < pad.before.rank(); ++d) pad.before[d] = pad.after[d] = 0;
  pad.before[axis] = before;
  pad.after[axis] = after;
  return Add(pad, {value});
}

Result<ValueId> Expansion::AddConstant(const TensorDesc& desc, const std::vector<double>& numbers) {
  return reader_.AddNumbers(desc, numbers);
}

Result<ValueId> Expansion::AddFilled(const Shape& shape, ValueId number) {
  if (desc(number).shape.element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "{} numbers where one belongs", desc(number).shape.element_count());
  }
  HEARTH_ASSIGN(const ValueId scalar, AddReshape(number, Shape()));
  return Add(BroadcastTo{shape}, {scalar});
}

Result<ValueId> Expansion::AddIndices(const Shape& shape) {
  if (shape.element_count() > kMostIntegers) {
    return Error(StatusCode::kUnsupported, "{} indices", shape.element_count());
  }
  return reader_.AddIndices(shape);
}

Result<Node> Expansion::PrepareRecurrent(Op op, std::vector<ValueId> inputs, std::span<const size_t> states) {
  Graph& graph = reader_.graph_;
  const ValueId y = graph.AddValue(
      {fmt::format("{}_{}", reader_.CodeOf(index_).row->name, graph.values().size()), desc(inputs[0]), std::nullopt});
  graph.value(y).desc.shape = Shape();
  Node node{std::move(op), std::move(inputs), {y}, "", reader_.SourceIndex(index_)};
  HEARTH_TRY(ArrangeRecurrentOperands(graph, reader_.tensors_, reader_.reading_.stacked, node));
  for (const size_t state : states) HEARTH_TRY(reader_.AddStateOutput(tensors_[state], node).status());
  HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
  return node;
}

Result<ValueId> Expansion::AddRecurrent(Node node, std::span<const size_t> states) {
  has_changed_states_ = true;  // set before any is changed, in case the second is refused
  for (size_t k = 0; k < states.size(); ++k) HEARTH_TRY(reader_.ReplaceState(tensors_[states[k]], node.outputs[k + 1]));
  const ValueId y = node.outputs[0];
  reader_.graph_.AddNode(std::move(node));
  reader_.SkipEmptySequence();
  return y;
}

Result<ComplexValue> Expansion::ComplexOperand(size_t i) const {
  const ComplexValue* parts = i < tensors_.size() ? reader_.tensors_.ComplexOf(tensors_[i]) : nullptr;
  if (parts != nullptr) return *parts;
  return Error(StatusCode::kUnsupported, "its operand is not a complex tensor made by RFFT2D");
}

Result<std::vector<int32_t>> Expansion::CodesOf(int32_t subgraph, size_t most) const {
  HEARTH_ASSIGN(const wire::SubGraph* called, reader_.CalledSubgraph(subgraph));
  const auto* operators = called->operators();
  if (operators == nullptr) return std::vector<int32_t>();
  if (operators->size() > most) {
    return Error(StatusCode::kUnsupported, "subgraph {}, which it calls, has {} operators; at most {} are possible",
                 subgraph, operators->size(), most);
  }
  std::vector<int32_t> codes;
  for (const wire::Operator* op : *operators) {
    const bool is_known = op->opcode_index() < reader_.reading_.codes.size();
    const OperatorRow* row = is_known ? reader_.reading_.codes[op->opcode_index()].row : nullptr;
    codes.push_back(row == nullptr ? -1 : row->code);
  }
  return codes;
}

Result<double> Expansion::NumberOf(ValueId constant) const {
  HEARTH_ASSIGN(const ReferenceTensor numbers,
                ReferenceFromBytes(desc(constant), reader_.graph_.ConstantBytes(constant)));
  if (numbers.values.size() == 1) return numbers.values[0];
  return Error(StatusCode::kMalformedInput, "{} numbers where one belongs", numbers.values.size());
}

Status Expansion::ChargeOperators(int64_t count) {
  int64_t& left = reader_.reading_.inlined_operators_left;
  if (count > left) {
    return Error(StatusCode::kUnsupported, "it would be unrolled into {} operators; at most {} are possible", count,
                 left);
  }
  left -= count;
  return Status::Ok();
}

bool SubgraphReader::IsComplexMove(int index, const std::vector<int32_t>& inputs) const {
  const OperatorRow* row = CodeOf(index).row;
  return row != nullptr && row->read != nullptr && row->data_inputs == 1 && !inputs.empty() &&
         tensors_.ComplexOf(inputs[0]) != nullptr;
}

// Operators that move elements move those of the real and of the imaginary part.
Status SubgraphReader::MoveComplex(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  HEARTH_ASSIGN(const Op op, ReadOp(index, inputs));
  if (!OpDefOf(op).Has(kMovesElements) || outputs.size() != 1) {
    return Error(StatusCode::kUnsupported, "{} of complex numbers", OperatorLabel(index));
  }
  ComplexValue parts = *tensors_.ComplexOf(inputs[0]);
  for (ValueId* part : {&parts.real, &parts.imaginary}) {
    TensorDesc desc = graph_.value(*part).desc;
    desc.shape = Shape();
    HEARTH_ASSIGN(*part, AddMadeNode(index, op, {*part}, desc));
  }
  tensors_.SetComplex(outputs[0], parts);
  return Status::Ok();
}

// True when the operator stands for several nodes, which were added, or for which an UnknownOp stands.
Result<bool> SubgraphReader::ReadExpansion(int index, const std::vector<int32_t>& inputs,
                                           const std::vector<int32_t>& outputs) {
  if (IsComplexMove(index, inputs)) {
    HEARTH_TRY(MoveComplex(index, inputs, outputs));
    return true;
  }
  const OperatorRow* row = CodeOf(index).row;
  const ExpansionRow* expanded = row == nullptr ? nullptr : FindExpansion(row->code);
  if (expanded == nullptr) return false;
  const size_t first_node = graph_.nodes().size();
  Expansion expansion(*this, index, inputs);
  Status ready = CheckOperandCount(*expanded, op(index), inputs);
  if (ready.ok()) ready = expansion.ReadOperands();
  Expanded made = ready.ok() ? expanded->expand(expansion) : Expanded(ready);
  // If the input's shape is known only at run time, an error about sizes means nothing.
  if (!made.ok() && made.status().code() == StatusCode::kMalformedInput && !inputs.empty() && inputs[0] != -1 &&
      tensors_.IsDynamic(inputs[0])) {
    made = Error(StatusCode::kUnsupported, "{}", made.status().message());
  }
  // Readers of a state now read the layer's nodes, which an unknown operator would not replace: so this is an error.
  if (expansion.has_changed_states() && made.status().code() == StatusCode::kUnsupported) {
    made = Error(StatusCode::kMalformedInput, "{}", made.status().message());
  }
  if (made.ok() && expansion.complex_output()) {
    if (is_model_output_[outputs[0]]) {
      return Error(StatusCode::kUnsupported,
                   "{} makes complex numbers, which can be no output: end with COMPLEX_ABS, or "
                   "with REAL and IMAG",
                   OperatorLabel(index));
    }
    tensors_.SetComplex(outputs[0], *expansion.complex_output());
    return true;
  }
  HEARTH_TRY(FinishMade(index, inputs, outputs, made, first_node));
  return true;
}

}  // namespace hearth
