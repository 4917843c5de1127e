#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::Rewritten;

// The text with a value for each number that no line defines, as graphs have where a pass took something out.
std::string Dense(std::string text) {
  std::set<int> defined;
  for (size_t begin = 0; begin != std::string::npos && begin < text.size();) {
    if (text[begin] == '%') defined.insert(std::stoi(text.substr(begin + 1)));
    const size_t end = text.find('\n', begin);
    begin = end == std::string::npos ? end : end + 1;
  }
  for (int id = 0; id < *defined.rbegin(); ++id) {
    if (defined.count(id) == 0) text += fmt::format("%{} = value : float32[1] \"none\"\n", id);
  }
  return text;
}

// ---- fuse_normalization ----

constexpr std::string_view kHead = R"(graph "g"
%0 = input : float32[3x5] "x"
%1 = constant : float32[] "e" = {0.001}
%2 = constant : float32[5] "gamma" = {1, -2, 3, 0.5, 1}
%3 = constant : float32[5] "beta" = {-1, 0, 1, 2, 3}
)";

TEST(FuseNormalization, TheFactoredFormOfTensorFlow) {
  ExpectRewrite(FuseNormalization,
                std::string(kHead) + R"(%4 = mean(%0) axes=1 keep_dims=true : float32[3x1] "m" node "mean" operator 0
%5 = squared_difference(%0, %4) : float32[3x5] "d" node "squares" operator 1
%6 = mean(%5) axes=1 keep_dims=true : float32[3x1] "v" node "variance" operator 2
%7 = add(%6, %1) : float32[3x1] "ve" node "add" operator 3
%8 = rsqrt(%7) : float32[3x1] "r" node "rsqrt" operator 4
%9 = mul(%8, %2) : float32[3x5] "k" node "mul" operator 5
%10 = mul(%0, %9) : float32[3x5] "xk" node "mul 1" operator 6
%11 = mul(%4, %9) : float32[3x5] "mk" node "mul 2" operator 7
%12 = sub(%3, %11) : float32[3x5] "s" node "sub" operator 8
%13 = add(%10, %12) activation=relu : float32[3x5] "y" node "last" operator 9
output %13
)",
                R"(%0 = input : float32[3x5] "x"
%13 = mean_variance_normalization(%0, %2, %3) axes=1 epsilon=0.001 activation=relu : float32[3x5] "y" node "last" operator 9
output %13
)");
}

TEST(FuseNormalization, AnInstanceNormalizationWithComputedScaleAndOffset) {
  ExpectRewrite(FuseNormalization, R"(graph "g"
%0 = input : float32[2x3x4x5] "x"
%1 = input : float32[1x1x1x5] "scale"
%2 = input : float32[1x1x1x5] "offset"
%3 = constant : float32[] "e" = {1e-05}
%4 = mean(%0) axes=1,2 keep_dims=true : float32[2x1x1x5] "m" node "mean"
%5 = squared_difference(%4, %0) : float32[2x3x4x5] "d" node "squares"
%6 = mean(%5) axes=1,2 keep_dims=true : float32[2x1x1x5] "v" node "variance"
%7 = add(%3, %6) : float32[2x1x1x5] "ve" node "add"
%8 = rsqrt(%7) : float32[2x1x1x5] "r" node "rsqrt"
%9 = mul(%1, %8) : float32[2x1x1x5] "k" node "mul"
%10 = mul(%9, %0) : float32[2x3x4x5] "xk" node "mul 1"
%11 = mul(%9, %4) : float32[2x1x1x5] "mk" node "mul 2"
%12 = sub(%2, %11) : float32[2x1x1x5] "s" node "sub"
%13 = add(%12, %10) : float32[2x3x4x5] "y" node "last"
output %13
)",
                R"(%0 = input : float32[2x3x4x5] "x"
%1 = input : float32[1x1x1x5] "scale"
%2 = input : float32[1x1x1x5] "offset"
%13 = mean_variance_normalization(%0, %1, %2) axes=1,2 epsilon=1e-05 : float32[2x3x4x5] "y" node "last"
output %13
)");
}

