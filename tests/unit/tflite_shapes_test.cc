// Shapes that a file leaves open, the constants that are computed from shapes, and signatures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "hearth/session.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Graph Read(const std::vector<std::byte>& bytes, const ReadOptions& options = {}) {
  Result<Graph> graph = ReadTfliteModel(bytes, options);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(graph).value() : Graph();
}

// A convolution and a mean over an image of any size; the file's own size is 1x1, as converters write it.
std::vector<std::byte> ImageModel(bool with_signature = true) {
  TfliteWriter writer;
  const std::vector<int32_t> open = {-1, -1, -1, 2};
  const int32_t x = writer.AddTensor({.name = "image", .shape = {1, 1, 1, 2}, .shape_signature = open});
  const int32_t w = writer.AddConstant<float>({"w", {3, 3, 3, 2}}, std::vector<float>(54, 0.5f));
  const int32_t features =
      writer.AddTensor({.name = "features", .shape = {1, 1, 1, 3}, .shape_signature = {-1, -1, -1, 3}});
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 3}, .shape_signature = {-1, 3}});
  writer.AddOperator(kConv2D, {x, w}, {features},
                     wire::CreateConv2DOptions(writer.builder(), wire::Padding_SAME, 2, 2));
  writer.AddOperator(kMean, {features, writer.AddIntegers({1, 2})}, {y});
  if (with_signature) writer.AddSignature("serve", 0, {{"picture", x}}, {{"scores", y}});
  return writer.Finish({x}, {y});
}

TEST(TfliteShapes, TheFilesOwnSizesHoldWhereNoneAreGiven) {
  Graph graph = Read(ImageModel());
  EXPECT_EQ(graph.value(graph.inputs[0]).desc.shape, (Shape{1, 1, 1, 2}));
  EXPECT_EQ(graph.value(graph.outputs[0]).desc.shape, (Shape{1, 3}));
  EXPECT_TRUE(InferShapes(graph).ok());
}

TEST(TfliteShapes, AGivenInputShapeDecidesAllOthers) {
  Graph graph = Read(ImageModel(), {.input_shapes = {{"image", {2, 9, 5, 2}}}});
  EXPECT_EQ(graph.value(graph.nodes()[0].outputs[0]).desc.shape, (Shape{2, 5, 3, 3}));
  EXPECT_EQ(graph.value(graph.outputs[0]).desc.shape, (Shape{2, 3}));
  EXPECT_TRUE(InferShapes(graph).ok());
}

TEST(TfliteShapes, TheSignaturesNameOfAnInputServesToo) {
  const Graph graph = Read(ImageModel(), {.input_shapes = {{"picture", {1, 4, 4, 2}}}});
  EXPECT_EQ(graph.value(graph.inputs[0]).desc.shape, (Shape{1, 4, 4, 2}));
}

TEST(TfliteShapes, WhatDoesNotFitTheModelIsRefusedWithTheReason) {
  const auto status = [](const std::string& name, const std::vector<int32_t>& shape) {
    return ReadTfliteModel(ImageModel(), {.input_shapes = {{name, shape}}}).status();
  };
  EXPECT_EQ(status("photo", {1, 4, 4, 2}).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status("photo", {1, 4, 4, 2}).message(), HasSubstr("not an input of the model; it has 'image'"));
  EXPECT_THAT(status("image", {4, 4, 2}).message(), HasSubstr("has 4 dimensions, a shape of 3 was given"));
  EXPECT_EQ(status("image", {1, -1, 4, 2}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status("image", {1 << 30, 1 << 30, 1 << 30, 2}).code(), StatusCode::kInvalidArgument);
  // A fixed dimension may be changed, but the filter has its say.
  EXPECT_THAT(status("image", {1, 4, 4, 5}).message(), HasSubstr("operator 0 (CONV_2D)"));
}

TEST(TfliteShapes, AStaticModelTakesAnotherShapeToo) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 4}});
  const int32_t y = writer.AddTensor({"y", {1, 4}});
  writer.AddOperator(kRelu, {x}, {y});
  const Graph graph = Read(writer.Finish({x}, {y}), {.input_shapes = {{"x", {3, 7}}}});
  EXPECT_EQ(graph.value(graph.outputs[0]).desc.shape, (Shape{3, 7}));
}

