// What an input takes of an array: one rule for every language and for array files.
#ifndef HEARTH_ARRAY_H_
#define HEARTH_ARRAY_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "hearth/export.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

// Types match exactly: `dtype` is the input's, in TensorInfo's names. So does the shape, but for a leading batch of 1
// that the array may lack. In which order the array's elements lie does not matter: who gives them copies them into C
// order. kInvalidArgument says what the input is and what was given.
HEARTH_EXPORT Status CheckArray(const TensorInfo& input, std::string_view dtype, std::span<const int64_t> shape);

}  // namespace hearth

#endif  // HEARTH_ARRAY_H_
