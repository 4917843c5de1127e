// Operators that the reader takes apart, states and loops, of tensors without elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kFakeQuant = 80, kReverseSequence = 112, kMatrixDiag = 113, kSuppression = 120,
                  kSoftSuppression = 121, kScatterNd = 122, kSegmentSum = 125, kBucketize = 147, kSparseToDense = 68,
                  kSegmentMaximum = 154, kSegmentSums = 155, kBitsOf = 159, kSumOfHlo = 163, kHloScatter = 190,
                  kTestOfHlo = 191, kDense = 9, kHloPad = 195, kDilate = 203, kLookupSparse = 33, kSequenceLstm = 44;

// A model that one operator makes of operands, which may be inputs.
class OperatorOnNothing {
 public:
  TfliteWriter& writer() { return writer_; }
  int32_t Input(const std::vector<int32_t>& shape, wire::TensorType type = wire::TensorType_FLOAT32) {
    inputs_.push_back(writer_.AddTensor({fmt::format("x{}", inputs_.size()), shape, type}));
    return inputs_.back();
  }
  // Its shape is for the reader to find.
  int32_t Output(wire::TensorType type = wire::TensorType_FLOAT32) {
    outputs_.push_back(writer_.AddTensor({fmt::format("y{}", outputs_.size()), {}, type}));
    return outputs_.back();
  }
  Result<Graph> Read() {
    bytes_ = writer_.Finish(inputs_, outputs_);
    return ReadTfliteModel(bytes_);
  }
  // Inputs hold 1, 2, 3, ...
  Result<std::vector<ReferenceTensor>> Results() {
    HEARTH_ASSIGN(Graph graph, Read());
    HEARTH_TRY(InferShapes(graph));
    std::vector<ReferenceTensor> inputs;
    for (const ValueId id : graph.inputs) {
      ReferenceTensor tensor{graph.value(id).desc.shape, {}};
      for (int64_t i = 0; i < tensor.shape.element_count(); ++i) tensor.values.push_back(static_cast<double>(i + 1));
      inputs.push_back(std::move(tensor));
    }
    return EvaluateGraph(graph, inputs);
  }
  void Expect(const Shape& shape, const std::vector<double>& values) {
    const Result<std::vector<ReferenceTensor>> made = Results();
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ((*made)[0].shape, shape);
    EXPECT_EQ((*made)[0].values, values);
  }

 private:
  TfliteWriter writer_;
  std::vector<std::byte> bytes_;  // the graph refers to them
  std::vector<int32_t> inputs_, outputs_;
};

TEST(EmptyOperators, WhatMovesOrCountsElementsMakesNoneOfNone) {
  OperatorOnNothing quantized, diagonal, reversed, bits, counted;
  quantized.writer().AddOperator(kFakeQuant, {quantized.Input({0, 3})}, {quantized.Output()},
                                 wire::CreateFakeQuantOptions(quantized.writer().builder(), -1, 1, 8, false));
  quantized.Expect({0, 3}, {});
  diagonal.writer().AddOperator(kMatrixDiag, {diagonal.Input({2, 0})}, {diagonal.Output()});
  diagonal.Expect({2, 0, 0}, {});
  reversed.writer().AddOperator(kReverseSequence, {reversed.Input({2, 0, 3}), reversed.Input({2}, kInt)},
                                {reversed.Output()},
                                wire::CreateReverseSequenceOptions(reversed.writer().builder(), 1, 0));
  reversed.Expect({2, 0, 3}, {});
  bits.writer().AddOperator(kBitsOf, {bits.Input({0, 4})}, {bits.Output(kInt)});
  bits.Expect({0, 4}, {});
  const std::vector<float> limits = {1, 2};
  const auto boundaries = counted.writer().builder().CreateVector(limits);
  counted.writer().AddOperator(kBucketize, {counted.Input({3, 0})}, {counted.Output(kInt)},
                               wire::CreateBucketizeOptions(counted.writer().builder(), boundaries));
  counted.Expect({3, 0}, {});
}

TEST(EmptyOperators, OperatorsOfStableHloTakeNone) {
  OperatorOnNothing sum, spread, compared;
  sum.writer().AddOperator(kSumOfHlo, {sum.Input({2, 0}), sum.Input({2, 0})}, {sum.Output()});
  sum.Expect({2, 0}, {});
  const int32_t zero = spread.writer().AddConstant<float>({"", {}}, {0});
  spread.writer().AddOperator(kDilate, {spread.Input({3, 0}), spread.writer().AddIntegers({2, 2}), zero},
                              {spread.Output()});
  spread.Expect({5, 0}, {});
  compared.writer().AddOperator2(kTestOfHlo, {compared.Input({0}), compared.Input({0})}, {compared.Output(kBool)},
                                 wire::CreateStablehloCompareOptions(compared.writer().builder()));
  compared.Expect({0}, {});
}

