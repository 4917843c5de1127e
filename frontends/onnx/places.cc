// Operators that read elements at indices, or find them.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {

Made FromFront(OpView& op, NodeWriter& to, const Made& of_file, int first, int count) {
  HEARTH_ASSIGN(const Shape shape, op.ShapeOf(0));
  HEARTH_ASSIGN(const ValueId indices, of_file);
  if (IsReal(to.desc(indices)))
    return Error(StatusCode::kMalformedInput, "indices of {}", DTypeName(to.desc(indices).dtype));
  std::vector<int32_t> sizes;
  for (int d = first; d < first + count; ++d) sizes.push_back(shape[d]);
  OpenDimension open;
  if (op.HasOpenRows(0)) {
    HEARTH_ASSIGN(const ValueId x, op.In(0));
    open = to.marks().OpenOf(x);
  }
  const bool ends_where_data_say = open.count != kNoValue && open.dim >= first && open.dim < first + count;
  std::vector<int64_t> numbers;
  const bool is_known = to.IsConstant(indices) && to.shape(indices).element_count() <= kMostKnown;
  if (is_known) {
    HEARTH_ASSIGN(numbers, to.Integers(indices));
  }
  const bool has_negative = std::ranges::any_of(numbers, [](int64_t index) { return index < 0; });
  if (is_known && !(ends_where_data_say && has_negative)) {
    std::vector<int32_t> made(numbers.size());
    for (size_t k = 0; k < numbers.size(); ++k) {
      const int64_t number = numbers[k], size = sizes[k % sizes.size()];
      if (number < -size || number >= size) {
        return Error(StatusCode::kMalformedInput, "index {} among {} elements", number, size);
      }
      made[k] = static_cast<int32_t>(number < 0 ? number + size : number);
    }
    return to.AddIntegers(to.shape(indices), made);
  }
  const Shape each = sizes.size() == 1 ? Shape() : Shape{static_cast<int32_t>(sizes.size())};
  const Made narrow = to.AddCast(indices, DType::kInt32);
  HEARTH_TRY(narrow.status());
  const Made is_negative = to.Add(BinaryKind::kLess, {narrow, AddScalarLike(to, *narrow, 0)});
  const auto counts = [&]() -> Made {
    if (!ends_where_data_say)
      return to.AddConstant(each, DType::kInt32, std::vector<double>(sizes.begin(), sizes.end()));
    if (count == 1) return to.AddReshape(open.count, each);
    Operands parts;
    for (int d = first; d < first + count; ++d)
      parts.Append(d == open.dim ? Made(open.count) : to.AddNumber(DType::kInt32, shape[d]));
    return to.Add(Concat{.axis = 0}, parts);
  };
  return to.Add(Select{}, {is_negative, to.Add(BinaryKind::kAdd, {narrow, counts()}), narrow});
}

namespace {

// The node of a look-up in operand 0. `first_node`: of those that make the indices.
Made AddLookUp(OpView& op, Op look_up, const Made& indices, size_t first_node) {
  HEARTH_ASSIGN(const ValueId x, std::holds_alternative<Gather>(look_up) ? op.Weights(0) : op.In(0));
  HEARTH_ASSIGN(const ValueId places, indices);
  HEARTH_TRY(KeepRows(op.to(), first_node));
  TensorDesc made = op.to().desc(x);
  if (IsOfFewBits(made)) made = PlainType(DType::kFloat32);  // a table
  return AddOnRows(op.to(), std::move(look_up), {x, places}, made);
}

}  // namespace

