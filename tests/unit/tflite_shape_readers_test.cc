// The attributes of operators that change shapes, read back from models that the test writes; operators that the reader
// does not know, and options that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>

#include "frontends/tflite/operator_table.h"
#include "tests/testing/one_operator.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::ExpectOp;
using testing::ExpectUnknown;
using ::testing::HasSubstr;
using testing::OneOperator;

TEST(TfliteReshape, ResolvesTheStretchedDimensionOfItsOperand) {
  OneOperator model({2, 3, 4});
  model.writer.AddOperator(22, {model.x, model.writer.AddIntegers({6, -1})}, {model.y});
  ExpectOp(model, Reshape{{6, 4}}, 1);
}

TEST(TfliteReshape, ReadsItsOptionWithoutAnOperand) {
  OneOperator model({2, 3, 4});
  const auto shape = model.writer.builder().CreateVector(std::vector<int32_t>{-1, 2});
  model.writer.AddOperator(22, {model.x}, {model.y}, wire::CreateReshapeOptions(model.writer.builder(), shape));
  ExpectOp(model, Reshape{{12, 2}}, 1);
}

TEST(TfliteReshape, ReadsAnInt64Operand) {
  OneOperator model({2, 3, 4});
  const int32_t shape = model.writer.AddConstant<int64_t>({"", {2}, wire::TensorType_INT64}, {3, 8});
  model.writer.AddOperator(22, {model.x, shape}, {model.y});
  ExpectOp(model, Reshape{{3, 8}}, 1);
}

TEST(TfliteReshape, AnEmptyListAndTheListOfZeroMeanAScalar) {
  for (const std::vector<int32_t>& list : {std::vector<int32_t>{}, std::vector<int32_t>{0}}) {
    OneOperator model({1, 1});
    model.writer.AddOperator(22, {model.x, model.writer.AddIntegers(list)}, {model.y});
    ExpectOp(model, Reshape{Shape()}, 1);
  }
}

