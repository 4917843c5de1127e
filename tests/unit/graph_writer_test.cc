// The writer of graphs without a file: what the readers of all formats build upon.
#include "frontends/writer/graph_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A writer whose nodes stand for operator 0, "OP".
struct Written {
  Written() { to.origin() = {0, "OP"}; }

  ValueId AddInput(const Shape& shape) { return to.AddInput("x", {DType::kFloat32, shape, std::nullopt}); }

  // What the graph makes of `numbers`.
  std::vector<std::vector<double>> Answers(const Expanded& outputs, const std::vector<double>& numbers) {
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    if (!outputs.ok()) return {};
    Graph& graph = to.graph();
    for (const ValueId output : *outputs) graph.outputs.push_back(to.AddCopy(output, "y").value());
    EXPECT_TRUE(to.Finish().ok());
    EXPECT_TRUE(graph.Validate().ok()) << graph.Validate().message();
    EXPECT_TRUE(InferShapes(graph).ok());
    const ReferenceTensor x{to.shape(graph.inputs[0]), numbers};
    const auto made = EvaluateGraph(graph, std::span(&x, 1));
    EXPECT_TRUE(made.ok()) << made.status().message();
    std::vector<std::vector<double>> answers;
    for (size_t k = 0; made.ok() && k < made->size(); ++k) answers.push_back((*made)[k].values);
    return answers;
  }
  template <typename T>
  int Count() const {
    return static_cast<int>(
        std::ranges::count_if(to.graph().nodes(), [](const Node& node) { return std::holds_alternative<T>(node.op); }));
  }

  ReadingBudget budget{1 << 10};
  GraphWriter to{budget};
};

// Doubles its only value while it is below `limit`, or for as many turns.
LoopToWrite Doubling(double limit) {
  return {[limit](GraphWriter& to, std::span<const ValueId> values) {
            const Made sum = to.Add(Reduce{ReduceKind::kSum, 1, false}, {values[0]});
            return OneValue(to.Add(BinaryKind::kLess, {sum, to.AddConstant(Shape(), DType::kFloat32, {limit})}));
          },
          [](GraphWriter& to, std::span<const ValueId> values) {
            return OneValue(to.Add(BinaryKind::kAdd, {values[0], values[0]}));
          }};
}

TEST(GraphWriter, WritesANetworkWithAnExpansionALoopAndAFoldedShapeWithoutAFile) {
  Written written;
  GraphWriter& to = written.to;
  const ValueId x = written.AddInput({2, 3});
  // The shape of x, turned, is known while writing: only a reshape is left of it.
  const Made shape = AddShapeOf(to, x, PlainType(DType::kInt32));
  const Made turned = to.Add(Reverse{1}, {shape});
  ASSERT_TRUE(turned.ok()) << turned.status().message();
  const Result<Shape> known = to.ShapeIn(*turned);
  ASSERT_TRUE(known.ok()) << known.status().message();
  EXPECT_EQ(*known, (Shape{3, 2}));
  const Made rows = to.AddReshape(x, *known);
  EXPECT_EQ(to.graph().nodes().size(), 1u);
  // An expansion: rows 0 and 2 are added up, and row 1 is alone.
  const Made sums =
      AddSegments(to, BinaryKind::kAdd, rows.value(), to.AddConstant({3}, DType::kInt32, {0, 1, 0}).value(), 2);
  const Made first = to.AddReshape(to.AddSlice(sums, 0, 0, 1), {2});
  LoopToWrite loop = Doubling(100);
  Expanded outputs = to.AddLoop(loop, {first.value()});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  outputs->push_back(*sums);
  EXPECT_EQ(written.Count<Loop>(), 1);
  EXPECT_THAT(written.Answers(outputs, {1, 2, 3, 4, 5, 6}), ElementsAre(ElementsAre(48, 64), ElementsAre(6, 8, 3, 4)));
}

TEST(GraphWriter, WritesOutALoopWhoseEndIsKnown) {
  Written written;
  const ValueId x = written.AddInput({2});
  LoopToWrite loop = Doubling(0);
  loop.condition = [](GraphWriter& to, std::span<const ValueId> values) {
    return OneValue(to.Add(BinaryKind::kLess, {values[1], to.AddNumber(DType::kInt32, 3)}));
  };
  loop.body = [](GraphWriter& to, std::span<const ValueId> values) -> Expanded {
    HEARTH_ASSIGN(const ValueId twice, to.Add(BinaryKind::kAdd, {values[0], values[0]}));
    HEARTH_ASSIGN(const ValueId next, to.Add(BinaryKind::kAdd, {values[1], to.AddNumber(DType::kInt32, 1)}));
    return std::vector{twice, next};
  };
  const Expanded made = written.to.AddLoop(loop, {x, written.to.AddNumber(DType::kInt32, 0).value()});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(written.Count<Loop>(), 0);
  EXPECT_EQ(written.to.graph().nodes().size(), 3u);
  EXPECT_THAT(written.Answers(std::vector{(*made)[0]}, {1, 2}), ElementsAre(ElementsAre(8, 16)));
}

