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
      // A sum of positive numbers that is normalized to 1: its roundings don't add up.
      cases.push_back(OneNode({"softmax", fmt::format("{}_beta{}", shape, beta)}, {1, kUlpsOfCurves}, Softmax{beta},
                              {In(shape, Wide)}));
    }
  }
  // With a factor below 0 the smallest number of a row has the largest exponential: relative to the largest number they
  // would overflow. The numbers fit into 16 bits, because the factor multiplies their roundings too.
  for (float beta : {-1.0f, -40.0f}) {
    cases.push_back(
        OneNode({"softmax", fmt::format("1x3x7_beta{}", beta)}, {1, 64.0}, Softmax{beta}, {In({1, 3, 7}, PowerOfTwo)}));
  }
}

// How many numbers are summed into one.
int64_t TermsOf(const Shape& shape, uint32_t mask) {
  int64_t terms = 1;
  for (int d = 0; d < shape.rank(); ++d) terms *= (mask >> d & 1) != 0 ? shape[d] : 1;
  return terms;
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
      const std::string name = fmt::format("{}_over{}{}", over.input, over.mask, keep ? "_keep" : "");
      cases.push_back(OneNode({"mean", name}, {TermsOf(over.input, over.mask), 4.0},
                              Reduce{ReduceKind::kMean, over.mask, keep}, {In(over.input)}));
    }
  }
}

// Long loops: llvmpipe silently ends a work item's loops after 65,535 iterations in all. Sums of digits are exact.
void AddLongSums(std::vector<ConformanceCase>& cases) {
  const Shape shapes[] = {{1, 400, 400, 1}, {1, 1600, 1600, 1}, {1, 1, 70000, 4}, {1, 1100, 1, 900}};
  for (const Shape& shape : shapes) {
    for (uint32_t mask : {6u, 14u}) {
      cases.push_back(OneNode({"sum", fmt::format("long_{}_over{}", shape, mask), "long_sum"}, {},
                              Reduce{ReduceKind::kSum, mask, true}, {In(shape, Digits)}));
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
        const int64_t terms = TermsOf(shape, mask);
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
        const std::string name =
            fmt::format("{}_over{}{}{}", shape, mask, keep ? "_keep" : "", integers ? "_int32" : "");
        const bool rounds = sums && !integers;
        cases.push_back(OneNode({kind.name, name, "reduce"}, rounds ? Exactness{terms, 4.0} : Exactness{},
                                Reduce{kind.kind, mask, keep}, {In(shape, fill, type)}, type, rounds));
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
        {"mean", fmt::format("{}_over{}_large_int32", shape, mask)}, {},
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
      cases.push_back(OneNode({name, fmt::format("2x6x5x7_over{}_int8", mask), "reduce"},
                              {searches ? 0 : 30, searches ? 0.0 : 4.0}, Reduce{kind, mask},
                              {In({2, 6, 5, 7}, Symmetric, from)}, searches ? from : to, false));
    }
  }
}

ConformanceCase FullyConnectedCase(const Shape& input, int32_t outputs, const FullyConnected& fc, bool bias) {
  const int32_t inputs = input[input.rank() - 1];
  const std::string name = fmt::format("{}_to_{}{}{}_{}", input, outputs, bias ? "" : "_nobias",
                                       fc.keep_dims ? "_keep" : "", ActivationName(fc.activation));
  return OneNode({"fully_connected", name}, {inputs, 2.0}, fc,
                 {In(input), Const({outputs, inputs}), If(bias, Const({outputs}))});
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
