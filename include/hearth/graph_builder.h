// Networks from code instead of a file.
//
//   hearth::GraphBuilder b("edges");
//   auto x = b.Input("image", {1, 64, 64, 1});
//   auto k = b.Constant("kernel", {1, 3, 3, 1}, weights);
//   b.Output(b.Conv2D(x, k, {}, {.padding = hearth::BuilderPadding::kSame}), "edges");
//   auto model = std::move(b).Build();   // the first mistake, if any, is reported here
#ifndef HEARTH_GRAPH_BUILDER_H_
#define HEARTH_GRAPH_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearth/export.h"
#include "hearth/model.h"
#include "hearth/status.h"

namespace hearth {

// A value of the graph being built. A default-constructed one means "absent" for an optional input. Using one builder's
// tensor in another builder is a mistake that Build reports.
struct BuilderTensor {
  int32_t id = -1;
  uint32_t graph = 0;  // the builder that made it; 0 (from the C API): the builder that it is given to
};

enum class BuilderPadding : uint8_t { kSame, kValid };
enum class BuilderActivation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1, kTanh, kSigmoid };

struct BuilderWindow {
  int32_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  BuilderPadding padding = BuilderPadding::kSame;
  BuilderActivation activation = BuilderActivation::kNone;
};

struct GraphBuilderData;  // internal

// Shapes and semantics are TFLite's. Mistakes are kept and reported by Build. One thread at a time.
class HEARTH_EXPORT GraphBuilder {
 public:
  explicit GraphBuilder(const std::string& name);
  ~GraphBuilder();
  GraphBuilder(GraphBuilder&&) noexcept;

  BuilderTensor Input(const std::string& name, std::vector<int32_t> shape);
  BuilderTensor Constant(const std::string& name, std::vector<int32_t> shape, std::span<const float> values);
  void Output(BuilderTensor tensor, const std::string& name);
  // A value that the network remembers: zeros in the first run, later the value of Update in the previous run. A state
  // that is never updated, or that is itself an output, is a mistake.
  BuilderTensor State(const std::string& name, std::vector<int32_t> shape);
  void Update(BuilderTensor state, BuilderTensor next);

  // filter [O,kh,kw,I], bias [O] or absent
  BuilderTensor Conv2D(BuilderTensor x, BuilderTensor filter, BuilderTensor bias, const BuilderWindow& window);
  // filter [1,kh,kw,C*multiplier]
  BuilderTensor DepthwiseConv2D(BuilderTensor x, BuilderTensor filter, BuilderTensor bias, const BuilderWindow& window);
  BuilderTensor AveragePool2D(BuilderTensor x, int32_t kernel_h, int32_t kernel_w, const BuilderWindow& window);
  BuilderTensor MaxPool2D(BuilderTensor x, int32_t kernel_h, int32_t kernel_w, const BuilderWindow& window);
  // `op` as in graph texts: "add", "sub", "mul", "div", "maximum", "minimum", ...
  BuilderTensor Binary(const std::string& op, BuilderTensor a, BuilderTensor b,
                       BuilderActivation activation = BuilderActivation::kNone);
  // `op`: "relu", "relu6", "tanh", "logistic", "exp", ...
  BuilderTensor Unary(const std::string& op, BuilderTensor x);
  BuilderTensor Concat(const std::vector<BuilderTensor>& tensors, int32_t axis);
  BuilderTensor ResizeBilinear(BuilderTensor x, int32_t height, int32_t width, bool align_corners,
                               bool half_pixel_centers);
  BuilderTensor Reshape(BuilderTensor x, std::vector<int32_t> shape);
  BuilderTensor Softmax(BuilderTensor x, float beta = 1.0f);
  BuilderTensor FullyConnected(BuilderTensor x, BuilderTensor filter, BuilderTensor bias,
                               BuilderActivation activation = BuilderActivation::kNone);

  // The finished model, or the first mistake.
  Result<Model> Build() &&;

 private:
  std::unique_ptr<GraphBuilderData> data_;
};

}  // namespace hearth

#endif  // HEARTH_GRAPH_BUILDER_H_
