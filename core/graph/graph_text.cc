#include "core/graph/graph_text.h"

// The text form of graphs. One statement a line; '#' starts a comment line:
//
//   graph "name"
//   %0 = input : float32[1x4x4x1] "x"
//   %1 = constant : float32[2x1x1x1] "filter" = {1, -1}
//   %2 = conv_2d(%0, %1, none) stride=2x2 activation=relu : float32[1x2x2x2] "y" node "conv" operator 0
//   output %2
//   state %3 = %4      (after a run the content of %4 becomes that of %3, a `value`)
//
// A type is element type, dimensions and, for quantized tensors, {scales / zero points / dimension}:
// uint8[1x2]{0.5/128}, int8[2x3]{0.5,0.25/0,0/0}. A node with several outputs lists ids, types and names in order.
// Contents of a constant: {0.5, -1, 2}, every element's stored number; fill(0.25), all elements are equal;
// fill(pattern), others. `value` stands for a value that no node makes (a state's, or left by a pass). `operator` is
// the index in the model file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/graph.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

std::string TypeText(const TensorDesc& desc) {
  std::string text = fmt::format("{}[{}]", DTypeName(desc.dtype), desc.shape.rank() == 0 ? "" : desc.shape.ToString());
  if (!desc.quantization) return text;
  const Quantization& quantization = *desc.quantization;
  text += fmt::format("{{{}/{}", fmt::join(quantization.scales, ","), fmt::join(quantization.zero_points, ","));
  if (quantization.dimension != 0) text += fmt::format("/{}", quantization.dimension);
  return text + "}";
}

// ---- Constants ----

constexpr int64_t kMaxElementsInText = 64;

std::string ElementText(DType dtype, std::span<const std::byte> bytes, int64_t index) {
  const double number = LoadElement(dtype, bytes, index);
  if (dtype == DType::kFloat64) return fmt::format("{}", number);
  // Formatted as float: the shortest text that reads back as the same float is shorter than a double's.
  return IsFloat(dtype) ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{:.0f}", number);
}

bool AllEqual(DType dtype, std::span<const std::byte> bytes, int64_t count) {
  const double first = LoadElement(dtype, bytes, 0);
  for (int64_t i = 1; i < count; ++i) {
    if (LoadElement(dtype, bytes, i) != first) return false;
  }
  return first == first;
}

// Contents that don't fit their description are written as fill(pattern).
std::string ConstantToText(const TensorDesc& desc, std::span<const std::byte> bytes) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count || bytes.size() != desc.size_bytes()) return "fill(pattern)";
  if (*count <= kMaxElementsInText) {
    std::vector<std::string> elements;
    for (int64_t i = 0; i < *count; ++i) elements.push_back(ElementText(desc.dtype, bytes, i));
    return fmt::format("{{{}}}", fmt::join(elements, ", "));
  }
  if (AllEqual(desc.dtype, bytes, *count)) return fmt::format("fill({})", ElementText(desc.dtype, bytes, 0));
  return "fill(pattern)";
}

// ---- Graphs ----

class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph) : graph_(graph), written_(graph.values().size(), false) {}

  std::string Write() {
    text_ = fmt::format("graph {}\n", Quoted(graph_.name));
    for (ValueId id : graph_.inputs) WriteValue(id, "input");
    MarkNodeOutputs();
    for (size_t id = 0; id < graph_.values().size(); ++id) {
      if (!written_[id]) WriteValue(static_cast<ValueId>(id), graph_.value(id).constant ? "constant" : "value");
    }
    for (const Node& node : graph_.nodes()) WriteNode(node);
    for (ValueId id : graph_.outputs) text_ += fmt::format("output %{}\n", id);
    for (const StatePair& state : graph_.states) {
      const std::string next = state.written == kNoValue ? "none" : fmt::format("%{}", state.written);
      text_ += fmt::format("state %{} = {}\n", state.read, next);
    }
    return std::move(text_);
  }

 private:
  bool InRange(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < written_.size(); }

  std::string DescriptionText(ValueId id) const {
    if (!InRange(id)) return "missing";  // only in graphs that Validate refuses
    return fmt::format("{} {}", TypeText(graph_.value(id).desc), Quoted(graph_.value(id).name));
  }

  void MarkNodeOutputs() {
    for (const Node& node : graph_.nodes()) {
      for (ValueId id : node.outputs) {
        if (InRange(id)) written_[id] = true;
      }
    }
  }

  void WriteValue(ValueId id, std::string_view kind) {
    text_ += fmt::format("%{} = {} : {}", id, kind, DescriptionText(id));
    if (kind == "constant") text_ += fmt::format(" = {}", ContentsText(graph_.value(id)));
    text_ += "\n";
    if (InRange(id)) written_[id] = true;
  }

  std::string ContentsText(const Value& value) const {
    return ConstantToText(value.desc, graph_.constant(*value.constant).bytes);
  }

  void WriteNode(const Node& node) {
    std::vector<std::string> outputs, inputs, descriptions;
    for (ValueId id : node.outputs) {
      outputs.push_back(fmt::format("%{}", id));
      descriptions.push_back(DescriptionText(id));
    }
    for (ValueId id : node.inputs) inputs.push_back(id == kNoValue ? "none" : fmt::format("%{}", id));
    const bool unknown = std::holds_alternative<UnknownOp>(node.op);
    if (!outputs.empty()) text_ += fmt::format("{} = ", fmt::join(outputs, ", "));
    text_ += fmt::format("{}({})", unknown ? "unknown" : OpName(node.op), fmt::join(inputs, ", "));
    if (const std::string attributes = AttributesToText(node.op); !attributes.empty())
      text_ += fmt::format(" {}", attributes);
    text_ += fmt::format(" : {}", fmt::join(descriptions, ", "));
    if (!node.name.empty()) text_ += fmt::format(" node {}", Quoted(node.name));
    if (node.source_index >= 0) text_ += fmt::format(" operator {}", node.source_index);
    text_ += "\n";
  }

  const Graph& graph_;
  std::vector<bool> written_;
  std::string text_;
};

}  // namespace

std::string ToText(const Graph& graph) {
  return GraphWriter(graph).Write();
}

}  // namespace hearth
