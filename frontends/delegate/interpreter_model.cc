#include "frontends/delegate/interpreter_model.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/op_def.h"
#include "frontends/delegate/builtin_options.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/reader.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

constexpr std::string_view kVariablePrefix = "variable_";

// The name by which a state is found again in the graph.
std::string VariableName(int tensor) {
  return fmt::format("{}{}", kVariablePrefix, tensor);
}
int TensorOfVariable(std::string_view name) {
  int tensor = -1;
  name.remove_prefix(std::min(name.size(), kVariablePrefix.size()));
  std::from_chars(name.data(), name.data() + name.size(), tensor);
  return tensor;
}

Status ReadQuantization(const TfLiteContext& context, int index, const TfLiteTensor& tensor, TensorToWrite& written) {
  const TfLiteQuantization& quantization = tensor.quantization;
  if (quantization.type != kTfLiteNoQuantization && quantization.type != kTfLiteAffineQuantization) {
    return Error(StatusCode::kUnsupported, "{} is quantized in a blockwise way", TensorLabel(context, index));
  }
  if (quantization.type == kTfLiteAffineQuantization && quantization.params != nullptr) {
    const auto& affine = *static_cast<const TfLiteAffineQuantization*>(quantization.params);
    if (affine.scale != nullptr && affine.scale->size > 0) {
      written.scales.assign(affine.scale->data, affine.scale->data + affine.scale->size);
    }
    for (const int zero_point : Numbers(affine.zero_point)) written.zero_points.push_back(zero_point);
    written.quantized_dimension = affine.quantized_dimension;
  } else if (tensor.params.scale != 0) {
    written.scales = {tensor.params.scale};
    written.zero_points = {tensor.params.zero_point};
  }
  return Status::Ok();
}

SparsityToWrite SparsityOf(const TfLiteSparsity& sparsity) {
  SparsityToWrite written{CopyOf(sparsity.traversal_order), CopyOf(sparsity.block_map), {}};
  for (int k = 0; k < sparsity.dim_metadata_size; ++k) {
    const TfLiteDimensionMetadata& level = sparsity.dim_metadata[k];
    const bool is_dense = level.format == kTfLiteDimDense;
    written.levels.push_back({level.dense_size, is_dense ? std::vector<int32_t>() : CopyOf(level.array_segments),
                              is_dense ? std::vector<int32_t>() : CopyOf(level.array_indices)});
  }
  return written;
}

Result<TensorToWrite> WriteTensor(const TfLiteContext& context, int index) {
  const TfLiteTensor* tensor = TensorAt(context, index);
  if (tensor == nullptr) return Error(StatusCode::kMalformedInput, "the interpreter has no tensor {}", index);
  TensorToWrite written;
  written.name = tensor->name == nullptr ? "" : tensor->name;
  written.type = FileTypeOf(tensor->type);
  if (written.type < 0) {
    return Error(StatusCode::kUnsupported, "{} has the element type {}, which Hearth does not know",
                 TensorLabel(context, index), static_cast<int>(tensor->type));
  }
  if (tensor->allocation_type == kTfLiteDynamic) {
    return Error(StatusCode::kUnsupported, "the size of {} is known only while the network runs",
                 TensorLabel(context, index));
  }
  written.shape = CopyOf(tensor->dims);
  if (std::any_of(written.shape.begin(), written.shape.end(), [](int32_t dim) { return dim < 0; })) {
    return Error(StatusCode::kUnsupported, "{} has a negative dimension", TensorLabel(context, index));
  }
  HEARTH_TRY(ReadQuantization(context, index, *tensor, written));
  if (IsConstant(*tensor)) {
    written.data = {static_cast<const std::byte*>(tensor->data), tensor->bytes};
    if (tensor->sparsity != nullptr) written.sparsity = SparsityOf(*tensor->sparsity);
  }
  return written;
}

// Operators whose attributes a plugin does not get, partly a subgraph: STABLEHLO_SCATTER, _PAD, _REDUCE_WINDOW,
// _GATHER, _RNG_BIT_GENERATOR, and REDUCE_WINDOW.
bool HasAttributesOfTheInterpretersOwn(int32_t code) {
  constexpr int32_t kCodes[] = {190, 195, 198, 201, 204, 205};
  return Contains(kCodes, code);
}

