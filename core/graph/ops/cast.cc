#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/numbers.h"
#include "core/graph/element.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/recurrent.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

size_t BytesOf(DType dtype) {
  return static_cast<size_t>(BitsOf(dtype)) / 8;
}

}  // namespace

Status InferCast(const NodeInference& inference) {
  const auto& cast = inference.op<Cast>();
  const TensorDesc& input = inference.input(0);
  // A format that casts the stored integers says so by other nodes.
  if (IsQuantized(input)) return inference.Unsupported("a quantized tensor can't be cast");
  if (input.dtype == DType::kInt4 || cast.to == DType::kInt4)
    return inference.Unsupported("4-bit elements can't be cast");
  inference.SetOutputType(0, cast.to);
  return inference.SetOutput(0, inference.shape(0));
}

void ReferenceCast(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const DType to = std::get<Cast>(node.op).to;
  const bool to_real = IsFloat(to);
  const bool from_integer = inputs[0]->integers.has_value();
  const auto convert = [=](double v) {
    if (to_real) return v;
    if (to == DType::kBool) return v != 0.0 ? 1.0 : 0.0;
    if (from_integer) return static_cast<double>(WrapInteger(to, ToInt64(v)));
    // The store saturates numbers that do not fit. NaN becomes the highest number, as in TFLite.
    return std::isnan(v) ? std::numeric_limits<double>::infinity() : std::trunc(v);
  };
  std::transform(inputs[0]->values.begin(), inputs[0]->values.end(), outputs[0].values.begin(), convert);
}

Status InferBitcast(const NodeInference& inference) {
  const TensorDesc& input = inference.input(0);
  const DType to = inference.op<Bitcast>().to;
  for (const DType dtype : {input.dtype, to}) {
    if (dtype == DType::kInt4 || dtype == DType::kBool)
      return inference.Unsupported("{} has no bits of its own", DTypeName(dtype));
  }
  if (IsQuantized(input)) return inference.Unsupported("the bits of a quantized tensor");
  const size_t from_bytes = BytesOf(input.dtype), to_bytes = BytesOf(to);
  std::vector<int64_t> dims(input.shape.dims().begin(), input.shape.dims().end());
  if (from_bytes > to_bytes) {
    dims.push_back(static_cast<int64_t>(from_bytes / to_bytes));
  } else if (from_bytes < to_bytes) {
    const auto parts = static_cast<int64_t>(to_bytes / from_bytes);
    if (dims.empty() || dims.back() != parts) {
      return inference.Malformed("from {} to {} the last dimension of {} must be {}", DTypeName(input.dtype),
                                 DTypeName(to), input.shape, parts);
    }
    dims.pop_back();
  }
  inference.SetOutputType(0, to);
  return inference.SetOutput(0, dims);
}

void ReferenceBitcast(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const DType to = std::get<Bitcast>(node.op).to;
  const ReferenceTensor &in = *inputs[0], &out = outputs[0];
  // The reference's numbers don't have the type: its size follows from the element counts.
  const size_t out_bytes = out.values.size() * BytesOf(to);
  const size_t in_bytes = out_bytes / in.values.size();
  const DType real = in_bytes == BytesOf(DType::kFloat64)   ? DType::kFloat64
                     : in_bytes == BytesOf(DType::kFloat32) ? DType::kFloat32
                                                            : DType::kFloat16;
  const DType from = in.integers.value_or(real);
  std::vector<std::byte> bits(out_bytes);
  for (size_t i = 0; i < in.values.size(); ++i) StoreElement(from, bits, static_cast<int64_t>(i), in.values[i]);
  for (size_t i = 0; i < out.values.size(); ++i) {
    outputs[0].values[i] = LoadElement(to, bits, static_cast<int64_t>(i));
  }
}

Status InferDynamicQuantize(const NodeInference& inference) {
  if (!IsPlainFloat32(inference.input(0)))
    return inference.Unsupported("{} in steps of its range; it needs float32", DTypeName(inference.input(0).dtype));
  inference.SetOutputType(0, DType::kUInt8);
  inference.SetOutputType(1, DType::kFloat32);
  inference.SetOutputType(2, DType::kUInt8);
  HEARTH_TRY(inference.SetOutput(0, inference.shape(0)));
  HEARTH_TRY(inference.SetOutput(1, Shape()));
  return inference.SetOutput(2, Shape());
}

void ReferenceDynamicQuantize(const Node& /*node*/, ReferenceInputs inputs, ReferenceOutputs outputs) {
  // In float32, as ONNX has it: a number in the middle of two steps is rounded in the same way.
  const std::vector<float> x(inputs[0]->values.begin(), inputs[0]->values.end());
  std::vector<float> steps(x.size());
  if (!AllFinite(x)) {
    outputs[1].values[0] = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const CountedSteps<float> counted = CountSteps<float>(x, steps);
  for (size_t k = 0; k < x.size(); ++k) outputs[0].values[k] = steps[k] + counted.zero;
  outputs[1].values[0] = counted.step;
  outputs[2].values[0] = counted.zero;
}

}  // namespace hearth
