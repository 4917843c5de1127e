// Searches, running sums, normalizations and lookups.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/conformance_case.h"
#include "core/graph/ops/axis_split.h"

namespace hearth::conformance {
namespace {

struct TypedFill {
  const char* name;
  ElementType type;
  Fill fill;
};
const TypedFill kMovable[] = {
    {"float", {}, Wide},
    {"int32", Integers(), Signed100},
    {"int8", Quantized(DType::kInt8, 1.0f / 16, -3), Wide},
};

void AddArgReduce(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, int32_t> shapes[] = {
      {{7}, 0},          {{1}, 0},           {{3, 5}, 0},        {{3, 5}, -1},         {{2, 1001}, 1},
      {{2, 3, 6}, 0},    {{2, 3, 6}, 1},     {{2, 3, 6}, 2},     {{2, 3, 4, 5}, 0},    {{2, 3, 4, 5}, 1},
      {{2, 3, 4, 5}, 2}, {{2, 3, 4, 5}, -1}, {{1, 9, 7, 21}, 3}, {{2, 2, 3, 4, 5}, 1}, {{2, 2, 3, 4, 5}, 4},
      {{2, 1, 3, 4}, 1},
  };
  for (ArgKind kind : {ArgKind::kMax, ArgKind::kMin}) {
    for (const TypedFill& values : kMovable) {
      for (const auto& [shape, axis] : shapes) {
        const DType out = axis < 0 ? DType::kInt64 : DType::kInt32;
        // Digits contain equal numbers, of which the first index counts.
        const Fill fill = values.type.dtype == DType::kInt32 ? Digits : values.fill;
        cases.push_back(OneNode(
            {kind == ArgKind::kMax ? "arg_max" : "arg_min", fmt::format("{}_axis{}_{}", shape, axis, values.name)}, {},
            ArgReduce{kind, axis}, {In(shape, fill, values.type)}, Integers(out),
            values.type.dtype == DType::kFloat32));
      }
    }
  }
}

void AddTopK(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, int32_t> shapes[] = {{{7}, 3},       {{1}, 1},           {{5}, 5},
                                              {{2, 9}, 4},    {{3, 101}, 10},     {{2, 3, 6}, 1},
                                              {{2, 3, 6}, 6}, {{1, 2, 3, 17}, 5}, {{2, 1, 2, 2, 5}, 2},
                                              {{2, 1001}, 5}, {{2, 3, 131}, 7}};  // a group's on GPUs
  for (const TypedFill& values : kMovable) {
    for (const auto& [shape, k] : shapes) {
      for (int which : {0, 1}) {
        const Fill fill = values.type.dtype == DType::kInt32 ? Digits : values.fill;
        cases.push_back(NewCase(
            {"topk", fmt::format("{}_k{}_{}_{}", shape, k, values.name, which == 0 ? "values" : "positions")}, {},
            [=, shape = shape, k = k](CaseGraph& graph) {
              return graph.Nodes(TopK{k}, {graph.Input(shape, fill, values.type)}, {values.type, Integers()})[which];
            },
            which == 0));
      }
    }
  }
}

void AddCumSum(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, int32_t> shapes[] = {
      {{9}, 0},           {{1}, 0},          {{3, 6}, 0},          {{3, 6}, -1},
      {{2, 3, 5}, 1},     {{2, 3, 5}, 2},    {{2, 3, 4, 5}, 0},    {{2, 3, 4, 5}, 1},
      {{2, 3, 4, 5}, -2}, {{2, 3, 4, 5}, 3}, {{2, 2, 3, 2, 3}, 1}, {{2, 1, 2, 3, 2, 1, 2, 3}, 3}};
  for (const auto& [shape, axis] : shapes) {
    for (int mode = 0; mode < 4; ++mode) {
      const CumSum op{axis, (mode & 1) != 0, (mode & 2) != 0};
      const std::string name =
          fmt::format("{}_axis{}{}{}", shape, axis, op.exclusive ? "_exclusive" : "", op.reverse ? "_reverse" : "");
      const int64_t terms = SplitAt(shape, *AxisFromFront(axis, shape.rank())).length;
      cases.push_back(OneNode({"cumsum", name}, {terms, 1.0}, op, {In(shape)}));
      if (mode != 3) continue;
      cases.push_back(
          OneNode({"cumsum", name + "_int32"}, {}, op, {In(shape, Signed100, Integers())}, Integers(), false));
    }
  }
}

void AddNormalizations(std::vector<ConformanceCase>& cases) {
  const Shape shapes[] = {{1}, {7}, {3, 5}, {2, 3, 6}, {1, 4, 5, 3}, {2, 3, 3, 21}, {1, 2, 2, 130}, {2, 1, 2, 2, 5}};
  const ElementType int8 = Quantized(DType::kInt8, 1.0f / 128, 0);
  for (const Shape& shape : shapes) {
    // As softmax: a sum of positive numbers.
    const Exactness exactness{1, kUlpsOfCurves};
    const std::string name = shape.ToString();
    cases.push_back(OneNode({"log_softmax", name}, exactness, LogSoftmax{}, {In(shape, Wide)}));
    cases.push_back(OneNode({"log_softmax", name + "_int8"}, exactness, LogSoftmax{},
                            {In(shape, Wide, Quantized(DType::kInt8, 1.0f / 16, 0))},
                            Quantized(DType::kInt8, 1.0f / 16, 127), false));
    cases.push_back(OneNode({"l2_normalization", name}, exactness, L2Normalization{}, {In(shape)}));
    cases.push_back(OneNode({"l2_normalization", name + "_relu_int8"}, exactness, L2Normalization{Activation::kRelu},
                            {In(shape, Symmetric, int8)}, int8, false));
    for (int32_t radius : {0, 1, 2, 5}) {
      const LocalResponseNormalization op{radius, 1.0f, 0.25f, radius == 2 ? 0.75f : 0.5f};
      cases.push_back(OneNode({"local_response_normalization", fmt::format("{}_radius{}", name, radius)},
                              {2 * int64_t{radius} + 1, kUlpsOfCurves}, op, {In(shape)}, {}, radius == 1));
    }
  }
}

// All axes, with scale (1), offset (2) or both (3).
void AddMeanVariance(std::vector<ConformanceCase>& cases) {
  struct Axes {
    Shape input;
    uint32_t mask;
    int operands = 3;
    int32_t groups = 0;
    bool root_mean_square = false;
  };
  const Axes axes[] = {
      {{7}, 1},
      {{3, 5}, 2},
      {{5, 128}, 2},
      {{3, 130}, 2, 0},
      {{2, 3, 21}, 4, 1},
      {{1, 4, 5, 3}, 8},
      {{2, 5, 7, 9}, 8},
      {{1, 37, 70}, 4, 2},
      {{2, 3, 4, 1}, 8},
      {{1, 2, 2, 519}, 8},
      {{1, 3, 1, 1, 6}, 16},
      {{1, 7, 9, 5}, 6},
      {{3, 4, 5, 7}, 6},
      {{2, 5, 3}, 2, 2},
      {{1, 1, 1, 5}, 6},
      {{2, 2, 3, 2, 3}, 12},
      {{3, 2, 2, 4}, 7, 0},
      {{9, 6}, 1, 1},
      {{2, 3, 4, 1}, 14},
      {{1, 60, 70, 9}, 6},
      {{1, 80, 90, 3}, 6, 0},
      {{1, 5, 6, 16}, 6, 3, 2},
      {{2, 7, 4, 24}, 6, 3, 2},
      {{1, 4, 4, 8}, 6, 0, 1},
      {{2, 3, 9, 8}, 6, 3, 2},
      {{1, 33, 35, 16}, 6, 3, 2},
      {{3, 5}, 2, 3, 0, true},
      {{2, 3, 130}, 4, 1, 0, true},
      {{1, 1, 1, 7}, 8, 0, 0, true},
  };
  for (const Axes& over : axes) {
    int64_t terms = 1;
    for (int d = 0; d < over.input.rank(); ++d) terms *= (over.mask >> d & 1) != 0 ? over.input[d] : 1;
    if (over.groups > 0) terms *= over.input[over.input.rank() - 1] / over.groups;
    for (Activation activation : {Activation::kNone, Activation::kRelu}) {
      const MeanVarianceNormalization op{over.mask, over.groups, over.root_mean_square, 0.01f, activation};
      const std::string name = fmt::format("{}_over{}{}_operands{}_{}", over.input, over.mask,
                                           over.groups > 0         ? fmt::format("_groups{}", over.groups)
                                           : over.root_mean_square ? "_rms"
                                                                   : "",
                                           over.operands, ActivationName(activation));
      const Shape channels = {over.input[over.input.rank() - 1]};
      // Scales are packed; offsets are computed.
      cases.push_back(OneNode({"mean_variance_normalization", name}, {terms, kUlpsOfCurves}, op,
                              {In(over.input, Wide), If((over.operands & 1) != 0, Const(channels)),
                               If((over.operands & 2) != 0, In(channels))},
                              {}, activation == Activation::kNone));
    }
  }
}

Operand PositionsOf(const Shape& shape, int64_t length) {
  std::vector<double> positions;
  for (int64_t i = 0; i < shape.element_count(); ++i) positions.push_back(static_cast<double>((i * 7 + 3) % length));
  return ConstOf(shape, positions, Integers());
}

// Computed indices are digits; those beyond the last element mean it.
ConformanceCase LookupCase(const CaseName& name, const Op& op, const Operand& x, const Operand& indices,
                           bool every_path) {
  const auto build = [=](CaseGraph& graph) {
    const ValueId at = graph.Of(indices);
    return graph.Node(op, {graph.Of(x), at}, x.type);
  };
  return NewCase(name, {}, build, every_path);
}

void AddGather(std::vector<ConformanceCase>& cases) {
  struct Lookup {
    Shape x;
    int32_t axis, batch_dims;
    Shape indices;
  };
  const Lookup lookups[] = {
      {{7}, 0, 0, {}},
      {{7}, 0, 0, {3}},
      {{7}, 0, 0, {2, 5}},
      {{5, 6}, 0, 0, {3}},
      {{5, 6}, 0, 0, {}},
      {{5, 6}, 1, 0, {}},
      {{5, 6}, 1, 0, {7}},
      {{5, 6}, -1, 0, {2, 3}},
      {{5, 6}, 1, 1, {5}},
      {{5, 6}, 1, 1, {5, 3}},
      {{2, 3, 5}, 1, 0, {4}},
      {{2, 3, 5}, 1, 1, {2, 6}},
      {{2, 3, 5}, 2, 2, {2, 3}},
      {{2, 3, 5}, 2, 1, {2, 7}},
      {{2, 3, 4, 5}, 0, 0, {3}},
      {{2, 3, 4, 5}, 1, 0, {2}},
      {{2, 3, 4, 5}, 2, 1, {2, 3}},
      {{2, 3, 4, 5}, 3, 0, {6}},
      {{2, 3, 4, 5}, 3, 3, {2, 3, 4, 2}},
      {{2, 2, 3, 2, 5}, 2, 1, {2, 2}},
      {{2, 2, 3, 2, 5}, 4, 0, {9}},
      {{2, 2, 1, 3, 2, 2, 5}, 3, 0, {2, 2}},
      {{100, 33}, 0, 0, {2, 9}},
  };
  for (const Lookup& lookup : lookups) {
    for (const TypedFill& values : kMovable) {
      for (bool at_run_time : {false, true}) {
        if (at_run_time && values.type.dtype == DType::kInt8) continue;  // as float
        const int axis = *AxisFromFront(lookup.axis, lookup.x.rank());
        const Gather op{lookup.axis, lookup.batch_dims};
        const std::string name = fmt::format("{}_axis{}_batch{}_by_{}_{}{}", lookup.x, lookup.axis, lookup.batch_dims,
                                             lookup.indices, values.name, at_run_time ? "_runtime" : "");
        const Operand indices = at_run_time ? In(lookup.indices, Digits, Integers(DType::kInt64))
                                            : PositionsOf(lookup.indices, lookup.x[axis]);
        const Operand x = (at_run_time ? Const : In)(lookup.x, values.fill, values.type);
        cases.push_back(LookupCase({"gather", name}, op, x, indices, at_run_time));
      }
    }
  }
}

// Quantized tables, looked up as floats.
void AddEmbedding(std::vector<ConformanceCase>& cases) {
  for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt4}) {
    const ElementType table = Quantized(dtype, 1.0f / 8, dtype == DType::kUInt8 ? 9 : 0);
    cases.push_back(OneNode({"gather", fmt::format("20x9_as_float_from_{}", DTypeName(dtype))}, {0, 1.0}, Gather{0},
                            {Const({20, 9}, Symmetric, table), In({6}, Digits, Integers())}, {}, false));
  }
}

