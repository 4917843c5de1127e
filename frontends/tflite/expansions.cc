// Operators whose options become arguments of the writer's expansions, and those on single elements.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/quantize.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostComparisons = int64_t{1} << 26;

// FAKE_QUANT's range, moved so that 0 is a step or an end of it, and its step size. In float, as in training.
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

Result<Volume> VolumeOf(const OperatorView& op) {
  HEARTH_ASSIGN(const wire::Conv3DOptions* options, op.Options<wire::Conv3DOptions>());
  Volume volume{.stride_d = options->stride_d(), .dilation_d = options->dilation_d_factor()};
  volume.plane = {options->stride_h(), options->stride_w(), options->dilation_h_factor(), options->dilation_w_factor()};
  HEARTH_ASSIGN(volume.plane.padding, ReadPadding(options->padding()));
  HEARTH_ASSIGN(volume.activation, ReadActivation(options->fused_activation_function()));
  return volume;
}

// Stored integers pass through floats, which hold up to 24 bits, and are divided by the scale.
Status CheckPassesFloats(const TensorDesc& desc) {
  const Quantization& quantization = *desc.quantization;
  if (quantization.scales.size() != 1) return Error(StatusCode::kUnsupported, "of a tensor with several scales");
  if (BitsOf(desc.dtype) > 16)
    return Error(StatusCode::kUnsupported, "of {} with a scale: floats don't hold it", DTypeName(desc.dtype));
  const float scale = quantization.scales[0];
  if (!std::isnormal(scale) || !std::isnormal(1 / scale) || !std::isnormal(scale * 65536))
    return Error(StatusCode::kUnsupported, "of a tensor with the scale {}", scale);
  return Status::Ok();
}

// A quantized tensor's integers as they are stored, as a plain tensor; any other tensor as it is.
Made StoredIntegers(NodeWriter& to, ValueId value) {
  if (!IsQuantized(to.desc(value))) return value;
  const DType dtype = to.desc(value).dtype;
  HEARTH_TRY(CheckPassesFloats(to.desc(value)));
  const Quantization quantization = *to.desc(value).quantization;
  const double scale = quantization.scales[0];
  const Made real = to.Add(Unary{UnaryKind::kDequantize}, {value}, DType::kFloat32);
  const Made steps = to.Add(BinaryKind::kMul, {real, to.AddNumber(DType::kFloat32, 1.0 / scale)});
  const auto zero_point = static_cast<double>(quantization.zero_points[0]);
  const Made stored = to.Add(BinaryKind::kAdd, {steps, to.AddNumber(DType::kFloat32, zero_point)});
  return to.AddCast(to.Add(UnaryKind::kRound, stored), dtype);
}

// The opposite: plain integers as what a tensor stores that is declared so.
Made AsDeclared(NodeWriter& to, const Made& stored, const TensorDesc& declared) {
  if (!IsQuantized(declared)) return stored;
  HEARTH_TRY(CheckPassesFloats(declared));
  const Quantization& quantization = *declared.quantization;
  const double zero_point = static_cast<double>(quantization.zero_points[0]), scale = quantization.scales[0];
  const Made steps =
      to.Add(BinaryKind::kSub, {to.AddCast(stored, DType::kFloat32), to.AddNumber(DType::kFloat32, zero_point)});
  return to.AddAs(Unary{UnaryKind::kQuantize},
                  {to.Add(BinaryKind::kMul, {steps, to.AddNumber(DType::kFloat32, scale)})}, declared);
}

}  // namespace

// (x, filter, bias?)
Expanded ExpandConv3D(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Volume volume, VolumeOf(op));
  if (op.shape(1).rank() != 5)
    return Error(StatusCode::kMalformedInput, "a filter of shape {}", op.shape(1).ToString());
  // [kd,kh,kw,I,O] to [O,kh,kw,kd,I].
  HEARTH_ASSIGN(const ValueId filter, to.AddTranspose(op.operand(1), {4, 1, 2, 0, 3}));
  return OneValue(AddConv3D(to, volume, op.operand(0), filter, op.operand(2)));
}

// (shape, filter, x, bias?)
Expanded ExpandConv3DTranspose(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Volume volume, VolumeOf(op));
  return OneValue(AddConv3DTranspose(to, volume, op.operand(0), op.operand(2), op.operand(1), op.operand(3)));
}

