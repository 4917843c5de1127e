#include "core/graph/op.h"

#include <algorithm>
#include <limits>

#include "core/base/numbers.h"

namespace hearth {
namespace {

struct AxisPadding {
  int32_t before = 0, after = 0;
};

int64_t DilatedSize(int32_t kernel, int32_t dilation) {
  return int64_t{dilation} * (int64_t{kernel} - 1) + 1;
}

AxisPadding SamePadding(int32_t in, int32_t kernel, int32_t stride, int32_t dilation) {
  if (in <= 0 || kernel <= 0 || stride <= 0 || dilation <= 0) return {};  // refused by shape inference
  const int64_t out = Tiles(in, stride);
  const int64_t missing = (out - 1) * stride + DilatedSize(kernel, dilation) - in;
  const int64_t total = std::clamp<int64_t>(missing, 0, std::numeric_limits<int32_t>::max());
  return {static_cast<int32_t>(total / 2), static_cast<int32_t>(total - total / 2)};
}

}  // namespace

Op::Op() = default;
Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;
Op::~Op() = default;

bool operator==(const Op& left, const Op& right) {
  return static_cast<const OpVariant&>(left) == static_cast<const OpVariant&>(right);
}

Padding2D ResolvePadding(const Window2D& window, int32_t in_h, int32_t in_w, int32_t kernel_h, int32_t kernel_w) {
  Padding2D resolved = window.padding;
  resolved.mode = PaddingMode::kExplicit;
  if (window.padding.mode == PaddingMode::kExplicit) return resolved;
  AxisPadding rows, columns;
  if (window.padding.mode == PaddingMode::kSame) {
    rows = SamePadding(in_h, kernel_h, window.stride_h, window.dilation_h);
    columns = SamePadding(in_w, kernel_w, window.stride_w, window.dilation_w);
  }
  resolved.top = rows.before;
  resolved.bottom = rows.after;
  resolved.left = columns.before;
  resolved.right = columns.after;
  return resolved;
}

int32_t WindowedSize(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t stride, int32_t dilation) {
  if (stride <= 0) return 0;
  const int64_t room = int64_t{in} + before + after - DilatedSize(kernel, dilation);
  if (room < 0) return 0;
  return static_cast<int32_t>(std::min<int64_t>(room / stride + 1, std::numeric_limits<int32_t>::max()));
}

}  // namespace hearth
