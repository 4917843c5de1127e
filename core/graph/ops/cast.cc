#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/element.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {

Status InferCast(const NodeInference& inference) {
  const auto& cast = inference.op<Cast>();
  const TensorDesc& input = inference.input(0);
  // TFLite's CAST ignores the quantization, and converters don't write such a inference.node().
  if (IsQuantized(input)) return inference.Fail(StatusCode::kUnsupported, "a quantized tensor can't be cast");
  if (input.dtype == DType::kInt4 || cast.to == DType::kInt4) {
    return inference.Fail(StatusCode::kUnsupported, "4-bit elements can't be cast");
  }
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

}  // namespace hearth
