#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

constexpr int32_t kMaxImageSide = 1 << 20;  // pixels: coordinates of this size are exact in float32
constexpr int64_t kMaxPaddedSize = int64_t{1} << 30;

// The product of the dimensions that are not 0.
int64_t CountBesideZeros(const Shape& shape) {
  int64_t count = 1;
  for (const int32_t dim : shape.dims()) count *= dim == 0 ? 1 : dim;
  return count;
}

// The shape that `wanted`, with at most one -1, gives to the elements of `input`.
Result<Shape> ResolveShape(std::span<const int32_t> wanted, const Shape& input) {
  if (wanted.size() > Shape::kMaxRank) {
    return Error(StatusCode::kMalformedInput, "the new shape has rank {}; at most {} is possible", wanted.size(),
                 int{Shape::kMaxRank});
  }
  Shape shape = Shape::FromSpan(wanted);
  int stretched = -1;
  const bool has_zero = std::ranges::count(wanted, 0) > 0;
  bool fits = !has_zero || input.element_count() == 0;
  if (has_zero && fits && std::ranges::count(wanted, -1) == 0 && std::ranges::min(wanted) == 0) return shape;
  // The elements that the dimensions so far don't cover, found by division, which can't overflow. If there is a 0, -1
  // takes the rest of the input's dimensions that are not 0, as in LiteRT.
  int64_t left = has_zero ? CountBesideZeros(input) : input.element_count();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && stretched < 0) {
      stretched = i;
    } else if (shape[i] < 0) {
      return Error(StatusCode::kMalformedInput, "the new shape {} has no meaning", shape.ToString());
    } else if (shape[i] > 0) {
      fits = fits && left % shape[i] == 0;
      left /= shape[i];
    }
  }
  fits = fits && (stretched < 0 ? left == 1 : left <= std::numeric_limits<int32_t>::max());
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "{} elements do not fit the new shape {}", input.element_count(),
                 shape.ToString());
  }
  if (stretched >= 0) shape[stretched] = static_cast<int32_t>(left);
  return shape;
}

template <typename Options>
Result<Op> ReadResize(const OperatorView& view, ResizeKind kind) {
  HEARTH_ASSIGN(const Options* options, view.Options<Options>());
  HEARTH_ASSIGN(const std::vector<int32_t> size, view.ConstantIntegers(1));
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || size[0] > kMaxImageSide || size[1] > kMaxImageSide) {
    return Error(StatusCode::kMalformedInput, "the new size in {} is not a height and width of 1 to {}",
                 view.InputLabel(1), kMaxImageSide);
  }
  return Op(Resize{.kind = kind,
                   .height = size[0],
                   .width = size[1],
                   .align_corners = options->align_corners(),
                   .half_pixel_centers = options->half_pixel_centers()});
}

}  // namespace

Result<Op> ReadConcatenation(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::ConcatenationOptions* options, view.Options<wire::ConcatenationOptions>());
  HEARTH_ASSIGN(const Shape first, view.InputShape(0));
  Concat concat;
  HEARTH_ASSIGN(concat.axis, ResolveAxis(options->axis(), first.rank()));
  HEARTH_ASSIGN(concat.activation, ReadActivation(options->fused_activation_function()));
  return Op(concat);
}

Result<Op> ReadExpandDims(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const int32_t axis, view.ConstantAxis(1, input.rank() + 1));
  HEARTH_ASSIGN(const Shape shape, ResolveShape(WithDimension(input, axis, 1).dims(), input));
  return Op(Reshape{shape});
}

