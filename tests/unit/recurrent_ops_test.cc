// LSTM, RNN and SVDF: the reference against loops written here, inference, and reading from model files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kValuesSeed = 20260507;

std::vector<float> SaltedFloats(int64_t count, uint32_t salt) {
  std::mt19937 generator(kValuesSeed + salt);
  std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
  std::vector<float> floats(static_cast<size_t>(count));
  for (float& value : floats) value = distribution(generator);
  return floats;
}

double Sigmoid(double v) {
  return 1.0 / (1.0 + std::exp(-v));
}

constexpr int kBatch = 2, kSteps = 3, kDepth = 3, kUnits = 2;

// Gate by gate as TensorFlow's tutorial has it, for one element of the batch; `x` holds kSteps rows.
std::vector<double> LstmByHand(const float* x, const std::vector<float>& w, const std::vector<float>& r,
                               const std::vector<float>& bias) {
  double h[kUnits] = {}, c[kUnits] = {};
  std::vector<double> outputs;
  for (int t = 0; t < kSteps; ++t) {
    double sums[4 * kUnits];
    for (int row = 0; row < 4 * kUnits; ++row) {
      sums[row] = bias[row];
      for (int k = 0; k < kDepth; ++k) sums[row] += double{w[row * kDepth + k]} * x[t * kDepth + k];
      for (int k = 0; k < kUnits; ++k) sums[row] += r[row * kUnits + k] * h[k];
    }
    for (int u = 0; u < kUnits; ++u) {
      const double input = Sigmoid(sums[u]), forget = Sigmoid(sums[kUnits + u]);
      c[u] = forget * c[u] + input * std::tanh(sums[2 * kUnits + u]);
      h[u] = Sigmoid(sums[3 * kUnits + u]) * std::tanh(c[u]);
      outputs.push_back(h[u]);
    }
  }
  return outputs;
}

struct LstmGraph {
  Graph graph;
  std::vector<float> weights = SaltedFloats(4 * kUnits * kDepth, 1);
  std::vector<float> recurrent = SaltedFloats(4 * kUnits * kUnits, 2);
  std::vector<float> bias = SaltedFloats(4 * kUnits, 3);

  // All of the sequence is the graph's output; both states are zeros.
  explicit LstmGraph(const Lstm& lstm, const Shape& x_shape) {
    const ValueId x = graph.AddValue({.name = "x", .desc = {.shape = x_shape}});
    graph.inputs = {x};
    const std::vector<float> zeros(kBatch * kUnits);
    const ValueId h = graph.AddFloatConstant("h", {kBatch, kUnits}, zeros);
    const ValueId c = graph.AddFloatConstant("c", {kBatch, kUnits}, zeros);
    const ValueId w = graph.AddFloatConstant("w", {4 * kUnits, kDepth}, weights);
    const ValueId r = graph.AddFloatConstant("r", {4 * kUnits, kUnits}, recurrent);
    const ValueId b = graph.AddFloatConstant("b", {4 * kUnits}, bias);
    const std::vector<ValueId> made = {graph.AddValue({.name = "y"}), graph.AddValue({.name = "h_next"}),
                                       graph.AddValue({.name = "c_next"})};
    graph.AddNode({.op = lstm, .inputs = {x, h, c, w, r, b}, .outputs = made, .name = "lstm"});
    graph.outputs = {made[0]};
  }
};

std::vector<double> Evaluate(Graph& graph, const Shape& shape, const std::vector<float>& x) {
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  const ReferenceTensor input{shape, {x.begin(), x.end()}};
  Result<std::vector<ReferenceTensor>> outputs = EvaluateGraph(graph, std::span(&input, 1));
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs->at(0).values : std::vector<double>();
}

TEST(Lstm, FollowsALoopWrittenByHand) {
  LstmGraph model({.activation = Activation::kTanh}, {kBatch, kSteps, kDepth});
  const std::vector<float> x = SaltedFloats(kBatch * kSteps * kDepth, 4);
  const std::vector<double> actual = Evaluate(model.graph, {kBatch, kSteps, kDepth}, x);
  ASSERT_EQ(actual.size(), size_t{kBatch * kSteps * kUnits});
  for (int b = 0; b < kBatch; ++b) {
    const std::vector<double> expected =
        LstmByHand(&x[b * kSteps * kDepth], model.weights, model.recurrent, model.bias);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(actual[b * expected.size() + i], expected[i], 1e-6) << "batch " << b << ", seed " << kValuesSeed;
    }
  }
}

