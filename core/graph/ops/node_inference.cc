#include "core/graph/ops/node_inference.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/graph/op_text.h"
#include "core/graph/quantize.h"

namespace hearth {

Status NodeInference::FailWith(StatusCode code, const std::string& text) const {
  return Status(code, text).Within(NodeLabel(node_));
}

Status OpDef::infer(Graph& graph, const Node& node) const {
  const NodeInference inference(graph, node);
  if (!operands.depend_on_node) HEARTH_TRY(inference.CheckOperands(operands));
  return infer_checked(inference);
}

Status NodeInference::CheckOperands(const OperandCounts& counts) const {
  const auto [required, optional, outputs, depend_on_node] = counts;
  if (node_.inputs.size() < required || node_.inputs.size() > required + optional) {
    if (optional == kAnyNumber) return Malformed("has {} inputs, needs at least {}", node_.inputs.size(), required);
    return Malformed("has {} inputs, needs {}{}", node_.inputs.size(), required,
                     optional == 0 ? std::string() : fmt::format(" to {}", required + optional));
  }
  if (node_.outputs.size() != outputs) return Malformed("has {} outputs, needs {}", node_.outputs.size(), outputs);
  const auto in_range = [this](ValueId id) { return id >= 0 && static_cast<size_t>(id) < graph_.values().size(); };
  for (ValueId id : node_.outputs) {
    if (!in_range(id)) return Malformed("output %{} does not exist", id);
  }
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    const ValueId id = node_.inputs[i];
    if (id == kNoValue && (i >= required && optional != kAnyNumber)) continue;
    if (!in_range(id)) return Malformed("input {} (%{}) does not exist", i, id);
    const std::optional<int64_t> count = CheckedElementCount(shape(i));
    if (!count) return Malformed("input {} has the impossible shape {}", i, shape(i));
    // An empty input 0 is checked by SetOutput: all outputs must be empty. Other inputs may only have an empty batch.
    if (*count > 0 || i == 0 || OpDefOf(node_.op).Has(kTakesEmpty)) continue;
    if (shape(i).rank() < 2 || std::ranges::count(shape(i).dims().subspan(1), 0) > 0)
      return Unsupported("input {} of shape {} has no elements, and is no batch of none", i, shape(i));
  }
  return Status::Ok();
}

bool NodeInference::HasEmptyInput() const {
  return std::ranges::any_of(
      node_.inputs, [this](ValueId id) { return id != kNoValue && graph_.value(id).desc.shape.element_count() == 0; });
}

Status NodeInference::CheckRank(size_t i, int rank) const {
  if (shape(i).rank() == rank) return Status::Ok();
  return Malformed("input {} has rank {} (shape {}), needs rank {}", i, shape(i).rank(), shape(i), rank);
}

Status NodeInference::CheckReal(size_t i) const {
  const TensorDesc& desc = input(i);
  if (IsFloat(desc.dtype)) return Status::Ok();
  if (desc.quantization.has_value() && desc.dtype != DType::kBool) return Status::Ok();
  return Unsupported("input {} is {}; only float32, float16 and quantized types can be run here", i,
                     DTypeName(desc.dtype));
}

Status NodeInference::CheckIntegers(size_t i) const {
  if (!IsReal(input(i))) return Status::Ok();
  return Malformed("input {} is {}, needs plain integers", i, DTypeName(input(i).dtype));
}

Status NodeInference::CheckBias(size_t i, int32_t channels) const {
  if (input(i).dtype != DType::kInt32) HEARTH_TRY(CheckReal(i));
  if (shape(i).element_count() == channels) {
    const Shape& bias = shape(i);
    if (graph_.IsConstant(node_.inputs[i]) || (bias.rank() > 0 && bias[bias.rank() - 1] == channels))
      return Status::Ok();
    return Unsupported("a computed bias of shape {}, which is not a vector", bias);
  }
  return Malformed("bias has shape {}, needs one element for each of {} output channels", shape(i), channels);
}

Status NodeInference::CheckKeepsType(size_t output_index, size_t input_index) const {
  const TensorDesc &in = input(input_index), &out = graph_.value(node_.outputs[output_index]).desc;
  if (in.dtype == out.dtype && IsReal(in) == IsReal(out)) return Status::Ok();
  const auto name = [](const TensorDesc& desc) {
    return fmt::format("{}{}", IsQuantized(desc) ? "quantized " : "", DTypeName(desc.dtype));
  };
  return Malformed("output {} is {}, input {} is {}; both need one type", output_index, name(out), input_index,
                   name(in));
}

Status NodeInference::SetOutput(size_t i, std::span<const int64_t> dims) const {
  if (dims.size() > Shape::kMaxRank)
    return Unsupported("output would have rank {}, the limit is {}", dims.size(), Shape::kMaxRank);
  std::vector<int32_t> narrow;
  for (int64_t dim : dims) {
    if (dim < 0 || dim > std::numeric_limits<int32_t>::max())
      return Malformed("output would have a dimension of {}", dim);
    narrow.push_back(static_cast<int32_t>(dim));
  }
  return SetOutput(i, Shape::FromSpan(narrow));
}

Status NodeInference::SetOutput(size_t i, const Shape& shape) const {
  const std::optional<int64_t> count = CheckedElementCount(shape);
  if (!count) return Malformed("output would have the impossible shape {}", shape);
  if (*count > 0 && HasEmptyInput() && !OpDefOf(node_.op).Has(kTakesEmpty))
    return Unsupported("output of shape {} would be made of nothing", shape);
  Value& value = graph_.value(node_.outputs[i]);
  if (value.desc.shape.rank() > 0 && !(value.desc.shape == shape)) {
    return Malformed("output '{}' is declared as {}, but the inputs and attributes give {}", value.name,
                     value.desc.shape, shape);
  }
  value.desc.shape = shape;
  return Status::Ok();
}

Status NodeInference::SetOutputTypeOf(size_t i, size_t from) const {
  Value& value = graph_.value(node_.outputs[i]);
  value.desc.dtype = input(from).dtype;
  if (!IsReal(input(from)) || value.desc.dtype == DType::kBool) value.desc.quantization.reset();
  if (!IsReal(input(from)) || IsReal(value.desc)) return Status::Ok();
  return Malformed("input {} is quantized {}, but output '{}' has no quantization", from, DTypeName(value.desc.dtype),
                   value.name);
}

void NodeInference::SetOutputType(size_t i, DType dtype) const {
  TensorDesc& desc = graph_.value(node_.outputs[i]).desc;
  desc.dtype = dtype;
  desc.quantization.reset();
}

}  // namespace hearth
