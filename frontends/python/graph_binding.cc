#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"
#include "frontends/python/bindings.h"
#include "hearth/graph_builder.h"

namespace py = pybind11;

namespace hearth {
namespace {

// A builder, absent once its graph is built.
struct PythonGraph {
  explicit PythonGraph(const std::string& name) : builder(std::in_place, name) {}
  std::optional<GraphBuilder> builder;

  GraphBuilder& Open() {
    if (!builder) Raise(Error(StatusCode::kInvalidArgument, "the graph was built before"));
    return *builder;
  }
};

BuilderActivation ActivationOf(const std::string& name) {
  constexpr std::string_view kNames[] = {"none", "relu", "relu6", "relu_n1_to_1", "tanh", "sigmoid"};
  if (const auto found = EnumNamed<BuilderActivation>(kNames, name)) return *found;
  Raise(Error(StatusCode::kInvalidArgument,
              "no activation is called '{}'; there are none, relu, relu6, relu_n1_to_1, tanh and sigmoid", name));
}

BuilderPadding PaddingOf(const std::string& name) {
  if (name == "same") return BuilderPadding::kSame;
  if (name == "valid") return BuilderPadding::kValid;
  Raise(Error(StatusCode::kInvalidArgument, "no padding is called '{}'; there are same and valid", name));
}

using Pair = std::pair<int32_t, int32_t>;  // height, width

BuilderWindow WindowOf(Pair stride, Pair dilation, const std::string& padding, const std::string& activation) {
  return {stride.first, stride.second, dilation.first, dilation.second, PaddingOf(padding), ActivationOf(activation)};
}

BuilderTensor OrAbsent(const std::optional<BuilderTensor>& tensor) {
  return tensor.value_or(BuilderTensor{});
}

BuilderTensor AddConstant(PythonGraph& graph, const std::string& name, const std::vector<int32_t>& shape,
                          const py::object& values) {
  const BufferBytes held(values, BufferBytes::Use::kRead);
  std::vector<float> floats(held.bytes().size() / sizeof(float));
  std::memcpy(floats.data(), held.bytes().data(), floats.size() * sizeof(float));
  return graph.Open().Constant(name, shape, floats);
}

void BindConvolutions(py::class_<PythonGraph>& graph) {
  using Bias = std::optional<BuilderTensor>;
  graph
      .def("conv_2d",
           [](PythonGraph& g, BuilderTensor x, BuilderTensor filter, const Bias& bias, Pair stride, Pair dilation,
              const std::string& padding, const std::string& activation) {
             return g.Open().Conv2D(x, filter, OrAbsent(bias), WindowOf(stride, dilation, padding, activation));
           })
      .def("depthwise_conv_2d",
           [](PythonGraph& g, BuilderTensor x, BuilderTensor filter, const Bias& bias, Pair stride, Pair dilation,
              const std::string& padding, const std::string& activation) {
             return g.Open().DepthwiseConv2D(x, filter, OrAbsent(bias),
                                             WindowOf(stride, dilation, padding, activation));
           })
      .def("average_pool_2d",
           [](PythonGraph& g, BuilderTensor x, Pair kernel, Pair stride, const std::string& padding,
              const std::string& activation) {
             return g.Open().AveragePool2D(x, kernel.first, kernel.second,
                                           WindowOf(stride, {1, 1}, padding, activation));
           })
      .def("max_pool_2d",
           [](PythonGraph& g, BuilderTensor x, Pair kernel, Pair stride, const std::string& padding,
              const std::string& activation) {
             return g.Open().MaxPool2D(x, kernel.first, kernel.second, WindowOf(stride, {1, 1}, padding, activation));
           })
      .def("fully_connected",
           [](PythonGraph& g, BuilderTensor x, BuilderTensor filter, const Bias& bias, const std::string& activation) {
             return g.Open().FullyConnected(x, filter, OrAbsent(bias), ActivationOf(activation));
           });
}

}  // namespace

void BindGraphs(py::module_& module) {
  py::class_<BuilderTensor>(module, "GraphTensor");
  py::class_<PythonGraph> graph(module, "Graph");
  graph.def(py::init<const std::string&>())
      .def("input", [](PythonGraph& g, const std::string& name,
                       const std::vector<int32_t>& shape) { return g.Open().Input(name, shape); })
      .def("constant", &AddConstant)
      .def("output",
           [](PythonGraph& g, BuilderTensor tensor, const std::string& name) { g.Open().Output(tensor, name); })
      .def("state", [](PythonGraph& g, const std::string& name,
                       const std::vector<int32_t>& shape) { return g.Open().State(name, shape); })
      .def("update", [](PythonGraph& g, BuilderTensor state, BuilderTensor next) { g.Open().Update(state, next); })
      .def("binary", [](PythonGraph& g, const std::string& op, BuilderTensor a, BuilderTensor b,
                        const std::string& activation) { return g.Open().Binary(op, a, b, ActivationOf(activation)); })
      .def("unary", [](PythonGraph& g, const std::string& op, BuilderTensor x) { return g.Open().Unary(op, x); })
      .def("concat", [](PythonGraph& g, const std::vector<BuilderTensor>& tensors,
                        int32_t axis) { return g.Open().Concat(tensors, axis); })
      .def("resize_bilinear",
           [](PythonGraph& g, BuilderTensor x, Pair size, bool align_corners, bool half_pixel_centers) {
             return g.Open().ResizeBilinear(x, size.first, size.second, align_corners, half_pixel_centers);
           })
      .def("reshape", [](PythonGraph& g, BuilderTensor x,
                         const std::vector<int32_t>& shape) { return g.Open().Reshape(x, shape); })
      .def("softmax", [](PythonGraph& g, BuilderTensor x, float beta) { return g.Open().Softmax(x, beta); })
      .def("build", [](PythonGraph& g) {
        GraphBuilder builder = std::move(g.Open());
        g.builder.reset();
        return Value(std::move(builder).Build());
      });
  BindConvolutions(graph);
}

}  // namespace hearth