TEST(TfliteReshape, ToAShapeComputedAtRunTimeIsUnknown) {
  OneOperator model({4});
  const int32_t shape = model.writer.AddTensor({"shape", {1}, wire::TensorType_INT32});
  model.writer.AddOperator(22, {model.x, shape}, {model.y});
  const auto bytes = model.writer.Finish({model.x, shape}, {model.y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(OpName(graph->nodes()[0].op), "RESHAPE");
  EXPECT_EQ(graph->nodes()[0].inputs.size(), 2u);
}

TEST(TfliteSqueeze, DropsTheNamedDimensionsOrAllOnes) {
  OneOperator named({1, 1, 4, 1});
  const auto dims = named.writer.builder().CreateVector(std::vector<int32_t>{1, -1});
  named.writer.AddOperator(43, {named.x}, {named.y}, wire::CreateSqueezeOptions(named.writer.builder(), dims));
  ExpectOp(named, Reshape{{1, 4}}, 1);

  OneOperator all({1, 1, 4, 1});
  all.writer.AddOperator(43, {all.x}, {all.y});
  ExpectOp(all, Reshape{{4}}, 1);
}

TEST(TfliteExpandDims, InsertsAOneAtItsAxis) {
  OneOperator model({2, 3});
  model.writer.AddOperator(70, {model.x, model.writer.AddIntegers({-1})}, {model.y});
  ExpectOp(model, Reshape{{2, 3, 1}}, 1);
}

TEST(TflitePad, ReadsBeforeAndAfterOfEachDimension) {
  OneOperator model({2, 3});
  const int32_t paddings =
      model.writer.AddConstant<int32_t>({"", {2, 2}, wire::TensorType_INT32}, std::vector<int32_t>{1, 2, 3, 4});
  model.writer.AddOperator(34, {model.x, paddings}, {model.y});
  ExpectOp(model, Pad{.before = {1, 3}, .after = {2, 4}}, 1);
}

TEST(TflitePad, PadV2ReadsItsValue) {
  OneOperator model({3});
  const int32_t value = model.writer.AddConstant<float>({"value", {}}, {-7.5f});
  model.writer.AddOperator(60, {model.x, model.writer.AddIntegers({1, 2}), value}, {model.y});
  ExpectOp(model, Pad{.before = {1}, .after = {2}, .value = -7.5f}, 1);
}

TEST(TfliteMean, MarksItsAxes) {
  OneOperator model({2, 3, 4, 5});
  model.writer.AddOperator(40, {model.x, model.writer.AddIntegers({1, -2})}, {model.y},
                           wire::CreateReducerOptions(model.writer.builder(), true));
  ExpectOp(model, Reduce{.axes_mask = 0b0110, .keep_dims = true}, 1);
}

TEST(TfliteUnknown, ABuiltinOperatorKeepsItsNameOrNumber) {
  for (const auto& [code, name] :
       {std::pair{10, "HASHTABLE_LOOKUP"}, std::pair{202, "STABLEHLO_TRANSPOSE"}, std::pair{999, "BUILTIN_999"}}) {
    OneOperator model({3});
    model.writer.AddOperator(code, {model.x, -1}, {model.y});
    ExpectUnknown(model, name);
  }
}

TEST(TfliteUnknown, EveryBuiltinOperatorHasANameAndAReaderOrAReasonThatTheDocumentationTells) {
  std::ifstream file(SourceFolder() / "docs/operators.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (int32_t code = 0; code <= 209; ++code) {
    const OperatorRow* row = FindOperator(code);
    ASSERT_NE(row, nullptr) << code;
    if (code == kCustomOperator) continue;
    const bool is_read = row->read != nullptr || row->expand != nullptr;
    EXPECT_EQ(is_read, row->why_refused.empty()) << row->name;
    EXPECT_THAT(page, HasSubstr(std::string(row->name)));
    EXPECT_THAT(page, HasSubstr(std::string(row->why_refused))) << row->name;
  }
}

TEST(TfliteUnknown, ARefusalGivesTheWayOut) {
  OneOperator model({3});
  model.writer.AddOperator(10, {model.x, model.x}, {model.y});
  EXPECT_THAT(std::get<UnknownOp>(model.ReadOp()).reason, HasSubstr("do this step before the model"));
}

TEST(TfliteUnknown, ACustomOperatorKeepsItsName) {
  OneOperator model({3});
  model.writer.AddCustomOperator("SomebodysOwnOperator", {model.x, model.x}, {model.y});
  ExpectUnknown(model, "SomebodysOwnOperator");
}

TEST(TfliteOptions, OfAnotherOperatorAreRefused) {
  OneOperator model({1, 9, 9, 2});
  model.writer.AddOperator(1, {model.x}, {model.y}, wire::CreateSoftmaxOptions(model.writer.builder(), 1.0f));
  const Result<Graph> graph = model.Read();
  EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput);
  EXPECT_EQ(graph.status().message(), "operator 0 (AVERAGE_POOL_2D): its options are of type 9 where type 5 belongs");
}

TEST(TfliteOptions, WithNumbersOutOfRangeAreRefused) {
  const auto error = [](auto add) {
    OneOperator model({1, 9, 9, 2});
    add(model, model.writer.builder());
    const Result<Graph> graph = model.Read();
    EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput);
    return graph.status().message();
  };
  const auto pool = [&](int stride, int kernel) {
    return error([=](OneOperator& model, flatbuffers::FlatBufferBuilder& builder) {
      model.writer.AddOperator(1, {model.x}, {model.y},
                               wire::CreatePool2DOptions(builder, wire::Padding_SAME, stride, 1, kernel, 1));
    });
  };
  EXPECT_THAT(pool(0, 1), HasSubstr("a stride of 1x0"));
  EXPECT_THAT(pool(-1, 1), HasSubstr("a stride of 1x-1"));
  EXPECT_THAT(pool(1, std::numeric_limits<int32_t>::max()), HasSubstr("a pooling window of 1x2147483647"));
  EXPECT_THAT(error([](OneOperator& model, flatbuffers::FlatBufferBuilder& builder) {
                model.writer.AddOperator(1, {model.x}, {model.y},
                                         wire::CreatePool2DOptions(builder, static_cast<wire::Padding>(7), 1, 1, 1, 1));
              }),
              HasSubstr("no padding mode 7"));
  EXPECT_THAT(error([](OneOperator& model, flatbuffers::FlatBufferBuilder& builder) {
                model.writer.AddOperator(
                    0, {model.x, model.x}, {model.y},
                    wire::CreateAddOptions(builder, static_cast<wire::ActivationFunctionType>(99)));
              }),
              HasSubstr("no fused activation 99"));
  EXPECT_THAT(error([](OneOperator& model, flatbuffers::FlatBufferBuilder& builder) {
                model.writer.AddOperator(25, {model.x}, {model.y}, wire::CreateSoftmaxOptions(builder, NAN));
              }),
              HasSubstr("not a finite number"));
  EXPECT_THAT(error([](OneOperator& model, flatbuffers::FlatBufferBuilder& builder) {
                model.writer.AddOperator(2, {model.x}, {model.y}, wire::CreateConcatenationOptions(builder, 4));
              }),
              HasSubstr("axis 4 does not exist"));
  EXPECT_THAT(error([](OneOperator& model, flatbuffers::FlatBufferBuilder&) {
                model.writer.AddOperator(22, {model.x, model.writer.AddIntegers({-1, -1})}, {model.y});
              }),
              HasSubstr("new shape -1x-1"));
  for (const std::vector<int32_t>& shape :
       {std::vector<int32_t>{-1, 5}, {9, 9}, {1 << 30, 1 << 30, 1 << 30}, {-1, 400}}) {
    EXPECT_THAT(error([&](OneOperator& model, flatbuffers::FlatBufferBuilder&) {
                  model.writer.AddOperator(22, {model.x, model.writer.AddIntegers(shape)}, {model.y});
                }),
                HasSubstr("162 elements do not fit the new shape"));
  }
  EXPECT_THAT(error([](OneOperator& model, flatbuffers::FlatBufferBuilder&) {
                model.writer.AddOperator(34, {model.x, model.writer.AddIntegers({1, 2})}, {model.y});
              }),
              HasSubstr("2 paddings"));
}

}  // namespace
}  // namespace hearth
