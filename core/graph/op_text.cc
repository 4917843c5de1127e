#include "core/graph/op_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/graph/block_scales.h"
#include "core/graph/custom_node.h"
#include "core/graph/element.h"
#include "core/graph/graph.h"
#include "core/graph/op_attributes.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

// Writes the attributes that differ from a default-constructed operation's.
class AttributeWriter {
 public:
  void Number(std::string_view name, int32_t& value, int32_t fallback) { Write(name, value, fallback); }
  void Number(std::string_view name, int64_t& value, int64_t fallback) { Write(name, value, fallback); }
  void Number(std::string_view name, float& value, float fallback) { Write(name, value, fallback); }
  void Number(std::string_view name, double& value, double fallback) { Write(name, value, fallback); }
  void Flag(std::string_view name, bool& value) { Write(name, value, false); }
  void Size(std::string_view name, int32_t& height, int32_t& width, int32_t fallback) {
    if (height != fallback || width != fallback) Append(name, fmt::format("{}x{}", height, width));
  }
  void Dims(std::string_view name, Shape& shape) {
    if (shape.rank() > 0) Append(name, shape.ToString());
  }
  void Ints(std::string_view name, Shape& list) {
    if (list.rank() > 0) Append(name, fmt::format("{}", fmt::join(list.dims(), ",")));
  }
  void Ints(std::string_view name, std::vector<int32_t>& list) {
    if (!list.empty()) Append(name, fmt::format("{}", fmt::join(list, ",")));
  }
  void Type(std::string_view name, DType& value, DType fallback) {
    if (value != fallback) Append(name, std::string(DTypeName(value)));
  }
  void Bits(std::string_view name, uint32_t& mask) {
    std::vector<int> set;
    for (int bit = 0; bit < 32; ++bit) {
      if (((mask >> bit) & 1u) != 0) set.push_back(bit);
    }
    if (mask != 0) Append(name, fmt::format("{}", fmt::join(set, ",")));
  }
  void Fused(std::string_view name, Activation& value) {
    if (value != Activation::kNone) Append(name, std::string(ActivationName(value)));
  }
  void Padding(std::string_view name, Padding2D& value) {
    if (value == Padding2D{}) return;
    const std::string sides = fmt::format("{},{},{},{}", value.top, value.bottom, value.left, value.right);
    if (value.mode == PaddingMode::kExplicit) return Append(name, sides);
    const std::string_view mode = value.mode == PaddingMode::kSame ? "same" : "valid";
    Append(name, HasPixels(value) ? fmt::format("{},{}", mode, sides) : std::string(mode));
  }
  void Text(std::string_view name, std::string& value) {
    if (!value.empty()) Append(name, Quoted(value));
  }

  std::string text() const { return fmt::format("{}", fmt::join(attributes_, " ")); }

 private:
  template <typename T>
  void Write(std::string_view name, T value, T fallback) {
    if (value != fallback) Append(name, fmt::format("{}", value));
  }
  void Append(std::string_view name, const std::string& value) {
    attributes_.push_back(fmt::format("{}={}", name, value));
  }

  std::vector<std::string> attributes_;
};

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

