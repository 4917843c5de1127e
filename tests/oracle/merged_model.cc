#include "tests/oracle/merged_model.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/model/model_data.h"

namespace hearth::oracle {
namespace {

class GraphAppender {
 public:
  GraphAppender(const Graph& from, int32_t position, Graph& to) : from_(from), position_(position), to_(to) {}

  void Append() {
    for (const Value& value : from_.values()) AppendValue(value);
    for (Node node : from_.nodes()) {
      node.inputs = Mapped(node.inputs);
      node.outputs = Mapped(node.outputs);
      node.source_index = position_;
      node.name = fmt::format("{}/{}", position_, node.name);
      to_.AddNode(std::move(node));
    }
    for (ValueId id : Mapped(from_.inputs)) to_.inputs.push_back(id);
    for (ValueId id : Mapped(from_.outputs)) to_.outputs.push_back(id);
    for (const StatePair& state : from_.states) to_.states.push_back({ids_[state.read], ids_[state.written]});
  }

 private:
  void AppendValue(Value value) {
    const auto number = static_cast<ValueId>(ids_.size());
    value.name = fmt::format("{}/{}", position_, value.name);
    if (value.constant) {
      const auto [known, is_new] = constants_.try_emplace(*value.constant, 0);
      if (is_new) known->second = to_.BorrowConstant(from_.ConstantBytes(number), std::nullopt);
      value.constant = known->second;
    }
    ids_.push_back(to_.AddValue(std::move(value)));
  }

  std::vector<ValueId> Mapped(std::vector<ValueId> ids) const {
    for (ValueId& id : ids) id = id == kNoValue ? kNoValue : ids_[id];
    return ids;
  }

  const Graph& from_;
  int32_t position_;
  Graph& to_;
  std::vector<ValueId> ids_;  // by id in from_
  std::map<ConstantId, ConstantId> constants_;
};

}  // namespace

Model MergeGraphs(std::span<const Graph* const> graphs) {
  auto data = std::make_unique<ModelData>();
  data->path = "merged";
  for (size_t k = 0; k < graphs.size(); ++k) GraphAppender(*graphs[k], static_cast<int32_t>(k), data->graph).Append();
  data->graph.source_operator_count = static_cast<int32_t>(data->graph.nodes().size());
  DescribeModel(*data);
  return Model(std::move(data));
}

}  // namespace hearth::oracle
