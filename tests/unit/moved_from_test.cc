// What was moved from answers with a mistake, or with nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "hearth/graph_builder.h"
#include "hearth/run_queue.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

// `session` and what it is moved to.
struct MovedSession {
  MovedSession() : session(Session::Create(model, {.device = "cpu", .use_cache = false}).value()), moved(Moved()) {}
  Session Moved() { return std::move(session); }

  const Model model = testing::NegationModel({1, 4});
  Session session, moved;
};

// Something that nobody can copy.
struct OnlyMoved {
  explicit OnlyMoved(int number) : number(std::make_unique<int>(number)) {}
  std::unique_ptr<int> number;
};

TEST(MovedFrom, TheValueOfAPassingResultIsMovedOutOfIt) {
  const auto make = [] { return Result<OnlyMoved>(OnlyMoved(3)); };
  const OnlyMoved by_star = *make();
  const OnlyMoved by_value = make().value();
  EXPECT_EQ(*by_star.number + *by_value.number, 6);
  Result<OnlyMoved> kept = make();
  const OnlyMoved taken = *std::move(kept);
  EXPECT_EQ(*taken.number, 3);
  EXPECT_EQ((*kept).number, nullptr);
  GraphBuilder builder("negation");
  builder.Output(builder.Unary("neg", builder.Input("x", {1, 4})), "y");
  const Model model = *std::move(builder).Build();
  EXPECT_EQ(model.inputs().size(), 1u);
}

TEST(MovedFrom, ASessionSaysSoWhateverIsAskedOfIt) {
  MovedSession both;
  Session& session = both.session;
  const std::vector<float> x = {1, 2, 3, 4};
  const Binding binding;
  const Frame frame;
  const Status answers[] = {session.Run(),
                            session.Run({}, {}),
                            session.RunProfiled().status(),
                            session.RunProfiled({}, {}).status(),
                            session.Submit().status(),
                            session.Wait({1, 0}),
                            session.SetInput("x", std::as_bytes(std::span(x))),
                            session.SetInput(0, std::as_bytes(std::span(x))),
                            session.BindInput("x", binding),
                            session.BindOutput("y", binding),
                            session.BindFrame("x", frame),
                            session.UnbindInput("x"),
                            session.UnbindOutput("y"),
                            session.Resize({}),
                            session.ResizeBatch(2),
                            session.ResetState(),
                            session.WaitForDevice(),
                            session.Clone().status()};
  for (size_t k = 0; k < std::size(answers); ++k) {
    EXPECT_EQ(answers[k].code(), StatusCode::kInvalidArgument) << "call " << k;
    EXPECT_THAT(answers[k].message(), HasSubstr("this session was moved from")) << "call " << k;
  }
  EXPECT_EQ(session.SetInput<float>(0, x).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.output<float>(0).status().code(), StatusCode::kInvalidArgument);
}

TEST(MovedFrom, ASessionShowsNothing) {
  MovedSession both;
  EXPECT_TRUE(both.session.inputs().empty());
  EXPECT_TRUE(both.session.outputs().empty());
  EXPECT_TRUE(both.session.output(0).empty());
  EXPECT_EQ(both.session.model().path(), "");
  EXPECT_EQ(both.session.report().device.id, "");
  both.session.SaveToCache();
  const std::vector<float> x = {1, 2, 3, 4};
  ASSERT_TRUE(both.moved.SetInput<float>(0, x).ok());
  EXPECT_TRUE(both.moved.Run().ok()) << "where it went it works";
  both.session = std::move(both.moved);
  EXPECT_TRUE(both.session.Run().ok()) << "and so it does when it comes back";
}

TEST(MovedFrom, AQueueOfASessionThatIsElsewhereFailsItsRuns) {
  MovedSession both;
  RunQueue queue(std::move(both.session));
  EXPECT_THAT(queue.Submit({}).Take().status().message(), HasSubstr("this session was moved from"));
}

TEST(MovedFrom, APendingRunIsOverAndSaysWhy) {
  MovedSession both;
  RunQueue queue(std::move(both.session));
  PendingRun run = queue.Submit({});
  PendingRun taken = std::move(run);
  EXPECT_EQ(run.state(), RunState::kFailed);
  EXPECT_FALSE(run.Cancel());
  EXPECT_TRUE(run.WaitFor(std::chrono::milliseconds(1)));
  EXPECT_THAT(run.Take().status().message(), HasSubstr("was moved from"));
  EXPECT_TRUE(taken.WaitFor(std::chrono::milliseconds::max())) << "the longest time is not none";
}

TEST(MovedFrom, AModelHasNoSessions) {
  Model model = testing::NegationModel({1, 4});
  const Model moved = std::move(model);
  EXPECT_TRUE(model.inputs().empty());
  EXPECT_TRUE(model.outputs().empty());
  EXPECT_EQ(model.signature(), "");
  EXPECT_TRUE(model.signatures().empty());
  EXPECT_TRUE(model.ReadMetadata().ok());
  const Status status = Session::Create(model, {.device = "cpu", .use_cache = false}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("this model was moved from"));
  EXPECT_EQ(moved.inputs().size(), 1u);
}

TEST(MovedFrom, ABuilderThatIsElsewhereOrHasBuiltMakesNoOtherGraph) {
  GraphBuilder first("first");
  const auto x = first.Input("x", {1, 4});
  GraphBuilder second = std::move(first);
  first.Output(first.Unary("neg", first.Input("x", {1, 4})), "y");
  EXPECT_THAT(std::move(first).Build().status().message(), HasSubstr("the builder was moved from"));
  second.Output(second.Unary("neg", x), "y");
  EXPECT_TRUE(std::move(second).Build().ok());
  second.Output(second.Unary("abs", x), "z");
  EXPECT_THAT(std::move(second).Build().status().message(), HasSubstr("has built its graph"));
}

}  // namespace
}  // namespace hearth