Made PlacesBeside(NodeWriter& to, ValueId indices, int axis, const Shape& whole) {
  const Shape shape = to.shape(indices);
  Shape other = shape;  // the known part of a place, which is the same for all indices along the axis
  bool fits = shape.rank() == whole.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || shape[d] <= whole[d];
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} for {}", shape.ToString(), whole.ToString());
  }
  if (whole.element_count() > std::numeric_limits<int32_t>::max())
    return Error(StatusCode::kUnsupported, "elements of {}, which 32 bits can't count", whole.ToString());
  other[axis] = 1;
  HEARTH_TRY(to.budget().CheckRoom(other, DType::kInt32));
  std::vector<int32_t> known(static_cast<size_t>(other.element_count()));
  for (size_t k = 0; k < known.size(); ++k) {
    int64_t rest = static_cast<int64_t>(k), stride = 1, place = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      place += rest % other[d] * stride;
      rest /= other[d];
      stride *= whole[d];
    }
    known[k] = static_cast<int32_t>(place);
  }
  const int64_t stride = CountBetween(whole, axis + 1, whole.rank());
  const auto elements = static_cast<int32_t>(shape.element_count());
  if (to.IsConstant(indices) && elements <= kMostKnown) {
    HEARTH_ASSIGN(const std::vector<int64_t> numbers, to.Integers(indices));
    std::vector<int32_t> places;
    const int64_t inner = CountBetween(shape, axis + 1, shape.rank());
    for (int64_t k = 0; k < elements; ++k) {
      const int32_t beside = known[static_cast<size_t>(k / (inner * shape[axis]) * inner + k % inner)];
      places.push_back(static_cast<int32_t>(numbers[static_cast<size_t>(k)] * stride) + beside);
    }
    return to.AddIntegers({elements}, places);
  }
  const Made along = to.Add(BinaryKind::kMul, {indices, to.AddNumber(DType::kInt32, static_cast<double>(stride))});
  return to.AddReshape(to.Add(BinaryKind::kAdd, {along, to.AddIntegers(other, known)}), {elements});
}

namespace {

Results ReadGather(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Shape shape, op.ShapeOf(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, shape.rank()));
  HEARTH_ASSIGN(const TensorDesc indices, op.Desc(1));
  const size_t first_node = to.graph().nodes().size();
  const Made places = FromFront(op, to, op.In(1), axis, 1);
  // Devices read lists of indices.
  if (indices.shape.rank() > 0) return Plain(KnownNumbers(to, AddLookUp(op, Gather{axis, 0}, places, first_node)));
  HEARTH_ASSIGN(const ValueId taken, AddLookUp(op, Gather{axis, 0}, to.AddReshape(places, {1}), first_node));
  return Plain(KnownNumbers(to, to.AddReshape(taken, Without(shape, axis))));
}

Results ReadGatherElements(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  const size_t first_node = to.graph().nodes().size();
  HEARTH_ASSIGN(const ValueId indices, FromFront(op, to, op.In(1), axis, 1));
  HEARTH_ASSIGN(const ValueId places, PlacesBeside(to, indices, axis, desc.shape));
  HEARTH_TRY(KeepRows(to, first_node));
  HEARTH_ASSIGN(const ValueId list, to.AddReshape(op.In(0), {static_cast<int32_t>(desc.shape.element_count())}));
  return Plain(to.AddReshape(AddOnRows(to, Gather{}, {list, places}, to.desc(list)), to.shape(indices)));
}

}  // namespace

Made Coordinates(OpView& op, size_t i, int first) {
  HEARTH_ASSIGN(const TensorDesc whole, op.Desc(0));
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
  const int rank = desc.shape.rank();
  if (rank == 0 || desc.shape[rank - 1] > whole.shape.rank() - first) {
    return Error(StatusCode::kMalformedInput, "indices of shape {} for {}", desc.shape.ToString(),
                 whole.shape.ToString());
  }
  return FromFront(op, op.to(), op.In(i), first, desc.shape[rank - 1]);
}

namespace {

Results ReadGatherNd(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int64_t leading = op.Int("batch_dims", 0);
  if (leading < 0 || leading > desc.shape.rank()) return Error(StatusCode::kMalformedInput, "batch_dims={}", leading);
  const size_t first_node = to.graph().nodes().size();
  HEARTH_ASSIGN(const ValueId indices, Coordinates(op, 1, static_cast<int>(leading)));
  const Shape shape = to.shape(indices);
  const int last = shape.rank() - 1;
  if (leading > last) return Error(StatusCode::kMalformedInput, "batch_dims={} of {}", leading, shape.ToString());
  Operands columns;
  for (int d = 0; d < leading; ++d) {  // the place of the indices themselves
    Shape along = shape, whole = shape;
    for (int k = 0; k <= last; ++k) along[k] = k == d ? shape[d] : 1;
    whole[last] = 1;
    columns.Append(to.Add(BroadcastTo{whole}, {to.AddIndices(along)}));
  }
  columns.Append(indices);
  const Made places = leading == 0 ? Made(indices) : to.Add(Concat{.axis = last}, columns);
  return Plain(AddLookUp(op, GatherNd{}, places, first_node));
}

Results ReadNonZero(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId list, to.shape(x).rank() == 0 ? to.AddReshape(x, {1}) : Made(x));
  HEARTH_ASSIGN(const auto found, AddPlaces(to, list));
  return Plain(to.AddTranspose(AddRows(to, found.first, found.second), {1, 0}));
}

