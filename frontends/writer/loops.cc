// Loops: written out turn by turn where they end after a known number of turns, or after few that data may end early.
// Otherwise a node with two graphs, which the host runs.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "frontends/writer/graph_writer.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

// After so many iterations the rest is counted if possible: writing them out must not be the way to find out that they
// don't fit.
constexpr int kTurnsBeforeCounting = 16;
// The most iterations that are written out if the end depends on data: devices compute all of them.
constexpr int kMostChosenTurns = 256;
// The same for a loop that cannot run on the host.
constexpr int kMostChosenTurnsWithoutAHost = 4096;

// What becomes of a loop that the host runs.
struct LoopParts {
  std::shared_ptr<LoopGraphs> graphs;
  std::vector<std::string> variables;  // loop-carried, after the loop's own values
  std::set<std::string> changed;       // those that the body assigns
  bool tests_in_body = false;          // a value after the loop's own says whether it continues
};

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

// Makes `made` the graph's outputs: each needs a node and an output of its own.
Status AddOutputs(GraphWriter& part, const std::vector<ValueId>& made) {
  const std::vector<int> producers = part.graph().Producers();
  std::map<ValueId, int> times;
  for (const ValueId value : made) ++times[value];
  for (const ValueId value : made) {
    const bool is_own = producers[static_cast<size_t>(value)] >= 0 && times[value] == 1;
    HEARTH_ASSIGN(const ValueId output, is_own ? Made(value) : part.AddCopy(value, part.graph().value(value).name));
    part.graph().outputs.push_back(output);
  }
  return Status::Ok();
}

class LoopWriter {
 public:
  LoopWriter(GraphWriter& to, const LoopToWrite& loop) : to_(to), loop_(loop) {}

  // Writes the iterations one after the other. If the end depends on data, they run until the condition is known to be
  // false, and the result is the state when the condition first was false.
  Expanded WriteOut(std::vector<ValueId> state, int& chosen_turns_left) {
    std::vector<ValueId> result = state;
    ValueId goes_on = kNoValue;  // whether it continues, if that depends on data
    const int64_t operators_left = to_.budget().inlined_operators_left;
    for (int turn = 0;; ++turn) {
      if (turn == kTurnsBeforeCounting && goes_on == kNoValue) {
        const int64_t operators = (operators_left - to_.budget().inlined_operators_left) / turn;
        if (!DoTurnsFit(state, operators).value_or(true)) return ReadingBudget::TooManyOperators();
      }
      HEARTH_ASSIGN(const std::vector<ValueId> condition,
                    to_.AddWhere(goes_on, [&] { return loop_.condition(to_, state); }));
      HEARTH_ASSIGN(const std::optional<bool> known, KnownTest(to_, condition));
      if (known && !*known) return result;
      if (!known) {
        HEARTH_ASSIGN(const ValueId now, to_.AddScalar(condition[0]));
        HEARTH_ASSIGN(goes_on, goes_on == kNoValue ? Made(now) : to_.Add(BinaryKind::kLogicalAnd, {goes_on, now}));
        HEARTH_TRY(to_.variables().BeginAll());
      }
      if (goes_on != kNoValue && --chosen_turns_left < 0) {
        return Error(StatusCode::kUnsupported,
                     "its end depends on data after many turns: bound it (maximum_iterations)");
      }
      Expanded made = to_.AddWhere(goes_on, [&] { return loop_.body(to_, state); });
      // No fault of the file if it is a turn that data never reach: index 64 among 64.
      if (!made.ok() && goes_on != kNoValue) return Error(StatusCode::kUnsupported, "{}", made.status().message());
      HEARTH_ASSIGN(state, std::move(made));
      if (state.size() != result.size()) {
        return Error(StatusCode::kMalformedInput, "its body makes {} tensors of {}", state.size(), result.size());
      }
      for (size_t k = 0; k < state.size(); ++k) {
        HEARTH_ASSIGN(result[k], goes_on == kNoValue ? Made(state[k]) : to_.AddChoice(goes_on, state[k], result[k]));
        if (result[k] != state[k] && HaveRows(to_, {&result[k], 1})) return NeedsAllRows();
      }
    }
  }

