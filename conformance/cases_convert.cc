// Operations that convert or select elements: cast, quantize, select, prelu, add_n.
#include <fmt/format.h>

#include <cmath>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

float Quarters(float uniform) {  // multiples of a quarter in [-100, 100)
  return std::floor(uniform * 800.0f) * 0.25f - 100.0f;
}
float Thousands(float uniform) {  // integers from -1000 to 1000: more than 8 bits hold
  return std::floor(uniform * 2001.0f) - 1000.0f;
}

Fill RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat16: return Quarters;
    case DType::kInt8: return Signed100;
    case DType::kUInt8:
    case DType::kUInt16: return Digits;
    case DType::kBool: return ZeroOne;
    default: return Thousands;
  }
}

void AddCasts(std::vector<ConformanceCase>& cases) {
  const DType types[] = {DType::kFloat32, DType::kFloat16, DType::kInt32,  DType::kInt64, DType::kInt16,
                         DType::kInt8,    DType::kUInt8,   DType::kUInt16, DType::kBool};
  for (DType from : types) {
    for (DType to : types) {
      // int64 inputs may exceed a device's integers; the numbers of a constant are known.
      const auto operand = from == DType::kInt64 ? Const : In;
      cases.push_back(OneNode({"cast", fmt::format("{}_{}", DTypeName(from), DTypeName(to))}, {}, Cast{to},
                              {operand({2, 3, 7}, RangeOf(from), Integers(from))}, Integers(to), false));
    }
  }
  for (const Shape& shape : {Shape{}, {5}, {1, 2, 3, 2, 4}}) {
    cases.push_back(OneNode({"cast", fmt::format("float32_int32_{}", shape)}, {}, Cast{DType::kInt32},
                            {In(shape, Quarters)}, Integers(), false));
  }
}

void AddQuantization(std::vector<ConformanceCase>& cases) {
  const auto add = [&](UnaryKind kind, std::string_view name, const Exactness& exactness, const Operand& x,
                       const ElementType& type) {
    const CaseName of{kind == UnaryKind::kQuantize ? "quantize" : "dequantize", std::string(name), "convert"};
    cases.push_back(OneNode(of, exactness, Unary{kind}, {x}, type, false));
  };
  const Shape shape = {2, 3, 7};
  for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
    const ElementType grid = Quantized(dtype, 1.0f / 64, dtype == DType::kInt16 ? 0 : 5);
    const ElementType other = Quantized(dtype == DType::kInt8 ? DType::kUInt8 : DType::kInt8, 1.0f / 50, 7);
    add(UnaryKind::kQuantize, DTypeName(dtype), {0, 1.0}, In(shape, Wide), grid);
    add(UnaryKind::kQuantize, fmt::format("{}_again", DTypeName(dtype)), {0, 1.0}, In(shape, Symmetric, grid), other);
    add(UnaryKind::kDequantize, DTypeName(dtype), {0, 1.0}, In(shape, Symmetric, grid), {});
  }
  add(UnaryKind::kDequantize, "float16", {}, In(shape, Symmetric, {DType::kFloat16, {}}), {});
}

