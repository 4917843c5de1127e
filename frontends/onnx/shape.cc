// Operators that make shapes, or tensors of a shape, most of which are known before any run.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

constexpr double kMostNumbers = 1 << 24;  // of a Range

std::vector<int64_t> DimsOf(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

// Where `rows` are that keep their number or, as the first ones, become several each: in dimension `at` of `made`.
Result<OpenDimension> RowsWithin(NodeWriter& to, const Shape& before, const OpenDimension& rows, const Shape& made,
                                 int at) {
  if (IsSameDimension(before, rows.dim, made, at)) return OpenDimension{at, rows.count};
  const bool are_first = CountBetween(before, 0, rows.dim) == 1 && CountBetween(made, 0, at) == 1;
  if (!are_first || before[rows.dim] == 0 || made[at] % before[rows.dim] != 0) return NeedsAllRows();
  HEARTH_ASSIGN(const ValueId count, AddProductOfCount(to, rows.count, made[at] / before[rows.dim], made[at]));
  return OpenDimension{at, count};
}

// `became`: what each dimension became, -1 for one that must be 1; nothing if only their sizes say it.
Results Reshaped(OpView& op, const std::vector<int64_t>& dims, const std::vector<int>& became = {}) {
  HEARTH_ASSIGN(const Shape shape, CheckedShape(dims));
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId made, op.to().AddReshape(x, shape));
  const OpenDimension rows = op.to().marks().OpenOf(x);
  if (made == x || rows.count == kNoValue || became.empty()) return Plain(made);
  const int at = became[static_cast<size_t>(rows.dim)];
  if (at < 0) {
    op.to().marks().closed.insert(made);
    return Plain(made);
  }
  HEARTH_ASSIGN(const OpenDimension left, RowsWithin(op.to(), op.to().shape(x), rows, shape, at));
  return Plain(AddRows(op.to(), made, left.count, left.dim));
}

Results ReadShape(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int64_t rank = desc.shape.rank();
  const auto bounded = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t first = bounded(op.Int("start", 0)), last = std::max(first, bounded(op.Int("end", rank)));
  const auto count = static_cast<int32_t>(last - first);
  if (op.HasOpenRows(0)) {
    const Made whole = AddShapeOf(to, *op.In(0), PlainType(DType::kInt64));
    return Plain(to.AddSlice(whole, 0, static_cast<int32_t>(first), count));
  }
  const std::vector<int64_t> dims = DimsOf(desc.shape);
  return Plain(to.AddIntegers({count}, std::vector<int64_t>(dims.begin() + first, dims.begin() + last)));
}

Results ReadSize(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  if (!op.HasOpenRows(0)) return Plain(to.AddIntegers(Shape(), std::vector<int64_t>{desc.shape.element_count()}));
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const OpenDimension open = to.marks().OpenOf(x);
  int64_t others = 1;  // elements of a row
  for (int d = 0; d < desc.shape.rank(); ++d) others *= d == open.dim ? 1 : desc.shape[d];
  const Made rows = to.AddCast(open.count, DType::kInt64);
  return Plain(to.AddReshape(to.Add(BinaryKind::kMul, {rows, to.AddNumber(DType::kInt64, static_cast<double>(others))}),
                             Shape()));
}

Results ReadConstant(OpView& op, GraphWriter& to) {
  if (const AttributeProto* value = op.Find("value"); value != nullptr && value->tensor != nullptr) {
    HEARTH_ASSIGN(const Tensor made,
                  AddTensor(op.scope().reading(), to, *value->tensor, std::string(op.node().outputs[0])));
    return std::vector{made};
  }
  if (const AttributeProto* value = op.Find("value_int"))
    return Plain(to.AddIntegers(Shape(), std::vector<int64_t>{value->i}));
  if (const AttributeProto* value = op.Find("value_float")) {
    return Plain(to.AddConstant(Shape(), DType::kFloat32, {static_cast<double>(value->f)}));
  }
  if (const AttributeProto* value = op.Find("value_ints")) {
    return Plain(to.AddIntegers({static_cast<int32_t>(value->ints.size())}, value->ints));
  }
  if (const AttributeProto* value = op.Find("value_floats")) {
    return Plain(to.AddConstant({static_cast<int32_t>(value->floats.size())}, DType::kFloat32,
                                std::vector<double>(value->floats.begin(), value->floats.end())));
  }
  return Error(StatusCode::kUnsupported, "a constant of strings, or a sparse one");
}

