// The attributes of each operator, read back from models that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/graph/op_text.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/reader.h"
#include "frontends/tflite/refused_operators.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using testing::HasSubstr;
using wire::ActivationFunctionType_RELU6;

// A model of one operator: the test adds tensors and the operator, x is tensor 0.
class OneOperator {
 public:
  explicit OneOperator(std::vector<int32_t> input_shape, std::vector<int32_t> output_shape = {1}) {
    x = writer.AddTensor({"x", std::move(input_shape)});
    y = writer.AddTensor({"y", std::move(output_shape)});
  }

  Result<Graph> Read() {
    bytes_ = writer.Finish({x}, {y});
    return ReadTfliteModel(bytes_);
  }
  // The attributes of the one node, or UnknownOp{"error text"}.
  Op ReadOp() {
    Result<Graph> graph = Read();
    if (!graph.ok()) return UnknownOp{graph.status().message()};
    if (graph->nodes().size() != 1) return UnknownOp{"not one node"};
    input_count = graph->nodes()[0].inputs.size();
    return graph->nodes()[0].op;
  }

  TfliteWriter writer;
  int32_t x, y;
  size_t input_count = 0;

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
void ExpectOp(OneOperator& model, const T& expected, size_t input_count) {
  const Op op = model.ReadOp();
  ASSERT_TRUE(std::holds_alternative<T>(op)) << OpName(op);
  EXPECT_TRUE(std::get<T>(op) == expected);
  EXPECT_EQ(model.input_count, input_count);
}

// All cases here have two operands, and an unknown operator keeps them all.
void ExpectUnknown(OneOperator& model, const std::string& name) {
  const Op op = model.ReadOp();
  ASSERT_TRUE(std::holds_alternative<UnknownOp>(op)) << OpName(op);
  EXPECT_EQ(std::get<UnknownOp>(op).name, name);
  EXPECT_EQ(model.input_count, 2u);
}

int32_t AddFilter(OneOperator& model, std::vector<int32_t> shape) {
  size_t count = 1;
  for (int32_t dim : shape) count *= dim;
  return model.writer.AddConstant<float>({"filter", std::move(shape)}, std::vector<float>(count, 0.5f));
}

TEST(TfliteConv2D, KeepsStridesDilationsPaddingAndActivation) {
  OneOperator model({1, 9, 9, 2});
  const int32_t filter = AddFilter(model, {4, 3, 3, 2});
  const int32_t bias = AddFilter(model, {4});
  model.writer.AddOperator(
      3, {model.x, filter, bias}, {model.y},
      wire::CreateConv2DOptions(model.writer.builder(), wire::Padding_VALID, 2, 3, ActivationFunctionType_RELU6, 4, 5));
  ExpectOp(
      model,
      Conv2D{
          .window = {.stride_h = 3, .stride_w = 2, .dilation_h = 5, .dilation_w = 4, .padding = {PaddingMode::kValid}},
          .activation = Activation::kRelu6},
      3);
}

TEST(TfliteConv2D, WithoutBiasHasTwoInputs) {
  OneOperator model({1, 9, 9, 2});
  const int32_t filter = AddFilter(model, {4, 3, 3, 2});
  model.writer.AddOperator(3, {model.x, filter, -1}, {model.y},
                           wire::CreateConv2DOptions(model.writer.builder(), wire::Padding_SAME, 1, 1));
  ExpectOp(model, Conv2D{.window = {.padding = {PaddingMode::kSame}}}, 2);
}

TEST(TfliteDepthwiseConv2D, KeepsItsWindow) {
  OneOperator model({1, 9, 9, 2});
  const int32_t filter = AddFilter(model, {1, 3, 3, 2});
  model.writer.AddOperator(4, {model.x, filter}, {model.y},
                           wire::CreateDepthwiseConv2DOptions(model.writer.builder(), wire::Padding_SAME, 2, 3,
                                                              wire::ActivationFunctionType_RELU, 4, 5));
  ExpectOp(
      model,
      DepthwiseConv2D{
          .window = {.stride_h = 3, .stride_w = 2, .dilation_h = 5, .dilation_w = 4, .padding = {PaddingMode::kSame}},
          .activation = Activation::kRelu},
      2);
}

TEST(TflitePooling, KeepsKindKernelAndWindow) {
  for (const auto& [code, kind] : {std::pair{1, PoolKind::kAverage}, std::pair{17, PoolKind::kMax}}) {
    OneOperator model({1, 9, 9, 2});
    model.writer.AddOperator(code, {model.x}, {model.y},
                             wire::CreatePool2DOptions(model.writer.builder(), wire::Padding_VALID, 2, 3, 4, 5,
                                                       wire::ActivationFunctionType_RELU_N1_TO_1));
    ExpectOp(model,
             Pool2D{.kind = kind,
                    .kernel_h = 5,
                    .kernel_w = 4,
                    .window = {.stride_h = 3, .stride_w = 2, .padding = {PaddingMode::kValid}},
                    .activation = Activation::kReluN1To1},
             1);
  }
}

TEST(TfliteFullyConnected, KeepsDimsAndActivation) {
  OneOperator model({2, 4});
  const int32_t filter = AddFilter(model, {3, 4});
  model.writer.AddOperator(9, {model.x, filter}, {model.y},
                           wire::CreateFullyConnectedOptions(model.writer.builder(), wire::ActivationFunctionType_TANH,
                                                             wire::WeightsFormat_DEFAULT, true));
  ExpectOp(model, FullyConnected{.keep_dims = true, .activation = Activation::kTanh}, 2);
}

TEST(TfliteFullyConnected, WithShuffledWeightsIsUnknown) {
  OneOperator model({2, 4});
  const int32_t filter = AddFilter(model, {3, 4});
  model.writer.AddOperator(9, {model.x, filter}, {model.y},
                           wire::CreateFullyConnectedOptions(model.writer.builder(), wire::ActivationFunctionType_NONE,
                                                             wire::WeightsFormat_SHUFFLED4x16INT8));
  ExpectUnknown(model, "FULLY_CONNECTED");
}

TEST(TfliteElementwise, EveryUnaryCodeGivesItsKind) {
  const std::pair<int, UnaryKind> rows[] = {
      {101, UnaryKind::kAbs},      {104, UnaryKind::kCeil},      {108, UnaryKind::kCos},
      {111, UnaryKind::kElu},      {47, UnaryKind::kExp},        {8, UnaryKind::kFloor},
      {150, UnaryKind::kGelu},     {117, UnaryKind::kHardSwish}, {73, UnaryKind::kLog},
      {14, UnaryKind::kLogistic},  {59, UnaryKind::kNeg},        {19, UnaryKind::kRelu},
      {152, UnaryKind::kRelu0To1}, {21, UnaryKind::kRelu6},      {20, UnaryKind::kReluN1To1},
      {116, UnaryKind::kRound},    {76, UnaryKind::kRsqrt},      {158, UnaryKind::kSign},
      {66, UnaryKind::kSin},       {75, UnaryKind::kSqrt},       {92, UnaryKind::kSquare},
      {28, UnaryKind::kTanh},      {87, UnaryKind::kLogicalNot}, {114, UnaryKind::kQuantize},
      {6, UnaryKind::kDequantize}};
  for (const auto& [code, kind] : rows) {
    SCOPED_TRACE(BuiltinName(code));
    OneOperator model({1, 4});
    model.writer.AddOperator(code, {model.x}, {model.y});
    ExpectOp(model, Unary{.kind = kind}, 1);
  }
}

TEST(TfliteElementwise, GeluApproximateIsTheTanhForm) {
  OneOperator model({1, 4});
  model.writer.AddOperator(150, {model.x}, {model.y}, wire::CreateGeluOptions(model.writer.builder(), true));
  ExpectOp(model, Unary{.kind = UnaryKind::kGeluTanh}, 1);
}

TEST(TfliteElementwise, LeakyReluKeepsItsSlope) {
  OneOperator model({1, 4});
  model.writer.AddOperator(98, {model.x}, {model.y}, wire::CreateLeakyReluOptions(model.writer.builder(), 0.25f));
  ExpectOp(model, Unary{.kind = UnaryKind::kLeakyRelu, .alpha = 0.25f}, 1);
}

TEST(TfliteElementwise, EveryBinaryCodeGivesItsKind) {
  const std::pair<int, BinaryKind> rows[] = {{0, BinaryKind::kAdd},           {41, BinaryKind::kSub},
                                             {18, BinaryKind::kMul},          {42, BinaryKind::kDiv},
                                             {55, BinaryKind::kMaximum},      {57, BinaryKind::kMinimum},
                                             {78, BinaryKind::kPow},          {99, BinaryKind::kSquaredDifference},
                                             {90, BinaryKind::kFloorDiv},     {95, BinaryKind::kFloorMod},
                                             {156, BinaryKind::kAtan2},       {71, BinaryKind::kEqual},
                                             {72, BinaryKind::kNotEqual},     {58, BinaryKind::kLess},
                                             {63, BinaryKind::kLessEqual},    {61, BinaryKind::kGreater},
                                             {62, BinaryKind::kGreaterEqual}, {86, BinaryKind::kLogicalAnd},
                                             {84, BinaryKind::kLogicalOr},    {160, BinaryKind::kBitwiseXor},
                                             {161, BinaryKind::kRightShift}};
  for (const auto& [code, kind] : rows) {
    SCOPED_TRACE(BuiltinName(code));
    OneOperator model({1, 4});
    model.writer.AddOperator(code, {model.x, model.x}, {model.y});
    ExpectOp(model, Binary{.kind = kind}, 2);
  }
}

TEST(TfliteElementwise, TheFourArithmeticOnesKeepTheirActivation) {
  const auto options = [](int code, flatbuffers::FlatBufferBuilder& builder, OneOperator& model) {
    const auto add = [&](auto table) { model.writer.AddOperator(code, {model.x, model.x}, {model.y}, table); };
    if (code == 0) add(wire::CreateAddOptions(builder, ActivationFunctionType_RELU6));
    if (code == 41) add(wire::CreateSubOptions(builder, ActivationFunctionType_RELU6));
    if (code == 18) add(wire::CreateMulOptions(builder, ActivationFunctionType_RELU6));
    if (code == 42) add(wire::CreateDivOptions(builder, ActivationFunctionType_RELU6));
  };
  for (const auto& [code, kind] : {std::pair{0, BinaryKind::kAdd}, std::pair{41, BinaryKind::kSub},
                                   std::pair{18, BinaryKind::kMul}, std::pair{42, BinaryKind::kDiv}}) {
    OneOperator model({1, 4});
    options(code, model.writer.builder(), model);
    ExpectOp(model, Binary{.kind = kind, .activation = Activation::kRelu6}, 2);
  }
}

TEST(TfliteElementwise, AnActivationThatHearthLacksMakesTheOperatorUnknown) {
  OneOperator model({1, 4});
  model.writer.AddOperator(0, {model.x, model.x}, {model.y},
                           wire::CreateAddOptions(model.writer.builder(), wire::ActivationFunctionType_SIGN_BIT));
  ExpectUnknown(model, "ADD");
}

TEST(TfliteSelect, WithAnElementForEachRowIsItsOwnOperation) {
  for (const auto& [code, condition, by_row] :
       {std::tuple(64, std::vector<int32_t>{3}, true), std::tuple(64, std::vector<int32_t>{3, 4}, false),
        std::tuple(123, std::vector<int32_t>{3, 1}, false), std::tuple(64, std::vector<int32_t>{}, false)}) {
    OneOperator model({3, 4});
    const int32_t chosen_by =
        model.writer.AddConstant<uint8_t>({"c", condition, wire::TensorType_BOOL},
                                          std::vector<uint8_t>(by_row              ? 3
                                                               : condition.empty() ? 1
                                                                                   : condition[0] * condition[1]));
    model.writer.AddOperator(code, {chosen_by, model.x, model.x}, {model.y});
    const Op op = model.ReadOp();
    EXPECT_EQ(OpName(op), by_row ? "select_rows" : "select");
    EXPECT_EQ(model.input_count, 3u);
  }
}

TEST(TfliteCast, GoesByTheTypeOfItsOutput) {
  OneOperator model({3, 4});
  const int32_t integers = model.writer.AddTensor({"i", {3, 4}, wire::TensorType_INT32});
  model.writer.AddOperator(53, {model.x}, {integers});
  model.writer.AddOperator(53, {integers}, {model.y});
  const Result<Graph> graph = model.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 2u);
  EXPECT_TRUE(std::get<Cast>(graph->nodes()[0].op) == Cast{DType::kInt32});
  EXPECT_TRUE(std::get<Cast>(graph->nodes()[1].op) == Cast{DType::kFloat32});
}

