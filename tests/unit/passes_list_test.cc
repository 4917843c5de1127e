// lists_to_concat: what the steps of a recurrent layer write into a list.
#include <gtest/gtest.h>

#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(ListsToConcat, AListThatIsCutAndPutTogetherAtEachStepIsMadeOnce) {
  ExpectRewrite(ListsToConcat,
                R"(graph "g"
%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%2 = constant : float32[2x2] "empty" = {5, 6, 7, 8}
%3 = slice(%2) begin=1,0 size=1,2 strides=1,1 shape=1x2 : float32[1x2] "rest" node "1"
%4 = concat(%0, %3) axis=0 : float32[2x2] "first" node "2"
%5 = slice(%4) begin=0,0 size=1,2 strides=1,1 shape=1x2 : float32[1x2] "before" node "3"
%6 = concat(%5, %1) axis=0 : float32[2x2] "list" node "4"
%7 = tanh(%6) : float32[2x2] "y" node "5"
output %7
)",
                R"(%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%3 = slice(%2) begin=1,0 size=1,2 strides=1,1 shape=1x2 : float32[1x2] "rest" node "1"
%4 = concat(%0, %3) axis=0 : float32[2x2] "first" node "2"
%5 = slice(%4) begin=0,0 size=1,2 strides=1,1 shape=1x2 : float32[1x2] "before" node "3"
%6 = concat(%0, %1) axis=0 : float32[2x2] "list" node "4"
%7 = tanh(%6) : float32[2x2] "y" node "5"
output %7
)");
}

TEST(ListsToConcat, UpdatesAtConstantPlacesBecomeItemsAndWhatIsLeftOfTheList) {
  ExpectRewrite(ListsToConcat,
                R"(graph "g"
%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%2 = constant : float32[3x2] "list" = {5, 6, 7, 8, 9, 10}
%3 = constant : int32[2] "at" = {0, 0}
%4 = constant : int32[2] "then at" = {2, 0}
%5 = dynamic_update_slice(%2, %0, %3) : float32[3x2] "first" node "1"
%6 = dynamic_update_slice(%5, %1, %4) : float32[3x2] "second" node "2"
%7 = tanh(%6) : float32[3x2] "y" node "3"
output %7
)",
                R"(%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%5 = dynamic_update_slice(%2, %0, %3) : float32[3x2] "first" node "1"
%6 = concat(%0, %8, %1) axis=0 : float32[3x2] "second" node "2"
%7 = tanh(%6) : float32[3x2] "y" node "3"
output %7
)");
}

TEST(ListsToConcat, AnItemThatIsCutOutWithoutItsDimensionIsReshaped) {
  ExpectRewrite(ListsToConcat,
                R"(graph "g"
%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%2 = concat(%0, %1) axis=0 : float32[2x2] "list" node "1"
%3 = slice(%2) begin=1,0 size=1,2 strides=1,1 shape=2 : float32[2] "last" node "2"
%4 = tanh(%3) : float32[2] "y" node "3"
output %4
)",
                R"(%0 = input : float32[1x2] "a"
%1 = input : float32[1x2] "b"
%2 = concat(%0, %1) axis=0 : float32[2x2] "list" node "1"
%3 = reshape(%1) shape=2 : float32[2] "last" node "2"
%4 = tanh(%3) : float32[2] "y" node "3"
output %4
)");
}

TEST(ListsToConcat, LeavesListsThatAreReadAtEachStepAndItemsThatAreCut) {
  ExpectUnchanged(ListsToConcat, R"(graph "g"
%0 = input : float32[2x2] "a"
%1 = input : float32[1x2] "b"
%2 = concat(%0, %1) axis=0 : float32[3x2] "list" node "1"
%3 = tanh(%2) : float32[3x2] "read" node "2"
%4 = concat(%2, %1) axis=0 : float32[4x2] "longer" node "3"
output %3
output %4
)");
  ExpectUnchanged(ListsToConcat, R"(graph "g"
%0 = input : float32[2x2] "a"
%1 = input : float32[1x2] "b"
%2 = concat(%0, %1) axis=0 : float32[3x2] "list" node "1"
%3 = slice(%2) begin=1,0 size=1,2 strides=1,1 shape=1x2 : float32[1x2] "half of a" node "2"
output %3
)");
}

}  // namespace
}  // namespace hearth
