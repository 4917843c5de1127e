// Tensors, subgraphs and the order of operators: what ReadTfliteModel makes of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TfliteReader, KeepsNamesShapesAndSourceIndices) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"image", {1, 2, 3}});
  const int32_t middle = writer.AddTensor({"", {1, 2, 3}});
  const int32_t y = writer.AddTensor({"scores", {1, 2, 3}});
  writer.AddOperator(kRelu, {x}, {middle});
  writer.AddOperator(kAdd, {middle, middle}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->name, "main");
  EXPECT_EQ(graph->value(graph->inputs.at(0)).name, "image");
  EXPECT_EQ(graph->value(graph->inputs.at(0)).desc.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(graph->value(graph->outputs.at(0)).name, "scores");
  ASSERT_EQ(graph->nodes().size(), 2u);
  EXPECT_EQ(graph->nodes()[1].source_index, 1);
  EXPECT_EQ(graph->value(graph->nodes()[1].inputs[0]).name, "tensor_1");
}

TEST(TfliteReader, BorrowsConstantsWithTheirPlaceInTheFile) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}});
  const int32_t w = writer.AddConstant<float>({"w", {2}}, {1.5f, -2.0f});
  const int32_t y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kAdd, {x, w}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const ValueId value = graph->nodes()[0].inputs[1];
  ASSERT_TRUE(graph->IsConstant(value));
  const Constant& constant = graph->constant(*graph->value(value).constant);
  ASSERT_TRUE(constant.source.has_value());
  EXPECT_EQ(bytes.data() + constant.source->offset_bytes, constant.bytes.data());
  float second;
  std::memcpy(&second, constant.bytes.data() + 4, 4);
  EXPECT_EQ(second, -2.0f);
}

TEST(TfliteReader, FindsConstantsBehindTheFlatbuffer) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}});
  const int32_t w = writer.AddTensorOfBuffer({"w", {1}}, writer.AddBufferOutside(4096, 4));
  const int32_t y = writer.AddTensor({"y", {1}});
  writer.AddOperator(kAdd, {x, w}, {y});
  auto bytes = writer.Finish({x}, {y});
  ASSERT_LT(bytes.size(), 4096u);
  bytes.resize(4100);
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->ConstantBytes(graph->nodes()[0].inputs[1]).data(), bytes.data() + 4096);
}

TEST(TfliteReader, AConstantMayLieAtAnOddOffset) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}}), y = writer.AddTensor({"y", {1}});
  const int32_t w = writer.AddTensorOfBuffer({"w", {1}}, writer.AddBufferOutside(4097, 4));
  writer.AddOperator(kAdd, {x, w}, {y});
  auto bytes = writer.Finish({x}, {y});
  bytes.resize(4101);
  const float number = 2.5f;
  std::memcpy(bytes.data() + 4097, &number, sizeof number);
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Result<std::vector<float>> numbers = ConstantAsFloats(*graph, graph->nodes()[0].inputs[1]);
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->at(0), number);
}

TEST(TfliteReader, RefusesAConstantBehindTheEndOfTheFile) {
  for (const auto& [offset, size] :
       {std::pair<uint64_t, uint64_t>{4096, 4}, {~uint64_t{0} - 3, 8}, {8, ~uint64_t{0}}}) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {1}});
    const int32_t w = writer.AddTensorOfBuffer({"w", {1}}, writer.AddBufferOutside(offset, size));
    const int32_t y = writer.AddTensor({"y", {1}});
    writer.AddOperator(kAdd, {x, w}, {y});
    const auto bytes = writer.Finish({x}, {y});
    const Result<Graph> graph = ReadTfliteModel(bytes);
    EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput);
    EXPECT_THAT(graph.status().message(), HasSubstr("beyond the end of the file"));
  }
}

TEST(TfliteReader, FoldsDequantizeOfAFloat16ConstantIntoAFilter) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}});
  const int32_t half = writer.AddConstant<uint16_t>({"half", {1, 2}, wire::TensorType_FLOAT16}, {0x3c00, 0xc000});
  const int32_t full = writer.AddTensor({"full", {1, 2}});
  const int32_t y = writer.AddTensor({"y", {1, 1}});
  writer.AddOperator(kDequantize, {half}, {full});
  writer.AddOperator(kFullyConnected, {x, full}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 1u);
  EXPECT_EQ(graph->nodes()[0].source_index, 1);
  const ValueId value = graph->nodes()[0].inputs[1];
  EXPECT_EQ(graph->value(value).name, "half");
  EXPECT_EQ(graph->value(value).desc.dtype, DType::kFloat16);
  Result<std::vector<float>> floats = ConstantAsFloats(*graph, value);
  ASSERT_TRUE(floats.ok());
  EXPECT_THAT(*floats, ElementsAre(1.0f, -2.0f));
}

