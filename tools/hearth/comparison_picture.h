// The difference of each output or layer as a bar, relative to the allowed one.
#ifndef HEARTH_TOOLS_HEARTH_COMPARISON_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_COMPARISON_PICTURE_H_

#include <vector>

#include "tools/hearth/image.h"
#include "tools/hearth/layer_values.h"

namespace hearth {

// One row each, from 1/10000 of the allowed difference to 100 times it; red if it exceeds it.
Image DrawComparison(const std::vector<TensorComparison>& outputs, const std::vector<LayerComparison>& layers);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_COMPARISON_PICTURE_H_
