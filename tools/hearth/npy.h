// NumPy's array files, versions 1 to 3
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#ifndef HEARTH_TOOLS_HEARTH_NPY_H_
#define HEARTH_TOOLS_HEARTH_NPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// A dense little-endian array in C order (a file in Fortran order is copied into it); `dtype` as TensorInfo names it
// ("float32").
struct NpyArray {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

// kMalformedInput names the broken rule; kUnsupported names an unsupported element type or byte order.
Result<NpyArray> ParseNpy(std::span<const std::byte> file);

// A whole version 1 file. kUnsupported for element types that NumPy lacks ("int4").
Result<std::string> FormatNpy(std::string_view dtype, std::span<const int32_t> shape, std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_NPY_H_