TEST(Lstm, TimeMajorIsTheSameWithTheTwoDimensionsExchanged) {
  LstmGraph batch_major({.activation = Activation::kTanh}, {kBatch, kSteps, kDepth});
  LstmGraph time_major({.time_major = true, .activation = Activation::kTanh}, {kSteps, kBatch, kDepth});
  const std::vector<float> x = SaltedFloats(kBatch * kSteps * kDepth, 5);
  std::vector<float> exchanged(x.size());
  for (int b = 0; b < kBatch; ++b) {
    for (int t = 0; t < kSteps; ++t) {
      for (int k = 0; k < kDepth; ++k) {
        exchanged[(t * kBatch + b) * kDepth + k] = x[(b * kSteps + t) * kDepth + k];
      }
    }
  }
  const std::vector<double> expected = Evaluate(batch_major.graph, {kBatch, kSteps, kDepth}, x);
  const std::vector<double> actual = Evaluate(time_major.graph, {kSteps, kBatch, kDepth}, exchanged);
  ASSERT_EQ(actual.size(), expected.size());
  for (int b = 0; b < kBatch; ++b) {
    for (int t = 0; t < kSteps; ++t) {
      for (int u = 0; u < kUnits; ++u) {
        EXPECT_EQ(actual[(t * kBatch + b) * kUnits + u], expected[(b * kSteps + t) * kUnits + u]);
      }
    }
  }
}

// One unit, one step, all weights zero: gates of 1/2, so that c = 1/2 c + 1/2 g and h = 1/2 c.
ReferenceTensor OneUnitCell(Lstm lstm, std::vector<double> bias, std::vector<double> peephole,
                            std::vector<double> normalization) {
  const auto rows = static_cast<int32_t>(bias.size());
  const ReferenceTensor x{{1, 1}, {0}}, h{{1, 1}, {0}}, c{{1, 1}, {4}};
  const ReferenceTensor w{{rows, 1}, std::vector<double>(rows)};
  const ReferenceTensor b{{rows}, std::move(bias)}, p{{rows - 1}, std::move(peephole)},
      n{{rows}, std::move(normalization)};
  const ReferenceTensor* const inputs[] = {
      &x, &h, &c, &w, &w, &b, p.values.empty() ? nullptr : &p, n.values.empty() ? nullptr : &n};
  ReferenceTensor outputs[] = {{{1, 1}, {0}}, {{1, 1}, {0}}, {{1, 1}, {0}}};
  Node node;
  node.op = lstm;
  OpDefOf(node.op).reference(node, std::span(inputs), std::span(outputs));
  EXPECT_EQ(outputs[0].values, outputs[1].values);
  return {{2}, {outputs[1].values[0], outputs[2].values[0]}};
}

TEST(Lstm, GatesClipAndPeepholesDoWhatTheirNamesSay) {
  EXPECT_EQ(OneUnitCell({}, {0, 0, 3, 0}, {}, {}).values, (std::vector<double>{1.75, 3.5}));
  // Without an input gate it is 1 - forget.
  EXPECT_EQ(OneUnitCell({}, {0, 3, 0}, {}, {}).values, (std::vector<double>{1.75, 3.5}));
  const double closed = Sigmoid(-2.0);
  EXPECT_NEAR(OneUnitCell({}, {-2, 3, 0}, {}, {}).values[1], closed * 4 + (1 - closed) * 3, 1e-12);
  EXPECT_EQ(OneUnitCell({.cell_clip = 1.5f}, {0, 0, 3, 0}, {}, {}).values, (std::vector<double>{0.75, 1.5}));
  // The output gate sees the new cell (3.5), the others the old one (4).
  EXPECT_NEAR(OneUnitCell({}, {0, 0, 3, 0}, {0, 0, 2}, {}).values[0], 3.5 * Sigmoid(7), 1e-12);
  EXPECT_NEAR(OneUnitCell({}, {0, 0, 3, 0}, {0.5, 0, 0}, {}).values[1], 2.0 + 3 * Sigmoid(2), 1e-12);
  // One unit is its own mean: layer normalization leaves the bias.
  EXPECT_EQ(OneUnitCell({}, {0, 0, 3, 0}, {}, {9, 9, 9, 9}).values, (std::vector<double>{1.75, 3.5}));
}

