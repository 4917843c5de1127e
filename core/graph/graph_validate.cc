// Graph::Validate: checks after each pass that lowering can rely on the graph.
#include <vector>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/graph.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

// The state of Validate while it walks over the nodes in order.
class GraphChecker {
 public:
  explicit GraphChecker(const Graph& graph, size_t constant_count)
      : graph_(graph),
        constant_count_(constant_count),
        available_(graph.values().size(), false),
        made_(graph.values().size(), false) {}

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
    for (const StatePair& state : graph_.states) HEARTH_TRY(CheckStateWritten(state));
    return Status::Ok();
  }

 private:
  bool InRange(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.values().size(); }
  std::string Label(ValueId id) const { return fmt::format("%{} {}", id, Quoted(graph_.value(id).name)); }

  Status CheckValue(ValueId id) {
    const Value& value = graph_.value(id);
    const std::optional<int64_t> count = CheckedElementCount(value.desc.shape);
    if (!count) {
      return Error(StatusCode::kMalformedInput, "value {} has the impossible shape {}", Label(id), value.desc.shape);
    }
    if (!value.constant) return Status::Ok();
    if (*value.constant < 0 || static_cast<size_t>(*value.constant) >= constant_count_) {
      return Error(StatusCode::kMalformedInput, "value {} refers to constant {}, which does not exist", Label(id),
                   *value.constant);
    }
    const size_t size_bytes = graph_.constant(*value.constant).size_bytes();
    if (size_bytes != value.desc.size_bytes()) {
      return Error(StatusCode::kMalformedInput, "constant {} has {} bytes, {}[{}] needs {}", Label(id), size_bytes,
                   DTypeName(value.desc.dtype), value.desc.shape, value.desc.size_bytes());
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

  Status CheckStateWritten(const StatePair& state) const {
    const ValueId id = state.written;
    if (id == kNoValue) {
      return Error(StatusCode::kMalformedInput, "state {} has no next content: say what it becomes after a run",
                   Label(state.read));
    }
    if (!InRange(id)) return Error(StatusCode::kMalformedInput, "a state's next content %{} does not exist", id);
    if (made_[id]) return Status::Ok();
    return Error(StatusCode::kMalformedInput, "no node makes {}, the next content of a state", Label(id));
  }

  Status CheckNode(const Node& node) {
    for (ValueId id : Present(node.inputs)) {
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
      available_[id] = made_[id] = true;
    }
    return Status::Ok();
  }

  const Graph& graph_;
  size_t constant_count_;
  std::vector<bool> available_, made_;  // by value: made by an input, constant or earlier node; made by a node
};

}  // namespace

Status Graph::Validate() const {
  return GraphChecker(*this, constants_.size()).Run();
}

}  // namespace hearth
