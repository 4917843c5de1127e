// Readers of reductions, searches, normalizations and look-ups, on models that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One operator: x is tensor 0, `indices` (int32) tensor 1, both given at run time; y is float.
class TwoInputOperator {
 public:
  explicit TwoInputOperator(const std::vector<int32_t>& x_shape, wire::TensorType output = wire::TensorType_FLOAT32) {
    x = writer.AddTensor({"x", x_shape});
    indices = writer.AddTensor({"indices", {2}, wire::TensorType_INT32});
    y = writer.AddTensor({"y", {1}, output});
  }
  Result<Graph> Read(const std::vector<int32_t>& outputs) {
    bytes_ = writer.Finish({x, indices}, outputs);
    return ReadTfliteModel(bytes_);
  }

  TfliteWriter writer;
  int32_t x, indices, y;

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
void ExpectOpOf(TwoInputOperator& model, const T& expected, const std::vector<std::string>& input_names) {
  const Result<Graph> graph = model.Read({model.y});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 1u);
  const Node& node = graph->nodes()[0];
  ASSERT_TRUE(std::holds_alternative<T>(node.op)) << OpName(node.op);
  EXPECT_TRUE(std::get<T>(node.op) == expected);
  std::vector<std::string> names;
  for (ValueId input : node.inputs) names.push_back(graph->value(input).name);
  EXPECT_EQ(names, input_names);
}

std::string ReadError(TwoInputOperator& model) {
  return model.Read({model.y}).status().message();
}

TEST(TfliteReduce, EveryCodeGivesItsKind) {
  const std::pair<int, ReduceKind> rows[] = {
      {40, ReduceKind::kMean}, {74, ReduceKind::kSum}, {82, ReduceKind::kMax},  {89, ReduceKind::kMin},
      {81, ReduceKind::kProd}, {91, ReduceKind::kAny}, {140, ReduceKind::kAll},
  };
  for (const auto& [code, kind] : rows) {
    TwoInputOperator model({2, 3, 4});
    model.writer.AddOperator(code, {model.x, model.writer.AddIntegers({0, -1})}, {model.y},
                             wire::CreateReducerOptions(model.writer.builder(), true));
    ExpectOpOf(model, Reduce{.kind = kind, .axes_mask = 0b101, .keep_dims = true}, {"x"});
  }
}

TEST(TfliteReduce, OverAxesComputedAtRunTimeIsUnknown) {
  TwoInputOperator model({2, 3, 4});
  model.writer.AddOperator(74, {model.x, model.indices}, {model.y});
  ExpectOpOf(model,
             UnknownOp{"SUM",
                       "tensor 1 'indices' is the input 'indices', which decides shapes: fix what it holds "
                       "(--constant 'indices=...')"},
             {"x", "indices"});
}

TEST(TfliteReduce, ARefusalNamesTheInputThatTheAxesComeFrom) {
  TwoInputOperator model({2, 3, 4});
  const int32_t axes = model.writer.AddTensor({"axes", {2}, wire::TensorType_INT32});
  model.writer.AddOperator(101, {model.indices}, {axes});
  model.writer.AddOperator(74, {model.x, axes}, {model.y});
  const Result<Graph> graph = model.Read({model.y});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->nodes().back().op, Op(UnknownOp{"SUM", "tensor 3 'axes' is computed at run time, from 'indices'"}));
}

TEST(TfliteArgReduce, ResolvesItsAxis) {
  for (const auto& [code, kind] : {std::pair{56, ArgKind::kMax}, std::pair{79, ArgKind::kMin}}) {
    TwoInputOperator model({2, 3, 4}, wire::TensorType_INT64);
    model.writer.AddOperator(code, {model.x, model.writer.AddIntegers({-2})}, {model.y});
    ExpectOpOf(model, ArgReduce{.kind = kind, .axis = 1}, {"x"});
  }
  TwoInputOperator model({2, 3, 4}, wire::TensorType_INT64);
  model.writer.AddOperator(56, {model.x, model.writer.AddIntegers({3})}, {model.y});
  EXPECT_THAT(ReadError(model), HasSubstr("axis 3 does not exist"));
}

TEST(TfliteArgReduce, ItsIndicesHaveTheTypeThatItsOptionsNameWhateverTheFileSaysOfThem) {
  for (const auto& [named, held] : {std::pair{wire::TensorType_INT32, wire::TensorType_INT64},
                                    std::pair{wire::TensorType_INT64, wire::TensorType_INT32}}) {
    TwoInputOperator model({2, 3, 4}, held);
    model.writer.AddOperator(56, {model.x, model.writer.AddIntegers({1})}, {model.y},
                             wire::CreateArgMaxOptions(model.writer.builder(), named));
    const Result<Graph> graph = model.Read({model.y});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const DType expected = named == wire::TensorType_INT32 ? DType::kInt32 : DType::kInt64;
    EXPECT_EQ(graph->value(graph->outputs[0]).desc.dtype, expected);
  }
}

TEST(TfliteTopK, HasTwoOutputs) {
  TwoInputOperator model({2, 9});
  const int32_t positions = model.writer.AddTensor({"positions", {2, 4}, wire::TensorType_INT32});
  model.writer.AddOperator(48, {model.x, model.writer.AddIntegers({4})}, {model.y, positions});
  const Result<Graph> graph = model.Read({model.y, positions});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(std::get<TopK>(graph->nodes()[0].op) == TopK{4});
  EXPECT_EQ(graph->nodes()[0].outputs, graph->outputs);
}

