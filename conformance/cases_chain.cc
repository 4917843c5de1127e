// Two operations in sequence, of which the first leaves numbers in unused components. A texel holds 4 channels, so the
// last texel of 5 channels has 3 unused components. log(0), 0/0 or an overflowing exponential there must not reach the
// second operation.
#include <fmt/format.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

const Shape kImage = {1, 4, 5, 5};

struct First {
  const char* name;
  std::vector<Op> ops;  // the first one reads the operands, each other one the result before it; gives kImage
  std::vector<Operand> operands;
};
const First kFirsts[] = {
    {"log", {Unary{UnaryKind::kLog}}, {In(kImage, Positive)}},
    {"rsqrt", {Unary{UnaryKind::kRsqrt}}, {In(kImage, Positive)}},
    {"div", {Binary{BinaryKind::kDiv}}, {In(kImage), In(kImage, Positive)}},
    {"div_channels", {Binary{BinaryKind::kDiv}}, {In(kImage), Const({5}, Positive)}},
    {"exp", {Unary{UnaryKind::kNeg}, Unary{UnaryKind::kExp}}, {In(kImage)}},
    {"concat", {Concat{}}, {In({1, 4, 5, 3}), In({1, 4, 5, 2})}},
    {"reshape", {Reshape{kImage}}, {In({1, 100})}},
    {"pad", {Pad{{0, 0, 0, 1}, {0, 0, 0, 1}, 2.0f}}, {In({1, 4, 5, 3})}},
    {"pool", {Pool2D{PoolKind::kMax, 2, 2, {1, 1, 1, 1, {PaddingMode::kSame}}}}, {In(kImage)}},
    {"softmax", {Softmax{}}, {In(kImage)}},
    {"softmax_of_low", {Softmax{}}, {In(kImage, [](float uniform) { return uniform - 200.0f; })}},
    {"sqrt_of_difference",
     {Binary{BinaryKind::kSub}, Unary{UnaryKind::kSqrt}},
     {In(kImage, [](float uniform) { return uniform + 5.0f; }), Const({1}, Positive)}},
};

struct Second {
  const char* name;
  Op op;
  std::vector<Operand> operands;  // after the result of the first operation
};
const Second kSeconds[] = {
    {"pointwise", Conv2D{}, {Const({6, 1, 1, 5})}},
    {"conv", Conv2D{}, {Const({6, 3, 3, 5})}},
    {"softmax", Softmax{}, {}},
    {"mean_all", Reduce{ReduceKind::kMean, 14, true}, {}},
    {"concat", Concat{}, {In({1, 4, 5, 6})}},
    {"reshape", Reshape{{1, 100}}, {}},
    {"depthwise", DepthwiseConv2D{}, {Const({1, 1, 1, 10})}},
};

ValueId Chain(CaseGraph& graph, const First& first, const Second& second) {
  std::vector<ValueId> values = graph.AllOf(first.operands);
  for (const Op& op : first.ops) values = {graph.Node(op, values)};
  for (const Operand& operand : second.operands) values.push_back(graph.Of(operand));
  return graph.Node(second.op, values);
}

}  // namespace

void AddChainCases(std::vector<ConformanceCase>& cases) {
  for (const First& first : kFirsts) {
    for (const Second& second : kSeconds) {
      cases.push_back(NewCase(
          {"chain", fmt::format("{}_then_{}", first.name, second.name)}, {64, kUlpsOfCurves},
          [&](CaseGraph& graph) { return Chain(graph, first, second); }, false));
    }
  }
}

}  // namespace hearth::conformance
