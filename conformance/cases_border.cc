// Operations at borders: padding, mirroring, blocks to and from the batch, and updates at computed indices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

ConformanceCase BorderCase(const std::string& op, const std::string& name, const Shape& input, const Op& node,
                           const ElementType& type = {}) {
  return OneNode({op, name + SuffixOf(type)}, {}, node, {In(input, FillOf(type), type)}, type);
}

struct Amounts {
  Shape input, before, after;
  std::string Name() const { return fmt::format("{}_before{}_after{}", input, before, after); }
};

const ElementType kBorderTypes[] = {Integers(), Integers(DType::kInt8), Quantized(DType::kInt8, 0.5f, -3),
                                    Quantized(DType::kInt16, 0.5f, 0)};

void AddPad(std::vector<ConformanceCase>& cases) {
  const Amounts amounts[] = {
      {{1, 4, 5, 3}, {0, 1, 2, 0}, {0, 2, 1, 0}},
      {{1, 4, 5, 3}, {0, 0, 0, 1}, {0, 0, 0, 0}},
      {{1, 4, 5, 3}, {0, 0, 0, 0}, {0, 0, 0, 5}},
      {{2, 3, 2, 8}, {1, 0, 0, 4}, {2, 0, 0, 3}},
      {{1, 2, 3, 5}, {1, 2, 3, 2}, {3, 1, 0, 2}},
      {{1, 1, 1, 1}, {0, 3, 3, 0}, {0, 3, 3, 0}},
      {{2, 3, 4, 4}, {0, 2, 0, 0}, {0, 0, 0, 0}},
      {{3, 5}, {1, 2}, {0, 4}},
      {{2, 3, 5}, {0, 1, 1}, {1, 0, 2}},
      {{7}, {3}, {2}},
      {{1, 2, 2, 2, 3}, {1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}},
      {{2, 2, 2, 2, 3}, {1, 0, 1, 0, 0}, {0, 2, 0, 1, 0}},
      {{2, 2, 3, 2, 2, 3}, {0, 1, 0, 1, 0, 2}, {1, 0, 2, 0, 1, 0}},
      {{2, 2, 1, 3, 2, 2, 2, 3}, {0, 1, 0, 0, 1, 0, 0, 2}, {1, 0, 0, 0, 0, 0, 0, 1}},
  };
  for (const Amounts& amount : amounts) {
    for (float value : {0.0f, -1.5f}) {
      cases.push_back(BorderCase("pad", fmt::format("{}_value{}", amount.Name(), value), amount.input,
                                 Pad{amount.before, amount.after, value}));
    }
  }
  for (const ElementType& type : kBorderTypes) {
    for (const Amounts& amount : {amounts[0], amounts[4]}) {
      cases.push_back(BorderCase("pad", fmt::format("{}_value3", amount.Name()), amount.input,
                                 Pad{amount.before, amount.after, 3.0}, type));
    }
  }
}

void AddMirrorPad(std::vector<ConformanceCase>& cases) {
  const Amounts amounts[] = {
      {{1, 4, 5, 3}, {0, 1, 2, 0}, {0, 3, 1, 0}},
      {{2, 3, 4, 8}, {0, 2, 3, 0}, {0, 2, 3, 0}},
      {{1, 4, 5, 6}, {0, 0, 0, 5}, {0, 1, 0, 3}},
      {{3, 2, 3, 5}, {2, 1, 2, 1}, {1, 1, 0, 4}},
      {{5}, {4}, {3}},
      {{3, 5}, {2, 0}, {1, 4}},
      {{3, 2, 5}, {0, 1, 2}, {2, 1, 0}},
      {{2, 3, 2, 2, 3}, {1, 0, 1, 1, 0}, {0, 2, 0, 1, 2}},
      {{2, 3, 2, 2, 3, 2}, {1, 2, 1, 1, 1, 0}, {1, 0, 1, 0, 2, 1}},
      {{2, 3, 1, 2, 2, 3, 2}, {0, 0, 0, 1, 0, 0, 0}, {0, 0, 0, 1, 0, 2, 1}},
  };
  for (const Amounts& amount : amounts) {
    for (bool symmetric : {false, true}) {
      cases.push_back(BorderCase("mirror_pad", amount.Name() + (symmetric ? "_symmetric" : ""), amount.input,
                                 MirrorPad{amount.before, amount.after, symmetric}));
    }
  }
  cases.push_back(BorderCase("mirror_pad", "1x1x1x1_twice", {1, 1, 1, 1}, MirrorPad{{0, 1, 1, 1}, {0, 1, 1, 0}, true}));
  for (const ElementType& type : kBorderTypes) {
    cases.push_back(BorderCase("mirror_pad", amounts[3].Name(), amounts[3].input,
                               MirrorPad{amounts[3].before, amounts[3].after, false}, type));
  }
}

