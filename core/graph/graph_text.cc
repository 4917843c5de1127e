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
// `value` stands for a value that no node makes (a state's, or left by a pass). `operator` is the index in the model
// file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/base/error.h"
#include "core/graph/constant_text.h"
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

class GraphParser {
 public:
  Result<Graph> Parse(std::string_view text) {
    size_t line_number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      ++line_number;
      HEARTH_TRY(ParseLine(text.substr(0, end)).Within(fmt::format("graph text, line {}", line_number)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return Build();
  }

 private:
  struct ParsedValue {
    Value value;
    std::optional<std::vector<std::byte>> contents;  // set for a constant
  };

  static Status Expected(TextScanner& scanner, std::string_view what) {
    return Error(StatusCode::kMalformedInput, "expected {} at column {}", what, scanner.column());
  }

  Status ParseLine(std::string_view line) {
    TextScanner scanner(line);
    if (scanner.AtEnd() || scanner.Take('#')) return Status::Ok();
    if (scanner.TakeWord("graph")) {
      if (!scanner.QuotedText(graph_.name)) return Expected(scanner, "the graph's name in quotes");
    } else if (scanner.TakeWord("output")) {
      HEARTH_ASSIGN(const ValueId id, ParseId(scanner));
      graph_.outputs.push_back(id);
    } else if (scanner.TakeWord("state")) {
      StatePair state;
      HEARTH_ASSIGN(state.read, ParseId(scanner));
      if (!scanner.Take('=')) return Expected(scanner, "'='");
      HEARTH_ASSIGN(state.written, ParseId(scanner));
      graph_.states.push_back(state);
    } else {
      HEARTH_TRY(ParseStatement(scanner));
    }
    return scanner.AtEnd() ? Status::Ok() : Expected(scanner, "the end of the line");
  }

  static Result<ValueId> ParseId(TextScanner& scanner) {
    ValueId id = 0;
    if (!scanner.Take('%') || !scanner.Number(id) || id < 0) return Expected(scanner, "a value such as %3");
    return id;
  }

  // "%1, %2 = word ..." or, for a node without outputs, "word(...) ..."
  Status ParseStatement(TextScanner& scanner) {
    std::vector<ValueId> ids;
    std::string_view word = scanner.Word();
    if (word.empty()) {
      do {
        HEARTH_ASSIGN(const ValueId id, ParseId(scanner));
        ids.push_back(id);
      } while (scanner.Take(','));
      if (!scanner.Take('=')) return Expected(scanner, "'='");
      word = scanner.Word();
    }
    if (scanner.Take('(')) return ParseNode(scanner, word, std::move(ids));
    if (ids.size() != 1 || (word != "input" && word != "constant" && word != "value")) {
      return Expected(scanner, "'input', 'constant', 'value' or an operation with '('");
    }
    if (!scanner.Take(':')) return Expected(scanner, "':'");
    HEARTH_TRY(ParseDescription(scanner, ids[0]));
    if (word == "input") graph_.inputs.push_back(ids[0]);
    if (word != "constant") return Status::Ok();
    if (!scanner.Take('=')) return Expected(scanner, "'=' and the constant's contents");
    ParsedValue& parsed = values_[ids[0]];
    HEARTH_ASSIGN(parsed.contents, ConstantFromText(scanner, parsed.value.desc, parsed.value.name));
    return Status::Ok();
  }

  // `float32[1x2x2x2] "name"`, of the value `id`
  Status ParseDescription(TextScanner& scanner, ValueId id) {
    if (values_.count(id) != 0) return Error(StatusCode::kMalformedInput, "value %{} is defined twice", id);
    Value value;
    const std::string_view type_name = scanner.Word();
    const std::optional<DType> dtype = DTypeFromName(type_name);
    if (!dtype) return Expected(scanner, fmt::format("an element type instead of '{}'", type_name));
    value.desc.dtype = *dtype;
    if (!scanner.Take('[') || !scanner.Dims(value.desc.shape) || !scanner.Take(']')) {
      return Expected(scanner, fmt::format("[dimensions], at most {} of them", Shape::kMaxRank));
    }
    if (scanner.Take('{')) HEARTH_TRY(ParseQuantization(scanner, value.desc));
    if (!scanner.QuotedText(value.name)) return Expected(scanner, "the value's name in quotes");
    values_[id].value = std::move(value);
    return Status::Ok();
  }

  static Status ParseQuantization(TextScanner& scanner, TensorDesc& desc) {
    Quantization quantization;
    float scale = 0;
    while (scanner.Number(scale)) {
      quantization.scales.push_back(scale);
      if (!scanner.Take(',')) break;
    }
    if (!scanner.Take('/')) return Expected(scanner, "'/' after the scales");
    int64_t zero_point = 0;
    while (scanner.Number(zero_point)) {
      quantization.zero_points.push_back(zero_point);
      if (!scanner.Take(',')) break;
    }
    if (scanner.Take('/') && !scanner.Number(quantization.dimension)) return Expected(scanner, "a dimension");
    if (!scanner.Take('}')) return Expected(scanner, "'}' after the quantization");
    desc.quantization = std::move(quantization);
    return Status::Ok();
  }

  Status ParseNode(TextScanner& scanner, std::string_view op_name, std::vector<ValueId> outputs) {
    Node node;
    HEARTH_TRY(ParseInputs(scanner, node));
    HEARTH_ASSIGN(const std::vector<AttributeText> attributes, ParseAttributes(scanner));
    HEARTH_ASSIGN(node.op, OpFromText(op_name, attributes));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i > 0 && !scanner.Take(',')) return Expected(scanner, "',' and the next output's type");
      HEARTH_TRY(ParseDescription(scanner, outputs[i]));
    }
    node.outputs = std::move(outputs);
    if (scanner.TakeWord("node") && !scanner.QuotedText(node.name)) return Expected(scanner, "the node's name");
    if (scanner.TakeWord("operator") && !scanner.Number(node.source_index)) return Expected(scanner, "an index");
    graph_.AddNode(std::move(node));
    return Status::Ok();
  }