// As the converter writes a batch normalization that trains: the means keep no dimensions.
TEST(FuseNormalization, MeansOfWhichOnlyTheLastDimensionIsLeft) {
  ExpectRewrite(FuseNormalization, R"(graph "g"
%0 = input : float32[2x3x4x5] "x"
%1 = constant : float32[] "e" = {0.001}
%2 = constant : float32[5] "gamma" = {1, -2, 3, 0.5, 1}
%3 = constant : float32[5] "beta" = {-1, 0, 1, 2, 3}
%4 = mean(%0) axes=0,1,2 : float32[5] "m" node "mean"
%5 = squared_difference(%0, %4) : float32[2x3x4x5] "d" node "squares"
%6 = mean(%5) axes=0,1,2 : float32[5] "v" node "variance"
%7 = add(%6, %1) : float32[5] "ve" node "add"
%8 = rsqrt(%7) : float32[5] "r" node "rsqrt"
%9 = mul(%8, %2) : float32[5] "k" node "mul"
%10 = mul(%0, %9) : float32[2x3x4x5] "xk" node "mul 1"
%11 = mul(%4, %9) : float32[5] "mk" node "mul 2"
%12 = sub(%3, %11) : float32[5] "s" node "sub"
%13 = add(%10, %12) : float32[2x3x4x5] "y" node "last"
output %13
)",
                R"(%0 = input : float32[2x3x4x5] "x"
%13 = mean_variance_normalization(%0, %2, %3) axes=0,1,2 epsilon=0.001 : float32[2x3x4x5] "y" node "last"
output %13
)");
}

// From "d", the difference from the mean, to "v", the variance.
constexpr std::string_view kVariances[] = {
    R"(%6 = square(%5) : float32[3x5] "q" node "square"
%8 = mean(%6) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
)",
    R"(%6 = mul(%5, %5) : float32[3x5] "q" node "mul"
%8 = mean(%6) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
)",
    R"(%7 = constant : float32[] "two" = {2}
%6 = pow(%5, %7) : float32[3x5] "q" node "pow"
%8 = mean(%6) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
)",
    R"(%6 = squared_difference(%0, %4) : float32[3x5] "q" node "squares"
%8 = mean(%6) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
)"};

// From there to "n", what is normalized without scale and offset.
constexpr std::string_view kQuotients[] = {
    R"(%10 = rsqrt(%9) : float32[3x1] "r" node "root"
%11 = mul(%5, %10) : float32[3x5] "n" node "normal"
)",
    R"(%10 = rsqrt(%9) : float32[3x1] "r" node "root"
%11 = mul(%10, %5) : float32[3x5] "n" node "normal"
)",
    R"(%10 = sqrt(%9) : float32[3x1] "r" node "root"
%11 = div(%5, %10) : float32[3x5] "n" node "normal"
)",
    R"(%14 = constant : float32[] "power" = {-0.5}
%10 = pow(%9, %14) : float32[3x1] "r" node "root"
%11 = mul(%5, %10) : float32[3x5] "n" node "normal"
)",
    R"(%14 = constant : float32[] "power" = {0.5}
%10 = pow(%9, %14) : float32[3x1] "r" node "root"
%11 = div(%5, %10) : float32[3x5] "n" node "normal"
)"};

struct Ending {
  std::string_view text, after;
};
constexpr Ending kEndings[] = {
    {R"(output %11
)",
     R"(%11 = mean_variance_normalization(%0) axes=1 epsilon=0.001 : float32[3x5] "n" node "normal"
output %11
)"},
    {R"(%12 = mul(%2, %11) : float32[3x5] "g" node "scale"
output %12
)",
     R"(%12 = mean_variance_normalization(%0, %2) axes=1 epsilon=0.001 : float32[3x5] "g" node "scale"
