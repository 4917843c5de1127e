#include "core/graph/op_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/graph/op_attributes.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/text_scanner.h"

namespace hearth {
namespace {

constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                       Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};

// Writes the attributes that differ from a default-constructed operation's. Has the same methods as
// AttributeReader, so that ForEachAttribute names every attribute once.
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
    const bool has_sides = value.top != 0 || value.bottom != 0 || value.left != 0 || value.right != 0;
    if (value.mode == PaddingMode::kExplicit) return Append(name, sides);
    const std::string_view mode = value.mode == PaddingMode::kSame ? "same" : "valid";
    Append(name, has_sides ? fmt::format("{},{}", mode, sides) : std::string(mode));
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

// Sets the attributes that a text gives; keeps the first error.
class AttributeReader {
 public:
  explicit AttributeReader(std::span<const AttributeText> attributes)
      : attributes_(attributes), known_(attributes.size(), false) {}

  template <typename T>
  void Number(std::string_view name, T& value, T /*fallback*/) {
    Read(name, [&](TextScanner& scanner) { return scanner.Number(value); });
  }
  void Flag(std::string_view name, bool& value) {
    Read(name, [&](TextScanner& scanner) {
      const std::string_view word = scanner.Word();
      value = word == "true";
      return word == "true" || word == "false";
    });
  }
  void Size(std::string_view name, int32_t& height, int32_t& width, int32_t /*fallback*/) {
    Read(name,
         [&](TextScanner& scanner) { return scanner.Number(height) && scanner.Take('x') && scanner.Number(width); });
  }
  void Dims(std::string_view name, Shape& shape) {
    Read(name, [&](TextScanner& scanner) { return scanner.Dims(shape); });
  }
  void Ints(std::string_view name, Shape& list) {
    std::vector<int32_t> numbers;
    Read(name, [&](TextScanner& scanner) { return ReadInts(scanner, numbers) && numbers.size() <= Shape::kMaxRank; });
    if (!numbers.empty() && numbers.size() <= Shape::kMaxRank) list = Shape::FromSpan(numbers);
  }
  void Ints(std::string_view name, std::vector<int32_t>& list) {
    Read(name, [&](TextScanner& scanner) { return ReadInts(scanner, list); });
  }
  void Type(std::string_view name, DType& value, DType /*fallback*/) {
    Read(name, [&](TextScanner& scanner) {
      const std::optional<DType> type = DTypeFromName(scanner.Word());
      value = type.value_or(value);
      return type.has_value();
    });
  }
  void Bits(std::string_view name, uint32_t& mask) {
    Read(name, [&](TextScanner& scanner) {
      do {
        int32_t bit = 0;
        if (!scanner.Number(bit) || bit < 0 || bit > 31) return false;
        mask |= 1u << bit;
      } while (scanner.Take(','));
      return true;
    });
  }
  void Fused(std::string_view name, Activation& value) {
    Read(name, [&](TextScanner& scanner) {
      const std::string_view word = scanner.Word();
      const auto* found = std::find_if(std::begin(kActivations), std::end(kActivations),
                                       [&](Activation activation) { return ActivationName(activation) == word; });
      if (found == std::end(kActivations)) return false;
      value = *found;
      return true;
    });
  }
  void Padding(std::string_view name, Padding2D& value) {
    Read(name, [&](TextScanner& scanner) {
      value.mode = PaddingMode::kExplicit;
      if (const std::string_view word = scanner.Word(); !word.empty()) {
        if (word != "same" && word != "valid") return false;
        value.mode = word == "same" ? PaddingMode::kSame : PaddingMode::kValid;
        if (!scanner.Take(',')) return true;
      }
      return scanner.Number(value.top) && scanner.Take(',') && scanner.Number(value.bottom) && scanner.Take(',') &&
             scanner.Number(value.left) && scanner.Take(',') && scanner.Number(value.right);
    });
  }
  void Text(std::string_view name, std::string& value) {
    for (size_t i = 0; i < attributes_.size(); ++i) {
      if (attributes_[i].first != name) continue;
      known_[i] = true;
      value = attributes_[i].second;
    }
  }

  Status status() const {
    HEARTH_TRY(first_error_);
    for (size_t i = 0; i < attributes_.size(); ++i) {
      if (!known_[i]) return Error(StatusCode::kMalformedInput, "has no attribute '{}'", attributes_[i].first);
    }
    return Status::Ok();
  }

