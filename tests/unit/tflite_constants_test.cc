// Constants that a file stores in another form than they are used in: sparse, quantized, in blocks, of four bits or
// two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Reads a model in which x[1, 4] is multiplied with `filter` and gives the filter's numbers, or the error.
Result<std::vector<float>> FilterOf(TfliteWriter& writer, int32_t filter, int32_t rows) {
  const int32_t x = writer.AddTensor({"x", {1, 4}});
  const int32_t y = writer.AddTensor({"y", {1, rows}});
  writer.AddOperator(kFullyConnected, {x, filter}, {y});
  const auto bytes = writer.Finish({x}, {y});
  HEARTH_ASSIGN(const Graph graph, ReadTfliteModel(bytes));
  EXPECT_EQ(graph.nodes().size(), 1u);
  return ConstantAsFloats(graph, graph.nodes().back().inputs[1]);
}

std::vector<float> GoodFilterOf(TfliteWriter& writer, int32_t filter, int32_t rows) {
  const Result<std::vector<float>> floats = FilterOf(writer, filter, rows);
  EXPECT_TRUE(floats.ok()) << floats.status().message();
  return floats.ok() ? *floats : std::vector<float>();
}

// 1 0 0 2 / 0 0 0 0 / 0 3 0 0, rows dense and columns compressed.
const WrittenSparsity kRows = {{0, 1}, {}, {{3, {}, {}}, {0, {0, 2, 2, 3}, {0, 3, 1}}}};
const std::vector<float> kRowValues = {1, 2, 3};

TEST(TfliteConstants, ASparseMatrixIsMadeDense) {
  TfliteWriter writer;
  const int32_t w = writer.AddSparseConstant<float>({"w", {3, 4}}, kRows, kRowValues);
  EXPECT_THAT(GoodFilterOf(writer, w, 3), ElementsAre(1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0));
}