Result<OperatorToWrite> WriteOperator(const InterpreterNode& node) {
  OperatorToWrite written;
  written.code = node.registration->builtin_code;
  if (written.code == kTfLiteBuiltinDelegate || node.node->delegate != nullptr) {
    return Error(StatusCode::kUnsupported, "another delegate has taken it");
  }
  if (HasAttributesOfTheInterpretersOwn(written.code)) {
    return Error(StatusCode::kUnsupported, "the plugin does not read its attributes");
  }
  if (written.code == kTfLiteBuiltinCustom) {
    written.custom_name = node.op_name();
    if (node.node->custom_initial_data != nullptr && node.node->custom_initial_data_size > 0) {
      written.custom_options = {static_cast<const std::byte*>(node.node->custom_initial_data),
                                static_cast<size_t>(node.node->custom_initial_data_size)};
    }
  }
  SetOptions(node.node->builtin_data, written);
  return written;
}

// Whether the tensor is the shape operand of a RESHAPE to a scalar: a constant without content.
bool IsEmptyList(const TensorToWrite& tensor) {
  return tensor.shape == std::vector<int32_t>{0};
}

// Builds the model. The interpreter's tensors are renumbered in the order of their first use.
class ModelBuilder {
 public:
  ModelBuilder(const TfLiteContext& context, const TensorShapes& shapes) : context_(context), shapes_(shapes) {}

  Status Add(const InterpreterNode& node) {
    HEARTH_ASSIGN(OperatorToWrite op, WriteOperator(node));
    const std::span<const int> inputs = Numbers(node.node->inputs);
    for (size_t k = 0; k < inputs.size(); ++k) {
      int32_t number = kTfLiteOptionalTensor;
      if (inputs[k] != kTfLiteOptionalTensor) {
        HEARTH_ASSIGN(number, NumberOf(inputs[k]));
        read_.insert(inputs[k]);
        if (ChangesVariableInput(op.code, op.custom_name, inputs.size(), k)) MarkVariable(inputs[k], number);
      }
      op.inputs.push_back(number);
    }
    for (const int tensor : Numbers(node.node->outputs)) {
      HEARTH_ASSIGN(const int32_t number, NumberOf(tensor));
      op.outputs.push_back(number);
      made_.insert(tensor);
    }
    result_.model.operators.push_back(std::move(op));
    result_.nodes.push_back(node.index);
    return Status::Ok();
  }

  Result<InterpreterModel> Finish(const std::optional<std::vector<int>>& outputs) {
    for (const int tensor : order_) {
      const TensorToWrite& written = result_.model.tensors[number_of_[tensor]];
      const bool is_input = !made_.contains(tensor) && read_.contains(tensor) && !IsEmptyList(written);
      if (is_input && written.data.empty() && !written.is_variable) result_.inputs.push_back(tensor);
      if (!outputs && made_.contains(tensor) && !read_.contains(tensor)) result_.outputs.push_back(tensor);
    }
    if (outputs) result_.outputs = *outputs;
    for (const int tensor : result_.inputs) {
      result_.model.inputs.push_back(number_of_[tensor]);
      result_.model.tensors[number_of_[tensor]].is_open = true;
    }
    for (const int tensor : result_.outputs) {
      HEARTH_ASSIGN(const int32_t number, NumberOf(tensor));
      result_.model.outputs.push_back(number);
    }
    return std::move(result_);
  }

 private:
  Result<int32_t> NumberOf(int tensor) {
    if (const auto found = number_of_.find(tensor); found != number_of_.end()) return found->second;
    HEARTH_ASSIGN(TensorToWrite written, WriteTensor(context_, tensor));
    if (const auto shape = shapes_.find(tensor); shape != shapes_.end()) written.shape = shape->second;
    const auto number = static_cast<int32_t>(result_.model.tensors.size());
    result_.model.tensors.push_back(std::move(written));
    number_of_.emplace(tensor, number);
    order_.push_back(tensor);
    return number;
  }

  void MarkVariable(int tensor, int32_t number) {
    if (!TensorAt(context_, tensor)->is_variable) return;
    result_.model.tensors[number].is_variable = true;
    result_.model.tensors[number].name = VariableName(tensor);
  }

  const TfLiteContext& context_;
  const TensorShapes& shapes_;
  InterpreterModel result_;
  std::map<int, int32_t> number_of_;
  std::vector<int> order_;  // tensors by first use
  std::set<int> read_, made_;
};

}  // namespace

