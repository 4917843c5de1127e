#include "core/ops/node_inference.h"

#include <limits>
#include <vector>

#include "core/op_text.h"
#include "core/storage.h"

namespace hearth {

Status NodeInference::FailWith(StatusCode code, const std::string& text) const {
  return Status(code, text).Within(NodeLabel(node_));
}

Status NodeInference::CheckOperands(size_t required, size_t optional, size_t outputs) const {
  if (node_.inputs.size() < required || node_.inputs.size() > required + optional) {
    if (optional == kAnyNumber) {
      return Fail(StatusCode::kMalformedInput, "has {} inputs, needs at least {}", node_.inputs.size(), required);
    }
    return Fail(StatusCode::kMalformedInput, "has {} inputs, needs {}{}", node_.inputs.size(), required,
                optional == 0 ? std::string() : fmt::format(" to {}", required + optional));
  }
  if (node_.outputs.size() != outputs) {
    return Fail(StatusCode::kMalformedInput, "has {} outputs, needs {}", node_.outputs.size(), outputs);
  }
  const auto in_range = [this](ValueId id) { return id >= 0 && static_cast<size_t>(id) < graph_.values().size(); };
  for (ValueId id : node_.outputs) {
    if (!in_range(id)) return Fail(StatusCode::kMalformedInput, "output %{} does not exist", id);
  }
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    const ValueId id = node_.inputs[i];
    if (id == kNoValue && (i >= required && optional != kAnyNumber)) continue;
    if (!in_range(id)) return Fail(StatusCode::kMalformedInput, "input {} (%{}) does not exist", i, id);
    const std::optional<int64_t> count = CheckedElementCount(shape(i));
    if (!count) {
      return Fail(StatusCode::kMalformedInput, "input {} has the impossible shape {}", i, shape(i).ToString());
    }
    if (*count == 0) {
      return Fail(StatusCode::kUnsupported, "input {} is empty (shape {}); tensors without elements can't be run", i,
                  shape(i).ToString());
    }
  }
  return Status::Ok();
}

Status NodeInference::CheckRank(size_t i, int rank) const {
  if (shape(i).rank() == rank) return Status::Ok();
  return Fail(StatusCode::kMalformedInput, "input {} has rank {} (shape {}), needs rank {}", i, shape(i).rank(),
              shape(i).ToString(), rank);
}

Status NodeInference::CheckReal(size_t i) const {
  const TensorDesc& desc = input(i);
  if (desc.dtype == DType::kFloat32 || desc.dtype == DType::kFloat16) return Status::Ok();
  if (desc.quantization.has_value() && desc.dtype != DType::kBool) return Status::Ok();
  return Fail(StatusCode::kUnsupported, "input {} is {}; only float32, float16 and quantized types can be run here", i,
              DTypeName(desc.dtype));
}

Status NodeInference::CheckBias(size_t i, int32_t channels) const {
  if (input(i).dtype != DType::kInt32) HEARTH_TRY(CheckReal(i));
  if (shape(i).element_count() == channels) return Status::Ok();
  return Fail(StatusCode::kMalformedInput, "bias has shape {}, needs one element for each of {} output channels",
              shape(i).ToString(), channels);
}

Status NodeInference::SetOutput(size_t i, std::span<const int64_t> dims) const {
  if (dims.size() > Shape::kMaxRank) {
    return Fail(StatusCode::kUnsupported, "output would have rank {}, the limit is {}", dims.size(), Shape::kMaxRank);
  }
  std::vector<int32_t> narrow;
  for (int64_t dim : dims) {
    if (dim < 0 || dim > std::numeric_limits<int32_t>::max()) {
      return Fail(StatusCode::kMalformedInput, "output would have a dimension of {}", dim);
    }
    narrow.push_back(static_cast<int32_t>(dim));
  }
  return SetOutput(i, Shape::FromSpan(narrow));
}

Status NodeInference::SetOutput(size_t i, const Shape& shape) const {
  const std::optional<int64_t> count = CheckedElementCount(shape);
  if (!count) return Fail(StatusCode::kMalformedInput, "output would have the impossible shape {}", shape.ToString());
  if (*count == 0) {
    return Fail(StatusCode::kUnsupported, "output would be empty (shape {})", shape.ToString());
  }
  Value& value = graph_.value(node_.outputs[i]);
  if (value.desc.shape.rank() > 0 && !(value.desc.shape == shape)) {
    return Fail(StatusCode::kMalformedInput, "output '{}' is declared as {}, but the inputs and attributes give {}",
                value.name, value.desc.shape.ToString(), shape.ToString());
  }
  value.desc.shape = shape;
  return Status::Ok();
}

Status NodeInference::SetOutputTypeOf(size_t i, size_t from) const {
  Value& value = graph_.value(node_.outputs[i]);
  value.desc.dtype = input(from).dtype;
  if (!IsReal(input(from)) || value.desc.dtype == DType::kBool) value.desc.quantization.reset();
  if (!IsReal(input(from)) || IsReal(value.desc)) return Status::Ok();
  return Fail(StatusCode::kMalformedInput, "input {} is quantized {}, but output '{}' has no quantization", from,
              DTypeName(value.desc.dtype), value.name);
}

void NodeInference::SetOutputType(size_t i, DType dtype) const {
  TensorDesc& desc = graph_.value(node_.outputs[i]).desc;
  desc.dtype = dtype;
  desc.quantization.reset();
}

}  // namespace hearth
