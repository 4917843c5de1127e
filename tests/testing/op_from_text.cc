#include "tests/testing/op_from_text.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/graph/op_attributes.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"
#include "tests/testing/text_scanner.h"

namespace hearth {
namespace {

constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                       Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};

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

// A default-constructed value of each alternative.
template <size_t... I>
std::vector<Op> DefaultOps(std::index_sequence<I...> /*alternatives*/) {
  std::vector<Op> ops;
  (ops.emplace_back(std::variant_alternative_t<I, OpVariant>{}), ...);
  return ops;
}

}  // namespace

std::vector<Op> NamedOps() {
  std::vector<Op> ops =
      DefaultOps(std::make_index_sequence<std::variant_size_v<OpVariant> - 1>());  // all but UnknownOp
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
  for (const BinaryRow& row : BinaryRows()) {
    add(Binary{.kind = row.kind});
    add(Scatter{.kind = row.kind});
  }
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

}  // namespace hearth
