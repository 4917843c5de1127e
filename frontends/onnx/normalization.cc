// Normalizations.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {
namespace {

// In training mode: with the mean and variance of the operand itself, as PyTorch standardizes weights. The running ones
// come closer to these. Before opset 14 the mean is a result too, and the inverse deviation (as in onnxruntime).
Results ReadTrainedBatchNormalization(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int rank = to.shape(x).rank();
  if (rank < 2) return Error(StatusCode::kUnsupported, "it is in training mode, of an operand of rank {}", rank);
  const uint32_t all_but_channels = (1u << (rank - 1)) - 1;
  const MeanVarianceNormalization norm{.axes_mask = all_but_channels,
                                       .epsilon = static_cast<float>(op.Float("epsilon", 1e-5))};
  HEARTH_ASSIGN(const ValueId y, to.Add(norm, {x, op.In(1), op.In(2)}));
  const Tensor result = TensorIn(rank >= 3 ? Order::kLast : Order::kPlain, y);
  if (!op.HasOutput(1) && !op.HasOutput(2)) return std::vector{result};
  for (const size_t running : {3, 4}) {
    HEARTH_ASSIGN(const TensorDesc given, op.Desc(running));
    if (given.shape != Shape{to.shape(x)[rank - 1]})
      return Error(StatusCode::kMalformedInput, "running numbers of shape {}", given.shape.ToString());
  }
  const double momentum = op.Float("momentum", 0.9);
  const auto moved = [&](size_t running, const Made& own) {
    const Made kept = to.Add(BinaryKind::kMul, {op.In(running), AddScalarLike(to, x, momentum)});
    return to.Add(BinaryKind::kAdd, {kept, to.Add(BinaryKind::kMul, {own, AddScalarLike(to, x, 1.0 - momentum)})});
  };
  const Reduce mean_of{ReduceKind::kMean, all_but_channels, false};
  HEARTH_ASSIGN(const ValueId mean, to.Add(mean_of, {x}));
  const Made distance = to.Add(BinaryKind::kSub, {x, mean});
  HEARTH_ASSIGN(const ValueId running_mean, moved(3, mean));
  HEARTH_ASSIGN(const ValueId variance, to.Add(mean_of, {to.Add(UnaryKind::kSquare, distance)}));
  HEARTH_ASSIGN(const ValueId running_variance, moved(4, variance));
  const Made above_zero = to.Add(BinaryKind::kAdd, {variance, AddScalarLike(to, x, norm.epsilon)});
  HEARTH_ASSIGN(const ValueId inverse, to.Add(UnaryKind::kRsqrt, above_zero));
  std::vector<Tensor> results = {result};
  for (const ValueId value : {running_mean, running_variance, mean, inverse}) results.push_back({.plain = value});
  return results;
}

Results ReadBatchNormalization(OpView& op, GraphWriter& to) {
  const bool is_training = op.opset() >= 14 ? op.Int("training_mode", 0) != 0 : op.HasOutput(1);
  if (is_training) return ReadTrainedBatchNormalization(op, to);
  if (op.opset() < 9 && op.Int("spatial", 1) == 0) return Error(StatusCode::kUnsupported, "spatial=0");
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  // Scale, offset, mean and variance have one number for each channel.
  const Made epsilon = AddScalarLike(to, x, op.Float("epsilon", 1e-5));
  const Made deviation = to.Add(UnaryKind::kSqrt, to.Add(BinaryKind::kAdd, {op.In(4), epsilon}));
  const Made factor = to.Add(BinaryKind::kDiv, {op.In(1), deviation});
  const Made shift = to.Add(BinaryKind::kSub, {op.In(2), to.Add(BinaryKind::kMul, {op.In(3), factor})});
  const Made made = to.Add(BinaryKind::kAdd, {to.Add(BinaryKind::kMul, {x, factor}), shift});
  return to.shape(x).rank() >= 3 ? Last(made) : Plain(made);
}

Results ReadInstanceNormalization(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int rank = to.shape(x).rank();
  if (rank < 3) return Error(StatusCode::kMalformedInput, "an operand of rank {}", rank);
  const MeanVarianceNormalization norm{.axes_mask = SpatialAxes(rank),
                                       .epsilon = static_cast<float>(op.Float("epsilon", 1e-5))};
  return Last(to.Add(norm, {x, op.In(1), op.In(2)}));
}

// Normalization over several last dimensions is that of rows.
Made AddNormOfRows(NodeWriter& to, MeanVarianceNormalization norm, ValueId x, int axis) {
  const Shape shape = to.shape(x);
  const int64_t length = CountBetween(shape, axis, shape.rank());
  if (axis == shape.rank() - 1 || length == 0 || to.marks().OpenOf(x).count != kNoValue) return to.Add(norm, {x});
  norm.axes_mask = 2;
  const Shape rows{static_cast<int32_t>(shape.element_count() / length), static_cast<int32_t>(length)};
  return to.AddReshape(to.Add(norm, {to.AddReshape(x, rows)}), shape);
}

// (x, scale, offset?) -> (y, mean, 1 / deviation), the last two with their dimensions kept.
Results ReadLayerNormalization(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const int rank = to.shape(x).rank();
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", -1, rank));
  MeanVarianceNormalization norm{.root_mean_square = op.kind() != 0,
                                 .epsilon = static_cast<float>(op.Float("epsilon", 1e-5))};
  for (int d = axis; d < rank; ++d) norm.axes_mask |= 1u << d;
  const auto is_list = [&](ValueId id) {
    return id == kNoValue || (to.shape(id).rank() == 1 && to.shape(id)[0] == to.shape(x)[rank - 1]);
  };
  HEARTH_ASSIGN(const ValueId scale, op.In(1));
  HEARTH_ASSIGN(const ValueId offset, op.Optional(2));
  const bool has_lists = axis == rank - 1 && is_list(scale) && is_list(offset);
  Made made = has_lists ? to.Add(norm, {x, scale, offset})
                        : to.Add(BinaryKind::kMul, {AddNormOfRows(to, norm, x, axis), scale});
  if (!has_lists && offset != kNoValue) made = to.Add(BinaryKind::kAdd, {made, offset});
  if (norm.root_mean_square || (!op.HasOutput(1) && !op.HasOutput(2))) return Plain(made);
  HEARTH_ASSIGN(const ValueId y, made);
  const Reduce mean{.kind = ReduceKind::kMean, .axes_mask = norm.axes_mask, .keep_dims = true};
  HEARTH_ASSIGN(const ValueId center, to.Add(mean, {x}));
  const Made variance = to.Add(mean, {to.Add(BinaryKind::kSquaredDifference, {x, center})});
  const Made shifted = to.Add(BinaryKind::kAdd, {variance, AddScalarLike(to, x, norm.epsilon)});
  return Plain({y, center, to.Add(UnaryKind::kRsqrt, shifted)});
}

// (x, skip, scale, offset?, bias?) -> the normalized sum, and as the fourth output the sum.
Results ReadSkipLayerNormalization(OpView& op, GraphWriter& to) {
  const bool is_simplified = op.kind() != 0;  // without offset and mean
  const size_t bias = is_simplified ? 3 : 4;
  Made sum = to.Add(BinaryKind::kAdd, {op.In(0), op.In(1)});
  if (op.Has(bias)) sum = to.Add(BinaryKind::kAdd, {sum, op.In(bias)});
  HEARTH_ASSIGN(const ValueId x, sum);
  const MeanVarianceNormalization norm{.axes_mask = 1u << (to.shape(x).rank() - 1),
                                       .root_mean_square = is_simplified,
                                       .epsilon = static_cast<float>(op.Float("epsilon", 1e-12))};
  const Made made = to.Add(norm, {x, op.In(2), is_simplified ? Made(kNoValue) : op.Optional(3)});
  return Plain({made, kNoValue, kNoValue, x});
}

Results ReadGroupNormalization(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int rank = to.shape(x).rank();
  const int64_t groups = op.Int("num_groups", 0);
  if (rank < 3 || groups < 1 || to.shape(x)[rank - 1] % groups != 0) {
    return Error(StatusCode::kMalformedInput, "{} groups in an operand of rank {}", groups, rank);
  }
  const int32_t channels = to.shape(x)[rank - 1];
  const MeanVarianceNormalization norm{.axes_mask = SpatialAxes(rank),
                                       .groups = static_cast<int32_t>(groups),
                                       .epsilon = static_cast<float>(op.Float("epsilon", 1e-5))};
  // Before opset 21 scale and offset have one number for each group.
  const auto per_channel = [&](size_t i) -> Made {
    HEARTH_ASSIGN(const ValueId list, op.In(i));
    if (to.shape(list).element_count() == channels) return list;
    const auto count = static_cast<int32_t>(groups);
    return to.AddReshape(to.Add(BroadcastTo{{count, channels / count}}, {to.AddReshape(list, {count, 1})}), {channels});
  };
  return Last(to.Add(norm, {x, per_channel(1), per_channel(2)}));
}

Results ReadLpNormalization(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", -1, to.shape(x).rank()));
  const bool is_sum = op.Int("p", 2) == 1;
  if (!is_sum && op.Int("p", 2) != 2) return Error(StatusCode::kMalformedInput, "p={}", op.Int("p", 2));
  const Made sum = to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 1u << axis, .keep_dims = true},
                          {to.Add(is_sum ? UnaryKind::kAbs : UnaryKind::kSquare, x)});
  const Made norm = is_sum ? sum : to.Add(UnaryKind::kSqrt, sum);
  // Where the norm is 0, so are the elements.
  HEARTH_ASSIGN(const ValueId divisor, norm);
  const Made is_zero = to.Add(BinaryKind::kEqual, {divisor, AddScalarLike(to, divisor, 0.0)});
  return Plain(to.Add(BinaryKind::kDiv, {x, to.Add(Select{}, {is_zero, AddScalarLike(to, x, 1.0), divisor})}));
}

