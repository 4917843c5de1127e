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

ConformanceCase ConvertCase(const char* family, const char* op, std::string name, Exactness exactness = {}) {
  ConformanceCase result;
  result.family = family;
  result.op = op;
  result.name = std::move(name);
  result.exactness = exactness;
  result.every_path = false;
  return result;
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
      ConformanceCase result = ConvertCase("cast", "cast", fmt::format("{}_{}", DTypeName(from), DTypeName(to)));
      result.build = [=](CaseGraph& graph) {
        const Shape shape = {2, 3, 7};
        // int64 inputs may exceed a device's integers; the numbers of a constant are known.
        const ValueId x = from == DType::kInt64 ? graph.Constant(shape, RangeOf(from), Integers(from))
                                                : graph.Input(shape, RangeOf(from), Integers(from));
        return graph.Node(Cast{to}, {x}, Integers(to));
      };
      cases.push_back(result);
    }
  }
  for (const Shape& shape : {Shape{}, {5}, {1, 2, 3, 2, 4}}) {
    ConformanceCase result = ConvertCase("cast", "cast", fmt::format("float32_int32_{}", shape.ToString()));
    result.build = [=](CaseGraph& graph) {
      return graph.Node(Cast{DType::kInt32}, {graph.Input(shape, Quarters)}, Integers());
    };
    cases.push_back(result);
  }
}

void AddQuantization(std::vector<ConformanceCase>& cases) {
  for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16}) {
    const ElementType grid = Quantized(dtype, 1.0f / 64, dtype == DType::kInt16 ? 0 : 5);
    const ElementType other = Quantized(dtype == DType::kInt8 ? DType::kUInt8 : DType::kInt8, 1.0f / 50, 7);
    ConformanceCase quantize = ConvertCase("convert", "quantize", std::string(DTypeName(dtype)), {0, 1.0});
    quantize.build = [=](CaseGraph& graph) {
      return graph.Node(Unary{UnaryKind::kQuantize}, {graph.Input({2, 3, 7}, Wide)}, grid);
    };
    cases.push_back(quantize);
    ConformanceCase again = ConvertCase("convert", "quantize", fmt::format("{}_again", DTypeName(dtype)), {0, 1.0});
    again.build = [=](CaseGraph& graph) {
      return graph.Node(Unary{UnaryKind::kQuantize}, {graph.Input({2, 3, 7}, Symmetric, grid)}, other);
    };
    cases.push_back(again);
    ConformanceCase dequantize = ConvertCase("convert", "dequantize", std::string(DTypeName(dtype)), {0, 1.0});
    dequantize.build = [=](CaseGraph& graph) {
      return graph.Node(Unary{UnaryKind::kDequantize}, {graph.Input({2, 3, 7}, Symmetric, grid)});
    };
    cases.push_back(dequantize);
  }
  ConformanceCase halves = ConvertCase("convert", "dequantize", "float16");
  halves.build = [](CaseGraph& graph) {
    return graph.Node(Unary{UnaryKind::kDequantize}, {graph.Input({2, 3, 7}, Symmetric, {DType::kFloat16, {}})});
  };
  cases.push_back(halves);
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
      ConformanceCase result = ConvertCase(
          "select", "select",
          fmt::format("{}_{}_{}_{}", of.condition.ToString(), of.a.ToString(), of.b.ToString(), DTypeName(type.dtype)));
      result.every_path = type.dtype == DType::kFloat32 && of.condition.rank() == 4;
      result.build = [=](CaseGraph& graph) {
        return graph.Node(Select{},
                          {graph.Input(of.condition, ZeroOne, Bools()), graph.Input(of.a, Signed100, type),
                           graph.Constant(of.b, Signed100, type)},
                          type);
      };
      cases.push_back(result);
    }
  }
  for (const Shape& shape : {Shape{6}, {5, 3}, {5, 2, 7}, {3, 2, 3, 5}, {6, 2, 1, 2, 5}}) {
    for (const ElementType& type : {ElementType{}, Integers(), Quantized(DType::kInt8, 1.0f, 0)}) {
      ConformanceCase result =
          ConvertCase("select", "select_rows", fmt::format("{}_{}", shape.ToString(), DTypeName(type.dtype)));
      result.build = [=](CaseGraph& graph) {
        return graph.Node(SelectRows{},
                          {graph.Input({shape[0]}, ZeroOne, Bools()), graph.Input(shape, Signed100, type),
                           graph.Input(shape, Signed100, type)},
                          type);
      };
      cases.push_back(result);
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
    ConformanceCase result =
        ConvertCase("prelu", "prelu", fmt::format("{}_{}", of.x.ToString(), of.alpha.ToString()), {0, 1.0});
    result.every_path = of.alpha.rank() == 1;
    result.build = [=](CaseGraph& graph) {
      return graph.Node(PRelu{}, {graph.Input(of.x, Wide), graph.Constant(of.alpha, Wide)});
    };
    cases.push_back(result);
  }
  ConformanceCase quantized = ConvertCase("prelu", "prelu", "quantized_int8", {0, 1.0});
  quantized.build = [](CaseGraph& graph) {
    const ElementType grid = Quantized(DType::kInt8, 1.0f / 64, -3);
    return graph.Node(PRelu{}, {graph.Input({2, 3, 5}, Symmetric, grid), graph.Constant({5}, Symmetric, grid)}, grid);
  };
  cases.push_back(quantized);
}

void AddSums(std::vector<ConformanceCase>& cases) {
  for (int count : {1, 2, 3, 4, 6, 9}) {
    for (const ElementType& type : {ElementType{}, Integers()}) {
      const bool real = type.dtype == DType::kFloat32;
      ConformanceCase result = ConvertCase("add_n", "add_n", fmt::format("{}_{}", count, DTypeName(type.dtype)),
                                           {real && count > 1 ? count : 0, 0});
      result.every_path = count == 4;
      result.build = [=](CaseGraph& graph) {
        std::vector<ValueId> inputs;
        for (int k = 0; k < count; ++k) {
          inputs.push_back(k == 1 ? graph.Constant({2, 3, 5}, real ? Symmetric : Signed100, type)
                                  : graph.Input({2, 3, 5}, real ? Symmetric : Signed100, type));
        }
        return graph.Node(AddN{}, inputs, type);
      };
      cases.push_back(result);
    }
  }
  ConformanceCase same = ConvertCase("add_n", "add_n", "one_three_times", {3, 0});
  same.build = [](CaseGraph& graph) {
    const ValueId x = graph.Input({2, 3, 5});
    return graph.Node(AddN{}, {x, x, x});
  };
  cases.push_back(same);
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
