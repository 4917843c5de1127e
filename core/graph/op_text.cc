#include "core/graph/op_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
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
