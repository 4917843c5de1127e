// Passes that transformers need: GELU written out, and functions behind moves of a product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using ::testing::AnyOf;
using testing::ExpectEqualResults;
using testing::ExpectUnchanged;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Parsed;
using testing::Rewritten;
using testing::Structure;

// ---- fuse_gelu ----

// x, and what stands for x^3 and for the result of p = tanh + 1, as %7 and %14.
std::string WrittenGelu(const std::string& cube, const std::string& result, const std::string& factor = "0.044715",
                        const std::string& behind = "output %14\n") {
  return "graph \"g\"\n%0 = input : float32[2x6] \"x\"\n%1 = constant : float32[1] \"f\" = {" + factor + "}\n" +
         R"(%2 = constant : float32[1] "s" = {0.7978845608}
%3 = constant : float32[1] "half" = {0.5}
%4 = constant : float32[1] "one" = {1}
%5 = constant : float32[1] "three" = {3}
)" + cube +
         R"(%8 = mul(%7, %1) : float32[2x6] "f3" node "f3"
%9 = add(%0, %8) : float32[2x6] "sum" node "sum"
%10 = mul(%9, %2) : float32[2x6] "inner" node "inner"
%11 = tanh(%10) : float32[2x6] "t" node "t"
%12 = add(%11, %4) : float32[2x6] "p" node "p"
)" + result +
         behind;
}

constexpr const char* kCubes[] = {
    "%6 = constant : float32[1] \"unused\" = {1}\n%7 = pow(%0, %5) : float32[2x6] \"c\" node \"c\"\n",
    "%6 = mul(%0, %0) : float32[2x6] \"q\" node \"q\"\n%7 = mul(%0, %6) : float32[2x6] \"c\" node \"c\"\n",
    "%6 = square(%0) : float32[2x6] \"q\" node \"q\"\n%7 = mul(%6, %0) : float32[2x6] \"c\" node \"c\"\n",
};
constexpr const char* kResults[] = {
    "%13 = mul(%0, %3) : float32[2x6] \"h\" node \"h\"\n%14 = mul(%13, %12) : float32[2x6] \"y\" node \"y\"\n",
    "%13 = mul(%3, %12) : float32[2x6] \"h\" node \"h\"\n%14 = mul(%0, %13) : float32[2x6] \"y\" node \"y\"\n",
    "%13 = mul(%12, %0) : float32[2x6] \"h\" node \"h\"\n%14 = mul(%13, %3) : float32[2x6] \"y\" node \"y\"\n",
};

TEST(FuseGelu, TakesEveryFormThatIsWrittenOut) {
  for (const char* cube : kCubes) {
    for (const char* result : kResults) {
      const std::string nodes = Structure(Rewritten(FuseGelu, WrittenGelu(cube, result)));
      EXPECT_THAT(nodes, HasSubstr("gelu_tanh(%0)")) << nodes;
      EXPECT_THAT(nodes, Not(HasSubstr("mul("))) << nodes;
    }
  }
}

TEST(FuseGelu, LeavesOtherFactorsAndWhatOthersSee) {
  ExpectUnchanged(FuseGelu, WrittenGelu(kCubes[0], kResults[0], "0.05"));
  ExpectUnchanged(FuseGelu, WrittenGelu(kCubes[1], kResults[1], "0.044715", "output %11\noutput %14\n"));
  ExpectUnchanged(FuseGelu, WrittenGelu(kCubes[1], kResults[2], "0.044715",
                                        "%15 = exp(%6) : float32[2x6] \"z\" node \"z\"\noutput %14\noutput %15\n"));
  ExpectUnchanged(FuseGelu, WrittenGelu(kCubes[0],
                                        "%13 = mul(%5, %3) : float32[1] \"h\" node \"h\"\n"
                                        "%14 = mul(%13, %12) : float32[2x6] \"y\" node \"y\"\n"));
}

// By erf: x, its multiple `inner` as %6, and what stands for the result of p = erf + 1, as %14.
std::string GeluByErf(const std::string& inner, const std::string& result) {
  return R"(graph "g"
%0 = input : float32[2x6] "x"
%1 = constant : float32[1] "root" = {1.4142135}
%2 = constant : float32[1] "root of half" = {0.70710678}
%3 = constant : float32[1] "half" = {0.5}
%4 = constant : float32[1] "one" = {1}
%5 = constant : float32[1] "other" = {1.5}
%6 = )" + inner +
         R"( : float32[2x6] "inner" node "inner"
%7 = constant : float32[1] "unused" = {1}
%8 = constant : float32[1] "unused" = {1}
%9 = constant : float32[1] "unused" = {1}
%10 = constant : float32[1] "unused" = {1}
%11 = erf(%6) : float32[2x6] "t" node "t"
%12 = add(%11, %4) : float32[2x6] "p" node "p"
)" + result +
         "output %14\n";
}

