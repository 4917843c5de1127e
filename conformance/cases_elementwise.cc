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

Exactness ExactnessOf(UnaryKind kind) {
  const bool arithmetic = kind == UnaryKind::kSquare || kind == UnaryKind::kLeakyRelu ||
                          kind == UnaryKind::kHardSwish || kind == UnaryKind::kSqrt;
  return {0, IsExact(kind) ? 0.0 : arithmetic ? kUlpsOfArithmetic : kUlpsOfCurves};
}

ConformanceCase UnaryCase(const Unary& unary, const std::string& name, const Operand& x) {
  const Exactness exactness = x.type.dtype == DType::kFloat32 ? ExactnessOf(unary.kind) : Exactness{};
  return OneNode({std::string(RowOf(unary.kind).name), name, "unary"}, exactness, unary, {x}, x.type, false);
}

// Numbers far from zero, where exponentials exceed the range of floats.
float Extreme(float uniform) {
  constexpr float kNumbers[] = {-100.0f, -80.0f, -12.0f, 0.0f, 100.0f};
  return kNumbers[static_cast<int>(uniform * 5.0f)];
}

void AddExtremes(std::vector<ConformanceCase>& cases) {
  for (UnaryKind kind : {UnaryKind::kElu, UnaryKind::kErf, UnaryKind::kExp, UnaryKind::kGelu, UnaryKind::kGeluTanh,
                         UnaryKind::kHardSwish, UnaryKind::kLogistic, UnaryKind::kTanh}) {
    cases.push_back(UnaryCase({kind}, "extreme_numbers", In({2, 3, 7}, Extreme)));
  }
  cases.push_back(UnaryCase({UnaryKind::kLeakyRelu, 2.5f}, "steep", In({2, 3, 7}, Wide)));
}

void AddUnaryOfIntegers(std::vector<ConformanceCase>& cases) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.integer_text.empty()) continue;
    cases.push_back(UnaryCase({row.kind}, "2x3x5_int32", In({2, 3, 5}, Signed100, Integers())));
  }
}

}  // namespace

void AddElementwiseCases(std::vector<ConformanceCase>& cases) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.rule == ElementRule::kConverted) continue;  // cases_convert.cc
    const bool logical = row.rule == ElementRule::kLogical;
    for (const Shape& shape : {Shape{1, 3, 5, 7}, {2, 1, 1, 16}, {5}}) {
      const Operand x = logical ? In(shape, ZeroOne, Bools()) : In(shape, RangeOf(row.kind));
      const Unary unary{row.kind, row.kind == UnaryKind::kLeakyRelu ? 0.3f : 0.0f};
      cases.push_back(UnaryCase(unary, shape.ToString(), x));
      // Two functions run with every access path; the others differ only in arithmetic.
      cases.back().every_path = row.kind == UnaryKind::kRelu || row.kind == UnaryKind::kTanh;
    }
  }
  AddExtremes(cases);
  AddUnaryOfIntegers(cases);
}

}  // namespace hearth::conformance
