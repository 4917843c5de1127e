// Constants whose elements lie in a file in another order: who reads them, and what is kept of them.
#include "core/graph/stored_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>

#include "backends/null/device.h"
#include "core/base/numbers.h"
#include "core/graph/block_scales.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "core/plan/plan_proof.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

const Shape kTurned{40, 30};
const StridedView kTurn{0, {{40, 1}, {30, 40}}};

// A file with the numbers 0 to 1199 as [30,40], and a graph with them (value 0) and as [40,30] (value 1).
struct Turned {
  Turned() : numbers(1200) {
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    const ConstantId whole = graph.BorrowConstant(std::as_bytes(std::span(numbers)), FileRange{0, 0, 4800});
    graph.AddValue({"stored", {DType::kFloat32, Shape{30, 40}, {}}, whole});
    graph.AddValue({"turned", {DType::kFloat32, kTurned, {}}, graph.AddReordered(0, kTurn)});
  }
  const Constant& constant(ValueId value) const { return graph.constant(*graph.value(value).constant); }

  std::vector<float> numbers;
  Graph graph;
};

TEST(StoredElements, ArePutInOrderForWhoeverReadsThem) {
  const Turned turned;
  const std::vector<float> read = ConstantAsFloats(turned.graph, 1).value();
  EXPECT_EQ(read[0], 0);
  EXPECT_EQ(read[1], 40);
  EXPECT_EQ(read[30], 1);
  EXPECT_EQ(turned.constant(1).bytes.data(), turned.constant(0).bytes.data());
  EXPECT_TRUE(turned.constant(1).was_read.is_set());
}

TEST(StoredElements, AreInOrderOnceForAllWhoHaveThem) {
  const Turned turned;
  const OrderedBytes one = turned.graph.ReadConstant(1), other = turned.graph.Clone().ReadConstant(1);
  EXPECT_EQ(one.bytes.data(), other.bytes.data());
  EXPECT_EQ(turned.graph.ConstantBytes(1).data(), one.bytes.data());
}

TEST(StoredElements, AreFreedWhenNobodyHasThem) {
  const Turned turned;
  std::weak_ptr<const std::byte[]> read = turned.graph.ReadConstant(1).own;
  EXPECT_TRUE(read.expired());
}

TEST(StoredElements, WhatAReaderLookedAtIsFreedWithItsSteps) {
  Turned turned;
  static_cast<void>(turned.graph.ConstantBytes(1));
  const std::weak_ptr<const StoredElements> looked_at = turned.constant(1).elements;
  turned.graph.DropUnusedConstants();
  EXPECT_TRUE(looked_at.expired());
  EXPECT_EQ(ConstantAsFloats(turned.graph, 1).value()[1], 40);
}

TEST(StoredElements, AViewOfAViewReadsTheFile) {
  Turned turned;
  const StridedView back{0, {{30, 1}, {40, 30}}};  // of [40,30]
  const ValueId again = turned.graph.AddValue({"again", {DType::kFloat32, {30, 40}, {}}});
  turned.graph.value(again).constant = turned.graph.AddReordered(1, back);
  ASSERT_TRUE(turned.graph.IsConstant(again));
  EXPECT_EQ(ConstantAsFloats(turned.graph, again).value(), turned.numbers);
}

TEST(StoredElements, AreMultipliedAfterTheyArePutInOrder) {
  Turned turned;
  std::vector<float> rows(40, 2.0f);
  rows[1] = 10.0f;
  const ValueId scaled = turned.graph.AddValue({"scaled", {DType::kFloat32, kTurned, {}}});
  turned.graph.value(scaled).constant = turned.graph.AddScaled(1, {true, rows});
  const ValueId twice = turned.graph.AddValue({"twice", {DType::kFloat32, kTurned, {}}});
  turned.graph.value(twice).constant = turned.graph.AddScaled(scaled, {false, {1, 0.5f, 1}});
  const std::vector<float> once = ConstantAsFloats(turned.graph, scaled).value();
  EXPECT_EQ(once[1], 80);        // 40 * 2
  EXPECT_EQ(once[30 + 1], 410);  // 41 * 10
  EXPECT_EQ(ConstantAsFloats(turned.graph, twice).value()[30 + 1], 205);
  EXPECT_EQ(turned.graph.AddReordered(scaled, kTurn), std::nullopt);
}

