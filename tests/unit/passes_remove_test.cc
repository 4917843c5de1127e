#include <gtest/gtest.h>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectRewrite;
using testing::ExpectUnchanged;

// ---- remove_dead_nodes ----

TEST(RemoveDeadNodes, DropsChainsThatNoOutputNeeds) {
  ExpectRewrite(RemoveDeadNodes,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = abs(%0) : float32[4] "a" node "1"
%2 = neg(%1) : float32[4] "b" node "2"
%3 = exp(%2) : float32[4] "c" node "3"
%4 = square(%1) : float32[4] "y" node "4"
output %4
)",
                R"(%0 = input : float32[4] "x"
%1 = abs(%0) : float32[4] "a" node "1"
%4 = square(%1) : float32[4] "y" node "4"
output %4
)");
}

TEST(RemoveDeadNodes, KeepsOutputsThatAreReadInsideToo) {
  ExpectUnchanged(RemoveDeadNodes, R"(graph "g"
%0 = input : float32[4] "x"
%1 = abs(%0) : float32[4] "a" node "1"
%2 = neg(%1) : float32[4] "b" node "2"
output %1
output %2
output %0
)");
}

// ---- remove_no_ops ----

TEST(RemoveNoOps, DropsEveryKindBetweenOtherNodes) {
  ExpectRewrite(RemoveNoOps,
                R"(graph "g"
%0 = input : float32[1x2x2x4] "x"
%1 = copy(%0) : float32[1x2x2x4] "a" node "1"
%2 = reshape(%1) shape=1x2x2x4 : float32[1x2x2x4] "b" node "2"
%3 = resize_bilinear(%2) size=2x2 half_pixel_centers=true : float32[1x2x2x4] "c" node "3"
%4 = resize_nearest(%3) size=2x2 align_corners=true : float32[1x2x2x4] "d" node "4"
%5 = concat(%4) : float32[1x2x2x4] "e" node "5"
%6 = pad(%5) before=0x0x0x0 after=0x0x0x0 value=3 : float32[1x2x2x4] "f" node "6"
%7 = neg(%6) : float32[1x2x2x4] "y" node "7"
output %7
)",
                R"(%0 = input : float32[1x2x2x4] "x"
%7 = neg(%0) : float32[1x2x2x4] "y" node "7"
output %7
)");
}

TEST(RemoveNoOps, TheProducerMakesAnOutputThatKeepsItsId) {
  ExpectRewrite(RemoveNoOps,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = neg(%0) : float32[4] "inner" node "1"
%2 = exp(%1) : float32[4] "other" node "2"
%3 = copy(%1) : float32[4] "y" node "3"
output %2
output %3
)",
                R"(%0 = input : float32[4] "x"
%3 = neg(%0) : float32[4] "y" node "1"
%2 = exp(%3) : float32[4] "other" node "2"
output %2
output %3
)");
}

TEST(RemoveNoOps, KeepsWhatLinksInputsConstantsAndOutputsOfTheNetwork) {
  ExpectUnchanged(RemoveNoOps, R"(graph "g"
%0 = input : float32[4] "x"
%1 = constant : float32[2] "c" = {1, 2}
%2 = copy(%0) : float32[4] "from input" node "1"
%3 = copy(%1) : float32[2] "from constant" node "2"
%4 = neg(%0) : float32[4] "n" node "3"
%5 = copy(%4) : float32[4] "from output" node "4"
output %2
output %3
output %4
output %5
)");
}

TEST(RemoveNoOps, TwoCopiesOfOneValueThatAreBothOutputsLeaveOneCopy) {
  ExpectRewrite(RemoveNoOps,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = neg(%0) : float32[4] "n" node "1"
%2 = copy(%1) : float32[4] "y" node "2"
%3 = copy(%1) : float32[4] "z" node "3"
output %2
output %3
)",
                R"(%0 = input : float32[4] "x"
%2 = neg(%0) : float32[4] "y" node "1"
%3 = copy(%2) : float32[4] "z" node "3"
output %2
output %3
)");
}