Results ReadConstantOfShape(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId list, op.In(0));
  HEARTH_ASSIGN(const OpenSizes sizes, SizesIn(to, list));
  HEARTH_ASSIGN(const Shape shape, CheckedShape(sizes.dims));
  Made number = to.AddConstant(Shape(), DType::kFloat32, {0.0});
  if (const AttributeProto* value = op.Find("value"); value != nullptr && value->tensor != nullptr) {
    HEARTH_ASSIGN(const Tensor made, AddTensor(op.scope().reading(), to, *value->tensor, "value"));
    number = made.plain == kNoValue ? AddReadable(to, made.stored) : Made(made.plain);
  }
  return Plain(WithRows(to, to.AddFilled(shape, number), sizes.open));
}

Results ReadRange(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const double start, op.Number(0));
  HEARTH_ASSIGN(const double step, op.Number(2));
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const ValueId end, op.In(1));
  const std::optional<double> most = start == 0.0 && step == 1.0 ? MostOf(to, end) : std::nullopt;
  if (most && *most > 0.0 && *most < kMostNumbers && !to.IsConstant(end)) {  // 0 1 2 ..., as many as data say
    const auto count = static_cast<int32_t>(*most);
    HEARTH_ASSIGN(const ValueId rows, AddCount(to, end, count));
    return Plain(WithRows(to, to.AddCast(to.AddIndices({count}), desc.dtype), {0, rows}));
  }
  HEARTH_ASSIGN(const double limit, op.Number(1));
  const double count = std::max(0.0, std::ceil((limit - start) / step));
  if (!(count < kMostNumbers)) {
    return Error(StatusCode::kUnsupported, "{} numbers from {} to {}", count, start, limit);
  }
  return Plain(to.AddEach({static_cast<int32_t>(count)}, desc.dtype,
                          [&](int64_t, int64_t k) { return start + static_cast<double>(k) * step; }));
}

// What `rows` become: a dimension of the same size, or the first one, where each row becomes several. It must be the
// one whose size the list leaves to data: of 4 rows at most, whose number data make, and 4 columns the list (4, -1)
// makes 4 rows always.
Result<OpenDimension> RowsAfterReshape(NodeWriter& to, const OpenSizes& list, bool keeps_zeros, const Shape& before,
                                       const OpenDimension& rows, const Shape& made) {
  const auto is_copy = [&](int d) { return list.dims[static_cast<size_t>(d)] == 0 && !keeps_zeros && d == rows.dim; };
  const auto is_rest = [&](int d) { return list.dims[static_cast<size_t>(d)] == -1; };
  const auto is_of_data = [&](int d) { return list.open.IsAt(d); };
  int at = -1;
  bool is_said = false;
  for (int d = 0; d < made.rank(); ++d) {
    if (!IsSameDimension(before, rows.dim, made, d) || is_said) continue;
    is_said = is_copy(d) || is_rest(d) || is_of_data(d);
    if (at < 0 || is_said) at = d;
  }
  const bool is_fixed = at >= 0 && (is_copy(at) || (is_of_data(at) && list.open.count == rows.count));
  for (int d = 0; d < made.rank() && at >= 0; ++d) {
    if (d != at && (is_copy(d) || is_of_data(d) || (is_rest(d) && !is_fixed))) at = -1;
  }
  if (at >= 0) return OpenDimension{at, rows.count};
  int first = 0;
  while (first + 1 < made.rank() && made[first] == 1) ++first;
  bool is_all = made.rank() > 0 && is_rest(first);
  for (int d = 0; d < made.rank() && is_all; ++d) is_all = d == first || (!is_copy(d) && !is_of_data(d));
  if (!is_all) return NeedsAllRows();
  return RowsWithin(to, before, rows, made, first);
}

