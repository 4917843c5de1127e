#include "hearth/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace hearth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool Fits(const std::vector<int32_t>& input, const std::vector<int64_t>& array, std::string_view dtype = "float32") {
  TensorInfo info;
  info.name = "x";
  info.dtype = "float32";
  info.shape = input;
  return CheckArray(info, dtype, array).ok();
}

TEST(Array, OfTheInputsTypeAndShapeFits) {
  EXPECT_TRUE(Fits({1, 4, 4, 3}, {1, 4, 4, 3}));
  EXPECT_TRUE(Fits({}, {}));
  EXPECT_FALSE(Fits({1, 4, 4, 3}, {1, 4, 3, 4}));
  EXPECT_FALSE(Fits({4}, {4}, "float64"));
  EXPECT_FALSE(Fits({4}, {4}, "uint8"));
}

TEST(Array, MayLackABatchOfOneAndNothingElse) {
  EXPECT_TRUE(Fits({1, 4, 4, 3}, {4, 4, 3}));
  EXPECT_TRUE(Fits({1}, {}));
  EXPECT_FALSE(Fits({2, 4}, {4}));
  EXPECT_FALSE(Fits({1, 1, 4}, {4}));
  EXPECT_FALSE(Fits({4}, {1, 4}));
  EXPECT_FALSE(Fits({4, 1}, {4}));
}

TEST(Array, WhatDoesNotFitIsNamed) {
  TensorInfo info;
  info.name = "image";
  info.dtype = "float32";
  info.shape = {1, 2};
  EXPECT_EQ(CheckArray(info, "uint8", std::vector<int64_t>{1, 2}).message(),
            "input 'image' is float32[1,2], uint8[1,2] was given: its numbers are not converted; NumPy's "
            "astype('float32') does it, and scaling is up to the model");
  EXPECT_EQ(CheckArray(info, "float32", std::vector<int64_t>{3}).message(),
            "input 'image' is float32[1,2], float32[3] was given");
}

TEST(Array, WhatIsMendedInOneStepIsToldTheStep) {
  TensorInfo info;
  info.name = "image";
  info.dtype = "float32";
  info.shape = {1, 4, 6, 3};
  const auto told = [&](const std::vector<int64_t>& shape) { return CheckArray(info, "float32", shape).message(); };
  EXPECT_THAT(told({1, 3, 4, 6}), HasSubstr("NumPy's transpose(0, 2, 3, 1) puts them last"));
  EXPECT_THAT(told({3, 4, 6}), HasSubstr("NumPy's transpose(1, 2, 0) puts them last"));
  EXPECT_THAT(told({8, 4, 6, 3}), HasSubstr("--shape 'image=8x4x6x3' in the program"));
  EXPECT_THAT(told({1, 6, 4, 3}), Not(HasSubstr(": ")));
}

}  // namespace
}  // namespace hearth