// y = reshape(x, wanted) of a file where x is 1x2x3.
std::vector<std::byte> FixedReshape(const std::vector<int32_t>& wanted, const std::vector<int32_t>& result) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2, 3}});
  const int32_t y = writer.AddTensor({"y", result});
  writer.AddOperator(kReshape, {x, writer.AddIntegers(wanted)}, {y});
  return writer.Finish({x}, {y});
}

TEST(TfliteShapes, AReshapeThatKeepsTheFilesBatchKeepsTheChosenOne) {
  const Graph graph = Read(FixedReshape({1, 6}, {1, 6}), {.input_shapes = {{"x", {8, 2, 3}}}});
  EXPECT_EQ(graph.value(graph.outputs[0]).desc.shape, (Shape{8, 6}));
  const auto status = [](const std::vector<std::byte>& bytes, const std::vector<int32_t>& shape) {
    return ReadTfliteModel(bytes, {.input_shapes = {{"x", shape}}}).status();
  };
  EXPECT_FALSE(status(FixedReshape({6, 1}, {6, 1}), {8, 2, 3}).ok()) << "it does not keep the batch";
  EXPECT_FALSE(status(FixedReshape({1, 6}, {1, 6}), {8, 2, 4}).ok()) << "more than the batch has changed";
  const Graph open = Read(FixedReshape({1, -1}, {1, 6}), {.input_shapes = {{"x", {8, 2, 3}}}});
  EXPECT_EQ(open.value(open.outputs[0]).desc.shape, (Shape{1, 48})) << "what the interpreter makes of it";
}

TEST(TfliteShapes, AShapeThatIsComputedFromAnotherIsConstant) {
  // y = reshape(x, shape(z)), as converters write it for open shapes.
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({.name = "x", .shape = {1, 6}, .shape_signature = {-1, 6}});
  const int32_t z = writer.AddTensor({.name = "z", .shape = {1, 2, 3}, .shape_signature = {-1, 2, 3}});
  const int32_t shape = writer.AddTensor({"shape", {3}, wire::TensorType_INT32});
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 2, 3}, .shape_signature = {-1, 2, 3}});
  const int32_t sum = writer.AddTensor({.name = "sum", .shape = {1, 2, 3}, .shape_signature = {-1, 2, 3}});
  writer.AddOperator(kShape, {z}, {shape});
  writer.AddOperator(kReshape, {x, shape}, {y});
  writer.AddOperator(kAdd, {y, z}, {sum});
  Graph graph = Read(writer.Finish({x, z}, {sum}), {.input_shapes = {{"x", {5, 6}}, {"z", {5, 2, 3}}}});
  ASSERT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(graph.nodes()[0].op, Op(Reshape{{5, 2, 3}}));
  EXPECT_TRUE(InferShapes(graph).ok());
}

