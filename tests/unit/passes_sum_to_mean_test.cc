#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectRewrite;
using testing::ExpectUnchanged;

constexpr std::string_view kSumNetwork = R"(graph "g"
%0 = input : float32[3x7x7] "x"
%1 = sum(%0) axes=1,2 : float32[3] "s" node "sum" operator 4
)";

TEST(SumToMean, DividingByTheNumberOfTerms) {
  constexpr std::string_view kAfter = R"(%0 = input : float32[3x7x7] "x"
%3 = mean(%0) axes=1,2 : float32[3] "m" node "sum" operator 4
output %3
)";
  for (std::string_view text : {"%2 = constant : float32[] \"n\" = {49}\n%3 = div(%1, %2)",
                                "%2 = constant : float32[1] \"n\" = {0.020408163}\n%3 = mul(%1, %2)",
                                "%2 = constant : float32[1] \"n\" = {0.020408163}\n%3 = mul(%2, %1)"}) {
    SCOPED_TRACE(text);
    ExpectRewrite(SumToMean, fmt::format("{}{} : float32[3] \"m\" node \"m\"\noutput %3\n", kSumNetwork, text), kAfter);
  }
}

TEST(SumToMean, LeavesOtherDivisorsAndSumsWithOtherReaders) {
  for (std::string_view text :
       {"%2 = constant : float32[] \"n\" = {48}\n%3 = div(%1, %2) : float32[3] \"m\" node \"m\"\noutput %3\n",
        "%2 = constant : float32[] \"n\" = {49}\n%3 = div(%2, %1) : float32[3] \"m\" node \"m\"\noutput %3\n",
        "%2 = constant : float32[] \"n\" = {49}\n%3 = mul(%1, %2) : float32[3] \"m\" node \"m\"\noutput %3\n",
        "%2 = constant : float32[] \"n\" = {49}\n%3 = div(%1, %2) activation=relu : float32[3] \"m\" node \"m\"\n"
        "output %3\n",
        "%2 = constant : float32[] \"n\" = {49}\n%3 = div(%1, %2) : float32[3] \"m\" node \"m\"\noutput %3\n"
        "output %1\n"}) {
    SCOPED_TRACE(text);
    ExpectUnchanged(SumToMean, std::string(kSumNetwork) + std::string(text));
  }
}

TEST(PowerToSquare, APowerOf2) {
  constexpr std::string_view kBefore = R"(graph "g"
%0 = input : float32[3x7] "x"
%1 = constant : float32[1] "n" = {2}
%2 = pow(%0, %1) : float32[3x7] "p" node "pow"
output %2
)";
  constexpr std::string_view kAfter = R"(%0 = input : float32[3x7] "x"
%2 = square(%0) : float32[3x7] "p" node "pow"
output %2
)";
  ExpectRewrite(PowerToSquare, std::string(kBefore), kAfter);
}

TEST(PowerToSquare, LeavesOtherExponentsAndTypes) {
  for (std::string_view text :
       {"float32[3] \"x\"\n%1 = constant : float32[] \"n\" = {3}\n%2 = pow(%0, %1) : float32[3]",
        "float32[] \"x\"\n%1 = constant : float32[1] \"n\" = {2}\n%2 = pow(%0, %1) : float32[1]",
        "int32[3] \"x\"\n%1 = constant : int32[] \"n\" = {2}\n%2 = pow(%0, %1) : int32[3]"}) {
    SCOPED_TRACE(text);
    ExpectUnchanged(PowerToSquare, fmt::format("graph \"g\"\n%0 = input : {} \"p\" node \"pow\"\noutput %2\n", text));
  }
}

}  // namespace
}  // namespace hearth