TEST(RemoveNoOps, KeepsWhatChangesShapeSizeOrValues) {
  ExpectUnchanged(RemoveNoOps, R"(graph "g"
%0 = input : float32[1x2x2x4] "x"
%1 = reshape(%0) shape=1x4x1x4 : float32[1x4x1x4] "a" node "1"
%2 = resize_bilinear(%1) size=4x2 : float32[1x4x2x4] "b" node "2"
%3 = concat(%2) activation=relu : float32[1x4x2x4] "c" node "3"
%4 = concat(%3, %3) axis=3 : float32[1x4x2x8] "d" node "4"
%5 = pad(%4) before=0x1x0x0 after=0x0x0x0 : float32[1x5x2x8] "y" node "5"
%6 = abs(%5) : float32[1x5x2x8] "z" node "6"
output %6
)");
}

TEST(RemoveNoOps, ACopyToAnotherQuantizationIsNoNoOp) {
  ExpectUnchanged(RemoveNoOps, R"(graph "g"
%0 = input : int8[4]{0.5/0} "x"
%1 = concat(%0) : int8[4]{0.25/3} "a" node "1"
%2 = concat(%1) : int8[4]{0.5/0} "b" node "2"
output %2
)");
}

// ---- moves_to_reshapes, unify_transposes ----

TEST(MovesToReshapes, WhatMovesNothingIsAReshape) {
  ExpectRewrite(MovesToReshapes,
                R"(graph "g"
%0 = input : float32[2x1x3x4] "x"
%1 = transpose(%0) permutation=1,0,2,3 : float32[1x2x3x4] "a" node "1"
%2 = slice(%1) begin=0,0,0,0 size=1,2,3,4 strides=1,1,1,1 shape=6x4 : float32[6x4] "b" node "2"
%3 = tile(%2) multiples=1x1 : float32[6x4] "c" node "3"
%4 = reverse(%1) axes=0 : float32[1x2x3x4] "d" node "4"
%5 = pack(%4) axis=1 : float32[1x1x2x3x4] "e" node "5"
%6 = unpack(%1) axis=0 : float32[2x3x4] "f" node "6"
%7 = depth_to_space(%0) block=1 : float32[2x1x3x4] "g" node "7"
output %3
output %5
output %6
output %7
)",
                R"(%0 = input : float32[2x1x3x4] "x"
%1 = reshape(%0) shape=1x2x3x4 : float32[1x2x3x4] "a" node "1"
%2 = reshape(%1) shape=6x4 : float32[6x4] "b" node "2"
%3 = reshape(%2) shape=6x4 : float32[6x4] "c" node "3"
%4 = reshape(%1) shape=1x2x3x4 : float32[1x2x3x4] "d" node "4"
%5 = reshape(%4) shape=1x1x2x3x4 : float32[1x1x2x3x4] "e" node "5"
%6 = reshape(%1) shape=2x3x4 : float32[2x3x4] "f" node "6"
%7 = reshape(%0) shape=2x1x3x4 : float32[2x1x3x4] "g" node "7"
output %3
output %5
output %6
output %7
)");
}

TEST(MovesToReshapes, WhatMovesSomethingStays) {
  ExpectUnchanged(MovesToReshapes, R"(graph "g"
%0 = input : float32[2x1x3x4] "x"
%1 = transpose(%0) permutation=0,1,3,2 : float32[2x1x4x3] "a" node "1"
%2 = slice(%0) begin=0,0,0,0 size=1,1,3,4 strides=1,1,1,1 shape=1x1x3x4 : float32[1x1x3x4] "b" node "2"
%3 = tile(%0) multiples=2x1x1x1 : float32[4x1x3x4] "c" node "3"
%4 = reverse(%0) axes=2 : float32[2x1x3x4] "d" node "4"
%5 = broadcast_to(%0) shape=2x5x3x4 : float32[2x5x3x4] "f" node "6"
output %1
output %2
output %3
output %4
output %5
)");
}

