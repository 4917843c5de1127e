// The reader of ONNX files, on files that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/graph/evaluate.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/reader.h"
#include "hearth/model.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Shapes = std::map<std::string, std::vector<int32_t>>;

std::span<const std::byte> BytesOf(const std::string& file) {
  return std::as_bytes(std::span(file));
}

template <typename Kind>
int64_t CountOf(const Graph& graph) {
  return std::ranges::count_if(graph.nodes(), [](const Node& node) { return std::holds_alternative<Kind>(node.op); });
}

std::vector<double> AnswerOf(const Graph& graph, std::vector<ReferenceTensor> inputs) {
  const auto answers = EvaluateGraph(graph, inputs);
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? (*answers)[0].values : std::vector<double>();
}

std::string ErrorOf(const std::string& file, const Shapes& shapes = {}) {
  return ReadOnnxModel(BytesOf(file), {"", shapes}).status().message();
}

// y = conv(relu(conv(x))) over [1,2,4,4], with filters of 1x1.
OnnxGraph TwoConvolutions() {
  OnnxGraph graph;
  graph.Input("x", {"1", "2", "4", "4"}).Output("y");
  graph.Floats("w", {2, 2, 1, 1}, {1, 2, 3, -4});
  graph.Node("Conv", {"x", "w"}, {"a"}).Node("Relu", {"a"}, {"b"}).Node("Conv", {"b", "w"}, {"y"});
  return graph;
}

TEST(OnnxReader, BetweenConvolutionsNothingIsTransposed) {
  const std::string file = OnnxFile(TwoConvolutions());
  const Result<Graph> graph = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(CountOf<Conv2D>(*graph), 2);
  EXPECT_EQ(CountOf<Transpose>(*graph), 2);
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "y");
  EXPECT_EQ(graph->value(graph->nodes()[1].outputs[0]).name, "a");
}

// Of any size: the numbers that MaxPool finds lie in their windows, so that no result looks for its element.
TEST(OnnxReader, WhatMaxPoolFoundIsUnpooledWindowByWindow) {
  OnnxGraph graph;
  graph.Input("x", {"1", "64", "128", "128"}).Output("y");
  const auto sizes = [](const char* name) { return OnnxGraph::Integers(name, {2, 2}); };
  graph.Node("MaxPool", {"x"}, {"most", "places"}, {sizes("kernel_shape"), sizes("strides")});
  graph.Node("MaxUnpool", {"most", "places"}, {"y"}, {sizes("kernel_shape"), sizes("strides")});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(CountOf<MaxUnpool2D>(*read), 1);
}

TEST(OnnxReader, AnInputInTheOrderOfPicturesIsNotTransposed) {
  OnnxGraph graph;
  graph.Input("x", {"1", "4", "4", "2"}).Output("y").Floats("w", {2, 2, 1, 1}, {1, 2, 3, -4});
  graph.Node("Transpose", {"x"}, {"n"}, {OnnxGraph::Integers("perm", {0, 3, 1, 2})}).Node("Conv", {"n", "w"}, {"c"});
  graph.Node("Transpose", {"c"}, {"y"}, {OnnxGraph::Integers("perm", {0, 2, 3, 1})});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(CountOf<Transpose>(*read), 0);
}

TEST(OnnxReader, ReadsFieldsInAnyOrder) {
  std::string file;
  protozero::pbf_writer writer(file);
  writer.add_message(7, TwoConvolutions().bytes());
  std::string set;
  protozero::pbf_writer(set).add_int64(2, 13);
  writer.add_message(8, set);
  writer.add_string(2, "some exporter");
  writer.add_int64(1, 7);
  EXPECT_TRUE(IsOnnxModel(BytesOf(file)));
  EXPECT_TRUE(ReadOnnxModel(BytesOf(file)).ok());
}

TEST(OnnxReader, AFileThatIsCutOffAnywhereIsAnError) {
  const std::string file = OnnxFile(TwoConvolutions());
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string part = file.substr(0, size);
    EXPECT_FALSE(ReadOnnxModel(BytesOf(part)).ok()) << size;
  }
}

