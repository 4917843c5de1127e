#include <cmath>

#include "core/graph/quantize.h"
#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

Status CheckFinite(const char* what, float number) {
  if (std::isfinite(number)) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} is {}, not a finite number", what, number);
}

}  // namespace

// TFLite's CAST uses the types of its tensors. The options may have others.
Result<Op> ReadCast(const OperatorView& view) {
  HEARTH_ASSIGN(const TensorDesc input, view.DescribeInput(0));
  HEARTH_ASSIGN(const TensorDesc output, view.DescribeOutput(0));
  if (IsQuantized(input) || IsQuantized(output)) return Error(StatusCode::kUnsupported, "of quantized tensors");
  return Op(Cast{.to = output.dtype});
}

Result<Op> ReadGelu(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::GeluOptions* options, view.Options<wire::GeluOptions>());
  return Op(Unary{.kind = options->approximate() ? UnaryKind::kGeluTanh : UnaryKind::kGelu});
}

Result<Op> ReadLeakyRelu(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::LeakyReluOptions* options, view.Options<wire::LeakyReluOptions>());
  HEARTH_TRY(CheckFinite("alpha", options->alpha()));
  return Op(Unary{.kind = UnaryKind::kLeakyRelu, .alpha = options->alpha()});
}

// SELECT's condition has an element for each element of the tensors, one for all, or one per row.
Result<Op> ReadSelect(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape condition, view.InputShape(0));
  HEARTH_ASSIGN(const Shape chosen, view.InputShape(1));
  if (condition.rank() == 1 && chosen.rank() > 1 && condition[0] == chosen[0]) return Op(SelectRows{});
  return Op(Select{});
}

Result<Op> ReadPRelu(const OperatorView& view) {
  HEARTH_ASSIGN(const TensorDesc data, view.DescribeInput(0));
  HEARTH_ASSIGN(const TensorDesc slope, view.DescribeInput(1));
  if (data.dtype != slope.dtype) return Error(StatusCode::kUnsupported, "a slope of another type");
  return Op(PRelu{});
}

Result<Op> ReadSoftmax(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::SoftmaxOptions* options, view.Options<wire::SoftmaxOptions>());
  HEARTH_TRY(CheckFinite("beta", options->beta()));
  return Op(Softmax{.beta = options->beta()});
}

}  // namespace hearth