Results ReadReshape(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  OpenSizes sizes{.dims = op.Ints("shape"), .open = {}};
  if (op.Has(1)) {
    HEARTH_ASSIGN(const ValueId list, op.In(1));
    HEARTH_ASSIGN(sizes, SizesIn(to, list));
  } else if (op.Find("shape") == nullptr) {
    return Error(StatusCode::kMalformedInput, "its shape is absent");
  }
  const bool keeps_zeros = op.Int("allowzero", 0) != 0;
  std::vector<int64_t> dims = sizes.dims;
  int64_t known = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0 && !keeps_zeros) {
      if (static_cast<int>(d) >= desc.shape.rank()) {
        return Error(StatusCode::kMalformedInput, "dimension {} is to be kept, but there is none", d);
      }
      dims[d] = desc.shape[static_cast<int>(d)];
    }
    if (dims[d] >= 0 && (dims[d] == 0 || known <= kMaxElementCount / dims[d])) known *= dims[d];
  }
  const auto open = std::ranges::find(dims, -1);
  const int64_t elements = desc.shape.element_count();
  if (open != dims.end()) *open = known == 0 ? 0 : elements / known;
  HEARTH_ASSIGN(const Shape shape, CheckedShape(dims));
  if (shape.element_count() != elements) {
    return Error(StatusCode::kMalformedInput, "{} elements of shape {} as shape {}", elements, desc.shape.ToString(),
                 shape.ToString());
  }
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const OpenDimension rows = to.marks().OpenOf(x);
  HEARTH_ASSIGN(const ValueId made, to.AddReshape(x, shape));
  if (rows.count == kNoValue) return sizes.open.count == kNoValue ? Plain(made) : Results(NeedsAllRows());
  HEARTH_ASSIGN(const OpenDimension left, RowsAfterReshape(to, sizes, keeps_zeros, desc.shape, rows, shape));
  return Plain(made == x ? Made(made) : AddRows(to, made, left.count, left.dim));
}

Results ReadFlatten(OpView& op, GraphWriter&) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  const int64_t axis = op.Int("axis", 1) < 0 ? op.Int("axis", 1) + rank : op.Int("axis", 1);
  if (axis < 0 || axis > rank) return Error(StatusCode::kMalformedInput, "axis {} in rank {}", axis, rank);
  const int at = static_cast<int>(axis);
  std::vector<int> became;
  for (int d = 0; d < rank; ++d) became.push_back(d < at ? 0 : 1);
  return Reshaped(op, {CountBetween(desc.shape, 0, at), CountBetween(desc.shape, at, rank)}, became);
}

Results ReadSqueeze(OpView& op, GraphWriter&) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const auto axes, op.NumbersOr(1, "axes"));
  std::vector<bool> goes(static_cast<size_t>(desc.shape.rank()), false);
  for (int d = 0; d < desc.shape.rank(); ++d) goes[static_cast<size_t>(d)] = !axes && desc.shape[d] == 1;
  for (const int64_t axis : axes.value_or(std::vector<int64_t>())) {
    HEARTH_ASSIGN(const int d, OpView::Axis(axis, desc.shape.rank()));
    if (desc.shape[d] != 1) return Error(StatusCode::kMalformedInput, "dimension {} is {}, not 1", d, desc.shape[d]);
    goes[static_cast<size_t>(d)] = true;
  }
  std::vector<int64_t> dims;
  std::vector<int> became;
  for (int d = 0; d < desc.shape.rank(); ++d) {
    became.push_back(goes[static_cast<size_t>(d)] ? -1 : static_cast<int>(dims.size()));
    if (!goes[static_cast<size_t>(d)]) dims.push_back(desc.shape[d]);
  }
  return Reshaped(op, dims, became);
}