TEST(EmptyOperators, PaddingSurroundsNothingAndWhatIsCutOffAsAWhole) {
  OperatorOnNothing of;
  auto& builder = of.writer().builder();
  const std::vector<int64_t> low = {-2, 1}, high = {3, 0}, between = {0, 1};
  const auto before = builder.CreateVector(low), after = builder.CreateVector(high);
  const auto inner = builder.CreateVector(between);
  const int32_t seven = of.writer().AddConstant<float>({"", {}}, {7});
  const int32_t x = of.Input({2, 1});
  of.writer().AddOperator2(kHloPad, {x, seven}, {of.Output()},
                           wire::CreateStablehloPadOptions(builder, before, after, inner));
  of.Expect({3, 2}, {7, 7, 7, 7, 7, 7});
}

TEST(EmptyOperators, UpdatesOfNoElementsLeaveZerosOrTheTensor) {
  OperatorOnNothing zeros, kept;
  zeros.writer().AddOperator(kScatterNd,
                             {zeros.Input({0, 1}, kInt), zeros.Input({0, 2}), zeros.writer().AddIntegers({2, 2})},
                             {zeros.Output()});
  zeros.Expect({2, 2}, {0, 0, 0, 0});
  auto& builder = kept.writer().builder();
  const std::vector<int64_t> last = {1}, first = {0};
  const auto windows = builder.CreateVector(last), inserted = builder.CreateVector(first);
  const auto places = builder.CreateVector(first);
  const int32_t x = kept.Input({2, 2}), starts = kept.Input({0, 1}, kInt), updates = kept.Input({0, 2});
  kept.writer().AddOperator2(kHloScatter, {x, starts, updates}, {kept.Output()},
                             wire::CreateStablehloScatterOptions(builder, windows, inserted, places, 1, 0));
  kept.Expect({2, 2}, {1, 2, 3, 4});
}

TEST(EmptyOperators, UpdatesAtPlacesWithoutCoordinatesAreNotDropped) {
  OperatorOnNothing summed, window;
  summed.writer().AddOperator(kScatterNd,
                              {summed.Input({2, 0}, kInt), summed.Input({2, 3}), summed.writer().AddIntegers({3})},
                              {summed.Output()});
  EXPECT_FALSE(summed.Results().ok());
  auto& builder = window.writer().builder();
  const std::vector<int64_t> all = {0, 1}, none;
  const auto windows = builder.CreateVector(all), inserted = builder.CreateVector(none);
  const auto places = builder.CreateVector(none);
  const int32_t x = window.Input({2, 2}), starts = window.Input({0}, kInt), updates = window.Input({2, 2});
  window.writer().AddOperator2(kHloScatter, {x, starts, updates}, {window.Output()},
                               wire::CreateStablehloScatterOptions(builder, windows, inserted, places, 0, 0));
  EXPECT_FALSE(window.Results().ok());
}

TEST(EmptyOperators, ZerosThatAFileOfThisSizeCannotAskForAreNotMade) {
  constexpr int32_t kRows = 1 << 20;
  OperatorOnNothing product;
  product.writer().AddOperator(kDense, {product.Input({kRows, 0}), product.Input({kRows, 0})}, {product.Output()},
                               wire::CreateFullyConnectedOptions(product.writer().builder()));
  const Result<Graph> graph = product.Read();
  if (!graph.ok()) return;  // refused as a whole is fine too
  EXPECT_EQ(graph->nodes().size(), 1u);
}

TEST(EmptyOperators, SegmentsWithoutRowsHoldWhatTheirFunctionBeginsWith) {
  OperatorOnNothing sums, most, none;
  sums.writer().AddOperator(kSegmentSums, {sums.Input({0, 2}), sums.Input({0}, kInt), sums.writer().AddIntegers({2})},
                            {sums.Output()});
  sums.Expect({2, 2}, {0, 0, 0, 0});
  const int32_t count = most.writer().AddConstant<int32_t>({"", {}, kInt}, {1});
  most.writer().AddOperator(kSegmentMaximum, {most.Input({0, 1}), most.Input({0}, kInt), count}, {most.Output()});
  most.Expect({1, 1}, {-std::numeric_limits<float>::max()});
  none.writer().AddOperator(kSegmentSum, {none.Input({0, 2}), none.Input({0}, kInt)}, {none.Output()});
  none.Expect({0, 2}, {});
}

