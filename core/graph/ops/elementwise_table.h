// Everything known about elementwise operations, one row each: names, float64 function and kernel text.
//
// A kernel text is an expression of the kernel dialect over float4 values. It may use + - * / on
// float4, splat4, and the functions that core/emit/kernels/README.md lists: vabs, vround (half to even),
// vselect_lt(a, b, x, y), which is a < b ? x : y per component, ... An integer text is one over int4, for
// tensors of plain integers. Arguments have no side effects; a text may repeat them.
#ifndef HEARTH_CORE_GRAPH_OPS_ELEMENTWISE_TABLE_H_
#define HEARTH_CORE_GRAPH_OPS_ELEMENTWISE_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/graph/op.h"

namespace hearth {

// The element types that a function takes and gives.
enum class ElementRule : uint8_t {
  kNumbers,    // real numbers by `text`, plain integers by `integer_text`, where the row has it; gives the same type
  kCompared,   // real numbers, bool, and plain integers by `integer_text`; gives bool
  kLogical,    // bool; gives bool
  kConverted,  // real numbers of any type; gives real numbers of the type that the output is declared with
};

struct UnaryRow {
  UnaryKind kind;
  std::string_view name;
  double (*function)(double v, double alpha);
  std::string_view text;  // over float4 `v` and, where uses_alpha, float `alpha`; empty: not for real numbers
  int64_t (*integer_function)(int64_t v) = nullptr;  // the result is wrapped to the type
  std::string_view integer_text = {};                // over int4 `v`; empty: not for integers
  ElementRule rule = ElementRule::kNumbers;
  bool unbounded = false;  // finite operands can give an infinity or a NaN
  bool uses_alpha = false;
};

struct BinaryRow {
  BinaryKind kind;
  std::string_view name;
  double (*function)(double a, double b);
  std::string_view text;  // over float4 `a` and `b`; empty: not for real numbers
  // `bits` of the type; the result is wrapped to it. Null: `function` is exact on integers.
  int64_t (*integer_function)(int64_t a, int64_t b, int bits) = nullptr;
  std::string_view integer_text = {};  // over int4 `a`, `b` and int `type_bits`; empty: not for integers
  ElementRule rule = ElementRule::kNumbers;
  bool unbounded = false;
};

const UnaryRow& RowOf(UnaryKind kind);
const BinaryRow& RowOf(BinaryKind kind);
std::span<const UnaryRow> UnaryRows();
std::span<const BinaryRow> BinaryRows();

// The unary operation that a fused activation applies to the result; kCopy for kNone.
UnaryKind UnaryOf(Activation activation);

// The lowest and highest result of an activation that is a clamp (kNone too: infinities); nothing for the others.
std::optional<std::pair<float, float>> ActivationBounds(Activation activation);

// Applies a fused activation to every element.
void ApplyActivation(Activation activation, std::span<double> values);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_ELEMENTWISE_TABLE_H_