TEST(TfliteShapes, AShapeMayComeOverSlicesAndPacks) {
  // y = reshape(x, pack(shape(x)[0], -1)): flattening as TensorFlow writes it for an open batch.
  TfliteWriter writer;
  const std::vector<int32_t> open = {-1, 4, 3};
  const int32_t x = writer.AddTensor({.name = "x", .shape = {1, 4, 3}, .shape_signature = open});
  const int32_t shape = writer.AddTensor({"shape", {3}, wire::TensorType_INT32});
  const int32_t batch = writer.AddTensor({"batch", {}, wire::TensorType_INT32});
  const int32_t rest = writer.AddConstant<int32_t>({"rest", {}, wire::TensorType_INT32}, {-1});
  const int32_t wanted = writer.AddTensor({"wanted", {2}, wire::TensorType_INT32});
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 1}, .shape_signature = {-1, -1}});
  writer.AddOperator(kShape, {x}, {shape});
  const std::vector<int32_t> slice = {shape, writer.AddIntegers({0}), writer.AddIntegers({1}), writer.AddIntegers({1})};
  writer.AddOperator(kStridedSlice, slice, {batch},
                     wire::CreateStridedSliceOptions(writer.builder(), 0, 0, 0, 0, /*shrink_axis_mask=*/1));
  writer.AddOperator(kPack, {batch, rest}, {wanted}, wire::CreatePackOptions(writer.builder(), 2, 0));
  writer.AddOperator(kReshape, {x, wanted}, {y});
  const auto bytes = writer.Finish({x}, {y});
  for (const int32_t size : {1, 5}) {
    Graph graph = Read(bytes, {.input_shapes = {{"x", {size, 4, 3}}}});
    ASSERT_EQ(graph.nodes().size(), 1u) << ToText(graph);
    EXPECT_EQ(graph.nodes()[0].op, Op(Reshape{{size, 12}}));
    EXPECT_TRUE(InferShapes(graph).ok());
  }
}

// The constant that the operator's result has become, read by an ADD with something else constant's shape.
std::vector<float> Folded(TfliteWriter& writer, int32_t result, const std::vector<int32_t>& shape) {
  const int32_t x = writer.AddTensor({"x", shape});
  const int32_t y = writer.AddTensor({"y", shape});
  writer.AddCustomOperator("keeps its operands", {x, result}, {y});
  const auto bytes = writer.Finish({x}, {y});
  const Graph graph = Read(bytes);
  EXPECT_EQ(graph.nodes().size(), 1u);
  if (graph.nodes().size() != 1) return {};
  const Result<std::vector<float>> floats = ConstantAsFloats(graph, graph.nodes()[0].inputs[1]);
  EXPECT_TRUE(floats.ok()) << floats.status().message();
  return floats.ok() ? *floats : std::vector<float>();
}

TEST(TfliteShapes, RankFillRangeAndZerosLikeAreConstants) {
  {
    TfliteWriter writer;
    const int32_t z = writer.AddConstant<float>({"z", {1, 2, 1}}, {1, 2});
    const int32_t rank = writer.AddTensor({"rank", {}, wire::TensorType_INT32});
    writer.AddOperator(kRank, {z}, {rank});
    EXPECT_THAT(Folded(writer, rank, {1}), ElementsAre(3));
  }
  {
    TfliteWriter writer;
    const int32_t value = writer.AddConstant<float>({"value", {}}, {2.5f});
    const int32_t filled = writer.AddTensor({"filled", {3}});
    writer.AddOperator(kFill, {writer.AddIntegers({3}), value}, {filled});
    EXPECT_THAT(Folded(writer, filled, {3}), ElementsAre(2.5f, 2.5f, 2.5f));
  }
  {
    TfliteWriter writer;
    const auto number = [&](int64_t n) { return writer.AddConstant<int64_t>({"n", {}, wire::TensorType_INT64}, {n}); };
    const int32_t range = writer.AddTensor({"range", {4}, wire::TensorType_INT64});
    writer.AddOperator(kRange, {number(7), number(0), number(-2)}, {range});
    EXPECT_THAT(Folded(writer, range, {4}), ElementsAre(7, 5, 3, 1));
  }
  {
    TfliteWriter writer;
    const int32_t z = writer.AddConstant<float>({"z", {2}}, {1, 2});
    const int32_t zeros = writer.AddTensor({"zeros", {2}});
    writer.AddOperator(kZerosLike, {z}, {zeros});
    EXPECT_THAT(Folded(writer, zeros, {2}), ElementsAre(0, 0));
  }
}

