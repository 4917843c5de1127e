// How far off each output or layer is, as bars against what is allowed.
#ifndef HEARTH_TOOLS_HEARTH_COMPARISON_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_COMPARISON_PICTURE_H_

#include <vector>

#include "tools/hearth/image.h"
#include "tools/hearth/layer_values.h"

namespace hearth {

// One row each, from a ten thousandth of what is allowed to a hundred times as much; red where it is too much.
Image DrawComparison(const std::vector<TensorComparison>& outputs, const std::vector<LayerComparison>& layers);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_COMPARISON_PICTURE_H_