void AddBatchBlocks(std::vector<ConformanceCase>& cases) {
  const auto to_batch = [&](const Shape& input, const SpaceToBatch& op, const ElementType& type = {}) {
    cases.push_back(BorderCase("space_to_batch",
                               fmt::format("{}_block{}_before{}_after{}", input, op.block, op.before, op.after), input,
                               op, type));
  };
  const auto to_space = [&](const Shape& input, const BatchToSpace& op, const ElementType& type = {}) {
    cases.push_back(BorderCase("batch_to_space",
                               fmt::format("{}_block{}_crop{}_and{}", input, op.block, op.crop_before, op.crop_after),
                               input, op, type));
  };
  const SpaceToBatch forward[] = {{{2, 2}, {0, 0}, {0, 0}},
                                  {{2, 3}, {0, 1}, {0, 2}},
                                  {{1, 2}, {3, 2}, {1, 4}},
                                  {{4, 1}, {2, 0}, {2, 1}},
                                  {{3, 2}, {3, 4}, {2, 2}}};
  for (const SpaceToBatch& op : forward) {
    to_batch({2, 4, 6, 5}, op);
    to_space({12, 3, 2, 7}, {op.block, {0, 1}, {2, 0}});
    to_space({24, 2, 4, 4}, {op.block, {0, 0}, {0, 0}});
  }
  to_batch({1, 3, 4, 8}, {{3, 2}, {1, 1}, {2, 1}});
  to_batch({2, 5, 3}, {{3}, {1}, {0}});
  to_batch({1, 6, 8}, {{2}, {0}, {0}});
  to_space({6, 2, 3}, {{3}, {1}, {2}});
  to_space({4, 3, 9}, {{2}, {0}, {0}});
  for (const ElementType& type : kBorderTypes) {
    to_batch({2, 4, 6, 5}, {{2, 3}, {3, 4}, {1, 2}}, type);
    to_space({12, 3, 2, 7}, {{2, 3}, {1, 0}, {0, 2}}, type);
  }
}

void AddUpdates(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& input, const Shape& update, const std::vector<double>& start,
                       const ElementType& type = {}) {
    const std::string name = fmt::format("{}_by{}_at{}{}", input, update, fmt::join(start, ","), SuffixOf(type));
    cases.push_back(OneNode({"dynamic_update_slice", name}, {}, DynamicUpdateSlice{},
                            {In(input, FillOf(type), type), In(update, FillOf(type), type),
                             ConstOf({static_cast<int32_t>(start.size())}, start, Integers())},
                            type));
  };
  add({9}, {4}, {3});
  add({9}, {9}, {3});
  add({4, 6}, {2, 3}, {1, 2});
  add({4, 6}, {2, 3}, {-5, 100});
  add({3, 4, 8}, {1, 2, 8}, {2, 1, 0});
  add({2, 5, 6, 7}, {1, 2, 3, 4}, {1, 3, 2, 2});
  add({2, 5, 6, 8}, {2, 1, 6, 8}, {0, 4, 0, 0});
  add({1, 4, 16, 8}, {1, 4, 1, 8}, {0, 0, 5, 0});  // the keys of one token
  add({2, 3, 9}, {2, 3, 2}, {0, 0, 3});            // parts of two texels
  add({2, 2, 3, 2, 5}, {1, 2, 2, 1, 3}, {1, 0, 1, 1, 1});
  add({2, 2, 3, 2, 2, 3}, {1, 1, 2, 2, 1, 2}, {0, 1, 1, 0, 1, 1});
  for (const ElementType& type : kBorderTypes) add({2, 5, 6, 7}, {1, 2, 3, 4}, {0, 1, 2, 3}, type);
  // A start that other nodes compute.
  cases.push_back(NewCase({"dynamic_update_slice", "start_of_the_graph"}, {}, [](CaseGraph& graph) {
    const ValueId start = graph.Input(
        {3}, [](float uniform) { return uniform * 5.0f; }, Integers());
    return graph.Node(DynamicUpdateSlice{}, {graph.Input({4, 5, 6}), graph.Input({2, 2, 3}), start});
  }));
}

}  // namespace

void AddBorderCases(std::vector<ConformanceCase>& cases) {
  AddPad(cases);
  AddMirrorPad(cases);
  AddBatchBlocks(cases);
  AddUpdates(cases);
}

}  // namespace hearth::conformance