output %12
)"},
    {R"(%12 = add(%3, %11) activation=relu6 : float32[3x5] "b" node "offset"
output %12
)",
     R"(%12 = mean_variance_normalization(%0, none, %3) axes=1 epsilon=0.001 activation=relu6 : float32[3x5] "b" node "offset"
output %12
)"},
    {R"(%12 = mul(%11, %2) : float32[3x5] "g" node "scale"
%13 = add(%12, %3) : float32[3x5] "b" node "offset"
output %13
)",
     R"(%13 = mean_variance_normalization(%0, %2, %3) axes=1 epsilon=0.001 : float32[3x5] "b" node "offset"
output %13
)"},
    // Another scale behind the offset stays.
    {R"(%12 = add(%11, %3) : float32[3x5] "b" node "offset"
%13 = mul(%12, %2) : float32[3x5] "g" node "scale"
output %13
)",
     R"(%12 = mean_variance_normalization(%0, none, %3) axes=1 epsilon=0.001 : float32[3x5] "b" node "offset"
%13 = mul(%12, %2) : float32[3x5] "g" node "scale"
output %13
)"},
    // So does what an activation goes before.
    {R"(%12 = mul(%11, %2) activation=relu : float32[3x5] "g" node "scale"
%13 = add(%12, %3) : float32[3x5] "b" node "offset"
output %13
)",
     R"(%12 = mean_variance_normalization(%0, %2) axes=1 epsilon=0.001 activation=relu : float32[3x5] "g" node "scale"
%13 = add(%12, %3) : float32[3x5] "b" node "offset"
output %13
)"}};

constexpr std::string_view kDifference =
    R"(%4 = mean(%0) axes=1 keep_dims=true : float32[3x1] "m" node "mean"
%5 = sub(%0, %4) : float32[3x5] "d" node "difference"
)";
constexpr std::string_view kAddEpsilon = R"(%9 = add(%8, %1) : float32[3x1] "ve" node "add"
)";

TEST(FuseNormalization, AllWaysToSquareToDivideAndToGoOn) {
  for (std::string_view variance : kVariances) {
    for (std::string_view quotient : kQuotients) {
      for (const Ending& ending : kEndings) {
        const std::string before =
            fmt::format("{}{}{}{}{}{}", kHead, kDifference, variance, kAddEpsilon, quotient, ending.text);
        SCOPED_TRACE(before);
        ExpectRewrite(FuseNormalization, Dense(before),
                      fmt::format("%0 = input : float32[3x5] \"x\"\n{}", ending.after));
      }
    }
  }
}

TEST(FuseNormalization, AVarianceWithoutEpsilon) {
  ExpectRewrite(FuseNormalization,
                std::string(kHead) + R"(%4 = mean(%0) axes=1 keep_dims=true : float32[3x1] "m" node "mean"
%5 = sub(%0, %4) : float32[3x5] "d" node "difference"
%6 = square(%5) : float32[3x5] "q" node "square"
%7 = mean(%6) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
%8 = sqrt(%7) : float32[3x1] "r" node "root"
%9 = div(%5, %8) : float32[3x5] "y" node "last"
output %9
)",
                R"(%0 = input : float32[3x5] "x"
%9 = mean_variance_normalization(%0) axes=1 : float32[3x5] "y" node "last"
output %9
)");
}

// x and its mean, both divided by the deviation.
constexpr std::string_view kFactored = R"(%4 = mean(%0) axes=1 keep_dims=true : float32[3x1] "m" node "mean"
%5 = squared_difference(%0, %4) : float32[3x5] "d" node "squares"
%6 = mean(%5) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
%7 = add(%6, %1) : float32[3x1] "ve" node "add"
%8 = rsqrt(%7) : float32[3x1] "r" node "rsqrt"
%10 = mul(%0, %8) : float32[3x5] "xk" node "mul 1"
%11 = mul(%4, %8) : float32[3x1] "mk" node "mul 2"
)";

