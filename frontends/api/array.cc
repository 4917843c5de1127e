#include "hearth/array.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"

namespace hearth {

Status CheckArray(const TensorInfo& input, std::string_view dtype, std::span<const int64_t> shape) {
  std::span<const int32_t> wanted = input.shape;
  const bool lacks_batch = shape.size() + 1 == wanted.size() && wanted[0] == 1;
  if (lacks_batch) wanted = wanted.subspan(1);
  const bool fits = std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end());
  if (fits && dtype == input.dtype) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "input '{}' is {}[{}], {}[{}] was given{}", input.name, input.dtype,
               fmt::join(input.shape, ","), dtype, fmt::join(shape, ","),
               fits ? ": its numbers are not converted" : "");
}

}  // namespace hearth
