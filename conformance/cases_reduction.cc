// Operations that sum over channels or whole images: softmax, mean, fully connected.
#include <fmt/format.h>

#include <cmath>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

void AddSoftmax(std::vector<ConformanceCase>& cases) {
  const Shape shapes[] = {{1, 1},   {1, 2},    {3, 3}, {1, 5},    {2, 17},      {1, 64},       {1, 127},      {2, 128},
                          {1, 129}, {1, 1001}, {5},    {2, 3, 7}, {1, 4, 5, 3}, {2, 3, 3, 21}, {1, 2, 2, 130}};
  for (const Shape& shape : shapes) {
    for (float beta : {1.0f, 0.5f}) {
      ConformanceCase result;
      result.family = result.op = "softmax";
      result.name = fmt::format("{}_beta{}", shape.ToString(), beta);
      // A sum of positive numbers that is normalized to 1: its roundings don't add up.
      result.exactness = {1, kUlpsOfCurves};
      result.build = [=](CaseGraph& graph) { return graph.Node(Softmax{beta}, {graph.Input(shape, Wide)}); };
      cases.push_back(result);
    }
  }
  // With a factor below 0 the smallest number of a row has the largest exponential: relative to the largest number they
  // would overflow. The numbers fit into 16 bits, because the factor multiplies their roundings too.
  for (float beta : {-1.0f, -40.0f}) {
    cases.push_back(NewCase("softmax", fmt::format("1x3x7_beta{}", beta), {1, 64.0}, [=](CaseGraph& graph) {
      return graph.Node(Softmax{beta}, {graph.Input({1, 3, 7}, PowerOfTwo)});
    }));
  }
}

void AddMean(std::vector<ConformanceCase>& cases) {
  struct Axes {
    Shape input;
    uint32_t mask;
  };
  const Axes axes[] = {
      {{1, 7, 7, 5}, 6}, {{2, 3, 4, 17}, 6}, {{1, 1, 1, 3}, 6},  {{1, 5, 1, 8}, 2},   {{1, 1, 9, 4}, 4},
      {{3, 4, 5, 1}, 6}, {{2, 3, 4, 5}, 14}, {{1, 6, 5, 3}, 14}, {{1, 16, 16, 7}, 6}, {{1, 1, 4, 7}, 12},
      {{2, 5, 7}, 2},    {{2, 3, 4, 5}, 8},  {{2, 3, 4, 5}, 1},  {{2, 3, 4, 5}, 2},   {{2, 2, 3, 4, 5}, 4},
  };
  for (const Axes& over : axes) {
    for (bool keep : {true, false}) {
      ConformanceCase result;
      result.family = result.op = "mean";
      result.name = fmt::format("{}_over{}{}", over.input.ToString(), over.mask, keep ? "_keep" : "");
      int64_t terms = 1;
      for (int d = 0; d < over.input.rank(); ++d) terms *= (over.mask >> d & 1) != 0 ? over.input[d] : 1;
      result.exactness = {terms, 4.0};
      result.build = [=](CaseGraph& graph) {
        return graph.Node(Reduce{ReduceKind::kMean, over.mask, keep}, {graph.Input(over.input)});
      };
      cases.push_back(result);
    }
  }
}

// Long loops: llvmpipe silently ends a work item's loops after 65,535 iterations in all. Sums of digits are exact.
void AddLongSums(std::vector<ConformanceCase>& cases) {
  const Shape shapes[] = {{1, 400, 400, 1}, {1, 1600, 1600, 1}, {1, 1, 70000, 4}, {1, 1100, 1, 900}};
  for (const Shape& shape : shapes) {
    for (uint32_t mask : {6u, 14u}) {
      ConformanceCase result;
      result.family = "long_sum";
      result.op = "sum";
      result.name = fmt::format("long_{}_over{}", shape.ToString(), mask);
      result.build = [=](CaseGraph& graph) {
        return graph.Node(Reduce{ReduceKind::kSum, mask, true}, {graph.Input(shape, Digits)});
      };
      cases.push_back(result);
    }
  }
}

// Every kind, with dimensions that don't merge, with shared and simple kernels, for integers and bool.
void AddReduce(std::vector<ConformanceCase>& cases) {
  struct Kind {
    ReduceKind kind;
    const char* name;
  };
  const Kind kinds[] = {{ReduceKind::kMean, "mean"},        {ReduceKind::kSum, "sum"},
                        {ReduceKind::kMax, "reduce_max"},   {ReduceKind::kMin, "reduce_min"},
                        {ReduceKind::kProd, "reduce_prod"}, {ReduceKind::kAny, "reduce_any"},
                        {ReduceKind::kAll, "reduce_all"}};
  const std::pair<Shape, uint32_t> shapes[] = {
      {{}, 0},
      {{7}, 1},
      {{3, 6}, 1},
      {{3, 6}, 2},
      {{2, 3, 5}, 5},
      {{2, 3, 5}, 3},
      {{2, 3, 4, 5}, 0},
      {{2, 3, 4, 5}, 5},
      {{2, 3, 4, 5}, 10},
      {{2, 3, 4, 5}, 15},
      {{1, 1, 1, 9}, 8},
      {{1, 3, 3, 1}, 8},
      {{2, 3, 2, 3, 5}, 10},
      {{2, 3, 2, 3, 5}, 21},
      {{2, 3, 2, 3, 2, 3}, 42},
      {{2, 3, 2, 1, 3, 2, 2, 5}, 46},
      {{1, 150, 5}, 2},
      {{1, 600}, 2},
  };
  for (const Kind& kind : kinds) {
    const bool logical = kind.kind == ReduceKind::kAny || kind.kind == ReduceKind::kAll;
    for (const auto& [shape, mask] : shapes) {
      for (bool integers : {false, true}) {
        if (logical && integers) continue;
        const bool keep = (mask & 2) != 0;
        const ElementType type = logical ? Bools() : integers ? Integers() : ElementType{};
        int64_t terms = 1;
        for (int d = 0; d < shape.rank(); ++d) terms *= (mask >> d & 1) != 0 ? shape[d] : 1;
        // Products of powers of two are exact unless they overflow float16.
        const bool product = kind.kind == ReduceKind::kProd;
        if (product && terms > 12) continue;
        // Long reductions have programs of their own, which take time to compile: two kinds suffice.
        const bool is_long = terms >= 128;
        if (is_long && kind.kind != ReduceKind::kSum && kind.kind != ReduceKind::kMax) continue;
        const Fill fill = logical    ? ZeroOne
                          : product  ? (integers ? Digits : PowerOfTwo)
                          : integers ? Signed100
                                     : Symmetric;
        const bool sums = kind.kind == ReduceKind::kMean || kind.kind == ReduceKind::kSum;
        ConformanceCase result;
        result.family = "reduce";
        result.op = kind.name;
        result.name =
            fmt::format("{}_over{}{}{}", shape.ToString(), mask, keep ? "_keep" : "", integers ? "_int32" : "");
        if (sums && !integers) result.exactness = {terms, 4.0};
        result.build = [=, shape = shape, mask = mask](CaseGraph& graph) {
          return graph.Node(Reduce{kind.kind, mask, keep}, {graph.Input(shape, fill, type)}, type);
        };
        result.every_path = sums && !integers;
        cases.push_back(result);
      }
    }
  }
}

