// Operators of StableHLO: the branch that STABLEHLO_CASE names, and options that are wrong. Their results are compared
// with the interpreter's in tests/oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/one_expansion.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kHloAdd = 163, kHloMultiply = 165, kHloMaximum = 166, kHloAnd = 176, kHloMinimum = 181,
                  kHloConvolution = 171, kHloCompare = 191, kHloSort = 199, kScatter = 190, kPad = 195,
                  kReduceWindow = 198, kHloGather = 201, kShiftLeft = 207;

// A subgraph of one vector: `code` of it and itself, or of it alone.
void EndBranch(TfliteWriter& writer, int32_t code) {
  const int32_t v = writer.AddTensor({"v", {2}}), made = writer.AddTensor({"made", {2}});
  writer.AddOperator(code, code == kNeg ? std::vector{v} : std::vector{v, v}, {made});
  writer.EndSubgraph({v}, {made});
}

// (which, x): 2x, x*x or -x. With `known` the first is that number.
std::vector<std::byte> OneOfThree(std::optional<int32_t> known) {
  TfliteWriter writer;
  const WrittenTensor scalar{"which", {}, kInt};
  const int32_t which = known ? writer.AddConstant<int32_t>(scalar, {*known}) : writer.AddTensor(scalar);
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  const auto branches = writer.builder().CreateVector(std::vector<int32_t>{1, 2, 3});
  writer.AddOperator2(kCase, {which, x}, {y}, wire::CreateStablehloCaseOptions(writer.builder(), branches));
  writer.EndSubgraph(known ? std::vector{x} : std::vector{which, x}, {y});
  for (const int32_t code : {kAdd, kMul, kNeg}) EndBranch(writer, code);
  return writer.FinishFile();
}

std::vector<double> Evaluated(const std::vector<std::byte>& bytes, std::vector<ReferenceTensor> inputs) {
  const Result<Graph> graph = ReadTfliteModel(bytes);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return {};
  const auto outputs = EvaluateGraph(*graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? (*outputs)[0].values : std::vector<double>();
}

TEST(TfliteHlo, CaseTakesTheBranchWithTheNumberThatDataGiveElseTheLast) {
  const auto bytes = OneOfThree(std::nullopt);
  const ReferenceTensor x{{2}, {3, 4}};
  EXPECT_THAT(Evaluated(bytes, {{{}, {0}}, x}), ElementsAre(6, 8));
  EXPECT_THAT(Evaluated(bytes, {{{}, {1}}, x}), ElementsAre(9, 16));
  for (const double last : {2.0, 3.0, -1.0}) EXPECT_THAT(Evaluated(bytes, {{{}, {last}}, x}), ElementsAre(-3, -4));
}

TEST(TfliteHlo, CaseOfAKnownNumberReadsOneBranch) {
  const ReferenceTensor x{{2}, {3, 4}};
  EXPECT_THAT(Evaluated(OneOfThree(1), {x}), ElementsAre(9, 16));
  EXPECT_THAT(Evaluated(OneOfThree(-5), {x}), ElementsAre(-3, -4));
  const auto bytes = OneOfThree(0);
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->nodes().size(), 2u) << "ADD, and a copy to the output's name";
}

TEST(TfliteHlo, AShiftByAsManyBitsAsThereAreOrMoreLeavesNothing) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}, kInt}), by = writer.AddTensor({"by", {4}, kInt});
  const int32_t y = writer.AddTensor({"y", {4}, kInt});
  writer.AddOperator(kShiftLeft, {x, by}, {y});
  const auto bytes = writer.Finish({x, by}, {y});
  const ReferenceTensor numbers{{4}, {3, 3, 3, 1}, DType::kInt32}, bits{{4}, {4, 32, -1, 31}, DType::kInt32};
  EXPECT_THAT(Evaluated(bytes, {numbers, bits}), ElementsAre(48, 0, 0, -2147483648.0));
}

TEST(TfliteHlo, AShiftOfANarrowTypeLosesWhatLeavesIt) {
  constexpr auto kByte = wire::TensorType_INT8;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {5}, kByte}), by = writer.AddTensor({"by", {5}, kByte});
  const int32_t y = writer.AddTensor({"y", {5}, kByte});
  writer.AddOperator(kShiftLeft, {x, by}, {y});
  const ReferenceTensor numbers{{5}, {3, 3, 3, 1, -1}, DType::kInt8}, bits{{5}, {6, 8, -1, 7, 100}, DType::kInt8};
  EXPECT_THAT(Evaluated(writer.Finish({x, by}, {y}), {numbers, bits}), ElementsAre(-64, 0, 0, -128, 0));
}