// (boxes, scores, count, overlap, score, sigma?): V5 has the last one.
Expanded ExpandNonMaxSuppression(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> most, to.Integers(op.operand(2)));
  if (most.size() != 1) return Error(StatusCode::kMalformedInput, "{} numbers where one belongs", most.size());
  return AddNonMaxSuppression(to, {op.operand(0), op.operand(1), op.operand(3), op.operand(4), op.operand(5), most[0]});
}

// (x, lengths)
Expanded ExpandReverseSequence(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const wire::ReverseSequenceOptions* options, op.Options<wire::ReverseSequenceOptions>());
  HEARTH_ASSIGN(const int32_t axis, ResolveAxis(options->seq_dim(), op.shape(0).rank()));
  HEARTH_ASSIGN(const int32_t batch_axis, ResolveAxis(options->batch_dim(), op.shape(0).rank()));
  return OneValue(AddReverseSequence(to, op.operand(0), op.operand(1), axis, batch_axis));
}

// (diagonal), or (matrix, diagonal)
Expanded ExpandDiagonal(OperatorView& op, GraphWriter& to) {
  return OneValue(op.Has(1) ? AddDiagonal(to, op.operand(1), op.operand(0)) : AddDiagonal(to, op.operand(0), kNoValue));
}

// (indices, updates, shape)
Expanded ExpandScatterNd(OperatorView& op, GraphWriter& to) {
  return OneValue(AddScatterNd(to, op.operand(0), op.operand(1), op.operand(2)));
}

// (data, numbers, count?)
Expanded ExpandSegments(OperatorView& op, BinaryKind kind) {
  std::optional<int64_t> count;
  if (op.Has(2)) {
    HEARTH_ASSIGN(const std::vector<int64_t> wanted, op.to().Integers(op.operand(2)));
    count = wanted.size() == 1 ? wanted[0] : -1;
  }
  return OneValue(AddSegments(op.to(), kind, op.operand(0), op.operand(1), count));
}

// (x, sizes)
Expanded ExpandRfft2D(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, to.Integers(op.operand(1)));
  return OneValue(AddRealSpectrum(to, op.operand(0), sizes));
}

Result<std::pair<ValueId, ValueId>> PartsOf(const OperatorView& op) {
  const auto& complex = op.to().marks().complex;
  if (const auto found = complex.find(op.operand(0)); found != complex.end()) return found->second;
  return Error(StatusCode::kUnsupported, "its operand is not a complex tensor made by RFFT2D");
}

Expanded ExpandReal(OperatorView& op, GraphWriter&) {
  HEARTH_ASSIGN(const auto parts, PartsOf(op));
  return std::vector{parts.first};
}

Expanded ExpandImaginary(OperatorView& op, GraphWriter&) {
  HEARTH_ASSIGN(const auto parts, PartsOf(op));
  return std::vector{parts.second};
}

Expanded ExpandComplexAbs(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto parts, PartsOf(op));
  const Made a = to.Add(BinaryKind::kMul, {parts.first, parts.first});
  const Made b = to.Add(BinaryKind::kMul, {parts.second, parts.second});
  return OneValue(to.Add(UnaryKind::kSqrt, to.Add(BinaryKind::kAdd, {a, b})));
}

// The indices of elements that are not 0.
Expanded ExpandWhere(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto found, AddPlaces(to, op.operand(0)));
  return OneValue(AddRows(to, found.first, found.second));
}

// Products of int8 without a scale, as int32 (JAX's dot_general): of floats, in parts whose sums stay below 2^24, where
// float32 has all integers.
Expanded ExpandIntegerMatMul(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::BatchMatMulOptions>());
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(0));
  const bool are_plain = op.desc(1).dtype == DType::kInt8 && !op.desc(1).quantization && made.dtype == DType::kInt32;
  const int a_rank = op.shape(0).rank(), b_rank = op.shape(1).rank();
  if (!are_plain || a_rank < 2 || b_rank < 2) {
    return Error(StatusCode::kUnsupported, "of int8 without a scale and {}[{}], as {}", DTypeName(op.desc(1).dtype),
                 op.shape(1).ToString(), DTypeName(made.dtype));
  }
  const BatchMatMul product{.adjoint_a = options->adj_x(), .adjoint_b = options->adj_y()};
  const int a_depth = a_rank - (product.adjoint_a ? 2 : 1), b_depth = b_rank - (product.adjoint_b ? 1 : 2);
  const int32_t depth = op.shape(0)[a_depth];
  if (depth != op.shape(1)[b_depth]) {
    return Error(StatusCode::kMalformedInput, "a product of {} and {}", op.shape(0).ToString(), op.shape(1).ToString());
  }
  HEARTH_ASSIGN(const ValueId a, to.AddCast(op.operand(0), DType::kFloat32));
  HEARTH_ASSIGN(const ValueId b, to.AddCast(op.operand(1), DType::kFloat32));
  return OneValue(AddSumOfParts(to, depth, kExactBelow / (128 * 128), [&](int32_t first, int32_t count) {
    return to.Add(product, {to.AddSlice(a, a_depth, first, count), to.AddSlice(b, b_depth, first, count)});
  }));
}