  static Status ParseInputs(TextScanner& scanner, Node& node) {
    if (scanner.Take(')')) return Status::Ok();
    do {
      if (scanner.TakeWord("none")) {
        node.inputs.push_back(kNoValue);
      } else {
        HEARTH_ASSIGN(const ValueId id, ParseId(scanner));
        node.inputs.push_back(id);
      }
    } while (scanner.Take(','));
    return scanner.Take(')') ? Status::Ok() : Expected(scanner, "')' or ','");
  }

  // Reads the attributes up to the ':' before the outputs' types.
  static Result<std::vector<AttributeText>> ParseAttributes(TextScanner& scanner) {
    std::vector<AttributeText> attributes;
    while (!scanner.Take(':')) {
      const std::string name(scanner.Word());
      if (name.empty() || !scanner.Take('=')) return Expected(scanner, "attribute=value or ':'");
      std::string value;
      if (!scanner.QuotedText(value)) value = scanner.UntilSpace();
      attributes.emplace_back(name, std::move(value));
    }
    return attributes;
  }

  // Adds values in the order of their ids. The text may mention them in any order.
  Result<Graph> Build() {
    ValueId next = 0;
    for (auto& [id, parsed] : values_) {
      if (id != next++) return Error(StatusCode::kMalformedInput, "graph text: no line defines %{}", next - 1);
      if (parsed.contents) {
        graph_.AddConstantValue(std::move(parsed.value.name), std::move(parsed.value.desc),
                                std::move(*parsed.contents));
      } else {
        graph_.AddValue(std::move(parsed.value));
      }
    }
    for (const Node& node : graph_.nodes()) {
      for (ValueId id : node.inputs) HEARTH_TRY(CheckDefined(id));
    }
    for (ValueId id : graph_.outputs) HEARTH_TRY(CheckDefined(id));
    for (const StatePair& state : graph_.states) {
      HEARTH_TRY(CheckDefined(state.read));
      HEARTH_TRY(CheckDefined(state.written));
    }
    return std::move(graph_);
  }

  Status CheckDefined(ValueId id) const {
    if (id < static_cast<ValueId>(graph_.values().size())) return Status::Ok();
    return Error(StatusCode::kMalformedInput, "graph text: no line defines %{}", id);
  }

  Graph graph_;
  std::map<ValueId, ParsedValue> values_;
};

}  // namespace

std::string ToText(const Graph& graph) {
  return GraphWriter(graph).Write();
}

Result<Graph> GraphFromText(std::string_view text) {
  return GraphParser().Parse(text);
}

}  // namespace hearth
