#include <fmt/ranges.h>

#include <cstdint>

#include "core/graph/ops/window.h"
#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

// Larger windows are mistakes. Products of two must fit into 32 bits.
constexpr int64_t kMaxDilatedKernel = int64_t{1} << 28;

template <typename Options>
Result<Window2D> ReadStrides(const Options& options) {
  Window2D window;
  window.stride_h = options.stride_h();
  window.stride_w = options.stride_w();
  HEARTH_TRY(CheckStep("a stride", window.stride_h, window.stride_w));
  HEARTH_ASSIGN(window.padding, ReadPadding(options.padding()));
  return window;
}

template <typename Options>
Result<Window2D> ReadConvWindow(const Options& options, const OperatorView& view) {
  HEARTH_ASSIGN(Window2D window, ReadStrides(options));
  // 0 means not dilated, as in the reference.
  window.dilation_h = options.dilation_h_factor() == 0 ? 1 : options.dilation_h_factor();
  window.dilation_w = options.dilation_w_factor() == 0 ? 1 : options.dilation_w_factor();
  HEARTH_TRY(CheckStep("a dilation", window.dilation_h, window.dilation_w));

  HEARTH_ASSIGN(const Shape filter, view.InputShape(1));
  if (filter.rank() != 4) {
    return Error(StatusCode::kMalformedInput, "the filter {} of shape {} does not have rank 4", view.InputLabel(1),
                 filter.ToString());
  }
  if (int64_t{filter[1]} * window.dilation_h > kMaxDilatedKernel ||
      int64_t{filter[2]} * window.dilation_w > kMaxDilatedKernel) {
    return Error(StatusCode::kMalformedInput, "a filter of {}x{} with a dilation of {}x{} is too large", filter[1],
                 filter[2], window.dilation_h, window.dilation_w);
  }
  return window;
}

}  // namespace

Result<Padding2D> ReadPadding(wire::Padding padding) {
  if (padding == wire::Padding_SAME) return Padding2D{PaddingMode::kSame};
  if (padding == wire::Padding_VALID) return Padding2D{PaddingMode::kValid};
  return Error(StatusCode::kMalformedInput, "there is no padding mode {}", static_cast<int>(padding));
}

Status CheckStep(const char* what, int32_t height, int32_t width) {
  if (height >= 1 && width >= 1 && height <= kMaxStep && width <= kMaxStep) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} of {}x{}; each must be 1 to {}", what, height, width, kMaxStep);
}

Result<Op> ReadConv2D(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::Conv2DOptions* options, view.Options<wire::Conv2DOptions>());
  Conv2D conv;
  HEARTH_ASSIGN(conv.window, ReadConvWindow(*options, view));
  HEARTH_ASSIGN(conv.activation, ReadActivation(options->fused_activation_function()));
  return Op(conv);
}

Result<Op> ReadDepthwiseConv2D(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::DepthwiseConv2DOptions* options, view.Options<wire::DepthwiseConv2DOptions>());
  DepthwiseConv2D conv;
  HEARTH_ASSIGN(conv.window, ReadConvWindow(*options, view));
  HEARTH_ASSIGN(conv.activation, ReadActivation(options->fused_activation_function()));
  return Op(conv);
}

Result<Op> ReadPool2D(const OperatorView& view, PoolKind kind) {
  HEARTH_ASSIGN(const wire::Pool2DOptions* options, view.Options<wire::Pool2DOptions>());
  Pool2D pool{.kind = kind, .kernel_h = options->filter_height(), .kernel_w = options->filter_width()};
  HEARTH_TRY(CheckStep("a pooling window", pool.kernel_h, pool.kernel_w));
  HEARTH_ASSIGN(pool.window, ReadStrides(*options));
  HEARTH_ASSIGN(pool.activation, ReadActivation(options->fused_activation_function()));
  return Op(pool);
}

// Operands: the output's shape, the filter, x, bias.
Result<Op> ReadTransposeConv(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::TransposeConvOptions* options, view.Options<wire::TransposeConvOptions>());
  TransposeConv conv{.stride_h = options->stride_h(), .stride_w = options->stride_w()};
  HEARTH_TRY(CheckStep("a stride", conv.stride_h, conv.stride_w));
  HEARTH_ASSIGN(conv.padding, ReadPadding(options->padding()));
  HEARTH_ASSIGN(conv.activation, ReadActivation(options->fused_activation_function()));
  HEARTH_ASSIGN(const std::vector<int32_t> shape, view.ConstantIntegers(0));
  HEARTH_ASSIGN(const Shape filter, view.InputShape(1));
  HEARTH_ASSIGN(const Shape input, view.InputShape(2));
  // The batch is the input's, as in LiteRT: who edits a file's batch forgets this operand.
  if (shape.size() != 4 || filter.rank() != 4 || input.rank() != 4 || shape[3] != filter[0] || shape[1] < 1 ||
      shape[2] < 1 || shape[1] > kMaxDilatedKernel || shape[2] > kMaxDilatedKernel) {
    return Error(StatusCode::kMalformedInput, "its output shape {} can't come from an input of {} with a filter of {}",
                 fmt::format("{}", fmt::join(shape, "x")), input.ToString(), filter.ToString());
  }
  conv.height = shape[1];
  conv.width = shape[2];
  return Op(conv);
}

Result<Op> ReadBatchMatMul(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::BatchMatMulOptions* options, view.Options<wire::BatchMatMulOptions>());
  HEARTH_ASSIGN(const TensorDesc x, view.DescribeInput(0));
  if (x.dtype == DType::kInt8 && !x.quantization) return Error(StatusCode::kUnsupported, "of plain integers");
  return Op(BatchMatMul{.adjoint_a = options->adj_x(), .adjoint_b = options->adj_y()});
}

Result<Op> ReadFullyConnected(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::FullyConnectedOptions* options, view.Options<wire::FullyConnectedOptions>());
  if (options->weights_format() == wire::WeightsFormat_SHUFFLED4x16INT8) {
    return Error(StatusCode::kUnsupported, "no shuffled weights here");
  }
  if (options->weights_format() != wire::WeightsFormat_DEFAULT) {
    return Error(StatusCode::kMalformedInput, "there is no weights format {}",
                 static_cast<int>(options->weights_format()));
  }
  FullyConnected connected{.keep_dims = options->keep_num_dims()};
  HEARTH_ASSIGN(connected.activation, ReadActivation(options->fused_activation_function()));
  return Op(connected);
}

}  // namespace hearth