TEST(FuseGelu, TakesEveryFormByErf) {
  for (const char* inner : {"div(%0, %1)", "mul(%0, %2)", "mul(%2, %0)"}) {
    for (const char* result : kResults) {
      const std::string nodes = Structure(Rewritten(FuseGelu, GeluByErf(inner, result)));
      EXPECT_THAT(nodes, HasSubstr("gelu(%0)")) << nodes;
      EXPECT_THAT(nodes, Not(HasSubstr("mul("))) << nodes;
    }
  }
}

TEST(FuseGelu, LeavesErfsOfOtherMultiples) {
  ExpectUnchanged(FuseGelu, GeluByErf("div(%0, %5)", kResults[0]));
  ExpectUnchanged(FuseGelu, GeluByErf("div(%1, %0)", kResults[1]));
  ExpectUnchanged(FuseGelu, GeluByErf("mul(%0, %1)", kResults[2]));
}

// ---- functions_before_moves ----

// A product whose result is seen as heads: bias and scale behind that, as Keras writes them.
std::string AfterHeads(const std::string& functions, const std::string& behind) {
  return R"(graph "g"
%0 = input : float32[1x5x6] "x"
%1 = constant : float32[8x6] "w" = fill(pattern)
%2 = constant : float32[2x4] "bias" = {1, 2, 3, 4, 5, 6, 7, 8}
%3 = constant : float32[] "scale" = {0.25}
%4 = constant : float32[4] "last" = {1, 2, 3, 4}
%5 = constant : float32[5x1x1] "rows" = {1, 2, 3, 4, 5}
%6 = fully_connected(%0, %1) keep_dims=true : float32[1x5x8] "a" node "dense"
%7 = reshape(%6) shape=1x5x2x4 : float32[1x5x2x4] "b" node "apart"
)" + functions +
         behind;
}
constexpr const char* kBiasAndScale =
    "%8 = add(%7, %2) : float32[1x5x2x4] \"c\" node \"bias\"\n"
    "%9 = mul(%3, %8) : float32[1x5x2x4] \"d\" node \"scale\"\n"
    "%10 = transpose(%9) permutation=0,2,1,3 : float32[1x2x5x4] \"e\" node \"turn\"\n";

// What all passes make of it.
std::string AfterAllPasses(const std::string& text) {
  Graph graph = Parsed(text);
  const Graph before = graph.Clone();
  EXPECT_TRUE(RunPasses(graph, DeviceInfo(), {}).ok());
  ExpectEqualResults(before, graph);
  return Structure(graph);
}

TEST(FunctionsBeforeMoves, BiasAndScaleReachTheProduct) {
  const std::string nodes = Structure(Rewritten(FunctionsBeforeMoves, AfterHeads(kBiasAndScale, "output %10\n")));
  EXPECT_THAT(nodes, HasSubstr("%7 = add(%6, %11) : float32[1x5x8]"));
  EXPECT_THAT(nodes, HasSubstr("%8 = reshape(%7) shape=1x5x2x4"));
  const std::string whole = AfterAllPasses(AfterHeads(kBiasAndScale, "output %10\n"));
  EXPECT_THAT(whole, Not(AnyOf(HasSubstr("add("), HasSubstr("mul(")))) << whole;
}

TEST(FunctionsBeforeMoves, FunctionsPassSeveralMoves) {
  const std::string functions =
      "%8 = transpose(%7) permutation=0,2,1,3 : float32[1x2x5x4] \"c\" node \"turn\"\n"
      "%9 = mul(%8, %3) : float32[1x2x5x4] \"d\" node \"scale\"\n%10 = exp(%9) : float32[1x2x5x4] \"e\" node "
      "\"exp\"\n";
  const std::string nodes = AfterAllPasses(AfterHeads(functions, "output %10\n"));
  EXPECT_THAT(nodes, Not(HasSubstr("mul("))) << nodes;
  EXPECT_THAT(nodes, HasSubstr("exp(%7) : float32[1x5x8]")) << nodes;
}

TEST(FunctionsBeforeMoves, StayWhereTheyAreOtherwise) {
  ExpectUnchanged(FunctionsBeforeMoves, AfterHeads(kBiasAndScale, "output %7\noutput %10\n"));
  ExpectUnchanged(FunctionsBeforeMoves,
                  AfterHeads("%8 = add(%7, %4) : float32[1x5x2x4] \"c\" node \"s\"\n", "output %8\n"));
  ExpectUnchanged(FunctionsBeforeMoves,
                  AfterHeads("%8 = add(%7, %5) : float32[1x5x2x4] \"c\" node \"s\"\n", "output %8\n"));
  ExpectUnchanged(FunctionsBeforeMoves,
                  AfterHeads("%8 = transpose(%7) permutation=0,1,3,2 : float32[1x5x4x2] \"c\" node \"turn\"\n"
                             "%9 = tanh(%8) : float32[1x5x4x2] \"d\" node \"t\"\n%10 = add(%9, %8) : "
                             "float32[1x5x4x2] \"e\" node \"sum\"\n",
                             "output %10\n"));
}

}  // namespace
}  // namespace hearth
