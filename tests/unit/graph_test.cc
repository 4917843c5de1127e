#include "core/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x -> relu -> y, with a constant that nobody reads.
Graph SmallGraph() {
  Graph graph;
  const ValueId x = graph.AddValue({.name = "x", .desc = {.shape = {1, 2}}});
  graph.AddFloatConstant("c", {3}, std::vector<float>{1, 2, 3});
  const ValueId y = graph.AddValue({.name = "y", .desc = {.shape = {1, 2}}});
  graph.AddNode({.op = Unary{UnaryKind::kRelu}, .inputs = {x}, .outputs = {y}, .name = "act"});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

void ExpectMalformed(const Graph& graph, const std::string& part) {
  const Status status = graph.Validate();
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput);
  EXPECT_THAT(status.message(), HasSubstr(part));
}

TEST(Graph, ASoundGraphIsValid) {
  EXPECT_EQ(SmallGraph().Validate().message(), "");
}

TEST(Graph, KnowsProducersAndHowOftenValuesAreRead) {
  const Graph graph = SmallGraph();
  EXPECT_EQ(graph.ProducerOf(2), 0);
  EXPECT_EQ(graph.ProducerOf(0), -1);
  EXPECT_THAT(graph.Producers(), ElementsAre(-1, -1, 0));
  EXPECT_THAT(graph.ReadCounts(), ElementsAre(1, 0, 0));
  EXPECT_TRUE(graph.IsOutput(2));
  EXPECT_FALSE(graph.IsOutput(0));
  EXPECT_TRUE(graph.IsConstant(1));
  EXPECT_FALSE(graph.IsConstant(kNoValue));
}

TEST(Graph, ANodeThatReadsAValueTwiceCountsTwice) {
  Graph graph = SmallGraph();
  graph.nodes()[0] = {.op = Binary{}, .inputs = {0, 0}, .outputs = {2}};
  EXPECT_THAT(graph.ReadCounts(), ElementsAre(2, 0, 0));
}

TEST(Graph, ACloneSharesConstantsThatItKeeps) {
  Graph clone;
  {
    const Graph graph = SmallGraph();
    clone = graph.Clone();
    EXPECT_EQ(clone.ConstantBytes(1).data(), graph.ConstantBytes(1).data());
  }
  EXPECT_THAT(ConstantAsFloats(clone, 1).value(), ElementsAre(1, 2, 3));
  EXPECT_EQ(clone.Validate().message(), "");
}

TEST(Graph, ACloneKeepsBorrowedConstantsBorrowed) {
  const std::vector<std::byte> file(12);
  Graph graph;
  const ConstantId constant = graph.BorrowConstant(file, FileRange{0, 0, file.size()});
  graph.AddValue({.name = "c", .desc = {.shape = {3}}, .constant = constant});
  EXPECT_EQ(graph.Clone().ConstantBytes(0).data(), file.data());
}

TEST(Graph, ConstantsThatNobodyReadAreFreedUnlessAFileHasThem) {
  Graph graph = SmallGraph();
  const ValueId read = graph.AddFloatConstant("read", {2}, std::vector<float>{4, 5});
  Value again{.name = "again", .desc = graph.value(read).desc};  // as a reshape of a constant
  again.constant = graph.BorrowConstant(graph.ConstantBytes(read), std::nullopt);
  const ValueId other = graph.AddValue(std::move(again));
  const float of_file[] = {6};
  Value filed{.name = "filed", .desc = {.shape = {1}}};
  filed.constant = graph.BorrowConstant(std::as_bytes(std::span(of_file)), FileRange{0, 0, 4});
  const ValueId in_file = graph.AddValue(std::move(filed));
  const ValueId shown = graph.AddFloatConstant("shown", {1}, std::vector<float>{7});
  graph.outputs.push_back(shown);
  graph.nodes()[0].inputs.push_back(other);
  const Graph clone = graph.Clone();
  graph.DropUnusedConstants();
  EXPECT_EQ(graph.ConstantsSizeBytes(), 4u * (2 + 1 + 1));
  EXPECT_FALSE(graph.IsConstant(1));  // "c"
  EXPECT_TRUE(graph.IsConstant(in_file));
  EXPECT_THAT(*ConstantAsFloats(graph, other), ElementsAre(4, 5));
  EXPECT_THAT(*ConstantAsFloats(graph, shown), ElementsAre(7));
  EXPECT_THAT(*ConstantAsFloats(clone, 1), ElementsAre(1, 2, 3));
}