TEST(TfliteConstants, AMatrixOfSparseBlocksIsMadeDense) {
  // Blocks of 2x2 (dimensions 2 and 3, of 0 and 1); of the block rows the first has its second block, the other both.
  TfliteWriter writer;
  const WrittenSparsity sparsity = {
      {0, 1, 2, 3}, {0, 1}, {{2, {}, {}}, {0, {0, 1, 3}, {1, 0, 1}}, {2, {}, {}}, {2, {}, {}}}};
  const int32_t w = writer.AddSparseConstant<float>({"w", {4, 4}}, sparsity, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_THAT(GoodFilterOf(writer, w, 4), ElementsAre(0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 9, 10, 7, 8, 11, 12));
}

TEST(TfliteConstants, ASparseMatrixMayBeWalkedByColumns) {
  TfliteWriter writer;
  const WrittenSparsity sparsity = {{1, 0}, {}, {{4, {}, {}}, {0, {0, 1, 2, 2, 3}, {0, 2, 0}}}};
  const int32_t w = writer.AddSparseConstant<float>({"w", {3, 4}}, sparsity, {1, 3, 2});
  EXPECT_THAT(GoodFilterOf(writer, w, 3), ElementsAre(1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0));
}

TEST(TfliteConstants, DensifyAndDequantizeOfASparseConstantMakeNoNode) {
  TfliteWriter writer;
  const std::vector<uint16_t> values = {0x3c00, 0x4000, 0x4200};  // 1, 2, 3
  const int32_t sparse = writer.AddSparseConstant<uint16_t>({"w", {3, 4}, wire::TensorType_FLOAT16}, kRows, values);
  const int32_t dense = writer.AddTensor({"dense", {3, 4}, wire::TensorType_FLOAT16});
  const int32_t full = writer.AddTensor({"full", {3, 4}});
  writer.AddOperator(kDensify, {sparse}, {dense});
  writer.AddOperator(kDequantize, {dense}, {full});
  EXPECT_THAT(GoodFilterOf(writer, full, 3), ElementsAre(1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0));
}

// -2 -1 0 1 / 1 0 -1 -2, four to a byte.
const std::vector<uint8_t> kTwoBits = {0x4e, 0xb1};

TEST(TfliteConstants, ElementsOfTwoBitsAreWidened) {
  TfliteWriter writer;
  const WrittenTensor two_bits = {
      "w", {2, 4}, wire::TensorType_INT2, {.scales = {0.5f, 3}, .zero_points = {0, 0}, .dimension = 0}};
  EXPECT_THAT(GoodFilterOf(writer, writer.AddConstant(two_bits, kTwoBits), 2),
              ElementsAre(-1, -0.5, 0, 0.5, 3, 0, -3, -6));
  TfliteWriter shorter;
  const Result<std::vector<float>> made = FilterOf(shorter, shorter.AddConstant<uint8_t>(two_bits, {0x4e}), 2);
  EXPECT_THAT(made.status().message(), HasSubstr("holds 1 bytes of data, but 8 elements of int2 in shape 2x4 need 2"));
}

// A filter of blocks of `size` with the scales 1, 0.5, 2 and `last_scale`, as float16 has it: 3.
int32_t FilterOfBlocks(TfliteWriter& writer, wire::TensorType type, const std::vector<uint8_t>& stored, int32_t size,
                       uint16_t last_scale = 0x4200) {
  const std::vector<uint16_t> scales = {0x3c00, 0x3800, 0x4000, last_scale};
  const int32_t tensor = writer.AddConstant<uint16_t>({"scales", {2, 2}, wire::TensorType_FLOAT16}, scales);
  return writer.AddConstant<uint8_t>({"w", {2, 4}, type, {.block_size = size, .block_scales = tensor}}, stored);
}

TEST(TfliteConstants, BlocksHaveAScaleEach) {
  TfliteWriter four, two, eight;
  EXPECT_THAT(GoodFilterOf(four, FilterOfBlocks(four, wire::TensorType_INT4, {0x98, 0x10, 0x32, 0x7f}, 2), 2),
              ElementsAre(-8, -7, 0, 0.5, 4, 6, -3, 21));
  EXPECT_THAT(GoodFilterOf(two, FilterOfBlocks(two, wire::TensorType_INT2, kTwoBits, 2), 2),
              ElementsAre(-2, -1, 0, 0.5, 2, 0, -3, -6));
  EXPECT_THAT(GoodFilterOf(eight, FilterOfBlocks(eight, wire::TensorType_INT8, {255, 2, 3, 4, 5, 6, 7, 128}, 2), 2),
              ElementsAre(-1, 2, 1.5, 2, 10, 12, 21, -384));
}

TEST(TfliteConstants, ScalesOfBlocksAreFiniteAndNotNegative) {
  constexpr uint16_t kNoNumber = 0x7e00, kInfinite = 0x7c00, kNegative = 0xbc00, kNothing = 0;
  for (const uint16_t scale : {kNoNumber, kInfinite, kNegative}) {
    TfliteWriter writer;
    const int32_t filter = FilterOfBlocks(writer, wire::TensorType_INT4, {0x98, 0x10, 0x32, 0x7f}, 2, scale);
    EXPECT_THAT(FilterOf(writer, filter, 2).status().message(), HasSubstr("a finite number of at least 0")) << scale;
  }
  TfliteWriter writer;
  const int32_t filter = FilterOfBlocks(writer, wire::TensorType_INT4, {0x98, 0x10, 0x32, 0x7f}, 2, kNothing);
  EXPECT_THAT(GoodFilterOf(writer, filter, 2), ElementsAre(-8, -7, 0, 0.5, 4, 6, 0, 0));
}

TEST(TfliteConstants, ScalesOfBlocksArePassedOverWhereTheTypeHasNoScales) {
  const std::pair<wire::TensorType, DType> types[] = {{wire::TensorType_FLOAT32, DType::kFloat32},
                                                      {wire::TensorType_FLOAT64, DType::kFloat64},
                                                      {wire::TensorType_UINT32, DType::kUInt32},
                                                      {wire::TensorType_UINT64, DType::kUInt64}};
  for (const auto& [type, dtype] : types) {
    TfliteWriter writer;
    const std::vector<uint8_t> stored(static_cast<size_t>(BitsOf(dtype)), 1);  // 8 elements
    const int32_t w = FilterOfBlocks(writer, type, stored, 2);
    const int32_t x = writer.AddTensor({"x", {2, 4}, type}), y = writer.AddTensor({"y", {4, 4}, type});
    writer.AddOperator(kConcatenation, {x, w}, {y}, wire::CreateConcatenationOptions(writer.builder(), 0));
    const auto bytes = writer.Finish({x}, {y});
    const Result<Graph> graph = ReadTfliteModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const ValueId constant = graph->nodes().at(0).inputs.at(1);
    EXPECT_EQ(graph->value(constant).desc.dtype, dtype);
    EXPECT_THAT(graph->ConstantBytes(constant), ElementsAreArray(std::as_bytes(std::span(stored))));
  }
}

TEST(TfliteConstants, DequantizeOfBlocksMakesNoNode) {
  TfliteWriter writer;
  const int32_t blocks = FilterOfBlocks(writer, wire::TensorType_INT4, {0x98, 0x10, 0x32, 0x7f}, 2);
  const int32_t full = writer.AddTensor({"full", {2, 4}});
  writer.AddOperator(kDequantize, {blocks}, {full});
  EXPECT_THAT(GoodFilterOf(writer, full, 2), ElementsAre(-8, -7, 0, 0.5, 4, 6, -3, 21));
}

TEST(TfliteConstants, ARowsLastBlockMayBeShorter) {
  TfliteWriter writer;
  const int32_t w = FilterOfBlocks(writer, wire::TensorType_INT4, {0x98, 0x10, 0x32, 0x7f}, 3);
  EXPECT_THAT(GoodFilterOf(writer, w, 2), ElementsAre(-8, -7, 0, 0.5, 4, 6, -2, 21));
}

TEST(TfliteConstants, BlocksThatDoNotFitAreRefused) {
  for (const int32_t size : {-1, 1, 4}) {
    TfliteWriter writer;
    const Result<std::vector<float>> made =
        FilterOf(writer, FilterOfBlocks(writer, wire::TensorType_INT4, {0x98, 0x10, 0x32, 0x7f}, size), 2);
    EXPECT_THAT(made.status().message(), HasSubstr("is quantized in ")) << size;
  }
  TfliteWriter writer;
  WrittenTensor unknown = {"w", {2, 4}, wire::TensorType_INT8, {.block_size = 4, .block_scales = 77}};
  EXPECT_FALSE(FilterOf(writer, writer.AddConstant<uint8_t>(unknown, std::vector<uint8_t>(8)), 2).ok());
}

// int8 elements in blocks of 2 with the scales 1, 0.5, 2 and 3, and with `zero_points`.
template <typename Stored>
Result<std::vector<float>> ShiftedBlocks(wire::TensorType type, const std::vector<Stored>& zero_points) {
  TfliteWriter writer;
  const std::vector<uint16_t> scales = {0x3c00, 0x3800, 0x4000, 0x4200};
  const int32_t of_scales = writer.AddConstant<uint16_t>({"scales", {2, 2}, wire::TensorType_FLOAT16}, scales);
  const int32_t shifts =
      writer.AddConstant<Stored>({"shifts", {static_cast<int32_t>(zero_points.size())}, type}, zero_points);
  const WrittenQuantization blocks = {.block_size = 2, .block_scales = of_scales, .block_zero_points = shifts};
  return FilterOf(
      writer, writer.AddConstant<int8_t>({"w", {2, 4}, wire::TensorType_INT8, blocks}, {-1, 2, 3, 4, 5, 6, 7, -128}),
      2);
}

TEST(TfliteConstants, BlocksMayHaveAZeroPointEach) {
  const Result<std::vector<float>> made = ShiftedBlocks<int8_t>(wire::TensorType_INT8, {1, 2, 0, -3});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(*made, ElementsAre(-2, 1, 0.5, 1, 10, 12, 30, -375));
  const Result<std::vector<float>> wide = ShiftedBlocks<int64_t>(wire::TensorType_INT64, {1, 2, 0, -3});
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_EQ(*wide, *made);
  EXPECT_THAT(ShiftedBlocks<int8_t>(wire::TensorType_INT8, {1, 2, 0}).status().message(),
              HasSubstr("needs 4 constant integers as zero points, but tensor 1 'shifts' is int8[3]"));
  EXPECT_THAT(ShiftedBlocks<float>(wire::TensorType_FLOAT32, {1, 2, 0, 3}).status().message(),
              HasSubstr("is float32[4]"));
}

// The filter of a convolution of x[1, 1, 2, 3], densified from `values`, as floats.
template <typename Stored>
std::vector<float> DensifiedFilter(wire::TensorType type, const std::vector<Stored>& values, bool dequantize) {
  // 1 0 2 / 0 0 0 for the first output, 0 3 0 / 4 0 0 for the second.
  const WrittenSparsity sparsity = {
      {0, 1, 2, 3}, {}, {{2, {}, {}}, {1, {}, {}}, {2, {}, {}}, {0, {0, 2, 2, 3, 4}, {0, 2, 1, 0}}}};
  TfliteWriter writer;
  const WrittenTensor stored = {.name = "w", .shape = {2, 1, 2, 3}, .type = type};
  int32_t filter = writer.AddTensor({.name = "dense", .shape = {2, 1, 2, 3}, .type = type});
  writer.AddOperator(kDensify, {writer.AddSparseConstant<Stored>(stored, sparsity, values)}, {filter});
  if (dequantize) {
    const int32_t full = writer.AddTensor({"full", {2, 1, 2, 3}});
    writer.AddOperator(kDequantize, {filter}, {full});
    filter = full;
  }
  const int32_t x = writer.AddTensor({"x", {1, 1, 2, 3}}), y = writer.AddTensor({"y", {1, 1, 1, 2}});
  writer.AddOperator(kConv2D, {x, filter}, {y}, wire::CreateConv2DOptions(writer.builder(), wire::Padding_VALID, 1, 1));
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok() || graph->nodes().size() != 1) return {};
  const Result<std::vector<float>> floats = ConstantAsFloats(*graph, graph->nodes()[0].inputs[1]);
  return floats.ok() ? *floats : std::vector<float>();
}

