// Outputs on the CPU stand once: output() shows them where they are made, and nothing else that runs changes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "hearth/graph_builder.h"
#include "hearth/session.h"

namespace hearth {
namespace {

using ::testing::Each;

std::span<const std::byte> BytesOfFloats(const std::vector<float>& floats) {
  return std::as_bytes(std::span(floats));
}

std::vector<float> Shown(const Session& session, size_t index = 0) {
  const std::span<const std::byte> bytes = session.output(index);
  std::vector<float> floats(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

// y = x + x
Result<Model> DoublingModel(bool hands_out_x) {
  GraphBuilder graph("doubling");
  const BuilderTensor x = graph.Input("x", {1, 1, 2, 4});
  graph.Output(graph.Binary("add", x, x), "y");
  if (hands_out_x) graph.Output(x, "same");
  return std::move(graph).Build();
}

class ShownOutputs : public ::testing::Test {
 protected:
  explicit ShownOutputs(bool hands_out_x = false) : model_(DoublingModel(hands_out_x)) {
    session_.emplace(Session::Create(*model_, {.device = "cpu", .use_cache = false, .max_in_flight = 2}));
  }

  Session& session() { return **session_; }
  void Set(float x) { EXPECT_TRUE(session().SetInput(0, BytesOfFloats(std::vector<float>(8, x))).ok()); }

  Result<Model> model_;
  std::optional<Result<Session>> session_;
};

TEST_F(ShownOutputs, AreZerosBeforeTheFirstRunAndStayWhereTheyAre) {
  const std::byte* place = session().output(0).data();
  EXPECT_THAT(Shown(session()), Each(0.0f));
  for (const float x : {1.0f, 5.0f, -2.0f}) {
    Set(x);
    ASSERT_TRUE(session().Run().ok());
    EXPECT_THAT(Shown(session()), Each(2 * x));
    EXPECT_EQ(session().output(0).data(), place);
  }
}

TEST_F(ShownOutputs, AreNotChangedByARunOnTheCallersMemory) {
  Set(1.0f);
  ASSERT_TRUE(session().Run().ok());
  const std::vector<float> four(8, 4.0f);
  std::vector<float> others(8);
  const std::span<const std::byte> inputs[] = {BytesOfFloats(four)};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(others))};
  ASSERT_TRUE(session().Run(inputs, outputs).ok());
  EXPECT_THAT(others, Each(8.0f));
  EXPECT_THAT(Shown(session()), Each(2.0f));
  Set(3.0f);
  ASSERT_TRUE(session().Run().ok());
  EXPECT_THAT(Shown(session()), Each(6.0f));
  EXPECT_THAT(others, Each(8.0f));
}

TEST_F(ShownOutputs, AreWrittenToMemoryOfAnInput) {
  std::vector<float> memory(8, 4.0f);
  const std::span<const std::byte> inputs[] = {BytesOfFloats(memory)};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(memory))};
  ASSERT_TRUE(session().Run(inputs, outputs).ok());
  EXPECT_THAT(memory, Each(8.0f));
}

TEST_F(ShownOutputs, OfRunsInFlightAreEachRunsOwn) {
  Set(1.0f);
  ASSERT_TRUE(session().Run().ok());
  Set(2.0f);
  const Result<Ticket> second = session().Submit();
  Set(3.0f);
  const Result<Ticket> third = session().Submit();
  ASSERT_TRUE(second.ok() && third.ok());
  EXPECT_THAT(Shown(session()), Each(2.0f)) << "nobody waited yet";
  ASSERT_TRUE(session().Wait(*third).ok());
  EXPECT_THAT(Shown(session()), Each(6.0f));
  ASSERT_TRUE(session().Wait(*second).ok());
  EXPECT_THAT(Shown(session()), Each(4.0f));
  Set(4.0f);
  ASSERT_TRUE(session().Run().ok());
  EXPECT_THAT(Shown(session()), Each(8.0f));
  Set(5.0f);
  const Result<Ticket> fifth = session().Submit();
  ASSERT_TRUE(fifth.ok() && session().Wait(*fifth).ok());
  EXPECT_THAT(Shown(session()), Each(10.0f));
}

class ShownInputs : public ShownOutputs {
 protected:
  ShownInputs() : ShownOutputs(true) {}
};

TEST_F(ShownInputs, AreHandedOutBesideWhatIsMade) {
  for (const float x : {1.0f, 5.0f}) {
    Set(x);
    ASSERT_TRUE(session().Run().ok());
    EXPECT_THAT(Shown(session()), Each(2 * x));
    EXPECT_THAT(Shown(session(), 1), Each(x));
  }
}

}  // namespace
}  // namespace hearth
