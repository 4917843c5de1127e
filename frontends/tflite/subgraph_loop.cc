// WHILE as a loop on the host: condition and body are separate graphs.
#include <algorithm>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/loop_graphs.h"
#include "core/graph/op_def.h"
#include "frontends/tflite/loop_turns.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

// Hands the limits of the file, and which loops run on the host, from one reading to the other.
void HandOver(Reading& from, Reading& to) {
  to.copies = from.copies;
  to.made_bytes_left = from.made_bytes_left;
  to.state_bytes_left = from.state_bytes_left;
  to.inlined_operators_left = from.inlined_operators_left;
  to.counting_left = from.counting_left;
  to.steps_left = from.steps_left;
  to.searched_nodes_left = from.searched_nodes_left;
  to.loops_of_the_host = std::move(from.loops_of_the_host);
}

// A loop's node holds values of one shape; `before` is one of them, `after` what a turn makes of it.
Status CheckKeepsShape(const Value& before, const Value& after) {
  if (before.desc.shape == after.desc.shape) return Status::Ok();
  return Error(
      StatusCode::kUnsupported,
      "'{}' has the shape {} before the loop, and a turn makes '{}' of shape {} of it: data end the loop, so "
      "how large it gets is not known; let each turn write into a tensor of the largest size "
      "(tf.tensor_scatter_nd_update, jax.lax.dynamic_update_slice), or let a number that is known end the loop",
      before.name, before.desc.shape.ToString(), after.name, after.desc.shape.ToString());
}

// Whether what the graph makes is a constant.
bool MakesConstant(const Graph& graph) {
  const Node& last = graph.nodes()[static_cast<size_t>(graph.ProducerOf(graph.outputs[0]))];
  return std::ranges::all_of(last.inputs, [&](ValueId value) { return graph.IsConstant(value); });
}

}  // namespace

// What a part's subgraph gets for `value`: an input of the part's graph, unless it goes around the loop.
Result<ValueId> SubgraphReader::AddArgument(SubgraphReader& caller, ValueId value) {
  if (!caller.budget_.ChargeScales(graph_.value(value).desc)) return CopyBudget::Exceeded("a loop");
  const TensorDesc& desc = graph_.value(value).desc;
  Graph& graph = caller.graph_;
  if (HasNoElements(graph_, value)) {  // what it is after each turn too
    return graph.AddConstantValue(fmt::format("loop_constant_{}", graph.values().size()), desc, {});
  }
  if (const auto handle = reading_.handles.find(value); handle != reading_.handles.end()) {
    return caller.AddHandle(handle->second, desc);
  }
  graph.inputs.push_back(graph.AddValue({fmt::format("loop_{}", graph.inputs.size()), desc, std::nullopt}));
  return graph.inputs.back();
}

// The arguments for a part's subgraph, which are its graph's inputs: the loop's values, then whether the loop continues
// if the body decides that, then variables.
Result<std::vector<ValueId>> SubgraphReader::BeginPart(SubgraphReader& caller, const std::vector<ValueId>& values,
                                                       const LoopParts& parts) {
  Reading& part = caller.reading_;
  part.codes = reading_.codes;
  part.calls = reading_.calls;
  part.outer = &reading_;
  for (const auto& [name, desc] : reading_.own_variables) {
    if (!part.copies.ChargeScales(desc)) return CopyBudget::Exceeded("a loop");
    part.own_variables.emplace_hint(part.own_variables.end(), name, desc);
  }
  std::vector<ValueId> arguments;
  for (const ValueId value : values) {
    HEARTH_ASSIGN(const ValueId argument, AddArgument(caller, value));
    arguments.push_back(argument);
  }
  if (parts.tests_in_body) {
    arguments.push_back(part.graph.AddValue({"goes_on", {DType::kBool, Shape(), std::nullopt}, std::nullopt}));
    part.graph.inputs.push_back(arguments.back());
  }
  for (const std::string& name : parts.variables) HEARTH_TRY(caller.BeginInLoop(name).status());
  return arguments;
}

// Checks what a turn makes for `values`, and takes out of `made` what goes around the loop.
Status SubgraphReader::CheckTurn(const SubgraphReader& caller, const std::vector<ValueId>& values,
                                 std::vector<ValueId>& made, bool is_condition) const {
  for (size_t k = 0; k < made.size(); ++k) {
    if (caller.RowsOf(made[k]) != kNoValue) {
      return Error(StatusCode::kUnsupported, "a value of the loop gets a number of rows that depends on data");
    }
    const auto handle = k < values.size() ? reading_.handles.find(values[k]) : reading_.handles.end();
    const bool goes_on = handle != reading_.handles.end() && !is_condition;
    if (goes_on != caller.IsHandle(made[k]) || (goes_on && caller.reading_.handles.at(made[k]) != handle->second)) {
      return Error(StatusCode::kUnsupported, "the loop uses another variable after a turn");
    }
    if (goes_on) made[k] = kNoValue;
    if (goes_on || is_condition || k >= values.size()) continue;
    HEARTH_TRY(CheckKeepsShape(graph_.value(values[k]), caller.graph_.value(made[k])));
    if (HasNoElements(graph_, values[k])) made[k] = kNoValue;
  }
  std::erase(made, kNoValue);
  return Status::Ok();
}

