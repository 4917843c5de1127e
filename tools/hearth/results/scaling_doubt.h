// Whether a result looks as if the picture was scaled otherwise than the model expects.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_SCALING_DOUBT_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_SCALING_DOUBT_H_

#include <string>

#include "hearth/results.h"
#include "tools/hearth/pictures/image.h"

namespace hearth {

// A sentence that names the scaling to try after `tried`; empty for a result that looks sound, or is no picture, mask
// or class map. Doubts a picture that is nearly constant or nearly all black and white, a map of one class, and a mask
// with a border as long as that of many small spots.
std::string ScalingDoubt(const Interpretation& result, const PixelScaling& tried);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_SCALING_DOUBT_H_
