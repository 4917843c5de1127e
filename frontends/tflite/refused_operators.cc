#include "frontends/tflite/refused_operators.h"

#include <algorithm>
#include <iterator>

#include "core/base/contains.h"

namespace hearth {
namespace {

struct RefusedRow {
  int32_t code;
  std::string_view why;
};

constexpr std::string_view
    kStrings = "it works on strings or hash tables, which Hearth does not support: do this step before the model",
    kLoop =
        "it names no subgraph to call, or its branches make different shapes, or a tensor grows in each turn of a loop "
        "whose end depends on data (the message names it): in Keras convert recurrent layers with unroll=True and a "
        "fixed length; let each turn write into a tensor of the largest size",
    kVariables =
        "a resource variable whose first value is not known when the model is read, or which holds strings: give the "
        "variable a constant first value, or pass what it holds as an input and an output",
    kStableHlo = "an operator of StableHLO that LiteRT has no kernel for either: convert to TFLite's own operators",
    kRare = "not offered", kCalls = "it names no subgraph to call";

// Sorted by code.
constexpr RefusedRow kRefused[] = {
    {10, kStrings},
    {15, kRare},
    {29, kRare},
    {30, kStrings},
    {31, kCalls},
    {51, "a delegate's own node, which no file should hold: convert the model again"},
    {77, "the shape of its operand is known at run time only: choose the inputs' shapes"},
    {93, "the shape of its operand is known at run time only: choose the inputs' shapes"},
    {96, "its length is known at run time only: choose the inputs' shapes"},
    {110, "the rank of its operand is known at run time only: choose the inputs' shapes"},
    {118, kLoop},
    {119, kLoop},
    {124, "its operand is not a constant"},
    {127, "a placeholder, not an operator: the file is damaged"},
    {129, kVariables},
    {136, kStrings},
    {137, kStrings},
    {138, kStrings},
    {139, kStrings},
    {142, kVariables},
    {143, kVariables},
    {144, kVariables},
    {145, "its operands are shapes that are computed from data"},
    {206, kCalls},
    {209, kCalls},
};
static_assert(std::is_sorted(std::begin(kRefused), std::end(kRefused),
                             [](const RefusedRow& a, const RefusedRow& b) { return a.code < b.code; }));

// The StableHLO operators that are read.
constexpr int32_t kReadHlo[] = {163, 165, 166, 171, 176, 181, 190, 191, 195, 198, 199, 201, 204, 207};

bool IsUnreadHlo(int32_t code) {
  const bool is_hlo = code >= 162 && code <= 208 && (code < 203 || code > 206);
  return is_hlo && !Contains(kReadHlo, code);
}

}  // namespace

std::string_view WhyRefused(int32_t code) {
  if (IsUnreadHlo(code)) return kStableHlo;
  const auto* row = std::lower_bound(std::begin(kRefused), std::end(kRefused), code,
                                     [](const RefusedRow& a, int32_t wanted) { return a.code < wanted; });
  return row != std::end(kRefused) && row->code == code ? row->why : std::string_view();
}

}  // namespace hearth