TEST(EmptyOperators, ASparseMatrixWithoutValuesIsItsDefault) {
  OperatorOnNothing of;
  const int32_t number = of.writer().AddConstant<float>({"", {}}, {7});
  of.writer().AddOperator(
      kSparseToDense, {of.Input({0, 2}, kInt), of.writer().AddIntegers({1, 3}), of.Input({0}), number}, {of.Output()});
  of.Expect({1, 3}, {7, 7, 7});
}

TEST(EmptyOperators, AListOfNoIdsIsLookedUpAsZeros) {
  OperatorOnNothing of;
  const int32_t ids = of.Input({0}, kInt), indices = of.Input({0, 2}, kInt), weights = of.Input({0});
  of.writer().AddOperator(kLookupSparse, {ids, indices, of.writer().AddIntegers({2, 4}), weights, of.Input({3, 2})},
                          {of.Output()},
                          wire::CreateEmbeddingLookupSparseOptions(of.writer().builder(), wire::CombinerType_MEAN));
  of.Expect({2, 2}, {0, 0, 0, 0});
}

TEST(EmptyOperators, OfNoBoxesNoneIsChosen) {
  for (const bool is_soft : {false, true}) {
    OperatorOnNothing of;
    std::vector<int32_t> operands = {of.Input({0, 4}), of.Input({0}),
                                     of.writer().AddConstant<int32_t>({"", {}, kInt}, {3})};
    for (int k = 0; k < (is_soft ? 3 : 2); ++k) operands.push_back(of.writer().AddConstant<float>({"", {}}, {0.5f}));
    std::vector<int32_t> made = {of.Output(kInt)};
    if (is_soft) made.push_back(of.Output());
    made.push_back(of.Output(kInt));
    of.writer().AddOperator(is_soft ? kSoftSuppression : kSuppression, operands, made);
    const Result<std::vector<ReferenceTensor>> results = of.Results();
    ASSERT_TRUE(results.ok()) << results.status().message();
    for (const ReferenceTensor& result : *results) EXPECT_THAT(result.values, Each(0));
    EXPECT_EQ(results->front().shape, (Shape{3}));
    EXPECT_EQ(results->back().shape, Shape());
  }
}

TEST(EmptyOperators, RandomOperatorsDrawNoNumbers) {
  OperatorOnNothing normal, chosen;
  normal.writer().AddOperator(kRandomStandardNormal, {normal.writer().AddIntegers({2, 0})}, {normal.Output()},
                              wire::CreateRandomOptions(normal.writer().builder(), 1, 2));
  normal.Expect({2, 0}, {});
  const int32_t samples = chosen.writer().AddConstant<int32_t>({"", {}, kInt}, {4});
  chosen.writer().AddOperator(kMultinomial, {chosen.Input({0, 3}), samples}, {chosen.Output(kLong)},
                              wire::CreateRandomOptions(chosen.writer().builder(), 1, 2));
  chosen.Expect({0, 4}, {});
}

TEST(EmptyOperators, WhereAndUniqueFindNone) {
  OperatorOnNothing places, kinds;
  places.writer().AddOperator(kWhere, {places.Input({2, 0}, kBool)}, {places.Output(kLong)});
  places.Expect({0, 2}, {});
  kinds.writer().AddOperator(kUnique, {kinds.Input({0}, kInt)}, {kinds.Output(kInt), kinds.Output(kInt)});
  kinds.Expect({0}, {});
}

// An LSTM of two units over x[batch, steps, 1], and its states beside its outputs.
std::vector<std::byte> LstmModel(int32_t batch, int32_t steps) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {batch, steps, 1}}), y = writer.AddTensor({"y", {batch, steps, 2}});
  std::vector<int32_t> operands = {x};
  for (int k = 0; k < 4; ++k) operands.push_back(writer.AddConstant<float>({"", {2, 1}}, {1, 1}));
  for (int k = 0; k < 4; ++k) operands.push_back(writer.AddConstant<float>({"", {2, 2}}, {0, 0, 0, 0}));
  for (int k = 0; k < 3; ++k) operands.push_back(-1);
  for (int k = 0; k < 4; ++k) operands.push_back(writer.AddConstant<float>({"", {2}}, {0, 0}));
  for (int k = 0; k < 2; ++k) operands.push_back(-1);
  for (int k = 0; k < 2; ++k) {
    operands.push_back(writer.AddTensor({"state", {batch, 2}, wire::TensorType_FLOAT32, {}, true}));
  }
  writer.AddOperator(
      kSequenceLstm, operands, {y},
      wire::CreateUnidirectionalSequenceLSTMOptions(writer.builder(), wire::ActivationFunctionType_TANH));
  return writer.Finish({x}, {y});
}

// Loops, states and layers of nothing, on a device.
class EmptyOnDevices : public testing::SessionsOnDevice {};