std::string TypeText(const TensorDesc& desc) {
  std::string text = fmt::format("{}[{}]", DTypeName(desc.dtype), desc.shape.rank() == 0 ? "" : desc.shape.ToString());
  if (!desc.quantization) return text;
  const Quantization& quantization = *desc.quantization;
  if (quantization.blocks != nullptr) return text + fmt::format("{{blocks of {}}}", quantization.blocks->size);
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
    return ConstantToText(value.desc, graph_.constant(*value.constant).ordered().bytes);
  }

  void WriteNode(const Node& node) {
    std::vector<std::string> outputs, inputs, descriptions;
    for (ValueId id : node.outputs) {
      outputs.push_back(fmt::format("%{}", id));
      descriptions.push_back(DescriptionText(id));
    }
    for (ValueId id : node.inputs) inputs.push_back(id == kNoValue ? "none" : fmt::format("%{}", id));
    const bool is_unknown = std::holds_alternative<UnknownOp>(node.op),
               is_custom = std::holds_alternative<Custom>(node.op);
    const std::string name = is_unknown ? "unknown" : is_custom ? "custom" : OpName(node.op);
    if (!outputs.empty()) text_ += fmt::format("{} = ", fmt::join(outputs, ", "));
    text_ += fmt::format("{}({})", name, fmt::join(inputs, ", "));
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

std::string AttributesToText(const Op& op) {
  Op copy = op;  // ForEachAttribute takes references that a reader (tests/testing/graph_from_text.cc) can write to
  AttributeWriter writer;
  std::visit([&](auto& attributes) { ForEachAttribute(writer, attributes); }, copy);
  return writer.text();
}

std::string OpName(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) return std::string(RowOf(unary->kind).name);
  if (const auto* binary = std::get_if<Binary>(&op)) return std::string(RowOf(binary->kind).name);
  if (const auto* pool = std::get_if<Pool2D>(&op)) {
    constexpr std::string_view kNames[] = {"average_pool_2d", "max_pool_2d", "l2_pool_2d"};
    return std::string(kNames[static_cast<int>(pool->kind)]);
  }
  if (const auto* resize = std::get_if<Resize>(&op)) {
    return resize->kind == ResizeKind::kBilinear ? "resize_bilinear" : "resize_nearest";
  }
  if (const auto* reduce = std::get_if<Reduce>(&op)) {
    constexpr std::string_view kNames[] = {"mean",        "sum",        "reduce_max", "reduce_min",
                                           "reduce_prod", "reduce_any", "reduce_all"};
    return std::string(kNames[static_cast<int>(reduce->kind)]);
  }
  if (const auto* search = std::get_if<ArgReduce>(&op)) return search->kind == ArgKind::kMax ? "arg_max" : "arg_min";
  if (const auto* random = std::get_if<Random>(&op)) {
    constexpr std::string_view kNames[] = {"random_uniform", "random_standard_normal", "multinomial"};
    return std::string(kNames[static_cast<int>(random->kind)]);
  }
  if (const auto* bits = std::get_if<RandomBits>(&op)) {
    return bits->generator == BitGenerator::kPhilox ? "philox" : "threefry";
  }
  if (const auto* scatter = std::get_if<Scatter>(&op); scatter != nullptr && scatter->kind)
    return fmt::format("scatter_{}", RowOf(*scatter->kind).name);
  if (const auto* unknown = std::get_if<UnknownOp>(&op)) return unknown->name;
  if (const auto* custom = std::get_if<Custom>(&op); custom != nullptr && custom->node != nullptr)
    return custom->node->op.name;
  return std::string(OpDefOf(op).name);
}

Status UnknownOperation(const Node& node) {
  if (std::holds_alternative<Custom>(node.op)) {
    return Error(StatusCode::kUnsupported,
                 "op {} {} is the program's own, which only the CPU and not the float64 reference runs",
                 node.source_index, OpName(node.op));
  }
  const auto* unknown = std::get_if<UnknownOp>(&node.op);
  const bool is_known = unknown != nullptr && !unknown->reason.empty();
  const std::string why =
      is_known ? fmt::format("has a form that Hearth can't run ({})", unknown->reason) : "is not known to Hearth";
  // An operator of the format's own can't be registered.
  const bool is_custom = unknown != nullptr && !is_known && !unknown->name.starts_with("BUILTIN_");
  return Error(StatusCode::kUnsupported,
               "op {} {} {}; {}convert the model without it (`hearth inspect` lists all that it needs), or {}",
               node.source_index, OpName(node.op), why,
               is_custom ? fmt::format("register it ({}), ", kRegisterAdvice) : "", kPluginAdvice);
}

std::string NodeLabel(const Node& node) {
  std::string label = OpName(node.op);
  if (!node.name.empty()) label += fmt::format(" {}", Quoted(node.name));
  if (node.source_index >= 0) label += fmt::format(" (operator {})", node.source_index);
  return label;
}

bool IsCalled(const Node& node, std::string_view wanted) {
  constexpr auto kIsSame = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::ranges::equal(OpName(node.op), wanted, kIsSame) || wanted == fmt::format("op:{}", node.source_index);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

std::string ToText(const Graph& graph) {
  return GraphWriter(graph).Write();
}

}  // namespace hearth
