// SLICE and STRIDED_SLICE with their masks resolved.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "frontends/tflite/op_readers.h"
#include "frontends/tflite/operator_table.h"

namespace hearth {
namespace {

bool HasBit(int32_t mask, int bit) {
  return (static_cast<uint32_t>(mask) >> bit & 1u) != 0;
}

// Begin, end and stride of one dimension in the file. `entry` is its bit in the masks.
struct Range {
  int32_t begin = 0, end = 0, stride = 1;
  int entry = 0;
};

// Every stride-th element from `begin` on.
struct Run {
  int32_t begin = 0, size = 0, stride = 1;
};

// Negative indices count from the end, and a range is clamped to the dimension. With a negative stride the position
// before the first element is -1.
Result<Run> Resolve(const Range& range, const wire::StridedSliceOptions& options, int32_t dim) {
  const bool forward = range.stride > 0;
  const int64_t lowest = forward ? 0 : -1, highest = forward ? dim : int64_t{dim} - 1;
  const auto clamped = [&](int64_t position) {
    return std::clamp(position < 0 ? position + dim : position, lowest, highest);
  };
  const int64_t begin =
      HasBit(options.begin_mask(), range.entry) ? (forward ? 0 : int64_t{dim} - 1) : clamped(range.begin);
  int64_t end = HasBit(options.end_mask(), range.entry) ? (forward ? highest : lowest)
                : options.offset()                      ? std::clamp(begin + range.end, lowest, highest)
                                                        : clamped(range.end);
  if (HasBit(options.shrink_axis_mask(), range.entry)) {
    if (!forward) return Error(StatusCode::kMalformedInput, "a dimension is taken out with stride {}", range.stride);
    end = std::min<int64_t>(begin + 1, dim);
  }
  const int64_t length = forward ? end - begin : begin - end, step = forward ? range.stride : -int64_t{range.stride};
  if (length < 1) {
    if (!HasBit(options.shrink_axis_mask(), range.entry)) return Run{};
    return Error(StatusCode::kUnsupported, "element {} of a dimension of {} does not exist", range.begin, dim);
  }
  return Run{static_cast<int32_t>(begin), static_cast<int32_t>((length + step - 1) / step), range.stride};
}

struct StridedOperands {
  std::vector<int32_t> begin, end, strides;
};

Result<StridedOperands> ReadStridedOperands(const OperatorView& view) {
  StridedOperands operands;
  HEARTH_ASSIGN(operands.begin, view.ConstantIntegers(1));
  HEARTH_ASSIGN(operands.end, view.ConstantIntegers(2));
  HEARTH_ASSIGN(operands.strides, view.ConstantIntegers(3));
  const size_t count = operands.begin.size();
  if (operands.end.size() != count || operands.strides.size() != count) {
    return Error(StatusCode::kMalformedInput, "{} begins, {} ends and {} strides", count, operands.end.size(),
                 operands.strides.size());
  }
  if (std::count(operands.strides.begin(), operands.strides.end(), 0) > 0) {
    return Error(StatusCode::kMalformedInput, "a stride of 0");
  }
  return operands;
}

// One dimension's part, where its begin or end is computed at run time.
Result<Part> PartOf(const OperatorView& op, const wire::StridedSliceOptions& options, int entry, int32_t stride,
                    int32_t dim) {
  const bool takes_out = HasBit(options.shrink_axis_mask(), entry);
  const Start begin = HasBit(options.begin_mask(), entry) ? Start{} : StartOf(op.to(), op.operand(1), entry);
  Start end = HasBit(options.end_mask(), entry) ? Start{.offset = dim} : StartOf(op.to(), op.operand(2), entry);
  if (begin.value == kNoValue && (end.value == kNoValue || takes_out)) {
    const auto in_32_bits = [](int64_t number) {
      return static_cast<int32_t>(
          std::clamp<int64_t>(number, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
    };
    const Range range{in_32_bits(begin.offset), in_32_bits(end.offset), stride, entry};
    HEARTH_ASSIGN(const Run run, Resolve(range, options, dim));
    return Part{{.offset = run.begin}, run.size, run.stride};
  }
  if (options.offset() && end.value == kNoValue) end = {begin.value, begin.element, begin.offset + end.offset};
  int64_t length = end.offset - begin.offset;
  if (takes_out) length = 1;
  const bool is_known = takes_out || (begin.value == end.value && begin.element == end.element);
  if (!is_known || HasBit(options.end_mask(), entry) || stride < 1 || length < 1 || length > dim) {
    return Error(StatusCode::kUnsupported, "how many elements of dimension {} it takes{}", entry,
                 op.to().ComputedFrom(begin.value == kNoValue ? end.value : begin.value));
  }
  return Part{begin, static_cast<int32_t>((length + stride - 1) / stride), stride, true};
}

// The shape of the result. take(d, entry) says how many elements of dimension `d` the entry takes; -1: all of them, as
// no entry stands for it.
template <typename Take>
Result<Shape> ShapeOfParts(const wire::StridedSliceOptions& options, int entries, const Shape& input,
                           const Take& take) {
  int taken = 0;  // all entries but the ellipsis and new dimensions
  for (int i = 0; i < entries; ++i) {
    taken += HasBit(options.ellipsis_mask(), i) || HasBit(options.new_axis_mask(), i) ? 0 : 1;
  }
  if (taken > input.rank()) {
    return Error(StatusCode::kMalformedInput, "ranges for {} dimensions of shape {}", taken, input.ToString());
  }
  std::vector<int32_t> shape;
  int d = 0;
  const auto take_whole = [&](int count) -> Status {
    for (; count > 0; --count) {
      HEARTH_ASSIGN(const int32_t size, take(d++, -1));
      shape.push_back(size);
    }
    return Status::Ok();
  };
  int left_out = input.rank() - taken;
  for (int i = 0; i < entries; ++i) {
    if (HasBit(options.ellipsis_mask(), i)) {  // all dimensions without an entry
      HEARTH_TRY(take_whole(std::exchange(left_out, 0)));
    } else if (HasBit(options.new_axis_mask(), i)) {
      shape.push_back(1);
    } else {
      HEARTH_ASSIGN(const int32_t size, take(d++, i));
      if (!HasBit(options.shrink_axis_mask(), i)) shape.push_back(size);
    }
  }
  HEARTH_TRY(take_whole(input.rank() - d));
  if (shape.size() <= Shape::kMaxRank) return Shape::FromSpan(shape);
  return Error(StatusCode::kUnsupported, "a result of rank {}; at most {} is possible", shape.size(),
               int{Shape::kMaxRank});
}

}  // namespace

Result<Op> ReadSlice(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const std::vector<int32_t> begin, view.ConstantIntegers(1));
  HEARTH_ASSIGN(const std::vector<int32_t> size, view.ConstantIntegers(2));
  const auto rank = static_cast<size_t>(input.rank());
  if (begin.size() != rank || size.size() != rank) {
    return Error(StatusCode::kMalformedInput, "{} begins and {} sizes for an input of shape {}", begin.size(),
                 size.size(), input.ToString());
  }
  Slice slice{.begin = Shape::FromSpan(begin), .size = Shape::FromSpan(size), .strides = input};
  for (int d = 0; d < input.rank(); ++d) {
    slice.strides[d] = 1;
    if (size[d] == -1) slice.size[d] = begin[d] < 0 ? 0 : input[d] - begin[d];
    if (begin[d] < 0 || slice.size[d] < 0 || int64_t{begin[d]} + slice.size[d] > input[d]) {
      // A turn of a loop that is not taken may ask for it.
      return Error(StatusCode::kUnsupported, "{} elements from {} on of dimension {} of shape {}", size[d], begin[d], d,
                   input.ToString());
    }
  }
  slice.shape = slice.size;
  return Op(slice);
}

bool CountsFromTheEnd(const OperatorView& view) {
  if (view.code().row->code != kStridedSliceOperator) return false;
  const Result<const wire::StridedSliceOptions*> options = view.Options<wire::StridedSliceOptions>();
  const Result<StridedOperands> operands = ReadStridedOperands(view);
  for (size_t i = 0; options.ok() && operands.ok() && i < operands->begin.size(); ++i) {
    const int entry = static_cast<int>(i);
    if (operands->begin[i] < 0 && !HasBit((*options)->begin_mask(), entry)) return true;
    if (operands->end[i] < 0 && !HasBit((*options)->end_mask() | (*options)->shrink_axis_mask(), entry)) return true;
  }
  return false;
}

Result<Op> ReadStridedSlice(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::StridedSliceOptions* options, view.Options<wire::StridedSliceOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const StridedOperands operands, ReadStridedOperands(view));
  Slice slice{.begin = input, .size = input, .strides = input};
  const auto take = [&](int d, int entry) -> Result<int32_t> {
    Run run{0, input[d], 1};
    if (const auto i = static_cast<size_t>(entry); entry >= 0) {
      HEARTH_ASSIGN(run, Resolve({operands.begin[i], operands.end[i], operands.strides[i], entry}, *options, input[d]));
    }
    slice.begin[d] = run.begin;
    slice.size[d] = run.size;
    slice.strides[d] = run.stride;
    return run.size;
  };
  HEARTH_ASSIGN(slice.shape, ShapeOfParts(*options, static_cast<int>(operands.begin.size()), input, take));
  return Op(slice);
}

// (x, begin, size): begins that are computed at run time.
Expanded ExpandSlice(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> size, to.Integers(op.operand(2)));
  const Shape input = op.shape(0);
  const auto rank = static_cast<size_t>(input.rank());
  if (size.size() != rank || static_cast<size_t>(op.shape(1).element_count()) != rank) {
    return Error(StatusCode::kMalformedInput, "{} begins and {} sizes for an input of shape {}",
                 op.shape(1).element_count(), size.size(), input.ToString());
  }
  std::vector<Part> parts;
  for (int d = 0; d < input.rank(); ++d) {
    const Start start = StartOf(to, op.operand(1), d);
    int64_t count = size[static_cast<size_t>(d)];
    const bool is_known = start.value == kNoValue;
    if (count == -1 && is_known) count = input[d] - start.offset;
    if (count == -1) {
      return Error(StatusCode::kUnsupported, "how many elements of dimension {} it takes{}", d,
                   to.ComputedFrom(start.value));
    }
    if (count < 1 || count > input[d] || (is_known && (start.offset < 0 || start.offset > input[d] - count))) {
      return Error(StatusCode::kUnsupported, "{} elements of dimension {} of shape {}", count, d, input.ToString());
    }
    parts.push_back({start, static_cast<int32_t>(count)});
  }
  return OneValue(AddPartAt(to, op.operand(0), parts));
}