TEST(TfliteConstants, ADensifiedFilterIsAConstantOfItsConvolution) {
  const auto dense = ElementsAre(1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0, 0);
  EXPECT_THAT(DensifiedFilter<float>(wire::TensorType_FLOAT32, {1, 2, 3, 4}, false), dense);
  EXPECT_THAT(DensifiedFilter<uint16_t>(wire::TensorType_FLOAT16, {0x3c00, 0x4000, 0x4200, 0x4400}, true), dense);
}

TEST(TfliteConstants, ContradictorySparsityIsRefused) {
  const auto message = [](const WrittenSparsity& sparsity, const std::vector<float>& values) {
    TfliteWriter writer;
    const int32_t w = writer.AddSparseConstant<float>({"w", {3, 4}}, sparsity, values);
    return std::string(FilterOf(writer, w, 3).status().message());
  };
  EXPECT_THAT(message(kRows, {1, 2}), HasSubstr("more values than there are"));
  EXPECT_THAT(message({{0, 0}, {}, kRows.levels}, kRowValues), HasSubstr("not a permutation"));
  EXPECT_THAT(message({{0}, {}, kRows.levels}, kRowValues), HasSubstr("other lengths"));
  EXPECT_THAT(message({{0, 1}, {}, {{4, {}, {}}, kRows.levels[1]}}, kRowValues), HasSubstr("differs from the shape"));
  EXPECT_THAT(message({{0, 1}, {}, {{3, {}, {}}, {0, {0, 2, 2, 3}, {0, 4, 1}}}}, kRowValues),
              HasSubstr("outside the shape"));
  EXPECT_THAT(message({{0, 1}, {}, {{3, {}, {}}, {0, {0, 2, 1, 3}, {0, 3, 1}}}}, kRowValues), HasSubstr("segments"));
  EXPECT_THAT(message({{0, 1}, {}, {{3, {}, {}}, {0, {0, 3}, {0, 3, 1}}}}, kRowValues),
              HasSubstr("segment is missing"));
  EXPECT_THAT(message({{0, 1, 2}, {5}, {kRows.levels[0], kRows.levels[1], {2, {}, {}}}}, kRowValues),
              HasSubstr("divides nothing"));
}

