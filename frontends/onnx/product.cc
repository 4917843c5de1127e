// Products of matrices.
#include "frontends/onnx/product.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/block_scales.h"
#include "core/graph/quantize.h"
#include "frontends/onnx/activations.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {
namespace {

constexpr int kMostRank = 5;            // of BatchMatMul
constexpr double kMostPairs = 1 << 24;  // of integers that are multiplied

// Leading dimensions as one, where both factors have the same.
Made AddBatched(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  const int rank = std::max(left.rank(), right.rank());
  if (rank <= kMostRank) return to.Add(BatchMatMul{}, {a, b});
  if (left.rank() != right.rank() || !std::equal(left.dims().begin(), left.dims().end() - 2, right.dims().begin())) {
    return Error(StatusCode::kUnsupported, "a product of {} by {}", left.ToString(), right.ToString());
  }
  const auto batch = static_cast<int32_t>(CountBetween(left, 0, rank - 2));
  const auto flat = [&](ValueId x) {
    const Shape shape = to.shape(x);
    return to.AddReshape(x, {batch, shape[rank - 2], shape[rank - 1]});
  };
  Shape made = left;
  made[rank - 1] = right[rank - 1];
  return to.AddReshape(to.Add(BatchMatMul{}, {flat(a), flat(b)}), made);
}

// Of integers: all products of pairs, summed. No device multiplies matrices of them.
Made IntegerProduct(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  const int rank = std::max(left.rank(), right.rank());
  const double pairs = static_cast<double>(left.element_count()) * right[right.rank() - 1] *
                       (left.rank() < right.rank() ? CountBetween(right, 0, right.rank() - 2) : 1);
  if (rank >= Shape::kMaxRank || pairs > kMostPairs) {
    return Error(StatusCode::kUnsupported, "a product of integers {} by {}", left.ToString(), right.ToString());
  }
  const Made products = to.Add(BinaryKind::kMul, {to.AddReshape(a, WithDimension(left, left.rank(), 1)),
                                                  to.AddReshape(b, WithDimension(right, right.rank() - 2, 1))});
  return to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 1u << (rank - 1), .keep_dims = false}, {products});
}

}  // namespace

Made OfMatrices(NodeWriter& to, ValueId a, ValueId b, const std::function<Made(ValueId, ValueId)>& product_of) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (left.rank() == 0 || right.rank() == 0) return Error(StatusCode::kMalformedInput, "a product with a scalar");
  HEARTH_ASSIGN(const ValueId first, left.rank() == 1 ? to.AddReshape(a, {1, left[0]}) : Made(a));
  HEARTH_ASSIGN(const ValueId second, right.rank() == 1 ? to.AddReshape(b, {right[0], 1}) : Made(b));
  HEARTH_ASSIGN(const ValueId product, product_of(first, second));
  Shape made = to.shape(product);
  if (right.rank() == 1) made = Without(made, made.rank() - 1);
  if (left.rank() == 1) made = Without(made, made.rank() - (right.rank() == 1 ? 1 : 2));
  return to.AddReshape(product, made);
}

Made AddProduct(NodeWriter& to, ValueId a, ValueId b, ValueId bias) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (right.rank() == 2 && left.rank() >= 2 && to.IsConstant(b) && to.desc(a).dtype == DType::kFloat32) {
    return to.Add(FullyConnected{.keep_dims = true}, {a, AddPermuted(to, b, {1, 0}), bias});
  }
  if (to.IsConstant(b)) {  // only layers read 8 bits
    HEARTH_ASSIGN(const ValueId floats, AddReadable(to, b));
    if (floats != b) return AddProduct(to, a, floats, bias);
  }
  const auto multiply = IsFloat(to.desc(a).dtype) ? AddBatched : IntegerProduct;
  const Made product = OfMatrices(to, a, b, [&](ValueId x, ValueId y) { return multiply(to, x, y); });
  return bias == kNoValue ? product : to.Add(BinaryKind::kAdd, {product, bias});
}

// With the last two dimensions exchanged.
Made Turned(NodeWriter& to, const Made& x) {
  HEARTH_TRY(x.status());
  const int rank = to.shape(*x).rank();
  return rank < 2 ? x : AddPermuted(to, x, Exchange(rank - 2, rank - 1, rank));
}

