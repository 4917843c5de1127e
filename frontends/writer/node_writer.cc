#include "frontends/writer/node_writer.h"

#include <algorithm>
#include <numeric>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "frontends/writer/names.h"
#include "hearth/model.h"

namespace hearth {
namespace {

constexpr int64_t kMostIntegers = 1 << 22;
constexpr int64_t kMostIndices = 1 << 24;
// Shapes, paddings, axes, counts: inputs of more elements are data.
constexpr int64_t kMostShapeNumbers = 64;

}  // namespace

Shape Without(const Shape& shape, int at) {
  std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + at);
  return Shape::FromSpan(dims);
}

Shape WithDimension(const Shape& shape, int at, int32_t size) {
  std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + at, size);
  return Shape::FromSpan(dims);
}

Shape Exchange(int a, int b, int rank) {
  std::vector<int32_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return Shape::FromSpan(order);
}

Operands::Operands(std::initializer_list<Made> list) {
  for (const Made& made : list) Append(made);
  while (status.ok() && !ids.empty() && ids.back() == kNoValue) ids.pop_back();
}

void Operands::Append(const Made& made) {
  if (status.ok() && !made.ok()) status = made.status();
  ids.push_back(made.ok() ? *made : kNoValue);
}

Result<std::vector<int64_t>> NodeWriter::Integers(ValueId id) const {
  const std::string name = ShortName(graph_.value(id).name);
  if (!IsConstant(id)) return Error(StatusCode::kUnsupported, "'{}'{}", name, ComputedFrom(id));
  if ((desc(id).dtype != DType::kInt32 && desc(id).dtype != DType::kInt64) || desc(id).quantization ||
      shape(id).element_count() > kMostIntegers) {
    return Error(StatusCode::kMalformedInput, "'{}' is {}[{}]{} where integers belong", name, DTypeName(desc(id).dtype),
                 shape(id).ToString(), desc(id).quantization ? ", quantized," : "");
  }
  const std::byte* bytes = graph_.ConstantBytes(id).data();
  const bool are_wide = desc(id).dtype == DType::kInt64;
  std::vector<int64_t> numbers(static_cast<size_t>(shape(id).element_count()));
  for (size_t k = 0; k < numbers.size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    numbers[k] = are_wide ? LoadAt<int64_t>(bytes, at) : LoadAt<int32_t>(bytes, at);
  }
  return numbers;
}

Result<Shape> NodeWriter::ShapeIn(ValueId id, int64_t most_elements) const {
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, Integers(id));
  std::vector<int32_t> dims;
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || size > most_elements / elements || dims.size() >= Shape::kMaxRank) {
      return Error(StatusCode::kUnsupported, "a shape with the size {}, of rank {}", size, sizes.size());
    }
    elements *= std::max<int64_t>(size, 1);
    dims.push_back(static_cast<int32_t>(size));
  }
  return Shape::FromSpan(dims);
}

Result<double> NodeWriter::Number(ValueId id) const {
  const std::string name = ShortName(graph_.value(id).name);
  if (shape(id).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "'{}' of shape {} is given where one number is needed", name,
                 shape(id).ToString());
  }
  if (!IsConstant(id)) return Error(StatusCode::kUnsupported, "'{}'{}", name, ComputedFrom(id));
  const std::span<const std::byte> bytes = graph_.ConstantBytes(id);
  if (!AreKept(desc(id), bytes, Made64::kMoved)) {
    return Error(StatusCode::kUnsupported, "'{}' is a number of more digits than float64 has: use one below 2^53",
                 name);
  }
  HEARTH_ASSIGN(const ReferenceTensor number, ReferenceFromBytes(desc(id), bytes));
  return number.values[0];
}

void NodeWriter::TakeBack(size_t first_node) {
  std::set<ValueId> gone;
  for (size_t k = first_node; k < graph_.nodes().size(); ++k) {
    const std::vector<ValueId>& outputs = graph_.nodes()[k].outputs;
    gone.insert(outputs.begin(), outputs.end());
  }
  graph_.nodes().resize(first_node);
  indexed_nodes_ = std::min(indexed_nodes_, first_node);
  const auto is_gone = [&](ValueId value) { return gone.contains(value); };
  std::erase_if(made_once_, [&](const auto& made) { return std::ranges::any_of(made.second, is_gone); });
}

const Node* NodeWriter::ProducerOf(ValueId id) const {
  const std::vector<Node>& nodes = graph_.nodes();
  producers_.resize(graph_.values().size());
  for (; indexed_nodes_ < nodes.size(); ++indexed_nodes_) {
    for (const ValueId output : nodes[indexed_nodes_].outputs) producers_[static_cast<size_t>(output)] = indexed_nodes_;
  }
  const size_t maker = id == kNoValue ? nodes.size() : producers_[static_cast<size_t>(id)];
  return maker < nodes.size() && Contains(nodes[maker].outputs, id) ? &nodes[maker] : nullptr;
}

