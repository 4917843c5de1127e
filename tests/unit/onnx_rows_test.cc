// ONNX files with rows whose number data make: what their reader makes of ends, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::span<const std::byte> BytesIn(const std::string& file) {
  return std::as_bytes(std::span(file));
}

// Of the n numbers of x[6,2] that are not 0 `places` [2,n], their `rows` [n], `found` [n,2] and `wide` [n,12].
OnnxGraph Rows() {
  OnnxGraph graph;
  graph.Input("x", {"6", "2"}).Int64s("zero", {}, {0}).Int64s("first", {1}, {0}).Int64s("none", {0}, {});
  graph.Int64s("list", {1}, {0}).Int64s("twelve", {2}, {12, -1}).Int64s("rest", {1}, {-1}).Int64s("one", {}, {1});
  graph.Int64s("pads", {2}, {0, -1}).Int64s("from_end", {1}, {-2}).Int64s("large", {1}, {100}).Int64s("five", {1}, {5});
  graph.Int64s("once", {1}, {1}).Int64s("twice", {1}, {2});
  graph.Floats("table", {6, 12}, std::vector<float>(72, 1.0f));
  graph.Node("NonZero", {"x"}, {"places"}).Node("Gather", {"places", "zero"}, {"rows"});
  graph.Node("Gather", {"x", "rows"}, {"found"}).Node("Shape", {"rows"}, {"size"});
  graph.Node("Gather", {"table", "rows"}, {"wide"});
  return graph;
}

Result<Graph> Read(OnnxGraph graph) {
  graph.Output("y", 0);  // of any type
  const std::string file = OnnxFile(graph);
  return ReadOnnxModel(BytesIn(file));
}