// (x, begin, end, strides): begins and ends that are computed at run time, a known number of elements apart.
Expanded ExpandStridedSlice(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const wire::StridedSliceOptions* options, op.Options<wire::StridedSliceOptions>());
  HEARTH_ASSIGN(const std::vector<int32_t> strides, op.ConstantIntegers(3));
  const Shape input = op.shape(0);
  const auto entries = static_cast<int>(strides.size());
  if (op.shape(1).element_count() != entries || op.shape(2).element_count() != entries) {
    return Error(StatusCode::kMalformedInput, "{} begins, {} ends and {} strides for an input of shape {}",
                 op.shape(1).element_count(), op.shape(2).element_count(), entries, input.ToString());
  }
  std::vector<Part> parts;
  const auto take = [&](int d, int entry) -> Result<int32_t> {
    Part& part = parts.emplace_back(Part{{}, input[d]});
    if (entry < 0) return part.count;
    const int32_t stride = strides[static_cast<size_t>(entry)];
    if (stride == 0) return Error(StatusCode::kMalformedInput, "a stride of 0");
    HEARTH_ASSIGN(part, PartOf(op, *options, entry, stride, input[d]));
    if (part.count < 1) return Error(StatusCode::kUnsupported, "it takes nothing of dimension {}", entry);
    return part.count;
  };
  HEARTH_ASSIGN(const Shape shape, ShapeOfParts(*options, entries, input, take));
  return OneValue(to.AddReshape(AddPartAt(to, op.operand(0), parts), shape));
}

}  // namespace hearth