std::string NodeWriter::ComputedFrom(ValueId id) const {
  std::string text = " is computed at run time";
  // A large file may ask again and again: then where it comes from is left out.
  if (graph_.nodes().size() > budget_.searched_nodes_left) return text;
  shape_inputs_.merge(SmallInputsBehind(id));
  if (is_in_loop_ && Contains(graph_.inputs, id)) return " is a value of the loop, which no constant gives";
  if (Contains(graph_.inputs, id)) {
    const std::string name = ShortName(graph_.value(id).name);
    return fmt::format(" is the input '{}', which decides shapes: fix what it holds (--constant '{}=...')", name, name);
  }
  // Follows the first operands that are not constant backwards. Nodes come after those that make their operands, so
  // going through them once finds all.
  ValueId value = id;
  for (auto node = graph_.nodes().rbegin(); node != graph_.nodes().rend(); ++node) {
    if (!Contains(node->outputs, value)) continue;
    const auto found = std::ranges::find_if(
        node->inputs, [&](ValueId operand) { return operand != kNoValue && !graph_.IsConstant(operand); });
    if (found == node->inputs.end() || *found == value) break;
    value = *found;
  }
  return value == id ? text : fmt::format("{}, from '{}'", text, ShortName(graph_.value(value).name));
}

// What depends on more values than a shape may have numbers is data: files with very many inputs are read as quickly as
// others.
std::set<ValueId> NodeWriter::SmallInputsBehind(ValueId id) const {
  if (graph_.nodes().size() > budget_.searched_nodes_left) return {};
  budget_.searched_nodes_left -= graph_.nodes().size();
  std::set<ValueId> open = {id};
  for (auto node = graph_.nodes().rbegin(); node != graph_.nodes().rend(); ++node) {
    const auto is_open = [&](ValueId output) { return open.contains(output); };
    if (std::ranges::none_of(node->outputs, is_open)) continue;
    for (const ValueId output : node->outputs) open.erase(output);
    for (const ValueId operand : node->inputs) {
      if (operand != kNoValue && !graph_.IsConstant(operand)) open.insert(operand);
      if (open.size() > static_cast<size_t>(kMostShapeNumbers)) return {};
    }
  }
  const auto is_small_input = [&](ValueId value) {
    return Contains(graph_.inputs, value) && shape(value).element_count() <= kMostShapeNumbers;
  };
  return std::ranges::all_of(open, is_small_input) ? open : std::set<ValueId>();
}

Made NodeWriter::Add(Op op, const Operands& inputs, std::optional<DType> dtype) {
  HEARTH_TRY(inputs.status);
  const size_t first = std::holds_alternative<Select>(op) ? 1 : 0;
  if (inputs.ids.size() <= first || inputs.ids[first] == kNoValue) {
    return Error(StatusCode::kMalformedInput, "an operand is absent");
  }
  TensorDesc made = desc(inputs.ids[first]);
  if (dtype && *dtype != made.dtype) made = PlainType(*dtype);
  return AddAs(std::move(op), inputs, std::move(made));
}

Made NodeWriter::Add(BinaryKind kind, const Two& inputs) {
  return Add(Binary{.kind = kind}, {inputs.a, inputs.b});
}
Made NodeWriter::Add(UnaryKind kind, const Made& input) {
  return Add(Unary{.kind = kind}, {input});
}

Made NodeWriter::AddAs(Op op, Operands inputs, TensorDesc desc) {
  HEARTH_ASSIGN(const std::vector<ValueId> made, AddSeveral(std::move(op), std::move(inputs), {std::move(desc)}));
  return made[0];
}

Expanded NodeWriter::AddSeveral(Op op, Operands inputs, std::vector<TensorDesc> results) {
  HEARTH_TRY(inputs.status);
  Node node{std::move(op), std::move(inputs.ids), {}, "", origin_.source_index};
  for (TensorDesc& desc : results) {
    if (!budget_.copies.ChargeScales(desc)) return CopyBudget::Exceeded("a result");
    desc.shape = Shape();
    std::string name = fmt::format("{}_{}", origin_.name, graph_.values().size());
    node.outputs.push_back(graph_.AddValue({std::move(name), std::move(desc), std::nullopt}));
  }
  DropEmptyOperands(graph_, node);
  HEARTH_TRY(OpDefOf(node.op).infer(graph_, node));
  std::vector<ValueId> made = node.outputs;
  Place(std::move(node), false);
  return made;
}

