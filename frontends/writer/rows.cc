#include "frontends/writer/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/graph/element.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

using Open = OpenDimension;

bool IsElementwise(const Op& op) {
  return std::holds_alternative<Binary>(op) || std::holds_alternative<Select>(op) ||
         std::holds_alternative<PRelu>(op) || std::holds_alternative<AddN>(op);
}

// Whether it computes each slice of dimension 0 by itself.
bool IsByPicture(const Op& op) {
  return std::holds_alternative<Conv2D>(op) || std::holds_alternative<DepthwiseConv2D>(op) ||
         std::holds_alternative<Pool2D>(op) || std::holds_alternative<TransposeConv>(op) ||
         std::holds_alternative<Resize>(op) || std::holds_alternative<SpaceToDepth>(op) ||
         std::holds_alternative<DepthToSpace>(op) || std::holds_alternative<LocalResponseNormalization>(op);
}

// Whether it computes along the last dimension, for each place in the others by itself.
bool IsAlongLast(const Op& op) {
  return std::holds_alternative<Softmax>(op) || std::holds_alternative<LogSoftmax>(op) ||
         std::holds_alternative<FullyConnected>(op) || std::holds_alternative<TopK>(op) ||
         std::holds_alternative<L2Normalization>(op);
}

// The dimension of the new shape that dimension `d` becomes where elements keep their order; -1 if there is none.
int AfterReshape(int d, const Shape& shape, const Shape& made) {
  for (int k = 0; k < made.rank(); ++k) {
    if (IsSameDimension(shape, d, made, k)) return k;
  }
  return -1;
}

// The dimension of the result that dimension `d` of operand 0 becomes, each slice by itself; -1 if there is none.
int AfterOp(const Op& op, int d, const Shape& shape, const Shape& made) {
  const int rank = shape.rank();
  const auto axis_of = [](int axis, int of) { return axis < 0 ? axis + of : axis; };
  if (std::holds_alternative<Reshape>(op)) return AfterReshape(d, shape, made);
  if (const auto* transpose = std::get_if<Transpose>(&op)) {
    const auto dims = transpose->permutation.dims();
    return static_cast<int>(std::ranges::find(dims, d) - dims.begin());
  }
  if (const auto* slice = std::get_if<Slice>(&op)) {
    if (slice->begin[d] != 0 || slice->strides[d] != 1) return -1;
    return made == slice->size ? d : AfterReshape(d, slice->size, made);
  }
  if (const auto* reduce = std::get_if<Reduce>(&op)) {
    if ((reduce->axes_mask >> d & 1u) != 0) return -1;
    return reduce->keep_dims ? d : d - std::popcount(reduce->axes_mask & ((1u << d) - 1));
  }
  if (const auto* search = std::get_if<ArgReduce>(&op)) {
    const int axis = axis_of(search->axis, rank);
    return axis == d ? -1 : d - static_cast<int>(axis < d);
  }
  if (const auto* norm = std::get_if<MeanVarianceNormalization>(&op)) return (norm->axes_mask >> d & 1u) != 0 ? -1 : d;
  if (const auto* sums = std::get_if<CumSum>(&op)) return sums->reverse && axis_of(sums->axis, rank) == d ? -1 : d;
  if (const auto* pad = std::get_if<Pad>(&op)) return pad->before[d] == 0 && pad->after[d] == 0 ? d : -1;
  if (const auto* product = std::get_if<BatchMatMul>(&op)) {
    return d < rank - 2 || (d == rank - 2 && !product->adjoint_a) ? d + made.rank() - rank : -1;
  }
  if (const auto* split = std::get_if<Split>(&op)) return split->axis == d ? -1 : d;
  if (const auto* one_hot = std::get_if<OneHot>(&op)) {
    return d + static_cast<int>(axis_of(one_hot->axis, made.rank()) <= d);
  }
  if (IsAlongLast(op)) return d < rank - 1 && made.rank() == rank ? d : -1;
  if (std::holds_alternative<BroadcastTo>(op)) return d + made.rank() - rank;
  if (IsByPicture(op)) return d == 0 ? 0 : -1;
  return std::holds_alternative<Unary>(op) || std::holds_alternative<Cast>(op) ? d : -1;
}