TEST(TransposesIntoProducts, ExchangedRowsAndColumnsAreTheProducts) {
  ExpectRewrite(TransposesIntoProducts,
                R"(graph "g"
%0 = input : float32[2x8x3] "a"
%1 = input : float32[2x5x8] "b"
%2 = transpose(%0) permutation=0,2,1 : float32[2x3x8] "c" node "1"
%3 = transpose(%1) permutation=0,2,1 : float32[2x8x5] "d" node "2"
%4 = batch_matmul(%2, %3) : float32[2x3x5] "e" node "3"
%5 = batch_matmul(%2, %1) adjoint_b=true : float32[2x3x5] "f" node "4"
output %4
output %5
output %3
)",
                R"(%0 = input : float32[2x8x3] "a"
%1 = input : float32[2x5x8] "b"
%2 = transpose(%0) permutation=0,2,1 : float32[2x3x8] "c" node "1"
%3 = transpose(%1) permutation=0,2,1 : float32[2x8x5] "d" node "2"
%4 = batch_matmul(%0, %1) adjoint_a=true adjoint_b=true : float32[2x3x5] "e" node "3"
%5 = batch_matmul(%0, %1) adjoint_a=true adjoint_b=true : float32[2x3x5] "f" node "4"
output %4
output %5
output %3
)");
}

TEST(TransposesIntoProducts, OtherTransposesStay) {
  ExpectUnchanged(TransposesIntoProducts, R"(graph "g"
%0 = input : float32[2x3x8] "a"
%1 = input : float32[5x2x8] "b"
%2 = transpose(%1) permutation=1,2,0 : float32[2x8x5] "c" node "1"
%3 = batch_matmul(%0, %2) : float32[2x3x5] "d" node "2"
output %3
)");
}

TEST(UnifyTransposes, TwoBecomeOne) {
  ExpectRewrite(UnifyTransposes,
                R"(graph "g"
%0 = input : float32[2x3x4x5] "x"
%1 = transpose(%0) permutation=0,3,1,2 : float32[2x5x3x4] "a" node "1"
%2 = transpose(%1) permutation=2,0,3,1 : float32[3x2x4x5] "b" node "2"
output %2
)",
                R"(%0 = input : float32[2x3x4x5] "x"
%1 = transpose(%0) permutation=0,3,1,2 : float32[2x5x3x4] "a" node "1"
%2 = transpose(%0) permutation=1,0,2,3 : float32[3x2x4x5] "b" node "2"
output %2
)");
}

// ---- unify_reshapes ----

TEST(UnifyReshapes, TheLastReadsTheFirstInput) {
  ExpectRewrite(UnifyReshapes,
                R"(graph "g"
%0 = input : float32[2x6] "x"
%1 = reshape(%0) shape=3x4 : float32[3x4] "a" node "1"
%2 = reshape(%1) shape=12 : float32[12] "b" node "2"
%3 = reshape(%2) shape=1x12 : float32[1x12] "y" node "3"
%4 = neg(%1) : float32[3x4] "z" node "4"
output %3
output %4
)",
                R"(%0 = input : float32[2x6] "x"
%1 = reshape(%0) shape=3x4 : float32[3x4] "a" node "1"
%2 = reshape(%0) shape=12 : float32[12] "b" node "2"
%3 = reshape(%0) shape=1x12 : float32[1x12] "y" node "3"
%4 = neg(%1) : float32[3x4] "z" node "4"
output %3
output %4
)");
}

TEST(UnifyReshapes, ASingleReshapeStays) {
  ExpectUnchanged(UnifyReshapes, R"(graph "g"
%0 = input : float32[2x6] "x"
%1 = reshape(%0) shape=3x4 : float32[3x4] "a" node "1"
%2 = neg(%1) : float32[3x4] "b" node "2"
%3 = reshape(%2) shape=12 : float32[12] "y" node "3"
output %3
)");
}

}  // namespace
}  // namespace hearth
