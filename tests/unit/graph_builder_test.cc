#include "hearth/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hearth/session.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> RunOnCpu(const Model& model, std::vector<float> input) {
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  if (!session.ok() || !session->SetInput(0, std::as_bytes(std::span(input))).ok() || !session->Run().ok()) return {};
  std::vector<float> output(session->output(0).size() / sizeof(float));
  std::memcpy(output.data(), session->output(0).data(), session->output(0).size());
  return output;
}

TEST(GraphBuilder, MakesAModelThatRuns) {
  GraphBuilder builder("sum of neighbours");
  const auto x = builder.Input("x", {1, 1, 4, 1});
  const std::vector<float> ones = {1, 1, 1};
  const auto filter = builder.Constant("filter", {1, 1, 3, 1}, ones);
  builder.Output(builder.Unary("neg", builder.Conv2D(x, filter, {}, {})), "y");
  Result<Model> model = std::move(builder).Build();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->inputs()[0].name, "x");
  EXPECT_THAT(model->outputs()[0].shape, ElementsAre(1, 1, 4, 1));
  EXPECT_THAT(RunOnCpu(*model, {1, 2, 3, 4}), ElementsAre(-3, -6, -9, -7));
}

TEST(GraphBuilder, AnInputOrAConstantMayBeAnOutput) {
  GraphBuilder builder("through");
  const auto x = builder.Input("x", {1, 2});
  const std::vector<float> numbers = {3, 4};
  builder.Output(builder.Unary("neg", x), "y");
  builder.Output(x, "x");
  builder.Output(builder.Constant("c", {1, 2}, numbers), "c");
  const Result<Model> model = std::move(builder).Build();
  ASSERT_TRUE(model.ok()) << model.status().message();
  Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> input = {1, 2};
  ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(input))).ok());
  ASSERT_TRUE(session->Run().ok());
  std::vector<float> outputs;
  for (size_t k = 0; k < 3; ++k) {
    for (size_t i = 0; i < 2; ++i) {
      outputs.push_back(0);
      std::memcpy(&outputs.back(), session->output(k).data() + 4 * i, 4);
    }
  }
  EXPECT_THAT(outputs, ElementsAre(-1, -2, 1, 2, 3, 4));
}

TEST(GraphBuilder, AnOutputHasTheNameThatItWasGivenAndTakesNobodyElses) {
  GraphBuilder builder("names");
  const auto x = builder.Input("x", {1, 2});
  const auto y = builder.Unary("neg", x);
  builder.Output(x, "through");
  builder.Output(y, "first");
  builder.Output(y, "second");
  const Result<Model> model = std::move(builder).Build();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->inputs()[0].name, "x");
  Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(session->ResizeBatch(2).ok());
  const std::vector<float> input = {1, 2, 3, 4};
  ASSERT_TRUE(session->SetInput("x", std::as_bytes(std::span(input))).ok());
  ASSERT_TRUE(session->Run().ok());
  const std::vector<std::string> names = {"through", "first", "second"};
  for (size_t k = 0; k < names.size(); ++k) EXPECT_EQ(session->outputs()[k].name, names[k]);
  EXPECT_THAT(*session->output<float>(0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*session->output<float>(1), ElementsAre(-1, -2, -3, -4));
  EXPECT_THAT(*session->output<float>(2), ElementsAre(-1, -2, -3, -4));
}

TEST(GraphBuilder, ANameThatTwoHaveIsAMistake) {
  GraphBuilder inputs("inputs");
  inputs.Output(inputs.Binary("sub", inputs.Input("x", {1}), inputs.Input("x", {1})), "y");
  EXPECT_THAT(std::move(inputs).Build().status().message(), HasSubstr("two inputs are called 'x'"));
  GraphBuilder outputs("outputs");
  const auto x = outputs.Input("x", {1});
  outputs.Output(outputs.Unary("neg", x), "y");
  outputs.Output(outputs.Unary("abs", x), "y");
  EXPECT_THAT(std::move(outputs).Build().status().message(), HasSubstr("two outputs are called 'y'"));
}

TEST(GraphBuilder, ANumberThatIsNoActivationOrPaddingIsAMistake) {
  GraphBuilder activation("activation");
  const auto a = activation.Input("x", {1});
  activation.Output(activation.Binary("add", a, a, static_cast<BuilderActivation>(200)), "y");
  EXPECT_THAT(std::move(activation).Build().status().message(), HasSubstr("there is no activation 200"));
  GraphBuilder padding("padding");
  const auto x = padding.Input("x", {1, 4, 4, 1});
  padding.Output(padding.MaxPool2D(x, 2, 2, {.padding = static_cast<BuilderPadding>(9)}), "y");
  EXPECT_THAT(std::move(padding).Build().status().message(), HasSubstr("there is no padding 9"));
}

TEST(GraphBuilder, ReportsTheFirstMistakeInBuild) {
  GraphBuilder builder("wrong");
  const auto x = builder.Input("x", {1, 4, 4, 3});
  const std::vector<float> two = {1, 2};
  const auto c = builder.Constant("c", {5}, two);
  builder.Output(builder.Binary("add", x, c), "y");
  const Status status = std::move(builder).Build().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'c'"));
}

