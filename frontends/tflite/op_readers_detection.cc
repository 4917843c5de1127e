#include <cmath>
#include <limits>

#include "frontends/tflite/flex_options.h"
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

}  // namespace hearth
