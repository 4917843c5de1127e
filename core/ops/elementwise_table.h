// Everything known about elementwise operations, one row each: names, float64 meaning and kernel text.
//
// A kernel text is an expression of the kernel dialect over float4 values. It may use + - * / on
// float4, splat4, and the functions that the emitter's prelude defines for every dialect: vabs,
// vfloor, vceil, vround (half to even), vsign, vexp, vlog, vsqrt, vrsqrt, vsin, vcos, vtanh, verf,
// vpow(a, b), vmin(a, b), vmax(a, b), vclamp(v, low, high), and vselect_lt(a, b, x, y), which is
// a < b ? x : y per component. Arguments have no side effects; a text may repeat them.
#ifndef HEARTH_CORE_OPS_ELEMENTWISE_TABLE_H_
#define HEARTH_CORE_OPS_ELEMENTWISE_TABLE_H_

#include <span>
#include <string_view>

#include "core/op.h"

namespace hearth {

struct UnaryRow {
  UnaryKind kind;
  std::string_view name;
  double (*function)(double v, double alpha);
  std::string_view text;  // over float4 `v` and, where uses_alpha, float `alpha`
  bool uses_alpha = false;
};

struct BinaryRow {
  BinaryKind kind;
  std::string_view name;
  double (*function)(double a, double b);
  std::string_view text;          // over float4 `a` and `b`
  bool exact_on_integers = true;  // false: TFLite's integer form is another function
};

const UnaryRow& RowOf(UnaryKind kind);
const BinaryRow& RowOf(BinaryKind kind);
std::span<const UnaryRow> UnaryRows();
std::span<const BinaryRow> BinaryRows();

// The unary operation that a fused activation applies to the result; kCopy for kNone.
UnaryKind UnaryOf(Activation activation);

// Applies a fused activation to every element.
void ApplyActivation(Activation activation, std::span<double> values);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_ELEMENTWISE_TABLE_H_
