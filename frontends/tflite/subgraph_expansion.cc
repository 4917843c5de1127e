// Operators that stand for several nodes: rare ones, whose result existing operations give, so that every device has
// them. Places and lengths that they name are constant.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/operator_view.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {
namespace {

constexpr int32_t kMatrixDiag = 113, kMatrixSetDiag = 115, kScatterNd = 122, kSegmentSum = 125, kSegmentProduct = 153,
                  kSegmentMaximum = 154, kUnsortedSegmentSum = 155, kSegmentMinimum = 157;
constexpr size_t kMostRowsOfOne = 64;     // rows that are added up in one place: a node each
constexpr int64_t kMostPlaces = 1 << 22;  // of rows that are moved
constexpr double kMostElements = std::numeric_limits<int32_t>::max();

struct Expansion {
  int32_t code;
  size_t inputs;
};
constexpr Expansion kExpansions[] = {{kMatrixDiag, 1},         {kMatrixSetDiag, 2},  {kScatterNd, 3},
                                     {kSegmentSum, 2},         {kSegmentProduct, 3}, {kSegmentMaximum, 3},
                                     {kUnsortedSegmentSum, 3}, {kSegmentMinimum, 3}};

const Expansion* FindExpansion(int32_t code) {
  const auto* found = std::find_if(std::begin(kExpansions), std::end(kExpansions),
                                   [&](const Expansion& each) { return each.code == code; });
  return found == std::end(kExpansions) ? nullptr : found;
}

// How rows that have one place become one, and what stands where no row has.
struct Meeting {
  BinaryKind kind = BinaryKind::kAdd;
  double empty = 0.0;
};

Meeting MeetingOf(int32_t code, DType dtype) {
  constexpr double kFloat = std::numeric_limits<float>::max(), kInt = std::numeric_limits<int32_t>::max();
  const bool is_float = dtype == DType::kFloat32;
  switch (code) {
    case kSegmentProduct: return {BinaryKind::kMul, 1.0};
    case kSegmentMaximum: return {BinaryKind::kMaximum, is_float ? -kFloat : -kInt - 1};
    case kSegmentMinimum: return {BinaryKind::kMinimum, is_float ? kFloat : kInt};
    default: return {};
  }
}

}  // namespace

Result<ValueId> SubgraphReader::AddNumbers(const Shape& shape, DType dtype, const std::vector<double>& numbers) {
  const TensorDesc desc{dtype, shape, std::nullopt};
  if (!tensors_.ChargeMade(desc.size_bytes())) {
    return Error(StatusCode::kUnsupported, "it takes too many constants for the size of the file");
  }
  std::vector<std::byte> bytes(desc.size_bytes());
  HEARTH_TRY(ReferenceToBytes({shape, numbers}, desc, bytes));
  return graph_.AddConstantValue(fmt::format("made_{}", graph_.values().size()), desc, std::move(bytes));
}

Result<ValueId> SubgraphReader::AddLike(int index, Op op, std::vector<ValueId> inputs, const Shape& shape) {
  TensorDesc desc = graph_.value(inputs[0]).desc;
  desc.shape = shape;
  return AddMadeNode(index, std::move(op), std::move(inputs), std::move(desc));
}

// The integers of a constant operand.
Result<std::vector<int64_t>> SubgraphReader::Places(ValueId id) const {
  if (!graph_.IsConstant(id))
    return Error(StatusCode::kUnsupported, "'{}' is computed at run time", graph_.value(id).name);
  const TensorDesc& desc = graph_.value(id).desc;
  if ((desc.dtype != DType::kInt32 && desc.dtype != DType::kInt64) || desc.shape.element_count() > kMostPlaces) {
    return Error(StatusCode::kMalformedInput, "'{}' is {}[{}] where places belong", graph_.value(id).name,
                 DTypeName(desc.dtype), desc.shape.ToString());
  }
  HEARTH_ASSIGN(const ReferenceTensor numbers, ReferenceFromBytes(desc, graph_.ConstantBytes(id)));
  return std::vector<int64_t>(numbers.values.begin(), numbers.values.end());
}