TEST(OnnxReader, AFileWithAnyWrongByteIsReadOrRefused) {
  const std::string file = OnnxFile(TwoConvolutions());
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int change : {1, 128, 255}) {
      std::string wrong = file;
      wrong[at] = static_cast<char>(wrong[at] ^ change);
      const Result<Graph> graph = ReadOnnxModel(BytesOf(wrong));
      if (!graph.ok()) continue;
      EXPECT_TRUE(graph->Validate().ok()) << at;
    }
  }
}

TEST(OnnxReader, AnUnknownOperatorIsNamedWithItsNodeAndOthers) {
  OnnxGraph graph;
  graph.Input("x", {"2"}).Output("y").Node("Frob", {"x"}, {"a"}, {}, "own").Node("TfIdfVectorizer", {"a"}, {"y"});
  const std::string error = ErrorOf(OnnxFile(graph));
  EXPECT_THAT(
      error,
      HasSubstr("node 'the_Frob' (own.Frob, opset 1): Hearth does not know this operator: register it as 'own::Frob'"));
  EXPECT_THAT(error, HasSubstr("TfIdfVectorizer (1), own.Frob (1)"));
}

TEST(OnnxReader, NodesWithoutAUseAreNotRead) {
  OnnxGraph graph;
  graph.Input("x", {"2"}).Output("y").Node("Frob", {"x"}, {"a"}).Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ErrorOf(OnnxFile(graph)), "");
}

TEST(OnnxReader, OtherOpsetsAreRefusedWithAWayOut) {
  EXPECT_THAT(ErrorOf(OnnxFile(TwoConvolutions(), 6)), HasSubstr("opset 6; 7 to 25 are known: convert it"));
  EXPECT_THAT(ErrorOf(OnnxFile(TwoConvolutions(), 99)), HasSubstr("opset 99"));
}

TEST(OnnxReader, ADimensionThatHasANameIsThatOfAllInputs) {
  OnnxGraph graph;
  graph.Input("a", {"batch", "3"}).Input("b", {"batch", "3"}).Output("y").Node("Add", {"a", "b"}, {"y"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file), {"", {{"a", {4, 3}}}});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->value(read->inputs[1]).desc.shape, (Shape{4, 3}));
  EXPECT_THAT(ErrorOf(file, {{"a", {4, 3}}, {"b", {5, 3}}}), HasSubstr("dimension 'batch' the sizes 4 and 5"));
  EXPECT_THAT(ErrorOf(file, {{"c", {4, 3}}}), HasSubstr("which is not an input of the model; it has 'a', 'b'"));
  EXPECT_THAT(ErrorOf(file, {{"a", {4}}}), HasSubstr("does not fit input 'a', which the file declares as -1x3"));
}

TEST(OnnxReader, ADimensionIsChosenByItsName) {
  OnnxGraph graph;
  graph.Input("x", {"batch", "3"}).Input("y", {"1", "width"}).Output("z").Node("Add", {"x", "y"}, {"z"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file), {.dimensions = {{"batch", 4}, {"width", 3}}});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->value(read->outputs[0]).desc.shape, (Shape{4, 3}));
  const Result<Graph> of_shape =
      ReadOnnxModel(BytesOf(file), {.input_shapes = {{"x", {2, 3}}}, .dimensions = {{"batch", 4}}});
  ASSERT_TRUE(of_shape.ok()) << of_shape.status().message();
  EXPECT_EQ(of_shape->value(of_shape->outputs[0]).desc.shape, (Shape{2, 3}));
  EXPECT_THAT(ReadOnnxModel(BytesOf(file), {.dimensions = {{"height", 4}}}).status().message(),
              HasSubstr("no open dimension of an input is called 'height'; there are 'batch', 'width'"));
}