TEST(TfliteReader, GivesAnElementwiseReaderOfAFloat16ConstantOneFloat32Copy) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}});
  const int32_t half = writer.AddConstant<uint16_t>({"half", {2}, wire::TensorType_FLOAT16}, {0x3c00, 0xc000});
  const int32_t full = writer.AddTensor({"full", {2}});
  const int32_t middle = writer.AddTensor({"middle", {2}});
  const int32_t y = writer.AddTensor({"y", {2}});
  writer.AddOperator(kDequantize, {half}, {full});
  writer.AddOperator(kAdd, {x, full}, {middle});
  writer.AddOperator(kAdd, {middle, full}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 2u);
  const ValueId value = graph->nodes()[0].inputs[1];
  EXPECT_EQ(graph->nodes()[1].inputs[1], value);
  EXPECT_EQ(graph->value(value).desc.dtype, DType::kFloat32);
  Result<std::vector<float>> floats = ConstantAsFloats(*graph, value);
  ASSERT_TRUE(floats.ok());
  EXPECT_THAT(*floats, ElementsAre(1.0f, -2.0f));
}

TEST(TfliteReader, KeepsDequantizeWhoseResultIsAModelOutput) {
  TfliteWriter writer;
  const int32_t half = writer.AddConstant<uint16_t>({"half", {1}, wire::TensorType_FLOAT16}, {0x3c00});
  const int32_t y = writer.AddTensor({"y", {1}});
  writer.AddOperator(kDequantize, {half}, {y});
  const auto bytes = writer.Finish({}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->nodes().size(), 1u);
  EXPECT_EQ(graph->value(graph->outputs.at(0)).name, "y");
}

TEST(TfliteReader, ReadsQuantizationPerTensorAndPerChannel) {
  TfliteWriter writer;
  const int32_t x =
      writer.AddTensor({.name = "x", .shape = {2, 3}, .type = wire::TensorType_UINT8, .quantization = {{0.5f}, {128}}});
  const int32_t w = writer.AddTensor(
      {.name = "w", .shape = {2, 3}, .type = wire::TensorType_INT8, .quantization = {{1.0f, 2.0f, 3.0f}, {0}, 1}});
  const int32_t y = writer.AddTensor({"y", {2, 3}});
  writer.AddCustomOperator("any", {x, w}, {y});
  const auto bytes = writer.Finish({x, w}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->value(graph->inputs[0]).desc.quantization, (Quantization{{0.5f}, {128}, 0}));
  EXPECT_EQ(graph->value(graph->inputs[1]).desc.quantization, (Quantization{{1.0f, 2.0f, 3.0f}, {0, 0, 0}, 1}));
}

TEST(TfliteReader, RefusesScalesThatDoNotFitTheShape) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor(
      {.name = "x", .shape = {2, 3}, .type = wire::TensorType_INT8, .quantization = {{1.0f, 2.0f}, {0, 0}, 1}});
  const auto bytes = writer.Finish({x}, {x});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput);
  EXPECT_EQ(graph.status().message(), "tensor 0 'x' of shape 2x3 has 2 quantization scales along dimension 1");
}

TEST(TfliteReader, RefusesZeroPointsThatTheTypeCannotHold) {
  const auto read = [](wire::TensorType type, int64_t zero_point) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor(
        {.name = "x", .shape = {2, 2}, .type = type, .quantization = {{1.0f, 0.5f}, {0, zero_point}, 1}});
    const int32_t y = writer.AddTensor({"y", {2, 2}});
    writer.AddCustomOperator("any", {x}, {y});
    return ReadTfliteModel(writer.Finish({x}, {y})).status();
  };
  struct Case {
    wire::TensorType type;
    int64_t least, most;
  };
  for (const Case& held : {Case{wire::TensorType_INT8, -128, 127}, Case{wire::TensorType_UINT8, 0, 255},
                           Case{wire::TensorType_INT16, -32768, 32767}}) {
    EXPECT_TRUE(read(held.type, held.least).ok()) << held.least;
    EXPECT_TRUE(read(held.type, held.most).ok()) << held.most;
    EXPECT_EQ(read(held.type, held.least - 1).code(), StatusCode::kMalformedInput) << held.least - 1;
    EXPECT_EQ(read(held.type, held.most + 1).code(), StatusCode::kMalformedInput) << held.most + 1;
  }
  EXPECT_EQ(read(wire::TensorType_INT8, -300).message(),
            "tensor 0 'x' of INT8 has the zero point -300; -128 to 127 are possible");
}

