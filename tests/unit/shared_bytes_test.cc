// Constants of a file that share bytes: each may become floats of its own on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "frontends/tflite/reader.h"
#include "hearth/model.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/temporary_folder.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr int kSharedRows = 256, kSharedDepth = 1024;  // 1 MiB of floats each

// `count` layers over the same bytes, each with a scale of its own.
std::vector<std::byte> LayersOfSharedBytes(int count) {
  TfliteWriter writer;
  const std::vector<std::byte> zeros(static_cast<size_t>(kSharedRows) * kSharedDepth / 2);
  const uint32_t buffer = writer.AddBuffer(zeros);
  const int32_t x = writer.AddTensor({"x", {1, kSharedDepth}});
  std::vector<int32_t> results;
  for (int k = 0; k < count; ++k) {
    const WrittenQuantization grid = {.scales = {0.5f + static_cast<float>(k)}, .zero_points = {0}};
    const int32_t w = writer.AddTensorOfBuffer({"w", {kSharedRows, kSharedDepth}, wire::TensorType_INT4, grid}, buffer);
    results.push_back(writer.AddTensor({"y", {1, kSharedRows}}));
    writer.AddOperator(kFullyConnected, {x, w}, {results.back()});
  }
  const auto bytes = writer.Finish({x}, results);
  const auto written = std::as_bytes(std::span(bytes));
  return {written.begin(), written.end()};
}

TEST(SharedBytes, ATensorOfManyIsOneTooManyForItsFile) {
  EXPECT_THAT(ReadTfliteModel(LayersOfSharedBytes(60)).status().message(),
              HasSubstr("shares its bytes, and is one constant too many for a file of"));
}

TEST(SharedBytes, AFewMayShare) {
  const Result<Graph> graph = ReadTfliteModel(LayersOfSharedBytes(12));
  EXPECT_TRUE(graph.ok()) << graph.status().message();
}

TEST(SharedBytes, AnInitializerOfManyIsOneTooManyForItsFiles) {
  const TemporaryFolder folder;
  OnnxGraph graph;
  for (int k = 0; k < 100; ++k) {
    const std::string w = "w" + std::to_string(k), y = "y" + std::to_string(k);
    graph.External(w, {kSharedRows, kSharedDepth}, "w.data", 0).Output(y).Node("Add", {w, "x"}, {y});
  }
  graph.Input("x", {std::to_string(kSharedDepth)});
  std::ofstream(folder.path() / "w.data", std::ios::binary) << std::string(4 * kSharedRows * kSharedDepth, '\0');
  std::ofstream(folder.path() / "m.onnx", std::ios::binary) << OnnxFile(graph);
  EXPECT_THAT(Model::FromFile((folder.path() / "m.onnx").string()).status().message(),
              HasSubstr("a constant would take the constants that are made of the file beyond 16 MiB and 64 times"));
}

}  // namespace
}  // namespace hearth
