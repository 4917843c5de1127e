// Operators that write elements at indices.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/onnx/windows.h"
#include "frontends/writer/rows.h"
#include "frontends/writer/scatter.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostPlaces = 1 << 24;  // elements of a picture or a window

Result<std::optional<BinaryKind>> MeetingOf(const OpView& op) {
  constexpr std::optional<BinaryKind> kKinds[] = {std::nullopt, BinaryKind::kAdd, BinaryKind::kMul,
                                                  BinaryKind::kMaximum, BinaryKind::kMinimum};
  HEARTH_ASSIGN(const size_t kind,
                op.Choice("reduction", {"none", "add", "mul", "max", "min"}, StatusCode::kMalformedInput));
  return kKinds[kind];
}

// The places of updates, of which only the first rows are valid where data say how many. Each row has as many places.
Made PlacesOfRows(NodeWriter& to, const Made& places, const OpenDimension& open, int32_t rows) {
  if (!places.ok() || open.count == kNoValue || rows == 0) return places;
  const auto each = static_cast<int32_t>(to.shape(*places).element_count() / rows);
  const Made is_valid = to.Add(BinaryKind::kLess, {to.AddIndices({rows, 1}), open.count});
  const Made nowhere = to.AddNumber(DType::kInt32, -1);
  return to.AddReshape(to.Add(Select{}, {is_valid, to.AddReshape(places, {rows, each}), nowhere}), {rows * each});
}

// The result of a scatter, which has as many rows as operand 0. `along`: where the numbers of rows may lie in the
// operands, as their places and updates beyond them are left out.
Results Scattered(OpView& op, NodeWriter& to, const Made& made, size_t first_node, int along) {
  HEARTH_ASSIGN(const ValueId result, made);
  OpenDimension of_result;
  for (size_t i = 0; i < 3; ++i) {
    HEARTH_ASSIGN(const ValueId operand, op.In(i));
    const OpenDimension open = to.marks().OpenOf(operand);
    if (open.count != kNoValue && open.dim != along) return NeedsAllRows();
    if (i == 0) of_result = open;
  }
  CloseRows(to, first_node);
  return Plain(of_result.count == kNoValue ? Made(result) : AddRows(to, result, of_result.count, along));
}

// Whether `whole` is `first` and then the dimensions of `shape` from `from` on.
bool IsFollowedBy(const Shape& first, const Shape& shape, int from, const Shape& whole) {
  std::vector<int32_t> dims(first.dims().begin(), first.dims().end());
  dims.insert(dims.end(), shape.dims().begin() + from, shape.dims().end());
  return std::ranges::equal(dims, whole.dims());
}

// Operand 0 with rows changed by those of operand `updates`, at places. Its dimensions are turned first; then the first
// ones, `leading`, count its rows.
Made ScatterInto(OpView& op, NodeWriter& to, const Shape& turn, int leading, size_t updates, ValueId places,
                 const std::optional<BinaryKind>& kind) {
  HEARTH_ASSIGN(const ValueId turned, to.AddTranspose(op.In(0), turn));
  const Shape shape = to.shape(turned);
  const auto count = static_cast<int32_t>(CountBetween(shape, 0, leading));
  const auto row = static_cast<int32_t>(CountBetween(shape, leading, shape.rank()));
  HEARTH_ASSIGN(const ValueId matrix, to.AddReshape(turned, {count, row}));
  HEARTH_ASSIGN(const ValueId rows, to.AddReshape(to.AddTranspose(op.In(updates), turn), {to.shape(places)[0], row}));
  return to.AddTranspose(to.AddReshape(ScatterRows(to, matrix, rows, places, kind), shape), turn);
}
// Its dimensions as they are.
Shape Unturned(const Shape& shape) {
  return Exchange(0, 0, shape.rank());
}