// Also FusedMatMul, which has a factor and attributes as Gemm.
Results ReadMatMul(OpView& op) {
  NodeWriter& to = op.to();
  if (op.Int("transBatchA", 0) != 0 || op.Int("transBatchB", 0) != 0) {
    return Error(StatusCode::kUnsupported, "transBatchA or transBatchB");
  }
  HEARTH_ASSIGN(const ValueId a, op.Int("transA", 0) != 0 ? Turned(to, op.In(0)) : op.In(0));
  HEARTH_ASSIGN(const ValueId b, op.Int("transB", 0) != 0 ? Turned(to, op.Weights(1)) : op.Weights(1));
  HEARTH_ASSIGN(const ValueId made, AddProduct(to, a, b, kNoValue));
  const double alpha = op.Float("alpha", 1.0);
  return Plain(alpha == 1.0 ? Made(made) : to.Add(BinaryKind::kMul, {made, AddScalarLike(to, made, alpha)}));
}

namespace {

// The attributes of MatMulNBits.
struct NarrowWeights {
  explicit NarrowWeights(const OpView& op)
      : depth(op.Int("K", 0)), rows(op.Int("N", 0)), bits(op.Int("bits", 4)), block(op.Int("block_size", 0)) {}
  int64_t per_byte() const { return 8 / bits; }
  int64_t blocks() const { return (depth + block - 1) / block; }                      // of a row
  int64_t zeros_per_row() const { return (blocks() + per_byte() - 1) / per_byte(); }  // bytes, where they are packed

  int64_t depth, rows, bits, block;
};

// The constant floats or, if they are packed, bytes of operand `i`; nothing if there are not `count` of them.
Result<std::optional<BlockScales::Numbers>> NumbersOf(OpView& op, size_t i, int64_t row_step, int64_t count) {
  const NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId value, op.In(i));
  const TensorDesc& desc = to.desc(value);
  const bool has_type = desc.dtype == DType::kUInt8 ? i == 3 : IsPlainFloat(desc);
  if (!to.IsConstant(value) || !has_type || desc.shape.element_count() != count)
    return std::optional<BlockScales::Numbers>();
  BlockScales::Numbers numbers{desc.dtype, to.graph().ConstantBytes(value), row_step, nullptr};
  if (!to.graph().constant(*to.graph().value(value).constant).source) {  // a copy of the graph has one of its own
    if (!to.budget().ChargeMade(numbers.bytes.size())) return ReadingBudget::TooMuchMade("its scales");
    numbers.own = std::make_shared<const std::vector<std::byte>>(numbers.bytes.begin(), numbers.bytes.end());
    numbers.bytes = *numbers.own;
  }
  return std::optional(std::move(numbers));
}

// The weights as the file has them; kNoValue if they are to be made floats.
Made AddStoredWeights(OpView& op, const NarrowWeights& narrow, ValueId packed) {
  NodeWriter& to = op.to();
  const int64_t blocks = narrow.blocks();
  if (narrow.bits == 2 || op.Has(4) || narrow.depth % narrow.block != 0 || !op.Has(2)) return kNoValue;
  BlockScales grid{.size = static_cast<int32_t>(narrow.block),
                   .scales = {},
                   .zeros = {},
                   .zero = 1 << (narrow.bits - 1),
                   .has_unsigned_nibbles = narrow.bits == 4};
  HEARTH_ASSIGN(std::optional<BlockScales::Numbers> scales, NumbersOf(op, 2, blocks, narrow.rows * blocks));
  if (!scales) return kNoValue;
  grid.scales = *std::move(scales);
  if (op.Has(3)) {
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(3));
    const bool are_packed = desc.dtype == DType::kUInt8;
    const int64_t in_row = are_packed ? narrow.zeros_per_row() : blocks;
    HEARTH_ASSIGN(std::optional<BlockScales::Numbers> zeros, NumbersOf(op, 3, in_row, narrow.rows * in_row));
    if (!zeros) return kNoValue;
    grid.zeros = *std::move(zeros);
    if (are_packed && narrow.bits == 4) {
      grid.zeros.dtype = DType::kInt4;
      grid.zeros.row_step *= 2;
    }
  }
  return to.AddSameBytes(packed, {narrow.bits == 4 ? DType::kInt4 : DType::kUInt8,
                                  {static_cast<int32_t>(narrow.rows), static_cast<int32_t>(narrow.depth)},
                                  GridOf(std::move(grid))});
}

