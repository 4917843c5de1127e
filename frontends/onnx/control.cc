// If, Loop and Scan. What ends after a known number of turns is written out; a loop that data end is left to the
// writer.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/onnx/graph_reader.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostTurns = 100'000;
constexpr size_t kMostCopiedBytes = 1 << 12;

Result<const GraphProto*> GraphOf(const OpView& op, std::string_view name) {
  const AttributeProto* found = op.Find(name);
  if (found != nullptr && found->graph != nullptr) return found->graph.get();
  return Error(StatusCode::kMalformedInput, "its graph '{}' is absent", name);
}

Results ReadSubgraphIn(Scope& around, GraphWriter& to, const GraphProto& graph, std::span<const Tensor> inputs) {
  return GraphReader(around.reading(), to, around.sets(), &around, around.attributes()).ReadSubgraph(graph, inputs);
}

Expanded Values(std::span<const Tensor> tensors) {
  std::vector<ValueId> values;
  for (const Tensor& tensor : tensors) {
    if (tensor.list) return Error(StatusCode::kUnsupported, "a graph in it makes a sequence where a tensor belongs");
    values.push_back(tensor.plain);
  }
  return values;
}

// A subgraph of tensors.
Expanded ReadTensors(Scope& around, GraphWriter& to, const GraphProto& graph, const std::vector<ValueId>& inputs) {
  HEARTH_ASSIGN(const std::vector<Tensor> given, Plain(inputs));
  HEARTH_ASSIGN(const std::vector<Tensor> made, ReadSubgraphIn(around, to, graph, given));
  return Values(made);
}

// Tensors of one shape as slices of a new dimension.
Made Stacked(NodeWriter& to, const std::vector<ValueId>& parts, int axis, bool is_reverse) {
  if (parts.empty()) return Error(StatusCode::kUnsupported, "a loop without turns collects nothing");
  HEARTH_ASSIGN(const ValueId stacked, to.Add(Pack{axis}, parts));
  return is_reverse ? to.Add(Reverse{1u << axis}, {stacked}) : Made(stacked);
}

Status DataEndIt() {
  return Error(StatusCode::kUnsupported, "data end it, and it collects tensors: their number is not known");
}

// What a loop's body reads of the graphs around it. Values become values of the loop; constants stay constants, because
// they may decide shapes.
struct Captured {
  std::vector<std::string_view> names;
  std::vector<ValueId> values;
  std::vector<std::pair<std::string_view, ValueId>> constants;
};

// Whether a loop's graph can have this constant: from the file, or as a copy.
bool CanBeShared(const NodeWriter& to, ValueId value) {
  if (!to.IsConstant(value) || to.marks().IsHandle(value) || to.IsEmpty(value)) return false;
  const Constant& constant = to.graph().constant(*to.graph().value(value).constant);
  return constant.source || constant.bytes.size() <= kMostCopiedBytes;
}

Made SharedConstant(const GraphWriter& around, ValueId value, GraphWriter& part) {
  const Value& given = around.graph().value(value);
  const Constant& constant = around.graph().constant(*given.constant);
  const size_t copied = given.name.size() + (constant.source ? 0 : constant.bytes.size());
  if (!part.budget().copies.Charge(copied) || !part.budget().copies.ChargeScales(given.desc))
    return CopyBudget::Exceeded("a loop");
  ValueId made = kNoValue;
  if (constant.source) {
    made = part.graph().AddValue({given.name, given.desc, part.graph().AddConstant(constant)});
  } else {
    const std::span<const std::byte> bytes = around.graph().ConstantBytes(value);
    made = part.graph().AddConstantValue(given.name, given.desc, {bytes.begin(), bytes.end()});
  }
  if (around.marks().narrow_integers.contains(value)) part.marks().narrow_integers.insert(made);
  return made;
}