void AddGatherNd(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, Shape> lookups[] = {
      {{7}, {3, 1}},
      {{7}, {1}},
      {{5, 6}, {4, 1}},
      {{5, 6}, {4, 2}},
      {{5, 6}, {2}},
      {{2, 3, 5}, {6, 2}},
      {{2, 3, 5}, {2, 2, 3}},
      {{2, 3, 4, 5}, {3, 1}},
      {{2, 3, 4, 5}, {7, 3}},
      {{2, 3, 4, 5}, {2, 3, 4}},
      {{2, 2, 3, 2, 5}, {6, 5}},
      {{2, 2, 3, 2, 5}, {3, 4}},
  };
  for (const auto& [x_shape, indices_shape] : lookups) {
    for (const TypedFill& values : kMovable) {
      for (bool at_run_time : {false, true}) {
        if (at_run_time && values.type.dtype == DType::kInt8) continue;  // as float
        const std::string name =
            fmt::format("{}_by_{}_{}{}", x_shape, indices_shape, values.name, at_run_time ? "_runtime" : "");
        const Operand indices = at_run_time ? In(indices_shape, Digits, Integers()) : PositionsOf(indices_shape, 2);
        const Operand x = In(x_shape, values.fill, values.type);
        cases.push_back(LookupCase({"gather_nd", name}, GatherNd{}, x, indices, at_run_time));
      }
    }
  }
}

