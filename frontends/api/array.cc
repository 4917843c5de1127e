#include "hearth/array.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace hearth {
namespace {

// What would make the array fit; empty if nothing certain is known. `wanted`: the input's shape, without the batch if
// the array has none.
std::string Remedy(const TensorInfo& input, std::span<const int64_t> shape, std::span<const int32_t> wanted) {
  if (std::ranges::equal(shape, wanted)) {
    return fmt::format("its numbers are not converted; NumPy's astype('{}') does it, and scaling is up to the model",
                       input.dtype);
  }
  const size_t rank = wanted.size();
  if (shape.size() == rank && rank >= 3) {
    // [N,C,H,W] or [C,H,W] where channels come last.
    std::vector<int64_t> moved(shape.begin(), shape.end());
    std::rotate(moved.end() - 3, moved.end() - 2, moved.end());
    if (std::ranges::equal(moved, wanted)) {
      return fmt::format("its channels stand first; NumPy's transpose({}) puts them last",
                         rank == 3 ? "1, 2, 0" : "0, 2, 3, 1");
    }
  }
  const bool differs_in_batch = shape.size() == rank && rank >= 2 && shape[0] > 0 &&
                                std::equal(shape.begin() + 1, shape.end(), wanted.begin() + 1, wanted.end());
  if (differs_in_batch) {
    return fmt::format(
        "a session takes batches of {} after resize(batch={}) in Python, ResizeBatch({}) in C++, "
        "--shape '{}={}' in the program",
        shape[0], shape[0], shape[0], input.name, fmt::join(shape, "x"));
  }
  return "";
}

}  // namespace

Status CheckArray(const TensorInfo& input, std::string_view dtype, std::span<const int64_t> shape) {
  std::span<const int32_t> wanted = input.shape;
  const bool lacks_batch = shape.size() + 1 == wanted.size() && wanted[0] == 1;
  if (lacks_batch) wanted = wanted.subspan(1);
  const bool fits = std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end());
  if (fits && dtype == input.dtype) return Status::Ok();
  const std::string remedy = Remedy(input, shape, wanted);
  return Error(StatusCode::kInvalidArgument, "input '{}' is {}[{}], {}[{}] was given{}{}", input.name, input.dtype,
               fmt::join(input.shape, ","), dtype, fmt::join(shape, ","), remedy.empty() ? "" : ": ", remedy);
}

}  // namespace hearth