std::vector<double> HloResult(wire::TensorType type, const ReferenceTensor& a, const ReferenceTensor& b,
                              int32_t code = kHloAnd) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {3}, type}), y = writer.AddTensor({"y", {3}, type});
  const int32_t z = writer.AddTensor({"z", {3}, type});
  writer.AddOperator(code, {x, y}, {z});
  return Evaluated(writer.Finish({x, y}, {z}), {a, b});
}

TEST(TfliteHlo, AndIsOfBitsWhereOperandsAreIntegersAndOfTruthWhereTheyAreBool) {
  EXPECT_THAT(HloResult(kInt, {{3}, {6, -6, -1}, DType::kInt32}, {{3}, {3, 3, -2147483648.0}, DType::kInt32}),
              ElementsAre(2, 2, -2147483648.0));
  EXPECT_THAT(HloResult(wire::TensorType_UINT8, {{3}, {6, 255, 1}, DType::kUInt8}, {{3}, {3, 129, 2}, DType::kUInt8}),
              ElementsAre(2, 129, 0));
  EXPECT_THAT(HloResult(wire::TensorType_BOOL, {{3}, {1, 1, 0}}, {{3}, {1, 0, 0}}), ElementsAre(1, 0, 0));
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {3}}), z = writer.AddTensor({"z", {3}});
  writer.AddOperator(kHloAnd, {x, x}, {z});
  EXPECT_THAT(RefusalOf(writer.Finish({x}, {z})), HasSubstr("elements of the type float32"));
}

TEST(TfliteHlo, SumsAndMaximaOfTruthValuesAreOrProductsAndMinimaAreAnd) {
  const ReferenceTensor a{{3}, {1, 1, 0}}, b{{3}, {1, 0, 0}};
  for (const int32_t code : {kHloAdd, kHloMaximum}) {
    EXPECT_THAT(HloResult(wire::TensorType_BOOL, a, b, code), ElementsAre(1, 1, 0)) << code;
  }
  for (const int32_t code : {kHloMultiply, kHloMinimum}) {
    EXPECT_THAT(HloResult(wire::TensorType_BOOL, a, b, code), ElementsAre(1, 0, 0)) << code;
  }
}

// Numbers of the options of an operator, by what it does.
struct Lists {
  std::vector<int64_t> a, b, c;
  int64_t number = 0;
};

std::string WhyPad(const Lists& lists, bool is_known = true) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 3}}), y = writer.AddTensor({"y", {2, 3}});
  const int32_t number = is_known ? writer.AddConstant<float>({"n", {}}, {1.0f}) : writer.AddTensor({"n", {}});
  flatbuffers::FlatBufferBuilder& builder = writer.builder();
  const auto a = builder.CreateVector(lists.a), b = builder.CreateVector(lists.b), c = builder.CreateVector(lists.c);
  writer.AddOperator2(kPad, {x, number}, {y}, wire::CreateStablehloPadOptions(builder, a, b, c));
  return RefusalOf(writer.Finish(is_known ? std::vector{x} : std::vector{x, number}, {y}));
}

TEST(TfliteHlo, PaddingByANumberOfMoreDigitsThanAreKeptIsRefused) {
  for (const int64_t number : {(int64_t{1} << 62) + 1, std::numeric_limits<int64_t>::max()}) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {2}, kLong}), y = writer.AddTensor({"y", {3}, kLong});
    const int32_t with = writer.AddConstant<int64_t>({"n", {}, kLong}, {number});
    auto& builder = writer.builder();
    const auto one = builder.CreateVector<int64_t>({1}), none = builder.CreateVector<int64_t>({0});
    writer.AddOperator2(kPad, {x, with}, {y}, wire::CreateStablehloPadOptions(builder, one, none, none));
    const bool is_largest = number == std::numeric_limits<int64_t>::max();
    const std::string refusal = RefusalOf(writer.Finish({x}, {y}));
    if (is_largest) {
      EXPECT_EQ(refusal, "");
    } else {
      EXPECT_THAT(refusal, HasSubstr("more digits than float64 has"));
    }
  }
}

