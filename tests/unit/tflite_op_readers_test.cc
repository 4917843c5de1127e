// The attributes of windows, products and functions of elements, read back from models that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/tflite/operator_table.h"
#include "tests/testing/one_operator.h"

namespace hearth {
namespace {

using testing::ExpectOp;
using testing::ExpectUnknown;
using ::testing::HasSubstr;
using testing::OneOperator;
using wire::ActivationFunctionType_RELU6;

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

}  // namespace
}  // namespace hearth