Expanded ExpandUnique(OperatorView& op, GraphWriter& to) {
  if (op.output_count() != 2) return Error(StatusCode::kMalformedInput, "it has {} outputs", op.output_count());
  if (op.desc(0).quantization) return Error(StatusCode::kUnsupported, "of quantized numbers");
  HEARTH_ASSIGN(const TensorDesc indices, op.DescribeOutput(1));
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(Unique{}, op.operands(),
                              {PlainType(op.desc(0).dtype), PlainType(indices.dtype), PlainType(DType::kInt32)}));
  HEARTH_ASSIGN(const ValueId values, AddRows(to, made[0], made[2]));
  return std::vector{values, made[1]};
}

// (x, k): with k from the run, of a list; and with indices of another type than int32.
Expanded ExpandTopK(OperatorView& op, GraphWriter& to) {
  const Shape shape = op.shape(0);
  const bool is_known = to.IsConstant(op.operand(1));
  if (shape.rank() < 1 || op.output_count() != 2 || op.shape(1).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "the largest elements of shape {}", shape.ToString());
  }
  if (!is_known && shape.rank() > 1) {
    return Error(StatusCode::kUnsupported, "how many it takes{}", to.ComputedFrom(op.operand(1)));
  }
  int32_t k = shape[shape.rank() - 1];
  if (is_known) {
    HEARTH_ASSIGN(const int32_t wanted, op.ConstantInteger(1));
    if (wanted < 0 || wanted > k) {
      return Error(StatusCode::kMalformedInput, "the {} largest of an input of shape {}", wanted, shape.ToString());
    }
    k = wanted;
  }
  HEARTH_ASSIGN(const TensorDesc indices, op.DescribeOutput(1));
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(TopK{k}, {op.operand(0)}, {op.desc(0), PlainType(DType::kInt32)}));
  HEARTH_ASSIGN(const ValueId places, to.AddCast(made[1], indices.dtype));
  if (is_known) return std::vector{made[0], places};
  HEARTH_ASSIGN(const ValueId count, AddCount(to, op.operand(1), k));
  HEARTH_ASSIGN(const ValueId best, AddRows(to, made[0], count));
  HEARTH_ASSIGN(const ValueId their_places, AddRows(to, places, count));
  return std::vector{best, their_places};
}

// Operators of real numbers on plain integers or bool: pixels of a picture, a map of classes.
Expanded ExpandOfPlain(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Op node, op.code().row->read(op));
  const DType dtype = op.desc(0).dtype;
  if (const auto* resize = std::get_if<Resize>(&node); resize != nullptr && resize->kind == ResizeKind::kNearest) {
    return OneValue(AddNearest(to, *resize, op.operand(0)));
  }
  if (std::holds_alternative<Reduce>(node)) {  // in 32 bits; what exceeds the type wraps
    return OneValue(to.AddCast(to.Add(node, {to.AddCast(op.operand(0), DType::kInt32)}), dtype));
  }
  if (BitsOf(dtype) > 16) return Error(StatusCode::kUnsupported, "of {} without scale", DTypeName(dtype));
  Made made = to.Add(node, {to.AddCast(op.operand(0), DType::kFloat32)});
  if (std::holds_alternative<Resize>(node)) made = to.Add(UnaryKind::kRound, made);
  return OneValue(to.AddCast(made, dtype));
}

