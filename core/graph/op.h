// What a node computes: one attribute struct per operation family, and their variant.
// Semantics are those of TFLite's CPU interpreter; layouts are TFLite's too (NHWC
// activations, OHWI convolution filters, 1HWO depthwise filters). Operations that only move elements are in
// movement_ops.h, those that the host runs on every device in host_ops.h.
#ifndef HEARTH_CORE_GRAPH_OP_H_
#define HEARTH_CORE_GRAPH_OP_H_

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/members.h"
#include "core/graph/host_ops.h"
#include "core/graph/movement_ops.h"
#include "core/graph/types.h"

namespace hearth {

enum class Activation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1, kTanh, kSigmoid };
std::string_view ActivationName(Activation activation);

// Rows of the table in ops/elementwise_table.cc, which gives each its name, meaning and kernel text.
enum class UnaryKind : uint8_t {
  kAbs,
  kCeil,
  kCos,
  kElu,
  kErf,
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
  kLogicalNot,
  kQuantize,
  kDequantize,
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
  kAtan2,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kLogicalAnd,
  kLogicalOr,
  kBitwiseXor,
  kBitwiseAnd,
  kRightShift,
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
};

// (x[N,H,W,C], filter[1,kh,kw,C*multiplier], bias?) -> [N,H',W',C*multiplier]; output o reads channel o/multiplier
struct DepthwiseConv2D {
  Window2D window;
  Activation activation = Activation::kNone;
};

// (x, weights, zero[]?) -> int32: exact sums of products of 8-bit integers; those beyond 32 bits wrap. x is plain, as
// is the zero point that is taken off each of its elements; padding is that number. Constant weights are quantized with
// scale 1 and a zero point, or one for each O: [O,C] for rows x[...,C], [O,kh,kw,C/groups] for images. The pass
// to_floats makes floats of it where nothing multiplies bytes.
struct ConvInteger {
  Window2D window;  // of images
};

enum class PoolKind : uint8_t {
  kAverage,
  kMax,
  kL2
};  // padded elements are ignored, not counted; kL2: sqrt(mean(x^2))
struct Pool2D {
  PoolKind kind = PoolKind::kAverage;
  int32_t kernel_h = 1, kernel_w = 1;
  Window2D window;
  Activation activation = Activation::kNone;
};

struct Unary {
  UnaryKind kind = UnaryKind::kCopy;
  float alpha = 0.0f;  // kLeakyRelu's slope; of kQuantize 1: divides by the scale, else it takes the inverse
};

struct Binary {  // numpy broadcasting
  BinaryKind kind = BinaryKind::kAdd;
  Activation activation = Activation::kNone;
};

struct Concat {
  int32_t axis = -1;  // negative counts from the end
  Activation activation = Activation::kNone;
};

enum class ResizeKind : uint8_t { kBilinear, kNearest };
struct Resize {  // the new size is the output's shape
  ResizeKind kind = ResizeKind::kBilinear;
  int32_t height = 0, width = 0;
  bool align_corners = false, half_pixel_centers = false;
};

struct Reshape {  // also SQUEEZE and EXPAND_DIMS
  Shape shape;
};

struct Softmax {  // over the last dimension
  float beta = 1.0f;
};

struct Pad {  // constant padding; before/after per dimension of the input
  Shape before, after;
  double value = 0.0;
};

// (x[..., K], filter[O,K], bias[O]?) -> [M,O], or [..., O] with keep_dims
struct FullyConnected {
  bool keep_dims = false;
  Activation activation = Activation::kNone;
};

// ---- Reductions and searches ----

enum class ReduceKind : uint8_t { kMean, kSum, kMax, kMin, kProd, kAny, kAll };
struct Reduce {  // over the dimensions of `axes_mask` (bit i set: dimension i)
  ReduceKind kind = ReduceKind::kMean;
  uint32_t axes_mask = 0;
  bool keep_dims = false;
};

enum class ArgKind : uint8_t { kMax, kMin };
struct ArgReduce {  // index of the first extreme element along `axis`, which the output lacks
  ArgKind kind = ArgKind::kMax;
  int32_t axis = -1;
};

struct TopK {  // (x) -> (values, indices): the k largest along the last dimension, largest first
  int32_t k = 1;
};

struct CumSum {
  int32_t axis = 0;  // negative counts from the end
  bool exclusive = false, reverse = false;
};

struct LogSoftmax {};  // over the last dimension

struct L2Normalization {  // over the last dimension
  Activation activation = Activation::kNone;
};