// (x, condition[n]) -> the slices along the axis, or without one the elements, whose condition holds.
Results ReadCompress(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(ValueId x, op.In(0));
  int axis = 0;
  if (op.Find("axis") != nullptr) {
    HEARTH_ASSIGN(axis, op.AxisOf("axis", 0, to.shape(x).rank()));
  } else {
    HEARTH_ASSIGN(x, to.AddReshape(x, {static_cast<int32_t>(to.shape(x).element_count())}));
  }
  HEARTH_ASSIGN(ValueId condition, op.In(1));
  if (op.Find("axis") == nullptr) {  // that of paddle.masked_select has the form of x
    HEARTH_ASSIGN(condition, to.AddReshape(condition, {static_cast<int32_t>(to.shape(condition).element_count())}));
  }
  if (to.shape(condition).rank() != 1 || to.shape(condition)[0] > to.shape(x)[axis]) {
    return Error(StatusCode::kMalformedInput, "a condition of shape {} for {} of shape {}",
                 to.shape(condition).ToString(), axis, to.shape(x).ToString());
  }
  HEARTH_ASSIGN(const auto found, AddPlaces(to, condition));
  HEARTH_ASSIGN(const ValueId places, AddRows(to, found.first, found.second));
  const Made list = to.AddReshape(to.AddCast(places, DType::kInt32), {to.shape(places)[0]});
  const Shape turn = Exchange(0, axis, to.shape(x).rank());
  return Plain(to.AddTranspose(to.Add(Gather{0, 0}, {to.AddTranspose(x, turn), list}), turn));
}