TEST(TfliteHlo, PaddingThatCannotBeIsRefusedWithTheReason) {
  EXPECT_EQ(WhyPad({{1, -1}, {0, 0}, {2, 0}}), "");
  EXPECT_THAT(WhyPad({{1}, {0, 0}, {0, 0}}), HasSubstr("1 numbers for 2 dimensions"));
  EXPECT_THAT(WhyPad({{0, 0}, {0, 0}, {0, -1}}), HasSubstr("hold -1"));
  EXPECT_THAT(WhyPad({{0, 0}, {int64_t{1} << 40, 0}, {0, 0}}), HasSubstr("hold 1099511627776"));
  EXPECT_THAT(WhyPad({{0, 0}, {0, 0}, {0, 1 << 30}}), HasSubstr("a dimension of"));
  EXPECT_THAT(WhyPad({{-3, 0}, {0, 0}, {0, 0}}), HasSubstr("cuts off more than all of dimension 0"));
  EXPECT_THAT(WhyPad({{0, 0}, {0, 0}, {0, 0}}, false), HasSubstr("decides shapes"));
}

std::string WhyGather(const Lists& lists, const std::vector<int64_t>& sizes) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4, 5}}), starts = writer.AddTensor({"starts", {3, 1}, kInt});
  const int32_t y = writer.AddTensor({"y", {3, 5}});
  flatbuffers::FlatBufferBuilder& builder = writer.builder();
  const auto a = builder.CreateVector(lists.a), b = builder.CreateVector(lists.b), c = builder.CreateVector(lists.c);
  const auto d = builder.CreateVector(sizes);
  writer.AddOperator2(kHloGather, {x, starts}, {y},
                      wire::CreateStablehloGatherOptions(builder, a, b, c, lists.number, d));
  return RefusalOf(writer.Finish({x, starts}, {y}));
}

TEST(TfliteHlo, AGatherThatCannotBeIsRefusedWithTheReason) {
  EXPECT_EQ(WhyGather({{1}, {0}, {0}, 1}, {1, 5}), "");
  EXPECT_THAT(WhyGather({{1}, {0}, {0}, 1}, {1, 6}), HasSubstr("slices of 6 in dimension 1"));
  EXPECT_THAT(WhyGather({{1}, {0}, {0}, 1}, {2, 5}), HasSubstr("slices of 2 in dimension 0"));
  EXPECT_THAT(WhyGather({{1}, {0}, {2}, 1}, {1, 5}), HasSubstr("dimension 2 of 2"));
  EXPECT_THAT(WhyGather({{1}, {0, 0}, {0}, 1}, {1, 5}), HasSubstr("dimension 0 of 2"));
  EXPECT_THAT(WhyGather({{5}, {0}, {0}, 1}, {1, 5}), HasSubstr("beyond the result's rank"));
  EXPECT_THAT(WhyGather({{1}, {0}, {0}, 0}, {1, 5}), HasSubstr("starts of 1 numbers"));
  EXPECT_THAT(WhyGather({{1}, {0}, {0}, -1}, {1, 5}), HasSubstr("index dimension -1"));
  EXPECT_THAT(WhyGather({{1}, {0}, {0}, 9}, {1, 5}), HasSubstr("in dimension 9"));
}

std::string WhyScatter(const Lists& lists, int32_t body) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4, 5}}), starts = writer.AddTensor({"starts", {3, 1}, kInt});
  const int32_t updates = writer.AddTensor({"updates", {3, 5}}), y = writer.AddTensor({"y", {4, 5}});
  flatbuffers::FlatBufferBuilder& builder = writer.builder();
  const auto a = builder.CreateVector(lists.a), b = builder.CreateVector(lists.b), c = builder.CreateVector(lists.c);
  writer.AddOperator2(kScatter, {x, starts, updates}, {y},
                      wire::CreateStablehloScatterOptions(builder, a, b, c, lists.number, body));
  writer.EndSubgraph({x, starts, updates}, {y});
  EndBranch(writer, kNeg);  // 1
  EndBranch(writer, kMul);  // 2
  return RefusalOf(writer.FinishFile());
}

