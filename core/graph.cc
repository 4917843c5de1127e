#include "core/graph.h"

#include <algorithm>
#include <cstring>

#include "core/element.h"
#include "core/error.h"
#include "core/op_text.h"

namespace hearth {
namespace {

template <typename T>
bool Contains(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// What Validate knows while it walks over a graph in order.
class GraphChecker {
 public:
  explicit GraphChecker(const Graph& graph, size_t constant_count)
      : graph_(graph), constant_count_(constant_count), available_(graph.values().size(), false) {}

  Status Run() {
    for (size_t id = 0; id < graph_.values().size(); ++id) HEARTH_TRY(CheckValue(static_cast<ValueId>(id)));
    for (ValueId id : graph_.inputs) HEARTH_TRY(CheckGraphInput(id));
    for (const StatePair& state : graph_.states) HEARTH_TRY(CheckStateRead(state.read));
    for (const Node& node : graph_.nodes()) HEARTH_TRY(CheckNode(node));
    for (ValueId id : graph_.outputs) {
      if (!InRange(id)) return Error(StatusCode::kMalformedInput, "graph output %{} does not exist", id);
      if (!available_[id]) return Error(StatusCode::kMalformedInput, "nothing makes graph output {}", Label(id));
      if (graph_.IsState(id)) {
        return Error(StatusCode::kMalformedInput, "graph output {} is state, which the run changes: copy it",
                     Label(id));
      }
    }
    for (const StatePair& state : graph_.states) HEARTH_TRY(CheckStateWritten(state.written));
    return Status::Ok();
  }

 private:
  bool InRange(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.values().size(); }
  std::string Label(ValueId id) const { return fmt::format("%{} {}", id, Quoted(graph_.value(id).name)); }

  Status CheckValue(ValueId id) {
    const Value& value = graph_.value(id);
    const std::optional<int64_t> count = CheckedElementCount(value.desc.shape);
    if (!count) {
      return Error(StatusCode::kMalformedInput, "value {} has the impossible shape {}", Label(id),
                   value.desc.shape.ToString());
    }
    if (!value.constant) return Status::Ok();
    if (*value.constant < 0 || static_cast<size_t>(*value.constant) >= constant_count_) {
      return Error(StatusCode::kMalformedInput, "value {} refers to constant {}, which does not exist", Label(id),
                   *value.constant);
    }
    const size_t size_bytes = graph_.constant(*value.constant).bytes.size();
    if (size_bytes != value.desc.size_bytes()) {
      return Error(StatusCode::kMalformedInput, "constant {} has {} bytes, {}[{}] needs {}", Label(id), size_bytes,
                   DTypeName(value.desc.dtype), value.desc.shape.ToString(), value.desc.size_bytes());
    }
    available_[id] = true;
    return Status::Ok();
  }

  Status CheckGraphInput(ValueId id) {
    if (!InRange(id)) return Error(StatusCode::kMalformedInput, "graph input %{} does not exist", id);
    if (available_[id]) {
      return Error(StatusCode::kMalformedInput, "graph input {} is {}", Label(id),
                   graph_.IsConstant(id) ? "a constant" : "listed twice");
    }
    available_[id] = true;
    return Status::Ok();
  }

  Status CheckStateRead(ValueId id) {
    if (!InRange(id)) return Error(StatusCode::kMalformedInput, "state %{} does not exist", id);
    if (available_[id]) {
      return Error(StatusCode::kMalformedInput, "state {} is a constant, an input or listed twice", Label(id));
    }
    available_[id] = true;
    return Status::Ok();
  }

  Status CheckStateWritten(ValueId id) const {
    if (!InRange(id)) return Error(StatusCode::kMalformedInput, "a state's next content %{} does not exist", id);
    if (graph_.ProducerOf(id) >= 0) return Status::Ok();
    return Error(StatusCode::kMalformedInput, "no node makes {}, the next content of a state", Label(id));
  }

  Status CheckNode(const Node& node) {
    for (ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (!InRange(id)) {
        return Error(StatusCode::kMalformedInput, "{} reads %{}, which does not exist", NodeLabel(node), id);
      }
      if (!available_[id]) {
        return Error(StatusCode::kMalformedInput, "{} reads {}, which no input, constant or earlier node gives",
                     NodeLabel(node), Label(id));
      }
    }
    for (ValueId id : node.outputs) {
      if (!InRange(id)) {
        return Error(StatusCode::kMalformedInput, "{} writes %{}, which does not exist", NodeLabel(node), id);
      }
      if (available_[id]) {
        return Error(StatusCode::kMalformedInput,
                     "{} writes {}, which an input, constant or earlier node gives already", NodeLabel(node),
                     Label(id));
      }
      available_[id] = true;
    }
    return Status::Ok();
  }

  const Graph& graph_;
  size_t constant_count_;
  std::vector<bool> available_;
};

}  // namespace

Graph Graph::Clone() const {
  Graph copy;
  copy.name = name;
  copy.inputs = inputs;
  copy.outputs = outputs;
  copy.states = states;
  copy.source_operator_count = source_operator_count;
  copy.values_ = values_;
  copy.constants_ = constants_;
  copy.owned_bytes_ = owned_bytes_;
  copy.nodes_ = nodes_;
  for (size_t i = 0; i < owned_bytes_.size(); ++i) {
    for (Constant& constant : copy.constants_) {
      if (constant.bytes.data() == owned_bytes_[i].data()) constant.bytes = copy.owned_bytes_[i];
    }
  }
  return copy;
}

ValueId Graph::AddValue(Value value) {
  values_.push_back(std::move(value));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::AddConstantValue(std::string name, TensorDesc desc, std::vector<std::byte> bytes) {
  owned_bytes_.push_back(std::move(bytes));
  const ConstantId constant = BorrowConstant(owned_bytes_.back(), std::nullopt);
  return AddValue({.name = std::move(name), .desc = std::move(desc), .constant = constant});
}

void Graph::MakeConstant(ValueId id, std::vector<std::byte> bytes) {
  owned_bytes_.push_back(std::move(bytes));
  values_[id].constant = BorrowConstant(owned_bytes_.back(), std::nullopt);
}

ValueId Graph::AddFloatConstant(std::string name, const Shape& shape, std::span<const float> data) {
  const std::span<const std::byte> bytes = std::as_bytes(data);
  return AddConstantValue(std::move(name), {.dtype = DType::kFloat32, .shape = shape}, {bytes.begin(), bytes.end()});
}

ConstantId Graph::BorrowConstant(std::span<const std::byte> bytes, std::optional<uint64_t> file_offset) {
  constants_.push_back({.bytes = bytes, .file_offset = file_offset});
  return static_cast<ConstantId>(constants_.size() - 1);
}

Node& Graph::AddNode(Node node) {
  return nodes_.emplace_back(std::move(node));
}

bool Graph::IsOutput(ValueId id) const {
  return Contains(outputs, id);
}

bool Graph::IsState(ValueId id) const {
  return std::any_of(states.begin(), states.end(), [&](const StatePair& state) { return state.read == id; });
}

bool Graph::IsKept(ValueId id) const {
  return IsOutput(id) ||
         std::any_of(states.begin(), states.end(), [&](const StatePair& state) { return state.written == id; });
}

int Graph::ProducerOf(ValueId id) const {
  const auto found =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return Contains(node.outputs, id); });
  return found == nodes_.end() ? -1 : static_cast<int>(found - nodes_.begin());
}

std::vector<int> Graph::ConsumersOf(ValueId id) const {
  std::vector<int> consumers;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (Contains(nodes_[i].inputs, id)) consumers.push_back(static_cast<int>(i));
  }
  return consumers;
}

Status Graph::Validate() const {
  return GraphChecker(*this, constants_.size()).Run();
}

}  // namespace hearth