std::span<const int> Numbers(const TfLiteIntArray* array) {
  if (array == nullptr || array->size <= 0) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

std::vector<int> CopyOf(const TfLiteIntArray* array) {
  const std::span<const int> numbers = Numbers(array);
  return {numbers.begin(), numbers.end()};
}

TfLiteTensor* TensorAt(const TfLiteContext& context, int index) {
  const bool exists = index >= 0 && static_cast<size_t>(index) < context.tensors_size && context.tensors != nullptr;
  return exists ? &context.tensors[index] : nullptr;
}

std::string TensorLabel(const TfLiteContext& context, int index) {
  const TfLiteTensor* tensor = TensorAt(context, index);
  const std::string_view name = tensor == nullptr || tensor->name == nullptr ? "" : tensor->name;
  return fmt::format("tensor {} '{}'", index, name.substr(0, 200));
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data != nullptr && tensor.bytes > 0;
}

std::string InterpreterNode::op_name() const {
  if (registration->builtin_code == kTfLiteBuiltinCustom || registration->builtin_code == kTfLiteBuiltinDelegate) {
    return registration->custom_name == nullptr ? "CUSTOM" : registration->custom_name;
  }
  return BuiltinName(registration->builtin_code);
}

bool InterpreterNode::IsOfConstant(const TfLiteContext& context) const {
  const int32_t code = registration->builtin_code;
  if (code != kTfLiteBuiltinDequantize && code != kTfLiteBuiltinDensify) return false;
  const std::span<const int> inputs = Numbers(node->inputs);
  const TfLiteTensor* tensor = inputs.size() == 1 ? TensorAt(context, inputs[0]) : nullptr;
  return tensor != nullptr && IsConstant(*tensor);
}

Result<InterpreterNode> NodeAt(TfLiteContext& context, int index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  if (context.GetNodeAndRegistration == nullptr ||
      context.GetNodeAndRegistration(&context, index, &node, &registration) != kTfLiteOk || node == nullptr ||
      registration == nullptr) {
    return Error(StatusCode::kMalformedInput, "the interpreter does not give its node {}", index);
  }
  return InterpreterNode{index, node, registration};
}

Result<std::vector<InterpreterNode>> NodesAt(TfLiteContext& context, const std::vector<int>& indices) {
  std::vector<InterpreterNode> nodes;
  nodes.reserve(indices.size());
  for (const int index : indices) {
    HEARTH_ASSIGN(const InterpreterNode node, NodeAt(context, index));
    nodes.push_back(node);
  }
  return nodes;
}

Result<InterpreterModel> ModelOfNodes(const TfLiteContext& context, std::span<const InterpreterNode> nodes,
                                      const std::optional<std::vector<int>>& outputs, const TensorShapes& shapes) {
  ModelBuilder builder(context, shapes);
  for (const InterpreterNode& node : nodes) HEARTH_TRY(builder.Add(node));
  return builder.Finish(outputs);
}

// Leaves operators to the interpreter whose results it sizes, and random numbers, whose draws it counts.
static void LeaveToInterpreter(Graph& graph, size_t outputs) {
  for (Node& node : graph.nodes()) {
    const bool draws = std::holds_alternative<Random>(node.op);
    if (!draws && !std::holds_alternative<Where>(node.op) && !std::holds_alternative<Unique>(node.op)) continue;
    if (draws) std::erase_if(graph.states, [&](const StatePair& state) { return state.written == node.outputs[1]; });
    node.op = UnknownOp{std::string(OpDefOf(node.op).name), "its results have no size of their own, or count its runs"};
  }
  if (graph.outputs.size() > outputs) graph.outputs.resize(outputs);
}

Result<InterpreterGraph> ReadInterpreterGraph(const InterpreterModel& model, const WrittenModel& written) {
  InterpreterGraph read;
  HEARTH_ASSIGN(read.graph,
                ReadTfliteModel(written.bytes(), {.file_bytes = written.file_bytes(), .complex_as_pairs = false}));
  LeaveToInterpreter(read.graph, model.outputs.size());
  read.inputs = model.inputs;
  read.outputs = model.outputs;
  for (const StatePair& state : read.graph.states) {
    const int tensor = TensorOfVariable(read.graph.value(state.read).name);
    read.graph.inputs.push_back(state.read);
    read.graph.outputs.push_back(state.written);
    read.inputs.push_back(tensor);
    read.outputs.push_back(tensor);
  }
  read.graph.states.clear();
  return read;
}

}  // namespace hearth
