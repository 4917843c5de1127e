// Layers and tables whose weights have a few bits, with scales for blocks of them.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/block_scales.h"
#include "core/graph/quantize.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostLength = int64_t{1} << 28;  // of a row, a column or a block

// The attributes of MatMulNBits.
struct NarrowWeights {
  explicit NarrowWeights(const OpView& op)
      : depth(op.Int("K", 0)), rows(op.Int("N", 0)), bits(op.Int("bits", 4)), block(op.Int("block_size", 0)) {}
  int64_t per_byte() const { return 8 / bits; }
  int64_t blocks() const { return (depth + block - 1) / block; }                      // of a row
  int64_t zeros_per_row() const { return (blocks() + per_byte() - 1) / per_byte(); }  // bytes, where they are packed

  int64_t depth, rows, bits, block;
};

// The constant, a list of one number for each block, in rows of `columns`. Where it is turned, its rows are the layer's
// columns.
Result<BlockScales::Numbers> NumbersIn(const NodeWriter& to, ValueId list, int64_t columns, bool is_turned) {
  const Constant& constant = to.graph().constant(*to.graph().value(list).constant);
  const TensorDesc& desc = to.desc(list);
  const auto rows = static_cast<int32_t>(desc.shape.element_count() / columns);
  const StridedView in_turn{0, {{desc.shape.element_count(), 1}}};
  const StridedView& view = constant.elements == nullptr ? in_turn : constant.elements->form().view;
  const auto steps = StridesAlong(view, {rows, static_cast<int32_t>(columns)});
  const bool is_there = constant.source && (constant.elements == nullptr || constant.elements->is_only_view());
  BlockScales::Numbers numbers;
  if (is_there && steps && view.base == 0) {
    numbers = {desc.dtype, constant.bytes, steps->front(), steps->back(), constant.source};
  } else {  // a copy of the graph has one of its own
    const OrderedBytes read = to.graph().ReadConstant(list);
    if (!to.budget().ChargeMade(read.bytes.size())) return ReadingBudget::TooMuchMade("its scales");
    numbers = NumbersOfOwn(desc.dtype, read.bytes, columns);
  }
  if (is_turned) std::swap(numbers.row_step, numbers.block_step);
  return numbers;
}

// The constant floats or, if they are packed, bytes of operand `i`; nothing if there are not `count` of them.
Result<std::optional<BlockScales::Numbers>> NumbersOf(OpView& op, size_t i, int64_t row_step, int64_t count) {
  HEARTH_ASSIGN(const ValueId value, op.Weights(i));
  const TensorDesc& desc = op.to().desc(value);
  const bool has_type = desc.dtype == DType::kUInt8 ? i == 3 : IsPlainFloat(desc);
  if (!op.to().IsConstant(value) || !has_type || desc.shape.element_count() != count)
    return std::optional<BlockScales::Numbers>();
  HEARTH_ASSIGN(BlockScales::Numbers numbers, NumbersIn(op.to(), value, row_step, false));
  return std::optional(std::move(numbers));
}

// The weights as the file has them; kNoValue if they are to be made floats.
Made AddStoredWeights(OpView& op, NodeWriter& to, const NarrowWeights& narrow, ValueId packed) {
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
      if (grid.zeros.block_step > 1) return kNoValue;  // two of a byte follow each other
      grid.zeros.dtype = DType::kInt4;
      grid.zeros.row_step *= 2;
      grid.zeros.block_step = 1;
    }
  }
  return to.AddSameBytes(packed, {narrow.bits == 4 ? DType::kInt4 : DType::kUInt8,
                                  {static_cast<int32_t>(narrow.rows), static_cast<int32_t>(narrow.depth)},
                                  GridOf(std::move(grid))});
}

// The same as floats.
Made AddFloatWeights(OpView& op, NodeWriter& to, const NarrowWeights& narrow, ValueId packed) {
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
Made WeightsOf(OpView& op, NodeWriter& to, const NarrowWeights& narrow, ValueId packed) {
  const auto [depth, rows, bits, block] = narrow;
  const auto id = [&](size_t operand) {
    const Made value = op.Optional(operand);
    return int64_t{value.ok() ? *value : kNoValue - 1};  // what can't be read is an error below
  };
  const auto make = [&]() -> Made {
    // Devices make floats of stored ones, too, and many nodes may read the same ones with scales of their own.
    const auto bytes = 4 * static_cast<size_t>(narrow.rows * narrow.depth);
    if (!to.budget().ChargeMade(bytes)) return ReadingBudget::TooMuchMade("its weights");
    HEARTH_ASSIGN(const ValueId weights, AddStoredWeights(op, to, narrow, packed));
    return weights == kNoValue ? AddFloatWeights(op, to, narrow, packed) : Made(weights);
  };
  return to.Once(NodeWriter::MadeOnce::kLayer, {depth, rows, bits, block, packed, id(2), id(3), id(4)}, make);
}

}  // namespace

