#include "hearth/graph_builder.h"

#include <algorithm>
#include <atomic>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"
#include "runtime/model/model_data.h"

namespace hearth {

namespace {

// 1, 2, ...: one number for each builder of the process.
uint32_t NextGraphNumber() {
  static std::atomic<uint32_t> last = 0;
  return ++last;
}

}  // namespace

struct GraphBuilderData {
  const uint32_t number = NextGraphNumber();
  Graph graph;
  std::vector<std::string> output_names;
  Status first_mistake;
};

namespace {

template <typename... Args>
void Blame(GraphBuilderData& data, fmt::format_string<Args...> format, Args&&... args) {
  if (data.first_mistake.ok())
    data.first_mistake = Error(StatusCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

// Using a builder that has no graph any more is recorded as a mistake like any other.
GraphBuilderData& DataOf(std::unique_ptr<GraphBuilderData>& data) {
  if (data == nullptr) {
    data = std::make_unique<GraphBuilderData>();
    Blame(*data, "the builder was moved from, or has built its graph: make another for another graph");
  }
  return *data;
}

Activation ActivationOf(GraphBuilderData& data, BuilderActivation activation) {
  constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                         Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};
  const auto number = static_cast<size_t>(activation);
  if (number < std::size(kActivations)) return kActivations[number];
  Blame(data, "there is no activation {}", number);
  return Activation::kNone;
}

Window2D WindowOf(GraphBuilderData& data, const BuilderWindow& window) {
  Window2D out{window.stride_h, window.stride_w, window.dilation_h, window.dilation_w, {}};
  out.padding.mode = window.padding == BuilderPadding::kSame ? PaddingMode::kSame : PaddingMode::kValid;
  if (window.padding != BuilderPadding::kSame && window.padding != BuilderPadding::kValid)
    Blame(data, "there is no padding {}", static_cast<int>(window.padding));
  return out;
}

bool CheckShape(GraphBuilderData& data, const std::string& name, const std::vector<int32_t>& shape) {
  const bool fits =
      shape.size() <= Shape::kMaxRank && std::all_of(shape.begin(), shape.end(), [](int32_t d) { return d >= 0; });
  if (!fits) Blame(data, "'{}' must have at most {} dimensions, none negative", name, Shape::kMaxRank);
  return fits;
}

// The graph's value for `tensor`. kNoValue, with the mistake recorded, if it is absent or belongs to another graph.
// `role` begins the message: "input 0 of add_1".
ValueId ValueOf(GraphBuilderData& data, BuilderTensor tensor, const std::string& role) {
  if (tensor.id < 0) {
    Blame(data, "{} is absent", role);
    return kNoValue;
  }
  if (tensor.graph != 0 && tensor.graph != data.number) {
    Blame(data, "{} is a tensor of another graph; use what this graph's own calls have given", role);
    return kNoValue;
  }
  if (static_cast<size_t>(tensor.id) >= data.graph.values().size()) {
    Blame(data, "{} is tensor {}, which this graph has not", role, tensor.id);
    return kNoValue;
  }
  return tensor.id;
}

// Appends a node with one output. Build infers its shape.
BuilderTensor Append(GraphBuilderData& data, Op op, const std::vector<BuilderTensor>& inputs, size_t required) {
  Node node;
  node.op = std::move(op);
  node.source_index = static_cast<int32_t>(data.graph.nodes().size());
  node.name = fmt::format("{}_{}", OpName(node.op), node.source_index);
  for (size_t k = 0; k < inputs.size(); ++k) {
    ValueId value = kNoValue;
    const bool may_be_absent = k >= required;
    if (!may_be_absent || inputs[k].id >= 0) {
      value = ValueOf(data, inputs[k], fmt::format("input {} of {}", k, node.name));
      if (value == kNoValue) return {};
    }
    node.inputs.push_back(value);
  }
  const ValueId output = data.graph.AddValue({node.name, {}, {}});
  node.outputs = {output};
  // The shapes are inferred at once, so that an error names the call that caused it.
  const Node& added = data.graph.AddNode(std::move(node));
  if (data.first_mistake.ok()) data.first_mistake = OpDefOf(added.op).infer(data.graph, added);
  return {output, data.number};
}

BuilderTensor AppendPool(GraphBuilderData& data, PoolKind kind, BuilderTensor x, int32_t kernel_h, int32_t kernel_w,
                         const BuilderWindow& window) {
  return Append(data, Pool2D{kind, kernel_h, kernel_w, WindowOf(data, window), ActivationOf(data, window.activation)},
                {x}, 1);
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& name) : data_(std::make_unique<GraphBuilderData>()) {
  data_->graph.name = name;
}
GraphBuilder::~GraphBuilder() = default;
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;

BuilderTensor GraphBuilder::Input(const std::string& name, std::vector<int32_t> shape) {
  GraphBuilderData& data = DataOf(data_);
  if (!CheckShape(data, name, shape)) return {};
  const auto is_called_so = [&](ValueId input) { return data.graph.value(input).name == name; };
  if (std::ranges::any_of(data.graph.inputs, is_called_so)) Blame(data, "two inputs are called '{}'", name);
  const ValueId value = data.graph.AddValue({name, {DType::kFloat32, Shape::FromSpan(shape), {}}, {}});
  data.graph.inputs.push_back(value);
  return {value, data.number};
}

BuilderTensor GraphBuilder::Constant(const std::string& name, std::vector<int32_t> shape,
                                     std::span<const float> values) {
  GraphBuilderData& data = DataOf(data_);
  if (!CheckShape(data, name, shape)) return {};
  const Shape dims = Shape::FromSpan(shape);
  if (dims.element_count() != static_cast<int64_t>(values.size())) {
    Blame(data, "constant '{}' ({}) needs {} values, {} were given", name, dims.ToString(), dims.element_count(),
          values.size());
    return {};
  }
  return {data.graph.AddFloatConstant(name, dims, values), data.number};
}

void GraphBuilder::Output(BuilderTensor tensor, const std::string& name) {
  GraphBuilderData& data = DataOf(data_);
  const ValueId value = ValueOf(data, tensor, fmt::format("output '{}'", name));
  if (value == kNoValue) return;
  if (Contains(data.output_names, name)) Blame(data, "two outputs are called '{}'", name);
  // A node's output takes its first output name, which messages use. Inputs, outputs and constants keep their names.
  const std::vector<ValueId>&inputs = data.graph.inputs, &outputs = data.graph.outputs;
  const bool is_named = Contains(inputs, value) || Contains(outputs, value) || data.graph.value(value).constant;
  if (!is_named) data.graph.value(value).name = name;
  data.graph.outputs.push_back(value);
  data.output_names.push_back(name);
}

BuilderTensor GraphBuilder::State(const std::string& name, std::vector<int32_t> shape) {
  GraphBuilderData& data = DataOf(data_);
  if (!CheckShape(data, name, shape)) return {};
  const ValueId value = data.graph.AddValue({name, {DType::kFloat32, Shape::FromSpan(shape), {}}, {}});
  data.graph.states.push_back({value, kNoValue});
  return {value, data.number};
}

void GraphBuilder::Update(BuilderTensor state, BuilderTensor next) {
  GraphBuilderData& data = DataOf(data_);
  const ValueId read = ValueOf(data, state, "the state to update");
  const ValueId written = ValueOf(data, next, "what a state becomes");
  if (read == kNoValue || written == kNoValue) return;
  for (StatePair& pair : data.graph.states) {
    if (pair.read != read || pair.written != kNoValue) continue;
    pair.written = written;
    return;
  }
  Blame(data, "tensor {} is not a state, or updated twice", read);
}

BuilderTensor GraphBuilder::Conv2D(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                                   const BuilderWindow& window) {
  GraphBuilderData& data = DataOf(data_);
  return Append(data, hearth::Conv2D{WindowOf(data, window), ActivationOf(data, window.activation)}, {x, filter, bias},
                2);
}

BuilderTensor GraphBuilder::DepthwiseConv2D(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                                            const BuilderWindow& window) {
  GraphBuilderData& data = DataOf(data_);
  return Append(data, hearth::DepthwiseConv2D{WindowOf(data, window), ActivationOf(data, window.activation)},
                {x, filter, bias}, 2);
}

BuilderTensor GraphBuilder::AveragePool2D(BuilderTensor x, int32_t kernel_h, int32_t kernel_w,
                                          const BuilderWindow& window) {
  return AppendPool(DataOf(data_), PoolKind::kAverage, x, kernel_h, kernel_w, window);
}

BuilderTensor GraphBuilder::MaxPool2D(BuilderTensor x, int32_t kernel_h, int32_t kernel_w,
                                      const BuilderWindow& window) {
  return AppendPool(DataOf(data_), PoolKind::kMax, x, kernel_h, kernel_w, window);
}

BuilderTensor GraphBuilder::Binary(const std::string& op, BuilderTensor a, BuilderTensor b,
                                   BuilderActivation activation) {
  GraphBuilderData& data = DataOf(data_);
  for (const BinaryRow& row : BinaryRows()) {
    if (row.name == op) return Append(data, hearth::Binary{row.kind, ActivationOf(data, activation)}, {a, b}, 2);
  }
  Blame(data, "no binary operation is called '{}'", op);
  return {};
}

BuilderTensor GraphBuilder::Unary(const std::string& op, BuilderTensor x) {
  GraphBuilderData& data = DataOf(data_);
  for (const UnaryRow& row : UnaryRows()) {
    if (row.name == op) return Append(data, hearth::Unary{row.kind, 0.0f}, {x}, 1);
  }
  Blame(data, "no unary operation is called '{}'", op);
  return {};
}

BuilderTensor GraphBuilder::Concat(const std::vector<BuilderTensor>& tensors, int32_t axis) {
  return Append(DataOf(data_), hearth::Concat{axis, Activation::kNone}, tensors, tensors.size());
}

BuilderTensor GraphBuilder::ResizeBilinear(BuilderTensor x, int32_t height, int32_t width, bool align_corners,
                                           bool half_pixel_centers) {
  return Append(DataOf(data_), Resize{ResizeKind::kBilinear, height, width, align_corners, half_pixel_centers}, {x}, 1);
}

BuilderTensor GraphBuilder::Reshape(BuilderTensor x, std::vector<int32_t> shape) {
  GraphBuilderData& data = DataOf(data_);
  if (!CheckShape(data, "reshape", shape)) return {};
  return Append(data, hearth::Reshape{Shape::FromSpan(shape)}, {x}, 1);
}

BuilderTensor GraphBuilder::Softmax(BuilderTensor x, float beta) {
  return Append(DataOf(data_), hearth::Softmax{beta}, {x}, 1);
}

BuilderTensor GraphBuilder::FullyConnected(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                                           BuilderActivation activation) {
  GraphBuilderData& data = DataOf(data_);
  return Append(data, hearth::FullyConnected{false, ActivationOf(data, activation)}, {x, filter, bias}, 2);
}

Result<Model> GraphBuilder::Build() && {
  DataOf(data_);
  const std::unique_ptr<GraphBuilderData> data = std::move(data_);
  HEARTH_TRY(data->first_mistake.Within(fmt::format("graph '{}'", data->graph.name)));
  if (data->graph.outputs.empty())
    return Error(StatusCode::kInvalidArgument, "graph '{}' has no output", data->graph.name);
  HEARTH_TRY(data->graph.Validate());
  auto model = std::make_unique<ModelData>();
  HEARTH_TRY(TakeBuiltGraph(std::move(data->graph), *model));
  const Graph& graph = model->as_built();
  model->path = graph.name;
  std::string content = ToText(graph);
  for (const Value& value : graph.values()) {
    if (value.constant) content.append(TextFrom(graph.constant(*value.constant).bytes));
  }
  for (size_t k = 0; k < data->output_names.size(); ++k) {
    const std::string& name = data->output_names[k];
    if (name != graph.value(graph.outputs[k]).name) content += fmt::format("\noutput {} '{}'", k, name);
  }
  model->KnowFingerprint(FingerprintOf(BytesOf(content)).ToHex());
  model->output_names = std::move(data->output_names);
  DescribeModel(*model);
  return Model(std::move(model));
}

}  // namespace hearth