// Of complex numbers the real parts. Quantized tensors, which this operator of LiteRT takes as the integers that are
// stored.
Expanded ExpandCast(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(0));
  if (to.marks().IsComplex(op.operand(0))) {
    HEARTH_ASSIGN(const auto parts, PartsOf(op));
    return OneValue(to.AddCast(parts.first, made.dtype));
  }
  return OneValue(AsDeclared(to, to.AddCast(StoredIntegers(to, op.operand(0)), made.dtype), made));
}

// The same.
Expanded ExpandBitcast(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(0));
  const Made bits = to.Add(Bitcast{made.dtype}, {StoredIntegers(to, op.operand(0))}, made.dtype);
  return OneValue(AsDeclared(to, bits, made));
}

// A slope of another type than the data: int8 under int16. LiteRT's kernel (2.3.0) reads every other one wrong.
Expanded ExpandPRelu(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(0));
  const auto real = [&](ValueId value) {
    return IsQuantized(to.desc(value)) ? to.Add(Unary{UnaryKind::kDequantize}, {value}, DType::kFloat32)
                                       : to.AddCast(value, DType::kFloat32);
  };
  if (!IsReal(op.desc(0)) || !IsReal(op.desc(1)))
    return Error(StatusCode::kUnsupported, "of {} without scale", DTypeName(op.desc(IsReal(op.desc(0)) ? 1 : 0).dtype));
  const Made result = to.Add(PRelu{}, {real(op.operand(0)), real(op.operand(1))});
  return OneValue(IsQuantized(made) ? to.AddAs(Unary{UnaryKind::kQuantize}, {result}, made)
                                    : to.AddCast(result, made.dtype));
}

// Clamps to the range and rounds to one of its 2^bits steps, with the sums of TFLite's kernel.
Expanded ExpandFakeQuant(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const wire::FakeQuantOptions* options, op.Options<wire::FakeQuantOptions>());
  const float low = options->min(), high = options->max();
  const int bits = options->num_bits();
  if (bits < 2 || bits > 16 || !(high > low) || !std::isfinite(high - low)) {
    return Error(StatusCode::kMalformedInput, "a range from {} to {} in {} bits", low, high, bits);
  }
  if (op.desc(0).dtype != DType::kFloat32) return Error(StatusCode::kUnsupported, "only float32");
  const Nudged nudged = NudgedRange(low, high, bits, options->narrow_range());
  const std::pair<BinaryKind, float> before[] = {{BinaryKind::kMaximum, nudged.low},
                                                 {BinaryKind::kMinimum, nudged.high},
                                                 {BinaryKind::kSub, nudged.low},
                                                 {BinaryKind::kMul, 1.0f / nudged.step},
                                                 {BinaryKind::kAdd, 0.5f}};
  Made value = op.operand(0);
  for (const auto& [kind, number] : before) value = to.Add(kind, {value, to.AddNumber(DType::kFloat32, number)});
  const Made steps = to.Add(UnaryKind::kFloor, value);
  const Made scaled = to.Add(BinaryKind::kMul, {steps, to.AddNumber(DType::kFloat32, nudged.step)});
  return OneValue(to.Add(BinaryKind::kAdd, {scaled, to.AddNumber(DType::kFloat32, nudged.low)}));
}

// The number of sorted boundaries that are not above each element.
Expanded ExpandBucketize(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const wire::BucketizeOptions* options, op.Options<wire::BucketizeOptions>());
  const int64_t count = options->boundaries() == nullptr ? 0 : options->boundaries()->size();
  const Shape shape = op.shape(0);
  if (count > kMostComparisons / std::max<int64_t>(shape.element_count(), 1) || op.desc(0).quantization) {
    return Error(StatusCode::kUnsupported, "{} boundaries for {} elements{}", count, shape.element_count(),
                 op.desc(0).quantization ? ", quantized" : "");
  }
  const std::vector<float> boundaries = CopyOf(options->boundaries());
  const Made limits =
      to.AddConstant({1, static_cast<int32_t>(count)}, DType::kFloat32, {boundaries.begin(), boundaries.end()});
  const Made column =
      to.AddReshape(to.AddCast(op.operand(0), DType::kFloat32), {static_cast<int32_t>(shape.element_count()), 1});
  const Made ones = to.AddCast(to.Add(BinaryKind::kGreaterEqual, {column, limits}), DType::kInt32);
  return OneValue(to.AddReshape(to.Add(Reduce{ReduceKind::kSum, 2, false}, {ones}), shape));
}

}  // namespace hearth