// flatbuffers' verifier checks nothing of a union whose type it does not know.
TEST(TfliteConstants, AListOfIndicesOfUnknownTypeIsNotRead) {
  TfliteWriter writer;
  const WrittenSparsity sparsity = {{0, 1}, {}, {{3, {}, {}}, {0, {0, 2, 2, 3}, {0, 3, 1}, true}}};
  const int32_t w = writer.AddSparseConstant<float>({"w", {3, 4}}, sparsity, kRowValues);
  EXPECT_THAT(FilterOf(writer, w, 3).status().message(), HasSubstr("segments"));
}

TEST(TfliteConstants, DequantizedIntegersStayStoredInFiltersAndBecomeFloatsElsewhere) {
  TfliteWriter writer;
  const int32_t stored = writer.AddConstant<int8_t>(
      {.name = "w", .shape = {2, 4}, .type = wire::TensorType_INT8, .quantization = {{0.5f, 2.0f}, {1, 0}, 0}},
      {1, 3, -1, 1, 1, 2, 3, 4});
  const int32_t full = writer.AddTensor({"full", {2, 4}});
  const int32_t x = writer.AddTensor({"x", {1, 4}}), z = writer.AddTensor({"z", {2, 4}});
  const int32_t y = writer.AddTensor({"y", {1, 2}}), sum = writer.AddTensor({"sum", {2, 4}});
  writer.AddOperator(kDequantize, {stored}, {full});
  writer.AddOperator(kFullyConnected, {x, full}, {y});
  writer.AddOperator(kAdd, {z, full}, {sum});
  const auto bytes = writer.Finish({x, z}, {y, sum});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 2u);
  const ValueId filter = graph->nodes()[0].inputs[1], operand = graph->nodes()[1].inputs[1];
  EXPECT_EQ(graph->value(filter).desc.dtype, DType::kInt8);
  EXPECT_EQ(graph->value(operand).desc.dtype, DType::kFloat32);
  const std::vector<float> reals = {0, 1, -1, 0, 2, 4, 6, 8};
  EXPECT_THAT(*ConstantAsFloats(*graph, filter), ElementsAreArray(reals));
  EXPECT_THAT(*ConstantAsFloats(*graph, operand), ElementsAreArray(reals));
}