Result<Captured> CapturedBy(OpView& op, const GraphProto& body) {
  Reading& reading = op.scope().reading();
  const auto [known, is_new] = reading.outer_names.try_emplace(&body);
  if (is_new) known->second = OuterNames(body);
  HEARTH_TRY(reading.budget.ChargeSteps(known->second.size()));
  Captured captured;
  for (const std::string_view name : known->second) {
    HEARTH_ASSIGN(const ValueId value, op.scope().ValueOf(name));
    if (CanBeShared(op.to(), value)) {
      captured.constants.emplace_back(name, value);
      continue;
    }
    captured.names.push_back(name);
    captured.values.push_back(value);
  }
  return captured;
}

// A loop that collects tensors, or carries a sequence: its turns must be known.
Results WriteOut(OpView& op, GraphWriter& to, const GraphProto& body, int64_t turns, std::vector<Tensor> values) {
  const size_t carried = values.size();
  std::vector<std::vector<ValueId>> collected(body.outputs.size() - 1 - carried);
  bool goes_on = turns > 0;
  for (int64_t turn = 0; goes_on && turn < turns; ++turn) {
    HEARTH_ASSIGN(const ValueId number, to.AddConstant(Shape(), DType::kInt64, {static_cast<double>(turn)}));
    HEARTH_ASSIGN(const ValueId condition, to.AddConstant(Shape(), DType::kBool, {1.0}));
    std::vector<Tensor> inputs = {{.plain = number}, {.plain = condition}};
    inputs.insert(inputs.end(), values.begin(), values.end());
    HEARTH_ASSIGN(const std::vector<Tensor> made, ReadSubgraphIn(op.scope(), to, body, inputs));
    HEARTH_ASSIGN(const std::vector<ValueId> condition_made, Values(std::span(made).first(1)));
    HEARTH_ASSIGN(const std::vector<ValueId> parts, Values(std::span(made).subspan(1 + carried)));
    HEARTH_ASSIGN(const std::optional<bool> known, to.KnownCondition(condition_made[0]));
    if (!known) return DataEndIt();
    goes_on = *known;
    values.assign(made.begin() + 1, made.begin() + 1 + static_cast<ptrdiff_t>(carried));
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(parts[k]);
  }
  for (const auto& parts : collected) {
    HEARTH_ASSIGN(const ValueId stacked, Stacked(to, parts, 0, false));
    values.push_back({.plain = stacked});
  }
  return values;
}

// A loop that collects nothing, which the writer writes out or makes a node.
Results WriteLoop(OpView& op, GraphWriter& to, const GraphProto& body, std::vector<ValueId> values) {
  HEARTH_ASSIGN(const Captured captured, CapturedBy(op, body));
  const size_t carried = values.size();
  HEARTH_ASSIGN(const ValueId first, to.AddConstant(Shape(), DType::kInt64, {0.0}));
  const Made limit_given = op.Has(0) ? op.In(0) : to.AddConstant(Shape(), DType::kInt64, {9.0e15});
  const Made condition_given = op.Has(1) ? op.In(1) : to.AddConstant(Shape(), DType::kBool, {1.0});
  HEARTH_TRY(limit_given.status());
  HEARTH_TRY(condition_given.status());
  HEARTH_ASSIGN(const ValueId limit, to.AddScalar(*limit_given));
  HEARTH_ASSIGN(const ValueId goes_on, to.AddScalar(*condition_given));
  // The turn's number, the limit, the condition, the body's values, those of the graphs around it.
  std::vector<ValueId> all = {first, limit, goes_on};
  all.insert(all.end(), values.begin(), values.end());
  all.insert(all.end(), captured.values.begin(), captured.values.end());
  LoopToWrite loop;
  loop.condition = [](GraphWriter& part, std::span<const ValueId> now) -> Expanded {
    const Made is_below = part.Add(BinaryKind::kLess, {now[0], now[1]});
    HEARTH_ASSIGN(const ValueId made, part.Add(BinaryKind::kLogicalAnd, {is_below, now[2]}));
    return std::vector{made};
  };
  loop.body = [&](GraphWriter& part, std::span<const ValueId> now) -> Expanded {
    Scope around(op.scope().reading(), part, op.scope().sets(), nullptr, op.scope().attributes());
    for (size_t k = 0; k < captured.names.size(); ++k) {
      around.Bind(captured.names[k], {.plain = now[3 + carried + k]});
    }
    for (const auto& [name, value] : captured.constants) {
      HEARTH_ASSIGN(const ValueId own, &part == &to ? Made(value) : SharedConstant(to, value, part));
      around.Bind(name, {.plain = own});
    }
    std::vector<ValueId> inputs = {now[0], now[2]};
    inputs.insert(inputs.end(), now.begin() + 3, now.begin() + 3 + static_cast<ptrdiff_t>(carried));
    HEARTH_ASSIGN(const std::vector<ValueId> made, ReadTensors(around, part, body, inputs));
    HEARTH_ASSIGN(const ValueId next, part.Add(BinaryKind::kAdd, {now[0], AddScalarLike(part, now[0], 1.0)}));
    HEARTH_ASSIGN(const ValueId again, part.AddScalar(made[0]));
    std::vector<ValueId> after = {next, now[1], again};
    after.insert(after.end(), made.begin() + 1, made.end());
    after.insert(after.end(), now.begin() + 3 + static_cast<ptrdiff_t>(carried), now.end());
    return after;
  };
  HEARTH_ASSIGN(const std::vector<ValueId> made, to.AddLoop(loop, all));
  return Plain(std::vector(made.begin() + 3, made.begin() + 3 + static_cast<ptrdiff_t>(carried)));
}

