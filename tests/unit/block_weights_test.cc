// Fully connected layers whose weights have a scale for each block of a row, from both formats and on each device,
// against float64 sums of the numbers that were written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/float16.h"
#include "core/graph/block_scales.h"
#include "frontends/onnx/reader.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/device_names.h"
#include "tests/testing/host_graph.h"
#include "tests/testing/on_device.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

// Weights [columns, depth] as they are written: integers, the first one of a byte lowest. Scales are halves.
struct BlockLayer {
  BlockLayer(int32_t columns, int32_t depth, int32_t block, int bits)
      : columns(columns), depth(depth), block(block), blocks((depth + block - 1) / block), bits(bits) {
    std::mt19937 generator(5);
    bytes.resize(static_cast<size_t>(columns * depth * bits / 8));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator());
    for (int32_t k = 0; k < columns * blocks; ++k) {
      halves.push_back(FloatToHalf(0.01f * static_cast<float>(generator() % 16 + 1)));
      zeros.push_back(static_cast<float>(generator() % 12));
    }
  }

  int Stored(int32_t column, int32_t k) const {
    const int at = column * depth + k;
    return bits == 8 ? bytes[at] : bytes[at / 2] >> (4 * (at % 2)) & 15;
  }
  // Of numbers that `stored` gives for (column, k), and a zero point that `zero` gives for (column, block).
  template <typename Number, typename Zero>
  std::vector<double> Times(const std::vector<float>& x, const Number& stored, const Zero& zero) const {
    std::vector<double> sums;
    for (size_t first = 0; first < x.size(); first += depth) {
      for (int32_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (int32_t k = 0; k < depth; ++k) {
          const double scale = HalfToFloat(halves[column * blocks + k / block]);
          sum += x[first + k] * (stored(column, k) - zero(column, k / block)) * scale;
        }
        sums.push_back(sum);
      }
    }
    return sums;
  }

  int32_t columns, depth, block, blocks;
  int bits;
  std::vector<uint8_t> bytes;
  std::vector<uint16_t> halves;
  std::vector<float> zeros;
};

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

enum class Zeros : uint8_t { kNone, kPacked, kReal };

std::vector<uint8_t> PackedZeros(const BlockLayer& layer) {
  const int32_t row_bytes = layer.bits == 8 ? layer.blocks : (layer.blocks + 1) / 2;
  std::vector<uint8_t> packed(static_cast<size_t>(layer.columns * row_bytes));
  for (int32_t k = 0; k < layer.columns * layer.blocks; ++k) {
    const int32_t row = k / layer.blocks, block = k % layer.blocks;
    const auto zero = static_cast<unsigned>(layer.zeros[k]);
    if (layer.bits == 8) packed[k] = static_cast<uint8_t>(zero);
    if (layer.bits == 4) packed[row * row_bytes + block / 2] |= static_cast<uint8_t>(zero << (4 * (block % 2)));
  }
  return packed;
}

// `rows` rows go in. The name decides where the scales begin in the file.
std::string OnnxOf(const BlockLayer& layer, int rows, Zeros zeros, bool has_halves, const std::string& scales_name) {
  OnnxGraph graph;
  graph.Input("x", {std::to_string(rows), std::to_string(layer.depth)}).Output("y");
  graph.Stored("w", {layer.columns, layer.blocks, layer.block * layer.bits / 8}, 2,
               TextOf(std::as_bytes(std::span(layer.bytes))));
  const std::vector<int64_t> count = {layer.columns * layer.blocks};
  if (has_halves) {
    graph.Stored(scales_name, count, 10, TextOf(std::as_bytes(std::span(layer.halves))));
  } else {
    std::vector<float> floats;
    for (const uint16_t half : layer.halves) floats.push_back(HalfToFloat(half));
    graph.Floats(scales_name, count, floats);
  }
  std::vector<std::string> operands = {"x", "w", scales_name};
  if (zeros != Zeros::kNone) operands.push_back("z");
  if (zeros == Zeros::kReal) graph.Floats("z", count, layer.zeros);
  if (zeros == Zeros::kPacked) {
    const std::vector<uint8_t> packed = PackedZeros(layer);
    graph.Stored("z", {static_cast<int64_t>(packed.size())}, 2, TextOf(std::as_bytes(std::span(packed))));
  }
  graph.Node("MatMulNBits", operands, {"y"},
             {OnnxGraph::Integer("K", layer.depth), OnnxGraph::Integer("N", layer.columns),
              OnnxGraph::Integer("bits", layer.bits), OnnxGraph::Integer("block_size", layer.block)},
             "com.microsoft");
  return OnnxFile(graph);
}