TEST(TfliteConstants, ANumberStoredInFloat16IsKnownToTheOperatorThatNeedsIt) {
  TfliteWriter writer;
  const int32_t stored = writer.AddConstant<uint16_t>({"n", {}, wire::TensorType_FLOAT16}, {0x4100});  // 2.5
  const int32_t number = writer.AddTensor({"number", {}});
  const int32_t sides = writer.AddConstant<int32_t>({"sides", {2, 2}, wire::TensorType_INT32}, {0, 0, 1, 1});
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {1, 4}});
  writer.AddOperator(kDequantize, {stored}, {number});
  writer.AddOperator(kPadV2, {x, sides, number}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 1u);
  const auto* pad = std::get_if<Pad>(&graph->nodes()[0].op);
  ASSERT_NE(pad, nullptr);
  EXPECT_EQ(pad->value, 2.5f);
}

TEST(TfliteConstants, AShapeFilledWithAQuantizedNumberHoldsWhatTheNumberMeans) {
  TfliteWriter writer;
  const WrittenQuantization steps = {.scales = {0.25f}, .zero_points = {13}};
  const int32_t number = writer.AddConstant<int8_t>({"n", {}, wire::TensorType_INT8, steps}, {21});
  const int32_t filled = writer.AddTensor({"filled", {3}, wire::TensorType_INT8, steps});
  writer.AddOperator(94, {writer.AddIntegers({3}), number}, {filled});
  const int32_t x = writer.AddTensor({"x", {3}, wire::TensorType_INT8, steps});
  const int32_t y = writer.AddTensor({"y", {3}, wire::TensorType_INT8, steps});
  writer.AddOperator(kAdd, {x, filled}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::vector<float>> numbers = ConstantAsFloats(*graph, graph->nodes().back().inputs[1]);
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_THAT(*numbers, ElementsAre(2, 2, 2));
}

TEST(TfliteConstants, FourBitNumbersLieTwoInAByteLowNibbleFirst) {
  TfliteWriter writer;
  const int32_t w = writer.AddConstant<uint8_t>(
      {.name = "w", .shape = {1, 4}, .type = wire::TensorType_INT4, .quantization = {{0.5f}, {0}}}, {0xf1, 0x78});
  EXPECT_THAT(GoodFilterOf(writer, w, 1), ElementsAre(0.5f, -0.5f, -4.0f, 3.5f));
}

TEST(TfliteConstants, AScaleOfZeroStandsForZeros) {
  // Converters write it for channels whose weights are all zero.
  TfliteWriter writer;
  const int32_t w = writer.AddConstant<int8_t>(
      {.name = "w", .shape = {2, 4}, .type = wire::TensorType_INT8, .quantization = {{0.0f, 0.5f}, {0, 0}, 0}},
      {0, 0, 0, 0, 2, 4, 6, 8});
  EXPECT_THAT(GoodFilterOf(writer, w, 2), ElementsAre(0, 0, 0, 0, 1, 2, 3, 4));
}

TEST(TfliteConstants, OneZeroPointHoldsForAllScales) {
  TfliteWriter writer;
  const int32_t w = writer.AddConstant<uint8_t>(
      {.name = "w", .shape = {2, 4}, .type = wire::TensorType_UINT8, .quantization = {{1.0f, 2.0f}, {1}, 0}},
      {1, 2, 3, 4, 1, 2, 3, 4});
  const int32_t full = writer.AddTensor({"full", {2, 4}});
  writer.AddOperator(kDequantize, {w}, {full});
  EXPECT_THAT(GoodFilterOf(writer, full, 2), ElementsAre(0, 1, 2, 3, 0, 2, 4, 6));
}

TEST(TfliteConstants, ShapesMayBe64Bit) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 6}});
  const int32_t shape = writer.AddConstant<int64_t>({"shape", {2}, wire::TensorType_INT64}, {3, -1});
  const int32_t y = writer.AddTensor({"y", {3, 4}});
  writer.AddOperator(kReshape, {x, shape}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->nodes()[0].op, Op(Reshape{{3, 4}}));
}

