// Unary operations in ranges where they are defined, binary ones over every way to broadcast.
#include <fmt/format.h>

#include "core/ops/elementwise_table.h"
#include "tests/conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

// How far drivers may be off on functions that they build from others. OpenCL C 1.2 (table 7.1) allows full-profile
// exp 3, log 3, sin 4, tanh 5, pow 16, division 2.5 ulp; GLSL leaves most to "inherited from", exp2 with 3 + 2|x|.
constexpr double kArithmetic = 4.0;
constexpr double kCurved = 64.0;

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
  result.exactness.ulps = IsExact(row.kind) ? 0.0 : arithmetic ? kArithmetic : kCurved;
  // Some functions are read through every path; the rest differ from them in arithmetic only.
  result.every_path = row.kind == UnaryKind::kRelu || row.kind == UnaryKind::kTanh;
  result.build = [input, kind = row.kind](CaseGraph& graph) {
    return graph.Node(Unary{kind, kind == UnaryKind::kLeakyRelu ? 0.3f : 0.0f}, {graph.Input(input, RangeOf(kind))});
  };
  return result;
}

Exactness ExactnessOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kMaximum:
    case BinaryKind::kMinimum:
    case BinaryKind::kFloorDiv:
    case BinaryKind::kFloorMod: return {};
    case BinaryKind::kPow: return {0, kCurved};
    default: return {0, kArithmetic};
  }
}

struct Fills {
  Fill lhs, rhs;
};
Fills RangesOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kDiv: return {Symmetric, Positive};
    case BinaryKind::kPow: return {Positive, Symmetric};
    // Quotients without rounding: a driver that multiplies by a reciprocal gets the same floor.
    case BinaryKind::kFloorDiv:
    case BinaryKind::kFloorMod: return {OffIntegers, PowerOfTwo};
    default: return {Symmetric, Symmetric};
  }
}

ConformanceCase BinaryCase(const Shape& lhs, const Shape& rhs, BinaryKind kind, Activation activation, bool constant) {
  ConformanceCase result;
  result.family = "binary";
  result.op = std::string(RowOf(kind).name);
  result.name = fmt::format("{}_{}{}_{}", lhs.ToString(), rhs.ToString(), constant ? "_constant" : "",
                            ActivationName(activation));
  result.exactness = ExactnessOf(kind);
  if (activation == Activation::kTanh || activation == Activation::kSigmoid) result.exactness.ulps = kCurved;
  result.every_path = kind == BinaryKind::kAdd || kind == BinaryKind::kSub;
  result.build = [=](CaseGraph& graph) {
    const Fills fills = RangesOf(kind);
    const ValueId a = graph.Input(lhs, fills.lhs);
    const ValueId b = constant ? graph.Constant(rhs, fills.rhs) : graph.Input(rhs, fills.rhs);
    return graph.Node(Binary{kind, activation}, {a, b});
  };
  return result;
}

struct ShapePair {
  Shape lhs, rhs;
};

}  // namespace

void AddElementwiseCases(std::vector<ConformanceCase>& cases) {
  for (const UnaryRow& row : UnaryRows()) {
    for (const Shape& input : {Shape{1, 3, 5, 7}, {2, 1, 1, 16}, {5}}) cases.push_back(UnaryCase(input, row));
  }
  const ShapePair shapes[] = {
      {{1, 3, 5, 7}, {1, 3, 5, 7}},  // equal
      {{2, 3, 4, 5}, {5}},           // a channel vector
      {{2, 3, 4, 5}, {1}},           // one number
      {{2, 3, 4, 5}, {}},            // a scalar
      {{2, 3, 4, 5}, {2, 3, 4, 1}},  // a number per pixel
      {{2, 3, 4, 5}, {3, 1, 5}},     // another rank
      {{1, 1, 1, 6}, {2, 3, 2, 6}},  // the left one repeats
      {{1, 3, 1, 7}, {2, 1, 4, 1}},  // both repeat
      {{3, 5}, {5}},                 // rank 2
      {{4, 3, 5}, {3, 5}},           // rank 3 and 2
  };
  for (const BinaryRow& row : BinaryRows()) {
    for (const ShapePair& pair : shapes) {
      cases.push_back(BinaryCase(pair.lhs, pair.rhs, row.kind, Activation::kNone, false));
    }
  }
  cases.push_back(BinaryCase({1, 4, 3, 9}, {9}, BinaryKind::kAdd, Activation::kRelu6, true));
  cases.push_back(BinaryCase({1, 4, 3, 9}, {1, 4, 3, 9}, BinaryKind::kSub, Activation::kReluN1To1, true));
  for (Activation activation : {Activation::kRelu, Activation::kTanh, Activation::kSigmoid}) {
    cases.push_back(BinaryCase({2, 3, 4, 5}, {2, 3, 4, 5}, BinaryKind::kAdd, activation, false));
    cases.push_back(BinaryCase({2, 3, 4, 5}, {5}, BinaryKind::kAdd, activation, false));
  }
  cases.push_back(BinaryCase({2, 3, 2, 3, 5}, {1, 3, 1, 1, 5}, BinaryKind::kAdd, Activation::kNone, false));
}

}  // namespace hearth::conformance