// Of a look-up by index: the indices say what is valid, and other dimensions of operand 0 stay. Nothing: unknown.
std::optional<Open> OfLookUp(const NodeWriter& to, const Op& op, std::span<const ValueId> operands) {
  const auto* gather = std::get_if<Gather>(&op);
  if (gather != nullptr && gather->batch_dims != 0) return std::nullopt;
  const Open first = to.marks().OpenOf(operands[0]), indices = to.marks().OpenOf(operands[1]);
  const Shape& shape = to.shape(operands[1]);
  const int axis = gather == nullptr ? 0 : gather->axis;
  const int rank = gather == nullptr ? shape.rank() - 1 : shape.rank();  // of the part that the indices make
  const int looked_up = gather == nullptr ? shape[rank] : 1;             // dimensions of operand 0
  const bool is_looked_up = first.dim >= axis && first.dim < axis + looked_up;
  if (axis < 0 || (indices.count != kNoValue && indices.dim >= rank)) return std::nullopt;
  if (indices.count == kNoValue) {
    if (is_looked_up) return Open();  // the indices are all valid, so the results are
    return Open{first.dim < axis ? first.dim : first.dim - looked_up + rank, first.count};
  }
  if (first.count != kNoValue && !is_looked_up) return std::nullopt;
  return Open{axis + indices.dim, indices.count};
}

// Of operands that are joined element by element, or along another dimension. Nothing: unknown.
std::optional<Open> OfJoined(const NodeWriter& to, const Op& op, std::span<const ValueId> operands, const Shape& made) {
  const auto* concat = std::get_if<Concat>(&op);
  if (!IsElementwise(op) && concat == nullptr) return std::nullopt;
  Open joined;
  for (const ValueId operand : operands) {
    Open open = to.marks().OpenOf(operand);
    if (open.count == kNoValue) continue;
    open.dim += made.rank() - to.shape(operand).rank();
    if (joined.count != kNoValue && joined != open) return std::nullopt;
    joined = open;
  }
  if (concat != nullptr && concat->axis == joined.dim) return std::nullopt;
  for (const ValueId operand : operands) {
    if (operand == kNoValue) continue;
    const int d = joined.dim - made.rank() + to.shape(operand).rank();
    const int32_t size = d < 0 ? 1 : to.shape(operand)[d];
    const bool repeats = size == 1 && !HaveRows(to, {&operand, 1});
    if (size != made[joined.dim] && !repeats) return std::nullopt;
  }
  return joined;
}

// What is valid of a result of this shape; kNoValue if all is. An error if that is unknown.
Result<Open> OpenOfResult(NodeWriter& to, const Op& op, std::span<const ValueId> operands, const Shape& made) {
  std::optional<Open> open;
  if (std::holds_alternative<Gather>(op) || std::holds_alternative<GatherNd>(op)) {
    open = OfLookUp(to, op, operands);
  } else if (const Open first = to.marks().OpenOf(operands[0]);
             first.count != kNoValue && !HaveRows(to, operands.subspan(1))) {
    const Shape shape = to.shape(operands[0]);
    const bool is_product = std::holds_alternative<ConvInteger>(op);
    const Op product = is_product && to.shape(operands[1]).rank() == 2 ? Op(FullyConnected{}) : Op(Conv2D{});
    const int d = AfterOp(is_product ? product : op, first.dim, shape, made);
    if (d >= 0 && made[d] == shape[first.dim]) {
      open = Open{d, first.count};
    } else if (d >= 0 && std::holds_alternative<Slice>(op)) {  // the first ones
      HEARTH_ASSIGN(const ValueId count, AddCount(to, first.count, made[d]));
      open = Open{d, count};
    }
  }
  if (!open) open = OfJoined(to, op, operands, made);
  if (open) return *open;
  return Error(StatusCode::kUnsupported,
               "it needs the number of rows of an operand, which depends on data (WHERE, UNIQUE, NonMaxSuppression): "
               "do this step after the model, on its output");
}