// x / (bias + alpha * sum of squares of the 2 * radius + 1 channels around)^beta
struct LocalResponseNormalization {
  int32_t radius = 5;
  float bias = 1.0f, alpha = 1.0f, beta = 0.5f;
};

// (x, scale?, offset?) -> (x - mean) / sqrt(variance + epsilon) * scale + offset, scale and offset with one number per
// element of the last dimension. Mean and variance are those of all elements that differ only in the dimensions of
// `axes_mask`: the last one for layer normalization, height and width for instance normalization.
struct MeanVarianceNormalization {
  uint32_t axes_mask = 0;
  // If above 0, group normalization: the last dimension, which is none of the axes, is split into so many equal
  // groups, each normalized as a whole.
  int32_t groups = 0;
  bool root_mean_square = false;  // the mean counts as 0
  float epsilon = 0.0f;
  Activation activation = Activation::kNone;
};

// ---- Elementwise beyond one table row ----

struct Select {};      // (condition, a, b) -> condition ? a : b, numpy broadcasting
struct SelectRows {};  // TFLite's SELECT with a rank 1 condition: one element chooses a whole slice of dimension 0
struct PRelu {};       // (x, alpha), alpha broadcast to x
struct Cast {          // to the output's element type; floats are truncated towards zero
  DType to = DType::kFloat32;
};
struct AddN {};  // the sum of any number of tensors of one shape

// ---- Products ----

// (a[..., M, K], b[..., K, N]) -> [..., M, N], leading dimensions broadcast; adjoint: the last two are swapped
struct BatchMatMul {
  bool adjoint_a = false, adjoint_b = false;
};
// (x[N,H,W,I], filter[O,kh,kw,I], bias[O]?) -> [N, height, width, O]: the gradient of a convolution from an image of
// that size. Pixels that no window reaches hold the bias.
struct TransposeConv {
  // The output's size. 0 for both, as MediaPipe computes it: stride * (size - 1) + kernel less the padding, which for
  // SAME leaves min(kernel, (size - 1) % stride + 1) of the kernel.
  int32_t height = 0, width = 0;
  int32_t stride_h = 1, stride_w = 1;
  Padding2D padding;  // of the convolution
  Activation activation = Activation::kNone;
};

// ---- MediaPipe's pooling with argmax, and sampling ----

// (x[N,H,W,C]) -> (maxima, indices), both [N,H',W',C]: the index of the first maximum in its window, as the real
// number y * kernel_w + x + 0.1.
struct MaxPoolArgmax2D {
  int32_t kernel_h = 1, kernel_w = 1;
  Window2D window;                            // not dilated
  Activation activation = Activation::kNone;  // of the maxima
};
// (x[N,H,W,C], indices[N,H,W,C]) -> [N, H * kernel_h, W * kernel_w, C]: each element at its index in its window,
// zero elsewhere. Where windows overlap, the last one counts; indices outside the window or the image are ignored.
struct MaxUnpool2D {
  int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
};
// (x[N,H,W,C], points[N,h,w,2 or more]) -> [N,h,w,C]: x at the point (points[..., 0], points[..., 1]) = (column, row)
// by bilinear interpolation; zero outside of the image.
struct Resampler {};

// ---- Detection ----

// (box encodings[1,N,4+], scores[1,N,num_classes or one more], anchors[N,4]) ->
// (boxes[1,R,4], classes[1,R], scores[1,R], count[1]) with R = max_detections * max_classes_per_detection.
// Encodings are y, x, h, w in units of the anchor (y, x, h, w) times the scales; boxes are ymin, xmin, ymax, xmax.
struct DetectionPostProcess {
  int32_t max_detections = 1, max_classes_per_detection = 1, detections_per_class = 100;
  int32_t num_classes = 1;
  bool use_regular_nms = false;
  float score_threshold = 0.0f, iou_threshold = 0.0f;
  float y_scale = 1.0f, x_scale = 1.0f, h_scale = 1.0f, w_scale = 1.0f;
};

// ---- Recurrent ----
// Sequences x are [B,T,I], [T,B,I] with time_major, or [B,I] for one step. States go in and come out: a graph that
// remembers ties them (Graph::states). The weights of the gates are stacked: gate g has rows g*U to g*U+U-1.