TEST(TfliteTopK, TakesAnInt16K) {
  TwoInputOperator model({2, 9});
  const int32_t k = model.writer.AddConstant<int16_t>({"k", {}, wire::TensorType_INT16}, {3});
  const int32_t positions = model.writer.AddTensor({"positions", {2, 3}, wire::TensorType_INT32});
  model.writer.AddOperator(48, {model.x, k}, {model.y, positions});
  const Result<Graph> graph = model.Read({model.y, positions});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->nodes()[0].op, Op(TopK{3}));
}

TEST(TfliteTopK, RefusesKBeyondTheLastDimensionAndASingleOutput) {
  TwoInputOperator model({2, 9});
  const int32_t positions = model.writer.AddTensor({"positions", {2, 4}, wire::TensorType_INT32});
  model.writer.AddOperator(48, {model.x, model.writer.AddIntegers({10})}, {model.y, positions});
  EXPECT_THAT(ReadError(model), HasSubstr("the 10 largest"));
  TwoInputOperator single({2, 9});
  single.writer.AddOperator(48, {single.x, single.writer.AddIntegers({1})}, {single.y});
  EXPECT_THAT(ReadError(single), HasSubstr("1 outputs"));
}

TEST(TfliteCumSum, KeepsAxisAndFlags) {
  TwoInputOperator model({2, 3, 4});
  model.writer.AddOperator(128, {model.x, model.writer.AddIntegers({-3})}, {model.y},
                           wire::CreateCumsumOptions(model.writer.builder(), true, true));
  ExpectOpOf(model, CumSum{.axis = 0, .exclusive = true, .reverse = true}, {"x"});
}

TEST(TfliteNormalization, KeepsItsNumbers) {
  TwoInputOperator l2({2, 3});
  l2.writer.AddOperator(11, {l2.x}, {l2.y},
                        wire::CreateL2NormOptions(l2.writer.builder(), wire::ActivationFunctionType_RELU));
  ExpectOpOf(l2, L2Normalization{Activation::kRelu}, {"x"});
  TwoInputOperator local({2, 3});
  local.writer.AddOperator(13, {local.x}, {local.y},
                           wire::CreateLocalResponseNormalizationOptions(local.writer.builder(), 3, 2.0f, 0.5f, 0.75f));
  ExpectOpOf(local, LocalResponseNormalization{3, 2.0f, 0.5f, 0.75f}, {"x"});
  TwoInputOperator negative({2, 3});
  negative.writer.AddOperator(13, {negative.x}, {negative.y},
                              wire::CreateLocalResponseNormalizationOptions(negative.writer.builder(), -1, 2.0f));
  EXPECT_THAT(ReadError(negative), HasSubstr("radius -1"));
  TwoInputOperator log({2, 3});
  log.writer.AddOperator(50, {log.x}, {log.y});
  ExpectOpOf(log, LogSoftmax{}, {"x"});
}

TEST(TfliteGather, KeepsAxisAndBatchDims) {
  TwoInputOperator model({2, 3, 4});
  model.writer.AddOperator(36, {model.x, model.indices}, {model.y},
                           wire::CreateGatherOptions(model.writer.builder(), -1, 1));
  ExpectOpOf(model, Gather{.axis = 2, .batch_dims = 1}, {"x", "indices"});
  TwoInputOperator nd({2, 3, 4});
  nd.writer.AddOperator(107, {nd.x, nd.indices}, {nd.y});
  ExpectOpOf(nd, GatherNd{}, {"x", "indices"});
}

TEST(TfliteGather, AnEmbeddingReadsItsTableFirst) {
  TwoInputOperator model({30, 4});
  model.writer.AddOperator(7, {model.indices, model.x}, {model.y});
  ExpectOpOf(model, Gather{.axis = 0}, {"x", "indices"});
}

TEST(TfliteOneHot, LeavesItsDepthOutOfTheInputs) {
  TwoInputOperator model({1});
  const int32_t off = model.writer.AddConstant<float>({"off", {}}, {0.5f});
  model.writer.AddOperator(85, {model.indices, model.writer.AddIntegers({6}), model.x, off}, {model.y},
                           wire::CreateOneHotOptions(model.writer.builder(), -1));
  ExpectOpOf(model, OneHot{.axis = 1, .depth = 6}, {"indices", "x", "off"});
}

// Whoever made memory for the declared bytes had 36 of them written over by a minimum's floats.
TEST(TfliteReduce, OutputsHaveTheTypeThatOperatorsGiveWhateverTheFileDeclares) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {5, 9}});
  const int32_t turned = writer.AddTensor({"turned", {9, 5}});
  const int32_t y = writer.AddTensor({"y", {9}, wire::TensorType_INT8});
  writer.AddOperator(kTranspose, {x, writer.AddIntegers({1, 0})}, {turned});
  writer.AddOperator(kReduceMin, {turned, writer.AddIntegers({1})}, {y});
  const Result<Model> model = Model::FromMemory(writer.Finish({x}, {y}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->outputs()[0].dtype, "float32");
  Result<Session> session = Session::Create(*model, {.device = "cpu", .use_cache = false});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> image(45, -2.5f);
  ASSERT_TRUE(session->SetInput<float>(0, image).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(session->output(0).size(), session->outputs()[0].size_bytes);
  EXPECT_THAT(session->output<float>(0).value(), ::testing::Each(-2.5f));
}

}  // namespace
}  // namespace hearth