// Makes `made` the graph's outputs: each needs a node and an output of its own.
Status SubgraphReader::AddOutputs(const std::vector<ValueId>& made) {
  const std::vector<int> producers = graph_.Producers();
  std::map<ValueId, int> times;
  for (const ValueId value : made) ++times[value];
  for (const ValueId value : made) {
    const bool is_own = producers[static_cast<size_t>(value)] >= 0 && times[value] == 1;
    ValueId output = value;
    if (!is_own) {
      HEARTH_ASSIGN(output, AddCopy(value, graph_.value(value).name));
    }
    graph_.outputs.push_back(output);
  }
  return Status::Ok();
}

// Makes the subgraph's results for `values`, and then the contents of variables, the outputs of the part's graph.
Status SubgraphReader::EndPart(SubgraphReader& caller, const std::vector<ValueId>& values, std::vector<ValueId> made,
                               LoopParts& parts, bool is_condition) {
  HEARTH_TRY(CheckTurn(caller, values, made, is_condition));
  Reading& part = caller.reading_;
  for (const std::string& name : part.loop_variables) {
    const Variable& variable = part.variables.at(name);
    if (variable.current != variable.begun) parts.changed.insert(name);
    if (!is_condition) made.push_back(variable.current);
  }
  HEARTH_TRY(caller.AddOutputs(made));
  return part.graph.Validate();
}

// Whether the loop continues with `values`, by its condition.
Result<ValueId> SubgraphReader::AddTest(int index, const wire::WhileOptions& options, std::span<const ValueId> values) {
  HEARTH_ASSIGN(const std::vector<ValueId> made, Call(index, options.cond_subgraph_index(), values));
  if (made.size() != 1) return Error(StatusCode::kMalformedInput, "its condition has {} outputs", made.size());
  HEARTH_TRY(KnownCondition(made[0]).status());
  return AddScalar(index, made[0]);
}

// The results of condition or body. A condition that changes variables is evaluated at the end of the body.
Result<std::vector<ValueId>> SubgraphReader::MakePart(int index, const wire::WhileOptions& options,
                                                      std::vector<ValueId> arguments, const LoopParts& parts,
                                                      bool is_condition) {
  if (parts.tests_in_body) {
    const ValueId goes_on = arguments.back();
    arguments.pop_back();
    if (is_condition) return std::vector{goes_on};
  }
  if (is_condition) return Call(index, options.cond_subgraph_index(), arguments);
  HEARTH_ASSIGN(std::vector<ValueId> made, Call(index, options.body_subgraph_index(), arguments));
  if (!parts.tests_in_body) return made;
  HEARTH_ASSIGN(const ValueId goes_on, AddTest(index, options, made));
  made.push_back(goes_on);
  return made;
}

Status SubgraphReader::FillPart(SubgraphReader& caller, int index, const wire::WhileOptions& options,
                                const std::vector<ValueId>& values, LoopParts& parts, bool is_condition) {
  HEARTH_ASSIGN(std::vector<ValueId> arguments, BeginPart(caller, values, parts));
  HEARTH_ASSIGN(std::vector<ValueId> made, caller.MakePart(index, options, std::move(arguments), parts, is_condition));
  return EndPart(caller, values, std::move(made), parts, is_condition);
}

// Condition or body as a separate graph, for values with these descriptions.
Result<Graph> SubgraphReader::ReadPart(int index, const wire::WhileOptions& options, const std::vector<ValueId>& values,
                                       LoopParts& parts, bool is_condition) {
  // Its caller prepares for all tensors, as each call does.
  HEARTH_TRY(reading_.ChargeSteps(static_cast<size_t>(tensors_.count()) + reading_.own_variables.size() +
                                  parts.variables.size()));
  Reading part(reading_.model, reading_.file, 0);
  SubgraphReader caller(part, subgraph_, nullptr);
  caller.source_index_ = SourceIndex(index);
  HandOver(reading_, part);
  const Status filled = FillPart(caller, index, options, values, parts, is_condition);
  HandOver(part, reading_);  // after an error too: what was spent stays spent
  HEARTH_TRY(filled);
  parts.variables = part.loop_variables;
  reading_.own_variables.merge(part.own_variables);
  if (const Status inferred = InferShapes(part.graph); !inferred.ok()) {
    return Error(StatusCode::kUnsupported, "subgraph {}, which it calls: {}",
                 is_condition ? options.cond_subgraph_index() : options.body_subgraph_index(), inferred.message());
  }
  return std::move(part.graph);
}