TEST(OnnxReader, NodesThatStandBeforeWhatTheyReadAreReadAfterIt) {
  OnnxGraph body, graph;
  body.Output("b").Node("Neg", {"late"}, {"b"});
  graph.Input("x", {"2"}).Input("c", {}, 9).Output("y");
  graph.Node("If", {"c"}, {"y"}, {OnnxGraph::Subgraph("then_branch", body), OnnxGraph::Subgraph("else_branch", body)});
  graph.Node("Abs", {"x"}, {"late"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->nodes()[0].source_index, 1);
}

TEST(OnnxReader, BoxesThatAreTakenAreAsManyRowsAsAnotherOutputSays) {
  OnnxGraph graph;
  graph.Input("boxes", {"1", "3", "4"}).Input("scores", {"1", "1", "3"}).Output("taken", 7).Output("corners");
  graph.Int64s("most", {1}, {3}).Floats("overlap", {1}, {0.5f}).Int64s("ends", {2}, {0, 2});
  graph.Node("NonMaxSuppression", {"boxes", "scores", "most", "overlap"}, {"taken"});
  graph.Node("Gather", {"taken", "ends"}, {"place"}, {OnnxGraph::Integer("axis", 1)});
  graph.Node("GatherND", {"boxes", "place"}, {"corners"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->outputs.size(), 4u);
  EXPECT_EQ(read->value(read->outputs[3]).name, "corners_rows");
  // The second box is the first one again.
  const std::vector<ReferenceTensor> inputs = {{{1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6}},
                                               {{1, 1, 3}, {0.5, 0.5, 0.75}}};
  const auto answers = EvaluateGraph(*read, inputs);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[2].values, ElementsAre(2));
  EXPECT_THAT(std::span((*answers)[0].values).first(6), ElementsAre(0, 0, 2, 0, 0, 0));
  EXPECT_THAT(std::span((*answers)[1].values).first(8), ElementsAre(5, 5, 6, 6, 0, 0, 1, 1));

  graph.Int64s("rows", {1}, {0}).Output("all");
  graph.Node("CumSum", {"corners", "rows"}, {"all"}, {OnnxGraph::Integer("reverse", 1)});
  EXPECT_THAT(ErrorOf(OnnxFile(graph)), HasSubstr("number of rows of an operand, which depends on data"));
}

TEST(OnnxReader, NumbersThatAnAttributeCannotHaveAreErrors) {
  OnnxGraph boxes;
  boxes.Input("boxes", {"1", "3", "4"}).Input("scores", {"1", "1", "3"}).Output("taken", 7);
  boxes.Node("NonMaxSuppression", {"boxes", "scores"}, {"taken"}, {OnnxGraph::Integer("center_point_box", 2)});
  EXPECT_THAT(ErrorOf(OnnxFile(boxes)), HasSubstr("center_point_box=2"));
  for (const std::string name : {"is_causal", "left_window_size"}) {
    OnnxGraph attention;
    attention.Input("x", {"1", "2", "3", "4"}).Output("y");
    attention.Node("Attention", {"x", "x", "x"}, {"y"}, {OnnxGraph::Integer(name, -2)});
    EXPECT_THAT(ErrorOf(OnnxFile(attention)), HasSubstr("-2")) << name;
  }
}

TEST(OnnxReader, AJoinedActivationWithoutItsNumbersIsAnError) {
  OnnxGraph graph;
  graph.Input("x", {"1", "2", "4", "4"}).Output("y").Floats("w", {1, 2, 1, 1}, {1, 2});
  graph.Node("FusedConv", {"x", "w"}, {"y"}, {OnnxGraph::Word("activation", "Clip")}, "com.microsoft");
  EXPECT_THAT(ErrorOf(OnnxFile(graph)), HasSubstr("the activation 'Clip' with 0 numbers"));
}

TEST(OnnxReader, ASequenceIsNoLongerThanItsSteps) {
  for (const auto& [length, is_fine] : {std::pair(2, true), {0, true}, {3, false}, {-1, false}}) {
    OnnxGraph graph;  // of 2 steps
    graph.Input("x", {"2", "1", "1"})
        .Output("y")
        .Floats("w", {1, 4, 1}, {1, 2, 3, 4})
        .Floats("r", {1, 4, 1}, {1, 2, 3, 4});
    graph.Stored("lengths", {1}, 6, std::string_view(reinterpret_cast<const char*>(&length), sizeof length));
    graph.Node("LSTM", {"x", "w", "r", "", "lengths"}, {"y"}, {OnnxGraph::Integer("hidden_size", 1)});
    EXPECT_EQ(ErrorOf(OnnxFile(graph)).empty(), is_fine) << length << ErrorOf(OnnxFile(graph));
  }
}

TEST(OnnxReader, AConstantConditionTakesItsBranchAlone) {
  OnnxGraph then_branch, else_branch, graph;
  then_branch.Output("t").Node("Neg", {"x"}, {"t"});
  else_branch.Output("e").Node("Frob", {"x"}, {"e"}, {}, "own");
  graph.Input("x", {"2"}).Output("y").Int64s("five", {}, {5}).Int64s("six", {}, {6});
  graph.Node("Less", {"five", "six"}, {"c"});
  graph.Node("If", {"c"}, {"y"},
             {OnnxGraph::Subgraph("then_branch", then_branch), OnnxGraph::Subgraph("else_branch", else_branch)});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_THAT(AnswerOf(*read, {{{2}, {1, -2}}}), ElementsAre(-1, 2));
}

TEST(OnnxReader, NodesWithoutOutputsInABranchAreNotRead) {
  OnnxGraph then_branch, else_branch, graph;
  then_branch.Output("t").Node("Split", {"x"}, {}).Node("Constant", {}, {}).Node("Neg", {"x"}, {"t"});
  else_branch.Output("e").Node("Abs", {"x"}, {"e"});
  graph.Input("x", {"2"}).Input("c", {}, 9).Output("y");
  graph.Node("If", {"c"}, {"y"},
             {OnnxGraph::Subgraph("then_branch", then_branch), OnnxGraph::Subgraph("else_branch", else_branch)});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_THAT(AnswerOf(*read, {{{2}, {1, -2}}, {{}, {1}}}), ElementsAre(-1, 2));
}

// Doubles x while a number below the limit counts up.
OnnxGraph Doubling(const std::string& limit) {
  OnnxGraph body, graph;
  body.Input("n", {}, 7).Input("c", {}, 9).Input("v", {"2"}).Output("again", 9).Output("w");
  body.Node("Add", {"v", "v"}, {"w"}).Node("Identity", {"c"}, {"again"});
  graph.Input("x", {"2"}).Output("y");
  if (limit == "given") graph.Input("given", {}, 7);
  graph.Int64s("three", {}, {3});
  graph.Node("Loop", {limit, "", "x"}, {"y"}, {OnnxGraph::Subgraph("body", body)});
  return graph;
}

TEST(OnnxReader, ALoopOfKnownLengthIsWrittenOutAndAnyOtherIsANode) {
  for (const std::string limit : {"three", "given"}) {
    const std::string file = OnnxFile(Doubling(limit));
    const Result<Graph> read = ReadOnnxModel(BytesOf(file));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(CountOf<Loop>(*read), limit == "given" ? 1 : 0);
    std::vector<ReferenceTensor> inputs = {{{2}, {1, 3}}};
    if (limit == "given") inputs.push_back({{}, {3}});
    EXPECT_THAT(AnswerOf(*read, inputs), ElementsAre(8, 24));
  }
}

TEST(OnnxReader, AFunctionOfTheFileIsReadInPlaceOfItsCall) {
  std::string function;
  protozero::pbf_writer writer(function);
  writer.add_string(1, "Twice");
  writer.add_string(4, "v");
  writer.add_string(5, "w");
  writer.add_message(7, OnnxGraph::NodeBytes("Add", {"v", "v"}, {"w"}));
  std::string set;
  protozero::pbf_writer(set).add_int64(2, 17);
  writer.add_message(9, set);
  writer.add_string(10, "own");
  OnnxGraph graph;
  graph.Input("x", {"2"}).Output("y").Node("Twice", {"x"}, {"a"}, {}, "own").Node("Twice", {"a"}, {"y"}, {}, "own");
  const std::string file = OnnxFile(graph, 17, {function});
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_THAT(AnswerOf(*read, {{{2}, {1, 3}}}), ElementsAre(4, 12));
}

TEST(OnnxReader, AnInputOfFloat16IsComputedAsFloat32AndAnOutputKeepsItsType) {
  OnnxGraph graph;
  graph.Input("x", {"2"}, 10).Output("y", 10).Node("Exp", {"x"}, {"y"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesOf(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->value(read->inputs[0]).desc.dtype, DType::kFloat16);
  EXPECT_EQ(read->value(read->outputs[0]).desc.dtype, DType::kFloat16);
  for (const Node& node : read->nodes()) {
    if (!std::holds_alternative<Unary>(node.op)) continue;
    EXPECT_EQ(read->value(node.inputs[0]).desc.dtype, DType::kFloat32);
  }
}

TEST(OnnxReader, AGraphIsRefusedThatReadsWhatNothingMakes) {
  OnnxGraph graph;
  graph.Input("x", {"2"}).Output("y").Node("Add", {"x", "later"}, {"y"}).Node("Neg", {"y"}, {"later"});
  EXPECT_THAT(ErrorOf(OnnxFile(graph)), HasSubstr("'later' is read, which no node before it makes"));
}

TEST(OnnxReader, AWindowThatIsDeeperThanTheVolumeIsRefusedWithGroupsToo) {
  OnnxGraph graph;
  graph.Input("x", {"1", "2", "1", "1", "1"}).Floats("w", {2, 1, 2, 1, 1}, {1, 2, 3, 4}).Output("y");
  graph.Node("Conv", {"x", "w"}, {"y"}, {OnnxGraph::Integer("group", 2), OnnxGraph::Integers("strides", {3, 1, 1})});
  EXPECT_THAT(ErrorOf(OnnxFile(graph)), HasSubstr("a window of 2 planes, 1 apart, on 1 of 1x1x1x1x2"));
}

TEST(OnnxReader, EachOperatorIsNamedInTheDocumentation) {
  std::ifstream file(SourceFolder() / "docs/operators.md");
  std::string page{std::istreambuf_iterator<char>(file), {}};
  page.erase(0, page.find("## ONNX files"));
  std::ranges::replace(page, '\n', ' ');
  for (const onnx::OperatorList* list : onnx::kOperatorLists) {
    for (const onnx::OperatorRow& row : *list) {
      EXPECT_THAT(page, ::testing::ContainsRegex("[ :]" + std::string(row.name) + "[,.]")) << row.name;
    }
  }
}

// ---- Weights in other files ----

class OnnxWeightFiles : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string ModelWith(const std::string& file, int64_t offset = 4) {
    OnnxGraph graph;
    graph.Input("x", {"2"}).Output("y").External("w", {2}, file, offset).Node("Mul", {"x", "w"}, {"y"});
    return Write("m.onnx", OnnxFile(graph));
  }
  TemporaryFolder folder_;
};

TEST_F(OnnxWeightFiles, AreMappedBehindTheModelAndPartOfItsFingerprint) {
  const float weights[] = {9, 2, 3};
  const std::string content(reinterpret_cast<const char*>(weights), sizeof(weights));
  Write("w.data", content);
  const std::string path = ModelWith("w.data");
  const Result<Model> model = Model::FromFile(path);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string before = model->fingerprint();
  Write("w.data", content.substr(0, 11) + "!");
  const Result<Model> changed = Model::FromFile(path);
  ASSERT_TRUE(changed.ok()) << changed.status().message();
  EXPECT_NE(changed->fingerprint(), before);
}

TEST_F(OnnxWeightFiles, ThatLieElsewhereAreMissingOrTooShortAreErrors) {
  const auto error = [&](const std::string& file, int64_t offset = 4) {
    return Model::FromFile(ModelWith(file, offset)).status().message();
  };
  EXPECT_THAT(error("none.data"), HasSubstr("no file 'none.data' beside it"));
  EXPECT_THAT(error("../w.data"), HasSubstr("'../w.data', which is not within its folder"));
  EXPECT_THAT(error("/etc/hostname"), HasSubstr("'/etc/hostname', which is not within its folder"));
  Write("short.data", "0123456789");
  EXPECT_THAT(error("short.data"), HasSubstr("its bytes 4 to 12 lie outside of 'short.data', which has 10"));
  std::filesystem::create_symlink("/etc/hostname", folder_.path() / "link.data");
  EXPECT_THAT(error("link.data"), HasSubstr("its weights in 'link.data' lie outside of its folder"));
}

TEST(OnnxReader, DeformableWindowsWithMoreTapsThanAnIndexHoldsAreRefused) {
  OnnxGraph graph;
  graph.Input("x", {"1", "1", "8", "8"}).Input("w", {"1", "1", "65536", "65536"}).Input("o", {"1", "8", "1", "1"});
  graph.Output("y");
  graph.Node("DeformConv", {"x", "w", "o"}, {"y"}, {OnnxGraph::Integers("pads", {32768, 32768, 32768, 32768})});
  EXPECT_THAT(ErrorOf(OnnxFile(graph, 19)), HasSubstr("windows of 65536 x 65536 elements"));
}

}  // namespace
}  // namespace hearth