Results ReadScatterNd(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const std::optional<BinaryKind> kind, MeetingOf(op));
  const size_t first_node = to.graph().nodes().size();
  HEARTH_ASSIGN(const ValueId listed, Coordinates(op, 1, 0));
  const Shape indices = to.shape(listed);
  const int n = indices[indices.rank() - 1];
  const Shape before = Shape::FromSpan(indices.dims().first(static_cast<size_t>(indices.rank() - 1)));
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(2));
  if (n == 0) return Error(StatusCode::kUnsupported, "indices without coordinates, of shape {}", indices.ToString());
  if (!IsFollowedBy(before, desc.shape, n, given.shape)) {
    return Error(StatusCode::kMalformedInput, "updates of shape {} for indices of shape {} in {}",
                 given.shape.ToString(), indices.ToString(), desc.shape.ToString());
  }
  const auto rows = static_cast<int32_t>(CountBetween(indices, 0, indices.rank() - 1));
  HEARTH_ASSIGN(const ValueId of_file, op.In(1));
  const Made all = ComputedPlaces(to, listed, desc.shape, rows, n);
  HEARTH_ASSIGN(const ValueId places, PlacesOfRows(to, all, to.marks().OpenOf(of_file), indices[0]));
  return Scattered(op, to, ScatterInto(op, to, Unturned(desc.shape), n, 2, places, kind), first_node, 0);
}

// The list of indices along an axis that all other dimensions repeat, as PyTorch expands those of whole rows.
// kNoValue: they differ, or are not known to be alike.
Made RepeatedList(OpView& op, NodeWriter& to, int axis) {
  HEARTH_ASSIGN(const ValueId indices, op.In(1));
  const Shape shape = to.shape(indices);
  if (to.IsConstant(indices)) {
    if (shape.element_count() > kMostKnown) return kNoValue;
    const int64_t inner = CountBetween(shape, axis + 1, shape.rank()), size = shape[axis];
    HEARTH_ASSIGN(const std::vector<int64_t> numbers, to.Integers(indices));
    std::vector<double> list;
    for (int64_t k = 0; k < size; ++k) list.push_back(static_cast<double>(numbers[static_cast<size_t>(k * inner)]));
    for (size_t k = 0; k < numbers.size(); ++k) {
      const int64_t of_list = static_cast<int64_t>(k) / inner % size;
      if (static_cast<double>(numbers[k]) != list[static_cast<size_t>(of_list)]) return kNoValue;
    }
    return to.AddConstant({shape[axis]}, to.desc(indices).dtype, list);
  }
  if (shape.rank() == 1) return indices;
  const Node* maker = to.ProducerOf(indices);
  if (maker == nullptr) return kNoValue;
  const Node node = *maker;
  const Shape before = std::holds_alternative<BroadcastTo>(node.op) ? to.shape(node.inputs[0]) : Shape();
  const int d = axis + before.rank() - shape.rank();
  if (d < 0 || before[d] != shape[axis] || before.element_count() != shape[axis]) return kNoValue;
  return to.AddReshape(node.inputs[0], {shape[axis]});
}

// Whole slices along an axis at the places of a list: rows of a matrix.
Made ScatterSlices(OpView& op, NodeWriter& to, int axis, ValueId list, const std::optional<BinaryKind>& kind) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const ValueId of_file, op.In(1));
  const Made all = FromFront(op, to, list, axis, 1);
  HEARTH_ASSIGN(const ValueId places, PlacesOfRows(to, all, to.marks().OpenOf(of_file), to.shape(list)[0]));
  return ScatterInto(op, to, Exchange(0, axis, desc.shape.rank()), 1, 2, places, kind);
}

