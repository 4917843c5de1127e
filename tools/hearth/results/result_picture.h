// Results as pictures.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_RESULT_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_RESULT_PICTURE_H_

#include <span>
#include <string>

#include "tools/hearth/pictures/image.h"
#include "tools/hearth/results/decoded_results.h"
#include "tools/hearth/results/model_outputs.h"

namespace hearth {

// All functions draw over or beside `picture`, which has three channels. An empty picture counts as black.

// Boxes with their labels and scores.
Image DrawBoxes(const Image& picture, std::span<const Box> boxes);
// Points with a score of at least `min_score`, and the limbs between them.
Image DrawKeyPoints(const Image& picture, const KeyPoints& points, float min_score);
// The picture, and beside it the foreground in colours over grey, with the mask's border at 0.5.
Image DrawMask(const Image& picture, const PixelMap& mask);
// The picture, and beside it each pixel in its class's colour over the grey picture, which class 0 (by convention the
// background) leaves unchanged. Below them the names of the classes that occur.
Image DrawClassMap(const Image& picture, const PixelMap& classes, std::span<const std::string> labels);
// The picture and a table of the highest scores.
Image DrawScores(const Image& picture, std::span<const TopEntry> top);
// An output's own pixels. Values within [0,1] or [-1,1] are scaled to 0 to 255, others within 0 to 255 are kept, and
// all others are scaled from the lowest to the highest.
Image PixelsOf(const TensorInfo& info, std::span<const float> values);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_RESULT_PICTURE_H_
