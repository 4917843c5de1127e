// What calls of subgraphs cost while a model is read is counted: a small file may list one CALL 100,000 times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A subgraph of 500 tensors, called three times.
std::vector<std::byte> CallsOfManyTensors() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}});
  int32_t last = x;
  for (int call = 0; call < 3; ++call) {
    const int32_t made = writer.AddTensor({"", {2}});
    writer.AddOperator(kCall, {last}, {made}, wire::CreateCallOptions(writer.builder(), 1));
    last = made;
  }
  writer.EndSubgraph({x}, {last});
  const int32_t v = writer.AddTensor({"v", {2}}), squared = writer.AddTensor({"", {2}});
  writer.AddOperator(kMul, {v, v}, {squared});
  for (int unused = 2; unused < 500; ++unused) writer.AddTensor({"", {2}});
  writer.EndSubgraph({v}, {squared});
  return writer.FinishFile();
}

// Reads the model with so many steps over tensors and variables.
struct CountedReading {
  CountedReading(std::span<const std::byte> bytes, size_t steps) : budget(bytes.size()) {
    budget.steps_left = steps;
    read = ReadTfliteModel(bytes, {}, budget);
  }
  // The first operator that can't be run; null if all can.
  const UnknownOp* unknown() const {
    for (const Node& node : read->nodes()) {
      if (const auto* op = std::get_if<UnknownOp>(&node.op)) return op;
    }
    return nullptr;
  }

  ReadingBudget budget;
  Result<Graph> read = Graph();
};

TEST(TfliteCallSteps, EachCallCountsTheTensorsOfItsSubgraph) {
  const auto bytes = CallsOfManyTensors();
  const CountedReading counted(bytes, 1500);
  ASSERT_TRUE(counted.read.ok()) << counted.read.status().message();
  EXPECT_EQ(counted.budget.steps_left, 0u);
  EXPECT_EQ(counted.unknown(), nullptr);
}

TEST(TfliteCallSteps, CallsThatGoThroughTooManyTensorsAreRefusedWithTheReason) {
  const auto bytes = CallsOfManyTensors();
  const CountedReading counted(bytes, 1499);
  ASSERT_TRUE(counted.read.ok()) << counted.read.status().message();
  ASSERT_NE(counted.unknown(), nullptr);
  EXPECT_THAT(counted.unknown()->reason, AllOf(HasSubstr("more than 33554432 steps"), HasSubstr("call it less often")));
}

// Else reading would keep a copy of all variables for each branch, and a device the results of all branches.
TEST(TfliteCallSteps, OfTheBranchesOfACaseTwoAreKeptUntilOneOfThemIsChosen) {
  constexpr int32_t kBranches = 5;
  TfliteWriter writer;
  const int32_t which = writer.AddTensor({"which", {}, kInt});
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  std::vector<int32_t> subgraphs(kBranches);
  std::iota(subgraphs.begin(), subgraphs.end(), 1);
  const auto listed = writer.builder().CreateVector(subgraphs);
  writer.AddOperator2(kCase, {which, x}, {y}, wire::CreateStablehloCaseOptions(writer.builder(), listed));
  writer.EndSubgraph({which, x}, {y});
  for (int32_t branch = 0; branch < kBranches; ++branch) {
    const int32_t v = writer.AddTensor({"v", {2}}), made = writer.AddTensor({"made", {2}});
    writer.AddOperator(kNeg, {v}, {made});
    writer.EndSubgraph({v}, {made});
  }
  const auto bytes = writer.FinishFile();
  const CountedReading counted(bytes, ReadingBudget::kMaxSteps);
  ASSERT_TRUE(counted.read.ok()) << counted.read.status().message();
  int kept = 0, most_kept = 0, choices = 0;
  for (const Node& node : counted.read->nodes()) {
    const auto* unary = std::get_if<Unary>(&node.op);
    if (unary != nullptr && unary->kind == UnaryKind::kNeg) most_kept = std::max(most_kept, ++kept);
    if (!std::holds_alternative<Select>(node.op)) continue;
    --kept;
    ++choices;
  }
  EXPECT_EQ(choices, kBranches - 1);
  EXPECT_EQ(most_kept, 2);
}

}  // namespace
}  // namespace hearth