TEST(Lstm, WeightsThatDoNotFitAreRefused) {
  LstmGraph model({}, {kBatch, kSteps, kDepth + 1});
  const Status status = InferShapes(model.graph);
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput);
  EXPECT_THAT(status.message(), HasSubstr("input 3"));
  LstmGraph batch({}, {kBatch + 1, kSteps, kDepth});
  EXPECT_THAT(InferShapes(batch.graph).message(), HasSubstr("batch"));
}

TEST(Rnn, AddsWhatItRemembers) {
  const ReferenceTensor x{{1, 3, 1}, {1, 0, -10}}, h{{1, 1}, {4}}, w{{1, 1}, {2}}, r{{1, 1}, {0.5}}, b{{1}, {1}};
  const ReferenceTensor* const inputs[] = {&x, &h, &w, &r, &b};
  ReferenceTensor outputs[] = {{{1, 3, 1}, {0, 0, 0}}, {{1, 1}, {0}}};
  Node node;
  node.op = Rnn{.activation = Activation::kRelu};
  OpDefOf(node.op).reference(node, std::span(inputs), std::span(outputs));
  EXPECT_EQ(outputs[0].values, (std::vector<double>{5, 3.5, 0}));
  EXPECT_EQ(outputs[1].values, (std::vector<double>{0}));
}

TEST(Svdf, ForgetsTheOldestFeature) {
  // Two filters of rank 2 with three features each.
  const ReferenceTensor x{{1, 2}, {1, 2}}, state{{1, 6}, {1, 2, 3, 4, 5, 6}}, features{{2, 2}, {1, 1, 10, 0}},
      times{{2, 3}, {1, 10, 100, 0, 1, 0}}, bias{{1}, {1000}};
  const ReferenceTensor* const inputs[] = {&x, &state, &features, &times, &bias};
  ReferenceTensor outputs[] = {{{1, 1}, {0}}, {{1, 6}, std::vector<double>(6)}};
  Node node;
  node.op = Svdf{.rank = 2};
  OpDefOf(node.op).reference(node, std::span(inputs), std::span(outputs));
  EXPECT_EQ(outputs[1].values, (std::vector<double>{2, 3, 3, 5, 6, 10}));
  EXPECT_EQ(outputs[0].values, (std::vector<double>{1000 + 2 + 30 + 300 + 6}));
}

// ---- Reading ----

// The operands of a full LSTM of kUnits units without peepholes; gates are told apart by their first weight.
std::vector<int32_t> FullOperands(TfliteWriter& writer, int32_t x, bool cifg) {
  std::vector<int32_t> operands(20, -1);
  operands[0] = x;
  for (int gate = cifg ? 1 : 0; gate < 4; ++gate) {
    const auto number = static_cast<float>(gate + 1);
    operands[1 + gate] =
        writer.AddConstant<float>({"w", {kUnits, kDepth}}, std::vector<float>(kUnits * kDepth, number));
    operands[5 + gate] =
        writer.AddConstant<float>({"r", {kUnits, kUnits}}, std::vector<float>(kUnits * kUnits, 10 * number));
    operands[12 + gate] = writer.AddConstant<float>({"b", {kUnits}}, std::vector<float>(kUnits, 100 * number));
  }
  operands[18] = writer.AddTensor({.name = "h", .shape = {kBatch, kUnits}, .is_variable = true});
  operands[19] = writer.AddTensor({.name = "c", .shape = {kBatch, kUnits}, .is_variable = true});
  return operands;
}