std::vector<std::byte> TfliteOf(const BlockLayer& layer, int rows, bool has_zeros) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {rows, layer.depth}}), y = writer.AddTensor({"y", {rows, layer.columns}});
  WrittenQuantization grid = {.block_size = layer.block};
  const std::vector<int32_t> shape = {layer.columns, layer.blocks};
  grid.block_scales = writer.AddConstant<uint16_t>({"scales", shape, wire::TensorType_FLOAT16}, layer.halves);
  if (has_zeros) {
    std::vector<int8_t> zeros;
    for (const float zero : layer.zeros) zeros.push_back(static_cast<int8_t>(zero - 5));
    grid.block_zero_points = writer.AddConstant<int8_t>({"zeros", shape, wire::TensorType_INT8}, zeros);
  }
  const auto type = layer.bits == 4 ? wire::TensorType_INT4 : wire::TensorType_INT8;
  const int32_t w = writer.AddConstant<uint8_t>({"w", {layer.columns, layer.depth}, type, grid}, layer.bytes);
  writer.AddOperator(kFullyConnected, {x, w}, {y});
  return writer.Finish({x}, {y});
}

class BlockWeights : public testing::SessionsOnDevice {
 protected:
  void ExpectAnswer(std::span<const std::byte> model, const std::vector<float>& x,
                    const std::vector<double>& expected) {
    Session session = Opened(model);
    ASSERT_TRUE(session.SetInput<float>(0, x).ok());
    const Status ran = session.Run();
    ASSERT_TRUE(ran.ok()) << ran.message();
    const std::span<const float> answer = session.output<float>(0).value();
    ASSERT_EQ(answer.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) ASSERT_NEAR(answer[k], expected[k], 2e-3) << k;
  }
};

TEST_P(BlockWeights, OfOnnxAreMultipliedWithFewAndManyRows) {
  int case_number = 0;
  for (const int bits : {4, 8}) {
    for (const Zeros zeros : {Zeros::kNone, Zeros::kPacked, Zeros::kReal}) {
      const BlockLayer layer(144, 288, bits == 4 ? 32 : 96, bits);
      const int rows = ++case_number % 2 == 0 ? 9 : 2;
      const std::vector<float> x = testing::RandomFloats(rows * layer.depth, 3);
      const auto stored = [&](int32_t column, int32_t k) { return layer.Stored(column, k); };
      const auto zero = [&](int32_t column, int32_t block) -> double {
        return zeros == Zeros::kNone ? 1 << (bits - 1) : layer.zeros[column * layer.blocks + block];
      };
      const std::string model = OnnxOf(layer, rows, zeros, case_number < 3, std::string(case_number, 's'));
      ExpectAnswer(std::as_bytes(std::span(model)), x, layer.Times(x, stored, zero));
    }
  }
}

