// Operations that are strided copies: every rank, and channel counts for which whole texels move, groups of four
// channels move, or single elements move.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

std::string Listed(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape.dims(), ","));
}

// A case of one node with one input. A copy follows if the output could be an alias of the input, which would test
// nothing.
void AddMove(std::vector<ConformanceCase>& cases, const std::string& op, const std::string& name, const Shape& input,
             const Op& node, const ElementType& type = {}) {
  cases.push_back(NewCase({op, name + SuffixOf(type)}, {}, [=](CaseGraph& graph) {
    const ValueId moved = graph.Node(node, {graph.Input(input, FillOf(type), type)}, type);
    return type.dtype == DType::kFloat32 ? graph.Node(Unary{UnaryKind::kCopy}, {moved}) : moved;
  }));
}

const ElementType kMovedTypes[] = {Integers(),
                                   Integers(DType::kInt8),
                                   Bools(),
                                   Quantized(DType::kInt8, 0.5f, -3),
                                   Quantized(DType::kUInt8, 0.25f, 7),
                                   Quantized(DType::kInt16, 0.5f, 0)};

void AddTranspose(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& input, const Shape& permutation, const ElementType& type = {}) {
    AddMove(cases, "transpose", fmt::format("{}_by{}", input, Listed(permutation)), input, Transpose{permutation},
            type);
  };
  for (const Shape& permutation :
       {Shape{0, 2, 1, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 0, 2, 3}, {3, 2, 1, 0}, {2, 1, 0, 3}, {0, 1, 3, 2}}) {
    for (const Shape& input : {Shape{1, 3, 5, 7}, {2, 4, 3, 8}, {2, 5, 4, 3}}) add(input, permutation);
  }
  for (const auto& [input, permutation] : {std::pair<Shape, Shape>{{7}, {0}},
                                           {{5, 9}, {1, 0}},
                                           {{8, 4}, {1, 0}},
                                           {{3, 5, 6}, {2, 0, 1}},
                                           {{3, 5, 6}, {1, 0, 2}},
                                           {{3, 5, 6}, {0, 2, 1}},
                                           {{1, 1, 6}, {2, 1, 0}},
                                           {{2, 3, 2, 5, 3}, {4, 2, 0, 3, 1}},
                                           {{2, 3, 2, 5, 4}, {0, 3, 2, 1, 4}},
                                           {{2, 2, 3, 2, 2, 3}, {5, 3, 1, 4, 2, 0}},
                                           {{2, 2, 3, 2, 2, 3}, {4, 3, 2, 1, 0, 5}},
                                           {{2, 1, 3, 2, 2, 3, 4}, {2, 0, 5, 3, 4, 1, 6}},
                                           {{2, 2, 2, 2, 2, 2, 2, 3}, {7, 6, 5, 4, 3, 2, 1, 0}},
                                           {{1, 64, 65, 3}, {0, 3, 2, 1}}}) {
    add(input, permutation);
  }
  for (const ElementType& type : kMovedTypes) {
    add({2, 3, 5, 3}, {0, 3, 1, 2}, type);
    add({2, 3, 5, 3}, {0, 2, 1, 3}, type);
  }
}