TEST(GraphWriter, GivesAPartOfALoopOnTheHostTheWriterAroundIt) {
  Written written;
  const ValueId x = written.AddInput({2});
  LoopToWrite loop = Doubling(100);
  bool was_within = false;
  loop.body = [&, body = loop.body](GraphWriter& to, std::span<const ValueId> values) {
    was_within = was_within || to.outer() == &written.to;
    return body(to, values);
  };
  ASSERT_TRUE(written.to.AddLoop(loop, {x}).ok());
  EXPECT_TRUE(was_within);
}

TEST(GraphWriter, SelectsBetweenWhatTwoBranchesAssignToAVariable) {
  Written written;
  GraphWriter& to = written.to;
  const ValueId x = written.AddInput({1});
  Variables& variables = to.variables();
  variables.SetChanges([](const std::string&) { return true; });
  variables.SetInitializing(true);
  ASSERT_TRUE(variables.Assign("v", to.AddNumber(DType::kFloat32, 0).value()).ok());
  variables.SetInitializing(false);
  const Made is_above = to.Add(BinaryKind::kGreater, {x, to.AddNumber(DType::kFloat32, 1)});
  const auto assign = [&](BinaryKind kind) {
    return [&to, x, kind]() -> Expanded {
      HEARTH_ASSIGN(const ValueId made, to.Add(kind, {x, x}));
      HEARTH_TRY(to.variables().Assign("v", made));
      return std::vector<ValueId>();
    };
  };
  ASSERT_TRUE(to.AddBranches(is_above.value(), assign(BinaryKind::kAdd), assign(BinaryKind::kMul)).ok());
  EXPECT_EQ(written.Count<Select>(), 1);
  EXPECT_THAT(written.Answers(OneValue(variables.Read("v")), {3}), ElementsAre(ElementsAre(6)));
  EXPECT_EQ(to.graph().states.size(), 1u);
}

TEST(GraphWriter, PassesTheFirstErrorOfNestedCallsOn) {
  Written written;
  GraphWriter& to = written.to;
  const ValueId x = written.AddInput({2, 3});
  const Made refused = to.AddReshape(x, {5});
  ASSERT_FALSE(refused.ok());
  const Made made = to.Add(BinaryKind::kAdd, {to.AddTranspose(refused, {0}), to.AddNumber(DType::kFloat32, 1)});
  EXPECT_EQ(made.status().message(), refused.status().message());
  EXPECT_EQ(to.graph().nodes().size(), 0u);
}

TEST(GraphWriter, FollowsANumberToItsListAndNotBesideIt) {
  Written written;
  GraphWriter& to = written.to;
  const Made x = written.AddInput({1}), five = to.AddConstant({1}, DType::kFloat32, {5});
  const Made list = to.Add(Concat{.axis = 0}, {five, x});
  for (const double place : {0.0, -1e6, 1e6}) {  // as a file gives it
    const Made number = to.Add(Gather{}, {list, to.AddConstant({1}, DType::kInt32, {place})});
    ASSERT_TRUE(number.ok()) << number.status().message();
    EXPECT_EQ(MostOf(to, *number), place == 0.0 ? std::optional(5.0) : std::nullopt);
  }
}

TEST(GraphWriter, DoesNotTakeATruthValueForTheNumberThatItWasMadeOf) {
  Written written;
  GraphWriter& to = written.to;
  const Made list = to.Add(Concat{.axis = 0}, {to.AddConstant({1}, DType::kFloat32, {5}), written.AddInput({1})});
  const Made first = to.AddConstant({1}, DType::kInt32, {0});
  for (const DType dtype : {DType::kInt64, DType::kBool, DType::kUInt8}) {
    const Made number = to.AddCast(to.Add(Gather{}, {to.AddCast(list, dtype), first}), DType::kInt32);
    ASSERT_TRUE(number.ok()) << number.status().message();
    EXPECT_EQ(MostOf(to, *number), dtype == DType::kInt64 ? std::optional(5.0) : std::nullopt) << DTypeName(dtype);
  }
}

