// Custom operators. The options of TFLite_Detection_PostProcess are FlexBuffers. Those of MediaPipe's operators are the
// C structs of TFLite's C API, made of little-endian 32-bit integers.
#include <flatbuffers/flexbuffers.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

constexpr size_t kMaxOptionsBytes = 1 << 16;
constexpr int32_t kMaxCount = 1 << 20;  // detections or classes

// A FlexBuffers map of named numbers. Reads only what the verifier accepted.
class OptionsMap {
 public:
  static Result<OptionsMap> Parse(std::span<const std::byte> bytes) {
    if (bytes.empty() || bytes.size() > kMaxOptionsBytes) {
      return Error(StatusCode::kMalformedInput, "its options take {} bytes", bytes.size());
    }
    OptionsMap options;
    options.bytes_.resize((bytes.size() + 7) / 8);  // copied, because numbers are aligned to the buffer's start
    std::memcpy(options.bytes_.data(), bytes.data(), bytes.size());
    const auto* data = reinterpret_cast<const uint8_t*>(options.bytes_.data());
    std::vector<uint8_t> reuse;
    if (bytes.size() < 3 || !flexbuffers::VerifyBuffer(data, bytes.size(), &reuse)) {
      return Error(StatusCode::kMalformedInput, "its options are not FlexBuffers data");
    }
    options.root_ = flexbuffers::GetRoot(data, bytes.size());
    if (!options.root_.IsMap()) return Error(StatusCode::kMalformedInput, "its options are not a map of names");
    return options;
  }

  // `fallback` if the map lacks the name.
  Result<float> Number(const char* name, float fallback = std::numeric_limits<float>::quiet_NaN()) const {
    const flexbuffers::Reference found = root_.AsMap()[name];
    const float number = found.IsNull() ? fallback : found.IsNumeric() ? found.AsFloat() : std::nanf("");
    if (std::isfinite(number)) return number;
    return Error(StatusCode::kMalformedInput, "its option '{}' is missing or not a finite number", name);
  }

  Result<int32_t> Count(const char* name, int32_t fallback = 0) const {
    const flexbuffers::Reference found = root_.AsMap()[name];
    const int64_t number = found.IsNull() ? fallback : found.IsIntOrUint() ? found.AsInt64() : 0;
    if (number >= 1 && number <= kMaxCount) return static_cast<int32_t>(number);
    return Error(StatusCode::kMalformedInput, "its option '{}' is missing or not a count of 1 to {}", name, kMaxCount);
  }

  bool Flag(const char* name) const {
    const flexbuffers::Reference found = root_.AsMap()[name];
    return (found.IsBool() || found.IsIntOrUint()) && found.AsBool();
  }

 private:
  std::vector<uint64_t> bytes_;
  flexbuffers::Reference root_{nullptr, 1, 0};
};

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
Result<Padding2D> PaddingOfNumber(int32_t padding) {
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

Result<Op> ReadDetectionPostProcess(const OperatorView& view) {
  HEARTH_ASSIGN(const OptionsMap options, OptionsMap::Parse(view.CustomOptions()));
  DetectionPostProcess op;
  HEARTH_ASSIGN(op.max_detections, options.Count("max_detections"));
  HEARTH_ASSIGN(op.max_classes_per_detection, options.Count("max_classes_per_detection"));
  HEARTH_ASSIGN(op.detections_per_class, options.Count("detections_per_class", 100));
  HEARTH_ASSIGN(op.num_classes, options.Count("num_classes"));
  op.use_regular_nms = options.Flag("use_regular_nms");
  HEARTH_ASSIGN(op.score_threshold, options.Number("nms_score_threshold"));
  HEARTH_ASSIGN(op.iou_threshold, options.Number("nms_iou_threshold"));
  HEARTH_ASSIGN(op.y_scale, options.Number("y_scale"));
  HEARTH_ASSIGN(op.x_scale, options.Number("x_scale"));
  HEARTH_ASSIGN(op.h_scale, options.Number("h_scale"));
  HEARTH_ASSIGN(op.w_scale, options.Number("w_scale"));
  for (const float scale : {op.y_scale, op.x_scale, op.h_scale, op.w_scale}) {
    if (scale <= 0.0f) return Error(StatusCode::kMalformedInput, "a box scale of {} is not positive", scale);
  }
  return Op(op);
}

// ai-edge-quantizer's: runs of the last dimension are rotated.
Expanded ExpandHadamardRotation(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const OptionsMap options, OptionsMap::Parse(op.CustomOptions()));
  HEARTH_ASSIGN(const int32_t size, options.Count("hadamard_size"));
  return OneValue(AddHadamard(to, op.operand(0), size));
}

// TfLiteTransposeConvParams: padding, strides, and in newer files an activation, which MediaPipe's kernel ignores.
Result<Op> ReadTransposeConvBias(const OperatorView& view) {
  HEARTH_ASSIGN(const auto numbers, ReadIntegers<3>(view));
  TransposeConv conv{.stride_h = numbers[2], .stride_w = numbers[1]};
  HEARTH_TRY(CheckStep("a stride", conv.stride_h, conv.stride_w));
  HEARTH_ASSIGN(conv.padding, PaddingOfNumber(numbers[0]));
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
  HEARTH_ASSIGN(pool.window.padding, PaddingOfNumber(options.padding));
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

}  // namespace hearth
