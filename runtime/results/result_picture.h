// Results as pictures.
#ifndef HEARTH_RUNTIME_RESULTS_RESULT_PICTURE_H_
#define HEARTH_RUNTIME_RESULTS_RESULT_PICTURE_H_

#include <span>

#include "hearth/results.h"
#include "runtime/results/drawing.h"

namespace hearth {

// The result over or beside `picture`, which has three channels; an empty one counts as black. Boxes and points are
// drawn over it, points with a score of at least result.min_score with the limbs between them. A mask stands beside it:
// the foreground in colours over grey. So does a class map, each pixel in its class's colour over the grey picture,
// which class 0 (by convention the background) leaves unchanged, with the names of the classes that occur below. Scores
// are a table below it. Precondition: the meaning is not kNone.
Image PictureOf(const Interpretation& result, const Image& picture);

// An output's own pixels. Values within [0,1] or [-1,1] are scaled to 0 to 255, others within 0 to 255 are kept, and
// all others are scaled from the lowest to the highest.
Image PixelsOf(const TensorInfo& info, std::span<const float> values);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_RESULT_PICTURE_H_