TEST(StoredElements, SmallOnesAndThoseOfNoFileAreConstantsOfTheGraph) {
  Turned turned;
  const ValueId made = turned.graph.AddFloatConstant("made", kTurned, turned.numbers);
  EXPECT_EQ(turned.graph.AddReordered(made, kTurn), std::nullopt);
  const ConstantId small = turned.graph.BorrowConstant(turned.constant(0).bytes.first(48), FileRange{0, 0, 48});
  const ValueId few = turned.graph.AddValue({"few", {DType::kFloat32, {3, 4}, {}}, small});
  EXPECT_EQ(turned.graph.AddReordered(few, {0, {{4, 1}, {3, 4}}}), std::nullopt);
}

TEST(StoredElements, AViewThatIsNotOneOfAllElementsIsNone) {
  Turned turned;
  for (const StridedView& view : {StridedView{0, {{40, 1}, {29, 40}}}, {1, {{40, 1}, {30, 40}}}, {0, {{1200, -1}}}})
    EXPECT_EQ(turned.graph.AddReordered(0, view), std::nullopt);
  EXPECT_NE(turned.graph.AddReordered(0, {1199, {{1200, -1}}}), std::nullopt);
}

// As a file has the numbers -8 to 7 in 4 bits, 40 times.
std::vector<std::byte> NibblesOfFile() {
  std::vector<std::byte> bytes;
  for (int k = 0; k < 320; ++k)
    bytes.push_back(static_cast<std::byte>(std::array{0x98, 0xba, 0xdc, 0xfe, 0x10, 0x32, 0x54, 0x76}[k % 8]));
  return bytes;
}

TEST(StoredElements, IntegersOfFewBitsAreBytesForWhoeverReadsThem) {
  const std::vector<std::byte> file = NibblesOfFile();
  for (const FileType type : {FileType::kInt4, FileType::kUInt4, FileType::kInt2, FileType::kUInt2}) {
    const int bits = type == FileType::kInt4 || type == FileType::kUInt4 ? 4 : 2;
    const int64_t count = 8 * ssize(file) / bits;
    const StoredElements elements({{count - 1, {{count, -1}}}, {}, type}, 8);
    ASSERT_TRUE(CheckForm(elements.form(), 8, file.size()).ok());
    const OrderedBytes read = elements.Ordered(file);
    ASSERT_EQ(ssize(read.bytes), count);
    for (int64_t k = 0; k < count; ++k) {
      int number = std::to_integer<int>(file[k * bits / 8]) >> (k * bits % 8) & ((1 << bits) - 1);
      if ((type == FileType::kInt4 || type == FileType::kInt2) && number >> (bits - 1) != 0) number -= 1 << bits;
      ASSERT_EQ(read.bytes[count - 1 - k], static_cast<std::byte>(number)) << k << " of " << bits;
    }
  }
}

TEST(StoredElements, IntegersOf4BitsStaySoInAnotherOrder) {
  const std::vector<std::byte> file = NibblesOfFile();
  const StoredForm turned{{0, {{16, 1}, {40, 16}}}, {}, FileType::kInt4};
  const OrderedBytes read = InForm(turned, 4, file);
  ASSERT_EQ(read.bytes.size(), file.size());
  for (int k = 0; k < 320; ++k) ASSERT_EQ(std::to_integer<int>(read.bytes[k]), ((k / 20 - 8) & 15) * 17) << k;
}

TEST(StoredElements, FloatsOf16BitsAreFloatsForWhoeverReadsThem) {
  const std::array<uint16_t, 3> of_brain = {0x3f80, 0xc040, 0x4049}, halves = {0x3c00, 0xc200, 0x4248};
  const auto first_of = [](const StoredForm& form, const std::array<uint16_t, 3>& file) {
    const OrderedBytes read = InForm(form, 32, std::as_bytes(std::span(file)));
    return std::vector<float>{LoadAt<float>(read.bytes.data(), 0), LoadAt<float>(read.bytes.data(), 1),
                              LoadAt<float>(read.bytes.data(), 2)};
  };
  EXPECT_EQ(first_of({{0, {{3, 1}}}, {}, FileType::kBFloat16}, of_brain), (std::vector<float>{1, -3, 3.140625f}));
  EXPECT_EQ(first_of({{0, {{3, 1}}}, {{false, {2, 3, 4}}}, FileType::kFloat16}, halves),
            (std::vector<float>{2, -9, 12.5625f}));
}