// x is summed over axes that `additions` additions make of the input 'axes', twice. Why each sum is refused.
std::vector<std::string> RefusalsOfComputedAxes(int additions, size_t searched_nodes) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 2}}), axes = writer.AddTensor({"axes", {1}, kInt});
  int32_t last = axes;
  for (int k = 0; k < additions; ++k) {
    const int32_t made = writer.AddTensor({"made", {1}, kInt});
    writer.AddOperator(kAdd, {last, axes}, {made});
    last = made;
  }
  const int32_t y = writer.AddTensor({"y", {2}}), z = writer.AddTensor({"z", {2}});
  for (const int32_t sum : {y, z}) {
    writer.AddOperator(kSum, {x, last}, {sum}, wire::CreateReducerOptions(writer.builder(), false));
  }
  const auto bytes = writer.Finish({x, axes}, {y, z});
  ReadingBudget budget(bytes.size());
  budget.searched_nodes_left = searched_nodes;
  const Result<Graph> read = ReadTfliteModel(bytes, {}, budget);
  EXPECT_TRUE(read.ok()) << read.status().message();
  std::vector<std::string> reasons;
  for (const Node& node : read->nodes()) {
    if (const auto* unknown = std::get_if<UnknownOp>(&node.op)) reasons.push_back(unknown->reason);
  }
  return reasons;
}

// A search goes through the nodes once, however many lie on the way: 50 nodes, then 51. SUM is read twice, as one node
// and as several.
TEST(TfliteConstants, WhatALongChainBeginsWithIsFoundInOnePass) {
  EXPECT_THAT(RefusalsOfComputedAxes(50, 202), ::testing::Each(HasSubstr("is computed at run time, from 'axes'")));
}

TEST(TfliteConstants, AfterManySearchesAMessageNamesNoOrigin) {
  EXPECT_THAT(RefusalsOfComputedAxes(50, 100), ElementsAre(HasSubstr("is computed at run time, from 'axes'"),
                                                           ::testing::EndsWith("is computed at run time")));
}

}  // namespace
}  // namespace hearth
