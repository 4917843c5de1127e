#include "frontends/c/answer.h"
#include "frontends/c/handles.h"

namespace hearth {
namespace {

// Calls `add` on the builder. A mistake found here, or an exception that prevented the call, is kept for
// hearth_graph_build like the builder's own mistakes.
template <typename Add>
int32_t AddTo(hearth_graph* graph, Add&& add) noexcept {
  int32_t id = -1;
  bool has_answered = false;
  Answer([&]() -> Status {
    HEARTH_NOT_NULL(graph);
    if (!graph->builder) return Error(StatusCode::kInvalidArgument, "the graph was built before");
    const Result<BuilderTensor> added = add(*graph->builder);
    if (graph->first_mistake.ok()) graph->first_mistake = added.status();
    if (added.ok()) id = added->id;
    has_answered = true;
    return added.status();
  });
  if (graph != nullptr && graph->builder && !has_answered) graph->lacks_tensors = true;
  return id;
}

Result<BuilderActivation> ActivationOf(int32_t activation) {
  if (activation >= HEARTH_ACTIVATION_NONE && activation <= HEARTH_ACTIVATION_SIGMOID)
    return static_cast<BuilderActivation>(activation);
  return Error(StatusCode::kInvalidArgument, "there is no activation {}", activation);
}

Result<BuilderWindow> WindowOf(int32_t stride_h, int32_t stride_w, int32_t dilation_h, int32_t dilation_w,
                               int32_t padding, int32_t activation) {
  if (padding != HEARTH_PADDING_SAME && padding != HEARTH_PADDING_VALID)
    return Error(StatusCode::kInvalidArgument, "there is no padding {}", padding);
  HEARTH_ASSIGN(const BuilderActivation fused, ActivationOf(activation));
  const BuilderPadding mode = padding == HEARTH_PADDING_SAME ? BuilderPadding::kSame : BuilderPadding::kValid;
  return BuilderWindow{stride_h, stride_w, dilation_h, dilation_w, mode, fused};
}

}  // namespace
}  // namespace hearth

using hearth::BuilderTensor;
using hearth::GraphBuilder;
using Added = hearth::Result<BuilderTensor>;

hearth_status hearth_graph_create(const char* name, hearth_graph** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_graph>> {
    HEARTH_NOT_NULL(name);
    auto graph = std::make_unique<hearth_graph>();
    graph->builder.emplace(name);
    return graph;
  });
}

void hearth_graph_destroy(hearth_graph* graph) {
  delete graph;
}

int32_t hearth_graph_input(hearth_graph* graph, const char* name, const int32_t* shape, size_t rank) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_NOT_NULL(name);
    HEARTH_ASSIGN(const auto dimensions, hearth::DimensionsOf(shape, rank));
    return builder.Input(name, dimensions);
  });
}

int32_t hearth_graph_constant(hearth_graph* graph, const char* name, const int32_t* shape, size_t rank,
                              const float* values, size_t value_count) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_NOT_NULL(name);
    if (value_count > 0) HEARTH_NOT_NULL(values);
    HEARTH_ASSIGN(const auto dimensions, hearth::DimensionsOf(shape, rank));
    return builder.Constant(name, dimensions, std::span(values, value_count));
  });
}

void hearth_graph_output(hearth_graph* graph, int32_t tensor, const char* name) {
  hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_NOT_NULL(name);
    builder.Output({tensor}, name);
    return BuilderTensor{tensor};
  });
}

int32_t hearth_graph_state(hearth_graph* graph, const char* name, const int32_t* shape, size_t rank) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_NOT_NULL(name);
    HEARTH_ASSIGN(const auto dimensions, hearth::DimensionsOf(shape, rank));
    return builder.State(name, dimensions);
  });
}

void hearth_graph_update(hearth_graph* graph, int32_t state, int32_t next) {
  hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    builder.Update({state}, {next});
    return BuilderTensor{next};
  });
}