void AddOneHot(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, int32_t> shapes[] = {{{}, -1},     {{5}, -1},        {{5}, 0},       {{2, 3}, 0},
                                              {{2, 3}, 1},  {{2, 3}, -1},     {{2, 3, 5}, 1}, {{2, 3, 5}, 3},
                                              {{1, 9}, -1}, {{2, 2, 2, 3}, 2}};
  const TypedFill kValues[] = {{"float", {}, Wide}, {"int32", Integers(), Signed100}, {"bool", Bools(), ZeroOne}};
  for (const auto& [shape, axis] : shapes) {
    for (const TypedFill& values : kValues) {
      for (int32_t depth : {1, 6, 10}) {
        const std::string name = fmt::format("{}_axis{}_depth{}_{}", shape, axis, depth, values.name);
        cases.push_back(
            OneNode({"one_hot", name}, {}, OneHot{axis, depth},
                    {In(shape, Digits, Integers()), ConstOf({}, {1.0}, values.type), In({}, values.fill, values.type)},
                    values.type, depth == 6));
      }
    }
  }
}

}  // namespace

void AddLookupCases(std::vector<ConformanceCase>& cases) {
  AddArgReduce(cases);
  AddTopK(cases);
  AddCumSum(cases);
  AddNormalizations(cases);
  AddMeanVariance(cases);
  AddGather(cases);
  AddEmbedding(cases);
  AddGatherNd(cases);
  AddOneHot(cases);
}

}  // namespace hearth::conformance
