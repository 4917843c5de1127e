// What is written is what the reader reads.

#include <gtest/gtest.h>

#include "frontends/tflite/model_writer.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"

namespace hearth {
namespace {

// y = softmax(fully_connected(x, weights) * weights' first row), beta 2.
struct Sample {
  Sample() : weights(64 * 64, 3.0f) {
    const auto bytes = std::as_bytes(std::span(weights));
    model.name = "sample";
    model.tensors = {{.name = "x", .shape = {1, 64}},
                     {.name = "weights", .shape = {64, 64}, .data = bytes},
                     {.name = "same weights", .shape = {64, 64}, .data = bytes},
                     {.name = "row", .shape = {64}, .data = bytes.first(64 * sizeof(float))},
                     {.name = "dense", .shape = {1, 64}},
                     {.name = "scaled", .shape = {1, 64}},
                     {.name = "y", .shape = {1, 64}}};
    model.operators = {{.code = kFullyConnected, .inputs = {0, 1}, .outputs = {4}},
                       {.code = kMul, .inputs = {4, 3}, .outputs = {5}},
                       {.code = kSoftmax,
                        .inputs = {5},
                        .outputs = {6},
                        .options_type = 9,
                        .options = {{.field = 0, .kind = OptionToWrite::Kind::kFloat, .real = 2.0f}}}};
    model.inputs = {0};
    model.outputs = {6};
  }

  std::vector<float> weights;
  ModelToWrite model;
};

TEST(ModelWriter, WhatItWritesIsRead) {
  const Sample sample;
  const Result<WrittenModel> written = WriteModel(sample.model);
  ASSERT_TRUE(written.ok()) << written.status().message();
  const Result<Graph> graph = ReadTfliteModel(written->bytes());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->name, "sample");
  ASSERT_EQ(graph->nodes().size(), 3U);
  EXPECT_EQ(std::get<Softmax>(graph->nodes()[2].op).beta, 2.0f);
  const ValueId filter = graph->nodes()[0].inputs[1];
  ASSERT_TRUE(graph->IsConstant(filter));
  const std::span<const std::byte> bytes = graph->ConstantBytes(filter);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), std::as_bytes(std::span(sample.weights)).begin()));
}

TEST(ModelWriter, TensorsThatShareTheirDataShareTheCopy) {
  Sample sample;
  const size_t shared = WriteModel(sample.model).value().bytes().size();
  const std::vector<float> others = sample.weights;
  sample.model.tensors[2].data = std::as_bytes(std::span(others));
  EXPECT_EQ(WriteModel(sample.model).value().bytes().size(), shared + others.size() * sizeof(float));
}

TEST(ModelWriter, LargeConstantsCanBeZeros) {
  const Sample sample;
  const Result<WrittenModel> written = WriteModel(sample.model, /*most_copied_bytes=*/256);
  ASSERT_TRUE(written.ok());
  const Result<Graph> graph = ReadTfliteModel(written->bytes());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto first_byte = [&](int node) { return graph->ConstantBytes(graph->nodes()[node].inputs[1])[2]; };
  EXPECT_EQ(first_byte(0), std::byte{0});
  EXPECT_NE(first_byte(1), std::byte{0});
}

TEST(ModelWriter, EqualModelsAreEqualToTheByte) {
  const Sample a, b;
  const WrittenModel first = WriteModel(a.model).value(), second = WriteModel(b.model).value();
  EXPECT_TRUE(std::equal(first.bytes().begin(), first.bytes().end(), second.bytes().begin(), second.bytes().end()));
}

TEST(ModelWriter, KnowsWhichOperandsAreState) {
  EXPECT_TRUE(ChangesVariableInput(16, "", 24, 18));
  EXPECT_FALSE(ChangesVariableInput(16, "", 24, 0));
  EXPECT_TRUE(ChangesVariableInput(16, "", 5, 1));
  EXPECT_FALSE(ChangesVariableInput(kMul, "", 2, 0));
  EXPECT_FALSE(ChangesVariableInput(32, "no such operator", 1, 0));
}

}  // namespace
}  // namespace hearth
