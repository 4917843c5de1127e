// Views of views, their inverse, and their strides along a shape: compared with the elements that they name, one by
// one.
#include "core/graph/strided_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace hearth {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kViewSeed = 20261123;

// Which element of the input each element of the view is.
std::vector<int64_t> ElementsOf(const StridedView& view) {
  std::vector<int64_t> elements = {view.base};
  for (const StridedView::Digit& digit : view.digits) {
    std::vector<int64_t> longer;
    for (const int64_t element : elements) {
      for (int64_t k = 0; k < digit.radix; ++k) longer.push_back(element + k * digit.stride);
    }
    elements = std::move(longer);
  }
  return elements;
}

std::vector<int64_t> Chosen(const std::vector<int64_t>& from, const std::vector<int64_t>& which) {
  std::vector<int64_t> chosen;
  for (const int64_t index : which) chosen.push_back(from.at(static_cast<size_t>(index)));
  return chosen;
}

// A view of `count` elements: they as a random shape, its dimensions in random order, perhaps cut.
StridedView RandomView(int64_t count, bool cuts, std::minstd_rand& random) {
  std::vector<StridedView::Digit> digits;
  int64_t stride = 1;
  for (int64_t rest = count; rest > 1;) {
    int64_t radix = std::min(rest, 2 + static_cast<int64_t>(random() % 4));
    while (rest % radix != 0) ++radix;
    digits.push_back({radix, stride});
    stride *= radix;
    rest /= radix;
  }
  std::shuffle(digits.begin(), digits.end(), random);
  StridedView view{0, std::move(digits)};
  for (StridedView::Digit& digit : view.digits) {
    if (!cuts || random() % 3 != 0) continue;
    const auto first = static_cast<int64_t>(random() % static_cast<uint32_t>(digit.radix));
    view.base += first * digit.stride;
    digit.radix -= first;
  }
  return Simplified(view);
}

TEST(StridedView, AViewOfAViewNamesTheElementsThatBothDo) {
  std::minstd_rand random(kViewSeed);
  int composed = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const StridedView inner = RandomView(turn % 2 == 0 ? 240 : 72, turn % 3 == 0, random);
    const auto inner_elements = ElementsOf(inner);
    const StridedView outer = RandomView(static_cast<int64_t>(inner_elements.size()), turn % 5 == 0, random);
    const auto both = Composed(outer, inner);
    if (!both) continue;
    ++composed;
    ASSERT_EQ(ElementsOf(*both), Chosen(inner_elements, ElementsOf(outer)))
        << "turn " << turn << ", seed " << kViewSeed;
  }
  EXPECT_GT(composed, 400);
}

TEST(StridedView, WhatEndsWithinADigitIsNotComposed) {
  const StridedView columns{0, {{3, 1}, {4, 3}}};  // [4, 3] turned
  EXPECT_FALSE(Composed({2, {{2, 6}, {3, 1}}}, columns)) << "2, 3, 4 carries into the next row";
  EXPECT_FALSE(Composed({0, {{2, 6}, {6, 1}}}, columns)) << "a row has 4";
  EXPECT_FALSE(Composed({11, {{12, -1}}}, columns));
  EXPECT_FALSE(Composed({12, {}}, columns)) << "there is none";
  EXPECT_EQ(Composed({0, {{5, 0}, {12, 1}}}, columns)->digits.size(), 3u) << "repeating stays";
}

TEST(StridedView, TheInverseGoesBackAndIsNoneOfWhatRepeatsOrLeavesOut) {
  std::minstd_rand random(kViewSeed);
  for (int turn = 0; turn < 200; ++turn) {
    const StridedView view = RandomView(240, false, random);
    const auto back = Inverse(view, 240);
    ASSERT_TRUE(back.has_value());
    std::vector<int64_t> all(240);
    std::iota(all.begin(), all.end(), int64_t{0});
    ASSERT_EQ(Chosen(ElementsOf(view), ElementsOf(*back)), all) << "seed " << kViewSeed;
  }
  EXPECT_FALSE(Inverse({0, {{2, 0}, {3, 1}}}, 3));
  EXPECT_FALSE(Inverse({0, {{3, 2}}}, 6));
  EXPECT_FALSE(Inverse({1, {{3, 1}}}, 4));
  EXPECT_FALSE(Inverse({2, {{3, -1}}}, 3));
}

TEST(StridedView, HasOneStrideAlongEachDimensionOrNone) {
  const StridedView heads{0, {{2, 8}, {5, 16}, {8, 1}}};  // [5, 2, 8] with the first two exchanged
  EXPECT_THAT(*StridesAlong(heads, {1, 2, 5, 8}), ElementsAre(0, 8, 16, 1));
  EXPECT_THAT(*StridesAlong(heads, {2, 5, 2, 4}), ElementsAre(8, 16, 4, 1));
  EXPECT_FALSE(StridesAlong(heads, {10, 8})) << "ten rows are two walks";
}

}  // namespace
}  // namespace hearth