Result<Tensor> BlockedWeights(OpView& op, NodeWriter& to) {
  const int64_t block = op.Int("block_size", 0), axis = op.Int("axis", 1);
  if (block < 1 || block > kMostLength || !op.IsConstant(0) || !op.IsConstant(1) || (op.Has(2) && !op.IsConstant(2)))
    return Tensor();
  HEARTH_ASSIGN(const ValueId integers, op.In(0));
  const TensorDesc desc = to.desc(integers);
  const bool has_sign = desc.dtype == DType::kInt8, is_turned = axis == 0 || axis == -2;
  const bool is_of_8_bits = (has_sign || desc.dtype == DType::kUInt8) && !desc.quantization;
  if (!is_of_8_bits || desc.shape.rank() != 2 || to.IsEmpty(integers) || axis < -2 || axis > 1) return Tensor();
  const int32_t rows = desc.shape[is_turned ? 1 : 0], depth = desc.shape[is_turned ? 0 : 1];
  const int64_t blocks = (depth + block - 1) / block;
  const Shape of_blocks =
      is_turned ? Shape{static_cast<int32_t>(blocks), rows} : Shape{rows, static_cast<int32_t>(blocks)};
  HEARTH_ASSIGN(const ValueId scale, op.Weights(1));
  HEARTH_ASSIGN(const ValueId zero, op.Optional(2));
  if (to.shape(scale) != of_blocks || (zero != kNoValue && to.desc(zero) != TensorDesc{desc.dtype, of_blocks, {}}) ||
      !IsPlainFloat(to.desc(scale))) {
    return Tensor();
  }
  const auto make = [&]() -> Made {
    if (!to.budget().ChargeMade(4 * desc.size_bytes())) return ReadingBudget::TooMuchMade("its weights");
    const bool are_narrow = to.marks().narrow_integers.contains(integers);
    BlockScales grid{.size = static_cast<int32_t>(block), .has_unsigned_nibbles = are_narrow && !has_sign};
    HEARTH_ASSIGN(grid.scales, NumbersIn(to, scale, of_blocks[1], is_turned));
    if (zero != kNoValue) {
      HEARTH_ASSIGN(grid.zeros, NumbersIn(to, zero, of_blocks[1], is_turned));
    }
    HEARTH_ASSIGN(const ValueId by_row, is_turned ? AddPermuted(to, integers, {1, 0}) : Made(integers));
    const TensorDesc layer{are_narrow ? DType::kInt4 : desc.dtype, {rows, depth}, GridOf(std::move(grid))};
    if (!are_narrow) return to.AddSameBytes(by_row, layer);
    if (const auto stored = to.graph().AddOf4Bits(by_row))
      return to.graph().AddValue({to.graph().value(integers).name, layer, stored});
    const OrderedBytes read = to.graph().ReadConstant(by_row);
    return to.graph().AddConstantValue(to.graph().value(integers).name, layer, InNibbles(read.bytes));
  };
  HEARTH_ASSIGN(const ValueId made,
                to.Once(NodeWriter::MadeOnce::kBlockedLayer, {block, axis, integers, scale, zero}, make));
  return is_turned ? Tensor{.turned = made} : Tensor{.stored = made};
}

// (x, weights, scales, zero points?, blocks?, bias?): a layer whose weights [N,K] are integers of 2, 4 or 8 bits, the
// first one of a byte lowest. Each `block_size` of a row have a scale and a zero point; `blocks` numbers them
// otherwise.
Results ReadMatMulNBits(OpView& op, GraphWriter& to) {
  const NarrowWeights narrow(op);
  const auto [depth, rows, bits, block] = narrow;
  if ((bits != 2 && bits != 4 && bits != 8) || std::min({depth, rows, block}) < 1 || block % 8 != 0 ||
      std::max({depth, rows, block}) > kMostLength) {
    return Error(StatusCode::kUnsupported, "K={}, N={}, bits={}, block_size={}", depth, rows, bits, block);
  }
  HEARTH_ASSIGN(const ValueId packed, op.In(1));
  if (!to.IsConstant(packed)) return Error(StatusCode::kUnsupported, "its weights{}", to.ComputedFrom(packed));
  const int64_t bytes = rows * narrow.blocks() * block / narrow.per_byte();
  if (to.desc(packed).dtype != DType::kUInt8 || ssize(to.graph().ConstantBytes(packed)) != bytes) {
    return Error(StatusCode::kMalformedInput, "{} bytes of weights for {} x {}", to.desc(packed).size_bytes(), rows,
                 depth);
  }
  HEARTH_ASSIGN(const ValueId weights, WeightsOf(op, to, narrow, packed));
  return Plain(to.Add(FullyConnected{.keep_dims = true}, {op.In(0), weights, op.Optional(5)}));
}

