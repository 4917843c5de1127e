// Operators that several existing operations compute, so that every device supports them. Each function adds the nodes
// and returns the results, which are constants where the operands are. Errors are kMalformedInput if operands
// contradict each other, kUnsupported for a correct form that would become too large.
#ifndef HEARTH_FRONTENDS_WRITER_EXPANSIONS_H_
#define HEARTH_FRONTENDS_WRITER_EXPANSIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "frontends/writer/node_writer.h"

namespace hearth {

inline Expanded OneValue(Made value) {
  if (!value.ok()) return value.status();
  return std::vector<ValueId>{*value};
}

// boxes.cc. The operands of NonMaxSuppression, which also says what it returns. `sigma` may be absent; `most` may be 0.
struct Suppression {
  ValueId boxes = kNoValue, scores = kNoValue, least_overlap = kNoValue, least_score = kNoValue, sigma = kNoValue;
  int64_t most = 0;
  bool lower_index_first = false;
};
Expanded AddNonMaxSuppression(NodeWriter& to, const Suppression& suppression);

// volumes.cc. 3-D convolutions of float32 as 2-D ones: the depth of a window becomes channels. (x[N,D,H,W,I],
// filter[O,kh,kw,kd,I], bias[O]?), and the transposed one with filter[kd,kh,kw,O,I], whose result has `shape`.
struct Volume {
  int32_t stride_d = 1, dilation_d = 1;
  Window2D plane;  // padding kSame or kValid, for all three dimensions; or, of a convolution, kExplicit
  Activation activation = Activation::kNone;
  int32_t before_d = 0, after_d = 0;  // planes of zeros, for kExplicit
};
Made AddConv3D(NodeWriter& to, const Volume& volume, ValueId x, ValueId filter, ValueId bias);
Made AddConv3DTranspose(NodeWriter& to, const Volume& volume, ValueId shape, ValueId x, ValueId filter, ValueId bias);

// spectrum.cc. The Fourier transform of the last two dimensions of a real tensor, cut or padded to height and width: a
// product with the matrix of its cosines and sines. Returns a complex tensor of width / 2 + 1 frequencies.
Made AddRealSpectrum(NodeWriter& to, ValueId x, const std::vector<int64_t>& sizes);
// Each run of `size` elements of the last dimension, a power of 2, times Hadamard's matrix (Sylvester's) divided by the
// root of `size`.
Made AddHadamard(NodeWriter& to, ValueId x, int64_t size);
// A value that stands for the complex tensor (ValueMarks::complex).
ValueId AddComplex(NodeWriter& to, ValueId real, ValueId imaginary);

// places.cc: rows that are moved, or added up, to other indices.
// The last dimension of `diagonal` in the diagonal of `around`, or (kNoValue) of a square of zeros.
Made AddDiagonal(NodeWriter& to, ValueId diagonal, ValueId around);
// (indices[..., n], updates[..., rest]): zeros of `shape` plus the updates, summed per index.
Made AddScatterNd(NodeWriter& to, ValueId indices, ValueId updates, ValueId shape);
// Sums, products, maxima or minima of the slices of the data, which have the dimensions after those of the numbers, by
// segment number. `count` segments; nothing: up to the last number.
Made AddSegments(NodeWriter& to, BinaryKind kind, ValueId data, ValueId numbers, std::optional<int64_t> count);
// Reverses the first lengths[b] elements along `axis` for each b of dimension `batch_axis`, and keeps the others.
Made AddReverseSequence(NodeWriter& to, ValueId x, ValueId lengths, int axis, int batch_axis);

// The pixels of x[N,H,W,C] of any type that a nearest-neighbour resize takes.
Made AddNearest(NodeWriter& to, const Resize& resize, ValueId x);

// windows.cc: windows over any dimensions, and elements around and between those of a tensor.
inline constexpr int64_t kMostInDimension = int64_t{1} << 30;

// `value` with `between` copies of `number` between neighbours along dimension `axis`.
Made AddBetween(NodeWriter& to, ValueId value, int axis, int64_t between, double number);
// `value` with `before` and `after` copies of `number` around dimension `axis`; negative numbers cut off elements.
Made AddEdges(NodeWriter& to, ValueId value, int axis, int64_t before, int64_t after, double number);

// sums.cc: sums of products of integers by float32, which has all integers below this number.
inline constexpr int64_t kExactBelow = 1 << 24;
// Sums of integers as int32, of a device that may compute them by transforms.
Made AddWholeSums(NodeWriter& to, const Made& sums);
// As int32: product_of(first, count) of each `part` elements of the depth, added up.
Made AddSumOfParts(NodeWriter& to, int32_t depth, int32_t part,
                   const std::function<Made(int32_t, int32_t)>& product_of);

// slices.cc: parts of a tensor that begin where data say.
// A number: `offset`, plus element `element` of `value` unless that is kNoValue.
struct Start {
  ValueId value = kNoValue;
  int64_t element = 0, offset = 0;
};
// counts.cc. An element of integers, followed back through sums with constants and through what moves it: what two of
// them have in common is then seen.
Start StartOf(const NodeWriter& to, ValueId integers, int64_t element);
struct Part {  // of one dimension: `count` elements, every `stride`-th from `start` on
  Start start;
  int32_t count = 1, stride = 1;
  bool counts_from_end = false;  // negative starts do
};
// A part that data would begin outside of the tensor is moved into it. kUnsupported if it is longer than the tensor.
Made AddPartAt(NodeWriter& to, ValueId x, const std::vector<Part>& parts);

struct Windows {
  std::vector<int64_t> sizes, strides, dilations;  // by dimension
  BinaryKind kind = BinaryKind::kAdd;
};
// Combines the elements of each window, and `first`: one dimension at a time, one element of all windows at a time.
Made ReduceWindows(NodeWriter& to, ValueId value, const Windows& windows, double first);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_EXPANSIONS_H_