TEST(TfliteAddN, KeepsAllItsInputs) {
  OneOperator model({3});
  model.writer.AddOperator(106, {model.x, model.x, model.x}, {model.y});
  ExpectOp(model, AddN{}, 3);
}

TEST(TflitePRelu, KeepsItsSlopes) {
  OneOperator model({3});
  model.writer.AddOperator(54, {model.x, model.x}, {model.y});
  ExpectOp(model, PRelu{}, 2);
}

TEST(TfliteSoftmax, KeepsBeta) {
  OneOperator model({1, 4});
  model.writer.AddOperator(25, {model.x}, {model.y}, wire::CreateSoftmaxOptions(model.writer.builder(), 2.5f));
  ExpectOp(model, Softmax{.beta = 2.5f}, 1);
}

TEST(TfliteConcatenation, CountsANegativeAxisFromTheEnd) {
  OneOperator model({1, 4, 5});
  model.writer.AddOperator(2, {model.x, model.x, model.x}, {model.y},
                           wire::CreateConcatenationOptions(model.writer.builder(), -1, ActivationFunctionType_RELU6));
  ExpectOp(model, Concat{.axis = 2, .activation = Activation::kRelu6}, 3);
}

TEST(TfliteResize, TakesTheSizeFromItsConstantOperand) {
  OneOperator bilinear({1, 4, 5, 1});
  bilinear.writer.AddOperator(23, {bilinear.x, bilinear.writer.AddIntegers({8, 9})}, {bilinear.y},
                              wire::CreateResizeBilinearOptions(bilinear.writer.builder(), true, false));
  ExpectOp(bilinear, Resize{.kind = ResizeKind::kBilinear, .height = 8, .width = 9, .align_corners = true}, 1);

  OneOperator nearest({1, 4, 5, 1});
  nearest.writer.AddOperator(97, {nearest.x, nearest.writer.AddIntegers({8, 9})}, {nearest.y},
                             wire::CreateResizeNearestNeighborOptions(nearest.writer.builder(), false, true));
  ExpectOp(nearest, Resize{.kind = ResizeKind::kNearest, .height = 8, .width = 9, .half_pixel_centers = true}, 1);
}

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
       {std::pair{10, "HASHTABLE_LOOKUP"}, std::pair{199, "STABLEHLO_SORT"}, std::pair{999, "BUILTIN_999"}}) {
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
    EXPECT_EQ(row->read != nullptr, WhyRefused(code).empty()) << row->name;
    EXPECT_THAT(page, HasSubstr(std::string(row->name)));
    EXPECT_THAT(page, HasSubstr(std::string(WhyRefused(code)))) << row->name;
  }
}

TEST(TfliteUnknown, ARefusalGivesTheWayOut) {
  OneOperator model({3});
  model.writer.AddOperator(119, {model.x, model.x}, {model.y});
  EXPECT_THAT(std::get<UnknownOp>(model.ReadOp()).reason, HasSubstr("unroll=True"));
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