TEST(GraphWriter, MakesNoMoreConstantsThanTheFilesSizeAllows) {
  Written written;
  const Made many = written.to.AddIndices({1 << 23});
  EXPECT_THAT(many.status().message(), HasSubstr("too many constants for the size of the file"));
}

// The real and imaginary part of frequency `bin`, by its definition.
std::pair<double, double> FrequencyOf(const std::vector<double>& numbers, size_t bin) {
  std::complex<double> sum = 0;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const double turns = static_cast<double>(bin * k % numbers.size()) / static_cast<double>(numbers.size());
    sum += std::polar(numbers[k], -2 * std::numbers::pi * turns);
  }
  return {sum.real(), sum.imag()};
}

// 1,031 is prime, and 512 points are few.
TEST(GraphWriter, SpectraOfLongLinesAreTakenInTwoSteps) {
  for (const auto& [points, products] : {std::pair(512, 0), {1024, 1}, {1031, 0}, {1200, 1}, {2048, 1}}) {
    Written written;
    const ValueId x = written.AddInput({1, points});
    const Made complex = AddRealSpectrum(written.to, x, {1, points});
    ASSERT_TRUE(complex.ok()) << complex.status().message();
    const auto [real, imaginary] = written.to.marks().complex.at(*complex);
    std::mt19937 random(7);
    std::vector<double> numbers(static_cast<size_t>(points));
    for (double& number : numbers) number = std::uniform_real_distribution(-1.0, 1.0)(random);
    const auto answers = written.Answers(std::vector{real, imaginary}, numbers);
    EXPECT_EQ(written.Count<BatchMatMul>(), products) << points;
    ASSERT_EQ(answers.size(), 2u);
    ASSERT_EQ(answers[0].size(), numbers.size() / 2 + 1);
    // Each weight is rounded to float32, twice in two steps.
    const double tolerance = 2 * points * std::numeric_limits<float>::epsilon();
    for (size_t bin = 0; bin < answers[0].size(); bin += bin < 3 ? 1 : 101) {
      const auto [wanted_real, wanted_imaginary] = FrequencyOf(numbers, bin);
      EXPECT_NEAR(answers[0][bin], wanted_real, tolerance) << points << " " << bin;
      EXPECT_NEAR(answers[1][bin], wanted_imaginary, tolerance) << points << " " << bin;
    }
    EXPECT_NEAR(answers[0].back(), FrequencyOf(numbers, answers[0].size() - 1).first, tolerance) << points;
  }
}

TEST(GraphWriter, WhatIsMadeOnceIsMadeAgainAfterItWasTakenBack) {
  Written written;
  const ValueId x = written.AddInput({4});
  const size_t first_node = written.to.graph().nodes().size();
  const auto first = AddPlaces(written.to, x), same = AddPlaces(written.to, x);
  ASSERT_TRUE(first.ok() && same.ok());
  EXPECT_EQ(*first, *same);
  written.to.TakeBack(first_node);
  const auto again = AddPlaces(written.to, x);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->first, first->first);
  EXPECT_THAT(written.Answers(std::vector{again->second}, {0, 1, 0, 2}).at(0), ElementsAre(2));
}

TEST(GraphWriter, FindsTheNodeThatMakesAValueUntilItIsTakenBack) {
  Written written;
  const ValueId x = written.AddInput({4});
  const ValueId kept = written.to.Add(UnaryKind::kAbs, x).value();
  const size_t first_node = written.to.graph().nodes().size();
  const ValueId gone = written.to.Add(UnaryKind::kNeg, x).value();
  EXPECT_NE(written.to.ProducerOf(gone), nullptr);
  EXPECT_EQ(written.to.ProducerOf(x), nullptr);
  written.to.TakeBack(first_node);
  const ValueId next = written.to.Add(UnaryKind::kSqrt, kept).value();
  EXPECT_EQ(written.to.ProducerOf(gone), nullptr);
  EXPECT_EQ(written.to.ProducerOf(next), &written.to.graph().nodes().back());
  EXPECT_EQ(written.to.ProducerOf(kept), &written.to.graph().nodes().front());
}

TEST(GraphWriter, WhatCanNotBeMadeIsRefusedEachTime) {
  Written written;
  const ValueId x = written.AddInput({4}), bytes = written.to.AddCast(x, DType::kUInt8).value();
  const auto found = AddPlaces(written.to, x);
  ASSERT_TRUE(found.ok() && AddRows(written.to, bytes, found->second).ok());
  for (int time = 0; time < 2; ++time)  // a mask needs zeros of the type
    EXPECT_EQ(AddPlaces(written.to, bytes).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace hearth
