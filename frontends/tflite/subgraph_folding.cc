// Constants that operators compute while a subgraph is read, and shapes that the file leaves open.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/constant_results.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "frontends/tflite/constant_operators.h"
#include "frontends/tflite/operator_view.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

constexpr int32_t kDensifyOperator = 124;

// Evaluation is slow and takes 8 bytes per element: this suffices for shapes and for constants that only move.
constexpr int64_t kMaxFoldedElements = 1 << 24;
// Multiply-adds of an operation that needs many per element.
constexpr double kMaxFoldedWork = 1 << 26;

bool IsAffordable(const Graph& graph, const Node& node) {
  const OpDef& def = OpDefOf(node.op);
  if (def.reference == nullptr || !def.Has(kCostly)) return def.reference != nullptr;
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  // The second factor of a product. Filters have the output channels first.
  const Shape& factor = graph.value(node.inputs[1]).desc.shape;
  const bool has_outputs_first = factor.rank() > 0 && !std::holds_alternative<BatchMatMul>(node.op);
  double work = static_cast<double>(factor.element_count()) / (has_outputs_first ? std::max(1, factor[0]) : 1);
  work *= static_cast<double>(graph.value(node.outputs[0]).desc.shape.element_count());
  return work < kMaxFoldedWork;
}

// Whether one side of an AND is false: "i < 10 and ..." is false regardless of the data.
bool IsConjunctionWithFalse(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->kind != BinaryKind::kLogicalAnd) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return graph.IsConstant(id) && graph.value(id).desc.dtype == DType::kBool &&
           graph.value(id).desc.shape.element_count() == 1 && graph.ConstantBytes(id)[0] == std::byte{0};
  });
}

bool IsDequantizable(const TensorDesc& stored, const TensorDesc& output) {
  // Block-quantized constants are already float32.
  const bool is_narrow = IsFloat(stored.dtype) || stored.quantization.has_value();
  return is_narrow && output.dtype == DType::kFloat32;
}

}  // namespace

// True for DEQUANTIZE of a constant, and DENSIFY, if the output is internal: its readers get the constant itself.
Result<bool> SubgraphReader::FoldConversion(int index, const std::vector<int32_t>& inputs,
                                            const std::vector<int32_t>& outputs) {
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || (row->code != kDequantizeOperator && row->code != kDensifyOperator)) return false;
  if (inputs.size() != 1 || outputs.size() != 1 || inputs[0] == -1) return false;
  HEARTH_ASSIGN(const bool is_constant, tensors_.IsConstant(inputs[0]));
  if (!is_constant) return false;
  HEARTH_ASSIGN(const TensorDesc stored, tensors_.Describe(inputs[0]));
  HEARTH_ASSIGN(const TensorDesc output, tensors_.Describe(outputs[0]));
  if (stored.shape != output.shape || is_model_output_[outputs[0]]) return false;  // that keeps its own name and type
  const bool is_densify = row->code == kDensifyOperator;
  if (is_densify ? stored.dtype != output.dtype : !IsDequantizable(stored, output)) return false;
  // A single number is evaluated here, because its reader may need its value (a padding value).
  if (!is_densify && stored.shape.element_count() == 1) return false;
  HEARTH_ASSIGN(const ValueId constant, tensors_.ValueOf(inputs[0]));
  tensors_.Alias(outputs[0], constant);
  is_folded_[outputs[0]] = is_densify ? is_folded_[inputs[0]] : true;
  return true;
}

Result<bool> SubgraphReader::FoldOperator(int index, const std::vector<int32_t>& inputs,
                                          const std::vector<int32_t>& outputs) {
  HEARTH_ASSIGN(const bool is_converted, FoldConversion(index, inputs, outputs));
  const OperatorRow* row = CodeOf(index).row;
  if (is_converted || row == nullptr || outputs.size() != 1) return is_converted;
  const OperatorView view(op(index), inputs, tensors_);
  Result<std::optional<ConstantResult>> result = EvaluateConstantOperator(row->code, view);
  if (!result.ok()) return result.status().Within(OperatorLabel(index));
  if (!result->has_value()) return false;
  ReferenceTensor tensor{(*result)->shape, std::move((*result)->values)};
  HEARTH_ASSIGN(TensorDesc desc, tensors_.Describe(outputs[0]));
  desc.shape = tensor.shape;
  if (!tensors_.ChargeMade(desc.size_bytes())) return false;
  std::vector<std::byte> bytes(desc.size_bytes());
  HEARTH_TRY(ReferenceToBytes(tensor, desc, bytes).Within(OperatorLabel(index)));
  HEARTH_TRY(BindConstant(index, outputs[0], desc, std::move(bytes)).Within(OperatorLabel(index)));
  return true;
}

// Binds `bytes` to `tensor`, an output of operator `index`.
Status SubgraphReader::BindConstant(int index, int32_t tensor, const TensorDesc& desc, std::vector<std::byte> bytes) {
  if (is_model_output_[tensor] && !bytes.empty()) {
    const ValueId made =
        graph_.AddConstantValue(fmt::format("made_{}", graph_.values().size()), desc, std::move(bytes));
    return BindOutput(index, tensor, made);
  }
  tensors_.SetShape(tensor, desc.shape);
  return tensors_.Fold(tensor, std::move(bytes));
}

bool SubgraphReader::ReadsOpenShape(std::span<const int32_t> inputs) const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](int32_t tensor) { return tensor != -1 && has_open_shape_[tensor]; });
}