// Paddings are [rank, 2] numbers, before and after each dimension.
Result<Op> ReadPad(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const std::vector<int32_t> paddings, view.ConstantIntegers(1));
  if (paddings.size() != 2 * static_cast<size_t>(input.rank())) {
    return Error(StatusCode::kMalformedInput, "{} paddings for an input of shape {}; two for each dimension belong",
                 paddings.size(), input.ToString());
  }
  Pad pad{.before = input, .after = input};
  for (int i = 0; i < input.rank(); ++i) {
    pad.before[i] = paddings[2 * i];
    pad.after[i] = paddings[2 * i + 1];
    if (pad.before[i] < 0 || pad.after[i] < 0 || int64_t{pad.before[i]} + input[i] + pad.after[i] > kMaxPaddedSize) {
      return Error(StatusCode::kMalformedInput, "paddings of {} and {} around dimension {} of shape {}", pad.before[i],
                   pad.after[i], i, input.ToString());
    }
  }
  if (view.HasInput(2)) {  // of PADV2
    HEARTH_ASSIGN(pad.value, view.ConstantReal(2));
  }
  return Op(pad);
}

// Converters write a RESHAPE with the file's batch, and the interpreter refuses any other. If the caller chose another
// batch and only that differs from the file, a shape with the file's batch takes the chosen one.
Status TakeChosenBatch(const OperatorView& view, const Shape& input, std::vector<int32_t>& wanted) {
  HEARTH_ASSIGN(const Shape file, view.InputFileShape(0));
  if (wanted.empty() || input.rank() == 0 || input.rank() != file.rank() || input[0] == file[0]) return Status::Ok();
  const bool is_only_batch = std::equal(input.dims().begin() + 1, input.dims().end(), file.dims().begin() + 1);
  const bool fits_file = ResolveShape(wanted, file).ok();
  const bool fits_input = ResolveShape(wanted, input).ok();
  if (is_only_batch && wanted[0] == file[0] && fits_file && !fits_input) wanted[0] = input[0];
  return Status::Ok();
}

Result<Op> ReadReshape(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::ReshapeOptions* options, view.Options<wire::ReshapeOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  std::vector<int32_t> wanted;
  if (view.HasInput(1)) {  // the operand overrides the option
    HEARTH_ASSIGN(wanted, view.ConstantIntegers(1));
  } else if (options->new_shape() != nullptr && options->new_shape()->size() <= Shape::kMaxRank) {
    wanted = CopyOf(options->new_shape());
  } else {
    return Error(StatusCode::kMalformedInput, "neither an operand nor an option gives the new shape");
  }
  if (wanted == std::vector<int32_t>{0} && input.element_count() > 0)
    wanted.clear();  // early converters wrote a scalar so
  HEARTH_TRY(TakeChosenBatch(view, input, wanted));
  HEARTH_ASSIGN(const Shape shape, ResolveShape(wanted, input));
  return Op(Reshape{shape});
}

Result<Op> ReadResizeBilinear(const OperatorView& view) {
  return ReadResize<wire::ResizeBilinearOptions>(view, ResizeKind::kBilinear);
}

Result<Op> ReadResizeNearestNeighbor(const OperatorView& view) {
  return ReadResize<wire::ResizeNearestNeighborOptions>(view, ResizeKind::kNearest);
}

Result<Op> ReadSqueeze(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::SqueezeOptions* options, view.Options<wire::SqueezeOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  const bool names_dims = options->squeeze_dims() != nullptr && options->squeeze_dims()->size() > 0;
  if (names_dims && options->squeeze_dims()->size() > Shape::kMaxRank) {
    return Error(StatusCode::kMalformedInput, "{} dimensions to squeeze", options->squeeze_dims()->size());
  }
  HEARTH_ASSIGN(const uint32_t mask, ResolveAxes(CopyOf(options->squeeze_dims()), input.rank()));
  std::vector<int32_t> dims;
  for (int i = 0; i < input.rank(); ++i) {
    const bool squeezed = names_dims ? (mask >> i & 1) != 0 : input[i] == 1;
    if (squeezed && input[i] != 1) {
      return Error(StatusCode::kMalformedInput, "dimension {} of shape {} is squeezed but is not 1", i,
                   input.ToString());
    }
    if (!squeezed) dims.push_back(input[i]);
  }
  return Op(Reshape{Shape::FromSpan(dims)});
}

}  // namespace hearth