TEST(Graph, RefusesIdsOutOfRange) {
  Graph graph = SmallGraph();
  graph.nodes()[0].inputs = {99};
  ExpectMalformed(graph, "relu \"act\" reads %99, which does not exist");
  graph = SmallGraph();
  graph.nodes()[0].outputs = {-7};
  ExpectMalformed(graph, "writes %-7, which does not exist");
  graph = SmallGraph();
  graph.inputs = {1 << 30};
  ExpectMalformed(graph, "graph input %1073741824 does not exist");
  graph = SmallGraph();
  graph.outputs = {-1};
  ExpectMalformed(graph, "graph output %-1 does not exist");
  graph = SmallGraph();
  graph.value(1).constant = 5;
  ExpectMalformed(graph, "constant 5, which does not exist");
  graph.value(1).constant = -5;
  ExpectMalformed(graph, "constant -5, which does not exist");
}

TEST(Graph, RefusesACycle) {
  Graph graph = SmallGraph();
  graph.nodes()[0].inputs = {2};
  ExpectMalformed(graph, "reads %2 \"y\", which no input, constant or earlier node gives");
}

TEST(Graph, RefusesTwoProducersOfOneValue) {
  Graph graph = SmallGraph();
  const Node again = graph.nodes()[0];
  graph.AddNode(again);
  ExpectMalformed(graph, "gives already");
}

TEST(Graph, RefusesANodeThatWritesAConstantOrInput) {
  Graph graph = SmallGraph();
  graph.nodes()[0].outputs = {1};
  ExpectMalformed(graph, "gives already");
  graph.nodes()[0].outputs = {0};
  ExpectMalformed(graph, "gives already");
}

TEST(Graph, RefusesAConstantOfTheWrongSize) {
  Graph graph = SmallGraph();
  graph.value(1).desc.shape = {4};
  ExpectMalformed(graph, "has 12 bytes, float32[4] needs 16");
}

TEST(Graph, RefusesShapesThatOverflow) {
  Graph graph = SmallGraph();
  constexpr int32_t kHuge = 2147483647;
  graph.value(0).desc.shape = {kHuge, kHuge, kHuge, kHuge, kHuge, kHuge};
  ExpectMalformed(graph, "impossible shape");
  graph.value(0).desc.shape = {0, kHuge, kHuge, kHuge};
  ExpectMalformed(graph, "impossible shape");
  graph.value(0).desc.shape = {-1, 2};
  ExpectMalformed(graph, "impossible shape -1x2");
}

TEST(Graph, RefusesAnOutputThatNothingMakes) {
  Graph graph = SmallGraph();
  graph.nodes().clear();
  ExpectMalformed(graph, "nothing makes graph output %2 \"y\"");
}

TEST(Graph, RefusesInputsListedTwiceAndConstantInputs) {
  Graph graph = SmallGraph();
  graph.inputs = {0, 0};
  ExpectMalformed(graph, "listed twice");
  graph.inputs = {1};
  ExpectMalformed(graph, "a constant");
}

TEST(Graph, ConstantsOfAllKindsReadAsFloats) {
  Graph graph;
  const auto byte = [](int value) { return static_cast<std::byte>(value); };
  const ValueId half = graph.AddConstantValue("h", {.dtype = DType::kFloat16, .shape = {2}},
                                              {byte(0x00), byte(0x3c), byte(0x00), byte(0xc0)});
  const ValueId quantized = graph.AddConstantValue(
      "q", {.dtype = DType::kInt8, .shape = {2, 2}, .quantization = Quantization{{0.5f, 2.0f}, {1, 0}, 0}},
      {byte(3), byte(-1), byte(3), byte(-1)});
  const ValueId nibbles = graph.AddConstantValue("n", {.dtype = DType::kInt4, .shape = {3}}, {byte(0xf1), byte(0x08)});
  EXPECT_THAT(ConstantAsFloats(graph, half).value(), ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(ConstantAsFloats(graph, quantized).value(), ElementsAre(1.0f, -1.0f, 6.0f, -2.0f));
  EXPECT_THAT(ConstantAsFloats(graph, nibbles).value(), ElementsAre(1.0f, -1.0f, -8.0f));
}

TEST(Graph, ABrokenQuantizationIsAnError) {
  Graph graph;
  const auto add = [&](Quantization quantization) {
    return graph.AddConstantValue("q", {.dtype = DType::kUInt8, .shape = {2}, .quantization = std::move(quantization)},
                                  std::vector<std::byte>(2));
  };
  EXPECT_FALSE(ConstantAsFloats(graph, add({})).ok());
  EXPECT_FALSE(ConstantAsFloats(graph, add({{1.0f, 1.0f, 1.0f}, {}, 0})).ok());
  EXPECT_FALSE(ConstantAsFloats(graph, add({{1.0f, 1.0f}, {}, 7})).ok());
  EXPECT_FALSE(ConstantAsFloats(graph, add({{1.0f, 1.0f}, {1, 2, 3}, 0})).ok());
  EXPECT_FALSE(ConstantAsFloats(graph, add({{-1.0f}, {0}, 0})).ok());
  EXPECT_TRUE(ConstantAsFloats(graph, add({{1.0f, 1.0f}, {3}, 0})).ok());
}

}  // namespace
}  // namespace hearth