Results ReadScatterElements(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  HEARTH_ASSIGN(const std::optional<BinaryKind> kind, MeetingOf(op));
  HEARTH_ASSIGN(const TensorDesc given, op.Desc(2));
  HEARTH_ASSIGN(const TensorDesc of_indices, op.Desc(1));
  if (given.shape != of_indices.shape) {
    return Error(StatusCode::kMalformedInput, "updates of shape {} for indices of shape {}", given.shape.ToString(),
                 of_indices.shape.ToString());
  }
  Shape slices = given.shape;
  if (slices.rank() > axis) slices[axis] = desc.shape[axis];
  if (slices == desc.shape && given.shape.element_count() > 0 && desc.shape.element_count() > 0) {
    const size_t first_node = to.graph().nodes().size();
    HEARTH_ASSIGN(const ValueId list, RepeatedList(op, to, axis));
    if (list != kNoValue) return Scattered(op, to, ScatterSlices(op, to, axis, list, kind), first_node, axis);
  }
  HEARTH_ASSIGN(const ValueId indices, FromFront(op, to, op.In(1), axis, 1));
  HEARTH_ASSIGN(const ValueId places, PlacesBeside(to, indices, axis, desc.shape));
  return Plain(ScatterInto(op, to, Unturned(desc.shape), desc.shape.rank(), 2, places, kind));
}

// (cache[B, ..., length, ...], update[B, ..., steps, ...], start[B]?) -> the cache with each batch's update from its
// start on, along an axis; in the mode circular it goes on at the front.
Results ReadTensorScatter(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const TensorDesc update, op.Desc(1));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", -2, desc.shape.rank()));
  const std::string_view mode = op.Text("mode", "linear");
  Shape wanted = desc.shape;
  if (update.shape.rank() == wanted.rank()) wanted[axis] = update.shape[axis];
  const bool is_circular = mode == "circular";
  if (axis == 0 || wanted != update.shape || update.shape[axis] > desc.shape[axis] ||
      (!is_circular && mode != "linear")) {
    return Error(StatusCode::kMalformedInput, "an update of shape {} for {}, along axis {}, in the mode '{}'",
                 update.shape.ToString(), desc.shape.ToString(), axis, mode.substr(0, 40));
  }
  const int32_t batches = desc.shape[0], length = desc.shape[axis], steps = update.shape[axis];
  if (desc.shape.element_count() == 0 || steps == 0) return Plain(op.In(0));
  HEARTH_ASSIGN(const ValueId given, op.Optional(2));
  Made first = given == kNoValue ? to.AddNumber(DType::kInt32, 0) : to.AddReshape(given, {batches, 1});
  if (given != kNoValue && is_circular)
    first = to.Add(BinaryKind::kFloorMod, {first, to.AddNumber(to.desc(given).dtype, length)});
  const Made start = to.AddCast(first, DType::kInt32);
  const auto number = [&](int32_t value) { return to.AddNumber(DType::kInt32, value); };
  Made place = to.Add(BinaryKind::kAdd, {to.AddIndices({1, steps}), start});
  if (is_circular) place = to.Add(BinaryKind::kFloorMod, {place, number(length)});
  // Beyond the cache is nowhere, not in the next batch.
  const Made is_in = to.Add(BinaryKind::kLogicalAnd, {to.Add(BinaryKind::kLess, {place, number(length)}),
                                                      to.Add(BinaryKind::kGreaterEqual, {place, number(0)})});
  const Made in_batch =
      to.Add(BinaryKind::kAdd, {place, to.Add(BinaryKind::kMul, {to.AddIndices({batches, 1}), number(length)})});
  HEARTH_ASSIGN(const ValueId places,
                to.AddReshape(to.Add(Select{}, {is_in, to.Add(BroadcastTo{{batches, steps}}, {in_batch}), number(-1)}),
                              {batches * steps}));
  return Plain(ScatterInto(op, to, Exchange(1, axis, desc.shape.rank()), 2, 1, places, std::nullopt));
}