TEST(TfliteLstm, StacksItsGatesAndTiesItsStates) {
  for (const bool cifg : {false, true}) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {kBatch, kSteps, kDepth}});
    const int32_t y = writer.AddTensor({"y", {kBatch, kSteps, kUnits}});
    writer.AddOperator(44, FullOperands(writer, x, cifg), {y},
                       wire::CreateUnidirectionalSequenceLSTMOptions(
                           writer.builder(), wire::ActivationFunctionType_TANH, 2.5f, 0.5f, false));
    const std::vector<std::byte> file = writer.Finish({x}, {y});
    Result<Graph> graph = ReadTfliteModel(file);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ASSERT_EQ(graph->nodes().size(), 1u);
    const Node& node = graph->nodes()[0];
    ASSERT_TRUE(std::holds_alternative<Lstm>(node.op)) << OpName(node.op);
    EXPECT_TRUE(std::get<Lstm>(node.op) == (Lstm{false, Activation::kTanh, 2.5f, 0.5f}));
    ASSERT_EQ(node.inputs.size(), 6u);
    const int gates = cifg ? 3 : 4;
    for (const auto& [input, columns, factor] : {std::tuple{3, kDepth, 1.0f}, {4, kUnits, 10.0f}, {5, 1, 100.0f}}) {
      const Result<std::vector<float>> stacked = ConstantAsFloats(*graph, node.inputs[input]);
      ASSERT_TRUE(stacked.ok());
      ASSERT_EQ(stacked->size(), static_cast<size_t>(gates * kUnits * columns));
      for (int gate = 0; gate < gates; ++gate) {
        EXPECT_EQ((*stacked)[gate * kUnits * columns], factor * static_cast<float>(gate + (cifg ? 2 : 1)));
      }
    }
    ASSERT_EQ(graph->states.size(), 2u);
    ASSERT_EQ(node.outputs.size(), 3u);
    for (int k : {0, 1}) {
      EXPECT_EQ(graph->states[k].read, node.inputs[1 + k]);
      EXPECT_EQ(graph->states[k].written, node.outputs[1 + k]);
    }
    const Status inferred = InferShapes(*graph);
    EXPECT_TRUE(inferred.ok()) << inferred.message();
  }
}

TEST(TfliteLstm, StateThatTheGraphInitializesStartsEachRunAnew) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {kBatch, kSteps, kDepth}});
  const int32_t y = writer.AddTensor({"y", {kBatch, kSteps, kUnits}});
  const std::vector<int32_t> operands = FullOperands(writer, x, false);
  const int32_t zeros = writer.AddConstant<uint16_t>({"zeros", {kBatch, kUnits}, wire::TensorType_FLOAT16},
                                                     std::vector<uint16_t>(kBatch * kUnits, 0x3c00));
  writer.AddOperator(6, {zeros}, {operands[18]});
  writer.AddOperator(
      44, operands, {y},
      wire::CreateUnidirectionalSequenceLSTMOptions(writer.builder(), wire::ActivationFunctionType_TANH));
  const std::vector<std::byte> file = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(file);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->nodes().size(), 1u);
  EXPECT_EQ(graph->states.size(), 1u);  // the cell alone
  const Result<std::vector<float>> hidden = ConstantAsFloats(*graph, graph->nodes()[0].inputs[1]);
  ASSERT_TRUE(hidden.ok()) << hidden.status().message();
  EXPECT_EQ(*hidden, std::vector<float>(kBatch * kUnits, 1.0f));
  EXPECT_TRUE(graph->Validate().ok());
  const Status inferred = InferShapes(*graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
}

TEST(TfliteLstm, GatesThatAreHalfThereAreRefused) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {kBatch, kSteps, kDepth}});
  const int32_t y = writer.AddTensor({"y", {kBatch, kSteps, kUnits}});
  std::vector<int32_t> operands = FullOperands(writer, x, false);
  operands[7] = -1;
  writer.AddOperator(44, operands, {y});
  const std::vector<std::byte> file = writer.Finish({x}, {y});
  const Result<Graph> graph = ReadTfliteModel(file);
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.status().message(), HasSubstr("operands 5 to 8"));
}

