// Parts of tensors that begin where data say.
#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

// int32[1]: where `count` elements of a dimension of `dim` begin. As DYNAMIC_UPDATE_SLICE, inside of the dimension.
Made AddBegin(NodeWriter& to, const Start& start, int32_t span, int32_t dim, bool counts_from_end) {
  const auto elements = static_cast<int32_t>(to.shape(start.value).element_count());
  const Made list = to.AddReshape(to.AddCast(start.value, DType::kInt32), {elements});
  Made begin = to.AddSlice(list, 0, static_cast<int32_t>(start.element), 1);
  const auto number = [&](int64_t value) { return to.AddNumber(DType::kInt32, static_cast<double>(value)); };
  if (start.offset != 0) begin = to.Add(BinaryKind::kAdd, {begin, number(start.offset)});
  if (counts_from_end) {
    const Made is_from_end = to.Add(BinaryKind::kLess, {begin, number(0)});
    begin = to.Add(Select{}, {is_from_end, to.Add(BinaryKind::kAdd, {begin, number(dim)}), begin}, DType::kInt32);
  }
  if (span == 1) return begin;  // GATHER stays inside
  return to.Add(BinaryKind::kMaximum, {to.Add(BinaryKind::kMinimum, {begin, number(dim - span)}), number(0)});
}

}  // namespace

Made AddPartAt(NodeWriter& to, ValueId x, const std::vector<Part>& parts) {
  Slice known{.begin = to.shape(x), .size = to.shape(x), .strides = to.shape(x)};
  for (int d = 0; d < known.size.rank(); ++d) {
    const Part& part = parts[static_cast<size_t>(d)];
    const bool is_known = part.start.value == kNoValue;
    known.begin[d] = is_known ? static_cast<int32_t>(part.start.offset) : 0;
    known.strides[d] = is_known ? part.stride : 1;
    if (is_known) known.size[d] = part.count;
  }
  known.shape = known.size;
  Made made = known.size == to.shape(x) ? Made(x) : to.Add(known, {x});
  for (int d = 0; d < known.size.rank(); ++d) {
    const Part& part = parts[static_cast<size_t>(d)];
    if (part.start.value == kNoValue) continue;
    const int64_t span = int64_t{part.count - 1} * part.stride + 1;
    if (span > known.size[d]) {
      return Error(StatusCode::kUnsupported, "{} elements of a dimension of {}, from one on that data choose", span,
                   known.size[d]);
    }
    Made places = AddBegin(to, part.start, static_cast<int32_t>(span), known.size[d], part.counts_from_end);
    if (part.count > 1) {
      Made steps = to.AddIndices({part.count});
      if (part.stride != 1) steps = to.Add(BinaryKind::kMul, {steps, to.AddNumber(DType::kInt32, part.stride)});
      places = to.Add(BinaryKind::kAdd, {places, steps});
    }
    made = to.Add(Gather{.axis = d}, {made, places});
  }
  return made;
}

}  // namespace hearth
