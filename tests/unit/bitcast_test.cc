// BITCAST: the bits of one type read as another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::Evaluate;
using ::testing::HasSubstr;
using testing::InferredShape;
using testing::OneNode;

TEST(Bitcast, ReadsFloatsAsIntegersAndBack) {
  EXPECT_THAT(Evaluate(Bitcast{DType::kInt32}, {{{2}, {1.0, -2.0}}}, DType::kInt32),
              ElementsAre(0x3f800000, -0x40000000));
  EXPECT_THAT(Evaluate(Bitcast{DType::kFloat32}, {{{1}, {0x40490fdb}, DType::kInt32}}),
              ElementsAre(3.1415927410125732));
}

TEST(Bitcast, OfASmallerTypeMakesANewLastDimension) {
  EXPECT_EQ(InferredShape(Bitcast{DType::kInt8}, {{{3}, {1, 2, 3}}}, {DType::kInt8}), "3x4");
  EXPECT_THAT(Evaluate(Bitcast{DType::kInt16}, {{{1}, {0x10002}, DType::kInt32}}, DType::kInt16), ElementsAre(2, 1));
}

TEST(Bitcast, OfALargerTypeJoinsTheLastDimension) {
  EXPECT_THAT(Evaluate(Bitcast{DType::kInt32}, {{{2, 2}, {2, 1, 0, -1}, DType::kInt16}}, DType::kInt32),
              ElementsAre(0x10002, -0x10000));
  EXPECT_THAT(InferredShape(Bitcast{DType::kInt32}, {{{3}, {1, 2, 3}, DType::kInt16}}, {DType::kInt32}),
              HasSubstr("the last dimension of 3 must be 2"));
}

TEST(Bitcast, OfTruthValuesIsRefused) {
  EXPECT_THAT(InferredShape(Bitcast{DType::kInt8}, {{{1}, {1}, DType::kBool}}, {DType::kInt8}), HasSubstr("bool"));
}

// The reference calculates in float64, where these would change.
TEST(Bitcast, OnTheCpuKeepsEveryBitOfSignallingNans) {
  Graph graph = OneNode(Bitcast{DType::kInt32}, {{{2}, {0, 0}}}, {DType::kInt32});
  ASSERT_TRUE(InferShapes(graph).ok());
  const std::vector<int> nodes = {0};
  const auto executor = MakeCpuExecutor();
  auto program = executor->Prepare(graph, nodes, graph.outputs, 1);
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<int32_t> bits = {0x7f800001, -1}, made(2);
  const HostTensor tensors[] = {{graph.inputs[0], std::as_writable_bytes(std::span(bits))},
                                {graph.outputs[0], std::as_writable_bytes(std::span(made))}};
  ASSERT_TRUE((*program)->Run(tensors).ok());
  EXPECT_EQ(made, bits);
}

}  // namespace
}  // namespace hearth
