// WHILE as a loop that the host runs: its condition and body become graphs of their own.
#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/loop.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

// What limits a whole file goes from the one reading to the other.
void HandOver(Reading& from, Reading& to) {
  to.copies = from.copies;
  to.made_bytes_left = from.made_bytes_left;
  to.state_bytes_left = from.state_bytes_left;
  to.inlined_operators_left = from.inlined_operators_left;
}

// Whether what the graph makes is a constant.
bool MakesConstant(const Graph& graph) {
  const Node& last = graph.nodes()[static_cast<size_t>(graph.ProducerOf(graph.outputs[0]))];
  return std::ranges::all_of(last.inputs, [&](ValueId value) { return graph.IsConstant(value); });
}

}  // namespace

// Subgraph `number`, which takes values like these, as a graph of its own.
Result<Graph> SubgraphReader::ReadPart(int index, int32_t number, const std::vector<ValueId>& values) {
  Reading part(reading_.model, reading_.file, 0);
  HandOver(reading_, part);
  part.codes = reading_.codes;
  part.calls = reading_.calls;
  part.is_of_loop = true;
  for (const ValueId value : values) {
    const ValueId input =
        part.graph.AddValue({fmt::format("loop_{}", part.graph.inputs.size()), graph_.value(value).desc, std::nullopt});
    part.graph.inputs.push_back(input);
  }
  SubgraphReader caller(part, subgraph_, nullptr);
  caller.source_index_ = SourceIndex(index);
  const Result<std::vector<ValueId>> made = caller.Call(index, number, std::vector<ValueId>(part.graph.inputs));
  HandOver(part, reading_);
  HEARTH_TRY(made.status());
  if (std::ranges::any_of(*made, [&](ValueId value) { return caller.RowsOf(value) != kNoValue; })) {
    return Error(StatusCode::kUnsupported, "what goes around gets a number of rows that depends on data");
  }
  for (const ValueId value : *made) {
    const bool is_own = part.graph.ProducerOf(value) >= 0 && std::ranges::count(*made, value) == 1;
    part.graph.outputs.push_back(is_own ? value : caller.AddCopy(value));
  }
  HEARTH_TRY(part.graph.Validate());
  if (const Status inferred = InferShapes(part.graph); !inferred.ok()) {
    return Error(StatusCode::kUnsupported, "subgraph {}, which it calls: {}", number, inferred.message());
  }
  return std::move(part.graph);
}

Result<std::vector<ValueId>> SubgraphReader::AddLoop(int index, const wire::WhileOptions& options,
                                                     const std::vector<ValueId>& values) {
  if (std::ranges::any_of(values, [this](ValueId value) { return IsHandle(value); })) {
    return Error(StatusCode::kUnsupported, "variables change in it");
  }
  if (std::ranges::any_of(values, [this](ValueId value) { return RowsOf(value) != kNoValue; })) {
    return Error(StatusCode::kUnsupported, "what goes around has a number of rows that depends on data");
  }
  auto graphs = std::make_shared<LoopGraphs>();
  HEARTH_ASSIGN(graphs->condition, ReadPart(index, options.cond_subgraph_index(), values));
  if (!graphs->condition.outputs.empty() && MakesConstant(graphs->condition)) {
    return Error(StatusCode::kUnsupported, "its condition never becomes false");
  }
  HEARTH_ASSIGN(graphs->body, ReadPart(index, options.body_subgraph_index(), values));
  Node node{Loop{std::move(graphs)}, values, {}, "", SourceIndex(index)};
  for (const ValueId value : values) {
    const TensorDesc desc = graph_.value(value).desc;
    node.outputs.push_back(graph_.AddValue({fmt::format("WHILE_{}", graph_.values().size()), desc, std::nullopt}));
  }
  HEARTH_TRY(OpDefOf(node.op).infer(graph_, node));
  std::vector<ValueId> made = node.outputs;
  graph_.AddNode(std::move(node));
  return made;
}

}  // namespace hearth