Expanded NodeWriter::AddNamed(Op op, std::vector<ValueId> inputs, std::vector<NamedResult> results) {
  Node node{std::move(op), std::move(inputs), {}, "", origin_.source_index};
  DropEmptyOperands(graph_, node);
  std::vector<Shape> hints;
  bool is_kept = false;
  for (NamedResult& result : results) {
    hints.push_back(std::exchange(result.desc.shape, Shape()));
    is_kept = is_kept || result.is_kept;
    node.outputs.push_back(graph_.AddValue({std::move(result.name), std::move(result.desc), std::nullopt}));
  }
  std::vector<ValueId> made = node.outputs;
  const Status inferred = OpDefOf(node.op).infer(graph_, node);
  if (inferred.ok()) {
    Place(std::move(node), is_kept);
    return made;
  }
  if (shapes_are_required_ && inferred.code() != StatusCode::kUnsupported) return inferred;
  for (size_t k = 0; k < made.size(); ++k) {
    graph_.value(made[k]).desc.shape = hints[k];
    if (hints[k].rank() == 0) marks_.unknown_shapes.insert(made[k]);
  }
  graph_.AddNode(std::move(node));
  return made;
}

ValueId NodeWriter::AddInput(std::string name, TensorDesc desc) {
  return graph_.inputs.emplace_back(graph_.AddValue({std::move(name), std::move(desc), std::nullopt}));
}

Made NodeWriter::AddFixedInput(std::string name, TensorDesc desc, const FixedInput& fixed) {
  const std::optional<DType> dtype = DTypeFromName(fixed.dtype);
  const TensorDesc given{dtype.value_or(desc.dtype), desc.shape, std::nullopt};
  const TensorDesc stored{desc.dtype, desc.shape, std::nullopt};
  if (!dtype || fixed.bytes.size() != given.size_bytes()) {
    return Error(StatusCode::kInvalidArgument,
                 "{} bytes of {} were given for input '{}', {}[{}], which has {} elements", fixed.bytes.size(),
                 fixed.dtype, ShortName(name), DTypeName(desc.dtype), desc.shape.ToString(),
                 desc.shape.element_count());
  }
  std::vector<std::byte> bytes = fixed.bytes;
  if (*dtype != desc.dtype) {
    HEARTH_ASSIGN(const ReferenceTensor numbers, ReferenceFromBytes(given, bytes));
    bytes.assign(stored.size_bytes(), std::byte{0});
    HEARTH_TRY(ReferenceToBytes(numbers, stored, bytes));
    HEARTH_ASSIGN(const ReferenceTensor kept, ReferenceFromBytes(stored, bytes));
    if (!IsFloat(desc.dtype) && kept.values != numbers.values) {
      return Error(StatusCode::kInvalidArgument, "input '{}' is {}, which does not hold all numbers that were given",
                   ShortName(name), DTypeName(desc.dtype));
    }
  }
  return graph_.AddConstantValue(std::move(name), std::move(desc), std::move(bytes));
}

Made NodeWriter::AddCopy(ValueId value, std::string name) {
  if (!budget_.copies.Charge(name.size()) || !budget_.copies.ChargeScales(desc(value))) {
    return CopyBudget::Exceeded("an output");
  }
  const ValueId copy = graph_.AddValue({std::move(name), desc(value), std::nullopt});
  graph_.AddNode({.op = Unary{.kind = UnaryKind::kCopy}, .inputs = {value}, .outputs = {copy}});
  return copy;
}

Made NodeWriter::AddCast(const Made& value, DType dtype) {
  if (!value.ok() || desc(*value).dtype == dtype) return value;
  return Add(Cast{dtype}, {value}, dtype);
}

Made NodeWriter::AddReshape(const Made& value, Shape wanted) {
  if (!value.ok() || shape(*value) == wanted) return value;
  const TensorDesc& from = desc(*value);
  const bool has_one_grid = !from.quantization || from.quantization->scales.size() == 1;
  if (!IsConstant(*value) || !has_one_grid || from.shape.element_count() != wanted.element_count())
    return Add(Reshape{wanted}, {value});
  return AddSameBytes(*value, {from.dtype, wanted, from.quantization});
}

Made NodeWriter::AddTranspose(const Made& value, Shape permutation) {
  if (!value.ok() || std::is_sorted(permutation.dims().begin(), permutation.dims().end())) return value;
  return Add(Transpose{permutation}, {value});
}

Made NodeWriter::AddSlice(const Made& value, int axis, int32_t first, int32_t count, int32_t stride) {
  if (!value.ok() || (first == 0 && stride == 1 && count == shape(*value)[axis])) return value;
  Slice slice{shape(*value), shape(*value), shape(*value), {}};
  for (int d = 0; d < slice.size.rank(); ++d) {
    slice.begin[d] = d == axis ? first : 0;
    slice.strides[d] = d == axis ? stride : 1;
  }
  slice.size[axis] = count;
  slice.shape = slice.size;
  return Add(slice, {value});
}

