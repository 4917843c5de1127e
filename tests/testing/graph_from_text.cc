#include "tests/testing/graph_from_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "tests/testing/op_from_text.h"
#include "tests/testing/text_scanner.h"

namespace hearth {
namespace {

// ---- Constants ----

constexpr int64_t kMaxTextConstantElements = int64_t{1} << 28;

// Pseudo-random numbers that depend only on the seed text: FNV-1a as seed, then the 64-bit linear congruential
// generator of Knuth's MMIX.
class Pattern {
 public:
  explicit Pattern(std::string_view seed) {
    for (char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  double Next(DType dtype) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const int64_t number = static_cast<int64_t>(state_ >> 57);  // 0 to 127
    if (dtype == DType::kBool) return static_cast<double>(number & 1);
    if (dtype == DType::kInt4) return static_cast<double>(number & 7);
    return IsFloat(dtype) ? (static_cast<double>(number) - 63.5) / 64.0 : static_cast<double>(number);
  }

 private:
  uint64_t state_ = 14695981039346656037ull;
};

Status ReadElements(TextScanner& scanner, DType dtype, int64_t count, std::span<std::byte> bytes) {
  for (int64_t i = 0; i < count; ++i) {
    double number = 0;
    if (i > 0 && !scanner.Take(',')) {
      return Error(StatusCode::kMalformedInput, "a constant of {} elements lists {}", count, i);
    }
    if (!scanner.Number(number))
      return Error(StatusCode::kMalformedInput, "element {} of a constant is not a number", i);
    StoreElement(dtype, bytes, i, number);
  }
  if (!scanner.Take('}')) {
    return Error(StatusCode::kMalformedInput, "expected '}}' after {} elements of a constant", count);
  }
  return Status::Ok();
}

Result<std::vector<std::byte>> ConstantFromText(TextScanner& scanner, const TensorDesc& desc, std::string_view name) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count || *count > kMaxTextConstantElements) {
    return Error(StatusCode::kResourceExhausted, "a constant of shape {} is too large", desc.shape.ToString());
  }
  std::vector<std::byte> bytes(desc.size_bytes());
  if (scanner.Take('{')) {
    HEARTH_TRY(ReadElements(scanner, desc.dtype, *count, bytes));
    return bytes;
  }
  if (!scanner.TakeWord("fill") || !scanner.Take('(')) {
    return Error(StatusCode::kMalformedInput, "expected the contents of a constant: {{...}} or fill(...)");
  }
  Pattern pattern(name);
  double number = 0;
  const bool from_pattern = scanner.TakeWord("pattern");
  if (!from_pattern && !scanner.Number(number)) {
    return Error(StatusCode::kMalformedInput, "expected 'pattern' or a number in fill(...)");
  }
  for (int64_t i = 0; i < *count; ++i) {
    StoreElement(desc.dtype, bytes, i, from_pattern ? pattern.Next(desc.dtype) : number);
  }
  if (!scanner.Take(')')) return Error(StatusCode::kMalformedInput, "expected ')' after fill(...");
  return bytes;
}

// ---- Graphs ----

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

Result<Graph> GraphFromText(std::string_view text) {
  return GraphParser().Parse(text);
}

}  // namespace hearth
