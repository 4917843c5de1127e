#include "core/graph/constant_results.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/view_of.h"

namespace hearth {
namespace {

// Sums of no products, which LiteRT leaves at 0, whatever the bias.
bool IsProductOfNothing(const Graph& graph, const Node& node) {
  return std::holds_alternative<FullyConnected>(node.op) && HasNoElements(graph, node.inputs[1]);
}

// Copies what a view reads of a constant: of one that is not put in order yet, those elements only.
void CopyOf(const Graph& graph, ValueId id, const StridedView& view, std::byte* to) {
  const Constant& constant = graph.constant(*graph.value(id).constant);
  const int64_t size = BitsOf(graph.value(id).desc.dtype) / 8;
  std::optional<StridedView> stored;
  if (constant.elements != nullptr && constant.elements->is_only_view())
    stored = Composed(view, constant.elements->form().view);
  constant.was_read.Set();
  if (stored) return CopyView(*stored, size, constant.bytes.data(), to);
  const OrderedBytes ordered = constant.ordered();
  CopyView(view, size, ordered.bytes.data(), to);
}

// The rows of a table at known places, as MovedBytes: a loop that is written out looks up one in each turn.
ConstantResults RowsOfTable(const Graph& graph, const Node& node) {
  const auto* gather = std::get_if<Gather>(&node.op);
  if (gather == nullptr || gather->batch_dims != 0 || gather->axis < 0) return {};
  const TensorDesc &table = graph.value(node.inputs[0]).desc, &to = graph.value(node.outputs[0]).desc;
  const Result<ReferenceTensor> places =
      ReferenceFromBytes(graph.value(node.inputs[1]).desc, graph.ReadConstant(node.inputs[1]).bytes);
  if (!places.ok() || BitsOf(table.dtype) < 8 || table.quantization || to.dtype != table.dtype || to.quantization)
    return {};
  const int64_t rows = table.shape[gather->axis],
                inner = CountBetween(table.shape, gather->axis + 1, table.shape.rank());
  const int64_t outer = CountBetween(table.shape, 0, gather->axis);
  const auto is_row = [&](double place) { return place >= 0.0 && place < static_cast<double>(rows); };
  if ((outer != 1 && places->values.size() != 1) || !std::ranges::all_of(places->values, is_row)) return {};
  ConstantResults results;
  std::byte* next = results.emplace_back(to.size_bytes()).data();
  const Constant& constant = graph.constant(*graph.value(node.inputs[0]).constant);
  const int64_t row_bytes = inner * BitsOf(table.dtype) / 8;
  if (constant.elements != nullptr || outer != 1) {
    for (const double place : places->values) {
      CopyOf(graph, node.inputs[0], {static_cast<int64_t>(place) * inner, {{outer, rows * inner}, {inner, 1}}}, next);
      next += row_bytes;
    }
    return results;
  }
  constant.was_read.Set();
  for (const double place : places->values) {
    std::memcpy(next, constant.bytes.data() + static_cast<int64_t>(place) * row_bytes, static_cast<size_t>(row_bytes));
    next += row_bytes;
  }
  return results;
}

// The results of a node that only moves the elements of one constant, byte for byte: a reference of doubles would take
// 3 s for the weights of an audio codec (60 MB). Empty for other nodes.
ConstantResults MovedBytes(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue || !graph.IsConstant(node.inputs[0])) return {};
  const TensorDesc& from = graph.value(node.inputs[0]).desc;
  const int bits = BitsOf(from.dtype);
  if (bits < 8 || graph.ConstantSizeBytes(node.inputs[0]) != from.size_bytes()) return {};
  if (from.quantization && from.quantization->scales.size() != 1) return {};
  ConstantResults results;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const TensorDesc& to = graph.value(node.outputs[k]).desc;
    const std::optional<StridedView> view = ViewOf(graph, node, k);
    if (!view || to.dtype != from.dtype || to.quantization != from.quantization) return {};
    results.emplace_back(to.size_bytes());
    if (!results.back().empty()) CopyOf(graph, node.inputs[0], *view, results.back().data());
  }
  return results;
}

