// Reductions, searches and what sums along a dimension.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

// Kinds of ReadReduce.
enum class Reduction : uint8_t { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum, kLogSumExp };

// The reduction with its dimensions kept, of size 1. Without any, each element is reduced by itself.
Made AddReduced(NodeWriter& to, const Made& x, Reduction kind, uint32_t axes) {
  const auto reduced = [&](ReduceKind by, const Made& value) -> Made {
    if (axes == 0 || !value.ok()) return value;
    const TensorDesc desc = to.desc(*value);
    if (desc.dtype == DType::kBool) by = by == ReduceKind::kMax ? ReduceKind::kAny : ReduceKind::kAll;
    return AddOnRows(to, Reduce{.kind = by, .axes_mask = axes, .keep_dims = true}, {*value}, desc);
  };
  const auto sum = [&](const Made& value) { return reduced(ReduceKind::kSum, value); };
  switch (kind) {
    case Reduction::kSum: return sum(x);
    case Reduction::kMean: return reduced(ReduceKind::kMean, x);
    case Reduction::kMax: return reduced(ReduceKind::kMax, x);
    case Reduction::kMin: return reduced(ReduceKind::kMin, x);
    case Reduction::kProd: return reduced(ReduceKind::kProd, x);
    case Reduction::kL1: return sum(to.Add(UnaryKind::kAbs, x));
    case Reduction::kL2: return to.Add(UnaryKind::kSqrt, sum(to.Add(UnaryKind::kSquare, x)));
    case Reduction::kSumSquare: return sum(to.Add(UnaryKind::kSquare, x));
    case Reduction::kLogSum: return to.Add(UnaryKind::kLog, sum(x));
    case Reduction::kLogSumExp: {
      // Without the maximum, which would overflow; an infinite one stays, since inf - inf is no number.
      const Made largest = reduced(ReduceKind::kMax, x);
      HEARTH_TRY(largest.status());
      const auto number = [&](double value) { return AddScalarLike(to, *largest, value); };
      const Made is_finite = to.Add(
          BinaryKind::kLess, {to.Add(UnaryKind::kAbs, largest), number(std::numeric_limits<double>::infinity())});
      const Made most = to.Add(Select{}, {is_finite, largest, number(0.0)});
      const Made parts = to.Add(UnaryKind::kExp, to.Add(BinaryKind::kSub, {x, most}));
      return to.Add(BinaryKind::kAdd, {to.Add(UnaryKind::kLog, sum(parts)), most});
    }
  }
  return Error(StatusCode::kInternal, "an unknown reduction");
}

// What one dimension at the end computes, along dimension `axis`.
Made AlongLast(NodeWriter& to, const Made& x, int axis, const Op& op) {
  HEARTH_TRY(x.status());
  const int rank = to.shape(*x).rank();
  const Shape permutation = Exchange(axis, rank - 1, rank);
  return AddPermuted(to, to.Add(op, {AddPermuted(to, x, permutation)}), permutation);
}

Results ReadReduce(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  HEARTH_ASSIGN(auto axes, op.NumbersOr(1, "axes"));
  const bool takes_none = op.Int("noop_with_empty_axes", 0) != 0;
  if (axes && axes->empty() && !takes_none) axes.reset();
  if (!axes && takes_none) axes.emplace();
  const Order order = op.OrderOf(0);
  std::vector<bool> goes(static_cast<size_t>(rank), !axes.has_value());
  for (const int64_t axis : axes.value_or(std::vector<int64_t>())) {
    HEARTH_ASSIGN(const int d, OpView::Axis(axis, rank));
    goes[static_cast<size_t>(d)] = true;
  }
  uint32_t mask = 0;
  std::vector<int32_t> left;
  for (int d = 0; d < rank; ++d) {
    if (goes[static_cast<size_t>(d)]) {
      mask |= 1u << AxisIn(order, d, rank);
    } else {
      left.push_back(desc.shape[d]);
    }
  }
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const Made made = AddReduced(to, x, static_cast<Reduction>(op.kind()), mask);
  if (op.Int("keepdims", 1) != 0) return InOrder(order, made);
  HEARTH_TRY(made.status());
  return Plain(to.AddReshape(ToOrder(to, *made, order, Order::kPlain), Shape::FromSpan(left)));
}

Results ReadArg(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  Made x = op.In(0);
  const bool takes_last = op.Int("select_last_index", 0) != 0;
  if (takes_last) x = to.Add(Reverse{1u << axis}, {x});
  Made made = to.Add(ArgReduce{static_cast<ArgKind>(op.kind()), axis}, {x}, DType::kInt64);
  if (takes_last && made.ok()) {
    made = to.Add(BinaryKind::kSub, {AddScalarLike(to, *made, desc.shape[axis] - 1), made});
  }
  if (op.Int("keepdims", 1) == 0) return Plain(made);
  Shape kept = desc.shape;
  kept[axis] = 1;
  return Plain(to.AddReshape(made, kept));
}