Results ReadIf(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const GraphProto* then_graph, GraphOf(op, "then_branch"));
  HEARTH_ASSIGN(const GraphProto* else_graph, GraphOf(op, "else_branch"));
  HEARTH_ASSIGN(const ValueId condition, op.In(0));
  HEARTH_ASSIGN(const std::optional<bool> known, to.KnownCondition(condition));
  if (known) {  // sequences too
    std::vector<Tensor> taken;
    const auto branch = [&]() -> Expanded {
      HEARTH_ASSIGN(taken, ReadSubgraphIn(op.scope(), to, *known ? *then_graph : *else_graph, {}));
      return std::vector<ValueId>();
    };
    HEARTH_TRY(to.AddFresh(branch).status());
    return taken;
  }
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddBranches(
                    condition, [&] { return ReadTensors(op.scope(), to, *then_graph, {}); },
                    [&] { return ReadTensors(op.scope(), to, *else_graph, {}); }));
  return Plain(made);
}

Results ReadLoop(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const GraphProto* body, GraphOf(op, "body"));
  std::vector<Tensor> values;
  for (size_t i = 2; i < op.input_count(); ++i) {
    if (op.List(i) != nullptr) {
      values.push_back({.list = op.List(i)});
      continue;
    }
    HEARTH_ASSIGN(const ValueId value, op.In(i));
    values.push_back({.plain = value});
  }
  if (body->outputs.size() < 1 + values.size() || body->inputs.size() != 2 + values.size()) {
    return Error(StatusCode::kMalformedInput, "its body has {} inputs and {} outputs for {} values",
                 body->inputs.size(), body->outputs.size(), values.size());
  }
  const Expanded tensors = Values(values);
  if (body->outputs.size() == 1 + values.size() && tensors.ok()) return WriteLoop(op, to, *body, *tensors);
  bool begins = true;
  if (op.Has(1)) {
    HEARTH_ASSIGN(const ValueId condition, op.In(1));
    HEARTH_ASSIGN(const std::optional<bool> known, to.KnownCondition(condition));
    if (!known) return DataEndIt();
    begins = *known;
  }
  int64_t turns = kMostTurns;
  if (op.Has(0)) {
    if (!op.IsConstant(0)) return DataEndIt();
    HEARTH_ASSIGN(turns, op.Integer(0));
  }
  return WriteOut(op, to, *body, begins ? std::min(turns, kMostTurns) : 0, values);
}