TEST(FuseNormalization, TheFactoredFormWithoutOffset) {
  constexpr std::string_view kAfter = R"(%0 = input : float32[3x5] "x"
%13 = mean_variance_normalization(%0) axes=1 epsilon=0.001 : float32[3x5] "y" node "last"
output %13
)";
  ExpectRewrite(
      FuseNormalization,
      Dense(fmt::format("{}{}%13 = sub(%10, %11) : float32[3x5] \"y\" node \"last\"\noutput %13\n", kHead, kFactored)),
      kAfter);
  ExpectRewrite(FuseNormalization,
                Dense(fmt::format("{}{}%12 = neg(%11) : float32[3x1] \"n\" node \"neg\"\n"
                                  "%13 = add(%10, %12) : float32[3x5] \"y\" node \"last\"\noutput %13\n",
                                  kHead, kFactored)),
                kAfter);
}

TEST(FuseNormalization, ANumberBecomesOneForEachChannel) {
  const Graph graph =
      Rewritten(FuseNormalization,
                Dense(fmt::format(
                    "{}%20 = constant : float32[] \"half\" = {{0.5}}\n{}{}{}{}%12 = mul(%11, %20) : float32[3x5] \"y\" "
                    "node \"scale\"\noutput %12\n",
                    kHead, kDifference, kVariances[0], kAddEpsilon, kQuotients[0])));
  ASSERT_EQ(graph.nodes().size(), 1u);
  EXPECT_EQ(graph.value(graph.nodes()[0].inputs[1]).desc.shape, Shape{5});
}

// As Keras writes it.
TEST(FuseNormalization, TheFactoredFormWithTheMeanNegatedFirst) {
  constexpr std::string_view kStart = R"(%4 = mean(%0) axes=1 keep_dims=true : float32[3x1] "m" node "mean"
%5 = neg(%4) : float32[3x1] "-m" node "neg"
%6 = squared_difference(%0, %4) : float32[3x5] "d" node "squares"
%7 = mean(%6) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
%8 = add(%7, %1) : float32[3x1] "ve" node "add"
%9 = rsqrt(%8) : float32[3x1] "r" node "rsqrt"
%10 = mul(%9, %2) : float32[3x5] "k" node "mul"
%11 = mul(%5, %10) : float32[3x5] "-mk" node "mul 1"
%12 = mul(%0, %10) : float32[3x5] "xk" node "mul 2"
)";
  ExpectRewrite(FuseNormalization,
                fmt::format("{}{}%13 = add(%11, %3) : float32[3x5] \"s\" node \"add 1\"\n"
                            "%14 = add(%12, %13) : float32[3x5] \"y\" node \"last\"\noutput %14\n",
                            kHead, kStart),
                R"(%0 = input : float32[3x5] "x"
%14 = mean_variance_normalization(%0, %2, %3) axes=1 epsilon=0.001 : float32[3x5] "y" node "last"
output %14
)");
  ExpectRewrite(FuseNormalization,
                fmt::format("{}{}%13 = add(%12, %11) : float32[3x5] \"y\" node \"last\"\noutput %13\n", kHead, kStart),
                R"(%0 = input : float32[3x5] "x"
%13 = mean_variance_normalization(%0, %2) axes=1 epsilon=0.001 : float32[3x5] "y" node "last"
output %13
)");
}

