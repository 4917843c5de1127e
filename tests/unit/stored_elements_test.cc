// Constants whose elements lie in a file in another order: who reads them, and what is kept of them.
#include "core/graph/stored_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "backends/null/device.h"
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

TEST(StoredElements, AProofTellsTheirOrder) {
  Turned turned, other;
  const PlanProof proof = ProofOf(turned.graph, turned.graph);
  EXPECT_TRUE(Holds(proof, turned.graph));
  other.graph.value(1).constant = other.graph.AddReordered(0, {0, {{20, 1}, {30, 40}, {2, 20}}});
  EXPECT_FALSE(Holds(proof, other.graph));
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
  NullDevice device(NullDeviceInfo());
  ASSERT_TRUE(InferShapes(*read).ok() && RunPasses(*read, device.info(), {}).ok());
  const Result<Plan> plan = Lower(*read, device.info(), {});
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

}  // namespace
}  // namespace hearth
