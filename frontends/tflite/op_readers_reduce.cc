// Sums, searches, normalizations and lookups.
#include <cmath>

#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

// TFLite gives the indices the type in the options, regardless of the file's tensor.
Status SetIndexType(const OperatorView& view, ArgKind kind) {
  wire::TensorType named = wire::TensorType_FLOAT32;  // the schema's default: no type
  if (kind == ArgKind::kMax) {
    HEARTH_ASSIGN(const wire::ArgMaxOptions* options, view.Options<wire::ArgMaxOptions>());
    named = options->output_type();
  } else {
    HEARTH_ASSIGN(const wire::ArgMinOptions* options, view.Options<wire::ArgMinOptions>());
    named = options->output_type();
  }
  if (named == wire::TensorType_INT32) view.SetOutputType(0, DType::kInt32);
  if (named == wire::TensorType_INT64) view.SetOutputType(0, DType::kInt64);
  return Status::Ok();
}

}  // namespace

Result<Op> ReadReduce(const OperatorView& view, ReduceKind kind) {
  HEARTH_ASSIGN(const wire::ReducerOptions* options, view.Options<wire::ReducerOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const std::vector<int32_t> axes, view.ConstantIntegers(1));
  HEARTH_ASSIGN(const uint32_t mask, ResolveAxes(axes, input.rank()));
  return Op(Reduce{kind, mask, options->keep_dims()});
}

Result<Op> ReadArgReduce(const OperatorView& view, ArgKind kind) {
  HEARTH_TRY(SetIndexType(view, kind));
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const int32_t axis, view.ConstantAxis(1, input.rank()));
  return Op(ArgReduce{kind, axis});
}

Result<Op> ReadTopK(const OperatorView& view) {
  if (view.output_count() != 2) {
    return Error(StatusCode::kMalformedInput, "it has {} outputs instead of values and indices", view.output_count());
  }
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const TensorDesc indices, view.DescribeOutput(1));
  if (indices.dtype != DType::kInt32) return Error(StatusCode::kUnsupported, "indices of another type than int32");
  TopK topk;
  HEARTH_ASSIGN(topk.k, view.ConstantInteger(1));
  if (input.rank() < 1 || topk.k < 0 || topk.k > input[input.rank() - 1]) {
    return Error(StatusCode::kMalformedInput, "the {} largest of an input of shape {}", topk.k, input.ToString());
  }
  return Op(topk);
}

Result<Op> ReadCumSum(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::CumsumOptions* options, view.Options<wire::CumsumOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const int32_t axis, view.ConstantAxis(1, input.rank()));
  return Op(CumSum{axis, options->exclusive(), options->reverse()});
}

Result<Op> ReadLocalResponseNormalization(const OperatorView& view) {
  using Options = wire::LocalResponseNormalizationOptions;
  HEARTH_ASSIGN(const Options* options, view.Options<Options>());
  const LocalResponseNormalization norm{
      .radius = options->radius(), .bias = options->bias(), .alpha = options->alpha(), .beta = options->beta()};
  if (norm.radius < 0 || !std::isfinite(norm.bias) || !std::isfinite(norm.alpha) || !std::isfinite(norm.beta)) {
    return Error(StatusCode::kMalformedInput, "radius {}, bias {}, alpha {} and beta {} have no meaning", norm.radius,
                 norm.bias, norm.alpha, norm.beta);
  }
  return Op(norm);
}

Result<Op> ReadGather(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::GatherOptions* options, view.Options<wire::GatherOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const Shape indices, view.InputShape(1));
  Gather gather;
  HEARTH_ASSIGN(gather.axis, ResolveAxis(options->axis(), input.rank()));
  const bool from_end = options->batch_dims() < 0;
  HEARTH_ASSIGN(gather.batch_dims, ResolveAxis(options->batch_dims(), indices.rank() + (from_end ? 0 : 1)));
  return Op(gather);
}

Result<Op> ReadOneHot(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::OneHotOptions* options, view.Options<wire::OneHotOptions>());
  HEARTH_ASSIGN(const Shape indices, view.InputShape(0));
  OneHot one_hot;
  HEARTH_ASSIGN(one_hot.axis, ResolveAxis(options->axis(), indices.rank() + 1));
  HEARTH_ASSIGN(one_hot.depth, view.ConstantInteger(1));
  if (one_hot.depth >= 0) return Op(one_hot);
  return Error(StatusCode::kMalformedInput, "depth {}", one_hot.depth);
}

}  // namespace hearth