TEST(TfliteShapes, AnOperatorOfConstantsIsEvaluated) {
  TfliteWriter writer;
  const int32_t a = writer.AddConstant<float>({"a", {2}}, {1, -2});
  const int32_t b = writer.AddConstant<float>({"b", {2}}, {0.5f, 0.5f});
  const int32_t sum = writer.AddTensor({"sum", {2}});
  const int32_t positive = writer.AddTensor({"positive", {2}});
  writer.AddOperator(kAdd, {a, b}, {sum});
  writer.AddOperator(kRelu, {sum}, {positive});
  EXPECT_THAT(Folded(writer, positive, {2}), ElementsAre(1.5f, 0.0f));
}

TEST(TfliteShapes, AShapeMayBeWhatTwoShapesBroadcastTo) {
  // x ** 2 of rank 5 and an open batch, as TensorFlow writes it: the shape of the scalar is an empty list.
  TfliteWriter writer;
  const std::vector<int32_t> here = {1, 2, 3, 3, 4}, open = {-1, 2, 3, 3, 4};
  const int32_t x = writer.AddTensor({.name = "x", .shape = here, .shape_signature = open});
  const int32_t two = writer.AddConstant<float>({"two", {}}, {2.0f});
  const int32_t shape = writer.AddTensor({"shape", {5}, wire::TensorType_INT32});
  const int32_t wanted = writer.AddTensor({"wanted", {5}, wire::TensorType_INT32});
  const int32_t twos = writer.AddTensor({.name = "twos", .shape = here, .shape_signature = open});
  const int32_t y = writer.AddTensor({.name = "y", .shape = here, .shape_signature = open});
  writer.AddOperator(kShape, {x}, {shape});
  writer.AddOperator(kBroadcastArgs, {shape, writer.AddTensor({"none", {0}, wire::TensorType_INT32})}, {wanted});
  writer.AddOperator(kBroadcastTo, {two, wanted}, {twos});
  writer.AddOperator(kPow, {x, twos}, {y});
  Graph graph = Read(writer.Finish({x}, {y}), {.input_shapes = {{"x", {7, 2, 3, 3, 4}}}});
  ASSERT_EQ(graph.nodes().size(), 1u) << ToText(graph);
  EXPECT_EQ(graph.value(graph.outputs[0]).desc.shape, (Shape{7, 2, 3, 3, 4}));
  EXPECT_TRUE(InferShapes(graph).ok());
}

TEST(TfliteShapes, ShapesThatDoNotBroadcastAreRefused) {
  TfliteWriter writer;
  const int32_t wanted = writer.AddTensor({"wanted", {2}, wire::TensorType_INT32});
  const int32_t y = writer.AddTensor({"y", {2}, wire::TensorType_INT32});
  writer.AddOperator(kBroadcastArgs, {writer.AddIntegers({2, 3}), writer.AddIntegers({4})}, {wanted});
  writer.AddOperator(kAdd, {wanted, wanted}, {y});
  EXPECT_THAT(ReadTfliteModel(writer.Finish({}, {y})).status().message(), HasSubstr("sizes 3 and 4 do not broadcast"));
}

TEST(TfliteShapes, AShapeMayComeOverListsThatAreEmpty) {
  // y = reshape(x, concat(shape(x)[2:2], [product(shape(x)[2:2]), 6])): how products over chosen axes are written.
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2, 3}});
  const int32_t shape = writer.AddTensor({"shape", {2}, wire::TensorType_INT32});
  const int32_t none = writer.AddTensor({"none", {0}, wire::TensorType_INT32});
  const int32_t product = writer.AddTensor({"product", {1}, wire::TensorType_INT32});
  const int32_t wanted = writer.AddTensor({"wanted", {2}, wire::TensorType_INT32});
  const int32_t y = writer.AddTensor({"y", {1, 6}});
  writer.AddOperator(kShape, {x}, {shape});
  const int32_t end = writer.AddIntegers({2});
  writer.AddOperator(kStridedSlice, {shape, end, end, writer.AddIntegers({1})}, {none});
  writer.AddOperator(kReduceProd, {none, writer.AddIntegers({0})}, {product},
                     wire::CreateReducerOptions(writer.builder(), /*keep_dims=*/true));
  writer.AddOperator(kConcatenation, {none, product, writer.AddIntegers({6})}, {wanted},
                     wire::CreateConcatenationOptions(writer.builder(), 0));
  writer.AddOperator(kReshape, {x, wanted}, {y});
  const Graph graph = Read(writer.Finish({x}, {y}));
  ASSERT_EQ(graph.nodes().size(), 1u) << ToText(graph);
  EXPECT_EQ(graph.nodes()[0].op, Op(Reshape{{1, 6}}));
}