float AnyInt32(float uniform) {
  return std::floor((uniform - 0.5f) * 0x1p32f);
}

// Their sums leave 32 bits.
void AddMeansOfLargeIntegers(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, uint32_t> shapes[] = {{{4}, 1},          {{2, 4000}, 2},     {{4000, 3}, 1},
                                               {{2, 5, 7, 6}, 6}, {{2, 5, 7, 6}, 15}, {{3, 300, 9}, 6}};
  for (const auto& [shape, mask] : shapes) {
    cases.push_back(NewCase(
        "mean", fmt::format("{}_over{}_large_int32", shape.ToString(), mask), {},
        [shape = shape, mask = mask](CaseGraph& graph) {
          return graph.Node(Reduce{ReduceKind::kMean, mask}, {graph.Input(shape, AnyInt32, Integers())}, Integers());
        }));
  }
}

// int8 to a grid with another scale, which some sums exceed.
void AddQuantizedReduce(std::vector<ConformanceCase>& cases) {
  const ElementType from = Quantized(DType::kInt8, 1.0f / 64, 5), to = Quantized(DType::kInt8, 1.0f / 16, -9);
  const std::pair<const char*, ReduceKind> kinds[] = {
      {"mean", ReduceKind::kMean}, {"sum", ReduceKind::kSum}, {"reduce_max", ReduceKind::kMax}};
  for (const auto& [name, kind] : kinds) {
    for (uint32_t mask : {2u, 6u, 8u, 9u}) {
      const bool searches = kind == ReduceKind::kMax;
      ConformanceCase result;
      result.family = "reduce";
      result.op = name;
      result.name = fmt::format("2x6x5x7_over{}_int8", mask);
      result.exactness = {searches ? 0 : 30, searches ? 0.0 : 4.0};
      result.build = [=, kind = kind](CaseGraph& graph) {
        return graph.Node(Reduce{kind, mask}, {graph.Input({2, 6, 5, 7}, Symmetric, from)}, searches ? from : to);
      };
      result.every_path = false;
      cases.push_back(result);
    }
  }
}

ConformanceCase FullyConnectedCase(const Shape& input, int32_t outputs, const FullyConnected& fc, bool bias) {
  ConformanceCase result;
  result.family = result.op = "fully_connected";
  const int32_t inputs = input[input.rank() - 1];
  result.name = fmt::format("{}_to_{}{}{}_{}", input.ToString(), outputs, bias ? "" : "_nobias",
                            fc.keep_dims ? "_keep" : "", ActivationName(fc.activation));
  result.exactness = {inputs, 2.0};
  result.build = [=](CaseGraph& graph) {
    const ValueId x = graph.Input(input);
    const ValueId w = graph.Constant({outputs, inputs});
    return graph.Node(fc, {x, w, bias ? graph.Constant({outputs}) : kNoValue});
  };
  return result;
}

void AddFullyConnected(std::vector<ConformanceCase>& cases) {
  for (int32_t rows : {1, 5, 70}) {
    for (const auto& [inputs, outputs] : {std::pair{1, 1}, {3, 5}, {17, 7}, {64, 10}, {130, 33}}) {
      cases.push_back(FullyConnectedCase({rows, inputs}, outputs, {}, true));
    }
  }
  cases.push_back(FullyConnectedCase({1, 20}, 6, {false, Activation::kRelu6}, false));
  cases.push_back(FullyConnectedCase({2, 3, 9}, 6, {true, Activation::kRelu}, true));
  cases.push_back(FullyConnectedCase({2, 3, 9}, 6, {false, Activation::kNone}, true));
  cases.push_back(FullyConnectedCase({2, 2, 3, 5}, 7, {true, Activation::kReluN1To1}, true));
}

}  // namespace

void AddReductionCases(std::vector<ConformanceCase>& cases) {
  AddSoftmax(cases);
  AddMean(cases);
  AddLongSums(cases);
  AddReduce(cases);
  AddMeansOfLargeIntegers(cases);
  AddQuantizedReduce(cases);
  AddFullyConnected(cases);
}

}  // namespace hearth::conformance