  // Adds the loop as one node.
  Expanded AddNode(const std::vector<ValueId>& values) {
    HEARTH_ASSIGN(const LoopParts parts, WriteParts(values));
    Node node{Loop{parts.graphs}, {}, {}, "", to_.origin().source_index};
    std::vector<ValueId> made = values;  // those that go around it stay what they are
    for (ValueId& value : made) {
      if (GoesAround(value)) continue;
      HEARTH_ASSIGN(value, AddResult(node, value, "WHILE"));
    }
    if (parts.tests_in_body) {
      HEARTH_ASSIGN(const ValueId goes_on, AddTest(to_, values));
      HEARTH_TRY(AddResult(node, goes_on, "WHILE").status());
    }
    std::vector<std::pair<std::string, ValueId>> assigned;
    for (const std::string& name : parts.variables) {
      HEARTH_ASSIGN(const ValueId before, to_.variables().Read(name));
      if (!to_.budget().copies.Charge(2 * name.size())) return CopyBudget::Exceeded("a loop");
      HEARTH_ASSIGN(const ValueId after, AddResult(node, before, name));
      if (parts.changed.contains(name)) assigned.emplace_back(name, after);
    }
    HEARTH_TRY(OpDefOf(node.op).infer(to_.graph(), node));
    to_.graph().AddNode(std::move(node));
    for (const auto& [name, value] : assigned) HEARTH_TRY(to_.variables().Assign(name, value));
    return made;
  }

 private:
  // Whether no turn changes it: a handle, or a value without elements.
  bool GoesAround(ValueId value) const { return to_.marks().IsHandle(value) || to_.IsEmpty(value); }

  static Result<std::optional<bool>> KnownTest(const GraphWriter& to, const std::vector<ValueId>& made) {
    if (made.size() == 1) return to.KnownCondition(made[0]);
    return Error(StatusCode::kMalformedInput, "its condition has {} outputs", made.size());
  }

  // Gives the loop's node an operand and its result.
  Made AddResult(Node& node, ValueId operand, std::string_view name) {
    Graph& graph = to_.graph();
    const TensorDesc desc = to_.desc(operand);
    if (!to_.budget().copies.ChargeScales(desc)) return CopyBudget::Exceeded("a loop");
    node.inputs.push_back(operand);
    return node.outputs.emplace_back(
        graph.AddValue({fmt::format("{}_{}", name, graph.values().size()), desc, std::nullopt}));
  }

  // Whether the loop continues with `values`, by its condition.
  Made AddTest(GraphWriter& to, std::span<const ValueId> values) {
    HEARTH_ASSIGN(const std::vector<ValueId> made, loop_.condition(to, values));
    HEARTH_TRY(KnownTest(to, made).status());
    return to.AddScalar(made[0]);
  }

  // What a part gets for `value`: an input of the part's graph, unless it goes around the loop.
  Made AddArgument(GraphWriter& part, ValueId value) {
    const TensorDesc& desc = to_.desc(value);
    if (!to_.budget().copies.ChargeScales(desc)) return CopyBudget::Exceeded("a loop");
    Graph& graph = part.graph();
    if (to_.IsEmpty(value)) {  // what it is after each turn too
      return graph.AddConstantValue(fmt::format("loop_constant_{}", graph.values().size()), desc, {});
    }
    if (to_.marks().IsHandle(value)) return part.variables().AddHandle(to_.marks().handles.at(value), desc);
    return part.AddInput(fmt::format("loop_{}", graph.inputs.size()), desc);
  }

  // The arguments for a part, which are its graph's inputs: the loop's values, then whether the loop continues if the
  // body decides that, then variables.
  Expanded BeginPart(GraphWriter& part, const std::vector<ValueId>& values, const LoopParts& parts) {
    std::vector<ValueId> arguments;
    for (const ValueId value : values) {
      HEARTH_ASSIGN(const ValueId argument, AddArgument(part, value));
      arguments.push_back(argument);
    }
    if (parts.tests_in_body) arguments.push_back(part.AddInput("goes_on", PlainType(DType::kBool)));
    for (const std::string& name : parts.variables) HEARTH_TRY(part.variables().BeginInLoop(name).status());
    return arguments;
  }

