// Operators that become a few elementwise nodes or a gather.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

constexpr int64_t kMostComparisons = int64_t{1} << 26;

// FAKE_QUANT's range, moved so that 0 is a step, and its step size. In float, as in training.
struct Nudged {
  float low = 0, high = 0, step = 1;
};

Nudged NudgedRange(float low, float high, int bits, bool narrow) {
  const float first = narrow ? 1.0f : 0.0f, last = static_cast<float>((1 << bits) - 1);
  Nudged nudged{.step = (high - low) / (last - first)};
  const float zero = std::clamp(std::round(first - low / nudged.step), first, last);
  nudged.low = (first - zero) * nudged.step;
  nudged.high = (last - zero) * nudged.step;
  return nudged;
}

}  // namespace

Expanded ExpandBitcast(Expansion& to) {
  HEARTH_ASSIGN(const TensorDesc made, to.DeclaredOutput(0));
  return OneValue(to.Add(Bitcast{made.dtype}, {to.operand(0)}, made.dtype));
}

// (shape, number)
Expanded ExpandFill(Expansion& to) {
  HEARTH_ASSIGN(const Shape shape, to.ShapeOperand(0));
  return OneValue(to.AddFilled(shape, to.operand(1)));
}

// Clamps to the range and rounds to one of its 2^bits steps, with the sums of TFLite's kernel.
Expanded ExpandFakeQuant(Expansion& to) {
  HEARTH_ASSIGN(const wire::FakeQuantOptions* options, to.Options<wire::FakeQuantOptions>());
  const float low = options->min(), high = options->max();
  const int bits = options->num_bits();
  if (bits < 2 || bits > 16 || !(low <= 0.0f) || !(high >= 0.0f) || !(high > low) || !std::isfinite(high - low)) {
    return Error(StatusCode::kMalformedInput, "a range from {} to {} in {} bits", low, high, bits);
  }
  if (to.desc(to.operand(0)).dtype != DType::kFloat32) return Error(StatusCode::kUnsupported, "only float32");
  const Nudged nudged = NudgedRange(low, high, bits, options->narrow_range());
  const std::pair<BinaryKind, float> before[] = {{BinaryKind::kMaximum, nudged.low},
                                                 {BinaryKind::kMinimum, nudged.high},
                                                 {BinaryKind::kSub, nudged.low},
                                                 {BinaryKind::kMul, 1.0f / nudged.step},
                                                 {BinaryKind::kAdd, 0.5f}};
  ValueId value = to.operand(0);
  for (const auto& [kind, number] : before) {
    HEARTH_ASSIGN(const ValueId constant, to.AddNumber(DType::kFloat32, number));
    HEARTH_ASSIGN(value, to.AddBinary(kind, value, constant));
  }
  HEARTH_ASSIGN(value, to.Add(Unary{.kind = UnaryKind::kFloor}, {value}));
  HEARTH_ASSIGN(const ValueId step, to.AddNumber(DType::kFloat32, nudged.step));
  HEARTH_ASSIGN(const ValueId first, to.AddNumber(DType::kFloat32, nudged.low));
  HEARTH_ASSIGN(value, to.AddBinary(BinaryKind::kMul, value, step));
  return OneValue(to.AddBinary(BinaryKind::kAdd, value, first));
}

