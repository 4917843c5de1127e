// Binary operations: all ways to broadcast, all element types, and operands for which drivers' functions are undefined.
#include <fmt/format.h>

#include <cmath>

#include "conformance/conformance_case.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth::conformance {
namespace {

float Integral(float uniform) {  // -3 to 3
  return std::floor(uniform * 7.0f) - 3.0f;
}
float NonZero(float uniform) {  // -9 to 9 without 0
  const float number = std::floor(uniform * 18.0f) - 9.0f;
  return number < 0.0f ? number : number + 1.0f;
}

Exactness ExactnessOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kMaximum:
    case BinaryKind::kMinimum:
    case BinaryKind::kFloorDiv:
    case BinaryKind::kFloorMod: return {};
    case BinaryKind::kPow:
    case BinaryKind::kAtan2: return {0, kUlpsOfCurves};
    default: return RowOf(kind).rule == ElementRule::kNumbers ? Exactness{0, kUlpsOfArithmetic} : Exactness{};
  }
}

struct Fills {
  Fill lhs, rhs;
};
Fills RangesOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kDiv: return {Symmetric, Positive};
    case BinaryKind::kPow: return {Positive, Symmetric};
    // Exact quotients: a driver that multiplies by a reciprocal gets the same floor.
    case BinaryKind::kFloorDiv:
    case BinaryKind::kFloorMod: return {OffIntegers, PowerOfTwo};
    default: break;
  }
  const ElementRule rule = RowOf(kind).rule;
  const Fill fill = rule == ElementRule::kNumbers ? Symmetric : rule == ElementRule::kLogical ? ZeroOne : Integral;
  return {fill, fill};
}

ElementType ResultType(BinaryKind kind, const ElementType& operands) {
  return RowOf(kind).rule == ElementRule::kNumbers ? operands : Bools();
}

// The constant operand, or one value for both operands.
enum class Operands : uint8_t { kInputs, kConstantLeft, kConstantRight, kSame };

struct BinaryTest {
  BinaryTest(const Shape& a, const Shape& b, BinaryKind of, const ElementType& operand_type = {})
      : lhs(a), rhs(b), kind(of), fills(RangesOf(of)), type(operand_type), result_type(ResultType(of, operand_type)) {}

  Shape lhs, rhs;
  BinaryKind kind;
  Fills fills;
  ElementType type, result_type;
  Activation activation = Activation::kNone;
  Operands operands = Operands::kInputs;
};

ConformanceCase CaseOf(const BinaryTest& test, std::string name) {
  Exactness exactness = ExactnessOf(test.kind);
  if (test.activation == Activation::kTanh || test.activation == Activation::kSigmoid) exactness.ulps = kUlpsOfCurves;
  const auto build = [=](CaseGraph& graph) {
    const auto operand = [&](const Shape& shape, Fill fill, bool constant) {
      return constant ? graph.Constant(shape, fill, test.type) : graph.Input(shape, fill, test.type);
    };
    const ValueId a = operand(test.lhs, test.fills.lhs, test.operands == Operands::kConstantLeft);
    const ValueId b = test.operands == Operands::kSame
                          ? a
                          : operand(test.rhs, test.fills.rhs, test.operands == Operands::kConstantRight);
    return graph.Node(Binary{test.kind, test.activation}, {a, b}, test.result_type);
  };
  return NewCase({std::string(RowOf(test.kind).name), std::move(name), "binary"}, exactness, build, false);
}

std::string NameOf(const BinaryTest& test, std::string_view suffix) {
  return fmt::format("{}_{}{}", test.lhs, test.rhs, suffix);
}

ConformanceCase BinaryCase(const Shape& lhs, const Shape& rhs, BinaryKind kind, Activation activation, bool constant) {
  const ElementType type = RowOf(kind).rule == ElementRule::kLogical ? Bools() : ElementType{};
  BinaryTest test(lhs, rhs, kind, type);
  test.activation = activation;
  test.operands = constant ? Operands::kConstantRight : Operands::kInputs;
  ConformanceCase result =
      CaseOf(test, NameOf(test, fmt::format("{}_{}", constant ? "_constant" : "", ActivationName(activation))));
  result.every_path = kind == BinaryKind::kAdd || kind == BinaryKind::kSub;
  return result;
}

Fills IntegerRangesOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kDiv:
    case BinaryKind::kFloorDiv:
    case BinaryKind::kFloorMod: return {Signed100, NonZero};
    case BinaryKind::kPow: return {Integral, Integral};
    case BinaryKind::kRightShift: return {Signed100, Digits};
    default:
      return RowOf(kind).rule == ElementRule::kCompared ? Fills{Integral, Integral} : Fills{Signed100, Signed100};
  }
}