// The same as floats.
Made AddFloatWeights(OpView& op, const NarrowWeights& narrow, ValueId packed) {
  NodeWriter& to = op.to();
  const auto [depth, rows, bits, block] = narrow;
  const int64_t blocks = narrow.blocks(), per_byte = narrow.per_byte(), zeros_per_row = narrow.zeros_per_row();
  HEARTH_ASSIGN(const std::vector<float> scales, op.Floats(2));
  HEARTH_ASSIGN(const std::vector<float> zeros, op.Floats(3));
  HEARTH_ASSIGN(const std::vector<float> order, op.Floats(4));
  const bool zeros_are_packed = op.Has(3) && op.Desc(3)->dtype == DType::kUInt8;
  const auto is_count = [](const auto& list, int64_t count) { return static_cast<int64_t>(list.size()) == count; };
  const std::span<const std::byte> bytes = to.graph().ConstantBytes(packed);
  if (!is_count(scales, rows * blocks) ||
      (op.Has(3) && !is_count(zeros, rows * (zeros_are_packed ? zeros_per_row : blocks))) ||
      (op.Has(4) && !is_count(order, depth))) {
    return Error(StatusCode::kMalformedInput, "{} bytes, {} scales, {} zero points for {} x {}", bytes.size(),
                 scales.size(), zeros.size(), rows, depth);
  }
  if (std::ranges::any_of(order, [&](float at) { return !(at >= 0.0f && at < static_cast<float>(blocks)); })) {
    return Error(StatusCode::kMalformedInput, "a number of a block that is not below {}", blocks);
  }
  const Shape shape{static_cast<int32_t>(rows), static_cast<int32_t>(depth)};
  const auto part = [&](unsigned number, int64_t k) {
    return static_cast<float>(number >> (narrow.bits * (k % per_byte)) & ((1u << narrow.bits) - 1));
  };
  std::vector<float> weights;
  weights.reserve(static_cast<size_t>(rows * depth));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t at = order.empty() ? k / block : static_cast<int64_t>(order[static_cast<size_t>(k)]);
      float zero = static_cast<float>(1 << (bits - 1));
      if (zeros_are_packed) {
        zero = part(static_cast<unsigned>(zeros[static_cast<size_t>(row * zeros_per_row + at / per_byte)]), at);
      } else if (!zeros.empty()) {
        zero = zeros[static_cast<size_t>(row * blocks + at)];
      }
      const auto byte = static_cast<unsigned>(bytes[static_cast<size_t>((row * blocks * block + k) / per_byte)]);
      weights.push_back((part(byte, k) - zero) * scales[static_cast<size_t>(row * blocks + at)]);
    }
  }
  return to.graph().AddFloatConstant(to.graph().value(packed).name, shape, weights);
}

// One value for all nodes that read the same, as the turns of a loop that is written out do.
Made WeightsOf(OpView& op, const NarrowWeights& narrow, ValueId packed) {
  NodeWriter& to = op.to();
  const auto [depth, rows, bits, block] = narrow;
  const auto id = [&](size_t operand) {
    const Made value = op.Optional(operand);
    return int64_t{value.ok() ? *value : kNoValue - 1};  // what can't be read is an error below
  };
  std::vector<int64_t> key = {kNoValue, depth, rows, bits, block, packed, id(2), id(3), id(4)};
  if (const auto found = to.stacked().find(key); found != to.stacked().end()) return found->second;
  // Devices make floats of stored ones, too, and many nodes may read the same ones with scales of their own.
  if (!to.budget().ChargeMade(4 * static_cast<size_t>(rows * depth))) return ReadingBudget::TooMuchMade("its weights");
  HEARTH_ASSIGN(ValueId weights, AddStoredWeights(op, narrow, packed));
  if (weights == kNoValue) {
    HEARTH_ASSIGN(weights, AddFloatWeights(op, narrow, packed));
  }
  to.stacked().emplace(std::move(key), weights);
  return weights;
}

}  // namespace

