#include "hearth/graph_builder.h"

#include <algorithm>
#include <atomic>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"
#include "frontends/api/model_data.h"

namespace hearth {

namespace {

// From 1 on, one for each builder of the process.
uint32_t NextGraphNumber() {
  static std::atomic<uint32_t> last = 0;
  return ++last;
}

}  // namespace

struct GraphBuilderData {
  const uint32_t number = NextGraphNumber();
  Graph graph;
  Status first_mistake;
};

namespace {

Activation ActivationOf(BuilderActivation activation) {
  constexpr Activation kActivations[] = {Activation::kNone,      Activation::kRelu, Activation::kRelu6,
                                         Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid};
  return kActivations[static_cast<int>(activation)];
}

Window2D WindowOf(const BuilderWindow& window) {
  Window2D out{window.stride_h, window.stride_w, window.dilation_h, window.dilation_w, {}};
  out.padding.mode = window.padding == BuilderPadding::kSame ? PaddingMode::kSame : PaddingMode::kValid;
  return out;
}

void Blame(GraphBuilderData& data, const Status& status) {
  if (data.first_mistake.ok()) data.first_mistake = status;
}

bool CheckShape(GraphBuilderData& data, const std::string& name, const std::vector<int32_t>& shape) {
  const bool fits =
      shape.size() <= Shape::kMaxRank && std::all_of(shape.begin(), shape.end(), [](int32_t d) { return d > 0; });
  if (!fits)
    Blame(data, Error(StatusCode::kInvalidArgument, "'{}' must have at most {} dimensions, all positive", name,
                      Shape::kMaxRank));
  return fits;
}

// The graph's value that `tensor` is; kNoValue, with the mistake kept, for one that is absent or not of this graph.
// `role` begins the sentence: "input 0 of add_1".
ValueId ValueOf(GraphBuilderData& data, BuilderTensor tensor, const std::string& role) {
  if (tensor.id < 0) {
    Blame(data, Error(StatusCode::kInvalidArgument, "{} is absent", role));
    return kNoValue;
  }
  if (tensor.graph != 0 && tensor.graph != data.number) {
    Blame(data, Error(StatusCode::kInvalidArgument,
                      "{} is a tensor of another graph; use what this graph's own calls have given", role));
    return kNoValue;
  }
  if (static_cast<size_t>(tensor.id) >= data.graph.values().size()) {
    Blame(data, Error(StatusCode::kInvalidArgument, "{} is tensor {}, which this graph has not", role, tensor.id));
    return kNoValue;
  }
  return tensor.id;
}

// Appends a node with one output whose shape InferShapes fills in Build.
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
  // Each output's shape is known at once, so that a mistake names the call that made it.
  const Node& added = data.graph.AddNode(std::move(node));
  if (data.first_mistake.ok()) Blame(data, OpDefOf(added.op).infer(data.graph, added));
  return {output, data.number};
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& name) : data_(std::make_unique<GraphBuilderData>()) {
  data_->graph.name = name;
}
GraphBuilder::~GraphBuilder() = default;
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;

BuilderTensor GraphBuilder::Input(const std::string& name, std::vector<int32_t> shape) {
  if (!CheckShape(*data_, name, shape)) return {};
  const ValueId value = data_->graph.AddValue({name, {DType::kFloat32, Shape::FromSpan(shape), {}}, {}});
  data_->graph.inputs.push_back(value);
  return {value, data_->number};
}

BuilderTensor GraphBuilder::Constant(const std::string& name, std::vector<int32_t> shape,
                                     std::span<const float> values) {
  if (!CheckShape(*data_, name, shape)) return {};
  const Shape dims = Shape::FromSpan(shape);
  if (dims.element_count() != static_cast<int64_t>(values.size())) {
    Blame(*data_, Error(StatusCode::kInvalidArgument, "constant '{}' ({}) needs {} values, {} were given", name,
                        dims.ToString(), dims.element_count(), values.size()));
    return {};
  }
  return {data_->graph.AddFloatConstant(name, dims, values), data_->number};
}

void GraphBuilder::Output(BuilderTensor tensor, const std::string& name) {
  const ValueId value = ValueOf(*data_, tensor, fmt::format("output '{}'", name));
  if (value == kNoValue) return;
  data_->graph.value(value).name = name;
  data_->graph.outputs.push_back(value);
}

BuilderTensor GraphBuilder::State(const std::string& name, std::vector<int32_t> shape) {
  if (!CheckShape(*data_, name, shape)) return {};
  const ValueId value = data_->graph.AddValue({name, {DType::kFloat32, Shape::FromSpan(shape), {}}, {}});
  data_->graph.states.push_back({value, kNoValue});
  return {value, data_->number};
}

void GraphBuilder::Update(BuilderTensor state, BuilderTensor next) {
  const ValueId read = ValueOf(*data_, state, "the state to update");
  const ValueId written = ValueOf(*data_, next, "what a state becomes");
  if (read == kNoValue || written == kNoValue) return;
  for (StatePair& pair : data_->graph.states) {
    if (pair.read != read || pair.written != kNoValue) continue;
    pair.written = written;
    return;
  }
  Blame(*data_, Error(StatusCode::kInvalidArgument, "tensor {} is not a state, or updated twice", read));
}

BuilderTensor GraphBuilder::Conv2D(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                                   const BuilderWindow& window) {
  return Append(*data_, hearth::Conv2D{WindowOf(window), ActivationOf(window.activation)}, {x, filter, bias}, 2);
}

BuilderTensor GraphBuilder::DepthwiseConv2D(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                                            const BuilderWindow& window) {
  return Append(*data_, hearth::DepthwiseConv2D{WindowOf(window), ActivationOf(window.activation)}, {x, filter, bias},
                2);
}

BuilderTensor GraphBuilder::AveragePool2D(BuilderTensor x, int32_t kernel_h, int32_t kernel_w,
                                          const BuilderWindow& window) {
  return Append(*data_,
                Pool2D{PoolKind::kAverage, kernel_h, kernel_w, WindowOf(window), ActivationOf(window.activation)}, {x},
                1);
}

BuilderTensor GraphBuilder::MaxPool2D(BuilderTensor x, int32_t kernel_h, int32_t kernel_w,
                                      const BuilderWindow& window) {
  return Append(*data_, Pool2D{PoolKind::kMax, kernel_h, kernel_w, WindowOf(window), ActivationOf(window.activation)},
                {x}, 1);
}

BuilderTensor GraphBuilder::Binary(const std::string& op, BuilderTensor a, BuilderTensor b,
                                   BuilderActivation activation) {
  for (const BinaryRow& row : BinaryRows()) {
    if (row.name == op) return Append(*data_, hearth::Binary{row.kind, ActivationOf(activation)}, {a, b}, 2);
  }
  Blame(*data_, Error(StatusCode::kInvalidArgument, "no binary operation is called '{}'", op));
  return {};
}

BuilderTensor GraphBuilder::Unary(const std::string& op, BuilderTensor x) {
  for (const UnaryRow& row : UnaryRows()) {
    if (row.name == op) return Append(*data_, hearth::Unary{row.kind, 0.0f}, {x}, 1);
  }
  Blame(*data_, Error(StatusCode::kInvalidArgument, "no unary operation is called '{}'", op));
  return {};
}

BuilderTensor GraphBuilder::Concat(const std::vector<BuilderTensor>& tensors, int32_t axis) {
  return Append(*data_, hearth::Concat{axis, Activation::kNone}, tensors, tensors.size());
}

BuilderTensor GraphBuilder::ResizeBilinear(BuilderTensor x, int32_t height, int32_t width, bool align_corners,
                                           bool half_pixel_centers) {
  return Append(*data_, Resize{ResizeKind::kBilinear, height, width, align_corners, half_pixel_centers}, {x}, 1);
}

BuilderTensor GraphBuilder::Reshape(BuilderTensor x, std::vector<int32_t> shape) {
  if (!CheckShape(*data_, "reshape", shape)) return {};
  return Append(*data_, hearth::Reshape{Shape::FromSpan(shape)}, {x}, 1);
}

BuilderTensor GraphBuilder::Softmax(BuilderTensor x, float beta) {
  return Append(*data_, hearth::Softmax{beta}, {x}, 1);
}

BuilderTensor GraphBuilder::FullyConnected(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                                           BuilderActivation activation) {
  return Append(*data_, hearth::FullyConnected{false, ActivationOf(activation)}, {x, filter, bias}, 2);
}

Result<Model> GraphBuilder::Build() && {
  HEARTH_TRY(data_->first_mistake.Within(fmt::format("graph '{}'", data_->graph.name)));
  if (data_->graph.outputs.empty())
    return Error(StatusCode::kInvalidArgument, "graph '{}' has no output", data_->graph.name);
  HEARTH_TRY(data_->graph.Validate());
  HEARTH_TRY(InferShapes(data_->graph));
  auto model = std::make_unique<ModelData>();
  model->path = data_->graph.name;
  std::string content = ToText(data_->graph);
  for (const Value& value : data_->graph.values()) {
    if (!value.constant) continue;
    const std::span<const std::byte> bytes = data_->graph.constant(*value.constant).bytes;
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  model->KnowFingerprint(FingerprintOf(std::as_bytes(std::span(content))).ToHex());
  model->graph = std::move(data_->graph);
  DescribeModel(*model);
  return Model(std::move(model));
}

}  // namespace hearth