TEST(GraphBuilder, ATensorOfAnotherGraphIsAMistakeWhereverItIsGiven) {
  GraphBuilder other("other");
  const auto foreign = other.Unary("neg", other.Input("a", {1, 4}));
  const auto expect_mistake = [&](const std::string& role, const auto& use) {
    GraphBuilder builder("own");
    const auto x = builder.Input("x", {1, 4});
    const auto state = builder.State("s", {1, 4});
    builder.Output(builder.Unary("neg", x), "y");
    use(builder, state);
    if (role != "the state to update") builder.Update(state, x);
    const Status status = std::move(builder).Build().status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << role;
    EXPECT_THAT(status.message(), HasSubstr(role + " is a tensor of another graph")) << role;
  };
  expect_mistake("input 1 of add_1", [&](GraphBuilder& b, BuilderTensor s) { b.Binary("add", s, foreign); });
  expect_mistake("input 0 of neg_1", [&](GraphBuilder& b, BuilderTensor) { b.Unary("neg", foreign); });
  expect_mistake("input 2 of fully_connected_1",
                 [&](GraphBuilder& b, BuilderTensor s) { b.FullyConnected(s, s, foreign); });
  expect_mistake("output 'o'", [&](GraphBuilder& b, BuilderTensor) { b.Output(foreign, "o"); });
  expect_mistake("what a state becomes", [&](GraphBuilder& b, BuilderTensor s) { b.Update(s, foreign); });
  expect_mistake("the state to update", [&](GraphBuilder& b, BuilderTensor s) { b.Update(foreign, s); });
  other.Output(foreign, "b");
  const Result<Model> model = std::move(other).Build();
  EXPECT_TRUE(model.ok()) << model.status().message();
}

TEST(GraphBuilder, TensorsStayOfTheirBuilderWhenItMoves) {
  GraphBuilder first("moved");
  const auto x = first.Input("x", {1, 4});
  GraphBuilder second = std::move(first);
  second.Output(second.Unary("neg", x), "y");
  const Result<Model> model = std::move(second).Build();
  EXPECT_TRUE(model.ok()) << model.status().message();
}

TEST(GraphBuilder, NamesAnUnknownOperation) {
  GraphBuilder builder("wrong");
  builder.Output(builder.Unary("frobnicate", builder.Input("x", {1})), "y");
  EXPECT_THAT(std::move(builder).Build().status().message(), HasSubstr("frobnicate"));
}

TEST(GraphBuilder, RefusesAGraphWithoutOutputs) {
  GraphBuilder builder("empty");
  builder.Input("x", {1});
  EXPECT_EQ(std::move(builder).Build().status().code(), StatusCode::kInvalidArgument);
}

// Of x[rows, 2]: x and two rows behind it, the sums of its rows, and x with another sign.
Result<Model> ModelOfRows(int32_t rows) {
  GraphBuilder builder("rows");
  const auto x = builder.Input("x", {rows, 2});
  const std::vector<float> numbers = {1, 2, 3, 4}, ones = {1, 1};
  builder.Output(builder.Concat({x, builder.Constant("c", {2, 2}, numbers)}, 0), "all");
  builder.Output(builder.FullyConnected(x, builder.Constant("w", {1, 2}, ones), {}), "sums");
  builder.Output(builder.Unary("neg", x), "negated");
  return std::move(builder).Build();
}

class BuiltOfNothing : public testing::SessionsOnDevice {};

TEST_P(BuiltOfNothing, ADimensionOfZeroRunsAndIsResizedToAndFrom) {
  for (const int32_t built : {0, 1}) {
    const Result<Model> model = ModelOfRows(built);
    ASSERT_TRUE(model.ok()) << model.status().message();
    Session session = Opened(*model);
    for (const int32_t rows : {built, 1 - built, built}) {
      const Status resized = session.ResizeBatch(rows);
      ASSERT_TRUE(resized.ok()) << resized.message();
      const std::vector<float> x = {5, 7};
      ASSERT_TRUE(session.SetInput<float>(0, std::span(x).first(2 * static_cast<size_t>(rows))).ok());
      ASSERT_TRUE(session.Run().ok());
      const auto outputs = [&](size_t k) { return session.output<float>(k).value(); };
      if (rows == 1) {
        EXPECT_THAT(outputs(0), ElementsAre(5, 7, 1, 2, 3, 4));
        EXPECT_THAT(outputs(1), ElementsAre(12));
        EXPECT_THAT(outputs(2), ElementsAre(-5, -7));
      } else {
        EXPECT_THAT(outputs(0), ElementsAre(1, 2, 3, 4));
        for (const size_t k : {1, 2}) EXPECT_THAT(outputs(k), ElementsAre());
      }
    }
  }
}

TEST_P(BuiltOfNothing, AStateWithoutElementsStaysSo) {
  GraphBuilder builder("state");
  const auto x = builder.Input("x", {1, 2}), state = builder.State("before", {0, 2});
  builder.Output(builder.Concat({state, x}, 0), "y");
  builder.Update(state, builder.Unary("neg", state));
  const Result<Model> model = std::move(builder).Build();
  ASSERT_TRUE(model.ok()) << model.status().message();
  Session session = Opened(*model);
  ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>{5, 7}).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value(), ElementsAre(5, 7));
}

INSTANTIATE_TEST_SUITE_P(Devices, BuiltOfNothing, ::testing::ValuesIn(testing::DeviceNames()));

TEST(GraphBuilder, AStateWithoutElementsNeedsANextContentToo) {
  GraphBuilder builder("state");
  const auto state = builder.State("before", {0});
  builder.Output(builder.Unary("neg", state), "y");
  EXPECT_THAT(std::move(builder).Build().status().message(), HasSubstr("has no next content"));
}

TEST(GraphBuilder, GivesModelsWithOtherWeightsAnotherFingerprint) {
  const auto build = [](float weight) {
    GraphBuilder builder("scaled");
    const auto x = builder.Input("x", {1, 200});
    const std::vector<float> weights(200, weight);
    builder.Output(builder.Binary("mul", x, builder.Constant("w", {200}, weights)), "y");
    return std::move(builder).Build().value().fingerprint();
  };
  EXPECT_NE(build(1.0f), build(1.5f));
  EXPECT_EQ(build(1.0f), build(1.0f));
}

}  // namespace
}  // namespace hearth