// The bytes of constants one after the other, as MovedBytes: joining the gates of a large LSTM took 0.3 s and nine
// times its size.
ConstantResults JoinedBytes(const Graph& graph, const Node& node) {
  const auto* concat = std::get_if<Concat>(&node.op);
  if (concat == nullptr || concat->activation != Activation::kNone) return {};
  const TensorDesc& to = graph.value(node.outputs[0]).desc;
  const int axis = concat->axis < 0 ? concat->axis + to.shape.rank() : concat->axis;
  if (BitsOf(to.dtype) < 8 || (to.quantization && to.quantization->scales.size() != 1)) return {};
  for (const ValueId id : node.inputs) {
    const TensorDesc& from = graph.value(id).desc;
    if (!graph.IsConstant(id) || from.dtype != to.dtype || from.quantization != to.quantization ||
        graph.ConstantSizeBytes(id) != from.size_bytes()) {
      return {};
    }
  }
  const auto rows = static_cast<size_t>(CountBetween(to.shape, 0, axis));
  std::vector<std::byte> joined(to.size_bytes());
  size_t first = 0;  // of the part in a row
  for (const ValueId id : node.inputs) {
    const OrderedBytes read = graph.ReadConstant(id);
    const std::span<const std::byte> bytes = read.bytes;
    const size_t part = rows == 0 ? 0 : bytes.size() / rows, line = rows == 0 ? 0 : joined.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      std::byte* target = joined.data() + row * line + first;
      if (part == sizeof(int64_t)) {  // an index, without a call
        std::memcpy(target, bytes.data() + row * part, sizeof(int64_t));
      } else {
        std::memcpy(target, bytes.data() + row * part, part);
      }
    }
    first += part;
  }
  ConstantResults results;
  results.push_back(std::move(joined));
  return results;
}

// What the reference does with 64-bit integers.
Made64 HowMade(const Node& node) {
  if (OpDefOf(node.op).Has(kMovesElements)) return Made64::kMoved;
  const auto* binary = std::get_if<Binary>(&node.op);
  const bool chooses =
      binary != nullptr && (binary->kind == BinaryKind::kMaximum || binary->kind == BinaryKind::kMinimum ||
                            (binary->kind >= BinaryKind::kEqual && binary->kind <= BinaryKind::kGreaterEqual));
  return chooses || IsOneOf<Select, Cast>(node.op) ? Made64::kChosen : Made64::kCalculated;
}

// The reference has no low bits of negative numbers as uint64, and none of int64 beyond its largest.
bool IsCastOfWords(const Graph& graph, const Node& node) {
  if (!std::holds_alternative<Cast>(node.op)) return false;
  const DType from = graph.value(node.inputs[0]).desc.dtype, to = graph.value(node.outputs[0]).desc.dtype;
  return from != to && (from == DType::kUInt64 || to == DType::kUInt64);
}

}  // namespace

bool HasNoElements(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).desc.shape.element_count() == 0;
}

bool HasEmptyTensor(const Graph& graph, const Node& node) {
  const auto is_empty = [&](ValueId id) { return HasNoElements(graph, id); };
  return std::ranges::any_of(node.inputs, is_empty) || std::ranges::any_of(node.outputs, is_empty);
}

void DropEmptyOperands(const Graph& graph, Node& node) {
  const auto is_empty = [&](ValueId id) { return HasNoElements(graph, id); };
  const bool is_concat = std::holds_alternative<Concat>(node.op);
  if (is_concat && !std::ranges::all_of(node.inputs, is_empty)) std::erase_if(node.inputs, is_empty);
  if (std::holds_alternative<DynamicUpdateSlice>(node.op) && node.inputs.size() == 3 && is_empty(node.inputs[1])) {
    node.op = Unary{.kind = UnaryKind::kCopy};
    node.inputs.resize(1);
  }
}

