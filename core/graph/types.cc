#include "core/graph/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "core/base/error.h"

namespace hearth {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
};

constexpr DTypeRow kDTypes[] = {
    {DType::kFloat32, "float32", 32}, {DType::kFloat16, "float16", 16}, {DType::kInt32, "int32", 32},
    {DType::kUInt8, "uint8", 8},      {DType::kInt64, "int64", 64},     {DType::kBool, "bool", 8},
    {DType::kInt16, "int16", 16},     {DType::kInt8, "int8", 8},        {DType::kInt4, "int4", 4},
    {DType::kUInt16, "uint16", 16},   {DType::kUInt32, "uint32", 32},   {DType::kFloat64, "float64", 64},
    {DType::kUInt64, "uint64", 64},
};

}  // namespace

std::string_view DTypeName(DType dtype) {
  return kDTypes[static_cast<int>(dtype)].name;
}

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

int BitsOf(DType dtype) {
  return kDTypes[static_cast<int>(dtype)].bits;
}

bool IsFloat(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kFloat64;
}

Shape::Shape(std::initializer_list<int32_t> dims) {
  *this = FromSpan({dims.begin(), dims.size()});
}

Shape Shape::FromSpan(std::span<const int32_t> dims) {
  HEARTH_CHECK(dims.size() <= kMaxRank);
  Shape shape;
  shape.rank_ = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), shape.dims_.begin());
  return shape;
}

int64_t Shape::element_count() const {
  int64_t count = 1;
  for (int32_t dim : dims()) count *= dim;
  return count;
}

std::string ShapeText(std::span<const int32_t> dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

Bhwc ToBhwc(const Shape& shape) {
  const int rank = shape.rank();
  Bhwc out;
  if (rank >= 1) out.c = shape[rank - 1];
  if (rank == 2) out.b = shape[0];
  if (rank == 3) {
    out.b = shape[0];
    out.w = shape[1];
  }
  if (rank >= 4) {
    out.w = shape[rank - 2];
    out.h = shape[rank - 3];
    int64_t batch = 1;
    for (int i = 0; i < rank - 3; ++i) batch = std::min(batch * shape[i], int64_t{INT32_MAX});
    out.b = static_cast<int32_t>(batch);
  }
  return out;
}

size_t TensorDesc::size_bytes() const {
  return (static_cast<size_t>(shape.element_count()) * BitsOf(dtype) + 7) / 8;
}

}  // namespace hearth
