// Unary operations, within the ranges where they are defined and at their limits.
#include <fmt/format.h>

#include <cmath>

#include "conformance/conformance_case.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth::conformance {
namespace {

bool IsExact(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::kAbs:
    case UnaryKind::kCeil:
    case UnaryKind::kFloor:
    case UnaryKind::kNeg:
    case UnaryKind::kRelu:
    case UnaryKind::kRelu0To1:
    case UnaryKind::kRelu6:
    case UnaryKind::kReluN1To1:
    case UnaryKind::kRound:
    case UnaryKind::kSign:
    case UnaryKind::kLogicalNot:
    case UnaryKind::kCopy: return true;
    default: return false;
  }
}

Fill RangeOf(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::kCeil:
    case UnaryKind::kFloor:
    case UnaryKind::kRound: return OffIntegers;
    case UnaryKind::kLog:
    case UnaryKind::kRsqrt:
    case UnaryKind::kSqrt: return Positive;
    case UnaryKind::kExp: return Symmetric;
    default: return Wide;
  }
}

ConformanceCase UnaryCase(const Shape& input, const UnaryRow& row) {
  ConformanceCase result;
  result.family = "unary";
  result.op = std::string(row.name);
  result.name = input.ToString();
  const bool arithmetic = row.kind == UnaryKind::kSquare || row.kind == UnaryKind::kLeakyRelu ||
                          row.kind == UnaryKind::kHardSwish || row.kind == UnaryKind::kSqrt;
  result.exactness.ulps = IsExact(row.kind) ? 0.0 : arithmetic ? kUlpsOfArithmetic : kUlpsOfCurves;
  // Two functions run with every access path; the others differ only in arithmetic.
  result.every_path = row.kind == UnaryKind::kRelu || row.kind == UnaryKind::kTanh;
  result.build = [input, kind = row.kind, logical = row.rule == ElementRule::kLogical](CaseGraph& graph) {
    if (logical) return graph.Node(Unary{kind}, {graph.Input(input, ZeroOne, Bools())}, Bools());
    return graph.Node(Unary{kind, kind == UnaryKind::kLeakyRelu ? 0.3f : 0.0f}, {graph.Input(input, RangeOf(kind))});
  };
  return result;
}

// Numbers far from zero, where exponentials exceed the range of floats.
float Extreme(float uniform) {
  constexpr float kNumbers[] = {-100.0f, -80.0f, -12.0f, 0.0f, 100.0f};
  return kNumbers[static_cast<int>(uniform * 5.0f)];
}

void AddExtremes(std::vector<ConformanceCase>& cases) {
  for (UnaryKind kind : {UnaryKind::kElu, UnaryKind::kExp, UnaryKind::kGelu, UnaryKind::kGeluTanh,
                         UnaryKind::kHardSwish, UnaryKind::kLogistic, UnaryKind::kTanh}) {
    ConformanceCase result = UnaryCase({2, 3, 7}, RowOf(kind));
    result.name = "extreme_numbers";
    result.every_path = false;
    result.build = [kind](CaseGraph& graph) { return graph.Node(Unary{kind}, {graph.Input({2, 3, 7}, Extreme)}); };
    cases.push_back(result);
  }
  ConformanceCase steep = UnaryCase({2, 3, 7}, RowOf(UnaryKind::kLeakyRelu));
  steep.name = "steep";
  steep.build = [](CaseGraph& graph) {
    return graph.Node(Unary{UnaryKind::kLeakyRelu, 2.5f}, {graph.Input({2, 3, 7}, Wide)});
  };
  cases.push_back(steep);
}

void AddUnaryOfIntegers(std::vector<ConformanceCase>& cases) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.integer_text.empty()) continue;
    ConformanceCase result;
    result.family = "unary";
    result.op = std::string(row.name);
    result.name = "2x3x5_int32";
    result.every_path = false;
    result.build = [kind = row.kind](CaseGraph& graph) {
      return graph.Node(Unary{kind}, {graph.Input({2, 3, 5}, Signed100, Integers())}, Integers());
    };
    cases.push_back(result);
  }
}

}  // namespace

void AddElementwiseCases(std::vector<ConformanceCase>& cases) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.rule == ElementRule::kConverted) continue;  // cases_convert.cc
    for (const Shape& input : {Shape{1, 3, 5, 7}, {2, 1, 1, 16}, {5}}) cases.push_back(UnaryCase(input, row));
  }
  AddExtremes(cases);
  AddUnaryOfIntegers(cases);
}

}  // namespace hearth::conformance
