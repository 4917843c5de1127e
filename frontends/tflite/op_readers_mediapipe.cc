// MediaPipe's custom operators. Their options are the C structs of TFLite's C API, made of little-endian 32-bit
// integers.
#include <array>
#include <cstring>

#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

// The first kCount integers of the options.
template <size_t kCount>
Result<std::array<int32_t, kCount>> ReadIntegers(const OperatorView& view) {
  const std::span<const std::byte> bytes = view.CustomOptions();
  std::array<int32_t, kCount> numbers;
  if (bytes.size() < sizeof(numbers)) {
    return Error(StatusCode::kMalformedInput, "its options have {} bytes, needs {}", bytes.size(), sizeof(numbers));
  }
  std::memcpy(numbers.data(), bytes.data(), sizeof(numbers));
  return numbers;
}

// The C enumeration: the file format's padding starts at 0, this one at 1.
Result<Padding2D> ReadPadding(int32_t padding) {
  if (padding == 1) return Padding2D{PaddingMode::kSame};
  if (padding == 2) return Padding2D{PaddingMode::kValid};
  return Error(StatusCode::kMalformedInput, "there is no padding mode {}", padding);
}

Result<Activation> ReadFused(int32_t activation) {
  constexpr Activation kKnown[] = {Activation::kNone, Activation::kRelu, Activation::kReluN1To1, Activation::kRelu6};
  if (activation >= 0 && activation < static_cast<int32_t>(std::size(kKnown))) return kKnown[activation];
  if (activation <= 6 && activation > 0) {
    return Error(StatusCode::kUnsupported, "no fused activation {} here", activation);
  }
  return Error(StatusCode::kMalformedInput, "there is no fused activation {}", activation);
}

struct PoolOptions {  // TfLitePoolParams without the pixel padding at its end
  int32_t padding, stride_w, stride_h, filter_w, filter_h, activation;
};

Result<PoolOptions> ReadPoolOptions(const OperatorView& view) {
  HEARTH_ASSIGN(const auto numbers, ReadIntegers<6>(view));
  const PoolOptions options{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
  HEARTH_TRY(CheckStep("a stride", options.stride_h, options.stride_w));
  HEARTH_TRY(CheckStep("a pooling window", options.filter_h, options.filter_w));
  return options;
}

}  // namespace

// TfLiteTransposeConvParams: padding, strides, and in newer files an activation, which MediaPipe's kernel ignores.
Result<Op> ReadTransposeConvBias(const OperatorView& view) {
  HEARTH_ASSIGN(const auto numbers, ReadIntegers<3>(view));
  TransposeConv conv{.stride_h = numbers[2], .stride_w = numbers[1]};
  HEARTH_TRY(CheckStep("a stride", conv.stride_h, conv.stride_w));
  HEARTH_ASSIGN(conv.padding, ReadPadding(numbers[0]));
  return Op(conv);
}

Result<Op> ReadMaxPoolArgmax(const OperatorView& view) {
  if (view.output_count() != 2) {
    return Error(StatusCode::kMalformedInput, "it has {} outputs, needs 2", view.output_count());
  }
  HEARTH_ASSIGN(const PoolOptions options, ReadPoolOptions(view));
  MaxPoolArgmax2D pool{.kernel_h = options.filter_h, .kernel_w = options.filter_w};
  pool.window.stride_h = options.stride_h;
  pool.window.stride_w = options.stride_w;
  HEARTH_ASSIGN(pool.window.padding, ReadPadding(options.padding));
  HEARTH_ASSIGN(pool.activation, ReadFused(options.activation));
  HEARTH_ASSIGN(const TensorDesc positions, view.DescribeOutput(1));
  if (positions.dtype != DType::kFloat32 && positions.dtype != DType::kFloat16) {
    return Error(StatusCode::kUnsupported, "its positions are {}, not real numbers", DTypeName(positions.dtype));
  }
  return Op(pool);
}

Result<Op> ReadMaxUnpool(const OperatorView& view) {
  HEARTH_ASSIGN(const PoolOptions options, ReadPoolOptions(view));
  HEARTH_ASSIGN(const TensorDesc positions, view.DescribeInput(1));
  if (positions.dtype != DType::kFloat32 && positions.dtype != DType::kFloat16) {
    return Error(StatusCode::kUnsupported, "its positions are {}, not real numbers", DTypeName(positions.dtype));
  }
  return Op(MaxUnpool2D{options.filter_h, options.filter_w, options.stride_h, options.stride_w});
}

Result<Op> ReadResampler(const OperatorView&) {
  return Op(Resampler{});
}

}  // namespace hearth
