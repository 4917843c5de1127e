// The attributes of matrix products, transposed convolution and MediaPipe's custom operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model of one operator; `outputs` tensors of float32.
class OneProduct {
 public:
  explicit OneProduct(std::vector<int32_t> input_shape, int outputs = 1) {
    x = writer.AddTensor({"x", std::move(input_shape)});
    for (int i = 0; i < outputs; ++i) y.push_back(writer.AddTensor({"y" + std::to_string(i), {1}}));
  }
  int32_t AddFilter(std::vector<int32_t> shape) {
    size_t count = 1;
    for (int32_t dim : shape) count *= dim;
    return writer.AddConstant<float>({"filter", std::move(shape)}, std::vector<float>(count, 0.5f));
  }
  // The node, or UnknownOp{"error text"}.
  Node Read() {
    bytes_ = writer.Finish({x}, y);
    Result<Graph> graph = ReadTfliteModel(bytes_);
    if (!graph.ok()) return Node{.op = UnknownOp{graph.status().message()}};
    for (ValueId id : graph->nodes()[0].inputs) input_names.push_back(graph->value(id).name);
    return graph->nodes()[0];
  }

  TfliteWriter writer;
  int32_t x;
  std::vector<int32_t> y;
  std::vector<std::string> input_names;

 private:
  std::vector<std::byte> bytes_;
};

TEST(TfliteBatchMatMul, KeepsWhatIsAdjoint) {
  OneProduct model({2, 3});
  const int32_t right = model.AddFilter({4, 3});
  model.writer.AddOperator(126, {model.x, right}, model.y,
                           wire::CreateBatchMatMulOptions(model.writer.builder(), false, true));
  EXPECT_TRUE(model.Read().op == Op(BatchMatMul{false, true}));
}

TEST(TfliteTransposeConv, TakesItsSizeFromTheFirstOperandAndReordersTheOthers) {
  OneProduct model({1, 4, 5, 3});
  const int32_t shape = model.writer.AddConstant<int32_t>({"shape", {4}, wire::TensorType_INT32}, {1, 8, 15, 7});
  const int32_t filter = model.AddFilter({7, 2, 3, 3});
  const int32_t bias = model.writer.AddConstant<float>({"bias", {7}}, std::vector<float>(7, 1.0f));
  model.writer.AddOperator(67, {shape, filter, model.x, bias}, model.y,
                           wire::CreateTransposeConvOptions(model.writer.builder(), wire::Padding_VALID, 3, 2,
                                                            wire::ActivationFunctionType_RELU));
  const Node node = model.Read();
  EXPECT_TRUE(node.op == Op(TransposeConv{.height = 8,
                                          .width = 15,
                                          .stride_h = 2,
                                          .stride_w = 3,
                                          .padding = {PaddingMode::kValid},
                                          .activation = Activation::kRelu}))
      << OpName(node.op);
  EXPECT_THAT(model.input_names, ElementsAre("x", "filter", "bias"));
}

TEST(TfliteTransposeConv, TakesTheBatchOfItsInputWhateverTheFirstOperandSays) {
  OneProduct model({3, 4, 5, 3});
  const int32_t shape = model.writer.AddConstant<int32_t>({"shape", {4}, wire::TensorType_INT32}, {1, 8, 15, 7});
  model.writer.AddOperator(67, {shape, model.AddFilter({7, 2, 3, 3}), model.x}, model.y,
                           wire::CreateTransposeConvOptions(model.writer.builder(), wire::Padding_VALID, 3, 2));
  EXPECT_TRUE(std::holds_alternative<TransposeConv>(model.Read().op));
}

TEST(TfliteTransposeConv, RefusesASizeThatItsOperandsCannotGive) {
  for (const std::vector<int32_t>& size : {std::vector<int32_t>{1, 8, 15, 6}, {1, 0, 15, 7}, {1, 8, 7}}) {
    OneProduct model({1, 4, 5, 3});
    const int32_t shape =
        model.writer.AddConstant<int32_t>({"shape", {static_cast<int32_t>(size.size())}, wire::TensorType_INT32}, size);
    model.writer.AddOperator(67, {shape, model.AddFilter({7, 2, 3, 3}), model.x}, model.y,
                             wire::CreateTransposeConvOptions(model.writer.builder(), wire::Padding_VALID, 3, 2));
    EXPECT_THAT(OpName(model.Read().op), HasSubstr("output shape"));
  }
}

// Adds a custom operator with C ints as options.
void AddCustom(OneProduct& model, const std::string& name, std::vector<int32_t> inputs,
               const std::vector<int32_t>& options) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(options.data());
  model.writer.AddCustomOperator(name, std::move(inputs), model.y, {bytes, bytes + 4 * options.size()});
}

TEST(TfliteMediaPipe, TransposedConvolutionReadsPaddingAndStrides) {
  OneProduct model({1, 4, 5, 3});
  AddCustom(model, "Convolution2DTransposeBias", {model.x, model.AddFilter({7, 2, 3, 3}), model.AddFilter({7})},
            {1, 3, 2, 0, 0});
  EXPECT_TRUE(model.Read().op == Op(TransposeConv{.stride_h = 2, .stride_w = 3, .padding = {PaddingMode::kSame}}));
}

TEST(TfliteMediaPipe, PoolingWithPositionsReadsItsWindow) {
  OneProduct model({1, 8, 8, 3}, 2);
  AddCustom(model, "MaxPoolingWithArgmax2D", {model.x}, {2, 3, 2, 5, 4, 1, 0, 0, 0, 0});
  MaxPoolArgmax2D expected{.kernel_h = 4, .kernel_w = 5, .activation = Activation::kRelu};
  expected.window = {.stride_h = 2, .stride_w = 3, .padding = {PaddingMode::kValid}};
  EXPECT_TRUE(model.Read().op == Op(expected));
}

TEST(TfliteMediaPipe, UnpoolingReadsWindowAndStrides) {
  OneProduct model({1, 8, 8, 3});
  AddCustom(model, "MaxUnpooling2D", {model.x, model.x}, {1, 3, 2, 5, 4, 0, 0, 0, 0, 0});
  EXPECT_TRUE(model.Read().op == Op(MaxUnpool2D{4, 5, 2, 3}));
}

TEST(TfliteMediaPipe, ResamplerHasNoOptions) {
  OneProduct model({1, 8, 8, 2});
  AddCustom(model, "Resampler", {model.x, model.x}, {});
  EXPECT_TRUE(model.Read().op == Op(Resampler{}));
}

TEST(TfliteMediaPipe, DamagedOptionsAreErrors) {
  const std::pair<std::vector<int32_t>, const char*> cases[] = {
      {{1, 2}, "its options have 8 bytes"},
      {{1, 0, 2, 2, 2, 0}, "a stride of 2x0"},
      {{1, 2, 2, 2, -1, 0}, "a pooling window of -1x2"},
      {{0, 2, 2, 2, 2, 0}, "no padding mode 0"},
      {{1, 2, 2, 2, 2, 77}, "no fused activation 77"},
  };
  for (const auto& [options, message] : cases) {
    OneProduct model({1, 8, 8, 3}, 2);
    AddCustom(model, "MaxPoolingWithArgmax2D", {model.x}, options);
    EXPECT_THAT(OpName(model.Read().op), HasSubstr(message));
  }
}

}  // namespace
}  // namespace hearth