Results ReadUnsqueeze(OpView& op, GraphWriter&) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const auto axes, op.NumbersOr(1, "axes"));
  if (!axes) return Error(StatusCode::kMalformedInput, "its axes are absent");
  const int rank = desc.shape.rank() + static_cast<int>(std::min<size_t>(axes->size(), 100));
  std::vector<int64_t> dims(static_cast<size_t>(rank), 0);
  for (const int64_t axis : *axes) {
    HEARTH_ASSIGN(const int d, OpView::Axis(axis, rank));
    if (dims[static_cast<size_t>(d)] != 0) return Error(StatusCode::kMalformedInput, "axis {} is listed twice", axis);
    dims[static_cast<size_t>(d)] = -1;
  }
  int next = 0;
  std::vector<int> became;  // by dimension
  for (int64_t& dim : dims) {
    if (dim != -1) became.push_back(static_cast<int>(&dim - dims.data()));
    dim = dim == -1 ? 1 : desc.shape[next++];
  }
  return Reshaped(op, dims, became);
}

Results ReadExpand(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const ValueId list, op.In(1));
  HEARTH_ASSIGN(OpenSizes sizes, SizesIn(to, list));
  std::vector<int64_t>& dims = sizes.dims;
  const std::vector<int64_t> own = DimsOf(desc.shape);
  if (dims.size() < own.size()) {
    sizes.open.dim += static_cast<int>(own.size() - dims.size());
    dims.insert(dims.begin(), own.size() - dims.size(), 1);
  }
  const size_t added = dims.size() - own.size();
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  OpenDimension rows = to.marks().OpenOf(x);
  rows.dim += static_cast<int>(added);
  if (sizes.open.count != kNoValue && rows.count != kNoValue && sizes.open != rows) return NeedsAllRows();
  for (size_t d = 0; d < own.size(); ++d) {
    int64_t& dim = dims[d + added];
    // One row or all of them: that many there are.
    if (own[d] != 1 && rows.count == kNoValue && sizes.open.dim == static_cast<int>(d + added)) sizes.open = {};
    if (dim == 1) dim = own[d];
    if (own[d] != 1 && dim != own[d]) {
      return Error(StatusCode::kMalformedInput, "{} does not expand to dimension {} of {}", desc.shape.ToString(),
                   d + added, dim);
    }
  }
  HEARTH_ASSIGN(const Shape shape, CheckedShape(dims));
  const bool is_new = sizes.open.count != kNoValue && rows.count == kNoValue;
  if (is_new) return Plain(WithRows(to, to.Add(BroadcastTo{shape}, {x}), sizes.open));
  if (shape == desc.shape) return InOrder(op.OrderOf(0), op.In(0, op.OrderOf(0)));
  return Plain(to.Add(BroadcastTo{shape}, {x}));
}

Results ReadTile(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> repeats, op.Numbers(1));
  HEARTH_ASSIGN(const Shape multiples, CheckedShape(repeats));
  return Plain(to.Add(Tile{multiples}, {op.In(0)}));
}

Results ReadEyeLike(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int32_t type = static_cast<int32_t>(op.Int("dtype", 0));
  const std::optional<DType> dtype = type == kUndefined ? desc.dtype : ComputedTypeOf(type);
  if (!dtype) return UnknownType(type);
  if (desc.shape.rank() != 2) return Error(StatusCode::kMalformedInput, "shape {}", desc.shape.ToString());
  if (op.HasOpenRows(0)) return NeedsAllRows();
  const int64_t k = std::clamp<int64_t>(op.Int("k", 0), -desc.shape[0], desc.shape[1]);
  return Plain(
      to.AddEach(desc.shape, *dtype, [&](int64_t row, int64_t column) { return column - row == k ? 1.0 : 0.0; }));
}

}  // namespace

constexpr OperatorRow kShapeRows[] = {
    {"Constant", ReadConstant}, {"ConstantOfShape", ReadConstantOfShape},
    {"Expand", ReadExpand},     {"EyeLike", ReadEyeLike},
    {"Flatten", ReadFlatten},   {"Range", ReadRange},
    {"Reshape", ReadReshape},   {"Shape", ReadShape},
    {"Size", ReadSize},         {"Squeeze", ReadSqueeze},
    {"Tile", ReadTile},         {"Unsqueeze", ReadUnsqueeze},
};
const OperatorList kShapeOperators = kShapeRows;

}  // namespace hearth::onnx