TEST(TfliteReader, StateThatIsOnlyReadIsZero) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}});
  const int32_t state = writer.AddTensor({.name = "state", .shape = {3}, .is_variable = true});
  const int32_t y = writer.AddTensor({"y", {1}});
  writer.AddOperator(10, {x, state}, {y});
  const auto bytes = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<std::vector<float>> floats = ConstantAsFloats(*graph, graph->nodes()[0].inputs[1]);
  ASSERT_TRUE(floats.ok()) << floats.status().message();
  EXPECT_THAT(*floats, ElementsAre(0.0f, 0.0f, 0.0f));
}

// Each of the outputs is a copy with the state's name: 10 MB for a file of 100 kB.
TEST(TfliteReader, AStateListedAsManyOutputsDoesNotTakeManyTimesTheFilesSize) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {1, 2}});
  const int32_t features = writer.AddConstant<float>({"", {4, 2}}, std::vector<float>(8, 1.0f));
  const int32_t times = writer.AddConstant<float>({"", {4, 3}}, std::vector<float>(12, 1.0f));
  const int32_t state = writer.AddTensor({.name = std::string(100'000, 's'), .shape = {1, 12}, .is_variable = true});
  // Of an operator that is not taken: others give the output what they make of the state.
  writer.AddOperator(kSvdf, {x, features, times, -1, state}, {y},
                     wire::CreateSVDFOptions(writer.builder(), 2, wire::ActivationFunctionType_SIGN_BIT));
  std::vector<int32_t> outputs(100, state);
  outputs.push_back(y);
  const auto bytes = writer.Finish({x}, outputs);
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput);
  EXPECT_THAT(graph.status().message(), HasSubstr("would copy more than four times the file's size"));
}

TEST(TfliteReader, RefusesAnElementTypeThatHearthCannotHoldAndNamesTheTensor) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"words", {1}, wire::TensorType_STRING});
  const auto bytes = writer.Finish({x}, {x});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  EXPECT_EQ(graph.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(
      graph.status().message(),
      "tensor 0 'words' has the element type STRING, which Hearth cannot hold: do the steps on strings before the "
      "model, or run the model by Hearth's plugin, which leaves to the LiteRT interpreter what Hearth can't run");
}

TEST(TfliteReader, CleansNamesThatAreNotPrintableText) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"a\nb\x7f", {1}});
  const int32_t y = writer.AddTensor({"\xff\xfe-name", {1}});
  const int32_t z =
      writer.AddTensor({"gr\xc3\xb6\xc3\x9f"
                        "e",
                        {1}});
  writer.AddCustomOperator("any", {x}, {y, z});
  const auto bytes = writer.Finish({x}, {y, z});
  Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->value(graph->inputs[0]).name, "a_b_");
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "__-name");
  EXPECT_EQ(graph->value(graph->outputs[1]).name,
            "gr\xc3\xb6\xc3\x9f"
            "e");
}

TEST(TfliteReader, ReadsTheSubgraphOfTheNamedSignature) {
  TfliteWriter writer;
  const int32_t first = writer.AddTensor({"first", {1}});
  writer.EndSubgraph({first}, {first});
  const int32_t second = writer.AddTensor({"second", {1}});
  writer.EndSubgraph({second}, {second});
  writer.AddSignature("train", 0);
  writer.AddSignature("serve", 1);
  const auto bytes = writer.FinishFile();
  Result<Graph> served = ReadTfliteModel(bytes, {.signature = "serve"});
  ASSERT_TRUE(served.ok()) << served.status().message();
  EXPECT_EQ(served->value(served->inputs.at(0)).name, "second");
  const Result<Graph> missing = ReadTfliteModel(bytes, {.signature = "fly"});
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.status().message(), "the model has no signature 'fly'; it has: train, serve");
}

TEST(TfliteReader, FindsASignatureByTheNameThatItShowsForIt) {
  TfliteWriter writer;
  const int32_t first = writer.AddTensor({"first", {1}});
  writer.EndSubgraph({first}, {first});
  writer.AddSignature("se\xff\nrve", 0);
  const auto bytes = writer.FinishFile();
  const Result<ModelInterface> interface = ReadTfliteInterface(bytes, {});
  ASSERT_TRUE(interface.ok()) << interface.status().message();
  EXPECT_EQ(interface->signature, "se__rve");
  EXPECT_TRUE(ReadTfliteModel(bytes, {.signature = interface->signature}).ok());
  EXPECT_TRUE(ReadTfliteModel(bytes, {.signature = "se\xff\nrve"}).ok());
  EXPECT_EQ(ReadTfliteModel(bytes, {.signature = "fl\ny"}).status().message(),
            "the model has no signature 'fl_y'; it has: se__rve");
}

