// What a node computes: one attribute struct per operation family, and their variant.
// Semantics are those of TFLite's CPU interpreter; layouts are TFLite's too (NHWC
// activations, OHWI convolution filters, 1HWO depthwise filters).
#ifndef HEARTH_CORE_OP_H_
#define HEARTH_CORE_OP_H_

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "core/types.h"

namespace hearth {

enum class Activation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1, kTanh, kSigmoid };
std::string_view ActivationName(Activation activation);

// Rows of the table in ops/elementwise.cc, which gives each its name, meaning and kernel text.
enum class UnaryKind : uint8_t {
  kAbs,
  kCeil,
  kCos,
  kElu,
  kExp,
  kFloor,
  kGelu,
  kGeluTanh,
  kHardSwish,
  kLeakyRelu,
  kLog,
  kLogistic,
  kNeg,
  kRelu,
  kRelu0To1,
  kRelu6,
  kReluN1To1,
  kRound,
  kRsqrt,
  kSign,
  kSin,
  kSqrt,
  kSquare,
  kTanh,
  kCopy,
};
enum class BinaryKind : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kPow,
  kSquaredDifference,
  kFloorDiv,
  kFloorMod,
};

enum class PaddingMode : uint8_t { kSame, kValid, kExplicit };

// Zero padding of height and width. The four numbers count only for kExplicit.
struct Padding2D {
  PaddingMode mode = PaddingMode::kValid;
  int32_t top = 0, bottom = 0, left = 0, right = 0;
  friend bool operator==(const Padding2D&, const Padding2D&) = default;
};

struct Window2D {  // how a kernel moves over an image
  int32_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  Padding2D padding;
  friend bool operator==(const Window2D&, const Window2D&) = default;
};

// (x[N,H,W,C], filter[O,kh,kw,C/groups], bias[O]?) -> [N,H',W',O]
struct Conv2D {
  Window2D window;
  Activation activation = Activation::kNone;
  friend bool operator==(const Conv2D&, const Conv2D&) = default;
};

// (x[N,H,W,C], filter[1,kh,kw,C*multiplier], bias?) -> [N,H',W',C*multiplier]; output o reads channel o/multiplier
struct DepthwiseConv2D {
  Window2D window;
  Activation activation = Activation::kNone;
  friend bool operator==(const DepthwiseConv2D&, const DepthwiseConv2D&) = default;
};

enum class PoolKind : uint8_t { kAverage, kMax };  // padded elements are ignored, not counted
struct Pool2D {
  PoolKind kind = PoolKind::kAverage;
  int32_t kernel_h = 1, kernel_w = 1;
  Window2D window;
  Activation activation = Activation::kNone;
  friend bool operator==(const Pool2D&, const Pool2D&) = default;
};

struct Unary {
  UnaryKind kind = UnaryKind::kCopy;
  float alpha = 0.0f;  // kLeakyRelu's slope
  friend bool operator==(const Unary&, const Unary&) = default;
};

struct Binary {  // numpy broadcasting
  BinaryKind kind = BinaryKind::kAdd;
  Activation activation = Activation::kNone;
  friend bool operator==(const Binary&, const Binary&) = default;
};

struct Concat {
  int32_t axis = -1;  // negative counts from the end
  Activation activation = Activation::kNone;
  friend bool operator==(const Concat&, const Concat&) = default;
};

enum class ResizeKind : uint8_t { kBilinear, kNearest };
struct Resize {  // the new size is the output's shape
  ResizeKind kind = ResizeKind::kBilinear;
  int32_t height = 0, width = 0;
  bool align_corners = false, half_pixel_centers = false;
  friend bool operator==(const Resize&, const Resize&) = default;
};

struct Reshape {  // also SQUEEZE and EXPAND_DIMS
  Shape shape;
  friend bool operator==(const Reshape&, const Reshape&) = default;
};

struct Softmax {  // over the last dimension
  float beta = 1.0f;
  friend bool operator==(const Softmax&, const Softmax&) = default;
};

struct Pad {  // constant padding; before/after per dimension of the input
  Shape before, after;
  float value = 0.0f;
  friend bool operator==(const Pad&, const Pad&) = default;
};

// (x[..., K], filter[O,K], bias[O]?) -> [M,O], or [..., O] with keep_dims
struct FullyConnected {
  bool keep_dims = false;
  Activation activation = Activation::kNone;
  friend bool operator==(const FullyConnected&, const FullyConnected&) = default;
};

struct Mean {  // over `axes` (bit i set: dimension i)
  uint32_t axes_mask = 0;
  bool keep_dims = false;
  friend bool operator==(const Mean&, const Mean&) = default;
};

// An operator that no part of Hearth knows: kept so that inspect can name it.
struct UnknownOp {
  std::string name;
  friend bool operator==(const UnknownOp&, const UnknownOp&) = default;
};

using Op = std::variant<Conv2D, DepthwiseConv2D, Pool2D, Unary, Binary, Concat, Resize, Reshape, Softmax, Pad,
                        FullyConnected, Mean, UnknownOp>;

// Top, bottom, left, right in pixels for an input of height x width; SAME is TensorFlow's rule
// (the odd pixel goes to the bottom and right).
Padding2D ResolvePadding(const Window2D& window, int32_t in_h, int32_t in_w, int32_t kernel_h, int32_t kernel_w);

// Output pixels along one axis: (in + before + after - dilated_kernel) / stride + 1, at least 0.
int32_t WindowedSize(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t stride, int32_t dilation);

}  // namespace hearth

#endif  // HEARTH_CORE_OP_H_