TEST(TfliteHlo, AScatterThatCannotBeIsRefusedWithTheReason) {
  EXPECT_EQ(WhyScatter({{1}, {0}, {0}, 1}, 2), "");
  EXPECT_THAT(WhyScatter({{1}, {0}, {0}, 1}, 1), HasSubstr("not a sum, product"));
  EXPECT_THAT(WhyScatter({{1}, {0}, {0}, 1}, 7), HasSubstr("calls subgraph 7"));
  EXPECT_THAT(WhyScatter({{0, 1}, {0}, {0}, 1}, 2), HasSubstr("2 window and 1 inserted"));
  EXPECT_THAT(WhyScatter({{0, 1}, {}, {0}, 1}, 2), HasSubstr("rows of updates"));
  EXPECT_THAT(WhyScatter({{1}, {0}, {0}, 5}, 2), HasSubstr("in dimension 5"));
}

TEST(TfliteHlo, WindowsThatReachBeyondTheTensorAreRefused) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {4}}), y = writer.AddTensor({"y", {1}});
  const int32_t zero = writer.AddConstant<float>({"zero", {}}, {0.0f});
  flatbuffers::FlatBufferBuilder& builder = writer.builder();
  const auto sizes = builder.CreateVector(std::vector<int64_t>{3}),
             ones = builder.CreateVector(std::vector<int64_t>{1});
  const auto two = builder.CreateVector(std::vector<int64_t>{2}),
             none = builder.CreateVector(std::vector<int64_t>{0, 0});
  writer.AddOperator2(kReduceWindow, {x, zero}, {y},
                      wire::CreateStablehloReduceWindowOptions(builder, sizes, ones, ones, two, none, 1));
  writer.EndSubgraph({x}, {y});
  EndBranch(writer, kAdd);
  EXPECT_THAT(RefusalOf(writer.FinishFile()), HasSubstr("windows of 5 in 4 elements"));
}

struct Windows {
  std::vector<uint8_t> turned;
  int64_t groups = 1;
  int64_t outputs_dimension = 1;
};

// x[1, 1, 4, 1, 1] over batch, channels and three dimensions, with two zeros between its elements and padding around,
// by filter[1, 2, 3, 1, 1] over inputs, outputs and three dimensions, turned around or not.
std::vector<std::byte> Convolution(const Windows& windows) {
  TfliteWriter writer;
  auto& builder = writer.builder();
  const int32_t x = writer.AddTensor({"x", {1, 1, 4, 1, 1}}), y = writer.AddTensor({"y", {1, 2, 5, 1, 1}});
  const int32_t filter = writer.AddConstant<float>({"w", {1, 2, 3, 1, 1}}, {1, 2, 3, 10, 20, 30});
  const auto list = [&](std::vector<int64_t> numbers) { return builder.CreateVector(numbers); };
  const auto strides = list({2, 1, 1}), padding = list({1, 0, 0, 0, 0, 0}), between = list({3, 1, 1});
  const auto dilations = list({1, 1, 1}), image = list({2, 3, 4});
  const auto reversal = builder.CreateVector(windows.turned);
  writer.AddOperator2(
      kHloConvolution, {x, filter}, {y},
      wire::CreateStablehloConvolutionOptions(builder, strides, padding, between, dilations, reversal, 0, 1, image, 0,
                                              windows.outputs_dimension, image, 0, 1, image, windows.groups, 1));
  return writer.Finish({x}, {y});
}

TEST(TfliteHlo, AConvolutionHasZerosAroundAndBetweenItsElements) {
  // 0 1 0 0 2 0 0 3 0 0 4 in windows of 3, two apart.
  const ReferenceTensor x{{1, 1, 4, 1, 1}, {1, 2, 3, 4}};
  const auto straight = ElementsAre(2, 6, 2, 6, 12, 20, 60, 20, 60, 120);
  EXPECT_THAT(Evaluated(Convolution({.turned = {0, 0, 0}}), {x}), straight);
  EXPECT_THAT(Evaluated(Convolution({.turned = {}}), {x}), straight);
  EXPECT_THAT(Evaluated(Convolution({.turned = {1, 0, 0}}), {x}), ElementsAre(2, 2, 6, 6, 4, 20, 20, 60, 60, 40));
}