// Where the elements of the windows lie in a picture of any number of dimensions, -1 for those in its padding: for each
// place in a window, the windows.
std::vector<int64_t> PlacesInWindows(const Shape& image, const Shape& windows, const Shape& block,
                                     const std::vector<int64_t>& strides, const std::vector<int64_t>& dilations,
                                     const std::vector<int64_t>& pads) {
  std::vector<int64_t> places;
  for (int64_t k = 0; k < block.element_count(); ++k) {
    for (int64_t window = 0; window < windows.element_count(); ++window) {
      int64_t place = 0;
      for (int d = 0; d < image.rank() && place >= 0; ++d) {
        const auto at = static_cast<size_t>(d);
        const int64_t in_block = k / CountBetween(block, d + 1, block.rank()) % block[d];
        const int64_t of_window = window / CountBetween(windows, d + 1, windows.rank()) % windows[d];
        const int64_t position = of_window * strides[at] + in_block * dilations[at] - pads[at];
        place = position >= 0 && position < image[d] ? place * image[d] + position : -1;
      }
      places.push_back(place);
    }
  }
  return places;
}

// (columns[N, C * elements of a window, windows], image shape, window shape) -> [N, C, image]: the inverse of cutting a
// picture into windows. Where they overlap, elements are added up.
Results ReadCol2Im(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const ValueId sizes, op.In(1));
  HEARTH_ASSIGN(const ValueId window, op.In(2));
  HEARTH_ASSIGN(const Shape image, to.ShapeIn(sizes, kMostPlaces));
  HEARTH_ASSIGN(const Shape block, to.ShapeIn(window, kMostPlaces));
  const auto dims = static_cast<size_t>(image.rank());
  HEARTH_ASSIGN(const std::vector<int64_t> strides, PerDimension(op, "strides", dims, 1, kMostPlaces));
  HEARTH_ASSIGN(const std::vector<int64_t> dilations, PerDimension(op, "dilations", dims, 1, kMostPlaces));
  HEARTH_ASSIGN(const std::vector<int64_t> pads, PerDimension(op, "pads", 2 * dims, 0, kMostPlaces));
  bool fits = dims > 0 && dims <= 6 && block.rank() == image.rank() && std::ranges::min(strides) > 0 &&
              std::ranges::min(dilations) > 0 && image.element_count() > 0 && block.element_count() > 0 &&
              desc.shape.rank() == 3;
  Shape windows = image;
  int64_t count = 1;
  for (int d = 0; fits && d < image.rank(); ++d) {
    const auto at = static_cast<size_t>(d);
    const int64_t room = image[d] + pads[at] + pads[dims + at] - dilations[at] * (block[d] - 1) - 1;
    fits = room >= 0;
    windows[d] = static_cast<int32_t>(room / strides[at] + 1);
    count = std::min(count * windows[d], kMostPlaces + 1);
  }
  fits = fits && desc.shape[1] % block.element_count() == 0 && desc.shape[2] == count;
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "columns of shape {} for pictures of {} in windows of {}",
                 desc.shape.ToString(), image.ToString(), block.ToString());
  }
  const auto elements = static_cast<int32_t>(block.element_count());
  const int32_t batches = desc.shape[0], channels = desc.shape[1] / elements, columns = desc.shape[2];
  HEARTH_TRY(to.budget().CheckRoom({elements, columns}, DType::kInt32));
  const Made apart = to.AddReshape(op.In(0), {batches * channels, elements, columns});
  HEARTH_ASSIGN(const ValueId rows,
                to.AddReshape(to.AddTranspose(apart, {1, 2, 0}), {elements * columns, batches * channels}));
  const std::vector<int64_t> places = PlacesInWindows(image, windows, block, strides, dilations, pads);
  const Made sums = GatherRows(to, rows, places, image.element_count(), {});
  std::vector<int32_t> made = {batches, channels};
  made.insert(made.end(), image.dims().begin(), image.dims().end());
  return Plain(to.AddReshape(to.AddTranspose(sums, {1, 0}), Shape::FromSpan(made)));
}

}  // namespace

constexpr OperatorRow kScatteringRows[] = {
    {"Col2Im", ReadCol2Im},       {"Scatter", ReadScatterElements},     {"ScatterElements", ReadScatterElements},
    {"ScatterND", ReadScatterNd}, {"TensorScatter", ReadTensorScatter},
};
const OperatorList kScatteringOperators = kScatteringRows;

}  // namespace hearth::onnx
