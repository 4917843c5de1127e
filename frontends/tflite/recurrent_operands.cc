#include "frontends/tflite/recurrent_operands.h"

#include <array>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/recurrent.h"
#include "frontends/tflite/operator_table.h"

namespace hearth {
namespace {

// Indices of an LSTM's operands in the file; gates in the order input, forget, cell, output.
constexpr size_t kFileWeights = 1, kFileRecurrent = 5, kFilePeephole = 9, kFileBias = 12, kFileProjection = 16,
                 kFileProjectionBias = 17, kFileOutputState = 18, kFileCellState = 19, kFileNormalization = 20;
// Operands of the BASIC kernel.
enum BasicOperand : size_t { kBasicX, kBasicActivation, kBasicWeights, kBasicBias, kBasicState };

class LstmOperands {
 public:
  LstmOperands(Graph& graph, TensorReader& tensors, StackedConstants& stacked, const Node& node)
      : graph_(graph), tensors_(tensors), stacked_(stacked), node_(node) {}

  Result<std::vector<ValueId>> ArrangeFull() {
    has_input_gate_ = At(kFileWeights) != kNoValue;
    std::vector<ValueId> inputs = {At(0), At(kFileOutputState), At(kFileCellState)};
    for (const auto& [first, count] : {std::pair{kFileWeights, size_t{4}},
                                       {kFileRecurrent, size_t{4}},
                                       {kFileBias, size_t{4}},
                                       {kFilePeephole, size_t{3}},
                                       {kFileNormalization, size_t{4}}}) {
      const bool optional = first == kFilePeephole || first == kFileNormalization;
      HEARTH_ASSIGN(const ValueId stacked, Stack(first, count, optional));
      inputs.push_back(stacked);
    }
    inputs.push_back(At(kFileProjection));
    inputs.push_back(At(kFileProjectionBias));
    while (inputs.back() == kNoValue) inputs.pop_back();
    for (size_t i = 0; i <= kLstmC; ++i) {
      if (inputs[i] == kNoValue) return Error(StatusCode::kMalformedInput, "its input or one of its states is absent");
    }
    return inputs;
  }

  // BASIC: one matrix over [x, activation], gates in the order input, cell, forget, output.
  Result<std::vector<ValueId>> ArrangeBasic() {
    const Shape &x = ShapeOf(kBasicX), &shape = ShapeOf(kBasicWeights);
    const int64_t bias_count = ShapeOf(kBasicBias).element_count();
    if (x.rank() < 2 || shape.rank() != 2 || shape[0] % 4 != 0 || shape[1] <= x[x.rank() - 1] ||
        bias_count != shape[0]) {
      return Error(StatusCode::kMalformedInput, "weights of shape {} and {} biases for an input of shape {}",
                   shape.ToString(), bias_count, x.ToString());
    }
    const int32_t depth = x[x.rank() - 1];
    // Longer than Stack's keys, so never equal to one.
    const auto key = [&](int64_t part) {
      return std::vector<int64_t>{At(kBasicWeights), At(kBasicBias), depth, part, 0};
    };
    if (!stacked_.contains(key(0))) {
      HEARTH_ASSIGN(const auto made, DivideBasic(shape[0] / 4, depth, shape[1] - depth));
      for (size_t part = 0; part < made.size(); ++part) stacked_.emplace(key(static_cast<int64_t>(part)), made[part]);
    }
    return std::vector<ValueId>{At(kBasicX),         At(kBasicActivation), At(kBasicState),
                                stacked_.at(key(0)), stacked_.at(key(1)),  stacked_.at(key(2))};
  }

 private:
  ValueId At(size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : kNoValue; }
  const Shape& ShapeOf(size_t i) const { return graph_.value(At(i)).desc.shape; }
  ValueId Add(const char* what, const Shape& shape, std::span<const float> numbers) {
    return graph_.AddFloatConstant(fmt::format("{}/{}", graph_.value(node_.outputs[0]).name, what), shape, numbers);
  }

  Result<std::vector<float>> Floats(ValueId value) {
    if (!graph_.IsConstant(value)) return Error(StatusCode::kUnsupported, "its weights are made at run time");
    const int64_t elements = graph_.value(value).desc.shape.element_count();
    if (!tensors_.ChargeMade(4 * static_cast<size_t>(elements))) {
      return Error(StatusCode::kUnsupported, "its {} weights are too many for the size of the file", elements);
    }
    return ConstantAsFloats(graph_, value);
  }