// The last dimension of `diagonal` along the diagonal of `around`, or of zeros in a square where there is none.
Result<ValueId> SubgraphReader::ExpandDiagonal(int index, ValueId diagonal, ValueId around) {
  const TensorDesc desc = graph_.value(diagonal).desc;
  if (desc.quantization.has_value() || desc.shape.rank() < 1 || desc.shape.rank() >= Shape::kMaxRank) {
    return Error(StatusCode::kUnsupported, "a diagonal of shape {}{}", desc.shape.ToString(),
                 desc.quantization ? ", quantized" : "");
  }
  const int last = desc.shape.rank() - 1;
  const int32_t length = desc.shape[last];
  std::vector<int32_t> dims(desc.shape.dims().begin(), desc.shape.dims().end());
  dims.push_back(length);
  Shape whole = Shape::FromSpan(dims);
  if (around != kNoValue) {
    whole = graph_.value(around).desc.shape;
    bool fits = whole.rank() == last + 2 && std::min(whole[last], whole[last + 1]) == length;
    for (int d = 0; fits && d < last; ++d) fits = whole[d] == desc.shape[d];
    if (!fits) {
      return Error(StatusCode::kMalformedInput, "a diagonal of shape {} for the shape {}", desc.shape.ToString(),
                   whole.ToString());
    }
  }
  const int32_t rows = whole[last], columns = whole[last + 1];
  ValueId row = diagonal;
  if (columns > length) {
    Pad pad{desc.shape, desc.shape, 0.0};
    for (int d = 0; d <= last; ++d) pad.before[d] = pad.after[d] = 0;
    pad.after[last] = columns - length;
    Shape padded = desc.shape;
    padded[last] = columns;
    HEARTH_ASSIGN(row, AddLike(index, pad, {diagonal}, padded));
  }
  dims[static_cast<size_t>(last)] = 1;
  dims.back() = columns;
  const Shape lying = Shape::FromSpan(dims);
  HEARTH_ASSIGN(row, AddLike(index, Reshape{lying}, {row}, lying));
  if (static_cast<double>(rows) * columns > kMostPlaces)
    return Error(StatusCode::kUnsupported, "a matrix of {} x {}", rows, columns);
  std::vector<double> is_diagonal(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (int32_t k = 0; k < length; ++k)
    is_diagonal[static_cast<size_t>(k) * static_cast<size_t>(columns) + static_cast<size_t>(k)] = 1;
  HEARTH_ASSIGN(const ValueId condition, AddNumbers({rows, columns}, DType::kBool, is_diagonal));
  if (around == kNoValue) {
    HEARTH_ASSIGN(around, AddNumbers({1, 1}, desc.dtype, {0.0}));
  }
  TensorDesc made = desc;
  made.shape = whole;
  return AddMadeNode(index, Select{}, {condition, row, around}, made);
}

// `count` rows, of which row places[i] is row i of `rows`; several meet in one as `code` says, a negative place is
// none.
Result<ValueId> SubgraphReader::ExpandRows(int index, ValueId rows, const std::vector<int64_t>& places, int64_t count) {
  const TensorDesc desc = graph_.value(rows).desc;
  if (desc.quantization.has_value() || (desc.dtype != DType::kFloat32 && desc.dtype != DType::kInt32)) {
    return Error(StatusCode::kUnsupported, "only float32 and int32, not quantized");
  }
  const Meeting meeting = MeetingOf(CodeOf(index).row->code, desc.dtype);
  const auto row_count = static_cast<int32_t>(places.size());
  std::vector<std::vector<double>> takes;  // the first, second, ... row of each place; the row behind the last for none
  std::vector<size_t> taken(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    if (places[i] >= count) return Error(StatusCode::kMalformedInput, "place {} of {}", places[i], count);
    const size_t turn = taken[static_cast<size_t>(places[i])]++;
    if (turn >= kMostRowsOfOne) return Error(StatusCode::kUnsupported, "more than {} rows meet in one", kMostRowsOfOne);
    if (turn == takes.size()) takes.emplace_back(static_cast<size_t>(count), row_count);
    takes[turn][static_cast<size_t>(places[i])] = static_cast<double>(i);
  }
  if (takes.empty()) takes.emplace_back(static_cast<size_t>(count), row_count);
  const Shape padded{row_count + 1, desc.shape[1]}, made{static_cast<int32_t>(count), desc.shape[1]};
  HEARTH_ASSIGN(const ValueId with_empty, AddLike(index, Pad{{0, 0}, {1, 0}, meeting.empty}, {rows}, padded));
  ValueId sum = kNoValue;
  for (const std::vector<double>& take : takes) {
    HEARTH_ASSIGN(const ValueId order, AddNumbers({made[0]}, DType::kInt32, take));
    HEARTH_ASSIGN(const ValueId part, AddLike(index, Gather{}, {with_empty, order}, made));
    if (sum == kNoValue) {
      sum = part;
    } else {
      HEARTH_ASSIGN(sum, AddLike(index, Binary{.kind = meeting.kind}, {sum, part}, made));
    }
  }
  return sum;
}

// Slices of dimension 0 (of as many dimensions as the numbers have) meet in the segment that their number names.
Result<ValueId> SubgraphReader::ExpandSegments(int index, std::span<const ValueId> operands) {
  const Shape data = graph_.value(operands[0]).desc.shape, ids = graph_.value(operands[1]).desc.shape;
  HEARTH_ASSIGN(const std::vector<int64_t> places, Places(operands[1]));
  int64_t count = places.empty() ? 0 : places.back() + 1;
  if (operands.size() > 2) {
    HEARTH_ASSIGN(const std::vector<int64_t> wanted, Places(operands[2]));
    count = wanted.size() == 1 ? wanted[0] : 0;
  }
  bool fits = ids.rank() >= 1 && ids.rank() <= data.rank() && count >= 1 && count <= kMostPlaces;
  for (int d = 0; fits && d < ids.rank(); ++d) fits = ids[d] == data[d];
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "{} segments of shape {}, numbered by {}", count, data.ToString(),
                 ids.ToString());
  }
  std::vector<int32_t> dims = {static_cast<int32_t>(count)};
  int64_t inner = 1;
  for (int d = ids.rank(); d < data.rank(); ++d) dims.push_back(data[d]), inner *= data[d];
  const Shape rows{static_cast<int32_t>(places.size()), static_cast<int32_t>(inner)}, shape = Shape::FromSpan(dims);
  if (static_cast<double>(inner) * static_cast<double>(count) > kMostElements)
    return Error(StatusCode::kUnsupported, "{} segments", count);
  HEARTH_ASSIGN(const ValueId flat, AddLike(index, Reshape{rows}, {operands[0]}, rows));
  HEARTH_ASSIGN(const ValueId made, ExpandRows(index, flat, places, count));
  return AddLike(index, Reshape{shape}, {made}, shape);
}

