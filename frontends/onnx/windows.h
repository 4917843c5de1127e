// How windows of convolutions and pooling move over an operand whose channels come last.
#ifndef HEARTH_FRONTENDS_ONNX_WINDOWS_H_
#define HEARTH_FRONTENDS_ONNX_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "frontends/onnx/op_view.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {

inline constexpr int64_t kMostSize = int64_t{1} << 28;  // of a dimension that padding makes

// An attribute with one number for each spatial dimension, or each of their sides: from 0 to `most`.
Result<std::vector<int64_t>> PerDimension(const OpView& op, std::string_view name, size_t count, int64_t otherwise,
                                          int64_t most = kMostSize);

// By spatial dimension.
struct Windowing {
  std::vector<int64_t> kernel, stride, dilation, before, after;
};

// The kind of ConvTranspose's row: its automatic padding follows from the size of its output.
inline constexpr int kTransposed = -1;

// Whether automatic padding keeps sizes, but for the stride.
bool IsSame(std::string_view pad);

// The sizes of a filter[O,C/groups,...]'s window; those of the operator's attribute must be the same.
Result<std::vector<int64_t>> KernelOf(const OpView& op, const Shape& filter);

// From the attributes, of at most `most` dimensions; `x` is the operand's shape, channels last.
Result<Windowing> WindowingOf(const OpView& op, const std::vector<int64_t>& kernel, const Shape& x, size_t most = 3);

// A picture of one or two spatial dimensions as one of two: [N,L,C] becomes [N,1,L,C]. And back, for its rank.
Made AsPlane(NodeWriter& to, const Made& x);
Made FromPlane(NodeWriter& to, const Made& x, int rank);
// The windows of a plane: those of a line lie in its second dimension.
Window2D PlaneWindow(const Windowing& w);
Volume VolumeOf(const Windowing& w);  // of three dimensions
// Pads the spatial dimensions, 1 and following.
Made AddSpatialPad(NodeWriter& to, Made x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                   double number);

// x[N,...,C] by filter[O,C/groups,...] and bias[O] (or kNoValue); channels last. of_integers: exact sums, as int32
// (ConvInteger), with the zero point of x in place of the bias.
Made AddConvolution(NodeWriter& to, const Windowing& w, const Made& x, const Made& filter, ValueId bias, int64_t groups,
                    bool of_integers = false);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_WINDOWS_H_
