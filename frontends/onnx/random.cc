// Operators that draw numbers. A node counts its draws in a variable, so each run continues its stream, and each start
// begins it anew. onnxruntime draws other numbers, with a generator of its own.
#include <bit>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/tensors.h"
#include "frontends/writer/names.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

enum class Law : uint8_t { kNormal, kUniform };

constexpr int64_t kMostDrawn = int64_t{1} << 28;

// The type of the results, in which all that is real is computed; `otherwise` where the file does not say.
Result<DType> TypeOf(const OpView& op, DType otherwise) {
  const auto number = static_cast<int32_t>(op.Int("dtype", kUndefined));
  const std::optional<DType> dtype = number == kUndefined ? otherwise : ComputedTypeOf(number);
  return dtype ? Result<DType>(*dtype) : Result<DType>(UnknownType(number));
}

// Numbers of the node's generator, as `dtype`. Without a seed it has one of its own.
Made Draw(OpView& op, GraphWriter& to, Random random, std::vector<ValueId> operands, DType dtype) {
  const bool has_seed = op.Find("seed") != nullptr;
  random.seed = has_seed ? std::bit_cast<int32_t>(static_cast<float>(op.Float("seed", 0.0)))
                         : static_cast<int64_t>(to.graph().nodes().size()) + 1;
  random.seed2 = has_seed ? 0 : 1;
  return to.AddWithRunCount(ShortName(op.node().outputs[0]) + "_runs", std::move(random), std::move(operands), dtype);
}

// Uniform numbers from 0 to 1, or standard normal ones.
Made DrawReal(OpView& op, Law law, const Shape& shape) {
  if (shape.element_count() == 0) return op.to().AddConstant(shape, DType::kFloat32, {});
  const RandomKind kind = law == Law::kNormal ? RandomKind::kStandardNormal : RandomKind::kUniform;
  return Draw(op, op.to(), {.kind = kind, .shape = shape}, {}, DType::kFloat32);
}

// Numbers of the law that the operator's attributes describe.
Made DrawByLaw(OpView& op, NodeWriter& to, const Shape& shape, DType dtype) {
  const auto law = static_cast<Law>(op.kind());
  const bool is_normal = law == Law::kNormal;
  const double low = op.Float("low", 0.0), high = op.Float("high", 1.0);
  const double scale = is_normal ? op.Float("scale", 1.0) : high - low, start = is_normal ? op.Float("mean", 0.0) : low;
  const auto number = [&](double value) { return to.AddNumber(DType::kFloat32, value); };
  const Made scaled = to.Add(BinaryKind::kMul, {DrawReal(op, law, shape), number(scale)});
  const Made moved = to.AddReshape(to.Add(BinaryKind::kAdd, {scaled, number(start)}), shape);
  return to.AddCast(moved, dtype);
}

Results ReadRandom(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const DType dtype, TypeOf(op, DType::kFloat32));
  std::vector<int32_t> dims;
  int64_t count = 1;
  const std::vector<int64_t> sizes = op.Ints("shape");
  for (const int64_t size : sizes) {
    if (size < 0 || size > kMostDrawn || sizes.size() > Shape::kMaxRank || (count *= size) > kMostDrawn)
      return Error(StatusCode::kUnsupported, "a size of {} in {} dimensions", size, sizes.size());
    dims.push_back(static_cast<int32_t>(size));
  }
  return Plain(DrawByLaw(op, to, Shape::FromSpan(dims), dtype));
}

// (x) -> numbers of x's shape
Results ReadRandomLike(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const DType dtype, TypeOf(op, desc.dtype));
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  return Plain(WithRows(to, DrawByLaw(op, to, desc.shape, dtype), to.marks().OpenOf(x)));
}

// (chances) -> 1 with that chance, or 0
Results ReadBernoulli(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const DType dtype, TypeOf(op, desc.dtype));
  const Made chances = to.AddCast(op.In(0), DType::kFloat32);
  const Made is_one = to.Add(BinaryKind::kLess, {DrawReal(op, Law::kUniform, desc.shape), chances});
  return Plain(to.AddCast(to.AddReshape(is_one, desc.shape), dtype));
}

// (logarithms of shares[B,C]) -> classes[B,samples]
Results ReadMultinomial(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const DType dtype, TypeOf(op, DType::kInt32));
  const int64_t samples = op.Int("sample_size", 1);
  if (desc.shape.rank() != 2 || desc.shape.element_count() == 0 || samples < 1 || samples > (1 << 24) ||
      (dtype != DType::kInt32 && dtype != DType::kInt64)) {
    return Error(StatusCode::kUnsupported, "{} samples of shape {} as {}", samples, desc.shape.ToString(),
                 DTypeName(dtype));
  }
  HEARTH_ASSIGN(const ValueId logits, to.AddCast(op.In(0), DType::kFloat32));
  return Plain(Draw(op, to, {.kind = RandomKind::kMultinomial, .shape = {}, .samples = static_cast<int32_t>(samples)},
                    {logits}, dtype));
}

}  // namespace

constexpr OperatorRow kRandomRows[] = {
    {"Bernoulli", ReadBernoulli},
    {"Multinomial", ReadMultinomial},
    {"RandomNormal", ReadRandom, Kind(Law::kNormal)},
    {"RandomNormalLike", ReadRandomLike, Kind(Law::kNormal)},
    {"RandomUniform", ReadRandom, Kind(Law::kUniform)},
    {"RandomUniformLike", ReadRandomLike, Kind(Law::kUniform)},
};
const OperatorList kRandomOperators = kRandomRows;

}  // namespace hearth::onnx
