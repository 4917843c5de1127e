// Networks that output the index of a maximum, on the host against core's float64 reference.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

constexpr uint32_t kPoolingSeed = 20260403;

class PoolingNetwork {
 public:
  ValueId Input(const Shape& shape) {
    graph.inputs.push_back(graph.AddValue({.name = "in", .desc = {.shape = shape}}));
    return graph.inputs.back();
  }
  ValueId Constant(const Shape& shape) { return graph.AddFloatConstant("constant", shape, Random(shape)); }
  std::vector<ValueId> Add(Op op, std::vector<ValueId> inputs, size_t outputs = 1) {
    std::vector<ValueId> values;
    for (size_t k = 0; k < outputs; ++k) values.push_back(graph.AddValue({.name = "out"}));
    graph.AddNode({.op = std::move(op), .inputs = std::move(inputs), .outputs = values, .name = "node"});
    return values;
  }
  std::vector<float> Random(const Shape& shape) {
    std::uniform_real_distribution<float> distribution(-2.0f, 2.0f);
    std::vector<float> floats(static_cast<size_t>(shape.element_count()));
    for (float& value : floats) value = distribution(generator_);
    return floats;
  }

  Graph graph;

 private:
  std::mt19937 generator_{kPoolingSeed};
};

// All outputs equal the reference's, rounded to float; the kernels are these.
void ExpectReference(PoolingNetwork& network, const std::vector<std::string>& kernels) {
  Graph& graph = network.graph;
  const Status inferred = InferShapes(graph);
  ASSERT_TRUE(inferred.ok()) << inferred.message();
  std::vector<int> nodes(graph.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::vector<std::vector<float>> values;
  std::vector<ReferenceTensor> inputs;
  for (ValueId value : graph.inputs) {
    const Shape& shape = graph.value(value).desc.shape;
    values.push_back(network.Random(shape));
    inputs.push_back({shape, {values.back().begin(), values.back().end()}});
  }
  const Result<std::vector<ReferenceTensor>> expected = EvaluateGraph(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  for (ValueId value : graph.outputs) values.emplace_back(graph.value(value).desc.shape.element_count());
  std::vector<ValueId> ids = graph.inputs;
  ids.insert(ids.end(), graph.outputs.begin(), graph.outputs.end());
  std::vector<HostTensor> tensors;
  for (size_t k = 0; k < ids.size(); ++k) tensors.push_back({ids[k], std::as_writable_bytes(std::span(values[k]))});
  for (int threads : {1, 3}) {
    const std::unique_ptr<HostExecutor> executor = MakeCpuExecutor();
    const auto program = executor->Prepare(graph, nodes, graph.outputs, threads);
    ASSERT_TRUE(program.ok()) << program.status().message();
    std::vector<HostNodeTime> times;
    ASSERT_TRUE((*program)->Run(tensors, {.times = &times}).ok());
    std::vector<std::string> used;
    for (const HostNodeTime& time : times) used.emplace_back(time.kernel);
    EXPECT_EQ(used, kernels) << ToText(graph);
    for (size_t k = 0; k < graph.outputs.size(); ++k) {
      const std::vector<double>& wanted = expected->at(k).values;
      const std::vector<float>& actual = values[graph.inputs.size() + k];
      for (size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_NEAR(actual[i], wanted[i], 1e-6 * std::max(1.0, std::abs(wanted[i])))
            << "element " << i << " of output " << k << " of\n"
            << ToText(graph) << "seed " << kPoolingSeed;
      }
    }
  }
}

MaxPoolArgmax2D Pool(int32_t kernel, int32_t stride) {
  return {.kernel_h = kernel, .kernel_w = kernel, .window = {stride, stride, 1, 1, {PaddingMode::kSame}}};
}

TEST(CpuPoolingIndices, ConvolutionsBeforeThemAddUpInFloat64) {
  constexpr struct {
    int32_t inputs, outputs, stride_w;
  } kSizes[] = {{5, 7, 1},
                {4, 8, 2},
                {70, 19, 1},
                {100, 40, 1}};  // beside blocks of 8 and 16 outputs, windows in one piece and in more
  for (const auto& size : kSizes) {
    for (PaddingMode padding : {PaddingMode::kSame, PaddingMode::kValid}) {
      for (int32_t dilation : {1, 2}) {
        const Activation activation = dilation == 1 ? Activation::kNone : Activation::kRelu6;
        PoolingNetwork network;
        const Window2D window{2, size.stride_w, dilation, dilation, {padding}};
        const ValueId x = network.Input({2, 9, 21, size.inputs});
        const ValueId filter = network.Constant({size.outputs, 3, 3, size.inputs});
        const ValueId y = network.Add(Conv2D{window, activation}, {x, filter, network.Constant({size.outputs})})[0];
        const Window2D same{1, 1, dilation, dilation, {PaddingMode::kSame}};
        const ValueId taps = network.Constant({1, 3, 3, size.outputs});
        const ValueId z = network.Add(DepthwiseConv2D{same, activation}, {y, taps})[0];
        network.graph.outputs = network.Add(Pool(2, 2), {z}, 2);
        ExpectReference(network, {"exact", "exact", "pooling_indices"});
      }
    }
  }
}

TEST(CpuPoolingIndices, WindowsThatOverlapAndBordersFollowTheReference) {
  for (int32_t kernel : {2, 3}) {
    for (int32_t stride : {1, 2, 3}) {
      PoolingNetwork network;
      network.graph.outputs = network.Add(Pool(kernel, stride), {network.Input({2, 8, 7, 5})}, 2);
      ExpectReference(network, {"pooling_indices"});
    }
  }
}

TEST(CpuPoolingIndices, UnpooledElementsStandWhereTheirMaximaStood) {
  for (int32_t stride : {1, 2, 3}) {
    PoolingNetwork network;
    const std::vector<ValueId> pooled = network.Add(Pool(2, 2), {network.Input({2, 8, 6, 5})}, 2);
    network.graph.outputs = network.Add(MaxUnpool2D{2, 2, stride, stride}, pooled);
    ExpectReference(network, {"pooling_indices", "pooling_indices"});
  }
}

// Places outside of the window, between whole numbers and below zero.
TEST(CpuPoolingIndices, PlacesThatAreNoneAreIgnored) {
  PoolingNetwork network;
  const ValueId x = network.Input({1, 4, 4, 3}), places = network.Input({1, 4, 4, 3});
  network.graph.outputs = network.Add(MaxUnpool2D{1, 1, 1, 1}, {x, places});
  ExpectReference(network, {"pooling_indices"});
}

}  // namespace
}  // namespace hearth