TEST(OnnxRows, AnOutputOfTheModelKeepsItsNameBesideTheirCount) {
  OnnxGraph graph;
  graph.Input("x", {"2", "3"}).Output("found", 7).Output("found_columns");
  graph.Node("NonZero", {"x"}, {"found"}).Node("Neg", {"x"}, {"found_columns"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesIn(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->outputs.size(), 3u);
  EXPECT_EQ(read->value(read->outputs[1]).name, "found_columns");
  EXPECT_EQ(read->value(read->outputs[2]).name, "found_columns_2");
}

TEST(OnnxRows, AreColumnsUntilTheyAreTransposed) {
  OnnxGraph graph;
  graph.Input("x", {"2", "3"}).Output("found", 7).Output("kept").Output("sum");
  graph.Node("NonZero", {"x"}, {"found"}).Node("Transpose", {"found"}, {"places"});
  graph.Node("GatherND", {"x", "places"}, {"kept"}).Node("ReduceSum", {"kept"}, {"sum"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(BytesIn(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->outputs.size(), 5u);
  EXPECT_EQ(read->value(read->outputs[3]).name, "found_columns");
  EXPECT_EQ(read->value(read->outputs[4]).name, "kept_rows");
  const std::vector<ReferenceTensor> inputs = {{{2, 3}, {0, 5, 0, 7, 0, 9}}};
  const auto answers = EvaluateGraph(*read, inputs);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT(std::span((*answers)[0].values).first(3), ElementsAre(0, 1, 1));
  EXPECT_THAT(std::span((*answers)[0].values).subspan(6, 3), ElementsAre(1, 0, 2));
  EXPECT_THAT(std::span((*answers)[1].values).first(3), ElementsAre(5, 7, 9));
  EXPECT_THAT((*answers)[2].values, ElementsAre(21));
  EXPECT_THAT((*answers)[3].values, ElementsAre(3));
}

TEST(OnnxRows, WhatTheFirstOnesAreCutFromKeepsAllOfItsOwn) {
  OnnxGraph graph = Rows();
  graph.Node("Relu", {"x"}, {"whole"}).Node("Slice", {"whole", "list", "size", "list"}, {"part"});
  graph.Node("ReduceSum", {"whole", "list"}, {"y"}).Node("ReduceSum", {"part", "list"}, {"of_part"});
  const Result<Graph> read = Read(graph.Output("of_part"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->outputs.size(), 2u);
  const std::vector<ReferenceTensor> inputs = {{{6, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}}};
  const auto answers = EvaluateGraph(*read, inputs);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[0].values, ElementsAre(0, 0));  // four elements are not 0: the first four rows
  EXPECT_THAT((*answers)[1].values, ElementsAre(4, 6));
}

TEST(OnnxRows, AScatterWithoutCoordinatesIsRefused) {
  OnnxGraph graph;
  graph.Input("x", {"2"}).Int64s("nowhere", {2, 0}, {}).Floats("updates", {2, 2}, {5, 6, 7, 8});
  graph.Node("ScatterND", {"x", "nowhere", "updates"}, {"y"});
  EXPECT_THAT(Read(graph).status().message(), HasSubstr("indices without coordinates"));
}

// Steps that need to know where the rows end, or that would make as many rows as there can be.
TEST(OnnxRows, AreRefusedWhereTheirEndCounts) {
  using Step = std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>;
  const std::vector<Step> steps = {
      {"Slice", {"rows", "from_end", "large"}, {}},
      {"Slice", {"rows", "from_end", "five"}, {}},
      {"Pad", {"rows", "pads"}, {}},
      {"Pad", {"rows", "pads"}, {OnnxGraph::Word("mode", "edge")}},
      {"CenterCropPad", {"rows", "five"}, {}},
      {"EyeLike", {"found"}, {}},
      {"Reshape", {"wide", "twelve"}, {}},
  };
  for (const auto& [name, operands, attributes] : steps) {
    OnnxGraph graph = Rows();
    graph.Node(name, operands, {"y"}, attributes);
    EXPECT_THAT(Read(graph).status().message(), HasSubstr("a number of rows that depends on data")) << name;
  }
  OnnxGraph turned = Rows(), behind = Rows();
  turned.Node("Concat", {"rest", "size"}, {"sizes"}, {OnnxGraph::Integer("axis", 0)});
  turned.Node("Reshape", {"wide", "sizes"}, {"y"});  // [-1, n]: no row stays one
  EXPECT_THAT(Read(turned).status().message(), HasSubstr("a number of rows that depends on data"));
  behind.Node("Sub", {"size", "twice"}, {"fewer"}).Node("Min", {"fewer", "five"}, {"end"});
  behind.Node("Slice", {"x", "list", "end"}, {"y"});  // an end below 0 counts from behind
  EXPECT_THAT(Read(behind).status().message(), HasSubstr("a number of rows that depends on data"));
  OnnxGraph reshaped = Rows(), table = Rows();
  reshaped.Node("Concat", {"size", "rest"}, {"sizes"}, {OnnxGraph::Integer("axis", 0)});
  reshaped.Node("Reshape", {"x", "sizes"}, {"y"});  // x has all of its rows
  EXPECT_THAT(Read(reshaped).status().message(), HasSubstr("a number of rows that depends on data"));
  table.Node("NonZero", {"found"}, {"others"}).Node("Shape", {"others"}, {"its_size"});
  table.Node("Slice", {"its_size", "once", "twice"}, {"width"});
  table.Node("Concat", {"once", "width"}, {"sizes"}, {OnnxGraph::Integer("axis", 0)});
  table.Node("Unsqueeze", {"rows", "once"}, {"column"}).Node("Expand", {"column", "sizes"}, {"y"});
  EXPECT_THAT(Read(table).status().message(), HasSubstr("a number of rows that depends on data"));
}

TEST(OnnxRows, AnInputThatDecidesASizeIsNamedWithTheOptionThatFixesIt) {
  OnnxGraph graph;
  graph.Input("n", {"1"}, 7).Output("y");
  graph.Node("Abs", {"n"}, {"size"}).Node("ConstantOfShape", {"size"}, {"y"});
  EXPECT_THAT(Read(graph).status().message(),
              HasSubstr("'size' is computed at run time, from 'n'; if 'n' always holds the same, fix it (--constant"));
}

TEST(OnnxRows, NumbersThatAreNoNumberOfRowsAreErrors) {
  OnnxGraph range = Rows();  // an index into a list of none was read once
  range.Node("Gather", {"size", "none"}, {"end"}).Node("Range", {"zero", "end", "one"}, {"y"});
  EXPECT_FALSE(Read(range).ok());
  OnnxGraph part = Rows();  // 0 1 2, not as many as the whole number below
  part.Floats("half", {1}, {2.5}).Floats("start", {}, {0}).Floats("step", {}, {1});
  part.Node("Cast", {"size"}, {"real"}, {OnnxGraph::Integer("to", 1)}).Node("Min", {"real", "half"}, {"end"});
  part.Node("Range", {"start", "end", "step"}, {"y"});
  EXPECT_FALSE(Read(part).ok());
}

TEST(OnnxRows, NoneAtMostHaveASize) {
  OnnxGraph graph = Rows();
  graph.Node("Min", {"size", "first"}, {"k"}).Node("TopK", {"rows", "k"}, {"best", "their_places"});
  graph.Node("Size", {"best"}, {"y"});
  const Result<Graph> read = Read(graph);
  ASSERT_TRUE(read.ok()) << read.status().message();
}

TEST(OnnxRows, SizesThatHaveALimitDoNotMakeAnInputDecideShapes) {
  OnnxGraph graph = Rows();
  graph.Node("ConstantOfShape", {"size"}, {"y"});
  const Result<Graph> read = Read(graph);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_THAT(read->shape_inputs, IsEmpty());
}

TEST(OnnxRows, AnInputWhoseShapeWasChosenStaysOpen) {
  OnnxGraph graph;
  graph.Input("a", {"rows", "3"}).Input("b", {"rows", "3"}).Output("y").Node("Add", {"a", "b"}, {"y"});
  const std::string file = OnnxFile(graph);
  const Result<ModelInterface> interface = ReadOnnxInterface(BytesIn(file), {.input_shapes = {{"a", {4, 3}}}});
  ASSERT_TRUE(interface.ok()) << interface.status().message();
  EXPECT_THAT(interface->inputs[0].shape, ElementsAre(-1, 3));
  EXPECT_THAT(interface->inputs[1].shape, ElementsAre(4, 3));  // as the first one has
}

}  // namespace
}  // namespace hearth