  // The weights of x, the weights of the activation, and the biases.
  Result<std::array<ValueId, 3>> DivideBasic(int32_t units, int32_t depth, int32_t outputs) {
    HEARTH_ASSIGN(const std::vector<float> weights, Floats(At(kBasicWeights)));
    HEARTH_ASSIGN(const std::vector<float> bias, Floats(At(kBasicBias)));
    const int32_t width = depth + outputs;
    std::vector<float> of_x, of_h, biases;
    for (int gate : {0, 2, 1, 3}) {
      for (int32_t row = gate * units; row < (gate + 1) * units; ++row) {
        const float* weight = &weights[static_cast<size_t>(row) * width];
        of_x.insert(of_x.end(), weight, weight + depth);
        of_h.insert(of_h.end(), weight + depth, weight + width);
        biases.push_back(bias[row]);
      }
    }
    return std::array<ValueId, 3>{Add("weights", {4 * units, depth}, of_x),
                                  Add("recurrent", {4 * units, outputs}, of_h), Add("bias", {4 * units}, biases)};
  }

  // Stacks operands `first` to `first + count` - 1, of which the first belongs to the input gate. kNoValue if all
  // operands of an optional list are absent.
  Result<ValueId> Stack(size_t first, size_t count, bool optional) {
    std::vector<size_t> parts;
    for (size_t i = first; i < first + count; ++i) {
      if (At(i) != kNoValue) parts.push_back(i);
    }
    if (parts.empty() && optional) return kNoValue;
    const bool has_first = At(first) != kNoValue;
    if (parts.size() != count - (has_input_gate_ ? 0 : 1) || has_first != has_input_gate_) {
      return Error(StatusCode::kMalformedInput, "operands {} to {} must be there for each of its gates, or none", first,
                   first + count - 1);
    }
    std::vector<int64_t> key;
    for (const size_t part : parts) key.push_back(At(part));
    if (const auto found = stacked_.find(key); found != stacked_.end()) return found->second;
    std::vector<float> stacked;
    for (size_t part : parts) {
      if (ShapeOf(part) != ShapeOf(parts[0]) || ShapeOf(part).rank() < 1) {
        return Error(StatusCode::kMalformedInput, "operands {} and {} of its gates have the shapes {} and {}", parts[0],
                     part, ShapeOf(parts[0]).ToString(), ShapeOf(part).ToString());
      }
      HEARTH_ASSIGN(const std::vector<float> floats, Floats(At(part)));
      stacked.insert(stacked.end(), floats.begin(), floats.end());
    }
    Shape shape = ShapeOf(parts[0]);
    const int64_t rows = int64_t{shape[0]} * static_cast<int64_t>(parts.size());
    if (rows > std::numeric_limits<int32_t>::max()) {
      return Error(StatusCode::kMalformedInput, "{} gates of {} units", parts.size(), shape[0]);
    }
    shape[0] = static_cast<int32_t>(rows);
    const ValueId made = Add(first == kFileWeights     ? "weights"
                             : first == kFileRecurrent ? "recurrent"
                             : first == kFileBias      ? "bias"
                             : first == kFilePeephole  ? "peephole"
                                                       : "normalization",
                             shape, stacked);
    stacked_.emplace(std::move(key), made);
    return made;
  }

  Graph& graph_;
  TensorReader& tensors_;
  StackedConstants& stacked_;
  const Node& node_;
  bool has_input_gate_ = true;
};

}  // namespace

Status ArrangeRecurrentOperands(Graph& graph, TensorReader& tensors, StackedConstants& stacked, Node& node) {
  if (!std::holds_alternative<Lstm>(node.op)) return Status::Ok();
  LstmOperands operands(graph, tensors, stacked, node);
  const bool is_basic = IsBasicLstm(node.inputs.size());
  HEARTH_ASSIGN(std::vector<ValueId> inputs, is_basic ? operands.ArrangeBasic() : operands.ArrangeFull());
  node.inputs = std::move(inputs);
  if (!is_basic) return Status::Ok();
  // The file's outputs: activation, cell state, two scratch tensors. The next contents of the two states follow, the
  // second of which is also the file's cell state.
  if (node.outputs.size() < 4) return Error(StatusCode::kMalformedInput, "it has no output for its state");
  node.outputs = {node.outputs[0], *(node.outputs.end() - 2), node.outputs.back()};
  return Status::Ok();
}

}  // namespace hearth