TEST(TfliteShapes, AProductOfConstantsIsEvaluated) {
  TfliteWriter writer;
  const int32_t a = writer.AddConstant<float>({"a", {1, 2}}, {1, 2});
  const int32_t w = writer.AddConstant<float>({"w", {2, 2}}, {3, 4, 5, 6});
  const int32_t product = writer.AddTensor({"product", {1, 2}});
  writer.AddOperator(kFullyConnected, {a, w}, {product});
  EXPECT_THAT(Folded(writer, product, {1, 2}), ElementsAre(11.0f, 17.0f));
}

TEST(TfliteShapes, ARangeWithoutAnEndIsRefused) {
  TfliteWriter writer;
  const int32_t zero = writer.AddConstant<float>({"0", {}}, {0.0f});
  const int32_t one = writer.AddConstant<float>({"1", {}}, {1.0f});
  const int32_t range = writer.AddTensor({"range", {1}});
  const int32_t y = writer.AddTensor({"y", {1}});
  writer.AddOperator(kRange, {zero, one, zero}, {range});
  writer.AddOperator(kRelu, {range}, {y});
  EXPECT_THAT(ReadTfliteModel(writer.Finish({}, {y})).status().message(), HasSubstr("has no end"));
}

TEST(TfliteShapes, AHugeFillIsNotMade) {
  TfliteWriter writer;
  const int32_t value = writer.AddConstant<float>({"value", {}}, {1.0f});
  const int32_t filled = writer.AddTensor({"filled", {32768, 32768}});
  const int32_t y = writer.AddTensor({"y", {32768, 32768}});
  writer.AddOperator(kFill, {writer.AddIntegers({32768, 32768}), value}, {filled});
  writer.AddOperator(kRelu, {filled}, {y});
  const Graph graph = Read(writer.Finish({}, {y}));
  EXPECT_EQ(graph.nodes().size(), 2u);  // FILL is left as an operator that Hearth can't run
}

TEST(TfliteInterface, TellsDeclaredShapesAliasesAndSignatures) {
  const Result<ModelInterface> interface = ReadTfliteInterface(ImageModel());
  ASSERT_TRUE(interface.ok()) << interface.status().message();
  EXPECT_EQ(interface->signature, "serve");
  EXPECT_THAT(interface->signatures, ElementsAre("serve"));
  EXPECT_EQ(interface->inputs.at(0).name, "image");
  EXPECT_EQ(interface->inputs.at(0).alias, "picture");
  EXPECT_THAT(interface->inputs.at(0).shape, ElementsAre(-1, -1, -1, 2));
  EXPECT_TRUE(interface->inputs.at(0).IsDynamic());
  EXPECT_EQ(interface->outputs.at(0).alias, "scores");
}

// ---- The public interface ----

// "double" gives x + x, "rectify" relu(x).
std::vector<std::byte> TwoFunctions() {
  TfliteWriter writer;
  for (const bool is_first : {true, false}) {
    const int32_t x = writer.AddTensor({"x", {2}});
    const int32_t y = writer.AddTensor({"y", {2}});
    if (is_first) writer.AddOperator(kAdd, {x, x}, {y});
    if (!is_first) writer.AddOperator(kRelu, {x}, {y});
    writer.EndSubgraph({x}, {y});
    writer.AddSignature(is_first ? "double" : "rectify", is_first ? 0 : 1, {{"in", x}}, {{"out", y}});
  }
  return writer.FinishFile();
}