Made NodeWriter::AddPad(const Made& value, int axis, int32_t before, int32_t after, double number) {
  if (!value.ok() || (before == 0 && after == 0)) return value;
  Pad pad{shape(*value), shape(*value), number};
  for (int d = 0; d < pad.before.rank(); ++d) pad.before[d] = pad.after[d] = 0;
  pad.before[axis] = before;
  pad.after[axis] = after;
  return Add(pad, {value});
}

Made NodeWriter::AddConstant(const TensorDesc& desc, const std::vector<double>& numbers) {
  HEARTH_TRY(budget_.CheckRoom(desc));
  budget_.made_bytes_left -= desc.size_bytes();
  std::vector<std::byte> bytes(desc.size_bytes());
  HEARTH_TRY(ReferenceToBytes({desc.shape, numbers}, desc, bytes));
  return graph_.AddConstantValue(fmt::format("made_{}", graph_.values().size()), desc, std::move(bytes));
}

Made NodeWriter::AddBytes(const TensorDesc& desc, std::span<const std::byte> bytes) {
  HEARTH_TRY(budget_.CheckRoom(desc));
  budget_.made_bytes_left -= desc.size_bytes();
  return graph_.AddConstantValue(fmt::format("made_{}", graph_.values().size()), desc, {bytes.begin(), bytes.end()});
}

Made NodeWriter::AddIndices(Shape shape) {
  const int64_t count = shape.element_count();
  HEARTH_TRY(budget_.CheckRoom(shape, DType::kInt32));
  if (count > kMostIndices) return Error(StatusCode::kUnsupported, "{} indices", count);
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return AddIntegers(shape, numbers);
}

Made NodeWriter::AddFilled(Shape wanted, const Made& number) {
  HEARTH_TRY(number.status());
  if (shape(*number).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "{} numbers where one belongs", shape(*number).element_count());
  }
  return Add(BroadcastTo{wanted}, {AddReshape(number, Shape())});
}

namespace {

// Halves that stay in the file: floats of them are made for whoever reads those.
std::optional<Constant> FloatsOfHalves(const Graph& graph, ValueId id) {
  Constant halves = graph.constant(*graph.value(id).constant);
  const TensorDesc& desc = graph.value(id).desc;
  const bool are_halves = desc.dtype == DType::kFloat16 && !desc.quantization;
  if (!are_halves || !halves.source || (halves.elements != nullptr && !halves.elements->is_only_view()))
    return std::nullopt;
  StoredForm form{{0, {{desc.shape.element_count(), 1}}}, {}, FileType::kFloat16};
  if (halves.elements != nullptr) form.view = halves.elements->form().view;
  if (!CheckForm(form, BitsOf(DType::kFloat32), halves.bytes.size()).ok()) return std::nullopt;
  halves.elements = std::make_shared<const StoredElements>(std::move(form), BitsOf(DType::kFloat32));
  return halves;
}

}  // namespace

Made NodeWriter::AddWidened(ValueId constant) {
  return Once(MadeOnce::kWidened, {constant}, [&]() -> Made {
    const std::string& name = graph_.value(constant).name;
    if (!budget_.ChargeMade(4 * static_cast<size_t>(shape(constant).element_count()))) {
      return CopyBudget::Exceeded(fmt::format("'{}'", ShortName(name)));
    }
    if (const auto in_file = FloatsOfHalves(graph_, constant))
      return graph_.AddValue({name, {DType::kFloat32, shape(constant), {}}, graph_.AddConstant(*in_file)});
    HEARTH_ASSIGN(const std::vector<float> floats, ConstantAsFloats(graph_, constant));
    return graph_.AddFloatConstant(name, shape(constant), floats);
  });
}

Made NodeWriter::AddSymmetric(ValueId constant) {
  return Once(MadeOnce::kSymmetric, {constant}, [&] {
    TensorDesc symmetric = desc(constant);
    symmetric.dtype = DType::kInt8;
    std::ranges::fill(symmetric.quantization->zero_points, 0);
    return AddSameBytes(constant, std::move(symmetric));
  });
}

Made NodeWriter::AddSameBytes(ValueId constant, TensorDesc desc) {
  Value same = graph_.value(constant);
  if (!budget_.copies.Charge(same.name.size()) || !budget_.copies.ChargeScales(desc)) {
    return CopyBudget::Exceeded(fmt::format("'{}'", ShortName(same.name)));
  }
  same.desc = std::move(desc);
  return graph_.AddValue(std::move(same));
}

}  // namespace hearth
