#include <vector>

#include "core/graph/element.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

size_t BytesOf(DType dtype) {
  return static_cast<size_t>(BitsOf(dtype)) / 8;
}

}  // namespace

Status InferBitcast(const NodeInference& inference) {
  const TensorDesc& input = inference.input(0);
  const DType to = inference.op<Bitcast>().to;
  for (const DType dtype : {input.dtype, to}) {
    if (dtype == DType::kInt4 || dtype == DType::kBool) {
      return inference.Fail(StatusCode::kUnsupported, "{} has no bits of its own", DTypeName(dtype));
    }
  }
  if (IsQuantized(input)) return inference.Fail(StatusCode::kUnsupported, "the bits of a quantized tensor");
  const size_t from_bytes = BytesOf(input.dtype), to_bytes = BytesOf(to);
  std::vector<int64_t> dims(input.shape.dims().begin(), input.shape.dims().end());
  if (from_bytes > to_bytes) {
    dims.push_back(static_cast<int64_t>(from_bytes / to_bytes));
  } else if (from_bytes < to_bytes) {
    const auto parts = static_cast<int64_t>(to_bytes / from_bytes);
    if (dims.empty() || dims.back() != parts) {
      return inference.Fail(StatusCode::kMalformedInput, "from {} to {} the last dimension of {} must be {}",
                            DTypeName(input.dtype), DTypeName(to), input.shape.ToString(), parts);
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

}  // namespace hearth
