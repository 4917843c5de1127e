// Operators that call other subgraphs: CALL, STABLEHLO_COMPOSITE, IF, STABLEHLO_CASE, WHILE. Called subgraphs are read
// into the one graph, a loop's body once per iteration. So every device runs them, and constants such as counters and
// indices are folded.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

Status NamesNoSubgraph() {
  return Error(StatusCode::kUnsupported, "it names no subgraph to call");
}

}  // namespace

Expanded ExpandCall(OperatorView& op, GraphWriter& to) {
  const auto* options = op.op().builtin_options_as_CallOptions();
  if (options == nullptr) return NamesNoSubgraph();
  const auto subgraph = static_cast<int32_t>(std::min<uint32_t>(options->subgraph(), 1u << 30));
  return CallSubgraph(op.reading(), to, subgraph, op.operands());
}

// The subgraph of a composite defines what it computes. Its name is only a hint.
Expanded ExpandComposite(OperatorView& op, GraphWriter& to) {
  const auto* options = op.op().builtin_options_2_as_StableHLOCompositeOptions();
  if (options == nullptr) return NamesNoSubgraph();
  return CallSubgraph(op.reading(), to, options->decomposition_subgraph_index(), op.operands());
}

// (condition, operands...)
Expanded ExpandIf(OperatorView& op, GraphWriter& to) {
  const auto* options = op.op().builtin_options_as_IfOptions();
  if (options == nullptr) return NamesNoSubgraph();
  const auto operands = std::span(op.operands()).subspan(1);
  const auto branch = [&](int32_t subgraph) {
    return [&, subgraph] { return CallSubgraph(op.reading(), to, subgraph, operands); };
  };
  return to.AddBranches(op.operand(0), branch(options->then_subgraph_index()), branch(options->else_subgraph_index()));
}

// (number, operands...)
Expanded ExpandCase(OperatorView& op, GraphWriter& to) {
  const auto* options = op.op().builtin_options_2_as_StablehloCaseOptions();
  const auto* branches = options == nullptr ? nullptr : options->branch_subgraph_indices();
  if (branches == nullptr || branches->size() == 0) return NamesNoSubgraph();
  const auto operands = std::span(op.operands()).subspan(1);
  return to.AddBranches(op.operand(0), branches->size(), [&](uint32_t number) {
    return CallSubgraph(op.reading(), to, branches->Get(number), operands);
  });
}

Expanded ExpandWhile(OperatorView& op, GraphWriter& to) {
  const auto* options = op.op().builtin_options_as_WhileOptions();
  if (options == nullptr) return NamesNoSubgraph();
  Reading& reading = op.reading();
  const auto part = [&reading](int32_t subgraph) {
    return [&reading, subgraph](GraphWriter& to, std::span<const ValueId> values) {
      return CallSubgraph(reading, to, subgraph, values);
    };
  };
  LoopToWrite loop{part(options->cond_subgraph_index()), part(options->body_subgraph_index()),
                   reading.long_loops.contains(&op.op())};
  Expanded made = to.AddLoop(loop, op.operands());
  if (loop.is_too_long) reading.long_loops.insert(&op.op());
  return made;
}

}  // namespace hearth
