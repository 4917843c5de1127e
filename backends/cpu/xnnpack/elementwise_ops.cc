// Operators that compute each element of the output independently.
#include <array>
#include <limits>

#include "backends/cpu/xnnpack/build.h"

namespace hearth {
namespace {

using SetupUnary = xnn_status (*)(xnn_operator_t, size_t, const float*, float*, pthreadpool_t);
using SetupBinary = xnn_status (*)(xnn_operator_t, size_t, const size_t*, size_t, const size_t*, const float*,
                                   const float*, float*, pthreadpool_t);

struct UnaryKernel {
  UnaryKind kind;
  xnn_status (*create)(size_t, size_t, size_t, uint32_t, xnn_operator_t*);
  SetupUnary setup;
};
// kCeil and kFloor are missing: XNNPACK's make 1 of denormal numbers, which count as zero here. And kLogistic: with
// AVX2 XNNPACK's is 1.18e-38 for -87, which is 1.65e-38.
constexpr UnaryKernel kUnaryKernels[] = {
    {UnaryKind::kAbs, xnn_create_abs_nc_f32, xnn_setup_abs_nc_f32},
    {UnaryKind::kHardSwish, xnn_create_hardswish_nc_f32, xnn_setup_hardswish_nc_f32},
    {UnaryKind::kNeg, xnn_create_negate_nc_f32, xnn_setup_negate_nc_f32},
    {UnaryKind::kRound, xnn_create_bankers_rounding_nc_f32, xnn_setup_bankers_rounding_nc_f32},
    {UnaryKind::kSqrt, xnn_create_square_root_nc_f32, xnn_setup_square_root_nc_f32},
    {UnaryKind::kSquare, xnn_create_square_nc_f32, xnn_setup_square_nc_f32},
};

struct ClampKernel {
  UnaryKind kind;
  OutputRange range;
};
constexpr ClampKernel kClampKernels[] = {
    {UnaryKind::kRelu, {0.0f, std::numeric_limits<float>::infinity()}},
    {UnaryKind::kRelu0To1, {0.0f, 1.0f}},
    {UnaryKind::kRelu6, {0.0f, 6.0f}},
    {UnaryKind::kReluN1To1, {-1.0f, 1.0f}},
};

struct ClampingBinaryKernel {
  BinaryKind kind;
  xnn_status (*create)(float, float, uint32_t, xnn_operator_t*);
  SetupBinary setup;
};
constexpr ClampingBinaryKernel kClampingBinaryKernels[] = {
    {BinaryKind::kAdd, xnn_create_add_nd_f32, xnn_setup_add_nd_f32},
    {BinaryKind::kSub, xnn_create_subtract_nd_f32, xnn_setup_subtract_nd_f32},
    {BinaryKind::kMul, xnn_create_multiply_nd_f32, xnn_setup_multiply_nd_f32},
    {BinaryKind::kDiv, xnn_create_divide_nd_f32, xnn_setup_divide_nd_f32},
};

struct PlainBinaryKernel {  // has no output range
  BinaryKind kind;
  xnn_status (*create)(uint32_t, xnn_operator_t*);
  SetupBinary setup;
};
constexpr PlainBinaryKernel kPlainBinaryKernels[] = {
    {BinaryKind::kMaximum, xnn_create_maximum_nd_f32, xnn_setup_maximum_nd_f32},
    {BinaryKind::kMinimum, xnn_create_minimum_nd_f32, xnn_setup_minimum_nd_f32},
    {BinaryKind::kSquaredDifference, xnn_create_squared_difference_nd_f32, xnn_setup_squared_difference_nd_f32},
};

// The value as one row, which XNNPACK divides among threads.
xnn_status SetUpRow(XnnpackBuild& build, xnn_status created, SetupUnary setup) {
  if (created != xnn_status_success) return created;
  return setup(build.op, 1, build.inputs[0], build.output(), build.pool);
}

std::array<size_t, XNN_MAX_TENSOR_DIMS> Dimensions(const Shape& shape) {
  std::array<size_t, XNN_MAX_TENSOR_DIMS> dims{};
  for (int d = 0; d < shape.rank(); ++d) dims[d] = static_cast<size_t>(shape[d]);
  return dims;
}

xnn_status SetUpBinary(XnnpackBuild& build, xnn_status created, SetupBinary setup) {
  if (created != xnn_status_success) return created;
  const Shape &a = build.in_shape(0), &b = build.in_shape(1);
  if (std::max(a.rank(), b.rank()) > XNN_MAX_TENSOR_DIMS) return kXnnpackRefuses;
  return setup(build.op, a.rank(), Dimensions(a).data(), b.rank(), Dimensions(b).data(), build.inputs[0],
               build.inputs[1], build.output(), build.pool);
}

}  // namespace

xnn_status BuildUnary(XnnpackBuild& build) {
  const auto& unary = std::get<Unary>(build.node().op);
  const size_t count = static_cast<size_t>(build.out_shape().element_count());
  for (const UnaryKernel& kernel : kUnaryKernels) {
    if (kernel.kind != unary.kind) continue;
    return SetUpRow(build, kernel.create(count, count, count, build.flags, &build.op), kernel.setup);
  }
  for (const ClampKernel& kernel : kClampKernels) {
    if (kernel.kind != unary.kind) continue;
    return SetUpRow(
        build, xnn_create_clamp_nc_f32(count, count, count, kernel.range.min, kernel.range.max, build.flags, &build.op),
        xnn_setup_clamp_nc_f32);
  }
  if (unary.kind == UnaryKind::kElu) {
    return SetUpRow(build, xnn_create_elu_nc_f32(count, count, count, 1.0f, build.flags, &build.op),
                    xnn_setup_elu_nc_f32);
  }
  if (unary.kind == UnaryKind::kLeakyRelu && std::isnormal(unary.alpha)) {
    return SetUpRow(build, xnn_create_leaky_relu_nc_f32(count, count, count, unary.alpha, build.flags, &build.op),
                    xnn_setup_leaky_relu_nc_f32);
  }
  return kXnnpackRefuses;
}

xnn_status BuildBinary(XnnpackBuild& build) {
  const auto& binary = std::get<Binary>(build.node().op);
  const OutputRange range = RangeOf(build, binary.activation);
  for (const ClampingBinaryKernel& kernel : kClampingBinaryKernels) {
    if (kernel.kind != binary.kind) continue;
    return SetUpBinary(build, kernel.create(range.min, range.max, build.flags, &build.op), kernel.setup);
  }
  build.after = binary.activation;  // these operators have no range
  for (const PlainBinaryKernel& kernel : kPlainBinaryKernels) {
    if (kernel.kind == binary.kind) return SetUpBinary(build, kernel.create(build.flags, &build.op), kernel.setup);
  }
  return kXnnpackRefuses;
}

}  // namespace hearth