TEST(FuseNormalization, LeavesWhatIsSeenFromOutsideOrIsNoNormalization) {
  const std::string to_variance = fmt::format("{}{}", kDifference, kVariances[0]);
  const std::string normal = fmt::format("{}{}{}", to_variance, kAddEpsilon, kQuotients[0]);
  const std::string kept[] = {
      // The mean has another reader.
      normal + "%12 = neg(%4) : float32[3x1] \"z\" node \"neg\"\noutput %11\noutput %12\n",
      // The variance is an output.
      normal + "output %11\noutput %8\n",
      // The mean is that of something else.
      R"(%20 = exp(%0) : float32[3x5] "o" node "exp"
%4 = mean(%20) axes=1 keep_dims=true : float32[3x1] "m" node "mean"
%5 = squared_difference(%0, %4) : float32[3x5] "d" node "squares"
%8 = mean(%5) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
%9 = add(%8, %1) : float32[3x1] "ve" node "add"
%10 = rsqrt(%9) : float32[3x1] "r" node "root"
%15 = sub(%0, %4) : float32[3x5] "d" node "difference"
%11 = mul(%15, %10) : float32[3x5] "n" node "normal"
output %11
)",
      // x itself is divided, not its difference from the mean.
      R"(%4 = mean(%0) axes=1 keep_dims=true : float32[3x1] "m" node "mean"
%5 = squared_difference(%0, %4) : float32[3x5] "d" node "squares"
%8 = mean(%5) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
%9 = add(%8, %1) : float32[3x1] "ve" node "add"
%10 = sqrt(%9) : float32[3x1] "r" node "root"
%11 = div(%0, %10) : float32[3x5] "n" node "normal"
output %11
)",
      // The root is divided by the difference.
      fmt::format("{}{}{}", to_variance, kAddEpsilon, R"(%10 = sqrt(%9) : float32[3x1] "r" node "root"
%11 = div(%10, %5) : float32[3x5] "n" node "normal"
output %11
)"),
      // A sum with something that is not a constant number in the place of epsilon.
      fmt::format("{}{}{}output %11\n", to_variance,
                  R"(%20 = mean(%6) axes=0,1 keep_dims=true : float32[1x1] "e2" node "other"
%9 = add(%8, %20) : float32[3x1] "ve" node "add"
)",
                  kQuotients[0]),
      // The factored form with the offset subtracted.
      fmt::format("{}{}", kFactored, R"(%12 = sub(%11, %3) : float32[3x5] "s" node "sub"
%13 = add(%10, %12) : float32[3x5] "y" node "last"
output %13
)")};
  for (const std::string& text : kept) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FuseNormalization, Dense(std::string(kHead) + text));
  }
}

// What is rounded to a grid on the way stays so.
TEST(FuseNormalization, LeavesQuantizedValues) {
  ExpectUnchanged(FuseNormalization, R"(graph "g"
%0 = input : int8[3x5]{0.05/0} "x"
%1 = constant : int8[]{0.001/0} "e" = {1}
%2 = mean(%0) axes=1 keep_dims=true : int8[3x1]{0.05/0} "m" node "mean"
%3 = sub(%0, %2) : int8[3x5]{0.05/0} "d" node "difference"
%4 = square(%3) : int8[3x5]{0.1/0} "q" node "square"
%5 = mean(%4) axes=1 keep_dims=true : int8[3x1]{0.1/0} "v" node "variance"
%6 = add(%5, %1) : int8[3x1]{0.1/0} "ve" node "add"
%7 = rsqrt(%6) : int8[3x1]{0.1/0} "r" node "root"
%8 = mul(%3, %7) : int8[3x5]{0.05/0} "n" node "normal"
output %8
)");
}

TEST(FuseNormalization, LeavesDimensionsThatNoKernelTakes) {
  for (const auto& [axes, moments] : {std::pair{"1", "2x1x4x5"}, std::pair{"1,3", "2x1x4x1"}}) {
    const std::string text = fmt::format(R"(graph "g"
%0 = input : float32[2x3x4x5] "x"
%1 = constant : float32[] "e" = {{0.001}}
%4 = mean(%0) axes={0} keep_dims=true : float32[{1}] "m" node "mean"
%5 = sub(%0, %4) : float32[2x3x4x5] "d" node "difference"
%6 = square(%5) : float32[2x3x4x5] "q" node "square"
%8 = mean(%6) axes={0} keep_dims=true : float32[{1}] "v" node "variance"
%9 = add(%8, %1) : float32[{1}] "ve" node "add"
%10 = rsqrt(%9) : float32[{1}] "r" node "root"
%11 = mul(%5, %10) : float32[2x3x4x5] "n" node "normal"
output %11
)",
                                         axes, moments);
    ExpectUnchanged(FuseNormalization, Dense(text));
  }
}

}  // namespace
}  // namespace hearth