Results ReadTopK(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", -1, desc.shape.rank()));
  int64_t k = op.Int("k", 0);
  HEARTH_ASSIGN(ValueId wanted, op.Optional(1));
  if (wanted != kNoValue && to.IsConstant(wanted)) {
    HEARTH_ASSIGN(k, op.Integer(1));
    wanted = kNoValue;
  } else if (wanted != kNoValue) {  // data decide, up to a number that is known
    k = static_cast<int64_t>(std::clamp<double>(MostOf(to, wanted).value_or(desc.shape[axis]), 0, desc.shape[axis]));
  }
  if (k < 0 || k > desc.shape[axis]) {
    return Error(StatusCode::kMalformedInput, "the {} largest of {}", k, desc.shape[axis]);
  }
  // The smallest ones are the largest of their opposites, where the type has those.
  const bool is_largest = op.Int("largest", 1) != 0;
  const DType dtype = is_largest || BitsOf(desc.dtype) >= 32 ? desc.dtype : DType::kInt32;
  if (!is_largest && (dtype == DType::kUInt32 || dtype == DType::kUInt64)) {
    return Error(StatusCode::kUnsupported, "the smallest of {}", DTypeName(dtype));
  }
  const Shape permutation = Exchange(axis, desc.shape.rank() - 1, desc.shape.rank());
  HEARTH_ASSIGN(ValueId x, op.In(0));
  const size_t first_node = to.graph().nodes().size();
  if (const OpenDimension open = to.marks().OpenOf(x); open.count != kNoValue) {
    if (open.dim != axis) return NeedsAllRows();
    HEARTH_ASSIGN(x, MaskRows(to, x, is_largest ? ReduceKind::kMax : ReduceKind::kMin));
  }
  HEARTH_ASSIGN(x, to.AddCast(AddPermuted(to, x, permutation), dtype));
  HEARTH_ASSIGN(x, is_largest ? Made(x) : to.Add(UnaryKind::kNeg, x));
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(TopK{static_cast<int32_t>(k)}, {x}, {PlainType(dtype), PlainType(DType::kInt32)}));
  const Made values = AddPermuted(to, is_largest ? Made(made[0]) : to.Add(UnaryKind::kNeg, made[0]), permutation);
  HEARTH_ASSIGN(ValueId sorted, to.AddCast(values, desc.dtype));
  HEARTH_ASSIGN(ValueId places, to.AddCast(AddPermuted(to, made[1], permutation), DType::kInt64));
  CloseRows(to, first_node);
  if (wanted != kNoValue) {
    HEARTH_ASSIGN(const ValueId count, AddCount(to, wanted, static_cast<int32_t>(k)));
    HEARTH_ASSIGN(sorted, AddRows(to, sorted, count, axis));
    HEARTH_ASSIGN(places, AddRows(to, places, count, axis));
  }
  return Plain({sorted, places});
}

Results ReadSoftmax(OpView& op, GraphWriter& to) {
  const Op softmax = op.kind() != 0 ? Op(LogSoftmax{}) : Op(Softmax{});
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  const bool is_flat = op.opset() < 13;
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", is_flat ? 1 : -1, rank));
  if (is_flat && axis != rank - 1) {
    // All dimensions from the axis on are one.
    const auto rows = static_cast<int32_t>(CountBetween(desc.shape, 0, axis));
    const auto columns = static_cast<int32_t>(CountBetween(desc.shape, axis, rank));
    return Plain(to.AddReshape(to.Add(softmax, {to.AddReshape(op.In(0), {rows, columns})}), desc.shape));
  }
  const Order order = op.OrderOf(0);
  return InOrder(order, AlongLast(to, op.In(0, order), AxisIn(order, axis, rank), softmax));
}

// A one for the first largest element along a dimension; before opset 13, of all dimensions from it on.
Results ReadHardmax(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const Shape shape = desc.shape;
  const bool is_flat = op.opset() < 13;
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", is_flat ? 1 : -1, shape.rank()));
  const auto rows = static_cast<int32_t>(CountBetween(shape, 0, axis));
  const Made x = is_flat
                     ? to.AddReshape(op.In(0), {rows, static_cast<int32_t>(CountBetween(shape, axis, shape.rank()))})
                     : op.In(0);
  HEARTH_TRY(x.status());
  const int along = is_flat ? 1 : axis;
  const Made places = to.Add(ArgReduce{ArgKind::kMax, along}, {x}, DType::kInt32);
  const OneHot ones{along, to.shape(*x)[along]};
  const Made made = to.Add(ones, {places, AddScalarLike(to, *x, 1.0), AddScalarLike(to, *x, 0.0)}, desc.dtype);
  return Plain(to.AddReshape(made, shape));
}