// (x, h[B,O], c[B,U], weights[G*U,I], recurrent[G*U,O], bias[G*U], peephole[(G-1)*U]?, normalization[G*U]?,
// projection[O,U]?, projection_bias[O]?, weight_scales[G*U]?, recurrent_scales[G*U]?) -> (y, new h, new c). Gates:
// input, forget, cell, output (G 4), or without the input gate, which then is 1 - forget (G 3). Peepholes: those of the
// gates but cell. Layer normalization multiplies by `normalization` before `bias` is added. O is U without projection.
// Clips of 0 mean none. With scales, weights are whole numbers, and products take x and each h in steps (CountSteps in
// ops/recurrent.h): onnxruntime's DynamicQuantizeLSTM.
struct Lstm {
  bool time_major = false;
  Activation activation = Activation::kNone;  // of the cell gate and of the cell in the output
  float cell_clip = 0.0f, proj_clip = 0.0f;
};
// (x, h[B,U], weights[U,I], recurrent[U,U], bias[U]) -> (y, new h): h = activation(weights x + recurrent h + bias)
struct Rnn {
  bool time_major = false;
  Activation activation = Activation::kNone;
};
// (x[B,I], state[B,F*M], feature weights[F,I], time weights[F,M], bias[F/rank]?) -> (y[B,F/rank], new state): each of F
// filters remembers its last M features; `rank` neighbouring filters are summed into one output.
struct Svdf {
  int32_t rank = 1;
  Activation activation = Activation::kNone;
};

// An operator that Hearth does not know, or not in this form. It is kept so that inspect can name it.
struct UnknownOp {
  std::string name;
  std::string reason;  // why the form is not supported; empty for an unknown operator
};

// In the order of the rows of op_table.cc.
using OpVariant =
    std::variant<Conv2D, DepthwiseConv2D, Pool2D, Unary, Binary, Concat, Resize, Reshape, Softmax, Pad, FullyConnected,
                 Reduce, ArgReduce, TopK, CumSum, LogSoftmax, L2Normalization, LocalResponseNormalization, Select,
                 SelectRows, PRelu, Cast, AddN, Transpose, Slice, Split, Pack, Unpack, Tile, BroadcastTo, Reverse,
                 DepthToSpace, SpaceToDepth, SpaceToBatch, BatchToSpace, MirrorPad, DynamicUpdateSlice, Gather,
                 GatherNd, OneHot, BatchMatMul, TransposeConv, MaxPoolArgmax2D, MaxUnpool2D, Resampler,
                 DetectionPostProcess, Lstm, Rnn, Svdf, MeanVarianceNormalization, Bitcast, DynamicQuantize,
                 ConvInteger, Random, RandomBits, Scatter, Where, Unique, NonMaxSuppression, Loop, Custom, UnknownOp>;

// The place of an operation's type in Op; the number of types for any other.
template <typename T, typename... Ops>
constexpr size_t OpIndexIn(const std::variant<Ops...>*) {
  size_t index = 0;
  (void)((std::is_same_v<T, Ops> || (++index, false)) || ...);
  return index;
}
template <typename T>
constexpr size_t kOpIndex = OpIndexIn<T>(static_cast<const OpVariant*>(nullptr));

// Attributes are equal if all their members are.
template <typename T>
requires(kOpIndex<T> < std::variant_size_v<OpVariant>) bool operator==(const T& one, const T& other) {
  return HaveEqualMembers(one, other);
}

// A class, so that copying, moving and comparing 59 alternatives are compiled once. As a mere std::variant these were
// 0.3 of the functions in every source that holds a node, and 0.25 of its compile time (clang, 16 tests).
class Op : public OpVariant {
 public:
  Op();
  Op(const Op&);
  Op(Op&&) noexcept;
  Op& operator=(const Op&);
  Op& operator=(Op&&) noexcept;
  ~Op();

  template <typename T>
  requires(kOpIndex<T> < std::variant_size_v<OpVariant>) Op(T attributes)  // NOLINT(google-explicit-constructor)
      : OpVariant(std::in_place_type<T>, std::move(attributes)) {}

  friend bool operator==(const Op&, const Op&);
};

// Whether the operation is one of these.
template <typename... Operations>
bool IsOneOf(const Op& op) {
  return (std::holds_alternative<Operations>(op) || ...);
}

// Top, bottom, left, right in pixels for an input of height x width; SAME is TensorFlow's rule
// (the odd pixel goes to the bottom and right).
Padding2D ResolvePadding(const Window2D& window, int32_t in_h, int32_t in_w, int32_t kernel_h, int32_t kernel_w);
// Whether there are pixels on any side.
inline bool HasPixels(const Padding2D& padding) {
  return padding.top != 0 || padding.bottom != 0 || padding.left != 0 || padding.right != 0;
}

// Output pixels along one axis: (in + before + after - dilated_kernel) / stride + 1, at least 0.
int32_t WindowedSize(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t stride, int32_t dilation);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_H_