Results ReadScan(OpView& op, GraphWriter& to) {
  if (op.opset() < 9) return Error(StatusCode::kUnsupported, "Scan before opset 9");
  HEARTH_ASSIGN(const GraphProto* body, GraphOf(op, "body"));
  const int64_t scanned = op.Int("num_scan_inputs", 0);
  const auto inputs = static_cast<int64_t>(op.input_count());
  if (scanned < 1 || scanned > inputs || static_cast<int64_t>(body->inputs.size()) != inputs ||
      static_cast<int64_t>(body->outputs.size()) < inputs - scanned) {
    return Error(StatusCode::kMalformedInput, "its body does not fit its {} operands", inputs);
  }
  const auto carried = static_cast<size_t>(inputs - scanned);
  const size_t collects = body->outputs.size() - carried;
  const std::vector<int64_t> axes = op.Ints("scan_input_axes", std::vector<int64_t>(static_cast<size_t>(scanned), 0));
  const std::vector<int64_t> backwards =
      op.Ints("scan_input_directions", std::vector<int64_t>(static_cast<size_t>(scanned), 0));
  const std::vector<int64_t> out_axes = op.Ints("scan_output_axes", std::vector<int64_t>(collects, 0));
  const std::vector<int64_t> out_backwards = op.Ints("scan_output_directions", std::vector<int64_t>(collects, 0));
  if (axes.size() != static_cast<size_t>(scanned) || backwards.size() != axes.size() || out_axes.size() != collects ||
      out_backwards.size() != collects) {
    return Error(StatusCode::kMalformedInput, "its axes and directions do not fit its operands");
  }
  std::vector<ValueId> values, sequences;
  std::vector<int> dims;
  for (size_t i = 0; i < op.input_count(); ++i) {
    HEARTH_ASSIGN(const ValueId value, op.In(i));
    (i < carried ? values : sequences).push_back(value);
    if (i < carried) continue;
    HEARTH_ASSIGN(const int axis, OpView::Axis(axes[i - carried], to.shape(value).rank()));
    dims.push_back(axis);
  }
  const int32_t turns = to.shape(sequences[0])[dims[0]];
  std::vector<std::vector<ValueId>> collected(collects);
  for (int32_t turn = 0; turn < turns; ++turn) {
    std::vector<ValueId> now = values;
    for (size_t k = 0; k < sequences.size(); ++k) {
      const Shape shape = to.shape(sequences[k]);
      if (shape[dims[k]] != turns) return Error(StatusCode::kMalformedInput, "sequences of several lengths");
      const Made slice = to.AddSlice(sequences[k], dims[k], backwards[k] != 0 ? turns - 1 - turn : turn, 1);
      HEARTH_ASSIGN(const ValueId element, to.AddReshape(slice, Without(shape, dims[k])));
      now.push_back(element);
    }
    HEARTH_ASSIGN(const std::vector<ValueId> made, ReadTensors(op.scope(), to, *body, now));
    values.assign(made.begin(), made.begin() + static_cast<ptrdiff_t>(carried));
    for (size_t k = 0; k < collects; ++k) collected[k].push_back(made[carried + k]);
  }
  for (size_t k = 0; k < collects; ++k) {
    const int rank = collected[k].empty() ? 1 : to.shape(collected[k][0]).rank() + 1;
    HEARTH_ASSIGN(const int axis, OpView::Axis(out_axes[k], rank));
    HEARTH_ASSIGN(const ValueId stacked, Stacked(to, collected[k], axis, out_backwards[k] != 0));
    values.push_back(stacked);
  }
  return Plain(values);
}

}  // namespace

constexpr OperatorRow kControlRows[] = {
    {"If", ReadIf},
    {"Loop", ReadLoop},
    {"Scan", ReadScan},
};
const OperatorList kControlOperators = kControlRows;

}  // namespace hearth::onnx