// (places[..., n], updates[..., rest], shape): zeros, and the sums of the updates of each place.
Result<ValueId> SubgraphReader::ExpandScatterNd(int index, std::span<const ValueId> operands) {
  const Shape indices = graph_.value(operands[0]).desc.shape, updates = graph_.value(operands[1]).desc.shape;
  HEARTH_ASSIGN(const std::vector<int64_t> numbers, Places(operands[0]));
  HEARTH_ASSIGN(const std::vector<int64_t> wanted, Places(operands[2]));
  const int depth = indices.rank() == 0 ? 0 : indices[indices.rank() - 1];
  bool fits = depth >= 1 && static_cast<size_t>(depth) <= wanted.size() && wanted.size() <= Shape::kMaxRank;
  std::vector<int32_t> dims;
  int64_t count = 1, inner = 1;
  for (size_t d = 0; fits && d < wanted.size(); ++d) {
    fits = wanted[d] >= 1 && wanted[d] <= kMostPlaces;
    int64_t& product = d < static_cast<size_t>(depth) ? count : inner;
    dims.push_back(static_cast<int32_t>(wanted[d]));
    product *= fits ? wanted[d] : 1;
    fits = fits && product <= kMostPlaces;
  }
  fits = fits && updates.element_count() == static_cast<int64_t>(numbers.size()) / depth * inner;
  if (!fits) {
    return Error(StatusCode::kMalformedInput, "places of shape {} and updates of shape {}", indices.ToString(),
                 updates.ToString());
  }
  std::vector<int64_t> places;
  for (size_t i = 0; i < numbers.size(); i += static_cast<size_t>(depth)) {
    int64_t place = 0;
    for (size_t d = 0; d < static_cast<size_t>(depth); ++d) {
      if (numbers[i + d] < 0 || numbers[i + d] >= wanted[d])
        return Error(StatusCode::kMalformedInput, "place {} of {}", numbers[i + d], wanted[d]);
      place = place * wanted[d] + numbers[i + d];
    }
    places.push_back(place);
  }
  const Shape rows{static_cast<int32_t>(places.size()), static_cast<int32_t>(inner)}, shape = Shape::FromSpan(dims);
  HEARTH_ASSIGN(const ValueId flat, AddLike(index, Reshape{rows}, {operands[1]}, rows));
  HEARTH_ASSIGN(const ValueId made, ExpandRows(index, flat, places, count));
  return AddLike(index, Reshape{shape}, {made}, shape);
}

bool SubgraphReader::IsExpanded(int index) const {
  const OperatorRow* row = CodeOf(index).row;
  return row != nullptr && FindExpansion(row->code) != nullptr;
}

Result<ValueId> SubgraphReader::Expand(int index, std::span<const ValueId> operands) {
  const int32_t code = CodeOf(index).row->code;
  const size_t count = FindExpansion(code)->inputs;
  if (operands.size() != count) {
    return Error(StatusCode::kMalformedInput, "it has {} inputs instead of {}", operands.size(), count);
  }
  for (const ValueId id : operands) {
    if (graph_.value(id).desc.shape.element_count() < 1)
      return Error(StatusCode::kUnsupported, "an operand without elements");
  }
  switch (code) {
    case kMatrixDiag: return ExpandDiagonal(index, operands[0], kNoValue);
    case kMatrixSetDiag: return ExpandDiagonal(index, operands[1], operands[0]);
    case kScatterNd: return ExpandScatterNd(index, operands);
    default: return ExpandSegments(index, operands);
  }
}

}  // namespace hearth
