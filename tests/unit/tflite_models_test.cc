// Every shared model is read: its operators, inputs and outputs are those that MODELS.md lists.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <optional>
#include <string>

#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "runtime/model/model_file.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using Counts = std::map<std::string, int>;

struct ModelCase {
  const char* file;
  Counts ops;           // by Hearth's names for those that it knows, by the file's for others
  const char* inputs;   // "float32[1x224x224x3]"
  const char* outputs;  // several are joined by "; "
};

std::string DescribeValues(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId id : values) {
    const TensorDesc& desc = graph.value(id).desc;
    text += (text.empty() ? "" : "; ") + std::string(DTypeName(desc.dtype)) + "[" + desc.shape.ToString() + "]";
  }
  return text;
}

Counts CountOps(const Graph& graph) {
  Counts counts;
  for (const Node& node : graph.nodes()) ++counts[OpName(node.op)];
  return counts;
}

class TfliteModels : public ::testing::TestWithParam<ModelCase> {
 protected:
  void SetUp() override {
    const auto path = SharedFolder() / "models" / GetParam().file;
    HEARTH_SKIP_WITHOUT(path);
    Result<ModelFile> file = ModelFile::Open(path.string());
    ASSERT_TRUE(file.ok()) << file.status().message();
    file_.emplace(std::move(file).value());
    Result<Graph> read = ReadTfliteModel(file_->bytes());
    ASSERT_TRUE(read.ok()) << read.status().message();
    graph_ = std::move(read).value();
  }

  std::optional<ModelFile> file_;
  Graph graph_;
};

TEST_P(TfliteModels, AreReadWithTheListedOperatorsAndInterface) {
  EXPECT_EQ(CountOps(graph_), GetParam().ops);
  EXPECT_EQ(DescribeValues(graph_, graph_.inputs), GetParam().inputs);
  EXPECT_EQ(DescribeValues(graph_, graph_.outputs), GetParam().outputs);
  const Status valid = graph_.Validate();
  EXPECT_TRUE(valid.ok()) << valid.message();
}

TEST_P(TfliteModels, KeepTheShapesOfTheFileWhenTheyAreInferred) {
  const Graph as_in_file = graph_.Clone();
  for (const Node& node : graph_.nodes()) {
    if (std::holds_alternative<UnknownOp>(node.op)) continue;             // its outputs keep the file's shapes
    if (std::holds_alternative<DetectionPostProcess>(node.op)) continue;  // the file says no shapes of its outputs
    const Status inferred = OpDefOf(node.op).infer(graph_, node);
    ASSERT_TRUE(inferred.ok()) << inferred.message();
  }
  for (size_t id = 0; id < graph_.values().size(); ++id) {
    EXPECT_EQ(graph_.values()[id].desc.shape, as_in_file.values()[id].desc.shape) << graph_.values()[id].name;
    EXPECT_EQ(graph_.values()[id].desc.dtype, as_in_file.values()[id].desc.dtype) << graph_.values()[id].name;
  }
}