ConstantResults ResultsOfNothing(const Graph& graph, const Node& node) {
  if (std::ranges::all_of(node.outputs, [&](ValueId id) { return HasNoElements(graph, id); })) {
    return ConstantResults(node.outputs.size());
  }
  if (!IsProductOfNothing(graph, node)) return {};
  Result<std::vector<std::byte>> zeros = BytesOfZeros(graph.value(node.outputs[0]).desc);
  if (!zeros.ok()) return {};
  ConstantResults results;
  results.push_back(*std::move(zeros));
  return results;
}

ConstantResults ResultsOfConstants(const Graph& graph, const Node& node) {
  if (ConstantResults moved = MovedBytes(graph, node); !moved.empty()) return moved;
  if (ConstantResults joined = JoinedBytes(graph, node); !joined.empty()) return joined;
  if (ConstantResults rows = RowsOfTable(graph, node); !rows.empty()) return rows;
  const Made64 made = HowMade(node);
  if (IsCastOfWords(graph, node)) return {};
  std::vector<ReferenceTensor> operands(node.inputs.size());
  std::vector<const ReferenceTensor*> inputs(node.inputs.size(), nullptr);
  for (size_t k = 0; k < operands.size(); ++k) {
    const ValueId id = node.inputs[k];
    if (id == kNoValue) continue;
    const Made64 before =
        made == Made64::kCalculated ? made : Made64::kMoved;  // a sum of the largest number is another one
    if (!graph.IsConstant(id) || !AreKept(graph.value(id).desc, graph.ReadConstant(id).bytes, before)) return {};
    Result<ReferenceTensor> operand = ReferenceFromBytes(graph.value(id).desc, graph.ReadConstant(id).bytes);
    if (!operand.ok()) return {};
    operands[k] = *std::move(operand);
    inputs[k] = &operands[k];
  }
  const Result<std::vector<ReferenceTensor>> results = EvaluateNode(graph, node, inputs);
  if (!results.ok()) return {};
  ConstantResults bytes;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const TensorDesc& desc = graph.value(node.outputs[k]).desc;
    bytes.emplace_back(desc.size_bytes());
    if (!ReferenceToBytes(results.value()[k], desc, bytes.back()).ok()) return {};
    if (!AreKept(desc, bytes.back(), made)) return {};
  }
  return bytes;
}

Result<std::optional<Graph>> WithoutEmptyTensors(Graph& graph) {
  for (const Node& node : graph.nodes()) HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
  const auto has_none = [](const Value& value) { return value.desc.shape.element_count() == 0; };
  if (std::ranges::none_of(graph.values(), has_none)) {
    HEARTH_TRY(CheckInferred(graph));
    return std::optional<Graph>();
  }
  Graph out = graph.Clone();
  std::vector<Node> nodes = std::exchange(out.nodes(), {});
  std::map<ValueId, ValueId> constants;  // by the input or state without elements that they stand for
  const auto replace = [&](ValueId& id) {
    if (const auto found = constants.find(id); found != constants.end()) id = found->second;
  };
  const auto stand_for = [&](ValueId id) {
    if (!HasNoElements(out, id)) return;
    constants.emplace(id, out.AddConstantValue(out.value(id).name, out.value(id).desc, {}));
  };
  std::ranges::for_each(out.inputs, stand_for);
  for (const StatePair& state : out.states) stand_for(state.read);
  for (Node& node : nodes) {
    std::ranges::for_each(node.inputs, replace);
    DropEmptyOperands(out, node);
    HEARTH_TRY(OpDefOf(node.op).infer(out, node));
    ConstantResults results;
    if (HasEmptyTensor(out, node)) {
      results = ResultsOfNothing(out, node);
      if (results.empty()) results = ResultsOfConstants(out, node);
    }
    for (size_t k = 0; k < results.size(); ++k) out.MakeConstant(node.outputs[k], std::move(results[k]));
    if (results.empty()) out.AddNode(std::move(node));
  }
  std::ranges::for_each(out.outputs, replace);
  const auto never_changes = [&](const StatePair& state) {
    return HasNoElements(out, state.read) && out.value(state.read).desc == out.value(state.written).desc;
  };
  std::erase_if(out.states, never_changes);
  HEARTH_TRY(CheckInferred(out));
  return std::optional(std::move(out));
}

}  // namespace hearth