Made ReduceRows(NodeWriter& to, const Reduce& reduce, ValueId value, const TensorDesc& made) {
  const TensorDesc desc = to.desc(value);
  const bool is_mean = reduce.kind == ReduceKind::kMean;
  const size_t first_node = to.graph().nodes().size();
  Reduce of_all = reduce;
  if (is_mean) of_all.kind = ReduceKind::kSum;
  if (is_mean && desc.dtype != DType::kFloat32) return NeedsAllRows();
  HEARTH_ASSIGN(const ValueId masked, MaskRows(to, value, reduce.kind));
  HEARTH_ASSIGN(const ValueId result, to.AddAs(of_all, {masked}, made));
  CloseRows(to, first_node);
  if (!is_mean) return result;
  const Open open = to.marks().OpenOf(value);
  double others = 1.0;  // elements of a row in one mean
  for (int d = 0; d < desc.shape.rank(); ++d) {
    others *= d != open.dim && (reduce.axes_mask >> d & 1u) != 0 ? desc.shape[d] : 1;
  }
  const Made rows = to.Add(Cast{DType::kFloat32}, {open.count}, DType::kFloat32);
  const Made count = to.Add(BinaryKind::kMul, {rows, to.AddNumber(DType::kFloat32, others)});
  return to.AddReshape(to.Add(BinaryKind::kDiv, {result, count}), to.shape(result));
}

}  // namespace

bool IsSameDimension(const Shape& shape, int d, const Shape& made, int k) {
  return made[k] == shape[d] && CountBetween(made, 0, k) == CountBetween(shape, 0, d);
}

bool HaveRows(const NodeWriter& to, std::span<const ValueId> operands) {
  return std::ranges::any_of(operands, [&](ValueId value) { return to.marks().OpenOf(value).count != kNoValue; });
}

Status NeedsAllRows() {
  return Error(StatusCode::kUnsupported,
               "an operand has a number of rows that depends on data (WHERE, UNIQUE, NonMaxSuppression): do this step "
               "after the model, on its output");
}

Made AddOnRows(NodeWriter& to, Op op, std::vector<ValueId> operands, const TensorDesc& made) {
  const auto* reduce = std::get_if<Reduce>(&op);
  if (!HaveRows(to, operands)) return to.AddAs(std::move(op), std::move(operands), made);
  if (const Open open = to.marks().OpenOf(operands[0]);
      reduce != nullptr && open.count != kNoValue && (reduce->axes_mask >> open.dim & 1u) != 0) {
    return ReduceRows(to, *reduce, operands[0], made);
  }
  HEARTH_ASSIGN(const ValueId result, to.AddAs(op, operands, made));
  HEARTH_ASSIGN(const Open open, OpenOfResult(to, op, operands, to.shape(result)));
  if (open.count != kNoValue) return AddRows(to, result, open.count, open.dim);
  to.marks().closed.insert(result);
  return result;
}

void CloseRows(NodeWriter& to, size_t first_node) {
  for (size_t k = first_node; k < to.graph().nodes().size(); ++k) {
    const auto& outputs = to.graph().nodes()[k].outputs;
    to.marks().closed.insert(outputs.begin(), outputs.end());
  }
}