TEST_P(EmptyOnDevices, ARecurrentLayerMakesNothingOfNoBatchAndOfNoSteps) {
  for (const auto& [batch, steps] : {std::pair(0, 3), {2, 0}}) {
    Session session = Opened(LstmModel(batch, steps));
    ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>()).ok());
    ASSERT_TRUE(session.Run().ok());
    EXPECT_THAT(session.output<float>(0).value(), ElementsAre());
    EXPECT_TRUE(session.ResetState().ok());
  }
}

// `while (x[0] < limit) x += 1`, with a list of no elements beside x that each turn makes anew.
std::vector<std::byte> LoopWithAList(bool grows) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}}), none = writer.AddTensor({"none", {0, 1}});
  const int32_t y = writer.AddTensor({"y", {1}}), rest = writer.AddTensor({"rest", {0, 1}});
  writer.AddOperator(kWhile, {x, none}, {y, rest}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x, none}, {y, rest});
  const int32_t a = writer.AddTensor({"a", {1}}), b = writer.AddTensor({"b", {0, 1}});
  const int32_t less = writer.AddTensor({"less", {1}, kBool});
  writer.AddOperator(kLess, {a, writer.AddConstant<float>({"", {1}}, {5000})}, {less});
  writer.EndSubgraph({a, b}, {less});
  const int32_t c = writer.AddTensor({"c", {1}}), d = writer.AddTensor({"d", {0, 1}});
  const int32_t next = writer.AddTensor({"next", {1}}), all = writer.AddTensor({"all", {}});
  const int32_t row = writer.AddTensor({"row", {1, 1}});
  writer.AddOperator(kAdd, {c, writer.AddConstant<float>({"", {1}}, {1})}, {next});
  writer.AddOperator(kReshape, {c, writer.AddIntegers({1, 1})}, {row});
  writer.AddOperator(kConcatenation, grows ? std::vector{d, row} : std::vector{d, d}, {all},
                     wire::CreateConcatenationOptions(writer.builder(), 0));
  return writer.Finish({c, d}, {next, all});
}

TEST_P(EmptyOnDevices, ALoopThatDataEndCarriesAListOfNoElements) {
  Session session = Opened(LoopWithAList(false));
  ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>{0.5f}).ok());
  ASSERT_TRUE(session.SetInput<float>(1, std::vector<float>()).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value(), ElementsAre(5000.5f));
  EXPECT_THAT(session.output<float>(1).value(), ElementsAre());
}

TEST(EmptyOperators, ALoopWhoseListGrowsWithoutABoundIsRefusedWithTheListsName) {
  const auto bytes = LoopWithAList(true);
  const Result<Model> model = Model::FromMemory(bytes);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string message = Session::Create(*model, {.device = "cpu", .use_cache = false}).status().message();
  EXPECT_THAT(message,
              HasSubstr("'none' has the shape 0x1 before the loop, and a turn makes 'all' of shape 1x1 of it"));
}

TEST_P(EmptyOnDevices, AVariableWithoutElementsStaysEmpty) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), none = writer.AddTensor({"none", {0}});
  const int32_t handle = writer.AddTensor({"handle", {}, kResource}), held = writer.AddTensor({"held", {0}});
  const int32_t y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kCallOnce, {}, {}, wire::CreateCallOnceOptions(writer.builder(), 1));
  const auto name = writer.builder().CreateString("v");
  writer.AddOperator(kVarHandle, {}, {handle}, wire::CreateVarHandleOptions(writer.builder(), 0, name));
  writer.AddOperator(kReadVariable, {handle}, {held});
  writer.AddOperator(kAssignVariable, {handle, none}, {});
  writer.AddOperator(kConcatenation, {held, x}, {y}, wire::CreateConcatenationOptions(writer.builder(), 0));
  writer.EndSubgraph({x, none}, {y});
  const int32_t first = writer.AddTensor({"first", {}, kResource}), zeros = writer.AddTensor({"zeros", {0}});
  const auto again = writer.builder().CreateString("v");
  writer.AddOperator(kVarHandle, {}, {first}, wire::CreateVarHandleOptions(writer.builder(), 0, again));
  writer.AddOperator(kAssignVariable, {first, zeros}, {});
  Session session = Opened(writer.Finish({}, {}));
  ASSERT_TRUE(session.SetInput<float>(0, std::vector<float>{1, 2}).ok());
  ASSERT_TRUE(session.SetInput<float>(1, std::vector<float>()).ok());
  ASSERT_TRUE(session.Run().ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_THAT(session.output<float>(0).value(), ElementsAre(1, 2));
}

INSTANTIATE_TEST_SUITE_P(Devices, EmptyOnDevices, ::testing::ValuesIn(testing::DeviceNames()));

}  // namespace
}  // namespace hearth