TEST(TfliteReader, RefusesAnotherSchemaVersion) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}});
  writer.EndSubgraph({x}, {x});
  const auto bytes = writer.FinishFile(4);
  EXPECT_EQ(ReadTfliteModel(bytes).status().code(), StatusCode::kUnsupported);
}

TEST(TfliteReader, RefusesBytesThatAreNotAligned) {
  const std::vector<std::byte> bytes(64);
  EXPECT_EQ(ReadTfliteModel(std::span(bytes).subspan(1)).status().code(), StatusCode::kInvalidArgument);
}

TEST(TfliteReader, TheStatesOfABasicLstmBecomeItsOutputsAfterARun) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}});
  const int32_t activation = writer.AddTensor({.name = "activation", .shape = {1, 1}, .is_variable = true});
  const int32_t cell = writer.AddTensor({.name = "cell", .shape = {1, 1}, .is_variable = true});
  const int32_t weights = writer.AddConstant<float>({"weights", {4, 3}}, std::vector<float>(12, 0.5f));
  const int32_t bias = writer.AddConstant<float>({"bias", {4}}, std::vector<float>(4, 0.25f));
  std::vector<int32_t> made;
  for (int32_t width : {1, 1, 3, 4}) made.push_back(writer.AddTensor({fmt::format("made{}", made.size()), {1, width}}));
  writer.AddOperator(
      16, {x, activation, weights, bias, cell}, made,
      wire::CreateLSTMOptions(writer.builder(), wire::ActivationFunctionType_TANH, 0, 0, wire::LSTMKernelType_BASIC));
  const auto bytes = writer.Finish({x}, {made[0], made[1]});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 1u);
  const Node& lstm = graph->nodes()[0];
  ASSERT_EQ(lstm.outputs.size(), 3u);
  const std::vector<StatePair> expected = {{lstm.inputs[1], lstm.outputs[1]}, {lstm.inputs[2], lstm.outputs[2]}};
  EXPECT_EQ(graph->states, expected);
  EXPECT_EQ(graph->outputs, (std::vector<ValueId>{lstm.outputs[0], lstm.outputs[2]}));
  EXPECT_EQ(graph->value(lstm.outputs[2]).name, "made1");
}

// An unrolled network lists the weights of its cell at each step. 200 copies would be far over what a file of 60 kB may
// ask for.
TEST(TfliteReader, StepsThatShareTheirWeightsShareWhatIsMadeOfThem) {
  constexpr int32_t kCells = 32, kSteps = 200;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, kCells}});
  const int32_t weights =
      writer.AddConstant<float>({"weights", {4 * kCells, 2 * kCells}}, std::vector<float>(8 * kCells * kCells, 0.5f));
  const int32_t bias = writer.AddConstant<float>({"bias", {4 * kCells}}, std::vector<float>(4 * kCells, 0.25f));
  int32_t activation = writer.AddTensor({"activation", {1, kCells}}), cell = writer.AddTensor({"cell", {1, kCells}});
  const std::vector<int32_t> inputs = {x, activation, cell};
  for (int step = 0; step < kSteps; ++step) {
    std::vector<int32_t> made;
    for (int32_t width : {kCells, kCells, 2 * kCells, 4 * kCells}) {
      made.push_back(writer.AddTensor({fmt::format("made{}_{}", step, made.size()), {1, width}}));
    }
    writer.AddOperator(
        16, {x, activation, weights, bias, cell}, made,
        wire::CreateLSTMOptions(writer.builder(), wire::ActivationFunctionType_TANH, 0, 0, wire::LSTMKernelType_BASIC));
    activation = made[0];
    cell = made[1];
  }
  const auto bytes = writer.Finish(inputs, {activation});
  const Result<Graph> graph = ReadTfliteModel(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), static_cast<size_t>(kSteps));
  for (const Node& node : graph->nodes()) {
    EXPECT_TRUE(std::equal(node.inputs.begin() + 3, node.inputs.end(), graph->nodes()[0].inputs.begin() + 3));
  }
}

}  // namespace
}  // namespace hearth