Status KeepRows(NodeWriter& to, size_t first_node) {
  for (size_t k = first_node; k < to.graph().nodes().size(); ++k) {
    if (!HaveRows(to, to.graph().nodes()[k].inputs)) continue;
    const Node node = to.graph().nodes()[k];  // a copy: nodes may be added
    if (HaveRows(to, node.outputs) || to.marks().closed.contains(node.outputs[0])) continue;
    HEARTH_ASSIGN(const Open open, OpenOfResult(to, node.op, node.inputs, to.shape(node.outputs[0])));
    // Readers say themselves what the file's own look-ups and slices leave. Others take as many rows as there can be.
    const Open before = to.marks().OpenOf(node.inputs[0]);
    const bool is_cut = std::holds_alternative<Slice>(node.op) && open.count != before.count;
    if (is_cut || open.count == kNoValue) return NeedsAllRows();
    for (const ValueId output : node.outputs) to.marks().open.emplace(output, open);
  }
  return Status::Ok();
}

Made AddRows(NodeWriter& to, ValueId value, ValueId count, int dim) {
  if (!to.IsConstant(count)) {
    to.marks().counts.emplace(count, to.shape(value)[dim]);
    const auto [mark, is_new] = to.marks().open.emplace(value, Open{dim, count});
    if (!is_new && mark->second != Open{dim, count}) return NeedsAllRows();
    if (!to.IsConstant(value) || to.IsEmpty(value)) return value;
    // What is made of a constant is one as well, without a mark. A mask is none.
    const Made masked = MaskRows(to, value, ReduceKind::kSum);
    to.marks().open.erase(value);
    HEARTH_ASSIGN(const ValueId made, masked);
    to.marks().open.emplace(made, Open{dim, count});
    return made;
  }
  HEARTH_ASSIGN(const std::vector<int64_t> rows, to.Integers(count));
  return to.AddSlice(value, dim, 0, static_cast<int32_t>(rows[0]));
}

Made MaskRows(NodeWriter& to, ValueId value, ReduceKind kind) {
  const Open open = to.marks().OpenOf(value);
  if (open.count == kNoValue) return value;
  const TensorDesc desc = to.desc(value);
  const bool is_real = desc.dtype == DType::kFloat32, is_long = desc.dtype == DType::kInt64;
  if (desc.quantization || (!is_real && !is_long && desc.dtype != DType::kInt32 && desc.dtype != DType::kBool)) {
    return Error(StatusCode::kUnsupported, "it reduces {}[{}], whose number of rows depends on data",
                 DTypeName(desc.dtype), desc.shape.ToString());
  }
  const double largest = is_real   ? std::numeric_limits<double>::infinity()
                         : is_long ? std::nextafter(0x1p63, 0.0)  // int64 has 1,023 larger ones
                                   : std::numeric_limits<int32_t>::max();
  const double least = is_real ? -largest : is_long ? -0x1p63 : std::numeric_limits<int32_t>::min();
  const double neutral = kind == ReduceKind::kMax                                ? least
                         : kind == ReduceKind::kMin                              ? largest
                         : kind == ReduceKind::kProd || kind == ReduceKind::kAll ? 1.0
                                                                                 : 0.0;
  return FillRows(to, value, open, to.AddNumber(desc.dtype, neutral));
}

Made FillRows(NodeWriter& to, ValueId value, const OpenDimension& open, const Made& number) {
  Shape along = to.shape(value);
  for (int d = 0; d < along.rank(); ++d) along[d] = d == open.dim ? along[d] : 1;
  const Made is_valid = to.Add(BinaryKind::kLess, {to.AddIndices(along), open.count});
  return to.AddAs(Select{}, {is_valid, value, number}, PlainType(to.desc(value).dtype));
}

Result<std::pair<ValueId, ValueId>> AddPlaces(NodeWriter& to, ValueId value) {
  HEARTH_ASSIGN(const auto made, to.Once(NodeWriter::MadeOnce::kPlaces, {value}, [&]() -> Expanded {
    const size_t first_node = to.graph().nodes().size();
    HEARTH_ASSIGN(const ValueId masked, MaskRows(to, value, ReduceKind::kSum));
    Expanded found = to.AddSeveral(Where{}, {masked}, {PlainType(DType::kInt64), PlainType(DType::kInt32)});
    CloseRows(to, first_node);
    return found;
  }));
  return std::pair(made[0], made[1]);
}

