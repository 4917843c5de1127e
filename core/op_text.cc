#include "core/op_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/op_table.h"
#include "core/ops/elementwise_table.h"
#include "core/text_scanner.h"

namespace hearth {
namespace {

constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                       Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};

// Writes the attributes that differ from a default-constructed operation's. Has the same methods as
// AttributeReader, so that ForEachAttribute names every attribute once.
class AttributeWriter {
 public:
  void Number(std::string_view name, int32_t& value, int32_t fallback) { Write(name, value, fallback); }
  void Number(std::string_view name, float& value, float fallback) { Write(name, value, fallback); }
  void Flag(std::string_view name, bool& value) { Write(name, value, false); }
  void Size(std::string_view name, int32_t& height, int32_t& width, int32_t fallback) {
    if (height != fallback || width != fallback) Append(name, fmt::format("{}x{}", height, width));
  }
  void Dims(std::string_view name, Shape& shape) {
    if (shape.rank() > 0) Append(name, shape.ToString());
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
  void Text(std::string_view name, std::string& value) { Append(name, Quoted(value)); }

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

// The attributes of each family, for writing and reading alike. What an operation's name tells
// already (the kind of Unary, Binary, Pool2D and Resize) is none.
template <typename Fields>
void ForWindow(Fields& fields, Window2D& window) {
  fields.Size("stride", window.stride_h, window.stride_w, 1);
  fields.Size("dilation", window.dilation_h, window.dilation_w, 1);
  fields.Padding("padding", window.padding);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Conv2D& op) {
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, DepthwiseConv2D& op) {
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Pool2D& op) {
  fields.Size("kernel", op.kernel_h, op.kernel_w, 1);
  ForWindow(fields, op.window);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Unary& op) {
  fields.Number("alpha", op.alpha, 0.0f);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Binary& op) {
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Concat& op) {
  fields.Number("axis", op.axis, -1);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Resize& op) {
  fields.Size("size", op.height, op.width, 0);
  fields.Flag("align_corners", op.align_corners);
  fields.Flag("half_pixel_centers", op.half_pixel_centers);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Reshape& op) {
  fields.Dims("shape", op.shape);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Softmax& op) {
  fields.Number("beta", op.beta, 1.0f);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Pad& op) {
  fields.Dims("before", op.before);
  fields.Dims("after", op.after);
  fields.Number("value", op.value, 0.0f);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, FullyConnected& op) {
  fields.Flag("keep_dims", op.keep_dims);
  fields.Fused("activation", op.activation);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, Mean& op) {
  fields.Bits("axes", op.axes_mask);
  fields.Flag("keep_dims", op.keep_dims);
}
template <typename Fields>
void ForEachAttribute(Fields& fields, UnknownOp& op) {
  fields.Text("op", op.name);
}

}  // namespace

std::string AttributesToText(const Op& op) {
  Op copy = op;  // ForEachAttribute takes references that a reader can write to
  AttributeWriter writer;
  std::visit([&](auto& attributes) { ForEachAttribute(writer, attributes); }, copy);
  return writer.text();
}

std::vector<Op> NamedOps() {
  std::vector<Op> ops = {Conv2D{}, DepthwiseConv2D{}, Concat{}, Reshape{}, Softmax{}, Pad{}, FullyConnected{}, Mean{}};
  for (PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) ops.emplace_back(Pool2D{.kind = kind});
  for (ResizeKind kind : {ResizeKind::kBilinear, ResizeKind::kNearest}) ops.emplace_back(Resize{.kind = kind});
  for (const UnaryRow& row : UnaryRows()) ops.emplace_back(Unary{.kind = row.kind});
  for (const BinaryRow& row : BinaryRows()) ops.emplace_back(Binary{.kind = row.kind});
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

std::string NodeLabel(const Node& node) {
  std::string label = OpName(node.op);
  if (!node.name.empty()) label += fmt::format(" {}", Quoted(node.name));
  if (node.source_index >= 0) label += fmt::format(" (operator {})", node.source_index);
  return label;
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