// (x, weights, scales, zero points?, blocks?, bias?): a layer whose weights [N,K] are integers of 2, 4 or 8 bits, the
// first one of a byte lowest. Each `block_size` of a row have a scale and a zero point; `blocks` numbers them
// otherwise.
Results ReadMatMulNBits(OpView& op) {
  NodeWriter& to = op.to();
  const NarrowWeights narrow(op);
  const auto [depth, rows, bits, block] = narrow;
  constexpr int64_t kMost = int64_t{1} << 28;
  if ((bits != 2 && bits != 4 && bits != 8) || std::min({depth, rows, block}) < 1 || block % 8 != 0 ||
      std::max({depth, rows, block}) > kMost) {
    return Error(StatusCode::kUnsupported, "K={}, N={}, bits={}, block_size={}", depth, rows, bits, block);
  }
  HEARTH_ASSIGN(const ValueId packed, op.In(1));
  if (!to.IsConstant(packed)) return Error(StatusCode::kUnsupported, "its weights{}", to.ComputedFrom(packed));
  const int64_t bytes = rows * narrow.blocks() * block / narrow.per_byte();
  if (to.desc(packed).dtype != DType::kUInt8 || ssize(to.graph().ConstantBytes(packed)) != bytes) {
    return Error(StatusCode::kMalformedInput, "{} bytes of weights for {} x {}", to.desc(packed).size_bytes(), rows,
                 depth);
  }
  HEARTH_ASSIGN(const ValueId weights, WeightsOf(op, narrow, packed));
  return Plain(to.Add(FullyConnected{.keep_dims = true}, {op.In(0), weights, op.Optional(5)}));
}

Results ReadGemm(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId a, op.Int("transA", 0) != 0 ? Turned(to, op.In(0)) : op.In(0));
  HEARTH_ASSIGN(const ValueId given, op.Weights(1));
  const bool is_turned = op.Int("transB", 0) != 0;
  // A layer's weights, as they are: nothing is turned there and back.
  const bool is_layer = is_turned && to.IsConstant(given) && to.shape(given).rank() == 2 && to.shape(a).rank() == 2 &&
                        to.desc(a).dtype == DType::kFloat32;
  const bool is_copied = is_layer && !to.desc(given).quantization;  // from an odd address
  HEARTH_ASSIGN(const ValueId kept, is_copied ? AddReadable(to, given) : Made(given));
  HEARTH_ASSIGN(const ValueId b, is_turned && !is_layer ? Turned(to, kept) : Made(kept));
  if (to.shape(a).rank() != 2 || to.shape(b).rank() != 2) {
    return Error(StatusCode::kMalformedInput, "{} by {}", to.shape(a).ToString(), to.shape(b).ToString());
  }
  const int32_t columns = to.shape(b)[is_layer ? 0 : 1];
  const double alpha = op.Float("alpha", 1.0), beta = op.Float("beta", 1.0);
  ValueId added = kNoValue;
  if (op.Has(2) && beta != 0.0) {
    HEARTH_ASSIGN(added, op.In(2));
    if (beta != 1.0) {
      HEARTH_ASSIGN(added, to.Add(BinaryKind::kMul, {added, AddScalarLike(to, added, beta)}));
    }
  }
  // A constant bias of one number for each column belongs to the layer, but that of no products, which has none.
  const bool is_bias = added != kNoValue && to.IsConstant(added) && alpha == 1.0 && !to.IsEmpty(b) &&
                       to.shape(added).element_count() == columns && to.shape(added).rank() > 0 &&
                       to.shape(added)[to.shape(added).rank() - 1] == columns;
  const Made bias = is_bias ? to.AddReshape(added, {columns}) : Made(kNoValue);
  HEARTH_TRY(bias.status());
  Made made = is_layer ? to.Add(FullyConnected{.keep_dims = true}, {a, b, *bias}) : AddProduct(to, a, b, *bias);
  if (alpha != 1.0 && made.ok()) made = to.Add(BinaryKind::kMul, {made, AddScalarLike(to, *made, alpha)});
  if (added != kNoValue && !is_bias) made = to.Add(BinaryKind::kAdd, {made, added});
  return Plain(AddFusedActivation(op, made));
}

std::span<const OperatorRow> ProductOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Gemm", ReadGemm},
      {"FusedGemm", ReadGemm, 0, kMicrosoft},
      {"MatMul", ReadMatMul},
      {"FusedMatMul", ReadMatMul, 0, kMicrosoft},
      {"MatMulNBits", ReadMatMulNBits, 0, kMicrosoft},
  };
  return kRows;
}

}  // namespace hearth::onnx