Results ReadMeanVarianceNormalization(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int rank = to.shape(x).rank();
  MeanVarianceNormalization norm{.epsilon = 1e-18f};
  for (const int64_t axis : op.Ints("axes", {0, 2, 3})) {
    HEARTH_ASSIGN(const int d, OpView::Axis(axis, rank));
    norm.axes_mask |= 1u << AxisIn(rank >= 3 ? Order::kLast : Order::kPlain, d, rank);
  }
  const Made made = to.Add(norm, {x});
  return rank >= 3 ? Last(made) : Plain(made);
}

Results ReadLrn(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  const int64_t size = op.Int("size", 0);
  if (size < 1 || size % 2 == 0 || size > (1 << 20))
    return Error(StatusCode::kUnsupported, "a window of {} channels", size);
  return Last(
      to.Add(LocalResponseNormalization{static_cast<int32_t>(size / 2), static_cast<float>(op.Float("bias", 1.0)),
                                        static_cast<float>(op.Float("alpha", 1e-4) / static_cast<double>(size)),
                                        static_cast<float>(op.Float("beta", 0.75))},
             {x}));
}

}  // namespace

constexpr OperatorRow kNormalizationRows[] = {
    {"BatchNormalization", ReadBatchNormalization},
    {"GroupNormalization", ReadGroupNormalization},
    {"InstanceNormalization", ReadInstanceNormalization},
    {"LRN", ReadLrn},
    {"LayerNormalization", ReadLayerNormalization},
    {"LpNormalization", ReadLpNormalization},
    {"MeanVarianceNormalization", ReadMeanVarianceNormalization},
    {"RMSNormalization", ReadLayerNormalization, 1},
    {"SimplifiedLayerNormalization", ReadLayerNormalization, 1},  // as onnxruntime's optimizer writes it
    {"SkipLayerNormalization", ReadSkipLayerNormalization, 0, kMicrosoft},
    {"SkipSimplifiedLayerNormalization", ReadSkipLayerNormalization, 1, kMicrosoft},
};
const OperatorList kNormalizationOperators = kNormalizationRows;

}  // namespace hearth::onnx
