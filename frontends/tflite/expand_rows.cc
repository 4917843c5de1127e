#include "frontends/tflite/expand_rows.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr size_t kMostRowsOfOne = 64;                // rows that are added up for one index: a node each
constexpr int64_t kMostProducts = int64_t{1} << 24;  // elements of the matrix of zeros and ones

Status CheckRowType(const TensorDesc& desc, const Meeting& meeting, size_t most_rows_of_one) {
  const bool is_calculated =
      IsPlainFloat32(desc) || (!IsReal(desc) && (desc.dtype == DType::kInt32 || meeting.kind == BinaryKind::kAdd));
  if (is_calculated || (most_rows_of_one <= 1 && meeting.empty == 0.0)) return Status::Ok();
  return Error(StatusCode::kUnsupported, "rows of {} that share an index", DTypeName(desc.dtype));
}

}  // namespace

Result<ValueId> GatherRows(Expansion& to, ValueId rows, std::span<const int64_t> places, int64_t count,
                           const Meeting& meeting) {
  const auto row_count = static_cast<int32_t>(places.size());
  HEARTH_TRY(to.CheckRoom({static_cast<int32_t>(count)}, DType::kInt32));
  std::vector<std::vector<double>> takes;  // the first, second, ... row for each index; one past the last row for none
  std::vector<size_t> taken(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    if (places[i] >= count) return Error(StatusCode::kMalformedInput, "place {} of {}", places[i], count);
    const size_t turn = taken[static_cast<size_t>(places[i])]++;
    if (turn >= kMostRowsOfOne)
      return Error(StatusCode::kUnsupported, "more than {} rows share an index", kMostRowsOfOne);
    if (turn == takes.size()) {
      if (static_cast<int64_t>(turn + 1) * count > kMostProducts) {
        return Error(StatusCode::kUnsupported, "{} rows of {} meet in one", turn + 1, count);
      }
      HEARTH_TRY(to.CheckRoom({static_cast<int32_t>(turn + 1), static_cast<int32_t>(count)}, DType::kInt32));
      takes.emplace_back(static_cast<size_t>(count), row_count);
    }
    takes[turn][static_cast<size_t>(places[i])] = static_cast<double>(i);
  }
  HEARTH_TRY(CheckRowType(to.desc(rows), meeting, takes.size()));
  if (takes.empty()) takes.emplace_back(static_cast<size_t>(count), row_count);
  HEARTH_ASSIGN(const ValueId with_empty, to.AddPad(rows, 0, 0, 1, meeting.empty));
  ValueId sum = kNoValue;
  for (const std::vector<double>& take : takes) {
    HEARTH_ASSIGN(const ValueId order, to.AddConstant({static_cast<int32_t>(count)}, DType::kInt32, take));
    HEARTH_ASSIGN(const ValueId part, to.Add(Gather{}, {with_empty, order}));
    HEARTH_ASSIGN(sum, sum == kNoValue ? Result<ValueId>(part) : to.AddBinary(meeting.kind, sum, part));
  }
  return sum;
}

Result<ValueId> SumRowsByProduct(Expansion& to, ValueId rows, ValueId places, int64_t count) {
  const int32_t row_count = to.shape(rows)[0];
  if (to.desc(rows).dtype != DType::kFloat32 || to.desc(places).dtype != DType::kInt32) {
    return Error(StatusCode::kUnsupported,
                 "indices that are computed at run time and rows of another type than float32");
  }
  if (count * row_count > kMostProducts) {
    return Error(StatusCode::kUnsupported, "indices of {} rows in {} that are computed at run time", row_count, count);
  }
  HEARTH_ASSIGN(const ValueId wanted, to.AddIndices({static_cast<int32_t>(count), 1}));
  HEARTH_ASSIGN(const ValueId lying, to.AddReshape(places, {1, row_count}));
  HEARTH_ASSIGN(const ValueId is_there, to.AddTest(BinaryKind::kEqual, wanted, lying));
  HEARTH_ASSIGN(const ValueId ones, to.Add(Cast{DType::kFloat32}, {is_there}, DType::kFloat32));
  return to.Add(BatchMatMul{}, {ones, rows});
}

Result<ValueId> RowsOfNothing(Expansion& to, TensorDesc desc, const Shape& made, const Meeting& meeting) {
  HEARTH_TRY(CheckRowType(desc, meeting, 0));
  desc.shape = {1};
  HEARTH_ASSIGN(const ValueId number, to.AddConstant(desc, {meeting.empty}));
  return to.AddFilled(made, number);
}

}  // namespace hearth