// Infers the shapes of the last node's outputs if the file's are unknown.
Status SubgraphReader::InferLastNode(std::span<const int32_t> inputs, std::span<const int32_t> outputs) {
  const Node& node = graph_.nodes().back();
  const bool is_open = ReadsOpenShape(inputs);
  const auto is_left_open_at = [&](size_t k) {
    return tensors_.IsDynamic(outputs[k]) || HasNoElements(graph_, node.outputs[k]);
  };
  bool is_left_open = false;
  for (size_t k = 0; k < outputs.size(); ++k) is_left_open = is_left_open || is_left_open_at(k);
  if ((!is_open && !is_left_open) || std::holds_alternative<UnknownOp>(node.op)) return Status::Ok();
  for (const int32_t tensor : outputs) tensors_.SetShape(tensor, Shape());
  const Status inferred = OpDefOf(node.op).infer(graph_, node);
  if (!inferred.ok()) {
    // Whoever runs the graph gets the same error. Until then the file's shapes serve for display.
    for (const int32_t tensor : outputs) tensors_.SetShape(tensor, std::nullopt);
    const bool is_users = is_open && shapes_were_given_ && inferred.code() != StatusCode::kUnsupported;
    return is_users ? inferred : Status::Ok();
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    tensors_.SetShape(outputs[k], graph_.value(node.outputs[k]).desc.shape);
    has_open_shape_[outputs[k]] = true;
  }
  return Status::Ok();
}

// The results of the last node when all of its operands are constant; none where they can't be had.
ConstantResults SubgraphReader::ConstantsOfLastNode() {
  const Node& node = graph_.nodes().back();
  const bool is_constant = !node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == kNoValue || graph_.IsConstant(id);
  });
  const bool is_false = IsConjunctionWithFalse(graph_, node);
  if (!is_constant && !is_false && !HasEmptyTensor(graph_, node)) return {};
  if (!OpDefOf(node.op).infer(graph_, node).ok()) return {};  // reported by whoever lowers it
  size_t bytes_made = 0;
  for (ValueId id : node.outputs) bytes_made += graph_.value(id).desc.size_bytes();
  // Empty operands may have large results: zeros, of which a small file could ask for any number.
  if (!tensors_.ChargeMade(bytes_made)) return {};
  if (ConstantResults results = ResultsOfNothing(graph_, node); !results.empty()) return results;
  if (is_false) return {std::vector<std::byte>(bytes_made)};
  if (!is_constant || !IsAffordable(graph_, node)) return {};
  int64_t elements = 0;
  for (ValueId id : node.inputs) elements += id == kNoValue ? 0 : graph_.value(id).desc.shape.element_count();
  for (ValueId id : node.outputs) elements += graph_.value(id).desc.shape.element_count();
  if (elements > kMaxFoldedElements || !tensors_.ChargeMade(static_cast<size_t>(elements))) return {};
  return ResultsOfConstants(graph_, node);
}

// Replaces the last node by its results if they are constant.
Status SubgraphReader::FoldLastNode(int index, std::span<const int32_t> outputs) {
  const Node node = graph_.nodes().back();
  const bool is_kept = std::any_of(outputs.begin(), outputs.end(), [&](int32_t t) { return is_model_output_[t]; });
  // Who makes an output stays, but for those that take or make nothing, which no device could run.
  if (is_kept && !HasEmptyTensor(graph_, node)) return Status::Ok();
  if (node.outputs.size() != outputs.size()) {
    if (!SkipEmptySequence()) return Status::Ok();
    return BindConstant(index, outputs[0], graph_.value(node.outputs[0]).desc, {});
  }
  ConstantResults results = ConstantsOfLastNode();
  if (results.empty()) return Status::Ok();
  graph_.nodes().pop_back();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const TensorDesc desc = graph_.value(node.outputs[k]).desc;
    HEARTH_TRY(BindConstant(index, outputs[k], desc, std::move(results[k])));
  }
  return Status::Ok();
}

// True if the last node, a recurrent layer, makes nothing of a sequence without elements: its states are copied. Output
// k is the new content of the state that is input k.
bool SubgraphReader::SkipEmptySequence() {
  const Node node = graph_.nodes().back();
  if (!HasNoElements(graph_, node.outputs[0]) || !OpDefOf(node.op).infer(graph_, node).ok()) return false;
  std::vector<Node> copies;
  for (size_t k = 1; k < node.outputs.size(); ++k) {
    if (HasNoElements(graph_, node.outputs[k])) continue;
    copies.push_back({Unary{.kind = UnaryKind::kCopy}, {node.inputs[k]}, {node.outputs[k]}, "", node.source_index});
  }
  graph_.nodes().pop_back();
  for (const ValueId made : node.outputs) {
    if (HasNoElements(graph_, made)) graph_.MakeConstant(made, {});
  }
  for (Node& copy : copies) graph_.AddNode(std::move(copy));
  return true;
}

// Parts without elements are no work for a last node that splits.
void SubgraphReader::DropEmptyParts() {
  auto* split = graph_.nodes().empty() ? nullptr : std::get_if<Split>(&graph_.nodes().back().op);
  if (split == nullptr) return;
  std::vector<ValueId>& outputs = graph_.nodes().back().outputs;
  for (size_t k = outputs.size(); k-- > 0 && outputs.size() > 1;) {
    if (split->sizes[k] != 0 || !HasNoElements(graph_, outputs[k])) continue;
    graph_.MakeConstant(outputs[k], {});
    outputs.erase(outputs.begin() + static_cast<ptrdiff_t>(k));
    split->sizes.erase(split->sizes.begin() + static_cast<ptrdiff_t>(k));
  }
}

}  // namespace hearth