std::vector<float> RunOnce(const Model& model, const std::string& input, const std::vector<float>& x) {
  Result<Session> session = Session::Create(model, {.device = "cpu", .use_cache = false});
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return {};
  const Status set = session->SetInput(input, std::as_bytes(std::span(x)));
  EXPECT_TRUE(set.ok()) << set.message();
  const Status ran = session->Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  std::vector<float> y(session->output(0).size() / sizeof(float));
  std::memcpy(y.data(), session->output(0).data(), session->output(0).size());
  return y;
}

TEST(Model, RunsTheFunctionThatASignatureNames) {
  const std::vector<std::byte> bytes = TwoFunctions();
  const std::vector<std::pair<std::string, float>> expected = {{"", -2}, {"double", -2}, {"rectify", 0}};
  for (const auto& [signature, y] : expected) {
    const Result<Model> model = Model::FromMemory(bytes, "two", {.signature = signature});
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_THAT(model->signatures(), ElementsAre("double", "rectify"));
    EXPECT_THAT(RunOnce(*model, "in", {-1, 3}), ElementsAre(y, y == 0 ? 3 : 6));
  }
  EXPECT_THAT(Model::FromMemory(bytes, "two", {.signature = "fly"}).status().message(),
              HasSubstr("no signature 'fly'; it has: double, rectify"));
}

TEST(Model, RunsWithTheShapeThatItWasOpenedWith) {
  const Result<Model> model = Model::FromMemory(ImageModel(), "image", {.input_shapes = {{"picture", {1, 4, 4, 2}}}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(model->inputs()[0].shape, ElementsAre(1, 4, 4, 2));
  EXPECT_THAT(model->inputs()[0].declared_shape, ElementsAre(-1, -1, -1, 2));
  EXPECT_EQ(model->outputs()[0].alias, "scores");
  EXPECT_EQ(RunOnce(*model, "image", std::vector<float>(32, 1.0f)).size(), 3u);
}

TEST(Session, SaysThatAnOpenShapeMayBeWhatIsWrong) {
  // A convolution without padding has no output for the 1x1 image that the file holds for now.
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({.name = "image", .shape = {1, 1, 1, 1}, .shape_signature = {1, -1, -1, 1}});
  const int32_t w = writer.AddConstant<float>({"w", {1, 3, 3, 1}}, std::vector<float>(9, 1.0f));
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 1, 1, 1}, .shape_signature = {1, -1, -1, 1}});
  writer.AddOperator(kConv2D, {x, w}, {y}, wire::CreateConv2DOptions(writer.builder(), wire::Padding_VALID, 1, 1));
  const Result<Model> model = Model::FromMemory(writer.Finish({x}, {y}));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(Session::Create(*model, {.device = "cpu", .use_cache = false}).status().message(),
              HasSubstr("leaves the shape of input 'image' (1x-1x-1x1) open: choose it with --shape 'image=1x1x1x1'"));
}

TEST(Session, BlamesNoShapeForAnOperatorThatIsNotKnownNorAScalarForBeingOne) {
  for (const bool is_scalar : {true, false}) {
    TfliteWriter writer;
    const int32_t x = is_scalar ? writer.AddTensor({"n", {}})
                                : writer.AddTensor({.name = "n", .shape = {1, 1}, .shape_signature = {1, -1}});
    const int32_t y = writer.AddTensor({"y", {1}});
    writer.AddCustomOperator("FOO", {x}, {y});
    const Result<Model> model = Model::FromMemory(writer.Finish({x}, {y}));
    ASSERT_TRUE(model.ok()) << model.status().message();
    SessionOptions options{.device = "cpu", .use_cache = false};
    EXPECT_THAT(Session::Create(*model, options).status().message(), Not(HasSubstr("leaves the shape")));
  }
}

}  // namespace
}  // namespace hearth