  // The results of condition or body. A condition that changes variables is evaluated at the end of the body.
  Expanded MakePart(GraphWriter& part, std::vector<ValueId> arguments, const LoopParts& parts, bool is_condition) {
    if (parts.tests_in_body) {
      const ValueId goes_on = arguments.back();
      arguments.pop_back();
      if (is_condition) return std::vector{goes_on};
    }
    if (is_condition) return loop_.condition(part, arguments);
    HEARTH_ASSIGN(std::vector<ValueId> made, loop_.body(part, arguments));
    if (!parts.tests_in_body) return made;
    HEARTH_ASSIGN(const ValueId goes_on, AddTest(part, made));
    made.push_back(goes_on);
    return made;
  }

  // Checks what a turn makes for `values`, and takes out of `made` what goes around the loop.
  Status CheckTurn(const GraphWriter& part, const std::vector<ValueId>& values, std::vector<ValueId>& made,
                   bool is_condition) const {
    const auto& outside = to_.marks().handles;
    const auto& inside = part.marks().handles;
    if (HaveRows(part, made)) {
      return Error(StatusCode::kUnsupported, "a value of the loop gets a number of rows that depends on data");
    }
    for (size_t k = 0; k < made.size(); ++k) {
      const auto handle = k < values.size() ? outside.find(values[k]) : outside.end();
      const bool goes_on = handle != outside.end() && !is_condition;
      const auto after = inside.find(made[k]);
      if (goes_on != (after != inside.end()) || (goes_on && after->second != handle->second)) {
        return Error(StatusCode::kUnsupported, "the loop uses another variable after a turn");
      }
      if (goes_on) made[k] = kNoValue;
      if (goes_on || is_condition || k >= values.size()) continue;
      HEARTH_TRY(CheckKeepsShape(to_.graph().value(values[k]), part.graph().value(made[k])));
      if (to_.IsEmpty(values[k])) made[k] = kNoValue;
    }
    std::erase(made, kNoValue);
    return Status::Ok();
  }

  // Writes condition or body: its results for `values`, then the contents of variables, are the graph's outputs.
  Status FillPart(GraphWriter& part, const std::vector<ValueId>& values, LoopParts& parts, bool is_condition) {
    HEARTH_ASSIGN(std::vector<ValueId> arguments, BeginPart(part, values, parts));
    HEARTH_ASSIGN(std::vector<ValueId> made, MakePart(part, std::move(arguments), parts, is_condition));
    HEARTH_TRY(CheckTurn(part, values, made, is_condition));
    for (const std::string& name : part.variables().loop_names()) {
      const Variables::Content variable = part.variables().ContentOf(name);
      if (variable.current != variable.begun) parts.changed.insert(name);
      if (!is_condition) made.push_back(variable.current);
    }
    HEARTH_TRY(AddOutputs(part, made));
    return part.graph().Validate();
  }

  // Condition or body as a separate graph, for values with these descriptions.
  Result<Graph> WritePart(const std::vector<ValueId>& values, LoopParts& parts, bool is_condition) {
    HEARTH_TRY(to_.budget().ChargeSteps(parts.variables.size()));
    GraphWriter part(to_.budget(), &to_);
    part.origin() = to_.origin();
    HEARTH_TRY(FillPart(part, values, parts, is_condition));
    parts.variables = part.variables().loop_names();
    if (const Status inferred = InferShapes(part.graph()); !inferred.ok()) {
      return Error(StatusCode::kUnsupported, "in its {}: {}", is_condition ? "condition" : "body", inferred.message());
    }
    return std::move(part.graph());
  }