// (x, weights, scales): a layer whose weights [N,K] are numbers of a list of 16, the first one of a byte highest. Each
// `block_size` of them, counted through all rows, have a scale. The lists are those of bitsandbytes: FP4, and NF4 of
// QLoRA (Dettmers et al. 2023, appendix E).
Results ReadMatMulBnb4(OpView& op, GraphWriter& to) {
  static constexpr std::array<std::array<float, 16>, 2> kNumbers = {
      {{0.0f, 0.00520833333f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f, -0.00520833333f,
        -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
       {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
        -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f,
        0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f,
        1.0f}}};
  const int64_t depth = op.Int("K", 0), rows = op.Int("N", 0), block = op.Int("block_size", 0);
  const int64_t list = op.Int("quant_type", 1);
  if (std::min({depth, rows, block}) < 1 || std::max({depth, rows, block}) > kMostLength || list < 0 || list > 1 ||
      op.Int("transB", 1) != 1) {
    return Error(StatusCode::kUnsupported, "K={}, N={}, quant_type={}, block_size={}, transB={}", depth, rows, list,
                 block, op.Int("transB", 1));
  }
  const int64_t count = rows * depth;
  HEARTH_ASSIGN(const ValueId packed, op.In(1));
  HEARTH_ASSIGN(const std::vector<float> scales, op.Floats(2));
  if (!to.IsConstant(packed)) return Error(StatusCode::kUnsupported, "its weights{}", to.ComputedFrom(packed));
  const std::span<const std::byte> bytes = to.graph().ConstantBytes(packed);
  if (to.desc(packed).dtype != DType::kUInt8 || ssize(bytes) != (count + 1) / 2 ||
      ssize(scales) != (count + block - 1) / block) {
    return Error(StatusCode::kMalformedInput, "{} bytes of weights and {} scales for {} x {}", bytes.size(),
                 scales.size(), rows, depth);
  }
  if (!to.budget().ChargeMade(4 * static_cast<size_t>(count))) return ReadingBudget::TooMuchMade("its weights");
  std::vector<float> weights(static_cast<size_t>(count));
  for (size_t k = 0; k < weights.size(); ++k) {
    const unsigned number = static_cast<unsigned>(bytes[k / 2]) >> (k % 2 == 0 ? 4 : 0) & 15;
    weights[k] = kNumbers[static_cast<size_t>(list)][number] * scales[k / static_cast<size_t>(block)];
  }
  const ValueId made = to.graph().AddFloatConstant(to.graph().value(packed).name,
                                                   {static_cast<int32_t>(rows), static_cast<int32_t>(depth)}, weights);
  return Plain(to.Add(FullyConnected{.keep_dims = true}, {op.In(0), made}));
}

namespace {

// The numbers of `bits` bits in bytes, along their last dimension, the first one of a byte lowest; as float32.
Made Unpacked(NodeWriter& to, const Made& bytes, int64_t bits) {
  HEARTH_ASSIGN(ValueId rest, to.AddCast(bytes, DType::kFloat32));
  if (bits == 8) return rest;
  const Shape shape = to.shape(rest);
  const int last = shape.rank() - 1;
  const auto per_byte = static_cast<int32_t>(8 / bits);
  const double steps = 1 << bits;
  Operands parts;
  for (int32_t k = 0; k < per_byte; ++k) {
    const ValueId whole = rest;
    const Made less = to.Add(BinaryKind::kMul, {whole, AddScalarLike(to, whole, 1 / steps)});
    HEARTH_ASSIGN(rest, to.Add(UnaryKind::kFloor, {less}));
    const Made above = to.Add(BinaryKind::kMul, {rest, AddScalarLike(to, rest, steps)});
    parts.Append(to.AddReshape(to.Add(BinaryKind::kSub, {whole, above}), WithDimension(shape, last + 1, 1)));
  }
  Shape made = shape;
  made[last] = shape[last] * per_byte;
  return to.AddReshape(to.Add(Concat{.axis = last + 1}, parts), made);
}

}  // namespace

// (data, indices, scales, zero points?): rows of a table, which are made real after they are taken. `block_size`
// elements along quantize_axis have a scale and a zero point. Bytes hold numbers of `bits` bits along their last
// dimension; elements of 4 bits are a type of their own, whose zero point is 0 where none is given.
Results ReadGatherBlockQuantized(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId table, op.In(0));
  HEARTH_ASSIGN(const TensorDesc indices, op.Desc(1));
  const Shape stored = to.shape(table);
  const int rank = stored.rank();
  HEARTH_ASSIGN(const int rows, op.AxisOf("gather_axis", 0, rank));
  HEARTH_ASSIGN(const int blocks, op.AxisOf("quantize_axis", 1, rank));
  const bool is_packed = to.desc(table).dtype == DType::kUInt8 && !to.marks().narrow_integers.contains(table);
  const int64_t block = op.Int("block_size", 128), bits = is_packed ? op.Int("bits", 4) : 8;
  HEARTH_ASSIGN(const TensorDesc of_zeros, op.Has(3) ? op.Desc(3) : op.Desc(0));
  if (of_zeros.dtype != to.desc(table).dtype)
    return Error(StatusCode::kMalformedInput, "zero points of {}", DTypeName(of_zeros.dtype));
  if (block < 1 || block > kMostLength || (bits != 2 && bits != 4 && bits != 8) || rows == blocks ||
      (bits < 8 && rows == rank - 1)) {
    return Error(StatusCode::kUnsupported, "gather_axis={}, quantize_axis={}, block_size={}, bits={} of a table {}",
                 rows, blocks, block, bits, stored.ToString());
  }
  const bool is_one = indices.shape.rank() == 0;
  const size_t first_node = to.graph().nodes().size();
  HEARTH_ASSIGN(const ValueId places,
                to.AddReshape(FromFront(op, to, op.In(1), rows, 1), is_one ? Shape{1} : indices.shape));
  HEARTH_TRY(KeepRows(to, first_node));
  const auto taken = [&](size_t i) -> Made {
    HEARTH_ASSIGN(const ValueId x, op.In(i));
    if (to.shape(x).rank() != rank || to.shape(x)[rows] != stored[rows])
      return Error(StatusCode::kMalformedInput, "{} beside a table {}", to.shape(x).ToString(), stored.ToString());
    return AddOnRows(to, Gather{rows, 0}, {x, places}, to.desc(x));
  };
  HEARTH_ASSIGN(const ValueId numbers, Unpacked(to, taken(0), bits));
  HEARTH_ASSIGN(const ValueId scales, taken(2));
  const int dimension = blocks < rows ? blocks : blocks + to.shape(places).rank() - 1;
  const auto along = [&](const Made& list) { return AlongBlocks(to, list, dimension, block, to.shape(numbers)); };
  ValueId centered = numbers;
  if (op.Has(3) || is_packed) {
    Made zeros = AddScalarLike(to, numbers, 1 << (bits - 1));
    if (op.Has(3)) {  // those of an odd number of blocks end within a byte
      HEARTH_ASSIGN(const ValueId list, Unpacked(to, taken(3), bits));
      const int last = to.shape(list).rank() - 1;
      const int64_t per_byte = 8 / bits, wanted = (to.shape(scales)[last] + per_byte - 1) / per_byte * per_byte;
      if (to.shape(list)[last] != wanted)
        return Error(StatusCode::kMalformedInput, "zero points for {} blocks", wanted);
      zeros = along(to.AddSlice(list, last, 0, to.shape(scales)[last]));
    }
    HEARTH_ASSIGN(centered, to.Add(BinaryKind::kSub, {numbers, zeros}));
  }
  const Made real = to.Add(BinaryKind::kMul, {centered, along(scales)});
  if (!is_one) return Plain(real);
  HEARTH_ASSIGN(const ValueId of_one, real);
  return Plain(to.AddReshape(of_one, Without(to.shape(of_one), rows)));
}

constexpr OperatorRow kNarrowWeightRows[] = {
    {"GatherBlockQuantized", ReadGatherBlockQuantized, 0, kMicrosoft},
    {"MatMulBnb4", ReadMatMulBnb4, 0, kMicrosoft},
    {"MatMulNBits", ReadMatMulNBits, 0, kMicrosoft},
};
const OperatorList kNarrowWeightOperators = kNarrowWeightRows;

}  // namespace hearth::onnx