const ModelCase kModels[] = {
    {"deeplabv3_257_mv_gpu.tflite",
     {{"conv_2d", 38},
      {"depthwise_conv_2d", 17},
      {"add", 10},
      {"resize_bilinear", 3},
      {"average_pool_2d", 1},
      {"concat", 1}},
     "float32[1x257x257x3]",
     "float32[1x257x257x21]"},
    {"edsr_f32b5_f32_in90x160.tflite",
     {{"conv_2d", 13}, {"add", 6}, {"minimum", 1}, {"relu", 1}, {"depth_to_space", 1}},
     "float32[1x90x160x3]",
     "float32[1x180x320x3]"},
    {"face_detection_front.tflite",
     {{"conv_2d", 21},
      {"relu", 17},
      {"depthwise_conv_2d", 16},
      {"add", 16},
      {"pad", 11},
      {"reshape", 4},
      {"max_pool_2d", 3},
      {"concat", 2}},
     "float32[1x128x128x3]",
     "float32[1x896x16]; float32[1x896x1]"},
    {"face_landmark.tflite",
     {{"conv_2d", 25}, {"prelu", 23}, {"depthwise_conv_2d", 20}, {"add", 20}, {"max_pool_2d", 6}, {"pad", 3}},
     "float32[1x192x192x3]",
     "float32[1x1x1x1404]; float32[1x1x1x1]"},
    {"hair_segmentation.tflite",
     {{"prelu", 100},
      {"conv_2d", 90},
      {"depthwise_conv_2d", 28},
      {"add", 28},
      {"transpose_conv", 5},
      {"max_pool_argmax_2d", 3},
      {"max_unpool_2d", 3},
      {"concat", 2}},
     "float32[1x512x512x4]",
     "float32[1x512x512x2]"},
    {"hand_landmark_lite.tflite",
     {{"conv_2d", 31},
      {"depthwise_conv_2d", 16},
      {"add", 10},
      {"fully_connected", 4},
      {"logistic", 2},
      {"max_pool_2d", 1},
      {"mean", 1}},
     "float32[1x224x224x3]",
     "float32[1x63]; float32[1x1]; float32[1x1]; float32[1x63]"},
    {"kws_ref_model_int8.tflite",
     {{"conv_2d", 5},
      {"depthwise_conv_2d", 4},
      {"average_pool_2d", 1},
      {"reshape", 1},
      {"fully_connected", 1},
      {"softmax", 1}},
     "int8[1x49x10x1]",
     "int8[1x12]"},
    {"meet_segmentation_144x256_f32.tflite",
     {{"conv_2d", 31},
      {"reshape", 12},
      {"fully_connected", 12},
      {"hard_swish", 11},
      {"depthwise_conv_2d", 11},
      {"average_pool_2d", 10},
      {"logistic", 10},
      {"mul", 10},
      {"add", 10},
      {"resize_bilinear", 3},
      {"concat", 3},
      {"transpose_conv", 1}},
     "float32[1x144x256x3]",
     "float32[1x144x256x2]"},
    {"mnist_lstm_f32.tflite",
     {{"lstm", 1}, {"reshape", 1}, {"fully_connected", 1}, {"softmax", 1}},
     "float32[1x28x28]",
     "float32[1x10]"},
    {"mobilenet_v1_0.25_128_quant.tflite",
     {{"conv_2d", 15}, {"depthwise_conv_2d", 13}, {"average_pool_2d", 1}, {"reshape", 1}, {"softmax", 1}},
     "uint8[1x128x128x3]",
     "uint8[1x1001]"},
    {"mobilenet_v1_0.25_224_f32.tflite",
     {{"conv_2d", 15}, {"depthwise_conv_2d", 13}, {"average_pool_2d", 1}, {"reshape", 1}, {"softmax", 1}},
     "float32[1x224x224x3]",
     "float32[1x1001]"},
    {"mobilenet_v1_1.0_224_f32_dequant.tflite",
     {{"conv_2d", 15}, {"depthwise_conv_2d", 13}, {"average_pool_2d", 1}, {"reshape", 1}, {"softmax", 1}},
     "float32[1x224x224x3]",
     "float32[1x1001]"},
    {"mobilenet_v2_1.0_224_quant.tflite",
     {{"conv_2d", 36}, {"depthwise_conv_2d", 17}, {"add", 10}, {"average_pool_2d", 1}, {"reshape", 1}},
     "uint8[1x224x224x3]",
     "uint8[1x1001]"},
    {"posenet_mobilenet_v1_100_257x257_f32_dequant.tflite",
     {{"conv_2d", 18}, {"depthwise_conv_2d", 13}},
     "float32[1x257x257x3]",
     "float32[1x9x9x32]; float32[1x9x9x32]; float32[1x9x9x17]; float32[1x9x9x34]"},
    {"selfie_segmentation.tflite",
     {{"conv_2d", 43},
      {"relu", 22},
      {"add", 14},
      {"hard_swish", 11},
      {"depthwise_conv_2d", 11},
      {"logistic", 11},
      {"average_pool_2d", 10},
      {"mul", 10},
      {"resize_bilinear", 3},
      {"transpose_conv", 1}},
     "float32[1x256x256x3]",
     "float32[1x256x256x1]"},
    {"ssd_mobilenet_v1_1.0_f32_dequant.tflite",
     {{"conv_2d", 34},
      {"depthwise_conv_2d", 13},
      {"reshape", 13},
      {"concat", 2},
      {"logistic", 1},
      {"TFLite_Detection_PostProcess", 1}},
     "float32[1x300x300x3]",
     "float32[1x10x4]; float32[1x10]; float32[1x10]; float32[1]"},
    {"ssd_mobilenet_v1_1.0_quant.tflite",
     {{"conv_2d", 34},
      {"depthwise_conv_2d", 13},
      {"reshape", 13},
      {"concat", 2},
      {"logistic", 1},
      {"TFLite_Detection_PostProcess", 1}},
     "uint8[1x300x300x3]",
     "float32[1x10x4]; float32[1x10]; float32[1x10]; float32[1]"},
    {"style_transfer_f16_384.tflite",
     {{"conv_2d", 42},
      {"mul", 39},
      {"add", 31},
      {"mean", 26},
      {"mirror_pad", 16},
      {"squared_difference", 13},
      {"rsqrt", 13},
      {"sub", 13},
      {"resize_nearest", 3},
      {"logistic", 1}},
     "float32[1x384x384x3]; float32[1x1x1x100]",
     "float32[1x384x384x3]"},
    {"vww_96_int8.tflite",
     {{"conv_2d", 14},
      {"depthwise_conv_2d", 13},
      {"average_pool_2d", 1},
      {"reshape", 1},
      {"fully_connected", 1},
      {"softmax", 1}},
     "int8[1x96x96x3]",
     "int8[1x2]"},
};

std::string TestName(const ::testing::TestParamInfo<ModelCase>& info) {
  std::string name = info.param.file;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shared, TfliteModels, ::testing::ValuesIn(kModels), TestName);

}  // namespace
}  // namespace hearth