TEST(StoredElements, AFormOfOtherTypesFitsTheFilesBytes) {
  const auto fits = [](int64_t count, FileType type, int64_t bits, size_t bytes) {
    return CheckForm({{0, {{count, 1}}}, {}, type}, bits, bytes).ok();
  };
  EXPECT_TRUE(fits(7, FileType::kInt4, 8, 4) && fits(8, FileType::kInt4, 4, 4) && fits(5, FileType::kUInt2, 8, 2));
  EXPECT_TRUE(fits(4, FileType::kBFloat16, 32, 8) && fits(2, FileType::kSame, 64, 16));
  EXPECT_FALSE(fits(6, FileType::kInt4, 8, 4) || fits(9, FileType::kInt4, 8, 4) || fits(4, FileType::kUInt2, 8, 2));
  EXPECT_FALSE(fits(4, FileType::kBFloat16, 16, 8) || fits(4, FileType::kInt4, 32, 2) ||
               fits(8, FileType::kSame, 4, 4));
}

TEST(StoredElements, AProofTellsTheirOrder) {
  Turned turned, other;
  const PlanProof proof = ProofOf(turned.graph, turned.graph);
  EXPECT_TRUE(Holds(proof, turned.graph));
  other.graph.value(1).constant = other.graph.AddReordered(0, {0, {{20, 1}, {30, 40}, {2, 20}}});
  EXPECT_FALSE(Holds(proof, other.graph));
}

Result<Plan> PlanOf(Graph& graph) {
  NullDevice device(NullDeviceInfo());
  HEARTH_TRY(InferShapes(graph));
  HEARTH_TRY(RunPasses(graph, device.info(), {}));
  return Lower(graph, device.info(), {});
}

// A filter with batch normalization behind it, and the weights of a layer.
TEST(StoredElements, NoWeightsOfAnOnnxFileEnterAPlan) {
  OnnxGraph onnx;
  onnx.Input("x", {"1", "8", "6", "6"}).Output("y");
  onnx.Floats("filter", {32, 8, 3, 3}, std::vector<float>(32 * 72, 0.5f));
  onnx.Floats("weights", {32, 64}, std::vector<float>(32 * 64, 0.25f)).Int64s("flat", {2}, {1, 32});
  for (const char* numbers : {"gamma", "beta", "average", "variance"})
    onnx.Floats(numbers, {32}, std::vector<float>(32, 0.75f));
  onnx.Node("Conv", {"x", "filter"}, {"sums"});
  onnx.Node("BatchNormalization", {"sums", "gamma", "beta", "average", "variance"}, {"made"});
  onnx.Node("GlobalAveragePool", {"made"}, {"mean"});
  onnx.Node("Reshape", {"mean", "flat"}, {"row"}).Node("MatMul", {"row", "weights"}, {"y"});
  const std::string file = OnnxFile(onnx);
  Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Result<Plan> plan = PlanOf(*read);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  int stored = 0, scaled = 0;
  for (const PlanConstant& constant : plan->constants) {
    EXPECT_LT(constant.inline_bytes.size(), 1024u);
    stored += constant.recipe.stored ? 1 : 0;
    scaled += constant.recipe.stored && !constant.recipe.stored->factors.empty() ? 1 : 0;
  }
  EXPECT_EQ(stored, 2);
  EXPECT_EQ(scaled, 1);
}

// Weights of 4 bits with a scale for each block, both a row for each number of the depth, and weights of bfloat16.
TEST(StoredElements, NoWeightsOfTypesThatOnlyFilesHaveEnterAPlan) {
  constexpr int kBFloat16 = 16, kInt4 = 22;
  OnnxGraph onnx;
  onnx.Input("x", {"1", "64"}).Output("y");
  onnx.Stored("w", {64, 32}, kInt4, std::string(1024, '\x21')).Floats("s", {4, 32}, std::vector<float>(128, 0.5f));
  onnx.Stored("v", {32, 16}, kBFloat16, std::string(1024, '\x3f'));
  onnx.Node("DequantizeLinear", {"w", "s"}, {"weights"},
            {OnnxGraph::Integer("axis", 0), OnnxGraph::Integer("block_size", 16)});
  onnx.Node("MatMul", {"x", "weights"}, {"row"}).Node("Relu", {"row"}, {"z"}).Node("MatMul", {"z", "v"}, {"y"});
  const std::string file = OnnxFile(onnx, 21);
  Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Result<Plan> plan = PlanOf(*read);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  std::set<FileType> types;
  for (const PlanConstant& constant : plan->constants) {
    EXPECT_LT(constant.inline_bytes.size(), 256u);
    if (constant.recipe.stored) types.insert(constant.recipe.stored->type);
    const BlockScales* blocks = BlocksOf(constant.recipe.source);
    EXPECT_TRUE(blocks == nullptr || (blocks->scales.bytes.empty() && blocks->scales.source));
  }
  EXPECT_EQ(types, (std::set{FileType::kInt4, FileType::kBFloat16}));
}

}  // namespace
}  // namespace hearth
