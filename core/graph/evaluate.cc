#include "core/graph/evaluate.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/float16.h"
#include "core/graph/block_scales.h"
#include "core/graph/element.h"
#include "core/graph/float_reader.h"
#include "core/graph/loop_graphs.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// The scale and zero point of each element. Precondition: CheckQuantization passed.
class QuantizationGrid {
 public:
  explicit QuantizationGrid(const TensorDesc& desc) {
    const Quantization& quantization = *desc.quantization;
    blocks_ = quantization.blocks.get();
    if (blocks_ != nullptr) stride_ = desc.shape[desc.shape.rank() - 1];
    const size_t slices = quantization.scales.size(), zero_points = quantization.zero_points.size();
    for (size_t k = 0; k < slices; ++k) {
      const int64_t zero_point = zero_points == 0 ? 0 : quantization.zero_points[zero_points == 1 ? 0 : k];
      grids_.push_back(GridOf(desc.dtype, quantization.scales[k], zero_point));
    }
    if (slices < 2) return;
    stride_ = CountBetween(desc.shape, quantization.dimension + 1, desc.shape.rank());
  }

  double ToReal(double stored, int64_t index) const {
    if (blocks_ != nullptr) return blocks_->ToReal(stored, index / stride_, index % stride_);
    const TensorGrid& grid = At(index);
    return (stored - static_cast<double>(grid.zero_point)) * static_cast<double>(grid.scale);
  }
  double ToStored(double real, int64_t index) const { return StoredNumber(real, At(index)); }

 private:
  const TensorGrid& At(int64_t index) const { return grids_[static_cast<size_t>(index / stride_) % grids_.size()]; }

  std::vector<TensorGrid> grids_;
  const BlockScales* blocks_ = nullptr;
  int64_t stride_ = 1;
};

Status CheckQuantization(const Quantization& quantization, const Shape& shape) {
  if (quantization.blocks != nullptr) return Status::Ok();  // readers have compared them with the shape
  const size_t slices = quantization.scales.size(), zero_points = quantization.zero_points.size();
  if (slices == 0) return Error(StatusCode::kMalformedInput, "a quantization without scales");
  if (zero_points > 1 && zero_points != slices) {
    return Error(StatusCode::kMalformedInput, "a quantization with {} scales but {} zero points", slices, zero_points);
  }
  const int32_t dimension = quantization.dimension;
  if (slices > 1 && (dimension < 0 || dimension >= shape.rank() || static_cast<size_t>(shape[dimension]) != slices)) {
    return Error(StatusCode::kMalformedInput, "{} quantization scales along dimension {} of shape {}", slices,
                 dimension, shape);
  }
  for (float scale : quantization.scales) {
    // Converters write 0 for a channel of zeros.
    if (!std::isfinite(scale) || scale < 0.0f) {
      return Error(StatusCode::kMalformedInput, "quantization scale {} must not be negative", scale);
    }
  }
  return Status::Ok();
}

Status CheckDense(const TensorDesc& desc, size_t size_bytes) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count) return Error(StatusCode::kMalformedInput, "a tensor has the impossible shape {}", desc.shape);
  if (size_bytes != desc.size_bytes()) {
    return Error(StatusCode::kInvalidArgument, "{} bytes for {}[{}], which needs {}", size_bytes, DTypeName(desc.dtype),
                 desc.shape, desc.size_bytes());
  }
  if (*count > kMaxReferenceElements) {
    return Error(StatusCode::kResourceExhausted, "a tensor of shape {} is too large for the reference evaluation",
                 desc.shape);
  }
  return IsQuantized(desc) ? CheckQuantization(*desc.quantization, desc.shape) : Status::Ok();
}

// Rounds the tensor to the numbers that `desc` can store.
Status RoundTo(const TensorDesc& desc, ReferenceTensor& tensor) {
  if (desc.dtype == DType::kFloat32) {
    for (double& value : tensor.values) value = static_cast<float>(value);
    return Status::Ok();
  }
  if (desc.dtype == DType::kFloat16) {
    for (double& value : tensor.values) value = HalfToFloat(FloatToHalf(static_cast<float>(value)));
    return Status::Ok();
  }
  if (!IsQuantized(desc) && AreStored(desc.dtype, tensor.values)) return Status::Ok();
  std::vector<std::byte> stored(desc.size_bytes());
  HEARTH_TRY(ReferenceToBytes(tensor, desc, stored));
  HEARTH_ASSIGN(tensor, ReferenceFromBytes(desc, stored));
  return Status::Ok();
}

std::optional<DType> IntegersOf(const TensorDesc& desc) {
  return IsReal(desc) ? std::nullopt : std::optional(desc.dtype);
}