Result<SubgraphReader::LoopParts> SubgraphReader::ReadParts(int index, const wire::WhileOptions& options,
                                                            const std::vector<ValueId>& values) {
  if (std::ranges::any_of(values, [this](ValueId value) { return RowsOf(value) != kNoValue; })) {
    return Error(StatusCode::kUnsupported, "a value of the loop has a number of rows that depends on data");
  }
  LoopParts parts{.graphs = std::make_shared<LoopGraphs>()};
  while (true) {  // until both take all variables that either reads
    const size_t known = parts.variables.size();
    parts.changed.clear();
    HEARTH_ASSIGN(parts.graphs->condition, ReadPart(index, options, values, parts, true));
    if (!parts.changed.empty()) {  // the condition changed some
      parts.tests_in_body = true;
      continue;
    }
    HEARTH_ASSIGN(parts.graphs->body, ReadPart(index, options, values, parts, false));
    if (parts.variables.size() == known) break;
  }
  if (!parts.graphs->condition.outputs.empty() && MakesConstant(parts.graphs->condition)) {
    return Error(StatusCode::kUnsupported, "its condition never becomes false");
  }
  return parts;
}

Result<std::vector<ValueId>> SubgraphReader::AddLoop(int index, const wire::WhileOptions& options,
                                                     const std::vector<ValueId>& values) {
  HEARTH_ASSIGN(const LoopParts parts, ReadParts(index, options, values));
  Node node{Loop{parts.graphs}, {}, {}, "", SourceIndex(index)};
  std::vector<ValueId> made = values;  // those that go around it stay what they are
  for (ValueId& value : made) {
    if (GoesAroundLoop(value)) continue;
    if (!budget_.ChargeScales(graph_.value(value).desc)) return CopyBudget::Exceeded("a loop");
    node.inputs.push_back(value);
    const TensorDesc desc = graph_.value(value).desc;
    value = graph_.AddValue({fmt::format("WHILE_{}", graph_.values().size()), desc, std::nullopt});
    node.outputs.push_back(value);
  }
  if (parts.tests_in_body) {
    HEARTH_ASSIGN(const ValueId goes_on, AddTest(index, options, values));
    const TensorDesc desc = graph_.value(goes_on).desc;
    node.inputs.push_back(goes_on);
    node.outputs.push_back(graph_.AddValue({fmt::format("WHILE_{}", graph_.values().size()), desc, std::nullopt}));
  }
  std::vector<std::pair<std::string, ValueId>> assigned;
  for (const std::string& name : parts.variables) {
    HEARTH_ASSIGN(const ValueId before, CurrentValue(index, name));
    if (!budget_.Charge(2 * name.size()) || !budget_.ChargeScales(graph_.value(before).desc)) {
      return CopyBudget::Exceeded("a loop");
    }
    const TensorDesc desc = graph_.value(before).desc;
    node.inputs.push_back(before);
    node.outputs.push_back(graph_.AddValue({fmt::format("{}_{}", name, graph_.values().size()), desc, std::nullopt}));
    if (parts.changed.contains(name)) assigned.emplace_back(name, node.outputs.back());
  }
  HEARTH_TRY(OpDefOf(node.op).infer(graph_, node));
  graph_.AddNode(std::move(node));
  for (const auto& [name, value] : assigned) HEARTH_TRY(Assign(name, value));
  return made;
}

// Whether the iterations from `values` on may be written out, each as `operators`; nothing if that is unknown.
std::optional<bool> SubgraphReader::DoTurnsFit(int index, const wire::WhileOptions& options,
                                               const std::vector<ValueId>& values, int64_t operators) {
  const int64_t left = reading_.inlined_operators_left, most = left / std::max<int64_t>(operators, 1) + 1;
  const int64_t may_be_read = std::min(left, reading_.counting_left);
  reading_.inlined_operators_left = may_be_read;
  const Result<LoopParts> parts = ReadParts(index, options, values);
  reading_.counting_left -= may_be_read - reading_.inlined_operators_left;
  reading_.inlined_operators_left = left;  // the parts are not kept
  if (!parts.ok()) return std::nullopt;
  KnownValues known;
  for (const ValueId value : values) {
    if (GoesAroundLoop(value)) continue;
    known.emplace_back();
    if (!graph_.IsConstant(value)) continue;
    Result<ReferenceTensor> numbers = ReferenceFromBytes(graph_.value(value).desc, graph_.ConstantBytes(value));
    if (numbers.ok()) known.back() = std::move(numbers).value();
  }
  known.resize(parts->graphs->condition.inputs.size());  // variables are unknown
  const std::optional<int64_t> turns = CountTurns(*parts->graphs, std::move(known), most, reading_.counting_left);
  return turns ? std::optional(*turns < most) : std::nullopt;
}

}  // namespace hearth