// The number of sorted boundaries that are not above each element.
Expanded ExpandBucketize(Expansion& to) {
  HEARTH_ASSIGN(const wire::BucketizeOptions* options, to.Options<wire::BucketizeOptions>());
  const int64_t count = options->boundaries() == nullptr ? 0 : options->boundaries()->size();
  const Shape shape = to.shape(to.operand(0));
  if (count > kMostComparisons / std::max<int64_t>(shape.element_count(), 1) || to.desc(to.operand(0)).quantization) {
    return Error(StatusCode::kUnsupported, "{} boundaries for {} elements{}", count, shape.element_count(),
                 to.desc(to.operand(0)).quantization ? ", quantized" : "");
  }
  const std::vector<float> boundaries = CopyOf(options->boundaries());
  HEARTH_ASSIGN(const ValueId limits, to.AddConstant({1, static_cast<int32_t>(count)}, DType::kFloat32,
                                                     {boundaries.begin(), boundaries.end()}));
  ValueId x = to.operand(0);
  if (to.desc(x).dtype != DType::kFloat32) {
    HEARTH_ASSIGN(x, to.Add(Cast{DType::kFloat32}, {x}, DType::kFloat32));
  }
  HEARTH_ASSIGN(x, to.AddReshape(x, {static_cast<int32_t>(shape.element_count()), 1}));
  HEARTH_ASSIGN(const ValueId reached, to.AddTest(BinaryKind::kGreaterEqual, x, limits));
  HEARTH_ASSIGN(const ValueId ones, to.Add(Cast{DType::kInt32}, {reached}, DType::kInt32));
  HEARTH_ASSIGN(const ValueId bucket, to.Add(Reduce{ReduceKind::kSum, 2, false}, {ones}));
  return OneValue(to.AddReshape(bucket, shape));
}

// (x, lengths): reverses the first lengths[b] elements along `seq_dim` for each b of `batch_dim`, and keeps the others.
// A gather with batch and sequence as the first two dimensions.
Expanded ExpandReverseSequence(Expansion& to) {
  HEARTH_ASSIGN(const wire::ReverseSequenceOptions* options, to.Options<wire::ReverseSequenceOptions>());
  const Shape shape = to.shape(to.operand(0));
  const int rank = shape.rank();
  HEARTH_ASSIGN(const int32_t sequence, ResolveAxis(options->seq_dim(), rank));
  HEARTH_ASSIGN(const int32_t batch, ResolveAxis(options->batch_dim(), rank));
  if (sequence == batch || to.shape(to.operand(1)) != Shape{shape[batch]}) {
    return Error(StatusCode::kMalformedInput,
                 "sequences in dimension {} of {} with lengths of shape {} in dimension {}", sequence, shape.ToString(),
                 to.shape(to.operand(1)).ToString(), batch);
  }
  std::vector<int32_t> order = {batch, sequence}, back(static_cast<size_t>(rank));
  for (int32_t d = 0; d < rank; ++d) {
    if (d != batch && d != sequence) order.push_back(d);
  }
  for (size_t k = 0; k < order.size(); ++k) back[static_cast<size_t>(order[k])] = static_cast<int32_t>(k);
  ValueId lengths = to.operand(1);
  if (to.desc(lengths).dtype != DType::kInt32) {
    HEARTH_ASSIGN(lengths, to.Add(Cast{DType::kInt32}, {lengths}, DType::kInt32));
  }
  HEARTH_ASSIGN(lengths, to.AddReshape(lengths, {shape[batch], 1}));
  HEARTH_ASSIGN(const ValueId step, to.AddIndices({1, shape[sequence]}));
  HEARTH_ASSIGN(const ValueId one, to.AddNumber(DType::kInt32, 1));
  HEARTH_ASSIGN(const ValueId last, to.AddBinary(BinaryKind::kSub, lengths, one));
  HEARTH_ASSIGN(const ValueId reversed, to.AddBinary(BinaryKind::kSub, last, step));
  HEARTH_ASSIGN(const ValueId is_inside, to.AddTest(BinaryKind::kLess, step, lengths));
  HEARTH_ASSIGN(const ValueId indices, to.Add(Select{}, {is_inside, reversed, step}, DType::kInt32));
  HEARTH_ASSIGN(ValueId x, to.AddTranspose(to.operand(0), Shape::FromSpan(order)));
  HEARTH_ASSIGN(x, to.Add(Gather{.axis = 1, .batch_dims = 1}, {x, indices}));
  return OneValue(to.AddTranspose(x, Shape::FromSpan(back)));
}

}  // namespace hearth