Result<ReferenceTensor> MakeOutput(const TensorDesc& desc) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count || *count > kMaxReferenceElements) {
    return Error(StatusCode::kResourceExhausted, "an output of shape {} is too large for the reference evaluation",
                 desc.shape);
  }
  return ReferenceTensor{desc.shape, std::vector<double>(static_cast<size_t>(*count)), IntegersOf(desc)};
}

// For each value, the index of the last node that reads it; outputs and next states are kept to the end.
std::vector<int> LastReaders(const Graph& graph) {
  std::vector<int> last(graph.values().size(), -1);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    for (ValueId id : Present(graph.nodes()[i].inputs)) last[id] = static_cast<int>(i);
  }
  for (ValueId id : graph.outputs) last[id] = static_cast<int>(graph.nodes().size());
  for (const StatePair& state : graph.states) last[state.written] = static_cast<int>(graph.nodes().size());
  return last;
}

Status CheckShape(const Shape& declared, const ReferenceTensor& given) {
  if (given.shape == declared && given.values.size() == static_cast<size_t>(declared.element_count())) {
    return Status::Ok();
  }
  return Error(StatusCode::kInvalidArgument, "needs a tensor of shape {}, got shape {} with {} elements", declared,
               given.shape, given.values.size());
}

// Whether the operation runs on uint64, which has more digits than float64: it moves elements, or it is a binary
// operation with integer code on the CPU.
bool KeepsWords(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) {
    const BinaryKind kind = binary->kind;
    const bool is_sum = kind == BinaryKind::kAdd || kind == BinaryKind::kSub || kind == BinaryKind::kMul;
    const bool chooses = kind == BinaryKind::kMaximum || kind == BinaryKind::kMinimum;
    const bool is_bitwise = kind == BinaryKind::kBitwiseAnd || kind == BinaryKind::kBitwiseXor;
    const bool compares = kind >= BinaryKind::kEqual && kind <= BinaryKind::kGreaterEqual;
    return binary->activation == Activation::kNone && (is_sum || chooses || is_bitwise || compares);
  }
  if (const auto* unary = std::get_if<Unary>(&op)) return unary->kind == UnaryKind::kCopy;
  return OpDefOf(op).Has(kMovesElements) || IsOneOf<Bitcast, Loop>(op);
}

// A model's reader makes constants of tensors without elements, and of what nodes make of them. So no other code meets
// such tensors.
Status CheckNode(const Graph& graph, const Node& node) {
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const ValueId id : Present(*list)) {
      const Value& value = graph.value(id);
      if (value.desc.shape.element_count() == 0) {
        return Error(StatusCode::kUnsupported, "{}: '{}' has no elements, and that makes no constant of its results",
                     NodeLabel(node), value.name);
      }
      if (value.desc.dtype != DType::kUInt64 || KeepsWords(node.op)) continue;
      return Error(StatusCode::kUnsupported,
                   "{}: '{}' is uint64, which is not calculated with here: use int64 in the model", NodeLabel(node),
                   value.name);
    }
  }
  return Status::Ok();
}

Status EvaluateLoop(const LoopGraphs& graphs, const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  std::vector<ReferenceTensor> values;
  for (const ReferenceTensor* input : inputs) values.push_back(*input);
  for (int64_t iteration = 0;; ++iteration) {
    HEARTH_ASSIGN(const std::vector<ReferenceTensor> goes_on, EvaluateGraph(graphs.condition, values));
    if (goes_on[0].values[0] == 0.0) break;
    HEARTH_TRY(CheckIteration(node, iteration, nullptr));
    HEARTH_ASSIGN(values, EvaluateGraph(graphs.body, values));
  }
  for (size_t k = 0; k < values.size(); ++k) outputs[k].values = std::move(values[k].values);
  return Status::Ok();
}

// The values of a graph while it is evaluated.
class GraphEvaluation {
 public:
  explicit GraphEvaluation(const Graph& graph)
      : graph_(graph), last_readers_(LastReaders(graph)), tensors_(graph.values().size()) {}

  Status SetInput(ValueId id, const ReferenceTensor& tensor) {
    HEARTH_TRY(CheckShape(graph_.value(id).desc.shape, tensor).Within(graph_.value(id).name));
    tensors_[id] = tensor;
    tensors_[id]->integers = IntegersOf(graph_.value(id).desc);
    return Status::Ok();
  }

  Status SetStates(const std::vector<ReferenceTensor>* states) {
    const bool given = states != nullptr && !states->empty();
    if (given && states->size() != graph_.states.size()) {
      return Error(StatusCode::kInvalidArgument, "{} states given, the graph has {}", states->size(),
                   graph_.states.size());
    }
    for (size_t i = 0; i < graph_.states.size(); ++i) {
      const ValueId id = graph_.states[i].read;
      if (given) {
        HEARTH_TRY(SetInput(id, (*states)[i]));
      } else {
        HEARTH_ASSIGN(tensors_[id], MakeOutput(graph_.value(id).desc));
      }
    }
    return Status::Ok();
  }

