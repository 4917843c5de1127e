// Einsum: products and sums of tensors whose dimensions have labels.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"

namespace hearth::onnx {
namespace {

// A tensor with a character for each dimension: a letter, or for those of "..." a digit, the last one's being '0'.
struct Labelled {
  ValueId value = kNoValue;
  std::string labels;
};

bool Has(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

// `term` with digits for "...", as many as bring it to `rank`.
Result<std::string> LabelsOf(std::string term, int rank) {
  if (std::ranges::any_of(term, [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return Error(StatusCode::kMalformedInput, "the term '{}' has digits", term.substr(0, 40));
  }
  if (const size_t dots = term.find("..."); dots != std::string::npos) {
    const int open = rank - static_cast<int>(term.size()) + 3;
    std::string digits;
    for (int k = std::min(open, 9); k-- > 0;) digits += static_cast<char>('0' + k);
    term.replace(dots, 3, digits);
  }
  const bool is_term = std::ranges::all_of(term, [](unsigned char c) { return std::isalnum(c) != 0; });
  if (!is_term || static_cast<int>(term.size()) != rank) {
    return Error(StatusCode::kMalformedInput, "the term '{}' for rank {}", term.substr(0, 40), rank);
  }
  return term;
}

// A dimension that the term names twice becomes the diagonal of both, at the end.
Result<Labelled> WithoutTwins(NodeWriter& to, Labelled x) {
  for (size_t d = 0; d < x.labels.size();) {
    const size_t twin = x.labels.find(x.labels[d], d + 1);
    if (twin == std::string::npos) {
      ++d;
      continue;
    }
    const Shape shape = to.shape(x.value);
    const int32_t size = shape[static_cast<int>(d)];
    if (shape[static_cast<int>(twin)] != size || size > (1 << 15)) {
      return Error(StatusCode::kMalformedInput, "'{}' is {} and {}", x.labels[d], size, shape[static_cast<int>(twin)]);
    }
    std::vector<int32_t> order, dims;
    for (size_t k = 0; k < x.labels.size(); ++k) {
      if (k == d || k == twin) continue;
      order.push_back(static_cast<int32_t>(k));
      dims.push_back(shape[static_cast<int>(k)]);
    }
    order.insert(order.end(), {static_cast<int32_t>(d), static_cast<int32_t>(twin)});
    dims.push_back(size * size);
    const Made flat = to.AddReshape(AddPermuted(to, x.value, Shape::FromSpan(order)), Shape::FromSpan(dims));
    HEARTH_ASSIGN(x.value, to.AddSlice(flat, static_cast<int>(dims.size()) - 1, 0, size, size + 1));
    x.labels = x.labels.substr(0, d) + x.labels.substr(d + 1, twin - d - 1) + x.labels.substr(twin + 1) + x.labels[d];
    d = 0;
  }
  return x;
}

class Einsum {
 public:
  explicit Einsum(NodeWriter& to) : to_(to) {}

  // Takes an operand. Dimensions of 1 that another operand has larger must be taken after it.
  Status Take(ValueId value, const std::string& labels) {
    const Shape shape = to_.shape(value);
    if (to_.IsEmpty(value)) return Error(StatusCode::kUnsupported, "a factor of shape {}", shape.ToString());
    for (int d = 0; d < shape.rank(); ++d) {
      int32_t& size = sizes_.emplace(labels[static_cast<size_t>(d)], shape[d]).first->second;
      if (size == 1) size = shape[d];
      if (size == shape[d] || shape[d] == 1) continue;
      return Error(StatusCode::kMalformedInput, "'{}' is {} and {}", labels[static_cast<size_t>(d)], size, shape[d]);
    }
    operands_.push_back({value, labels});
    return Status::Ok();
  }

  // The sum over all labels that `made` lacks.
  Made Result(const std::string& made) {
    HEARTH_ASSIGN(Labelled all, Reduced(0, made));
    for (size_t k = 1; k < operands_.size(); ++k) {
      HEARTH_ASSIGN(const Labelled next, Reduced(k, made + all.labels));
      HEARTH_ASSIGN(all, Product(all, next, made + LabelsFrom(k + 1)));
    }
    HEARTH_ASSIGN(all, Summed(all, made));
    std::vector<int32_t> order;
    for (const char label : made) {
      if (!Has(all.labels, label)) return Error(StatusCode::kMalformedInput, "no term has '{}'", label);
      order.push_back(static_cast<int32_t>(all.labels.find(label)));
    }
    return AddPermuted(to_, all.value, Shape::FromSpan(order));
  }

 private:
  std::string LabelsFrom(size_t first) const {
    std::string labels;
    for (size_t k = first; k < operands_.size(); ++k) labels += operands_[k].labels;
    return labels;
  }

  // Operand `k` without dimensions that broadcasting would repeat, and summed over those that only it has.
  hearth::Result<Labelled> Reduced(size_t k, const std::string& kept) {
    const Shape shape = to_.shape(operands_[k].value);
    Labelled narrow{operands_[k].value, ""};
    for (int d = 0; d < shape.rank(); ++d) {
      const char label = operands_[k].labels[static_cast<size_t>(d)];
      if (shape[d] == sizes_.at(label)) narrow.labels += label;
    }
    HEARTH_ASSIGN(narrow.value, to_.AddReshape(narrow.value, ShapeOf(narrow.labels)));
    return Summed(narrow, kept + LabelsFrom(k + 1));
  }

  hearth::Result<Labelled> Summed(const Labelled& x, const std::string& kept) {
    uint32_t mask = 0;
    Labelled made = x;
    std::erase_if(made.labels, [&](char label) { return !Has(kept, label); });
    for (size_t d = 0; d < x.labels.size(); ++d) mask |= Has(kept, x.labels[d]) ? 0 : 1u << d;
    if (mask == 0) return x;
    HEARTH_ASSIGN(made.value,
                  to_.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = mask, .keep_dims = false}, {x.value}));
    return made;
  }

  // A batched product of matrices: [both, a's own, summed] by [both, summed, b's own].
  hearth::Result<Labelled> Product(const Labelled& a, const Labelled& b, const std::string& kept) {
    // A layer takes a constant matrix as its second factor.
    if (to_.IsConstant(a.value) && !to_.IsConstant(b.value)) return Product(b, a, kept);
    std::string both, left, sum, right;
    for (const char label : a.labels) (!Has(b.labels, label) ? left : Has(kept, label) ? both : sum) += label;
    for (const char label : b.labels) right += Has(a.labels, label) ? "" : std::string(1, label);
    const bool is_matrix = both.empty() && !sum.empty();
    HEARTH_ASSIGN(const ValueId x, Arranged(a, is_matrix ? std::vector{left, sum} : std::vector{both, left, sum}));
    HEARTH_ASSIGN(const ValueId y, Arranged(b, is_matrix ? std::vector{sum, right} : std::vector{both, sum, right}));
    Labelled made{kNoValue, both + left + right};
    const Made product = sum.empty() ? to_.Add(BinaryKind::kMul, {x, y}) : AddProduct(to_, x, y, kNoValue);
    HEARTH_ASSIGN(made.value, to_.AddReshape(product, ShapeOf(made.labels)));
    return made;
  }

  // With one dimension for each group of labels.
  Made Arranged(const Labelled& x, const std::vector<std::string>& groups) {
    std::vector<int32_t> order, dims;
    for (const std::string& group : groups) {
      for (const char label : group) order.push_back(static_cast<int32_t>(x.labels.find(label)));
      dims.push_back(static_cast<int32_t>(ShapeOf(group).element_count()));
    }
    return to_.AddReshape(AddPermuted(to_, x.value, Shape::FromSpan(order)), Shape::FromSpan(dims));
  }

  Shape ShapeOf(const std::string& labels) const {
    std::vector<int32_t> dims;
    for (const char label : labels) dims.push_back(sizes_.at(label));
    return Shape::FromSpan(dims);
  }

  NodeWriter& to_;
  std::vector<Labelled> operands_;
  std::map<char, int32_t> sizes_;
};

Results ReadEinsum(OpView& op, GraphWriter& to) {
  std::string equation(op.Text("equation", ""));
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  std::string terms = equation.substr(0, arrow) + ",";
  if (std::ranges::count(terms, ',') != static_cast<int64_t>(op.input_count())) {
    return Error(StatusCode::kMalformedInput, "the equation '{}' for {} operands", equation.substr(0, 80),
                 op.input_count());
  }
  Einsum sum(to);
  std::map<char, int> times;
  size_t widest = 0;  // of "..."
  for (size_t i = 0; i < op.input_count(); ++i) {
    HEARTH_ASSIGN(const ValueId value, op.In(i));
    HEARTH_ASSIGN(const std::string labels, LabelsOf(terms.substr(0, terms.find(',')), to.shape(value).rank()));
    terms.erase(0, terms.find(',') + 1);
    HEARTH_ASSIGN(const Labelled operand, WithoutTwins(to, {value, labels}));
    HEARTH_TRY(sum.Take(operand.value, operand.labels));
    size_t digits = 0;
    for (const char label : labels) {
      ++times[label];
      digits += std::isdigit(static_cast<unsigned char>(label)) != 0 ? 1 : 0;
    }
    widest = std::max(widest, digits);
  }
  // Without an arrow: "...", then the letters that occur once.
  std::string made = arrow == std::string::npos ? "..." : equation.substr(arrow + 2);
  for (const auto& [label, count] : times) {
    if (arrow == std::string::npos && count == 1 && std::isalpha(static_cast<unsigned char>(label)) != 0) made += label;
  }
  const size_t dots = made.find("...");
  HEARTH_ASSIGN(made, LabelsOf(made, static_cast<int>(made.size() + (dots == std::string::npos ? 0 : widest - 3))));
  return Plain(sum.Result(made));
}

}  // namespace

constexpr OperatorRow kEinsumRows[] = {
    {"Einsum", ReadEinsum},
};
const OperatorList kEinsumOperators = kEinsumRows;

}  // namespace hearth::onnx