 private:
  static bool ReadInts(TextScanner& scanner, std::vector<int32_t>& list) {
    list.clear();
    do {
      int32_t number = 0;
      if (!scanner.Number(number)) return false;
      list.push_back(number);
    } while (scanner.Take(','));
    return true;
  }
  template <typename Parse>
  void Read(std::string_view name, Parse parse) {
    for (size_t i = 0; i < attributes_.size(); ++i) {
      if (attributes_[i].first != name) continue;
      known_[i] = true;
      TextScanner scanner(attributes_[i].second);
      if (parse(scanner) && scanner.AtEnd()) continue;
      if (first_error_.ok()) {
        first_error_ = Error(StatusCode::kMalformedInput, "attribute {} can't be '{}'", name, attributes_[i].second);
      }
    }
  }

  std::span<const AttributeText> attributes_;
  std::vector<bool> known_;
  Status first_error_;
};

}  // namespace

std::string AttributesToText(const Op& op) {
  Op copy = op;  // ForEachAttribute takes references that a reader can write to
  AttributeWriter writer;
  std::visit([&](auto& attributes) { ForEachAttribute(writer, attributes); }, copy);
  return writer.text();
}

namespace {

// A default-constructed value of each alternative.
template <size_t... I>
std::vector<Op> DefaultOps(std::index_sequence<I...> /*alternatives*/) {
  std::vector<Op> ops;
  (ops.emplace_back(std::variant_alternative_t<I, Op>{}), ...);
  return ops;
}

}  // namespace

std::vector<Op> NamedOps() {
  std::vector<Op> ops = DefaultOps(std::make_index_sequence<std::variant_size_v<Op> - 1>());  // all but UnknownOp
  const auto add = [&ops](const Op& op) {
    const auto same = [&](const Op& known) { return OpName(known) == OpName(op); };
    if (std::none_of(ops.begin(), ops.end(), same)) ops.push_back(op);
  };
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax, PoolKind::kL2}) add(Pool2D{.kind = kind});
  for (ResizeKind kind : {ResizeKind::kBilinear, ResizeKind::kNearest}) add(Resize{.kind = kind});
  for (int kind = 0; kind <= static_cast<int>(ReduceKind::kAll); ++kind) {
    add(Reduce{.kind = static_cast<ReduceKind>(kind)});
  }
  for (ArgKind kind : {ArgKind::kMax, ArgKind::kMin}) add(ArgReduce{.kind = kind});
  for (RandomKind kind : {RandomKind::kUniform, RandomKind::kStandardNormal, RandomKind::kMultinomial}) {
    add(Random{.kind = kind, .shape = {}});
  }
  for (BitGenerator generator : {BitGenerator::kPhilox, BitGenerator::kThreefry}) {
    add(RandomBits{.generator = generator});
  }
  for (const UnaryRow& row : UnaryRows()) add(Unary{.kind = row.kind});
  for (const BinaryRow& row : BinaryRows()) add(Binary{.kind = row.kind});
  return ops;
}

Result<Op> OpFromText(std::string_view name, std::span<const AttributeText> attributes) {
  Op op = UnknownOp{};
  if (name != "unknown") {
    const std::vector<Op> ops = NamedOps();
    const auto found =
        std::find_if(ops.begin(), ops.end(), [&](const Op& candidate) { return OpName(candidate) == name; });
    if (found == ops.end()) return Error(StatusCode::kMalformedInput, "there is no operation '{}'", name);
    op = *found;
  }
  AttributeReader reader(attributes);
  std::visit([&](auto& known) { ForEachAttribute(reader, known); }, op);
  HEARTH_TRY(reader.status().Within(name));
  return op;
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
  if (const auto* unknown = std::get_if<UnknownOp>(&op)) return unknown->name;
  return std::string(OpDefOf(op).name);
}

Status UnknownOperation(const Node& node) {
  const auto* unknown = std::get_if<UnknownOp>(&node.op);
  const std::string why = unknown != nullptr && !unknown->reason.empty()
                              ? fmt::format("has a form that Hearth can't run ({})", unknown->reason)
                              : "is not known to Hearth";
  return Error(StatusCode::kUnsupported,
               "op {} {} {}; convert the model without it (`hearth inspect` lists all that it needs), or {}",
               node.source_index, OpName(node.op), why, kPluginAdvice);
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

}  // namespace hearth