  std::vector<ReferenceTensor> NextStates() const {
    std::vector<ReferenceTensor> states;
    for (const StatePair& state : graph_.states) states.push_back(*tensors_[state.written]);
    return states;
  }

  Status RunNode(int index) {
    const Node& node = graph_.nodes()[index];
    std::vector<const ReferenceTensor*> inputs;
    for (ValueId id : node.inputs) {
      if (id != kNoValue) HEARTH_TRY(LoadConstant(id).Within(NodeLabel(node)));
      inputs.push_back(id == kNoValue ? nullptr : &*tensors_[id]);
    }
    HEARTH_ASSIGN(std::vector<ReferenceTensor> outputs, EvaluateNode(graph_, node, inputs));
    for (size_t i = 0; i < outputs.size(); ++i) tensors_[node.outputs[i]] = std::move(outputs[i]);
    for (ValueId id : Present(node.inputs)) {
      if (last_readers_[id] == index) tensors_[id].reset();
    }
    return Status::Ok();
  }

  Result<std::vector<ReferenceTensor>> Outputs() {
    std::vector<ReferenceTensor> outputs;
    for (ValueId id : graph_.outputs) {
      HEARTH_TRY(LoadConstant(id));
      outputs.push_back(*tensors_[id]);
    }
    return outputs;
  }

 private:
  Status LoadConstant(ValueId id) {
    if (tensors_[id].has_value() || !graph_.IsConstant(id)) return Status::Ok();
    HEARTH_ASSIGN(tensors_[id], ReferenceFromBytes(graph_.value(id).desc, graph_.ReadConstant(id).bytes));
    return Status::Ok();
  }

  const Graph& graph_;
  std::vector<int> last_readers_;
  std::vector<std::optional<ReferenceTensor>> tensors_;
};

Status CheckStates(const Graph& graph) {
  for (const StatePair& state : graph.states) {
    const Value &read = graph.value(state.read), &written = graph.value(state.written);
    if (read.desc == written.desc) continue;
    return Error(StatusCode::kMalformedInput, "state '{}' is {}[{}], but its next content '{}' is {}[{}]", read.name,
                 DTypeName(read.desc.dtype), read.desc.shape, written.name, DTypeName(written.desc.dtype),
                 written.desc.shape);
  }
  return Status::Ok();
}

}  // namespace

Status InferShapes(Graph& graph) {
  for (const Node& node : graph.nodes()) {
    HEARTH_TRY(OpDefOf(node.op).infer(graph, node));
    HEARTH_TRY(CheckNode(graph, node));
  }
  return CheckStates(graph);
}

Status CheckInferred(const Graph& graph) {
  for (const Node& node : graph.nodes()) HEARTH_TRY(CheckNode(graph, node));
  return CheckStates(graph);
}

Result<ReferenceTensor> ReferenceFromBytes(const TensorDesc& desc, std::span<const std::byte> bytes) {
  HEARTH_TRY(CheckDense(desc, bytes.size()));
  ReferenceTensor tensor{desc.shape, std::vector<double>(static_cast<size_t>(desc.shape.element_count())),
                         IntegersOf(desc)};
  LoadElements(desc.dtype, bytes, tensor.values);
  if (!IsQuantized(desc)) return tensor;
  const QuantizationGrid grid(desc);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = grid.ToReal(tensor.values[i], static_cast<int64_t>(i));
  }
  return tensor;
}

Status ReferenceToBytes(const ReferenceTensor& tensor, const TensorDesc& desc, std::span<std::byte> bytes) {
  HEARTH_TRY(CheckDense(desc, bytes.size()));
  HEARTH_TRY(CheckShape(desc.shape, tensor));
  if (!IsQuantized(desc)) {
    StoreElements(desc.dtype, tensor.values, bytes);
    return Status::Ok();
  }
  if (BlocksOf(desc) != nullptr) return Error(StatusCode::kUnsupported, "scales of blocks are of constants");
  const QuantizationGrid grid(desc);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    StoreElement(desc.dtype, bytes, static_cast<int64_t>(i), grid.ToStored(tensor.values[i], static_cast<int64_t>(i)));
  }
  return Status::Ok();
}

Result<std::vector<std::byte>> BytesOfZeros(const TensorDesc& desc) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count) return Error(StatusCode::kMalformedInput, "a tensor has the impossible shape {}", desc.shape);
  std::vector<std::byte> bytes(desc.size_bytes());
  if (!IsQuantized(desc)) return bytes;
  HEARTH_TRY(CheckQuantization(*desc.quantization, desc.shape));
  const QuantizationGrid grid(desc);
  for (int64_t i = 0; i < *count; ++i) StoreElement(desc.dtype, bytes, i, grid.ToStored(0.0, i));
  return bytes;
}

