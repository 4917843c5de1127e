// Two operations in sequence, of which the first leaves numbers in unused components. A texel holds 4 channels, so the
// last texel of 5 channels has 3 unused components. log(0), 0/0 or an overflowing exponential there must not reach the
// second operation.
#include <fmt/format.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

using Maker = ValueId (*)(CaseGraph&);

struct First {
  const char* name;
  Maker make;  // gives 1x4x5x5
};
const First kFirsts[] = {
    {"log",
     [](CaseGraph& g) {
       return g.Node(Unary{UnaryKind::kLog}, {g.Input({1, 4, 5, 5}, Positive)});
     }},
    {"rsqrt",
     [](CaseGraph& g) {
       return g.Node(Unary{UnaryKind::kRsqrt}, {g.Input({1, 4, 5, 5}, Positive)});
     }},
    {"div",
     [](CaseGraph& g) {
       const ValueId x = g.Input({1, 4, 5, 5});
       return g.Node(Binary{BinaryKind::kDiv}, {x, g.Input({1, 4, 5, 5}, Positive)});
     }},
    {"div_channels",
     [](CaseGraph& g) {
       const ValueId x = g.Input({1, 4, 5, 5});
       return g.Node(Binary{BinaryKind::kDiv}, {x, g.Constant({5}, Positive)});
     }},
    {"exp",
     [](CaseGraph& g) {
       const ValueId x = g.Input({1, 4, 5, 5});
       return g.Node(Unary{UnaryKind::kExp}, {g.Node(Unary{UnaryKind::kNeg}, {x})});
     }},
    {"concat",
     [](CaseGraph& g) {
       const ValueId x = g.Input({1, 4, 5, 3});
       return g.Node(Concat{}, {x, g.Input({1, 4, 5, 2})});
     }},
    {"reshape",
     [](CaseGraph& g) {
       return g.Node(Reshape{{1, 4, 5, 5}}, {g.Input({1, 100})});
     }},
    {"pad",
     [](CaseGraph& g) {
       return g.Node(Pad{{0, 0, 0, 1}, {0, 0, 0, 1}, 2.0f}, {g.Input({1, 4, 5, 3})});
     }},
    {"pool",
     [](CaseGraph& g) {
       return g.Node(Pool2D{PoolKind::kMax, 2, 2, {1, 1, 1, 1, {PaddingMode::kSame}}}, {g.Input({1, 4, 5, 5})});
     }},
    {"softmax",
     [](CaseGraph& g) {
       return g.Node(Softmax{}, {g.Input({1, 4, 5, 5})});
     }},
    {"softmax_of_low",
     [](CaseGraph& g) {
       return g.Node(Softmax{}, {g.Input({1, 4, 5, 5}, [](float uniform) { return uniform - 200.0f; })});
     }},
    {"sqrt_of_difference",
     [](CaseGraph& g) {
       const ValueId x = g.Input({1, 4, 5, 5}, [](float uniform) { return uniform + 5.0f; });
       return g.Node(Unary{UnaryKind::kSqrt}, {g.Node(Binary{BinaryKind::kSub}, {x, g.Constant({1}, Positive)})});
     }},
};

struct Second {
  const char* name;
  ValueId (*make)(CaseGraph&, ValueId x);
};
const Second kSeconds[] = {
    {"pointwise",
     [](CaseGraph& g, ValueId x) {
       return g.Node(Conv2D{}, {x, g.Constant({6, 1, 1, 5})});
     }},
    {"conv",
     [](CaseGraph& g, ValueId x) {
       return g.Node(Conv2D{}, {x, g.Constant({6, 3, 3, 5})});
     }},
    {"softmax", [](CaseGraph& g, ValueId x) { return g.Node(Softmax{}, {x}); }},
    {"mean_all",
     [](CaseGraph& g, ValueId x) {
       return g.Node(Reduce{ReduceKind::kMean, 14, true}, {x});
     }},
    {"concat",
     [](CaseGraph& g, ValueId x) {
       return g.Node(Concat{}, {x, g.Input({1, 4, 5, 6})});
     }},
    {"reshape",
     [](CaseGraph& g, ValueId x) {
       return g.Node(Reshape{{1, 100}}, {x});
     }},
    {"depthwise",
     [](CaseGraph& g, ValueId x) {
       return g.Node(DepthwiseConv2D{}, {x, g.Constant({1, 1, 1, 10})});
     }},
};

}  // namespace

void AddChainCases(std::vector<ConformanceCase>& cases) {
  for (const First& first : kFirsts) {
    for (const Second& second : kSeconds) {
      ConformanceCase result;
      result.family = result.op = "chain";
      result.name = fmt::format("{}_then_{}", first.name, second.name);
      result.exactness = {64, kUlpsOfCurves};
      result.every_path = false;
      result.build = [first, second](CaseGraph& graph) { return second.make(graph, first.make(graph)); };
      cases.push_back(result);
    }
  }
}

}  // namespace hearth::conformance