TEST(TfliteLstm, WeightsMadeAtRunTimeStayAnUnknownOperator) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {kBatch, kSteps, kDepth}});
  const int32_t made = writer.AddTensor({"made", {kUnits, kDepth}});
  const int32_t y = writer.AddTensor({"y", {kBatch, kSteps, kUnits}});
  std::vector<int32_t> operands = FullOperands(writer, x, false);
  operands[2] = made;
  writer.AddOperator(44, operands, {y});
  const std::vector<std::byte> file = writer.Finish({x, made}, {y});
  const Result<Graph> graph = ReadTfliteModel(file);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(std::holds_alternative<UnknownOp>(graph->nodes()[0].op));
}

// The basic kernel has its gates in the order input, cell, forget, output, in one matrix over [x, activation].
TEST(TfliteLstm, TheBasicKernelsWeightsAreTakenApart) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), h = writer.AddTensor({"h", {1, 1}});
  const int32_t c = writer.AddTensor({"c", {1, 1}});
  const int32_t w = writer.AddConstant<float>({"w", {4, 3}}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const int32_t b = writer.AddConstant<float>({"b", {4}}, {-1, -2, -3, -4});
  std::vector<int32_t> outputs;
  for (const char* name : {"activation", "state"}) outputs.push_back(writer.AddTensor({name, {1, 1}}));
  outputs.push_back(writer.AddTensor({"concat", {1, 3}}));
  outputs.push_back(writer.AddTensor({"gates", {1, 4}}));
  writer.AddOperator(16, {x, h, w, b, c}, outputs,
                     wire::CreateLSTMOptions(writer.builder(), wire::ActivationFunctionType_TANH, 0.0f, 0.0f,
                                             wire::LSTMKernelType_BASIC));
  const std::vector<std::byte> file = writer.Finish({x, h, c}, {outputs[0], outputs[1]});
  Result<Graph> graph = ReadTfliteModel(file);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Node& node = graph->nodes()[0];
  ASSERT_TRUE(std::holds_alternative<Lstm>(node.op)) << OpName(node.op);
  EXPECT_EQ(node.inputs[1], graph->inputs[1]);
  EXPECT_EQ(node.inputs[2], graph->inputs[2]);
  EXPECT_EQ(*ConstantAsFloats(*graph, node.inputs[3]), (std::vector<float>{1, 2, 7, 8, 4, 5, 10, 11}));
  EXPECT_EQ(*ConstantAsFloats(*graph, node.inputs[4]), (std::vector<float>{3, 9, 6, 12}));
  EXPECT_EQ(*ConstantAsFloats(*graph, node.inputs[5]), (std::vector<float>{-1, -3, -2, -4}));
  EXPECT_EQ(node.outputs[0], graph->outputs[0]);
  EXPECT_EQ(node.outputs[2], graph->outputs[1]);
  EXPECT_TRUE(InferShapes(*graph).ok());
}

TEST(TfliteSvdf, OrdersItsOperandsAndTiesItsState) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 2}}), y = writer.AddTensor({"y", {1, 2}});
  const int32_t features = writer.AddConstant<float>({"f", {4, 2}}, std::vector<float>(8, 1.0f));
  const int32_t times = writer.AddConstant<float>({"t", {4, 3}}, std::vector<float>(12, 1.0f));
  const int32_t state = writer.AddTensor({.name = "s", .shape = {1, 12}, .is_variable = true});
  writer.AddOperator(27, {x, features, times, -1, state}, {y},
                     wire::CreateSVDFOptions(writer.builder(), 2, wire::ActivationFunctionType_RELU));
  const std::vector<std::byte> file = writer.Finish({x}, {y});
  Result<Graph> graph = ReadTfliteModel(file);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Node& node = graph->nodes()[0];
  ASSERT_TRUE(std::holds_alternative<Svdf>(node.op)) << OpName(node.op);
  EXPECT_TRUE(std::get<Svdf>(node.op) == (Svdf{2, Activation::kRelu}));
  ASSERT_EQ(node.inputs.size(), 4u);
  ASSERT_EQ(graph->states.size(), 1u);
  EXPECT_EQ(graph->states[0].read, node.inputs[1]);
  EXPECT_EQ(graph->states[0].written, node.outputs[1]);
  EXPECT_TRUE(InferShapes(*graph).ok());
}

}  // namespace
}  // namespace hearth