bool AreKept(const TensorDesc& desc, std::span<const std::byte> bytes, Made64 made) {
  if ((desc.dtype != DType::kInt64 && desc.dtype != DType::kUInt64) || desc.quantization) return true;
  const auto are_all = [&]<typename T>(T) {
    for (int64_t i = 0, count = desc.shape.element_count(); i < count; ++i) {
      const T stored = LoadAt<T>(bytes.data(), i);
      const double real = static_cast<double>(stored), magnitude = std::abs(real);
      if (magnitude < 0x1p53) continue;
      const bool may_be_rounded = made == Made64::kCalculated || (made == Made64::kChosen && magnitude < 0x1p63);
      if (may_be_rounded || Saturate<T>(real) != stored) return false;
    }
    return true;
  };
  return desc.dtype == DType::kInt64 ? are_all(int64_t{}) : are_all(uint64_t{});
}

Result<std::vector<float>> ConstantAsFloats(const Graph& graph, ValueId id) {
  if (id < 0 || static_cast<size_t>(id) >= graph.values().size() || !graph.IsConstant(id)) {
    return Error(StatusCode::kInvalidArgument, "value %{} is not a constant", id);
  }
  const Value& value = graph.value(id);
  HEARTH_TRY(CheckDense(value.desc, graph.ConstantSizeBytes(id)).Within(value.name));
  std::vector<float> floats(static_cast<size_t>(value.desc.shape.element_count()));
  const OrderedBytes stored = graph.ReadConstant(id);
  const FloatReader reader(value.desc, stored.bytes);
  if (!floats.empty()) reader.Read(0, static_cast<int64_t>(floats.size()), floats.data());
  return floats;
}

Result<std::vector<ReferenceTensor>> EvaluateNode(const Graph& graph, const Node& node, ReferenceInputs inputs) {
  const OpDef& def = OpDefOf(node.op);
  const auto* loop = std::get_if<Loop>(&node.op);
  const bool is_loop = loop != nullptr && loop->graphs != nullptr;
  if (def.reference == nullptr && !is_loop) return UnknownOperation(node);
  if (inputs.size() != node.inputs.size()) {
    return Error(StatusCode::kInvalidArgument, "{}: {} inputs given, it has {}", NodeLabel(node), inputs.size(),
                 node.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if ((id == kNoValue) != (inputs[i] == nullptr)) {
      return Error(StatusCode::kInvalidArgument, "{}: input {} is {}", NodeLabel(node), i,
                   id == kNoValue ? "absent in the graph but given" : "missing");
    }
    if (id != kNoValue) {
      HEARTH_TRY(CheckShape(graph.value(id).desc.shape, *inputs[i]).Within(NodeLabel(node)));
    }
  }
  std::vector<ReferenceTensor> outputs;
  for (ValueId id : node.outputs) {
    HEARTH_ASSIGN(ReferenceTensor output, MakeOutput(graph.value(id).desc));
    outputs.push_back(std::move(output));
  }
  const auto is_empty = [](const ReferenceTensor& output) { return output.values.empty(); };
  if (!outputs.empty() && std::ranges::all_of(outputs, is_empty)) return outputs;
  if (is_loop) {
    HEARTH_TRY(EvaluateLoop(*loop->graphs, node, inputs, outputs));
  } else {
    def.reference(node, inputs, outputs);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    HEARTH_TRY(RoundTo(graph.value(node.outputs[i]).desc, outputs[i]).Within(NodeLabel(node)));
  }
  return outputs;
}

Result<std::vector<ReferenceTensor>> EvaluateGraph(const Graph& graph, std::span<const ReferenceTensor> inputs,
                                                   std::vector<ReferenceTensor>* states) {
  HEARTH_TRY(graph.Validate());
  if (inputs.size() != graph.inputs.size()) {
    return Error(StatusCode::kInvalidArgument, "{} inputs given, the graph has {}", inputs.size(), graph.inputs.size());
  }
  GraphEvaluation evaluation(graph);
  for (size_t i = 0; i < inputs.size(); ++i) HEARTH_TRY(evaluation.SetInput(graph.inputs[i], inputs[i]));
  HEARTH_TRY(evaluation.SetStates(states));
  for (size_t i = 0; i < graph.nodes().size(); ++i) HEARTH_TRY(evaluation.RunNode(static_cast<int>(i)));
  if (states != nullptr) *states = evaluation.NextStates();
  return evaluation.Outputs();
}

}  // namespace hearth