void AddIntegers(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& lhs, const Shape& rhs, BinaryKind kind, DType dtype, Fills fills) {
    BinaryTest test(lhs, rhs, kind, Integers(dtype));
    test.fills = fills;
    ConformanceCase result = CaseOf(test, NameOf(test, fmt::format("_{}", DTypeName(dtype))));
    result.exactness = {};
    cases.push_back(result);
  };
  for (const BinaryRow& row : BinaryRows()) {
    if (row.integer_text.empty()) continue;
    const Fills fills = IntegerRangesOf(row.kind);
    add({2, 3, 4, 5}, {5}, row.kind, DType::kInt32, fills);
    add({3, 1, 7}, {3, 2, 1}, row.kind, DType::kInt32, fills);
  }
  for (BinaryKind kind : {BinaryKind::kSub, BinaryKind::kLess, BinaryKind::kFloorDiv}) {
    const Fills fills = IntegerRangesOf(kind);
    add({2, 3, 5}, {2, 3, 5}, kind, DType::kInt32, fills);
    add({2, 3, 5}, {}, kind, DType::kInt32, fills);
    add({1}, {2, 3, 5}, kind, DType::kInt32, {fills.lhs, fills.rhs});
  }
  for (DType dtype : {DType::kUInt8, DType::kInt8, DType::kInt16}) {
    add({3, 5}, {3, 1}, BinaryKind::kRightShift, dtype, {Signed100, Digits});
    add({3, 5}, {3, 1}, BinaryKind::kBitwiseXor, dtype, {Digits, Signed100});
    add({3, 5}, {3, 5}, BinaryKind::kBitwiseAnd, dtype, {Digits, Signed100});
    add({3, 5}, {3, 1}, BinaryKind::kMaximum, dtype, {Digits, Signed100});
  }
  for (Activation activation : {Activation::kRelu, Activation::kRelu6, Activation::kReluN1To1}) {
    BinaryTest test({2, 7}, {7}, BinaryKind::kAdd, Integers());
    test.activation = activation;
    test.operands = Operands::kConstantRight;
    test.fills = {Integral, Digits};
    ConformanceCase result = CaseOf(test, fmt::format("int32_{}", ActivationName(activation)));
    result.exactness = {};
    cases.push_back(result);
  }
}

void AddQuantizedBinary(std::vector<ConformanceCase>& cases) {
  for (BinaryKind kind :
       {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kMaximum, BinaryKind::kSquaredDifference}) {
    for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
      BinaryTest test({2, 3, 4, 5}, {5}, kind, Quantized(dtype, 1.0f / 100, dtype == DType::kInt16 ? 0 : 11));
      test.result_type = Quantized(dtype, 1.0f / 50, dtype == DType::kInt16 ? 0 : 3);
      test.activation = kind == BinaryKind::kAdd ? Activation::kRelu : Activation::kNone;
      cases.push_back(CaseOf(test, fmt::format("quantized_{}", DTypeName(dtype))));
      // A result halfway between two numbers of the grid may be rounded to either.
      cases.back().exactness.ulps = kUlpsOfArithmetic;
    }
  }
  BinaryTest less({2, 3, 4, 5}, {5}, BinaryKind::kLess, Quantized(DType::kInt8, 1.0f / 100, 11));
  less.fills = {Symmetric, Symmetric};
  cases.push_back(CaseOf(less, "quantized_int8"));
}

