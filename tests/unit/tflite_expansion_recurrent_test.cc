// Recurrent layers of both directions, which the reader makes of two layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/one_expansion.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One unit for each direction over a sequence of two steps: h = x + h / 2.
struct OneRnn {
  explicit OneRnn(int32_t step_size = 1) : model({1, 2, step_size}) {
    inputs = {model.x};
    for (int direction = 0; direction < 2; ++direction) {
      inputs.push_back(model.writer.AddConstant<float>({"", {1, step_size}}, std::vector<float>(step_size, 1)));
      inputs.push_back(model.writer.AddConstant<float>({"", {1, 1}}, {0.5f}));
      inputs.push_back(model.writer.AddConstant<float>({"", {1}}, {0}));
      inputs.push_back(model.writer.AddTensor({"h", {1, 1}, wire::TensorType_FLOAT32, {}, true}));
    }
  }
  auto Options(bool merge) {
    return wire::CreateBidirectionalSequenceRNNOptions(model.writer.builder(), false, wire::ActivationFunctionType_NONE,
                                                       merge);
  }
  OneExpansion model;
  std::vector<int32_t> inputs;
};

TEST(TfliteExpansion, TheSecondDirectionReadsASequenceFromItsEnd) {
  OneRnn rnn;
  EXPECT_THAT(rnn.model.Answer(kBidirectionalRnn, rnn.inputs, {1, 2, 2}, rnn.Options(true)), ElementsAre(1, 2, 2.5, 2));
}

TEST(TfliteExpansion, BothDirectionsHaveStatesAndOutputsOfTheirOwn) {
  OneRnn rnn;
  const int32_t forward = rnn.model.writer.AddTensor({"forward", {1, 2, 1}});
  const int32_t backward = rnn.model.writer.AddTensor({"backward", {1, 2, 1}});
  rnn.model.writer.AddOperator(kBidirectionalRnn, rnn.inputs, {forward, backward}, rnn.Options(false));
  const auto answers = rnn.model.Outputs({forward, backward}, {});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0], ElementsAre(1, 2.5));
  EXPECT_THAT(answers[1], ElementsAre(2, 2));
  const Result<Graph> graph = ReadTfliteModel(rnn.model.bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->states.size(), 2u);
}

TEST(TfliteExpansion, AnAuxiliaryInputWithoutWeightsIsWhatTheSecondDirectionReads) {
  OneRnn rnn;
  rnn.inputs.push_back(rnn.model.writer.AddConstant<float>({"", {1, 2, 1}}, {10, 20}));
  rnn.inputs.insert(rnn.inputs.end(), 2, -1);
  EXPECT_THAT(rnn.model.Answer(kBidirectionalRnn, rnn.inputs, {1, 2, 2}, rnn.Options(true)),
              ElementsAre(1, 20, 2.5, 20));
}

TEST(TfliteExpansion, AnAuxiliaryInputWithWeightsIsReadByBothDirections) {
  OneRnn rnn;
  rnn.inputs.push_back(rnn.model.writer.AddConstant<float>({"", {1, 2, 1}}, {10, 20}));
  rnn.inputs.push_back(rnn.model.writer.AddConstant<float>({"", {1, 1}}, {2}));
  rnn.inputs.push_back(rnn.model.writer.AddConstant<float>({"", {1, 1}}, {3}));
  EXPECT_THAT(rnn.model.Answer(kBidirectionalRnn, rnn.inputs, {1, 2, 2}, rnn.Options(true)),
              ElementsAre(21, 62, 52.5, 62));
}

TEST(TfliteExpansion, DirectionsOfOtherCountsOfOutputsAreDamage) {
  OneRnn rnn;
  EXPECT_EQ(rnn.model.Read(kBidirectionalRnn, rnn.inputs, {1, 2, 2}, rnn.Options(false)).status().code(),
            StatusCode::kMalformedInput);
}

TEST(TfliteExpansion, AStateThatDoesNotFitIsDamage) {
  OneRnn rnn;
  rnn.inputs[8] = rnn.model.writer.AddTensor({"h", {7, 3}, wire::TensorType_FLOAT32, {}, true});
  EXPECT_EQ(rnn.model.Read(kBidirectionalRnn, rnn.inputs, {1, 2, 2}, rnn.Options(true)).status().code(),
            StatusCode::kMalformedInput);
}

TEST(TfliteExpansion, DirectionsOverStepsWithoutElementsStayOneUnknownOperator) {
  OneRnn rnn(0);
  const Result<Graph> graph = rnn.model.Read(kBidirectionalRnn, rnn.inputs, {1, 2, 2}, rnn.Options(true));
  EXPECT_TRUE(graph.ok());
  EXPECT_THAT(RefusalOf(graph), HasSubstr("steps without elements"));
}

TEST(TfliteExpansion, DirectionsWithWeightsThatAreMadeAtRunTimeStayOneUnknownOperator) {
  OneExpansion model({1, 2, 1});
  std::vector<int32_t> inputs(39, -1);
  inputs[0] = model.x;
  const int32_t weights = model.writer.AddTensor({"weights", {1, 2, 1}});
  model.writer.AddOperator(kRelu, {model.x}, {weights});
  for (const int32_t first : {1, 18}) {
    for (int32_t k = 0; k < 8; ++k) inputs[static_cast<size_t>(first + k)] = weights;
    for (int32_t k = 11; k < 15; ++k) {
      inputs[static_cast<size_t>(first + k)] = model.writer.AddConstant<float>({"", {1}}, {0});
    }
  }
  for (size_t state = 35; state < 39; ++state) {
    inputs[state] = model.writer.AddTensor({"state", {1, 1}, wire::TensorType_FLOAT32, {}, true});
  }
  const auto options = wire::CreateBidirectionalSequenceLSTMOptions(
      model.writer.builder(), wire::ActivationFunctionType_TANH, 0, 0, true, false);
  const Result<Graph> graph = model.Read(kBidirectionalLstm, inputs, {1, 2, 2}, options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(std::get<UnknownOp>(graph->nodes().back().op).reason, HasSubstr("run time"));
  EXPECT_TRUE(graph->Validate().ok());
}

}  // namespace
}  // namespace hearth