  Result<LoopParts> WriteParts(const std::vector<ValueId>& values) {
    if (HaveRows(to_, values)) {
      return Error(StatusCode::kUnsupported, "a value of the loop has a number of rows that depends on data");
    }
    LoopParts parts{.graphs = std::make_shared<LoopGraphs>()};
    while (true) {  // until both take all variables that either reads
      const size_t known = parts.variables.size();
      parts.changed.clear();
      HEARTH_ASSIGN(parts.graphs->condition, WritePart(values, parts, true));
      if (!parts.changed.empty()) {  // the condition changed some
        parts.tests_in_body = true;
        continue;
      }
      HEARTH_ASSIGN(parts.graphs->body, WritePart(values, parts, false));
      if (parts.variables.size() == known) break;
    }
    if (!parts.graphs->condition.outputs.empty() && MakesConstant(parts.graphs->condition)) {
      return Error(StatusCode::kUnsupported, "its condition never becomes false");
    }
    return parts;
  }

  // Whether the iterations from `values` on may be written out, each as `operators`; nothing if that is unknown.
  std::optional<bool> DoTurnsFit(const std::vector<ValueId>& values, int64_t operators) {
    ReadingBudget& budget = to_.budget();
    const int64_t left = budget.inlined_operators_left, most = left / std::max<int64_t>(operators, 1) + 1;
    const int64_t may_be_read = std::min(left, budget.counting_left);
    budget.inlined_operators_left = may_be_read;
    const Result<LoopParts> parts = WriteParts(values);
    budget.counting_left -= may_be_read - budget.inlined_operators_left;
    budget.inlined_operators_left = left;  // the parts are not kept
    if (!parts.ok()) return std::nullopt;
    KnownValues known;
    for (const ValueId value : values) {
      if (GoesAround(value)) continue;
      known.emplace_back();
      if (!to_.IsConstant(value)) continue;
      Result<ReferenceTensor> numbers = ReferenceFromBytes(to_.desc(value), to_.graph().ReadConstant(value).bytes);
      if (numbers.ok()) known.back() = std::move(numbers).value();
    }
    known.resize(parts->graphs->condition.inputs.size());  // variables are unknown
    const std::optional<int64_t> turns = CountIterations(*parts->graphs, std::move(known), most, budget.counting_left);
    return turns ? std::optional(*turns < most) : std::nullopt;
  }

  GraphWriter& to_;
  const LoopToWrite& loop_;
};

}  // namespace

Expanded GraphWriter::AddLoop(LoopToWrite& loop, const std::vector<ValueId>& values) {
  return AddFresh([&] { return AddIterations(loop, values); });
}

Expanded GraphWriter::AddIterations(LoopToWrite& loop, const std::vector<ValueId>& values) {
  const size_t nodes = graph().nodes().size();
  HEARTH_ASSIGN(const Variables::Contents variables, variables_.Copy());
  const int64_t operators_left = budget().inlined_operators_left;
  const auto undo = [&] {
    TakeBack(nodes);
    variables_.Exchange(variables);
  };
  const auto is_refused = [](const Expanded& made) { return made.status().code() == StatusCode::kUnsupported; };
  LoopWriter writer(*this, loop);
  // An inner loop occurs in each iteration of the outer one. It is tried only once: 256 iterations would become 65,536.
  int chosen_turns_left = loop.is_too_long ? 0 : kMostChosenTurns;
  Expanded written = writer.WriteOut(values, chosen_turns_left);
  if (!is_refused(written)) return written;
  undo();
  // Operators that were undone no longer count, but only half of the budget comes back: that bounds the work.
  budget().inlined_operators_left = std::max(budget().inlined_operators_left, operators_left / 2);
  Expanded made = writer.AddNode(values);
  if (made.ok() && chosen_turns_left < 0) loop.is_too_long = true;
  if (!is_refused(made)) return made;
  undo();
  if (chosen_turns_left < 0) {
    chosen_turns_left = kMostChosenTurnsWithoutAHost;
    written = writer.WriteOut(values, chosen_turns_left);
    if (!is_refused(written)) return written;
  }
  if (written.status().message() == made.status().message()) return made;
  return Error(StatusCode::kUnsupported, "{}; as a loop on the CPU: {}", written.status().message(),
               made.status().message());
}

}  // namespace hearth