void AddSlice(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& input, const Slice& slice, const ElementType& type = {}) {
    AddMove(cases, "slice",
            fmt::format("{}_from{}_size{}_by{}_as{}", input, Listed(slice.begin), Listed(slice.size),
                        Listed(slice.strides), slice.shape),
            input, slice, type);
  };
  const Shape image = {2, 5, 6, 9};
  const Slice slices[] = {
      {{0, 1, 2, 0}, {2, 3, 4, 9}, {1, 1, 1, 1}, {2, 3, 4, 9}},
      {{1, 0, 0, 4}, {1, 5, 6, 4}, {1, 1, 1, 1}, {1, 5, 6, 4}},
      {{0, 0, 0, 3}, {2, 5, 6, 5}, {1, 1, 1, 1}, {2, 5, 6, 5}},
      {{0, 0, 1, 0}, {2, 3, 2, 9}, {1, 2, 3, 1}, {2, 3, 2, 9}},
      {{0, 4, 5, 0}, {2, 5, 3, 9}, {1, -1, -2, 1}, {2, 5, 3, 9}},
      {{0, 0, 0, 8}, {2, 5, 6, 9}, {1, 1, 1, -1}, {2, 5, 6, 9}},
      {{1, 3, 0, 7}, {2, 2, 6, 3}, {-1, -2, 1, -3}, {2, 2, 6, 3}},
      {{0, 2, 0, 0}, {2, 1, 6, 9}, {1, 1, 1, 1}, {2, 6, 9}},
      {{0, 0, 0, 5}, {2, 5, 6, 1}, {1, 1, 1, 1}, {2, 5, 6}},
      {{0, 0, 3, 0}, {2, 5, 1, 9}, {1, 1, 1, 1}, {2, 1, 5, 1, 9}},
      {{1, 2, 3, 4}, {1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {{0, 0, 0, 0}, {2, 5, 6, 9}, {1, 1, 1, 1}, {2, 5, 6, 9}},
  };
  for (const Slice& slice : slices) add(image, slice);
  add({1, 4, 4, 16}, {{0, 0, 0, 8}, {1, 4, 4, 8}, {1, 1, 1, 1}, {1, 4, 4, 8}});
  add({17}, {{3}, {6}, {2}, {6}});
  add({4, 11}, {{1, 2}, {3, 7}, {1, 1}, {3, 7}});
  add({4, 5, 8}, {{3, 1, 4}, {2, 4, 4}, {-2, 1, 1}, {2, 4, 4}});
  add({2, 3, 4, 2, 5}, {{1, 0, 3, 0, 1}, {1, 2, 2, 2, 3}, {1, 2, -2, 1, 1}, {1, 2, 2, 2, 3}});
  add({2, 2, 2, 2, 3, 5}, {{0, 1, 0, 0, 2, 4}, {2, 1, 2, 2, 3, 2}, {1, 1, 1, 1, -1, -3}, {2, 1, 2, 2, 3, 2}});
  add({2, 2, 3, 2, 2, 2, 2, 3},
      {{1, 0, 2, 0, 1, 0, 1, 0}, {1, 2, 2, 1, 1, 2, 2, 2}, {1, 1, -2, 1, 1, 1, -1, 2}, {2, 2, 2, 2, 2}});
  for (const ElementType& type : kMovedTypes) {
    add(image, slices[2], type);
    add(image, slices[4], type);
  }
}

void AddTile(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& input, const Shape& multiples, const ElementType& type = {}) {
    AddMove(cases, "tile", fmt::format("{}_times{}", input, multiples), input, Tile{multiples}, type);
  };
  for (const auto& [input, multiples] : {std::pair<Shape, Shape>{{5}, {3}},
                                         {{1}, {9}},
                                         {{2, 3}, {2, 2}},
                                         {{2, 8}, {3, 1}},
                                         {{2, 8}, {1, 3}},
                                         {{3, 2, 5}, {1, 2, 1}},
                                         {{3, 2, 5}, {2, 1, 3}},
                                         {{1, 2, 3, 5}, {2, 3, 2, 1}},
                                         {{2, 2, 3, 5}, {1, 2, 2, 2}},
                                         {{2, 2, 2, 8}, {2, 1, 2, 2}},
                                         {{1, 1, 1, 3}, {1, 4, 5, 1}},
                                         {{2, 2, 3, 2, 3}, {2, 2, 2, 2, 2}},
                                         {{2, 2, 3, 2, 4}, {1, 2, 1, 2, 1}},
                                         {{2, 2, 2, 2, 2, 3}, {2, 2, 2, 2, 2, 2}},
                                         {{2, 2, 2, 2, 2, 2, 3}, {2, 1, 2, 1, 1, 1, 2}}}) {
    add(input, multiples);
  }
  for (const ElementType& type : kMovedTypes) add({2, 2, 3, 5}, {1, 2, 2, 2}, type);
}

void AddBroadcastTo(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& input, const Shape& shape, const ElementType& type = {}) {
    AddMove(cases, "broadcast_to", fmt::format("{}_to{}", input, shape), input, BroadcastTo{shape}, type);
  };
  for (const auto& [input, shape] : {std::pair<Shape, Shape>{{}, {7}},
                                     {{1}, {2, 3, 5}},
                                     {{5}, {2, 3, 5}},
                                     {{3, 1}, {3, 9}},
                                     {{1, 3, 1, 5}, {2, 3, 4, 5}},
                                     {{2, 1, 4, 1}, {2, 3, 4, 7}},
                                     {{1, 1, 1, 8}, {2, 3, 3, 8}},
                                     {{4, 6}, {2, 3, 4, 6}},
                                     {{1, 2, 1, 3, 1}, {2, 2, 3, 3, 5}},
                                     {{2, 1, 3, 1, 3}, {2, 2, 2, 3, 2, 3}},
                                     {{2, 1, 3, 1, 2, 1, 2, 1}, {2, 2, 3, 2, 2, 2, 2, 3}},
                                     {{2, 3}, {2, 3}}}) {
    add(input, shape);
  }
  for (const ElementType& type : kMovedTypes) add({1, 3, 1, 5}, {2, 3, 4, 5}, type);
}