Made AddConcat(NodeWriter& to, const std::vector<ValueId>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  const auto is_open = [&](ValueId part) {
    const Open open = to.marks().OpenOf(part);
    return open.IsAt(axis);
  };
  if (std::ranges::none_of(parts, is_open)) return to.Add(Concat{.axis = axis}, parts);
  const size_t first_node = to.graph().nodes().size();
  Operands valid;
  std::vector<ValueId> open_counts;
  int32_t known_rows = 0;
  std::vector<int64_t> key;  // lists of equal numbers of rows share theirs
  for (const ValueId part : parts) {
    const Open open = to.marks().OpenOf(part);
    if (open.count != kNoValue && open.dim != axis) return NeedsAllRows();
    const Shape list{to.shape(part)[axis]};
    if (open.count == kNoValue) {
      known_rows += list[0];
    } else {
      open_counts.push_back(open.count);
    }
    valid.Append(open.count == kNoValue ? to.AddFilled(list, to.AddNumber(DType::kBool, 1.0))
                                        : to.Add(BinaryKind::kLess, {to.AddIndices(list), open.count}));
    key.insert(key.end(), {list[0], open.count});
  }
  HEARTH_ASSIGN(const ValueId valid_rows,
                to.Once(NodeWriter::MadeOnce::kValidRows, key, [&] { return to.Add(Concat{.axis = 0}, valid); }));
  HEARTH_ASSIGN(const auto found, AddPlaces(to, valid_rows));
  const Made places = to.AddReshape(to.AddCast(found.first, DType::kInt32), {to.shape(found.first)[0]});
  HEARTH_ASSIGN(const ValueId made, to.Add(Gather{axis, 0}, {to.Add(Concat{.axis = axis}, parts), places}));
  CloseRows(to, first_node);
  HEARTH_ASSIGN(const ValueId count,
                open_counts.size() == 1 ? AddSumOfCount(to, open_counts[0], known_rows) : Made(found.second));
  return AddRows(to, made, count, axis);
}

Made AddShapeOf(NodeWriter& to, ValueId value, const TensorDesc& made) {
  const Shape shape = to.shape(value);
  const std::vector<double> sizes(shape.dims().begin(), shape.dims().end());
  const Open open = to.marks().OpenOf(value);
  if (open.count == kNoValue) return to.AddConstant({made.dtype, {shape.rank()}, made.quantization}, sizes);
  Operands parts;
  if (open.dim > 0) parts.Append(to.AddConstant({open.dim}, made.dtype, {sizes.begin(), sizes.begin() + open.dim}));
  parts.Append(to.AddCast(open.count, made.dtype));
  if (const int rest = shape.rank() - open.dim - 1; rest > 0)
    parts.Append(to.AddConstant({rest}, made.dtype, {sizes.end() - rest, sizes.end()}));
  return parts.ids.size() == 1 ? Made(parts.ids[0]) : to.Add(Concat{.axis = 0}, parts);
}

Status AddRowOutputs(NodeWriter& to) {
  for (const ValueId output : std::vector<ValueId>(to.graph().outputs)) {
    const Open open = to.marks().OpenOf(output);
    if (open.count == kNoValue) continue;
    if (open.dim > 1) return NeedsAllRows();
    const auto is_output = [&](const std::string& name) {
      return std::ranges::any_of(to.graph().outputs, [&](ValueId own) { return to.graph().value(own).name == name; });
    };
    const std::string made = to.graph().value(output).name + (open.dim == 0 ? "_rows" : "_columns");
    const std::string name = FreeName(made, is_output);
    HEARTH_ASSIGN(const ValueId count, to.AddCopy(open.count, name));
    to.graph().outputs.push_back(count);
  }
  return Status::Ok();
}

}  // namespace hearth