TEST(TfliteHlo, AConvolutionOfOtherGroupsOrDimensionsThanItsOperandsIsRefused) {
  for (const int64_t groups : {0, 2}) EXPECT_THAT(RefusalOf(Convolution({.groups = groups})), HasSubstr("groups"));
  EXPECT_THAT(RefusalOf(Convolution({.turned = {1, 0}})), HasSubstr("2 numbers for 3 dimensions"));
  EXPECT_THAT(RefusalOf(Convolution({.turned = {1, 0, 0, 1}})), HasSubstr("4 numbers for 3 dimensions"));
  // 1 in the lower half of its 64 bits.
  EXPECT_THAT(RefusalOf(Convolution({.outputs_dimension = (int64_t{1} << 32) + 1})),
              HasSubstr("dimensions 4294967297 and 0 beside 3 of an image"));
}

// x[2, 3] sorted along `dimension` in the order of STABLEHLO_COMPARE's `direction`, of its operands or their squares.
std::vector<std::byte> Sorted(int64_t dimension, int direction, wire::TensorType type = wire::TensorType_FLOAT32,
                              bool of_squares = false) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 3}, type}), y = writer.AddTensor({"y", {2, 3}, type});
  writer.AddOperator2(kHloSort, {x}, {y}, wire::CreateStablehloSortOptions(writer.builder(), dimension, 1));
  writer.EndSubgraph({x}, {y});
  int32_t a = writer.AddTensor({"a", {}, type}), b = writer.AddTensor({"b", {}, type});
  const int32_t before = writer.AddTensor({"before", {}, wire::TensorType_BOOL});
  const std::vector<int32_t> arguments = {a, b};
  if (of_squares) {
    for (int32_t* operand : {&a, &b}) {
      const int32_t square = writer.AddTensor({"square", {}, type});
      writer.AddOperator(kMul, {*operand, *operand}, {square});
      *operand = square;
    }
  }
  writer.AddOperator2(kHloCompare, {a, b}, {before},
                      wire::CreateStablehloCompareOptions(writer.builder(), static_cast<uint32_t>(direction)));
  writer.EndSubgraph(arguments, {before});
  return writer.FinishFile();
}

TEST(TfliteHlo, ASortIsInTheOrderThatItsSubgraphTells) {
  constexpr int kGreaterOrEqual = 2, kGreater = 3, kLess = 5;
  const ReferenceTensor x{{2, 3}, {3, -1, 2, 0, 5, -4}};
  EXPECT_THAT(Evaluated(Sorted(1, kLess), {x}), ElementsAre(-1, 2, 3, -4, 0, 5));
  EXPECT_THAT(Evaluated(Sorted(0, kLess), {x}), ElementsAre(0, -1, -4, 3, 5, 2));
  EXPECT_THAT(Evaluated(Sorted(1, kGreater), {x}), ElementsAre(3, 2, -1, 5, 0, -4));
  EXPECT_THAT(Evaluated(Sorted(0, kGreaterOrEqual), {x}), ElementsAre(3, 5, 2, 0, -1, -4));
  EXPECT_THAT(Evaluated(Sorted(1, kLess, kInt), {{{2, 3}, {3, -1, -2147483648.0, 0, 5, -4}, DType::kInt32}}),
              ElementsAre(-2147483648.0, -1, 3, -4, 0, 5));
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> made = Evaluated(Sorted(1, kLess), {{{2, 3}, {kNoNumber, 2, 1, 3, 2, 1}}});
  ASSERT_EQ(made.size(), 6u);
  EXPECT_EQ(made[1], 2);
  EXPECT_TRUE(std::isnan(made[2])) << "behind all numbers";
}

TEST(TfliteHlo, ASortInAnotherOrderThanThatOfSizeIsRefused) {
  EXPECT_THAT(RefusalOf(Sorted(1, 5, wire::TensorType_FLOAT32, true)), HasSubstr("not that of size"));
  EXPECT_THAT(RefusalOf(Sorted(1, 0)), HasSubstr("not that of size"));
  EXPECT_THAT(RefusalOf(Sorted(2, 5)), HasSubstr("dimension 2"));
  EXPECT_THAT(RefusalOf(Sorted(1, 5, wire::TensorType_UINT8)), HasSubstr("elements of the type uint8"));
}

}  // namespace
}  // namespace hearth