void AddReverse(std::vector<ConformanceCase>& cases) {
  const auto add = [&](const Shape& input, uint32_t mask, const ElementType& type = {}) {
    AddMove(cases, "reverse", fmt::format("{}_axes{:b}", input, mask), input, Reverse{mask}, type);
  };
  for (uint32_t mask = 1; mask < 16; ++mask) add({2, 3, 4, 5}, mask);
  for (uint32_t mask : {1u, 2u, 3u}) add({3, 8}, mask);
  add({9}, 1);
  add({2, 3, 6}, 2);
  add({2, 3, 6}, 5);
  add({2, 3, 2, 2, 5}, 0b10101);
  add({2, 3, 2, 2, 2, 3}, 0b101101);
  for (const ElementType& type : kMovedTypes) add({2, 3, 4, 5}, 0b1010, type);
}

void AddBlocks(std::vector<ConformanceCase>& cases) {
  for (int32_t block : {2, 3}) {
    for (int32_t channels : {1, 3, 4, 8, 10}) {
      for (int32_t batch : {1, 2}) {
        const Shape deep = {batch, 2, 3, channels * block * block}, wide = {batch, 2 * block, 3 * block, channels};
        AddMove(cases, "depth_to_space", fmt::format("{}_block{}", deep, block), deep, DepthToSpace{block});
        AddMove(cases, "space_to_depth", fmt::format("{}_block{}", wide, block), wide, SpaceToDepth{block});
      }
    }
  }
  for (const ElementType& type : kMovedTypes) {
    AddMove(cases, "depth_to_space", "2x3x2x12_block2", {2, 3, 2, 12}, DepthToSpace{2}, type);
    AddMove(cases, "space_to_depth", "2x4x6x3_block2", {2, 4, 6, 3}, SpaceToDepth{2}, type);
  }
}

// All parts of a split or unpack, joined in reverse order: one value to compare.
void AddParts(std::vector<ConformanceCase>& cases, const std::string& name, const Shape& input, const Op& node,
              size_t count, int32_t axis, const ElementType& type = {}) {
  const bool unpacks = std::holds_alternative<Unpack>(node);
  const std::string op = unpacks ? "unpack" : "split";
  cases.push_back(NewCase({op, name + SuffixOf(type), "split"}, {}, [=](CaseGraph& graph) {
    std::vector<ValueId> parts =
        graph.Nodes(node, {graph.Input(input, FillOf(type), type)}, std::vector<ElementType>(count, type));
    std::reverse(parts.begin(), parts.end());
    return unpacks ? graph.Node(Pack{axis}, parts, type) : graph.Node(Concat{axis}, parts, type);
  }));
}

void AddSplits(std::vector<ConformanceCase>& cases) {
  const auto split = [&](const Shape& input, int32_t axis, const std::vector<int32_t>& sizes,
                         const ElementType& type = {}) {
    AddParts(cases, fmt::format("{}_axis{}_{}", input, axis, fmt::join(sizes, "+")), input, Split{axis, sizes},
             sizes.size(), axis, type);
  };
  const auto unpack = [&](const Shape& input, int32_t axis, const ElementType& type = {}) {
    AddParts(cases, fmt::format("{}_axis{}", input, axis), input, Unpack{axis, input[axis]},
             static_cast<size_t>(input[axis]), axis, type);
  };
  for (int32_t axis : {0, 1, 2, 3}) {
    split({4, 6, 6, 12}, axis, {2, axis == 0 ? 1 : 3, axis == 0 ? 1 : axis == 3 ? 7 : 1});
    split({2, 2, 4, 8}, axis, axis < 2 ? std::vector<int32_t>{1, 1} : std::vector<int32_t>(2, axis == 2 ? 2 : 4));
    unpack({2, 3, 4, 5}, axis);
  }
  split({9}, 0, {4, 5});
  split({3, 7}, 1, {1, 1, 5});
  split({3, 5, 8}, 2, {4, 4});
  split({2, 4, 3, 2, 5}, 1, {1, 3});
  split({2, 2, 3, 2, 2, 6}, 5, {1, 5});
  split({2, 3}, 0, {2});
  unpack({3}, 0);
  unpack({3, 8}, 0);
  unpack({3, 8}, 1);
  unpack({2, 3, 5}, 1);
  unpack({2, 3, 2, 2, 5}, 1);
  unpack({2, 3, 2, 2, 5}, 4);
  unpack({2, 3, 2, 2, 3, 2}, 2);
  unpack({1, 4}, 0);
  for (const ElementType& type : kMovedTypes) {
    split({2, 3, 3, 7}, 3, {1, 4, 2}, type);
    unpack({2, 3, 3, 5}, 1, type);
    unpack({2, 3, 3, 5}, 3, type);
  }
}

}  // namespace

void AddRearrangeCases(std::vector<ConformanceCase>& cases) {
  AddTranspose(cases);
  AddSlice(cases);
  AddTile(cases);
  AddBroadcastTo(cases);
  AddReverse(cases);
  AddBlocks(cases);
  AddSplits(cases);
}

}  // namespace hearth::conformance