// (x[N,C,...], classes[N,...], weights[C]?) -> (loss, logarithms of shares): what x has for the class of each sample,
// times the class's weight, negated; of SoftmaxCrossEntropyLoss, x becomes logarithms of shares first.
Results ReadLoss(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId given, op.Last(0));
  HEARTH_ASSIGN(ValueId classes, to.AddCast(op.In(1), DType::kInt32));
  const int last = to.shape(given).rank() - 1;
  if (last < 1 || to.shape(classes).rank() != last) {
    return Error(StatusCode::kMalformedInput, "classes of shape {} for {}", to.shape(classes).ToString(),
                 to.shape(given).ToString());
  }
  HEARTH_ASSIGN(const ValueId x, op.kind() == 0 ? Made(given) : to.Add(LogSoftmax{}, {given}));
  if (op.Find("ignore_index") != nullptr) {
    const Made ignored = AddScalarLike(to, classes, static_cast<double>(op.Int("ignore_index", 0)));
    const Made is_ignored = to.Add(BinaryKind::kEqual, {classes, ignored});
    HEARTH_ASSIGN(classes, to.Add(Select{}, {is_ignored, AddScalarLike(to, classes, -1.0), classes}));
  }
  const Made is_class = to.Add(BinaryKind::kEqual, {to.AddReshape(classes, WithDimension(to.shape(classes), last, 1)),
                                                    to.AddIndices({to.shape(x)[last]})});
  const Made weights = op.Has(2) ? op.In(2) : AddScalarLike(to, x, 1.0);
  const auto of_class = [&](const Made& value) {  // by sample
    const Made taken = to.Add(Select{}, {is_class, value, AddScalarLike(to, x, 0.0)});
    return to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 1u << last, .keep_dims = false}, {taken});
  };
  Made loss = of_class(to.Add(UnaryKind::kNeg, to.Add(BinaryKind::kMul, {x, weights})));
  HEARTH_ASSIGN(const size_t reduction, op.Choice("reduction", {"mean", "sum", "none"}, StatusCode::kMalformedInput));
  const Reduce sum{.kind = ReduceKind::kSum, .axes_mask = (1u << last) - 1, .keep_dims = false};
  if (reduction != 2) loss = to.Add(sum, {loss});
  if (reduction == 0) loss = to.Add(BinaryKind::kDiv, {loss, to.Add(sum, {of_class(weights)})});
  HEARTH_ASSIGN(const ValueId made, loss);
  return std::vector{Tensor{.plain = made}, last == 1 ? Tensor{.plain = x} : Tensor{.last = x}};
}

Results ReadCumSum(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int64_t given, op.Integer(1));
  HEARTH_ASSIGN(const int axis, OpView::Axis(given, desc.shape.rank()));
  return Plain(to.Add(CumSum{axis, op.Int("exclusive", 0) != 0, op.Int("reverse", 0) != 0}, {op.In(0)}));
}

}  // namespace

constexpr OperatorRow kReduceRows[] = {
    {"ArgMax", ReadArg, Kind(ArgKind::kMax)},
    {"ArgMin", ReadArg, Kind(ArgKind::kMin)},
    {"CumSum", ReadCumSum},
    {"Hardmax", ReadHardmax},
    {"LogSoftmax", ReadSoftmax, 1},
    {"NegativeLogLikelihoodLoss", ReadLoss},
    {"ReduceL1", ReadReduce, Kind(Reduction::kL1)},
    {"ReduceL2", ReadReduce, Kind(Reduction::kL2)},
    {"ReduceLogSum", ReadReduce, Kind(Reduction::kLogSum)},
    {"ReduceLogSumExp", ReadReduce, Kind(Reduction::kLogSumExp)},
    {"ReduceMax", ReadReduce, Kind(Reduction::kMax)},
    {"ReduceMean", ReadReduce, Kind(Reduction::kMean)},
    {"ReduceMin", ReadReduce, Kind(Reduction::kMin)},
    {"ReduceProd", ReadReduce, Kind(Reduction::kProd)},
    {"ReduceSum", ReadReduce, Kind(Reduction::kSum)},
    {"ReduceSumSquare", ReadReduce, Kind(Reduction::kSumSquare)},
    {"Softmax", ReadSoftmax},
    {"SoftmaxCrossEntropyLoss", ReadLoss, 1},
    {"TopK", ReadTopK},
};
const OperatorList kReduceOperators = kReduceRows;

}  // namespace hearth::onnx