TEST_P(BlockWeights, OfTfliteAreMultipliedWithFewAndManyRows) {
  for (const int bits : {4, 8}) {
    for (const int rows : {1, 3, 8}) {
      const BlockLayer layer(144, 272, 32, bits);  // a row ends within a block
      const std::vector<float> x = testing::RandomFloats(rows * layer.depth, 4);
      const auto stored = [&](int32_t column, int32_t k) {
        const int number = layer.Stored(column, k), half = 1 << (bits - 1);
        return number < half ? number : number - 2 * half;
      };
      const bool has_zeros = rows != 1;
      const auto zero = [&](int32_t column, int32_t block) {
        return has_zeros ? layer.zeros[column * layer.blocks + block] - 5.0 : 0.0;
      };
      ExpectAnswer(TfliteOf(layer, rows, has_zeros), x, layer.Times(x, stored, zero));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BlockWeights, ::testing::ValuesIn(testing::DeviceNames()));

// ---- Reading ----

void ExpectInPlace(const Graph& graph, std::span<const std::byte> file, bool are_scales_too) {
  ASSERT_EQ(graph.nodes().size(), 1u);
  const ValueId weights = graph.nodes()[0].inputs[1];
  const BlockScales* blocks = BlocksOf(graph.value(weights).desc);
  ASSERT_NE(blocks, nullptr);
  const auto is_of_file = [&](std::span<const std::byte> bytes) {
    return bytes.data() >= file.data() && bytes.data() < file.data() + file.size();
  };
  EXPECT_TRUE(is_of_file(graph.ConstantBytes(weights)));
  EXPECT_EQ(is_of_file(blocks->scales.bytes), are_scales_too);
}

TEST(BlockWeightsAsRead, StayWhereTheFileHasThem) {
  const BlockLayer layer(8, 64, 32, 4);
  const std::vector<std::byte> tflite = TfliteOf(layer, 1, false);
  const Result<Graph> read = ReadTfliteModel(tflite);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ExpectInPlace(*read, tflite, true);
  int in_place = 0;
  for (const char* name : {"s", "ss", "sss", "ssss"}) {  // floats at one of four addresses are aligned
    const std::string onnx = OnnxOf(layer, 1, Zeros::kPacked, false, name);
    const auto bytes = std::as_bytes(std::span(onnx));
    const Result<Graph> graph = ReadOnnxModel(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const BlockScales* blocks = BlocksOf(graph->value(graph->nodes()[0].inputs[1]).desc);
    ASSERT_NE(blocks, nullptr);
    in_place += blocks->scales.own == nullptr ? 1 : 0;
    ExpectInPlace(*graph, bytes, blocks->scales.own == nullptr);
  }
  EXPECT_EQ(in_place, 1);
}

TEST(BlockWeightsAsRead, OtherOrdersOfTheirBytesBecomeFloats) {
  const BlockLayer padded(4, 48, 16, 4);
  OnnxGraph graph;  // 40 of 48 numbers count
  graph.Input("x", {"1", "40"}).Output("y");
  graph.Stored("w", {4, 3, 8}, 2, TextOf(std::as_bytes(std::span(padded.bytes))));
  graph.Stored("s", {12}, 10, TextOf(std::as_bytes(std::span(padded.halves))));
  graph.Node("MatMulNBits", {"x", "w", "s"}, {"y"},
             {OnnxGraph::Integer("K", 40), OnnxGraph::Integer("N", 4), OnnxGraph::Integer("block_size", 16)},
             "com.microsoft");
  const std::string bytes = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->value(read->nodes()[0].inputs[1]).desc, (TensorDesc{DType::kFloat32, {4, 40}, std::nullopt}));
}

TEST(BlockWeightsAsRead, AnEmptyListOfZeroPointsOrOfBlocksIsAnError) {
  const BlockLayer layer(4, 32, 16, 4);
  for (const size_t empty : {3, 4}) {
    OnnxGraph graph;
    graph.Input("x", {"1", "32"}).Output("y").Stored("none", {0}, 2, {});
    graph.Stored("w", {4, 2, 8}, 2, TextOf(std::as_bytes(std::span(layer.bytes))));
    graph.Stored("s", {8}, 10, TextOf(std::as_bytes(std::span(layer.halves))));
    std::vector<std::string> operands = {"x", "w", "s", "", ""};
    operands[empty] = "none";
    graph.Node("MatMulNBits", operands, {"y"},
               {OnnxGraph::Integer("K", 32), OnnxGraph::Integer("N", 4), OnnxGraph::Integer("block_size", 16)},
               "com.microsoft");
    const std::string bytes = OnnxFile(graph);
    EXPECT_THAT(ReadOnnxModel(std::as_bytes(std::span(bytes))).status().message(),
                ::testing::HasSubstr("8 scales, 0 zero points"));
  }
}

TEST(BlockWeightsAsRead, NodesThatReadTheSameShareOneValue) {
  const BlockLayer layer(256, 256, 32, 4);
  OnnxGraph graph;
  graph.Input("x", {"1", "256"}).Output("y100");
  graph.Stored("w", {256, 8, 16}, 2, TextOf(std::as_bytes(std::span(layer.bytes))));
  graph.Stored("s", {256 * 8}, 10, TextOf(std::as_bytes(std::span(layer.halves))));
  for (int k = 0; k < 100; ++k) {  // 256 KiB of floats each
    graph.Node("MatMulNBits", {k == 0 ? "x" : "y" + std::to_string(k), "w", "s"}, {"y" + std::to_string(k + 1)},
               {OnnxGraph::Integer("K", 256), OnnxGraph::Integer("N", 256), OnnxGraph::Integer("block_size", 32)},
               "com.microsoft");
  }
  const std::string bytes = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->nodes().front().inputs[1], read->nodes().back().inputs[1]);
}

TEST(BlockWeightsAsRead, BytesThatManyNodesReadWithOwnScalesAreTooMuchAsFloats) {
  const BlockLayer layer(256, 1024, 1024, 4);
  OnnxGraph graph;
  graph.Input("x", {"1", "1024"});
  graph.Stored("w", {256, 1, 512}, 2, TextOf(std::as_bytes(std::span(layer.bytes))));
  for (int k = 0; k < 64; ++k) {  // 1 MiB of floats each
    const std::string scales = "s" + std::to_string(k), y = "y" + std::to_string(k);
    graph.Stored(scales, {256}, 10, TextOf(std::as_bytes(std::span(layer.halves)))).Output(y);
    graph.Node("MatMulNBits", {"x", "w", scales}, {y},
               {OnnxGraph::Integer("K", 1024), OnnxGraph::Integer("N", 256), OnnxGraph::Integer("block_size", 1024)},
               "com.microsoft");
  }
  const std::string bytes = OnnxFile(graph);
  EXPECT_THAT(ReadOnnxModel(std::as_bytes(std::span(bytes))).status().message(),
              ::testing::HasSubstr("the same data is listed again and again"));
}

TEST(BlockWeightsAsRead, BytesOfManyTensorsWithOwnScalesAreTooMuchAsFloats) {
  const BlockLayer layer(256, 1024, 1024, 4);
  TfliteWriter writer;
  const uint32_t buffer = writer.AddBuffer(std::as_bytes(std::span(layer.bytes)));
  const int32_t x = writer.AddTensor({"x", {1, 1024}});
  std::vector<int32_t> results;
  for (int k = 0; k < 64; ++k) {  // 1 MiB of floats each
    WrittenQuantization grid = {.block_size = layer.block};
    grid.block_scales = writer.AddConstant<uint16_t>({"scales", {256, 1}, wire::TensorType_FLOAT16}, layer.halves);
    const int32_t w = writer.AddTensorOfBuffer({"w", {256, 1024}, wire::TensorType_INT4, grid}, buffer);
    results.push_back(writer.AddTensor({"y", {1, 256}}));
    writer.AddOperator(kFullyConnected, {x, w}, {results.back()});
  }
  EXPECT_THAT(ReadTfliteModel(writer.Finish({x}, results)).status().message(),
              ::testing::HasSubstr("bytes when it is unpacked: too many for a file"));
}

}  // namespace
}  // namespace hearth