int32_t hearth_graph_conv_2d(hearth_graph* graph, int32_t x, int32_t filter, int32_t bias, int32_t stride_h,
                             int32_t stride_w, int32_t dilation_h, int32_t dilation_w, int32_t padding,
                             int32_t activation) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_ASSIGN(const auto window, hearth::WindowOf(stride_h, stride_w, dilation_h, dilation_w, padding, activation));
    return builder.Conv2D({x}, {filter}, {bias}, window);
  });
}

int32_t hearth_graph_depthwise_conv_2d(hearth_graph* graph, int32_t x, int32_t filter, int32_t bias, int32_t stride_h,
                                       int32_t stride_w, int32_t dilation_h, int32_t dilation_w, int32_t padding,
                                       int32_t activation) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_ASSIGN(const auto window, hearth::WindowOf(stride_h, stride_w, dilation_h, dilation_w, padding, activation));
    return builder.DepthwiseConv2D({x}, {filter}, {bias}, window);
  });
}

int32_t hearth_graph_average_pool_2d(hearth_graph* graph, int32_t x, int32_t kernel_h, int32_t kernel_w,
                                     int32_t stride_h, int32_t stride_w, int32_t padding, int32_t activation) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_ASSIGN(const auto window, hearth::WindowOf(stride_h, stride_w, 1, 1, padding, activation));
    return builder.AveragePool2D({x}, kernel_h, kernel_w, window);
  });
}

int32_t hearth_graph_max_pool_2d(hearth_graph* graph, int32_t x, int32_t kernel_h, int32_t kernel_w, int32_t stride_h,
                                 int32_t stride_w, int32_t padding, int32_t activation) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_ASSIGN(const auto window, hearth::WindowOf(stride_h, stride_w, 1, 1, padding, activation));
    return builder.MaxPool2D({x}, kernel_h, kernel_w, window);
  });
}

int32_t hearth_graph_fully_connected(hearth_graph* graph, int32_t x, int32_t filter, int32_t bias, int32_t activation) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_ASSIGN(const auto fused, hearth::ActivationOf(activation));
    return builder.FullyConnected({x}, {filter}, {bias}, fused);
  });
}

int32_t hearth_graph_binary(hearth_graph* graph, const char* op, int32_t a, int32_t b, int32_t activation) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_NOT_NULL(op);
    HEARTH_ASSIGN(const auto fused, hearth::ActivationOf(activation));
    return builder.Binary(op, {a}, {b}, fused);
  });
}

int32_t hearth_graph_unary(hearth_graph* graph, const char* op, int32_t x) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_NOT_NULL(op);
    return builder.Unary(op, {x});
  });
}

int32_t hearth_graph_concat(hearth_graph* graph, const int32_t* tensors, size_t count, int32_t axis) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    if (count > 0) HEARTH_NOT_NULL(tensors);
    std::vector<BuilderTensor> inputs;
    inputs.reserve(count);
    for (size_t k = 0; k < count; ++k) inputs.push_back({tensors[k]});
    return builder.Concat(inputs, axis);
  });
}

int32_t hearth_graph_resize_bilinear(hearth_graph* graph, int32_t x, int32_t height, int32_t width,
                                     int32_t align_corners, int32_t half_pixel_centers) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    return builder.ResizeBilinear({x}, height, width, align_corners != 0, half_pixel_centers != 0);
  });
}

int32_t hearth_graph_reshape(hearth_graph* graph, int32_t x, const int32_t* shape, size_t rank) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added {
    HEARTH_ASSIGN(const auto dimensions, hearth::DimensionsOf(shape, rank));
    return builder.Reshape({x}, dimensions);
  });
}

int32_t hearth_graph_softmax(hearth_graph* graph, int32_t x, float beta) {
  return hearth::AddTo(graph, [&](GraphBuilder& builder) -> Added { return builder.Softmax({x}, beta); });
}