void AddSelects(std::vector<ConformanceCase>& cases) {
  struct Shapes {
    Shape condition, a, b;
  };
  const Shapes shapes[] = {
      {{2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}},
      {{}, {2, 3, 5}, {2, 3, 5}},
      {{2, 3, 4, 1}, {2, 3, 4, 5}, {}},
      {{5}, {2, 3, 4, 5}, {2, 3, 4, 1}},
      {{2, 1, 4, 1}, {3, 1, 5}, {1, 3, 4, 5}},
      {{2, 3, 1, 1, 5}, {1, 3, 2, 3, 1}, {2, 1, 2, 1, 5}},
      {{2, 1, 2, 1, 1, 5}, {3, 1, 1, 2, 5}, {2, 1, 1, 1, 1, 1}},
      {{2, 1, 2, 2, 1, 1, 2, 3}, {2, 3, 2, 2, 2, 2, 2, 3}, {2, 3, 2, 2, 2, 2, 2, 1}},
      {{7}, {7}, {1}},
      {{}, {}, {}},
      {{3, 1}, {1, 6}, {3, 6}},
  };
  for (const Shapes& of : shapes) {
    for (const ElementType& type : {ElementType{}, Integers()}) {
      const std::string name = fmt::format("{}_{}_{}_{}", of.condition, of.a, of.b, DTypeName(type.dtype));
      cases.push_back(
          OneNode({"select", name}, {}, Select{},
                  {In(of.condition, ZeroOne, Bools()), In(of.a, Signed100, type), Const(of.b, Signed100, type)}, type,
                  type.dtype == DType::kFloat32 && of.condition.rank() == 4));
    }
  }
  for (const Shape& shape : {Shape{6}, {5, 3}, {5, 2, 7}, {3, 2, 3, 5}, {6, 2, 1, 2, 5}}) {
    for (const ElementType& type : {ElementType{}, Integers(), Quantized(DType::kInt8, 1.0f, 0)}) {
      const std::string name = fmt::format("{}_{}", shape, DTypeName(type.dtype));
      cases.push_back(OneNode(
          {"select_rows", name, "select"}, {}, SelectRows{},
          {In({shape[0]}, ZeroOne, Bools()), In(shape, Signed100, type), In(shape, Signed100, type)}, type, false));
    }
  }
}

void AddPRelus(std::vector<ConformanceCase>& cases) {
  struct Shapes {
    Shape x, alpha;
  };
  const Shapes shapes[] = {
      {{2, 3, 4, 5}, {5}},
      {{2, 3, 4, 5}, {1, 1, 5}},
      {{1, 4, 3, 8}, {1, 1, 8}},
      {{2, 3, 4, 5}, {3, 4, 5}},
      {{2, 3, 4, 5}, {3, 4, 1}},
      {{2, 3, 4, 5}, {2, 3, 4, 5}},
      {{2, 3, 4, 5}, {1}},
      {{3, 7}, {7}},
      {{2, 3, 7}, {3, 1}},
      {{2, 3, 2, 2, 5}, {5}},
      {{7}, {7}},
      {{}, {}},
  };
  for (const Shapes& of : shapes) {
    cases.push_back(OneNode({"prelu", fmt::format("{}_{}", of.x, of.alpha)}, {0, 1.0}, PRelu{},
                            {In(of.x, Wide), Const(of.alpha, Wide)}, {}, of.alpha.rank() == 1));
  }
  const ElementType grid = Quantized(DType::kInt8, 1.0f / 64, -3);
  cases.push_back(OneNode({"prelu", "quantized_int8"}, {0, 1.0}, PRelu{},
                          {In({2, 3, 5}, Symmetric, grid), Const({5}, Symmetric, grid)}, grid, false));
}

void AddSums(std::vector<ConformanceCase>& cases) {
  for (int count : {1, 2, 3, 4, 6, 9}) {
    for (const ElementType& type : {ElementType{}, Integers()}) {
      const bool real = type.dtype == DType::kFloat32;
      std::vector<Operand> inputs;
      for (int k = 0; k < count; ++k)
        inputs.push_back((k == 1 ? Const : In)({2, 3, 5}, real ? Symmetric : Signed100, type));
      cases.push_back(OneNode({"add_n", fmt::format("{}_{}", count, DTypeName(type.dtype))},
                              {real && count > 1 ? count : 0, 0}, AddN{}, inputs, type, count == 4));
    }
  }
  cases.push_back(NewCase(
      {"add_n", "one_three_times"}, {3, 0},
      [](CaseGraph& graph) {
        const ValueId x = graph.Input({2, 3, 5});
        return graph.Node(AddN{}, {x, x, x});
      },
      false));
}

}  // namespace

void AddConvertCases(std::vector<ConformanceCase>& cases) {
  AddCasts(cases);
  AddQuantization(cases);
  AddSelects(cases);
  AddPRelus(cases);
  AddSums(cases);
}

}  // namespace hearth::conformance