// (list) -> each number once, ascending or (sorted=0) by its first appearance; where that is; for each element the
// index of its number; how often it occurs. Neighbours in a sorted list are compared.
Results ReadUnique(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const auto count = static_cast<int32_t>(desc.shape.element_count());
  const bool is_wide = BitsOf(desc.dtype) >= 32;
  if ((op.Find("axis") != nullptr && desc.shape.rank() != 1) || desc.dtype == DType::kUInt32 ||
      desc.dtype == DType::kUInt64 || count < 1 || desc.dtype == DType::kBool) {
    return Error(StatusCode::kUnsupported, "slices along an axis, no elements, or elements of {}",
                 DTypeName(desc.dtype));
  }
  // The list in ascending order, and where its elements were.
  const auto sorted = [&](const Made& list, DType dtype) -> Expanded {
    const std::vector<TensorDesc> types = {PlainType(dtype), PlainType(DType::kInt32)};
    return to.AddSeveral(TopK{count}, {to.Add(UnaryKind::kNeg, list)}, types);
  };
  const DType dtype = is_wide ? desc.dtype : DType::kInt32;
  HEARTH_ASSIGN(const ValueId list, to.AddCast(to.AddReshape(op.In(0), {count}), dtype));
  HEARTH_ASSIGN(const std::vector<ValueId> falling, sorted(list, dtype));
  const auto first_and = [&](const Made& rest) {
    return count == 1 ? to.AddConstant({1}, DType::kBool, {1.0})
                      : to.Add(Concat{.axis = 0}, {to.AddConstant({1}, DType::kBool, {1.0}), rest});
  };
  const Made differs =
      to.Add(BinaryKind::kNotEqual, {to.AddSlice(falling[0], 0, std::min(1, count - 1), std::max(1, count - 1)),
                                     to.AddSlice(falling[0], 0, 0, std::max(1, count - 1))});
  HEARTH_ASSIGN(const ValueId is_new, first_and(differs));
  const Made one = to.AddNumber(DType::kInt32, 1.0);
  // The number of each element's group, and the element of the sorted list that an element became.
  const Made groups = to.Add(BinaryKind::kSub, {to.Add(CumSum{}, {to.AddCast(is_new, DType::kInt32)}), one});
  HEARTH_ASSIGN(const std::vector<ValueId> back, sorted(falling[1], DType::kInt32));
  HEARTH_ASSIGN(const ValueId group, to.Add(Gather{}, {groups, back[1]}));
  HEARTH_ASSIGN(const auto found, AddPlaces(to, is_new));
  const Made starts = to.AddReshape(to.AddCast(found.first, DType::kInt32), {count});
  HEARTH_ASSIGN(const ValueId firsts, to.Add(Gather{}, {falling[1], starts}));
  // A group ends where the next one starts, and the last one where the list ends. The starts behind it are 0.
  const Made next = to.AddSlice(to.AddPad(starts, 0, 0, 1), 0, 1, count);
  const Made is_last = to.Add(BinaryKind::kEqual, {next, to.AddNumber(DType::kInt32, 0.0)});
  const Made end = to.Add(Select{}, {is_last, to.AddNumber(DType::kInt32, count), next});
  const Made size = to.Add(BinaryKind::kSub, {end, starts});
  std::vector<Made> made = {to.Add(Gather{}, {list, firsts}), firsts, group, size};
  if (op.Int("sorted", 1) == 0) {  // the groups in the order of their first elements; those that are none come last
    const Made is_group = to.Add(BinaryKind::kLess, {to.AddIndices({count}), found.second});
    const Made place = to.Add(Select{}, {is_group, firsts, to.AddNumber(DType::kInt32, count)});
    HEARTH_ASSIGN(const std::vector<ValueId> order, sorted(place, DType::kInt32));
    HEARTH_ASSIGN(const std::vector<ValueId> places, sorted(order[1], DType::kInt32));
    for (Made* each : {&made[0], &made[1], &made[3]}) *each = to.Add(Gather{}, {*each, order[1]});
    made[2] = to.Add(Gather{}, {places[1], made[2]});
  }
  Operands results;
  for (size_t k = 0; k < made.size(); ++k) {
    HEARTH_ASSIGN(const ValueId value, to.AddCast(made[k], k == 0 ? desc.dtype : DType::kInt64));
    results.Append(k == 2 ? Made(value) : AddRows(to, value, found.second));
  }
  return Plain(results);
}

Results ReadOneHot(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const double depth, op.Number(1));
  if (!(depth >= 1 && depth <= (1 << 24))) return Error(StatusCode::kMalformedInput, "a depth of {}", depth);
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", -1, desc.shape.rank() + 1));
  HEARTH_ASSIGN(const ValueId indices, to.AddCast(op.In(0), DType::kInt32));
  const Made is_negative = to.Add(BinaryKind::kLess, {indices, AddScalarLike(to, indices, 0)});
  const Made wrapped = to.Add(BinaryKind::kAdd, {indices, AddScalarLike(to, indices, depth)});
  const Made places = to.Add(Select{}, {is_negative, wrapped, indices});
  HEARTH_ASSIGN(const ValueId values, op.In(2));
  const Made off = to.AddReshape(to.AddSlice(values, 0, 0, 1), Shape());
  const Made on = to.AddReshape(to.AddSlice(values, 0, 1, 1), Shape());
  return Plain(to.Add(OneHot{axis, static_cast<int32_t>(depth)}, {places, on, off}, to.desc(values).dtype));
}

}  // namespace

constexpr OperatorRow kPlacesRows[] = {
    {"Compress", ReadCompress}, {"Gather", ReadGather},   {"GatherElements", ReadGatherElements},
    {"GatherND", ReadGatherNd}, {"NonZero", ReadNonZero}, {"OneHot", ReadOneHot},
    {"Unique", ReadUnique},
};
const OperatorList kPlacesOperators = kPlacesRows;

}  // namespace hearth::onnx
