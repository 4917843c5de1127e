// Checks whether an array fits a model's input: one rule for every language and for array files.
#ifndef HEARTH_ARRAY_H_
#define HEARTH_ARRAY_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "hearth/export.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

// `dtype` must equal the input's, in TensorInfo's names. The shape must equal the input's too; only a leading batch of
// 1 may be missing. The order of the array's elements in memory does not matter here: the caller copies them into C
// order. kInvalidArgument names the expected and the given type and shape.
HEARTH_EXPORT Status CheckArray(const TensorInfo& input, std::string_view dtype, std::span<const int64_t> shape);

}  // namespace hearth

#endif  // HEARTH_ARRAY_H_