// All ways to broadcast dimensions, at the lowest and highest ranks.
void AddBroadcasts(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, Shape> pairs[] = {
      {{}, {}},
      {{1}, {}},
      {{}, {7}},
      {{7}, {1}},
      {{1, 1, 1, 6}, {}},
      {{3, 1}, {1, 5}},
      {{3, 1, 2, 1}, {1, 4, 1, 9}},
      {{2, 3, 2, 3, 5}, {1, 3, 1, 1, 5}},
      {{2, 3, 2, 3, 5}, {2, 1, 2, 3, 5}},
      {{2, 1, 2, 1, 5}, {1, 3, 1, 4, 5}},
      {{2, 3, 2, 3, 5}, {3, 2, 3, 1}},
      {{3, 1, 1, 1}, {2, 3, 2, 3, 5}},
      {{2, 2, 3, 1, 2, 5}, {2, 1, 3, 1, 1, 5}},
      {{2, 1, 3, 1, 2, 1}, {3, 1, 4, 1, 5}},
      {{70001, 3}, {3}},
      {{3}, {5, 1, 1000, 3}},
  };
  for (const auto& [lhs, rhs] : pairs) {
    for (BinaryKind kind : {BinaryKind::kSub, BinaryKind::kLessEqual}) {
      const BinaryTest test(lhs, rhs, kind);
      cases.push_back(CaseOf(test, NameOf(test, "")));
    }
  }
  const std::pair<Operands, const char*> sources[] = {{Operands::kConstantLeft, "constant_left"},
                                                      {Operands::kConstantRight, "constant_right"},
                                                      {Operands::kSame, "same"}};
  for (const auto& [operands, name] : sources) {
    for (const Shape& rhs : {Shape{2, 3, 5}, {5}, {}}) {
      if (operands == Operands::kSame && rhs.rank() != 3) continue;
      for (BinaryKind kind : {BinaryKind::kSub, BinaryKind::kMul}) {
        const bool left = operands == Operands::kConstantLeft;
        BinaryTest test(left ? rhs : Shape{2, 3, 5}, left ? Shape{2, 3, 5} : rhs, kind);
        test.operands = operands;
        cases.push_back(CaseOf(test, NameOf(test, fmt::format("_{}", name))));
      }
    }
  }
}

// Operands for which drivers' functions are undefined and TFLite's are defined.
void AddEdges(std::vector<ConformanceCase>& cases) {
  const auto add = [&](BinaryKind kind, const char* name, Fill lhs, Fill rhs) {
    for (const Shape& shape : {Shape{4, 5, 7}, Shape{7}}) {
      BinaryTest test({4, 5, 7}, shape, kind);
      test.fills = {lhs, rhs};
      cases.push_back(CaseOf(test, NameOf(test, fmt::format("_{}", name))));
    }
  };
  add(BinaryKind::kPow, "negative_base", PowerOfTwo, Digits);
  add(BinaryKind::kPow, "zero", ZeroOne, Digits);
  add(BinaryKind::kDiv, "by_zero", PowerOfTwo, ZeroOne);
  add(BinaryKind::kAtan2, "zero", Integral, Integral);
  add(BinaryKind::kFloorMod, "whole_numbers", Signed100, NonZero);
  add(BinaryKind::kFloorDiv, "whole_numbers", Signed100, NonZero);
}

}  // namespace

void AddBinaryCases(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, Shape> shapes[] = {
      {{1, 3, 5, 7}, {1, 3, 5, 7}},                          // equal
      {{2, 3, 4, 5}, {5}},                                   // a channel vector
      {{2, 3, 4, 5}, {1}},                                   // one element
      {{2, 3, 4, 5}, {}},                                    // a scalar
      {{2, 3, 4, 5}, {2, 3, 4, 1}},                          // one number per pixel
      {{2, 3, 4, 5}, {3, 1, 5}},                             // another rank
      {{1, 1, 1, 6}, {2, 3, 2, 6}},                          // the left operand is broadcast
      {{1, 3, 1, 7}, {2, 1, 4, 1}},                          // both are broadcast
      {{3, 5}, {5}},                                         // rank 2
      {{4, 3, 5}, {3, 5}},                                   // rank 3 and 2
      {{2, 3, 1, 2, 2, 1, 2, 3}, {2, 1, 1, 2, 1, 1, 2, 3}},  // rank 8, which merges to four dimensions
  };
  for (const BinaryRow& row : BinaryRows()) {
    if (row.text.empty()) continue;  // integers only
    for (const auto& [lhs, rhs] : shapes) cases.push_back(BinaryCase(lhs, rhs, row.kind, Activation::kNone, false));
  }
  cases.push_back(BinaryCase({1, 4, 3, 9}, {9}, BinaryKind::kAdd, Activation::kRelu6, true));
  cases.push_back(BinaryCase({1, 4, 3, 9}, {1, 4, 3, 9}, BinaryKind::kSub, Activation::kReluN1To1, true));
  for (Activation activation : {Activation::kRelu, Activation::kTanh, Activation::kSigmoid}) {
    cases.push_back(BinaryCase({2, 3, 4, 5}, {2, 3, 4, 5}, BinaryKind::kAdd, activation, false));
    cases.push_back(BinaryCase({2, 3, 4, 5}, {5}, BinaryKind::kAdd, activation, false));
  }
  AddBroadcasts(cases);
  AddEdges(cases);
  AddQuantizedBinary(cases);
  AddIntegers(cases);
}

}  // namespace hearth::conformance
