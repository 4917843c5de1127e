// Results as pictures that a person looks at.
#ifndef HEARTH_TOOLS_HEARTH_RESULT_PICTURE_H_
#define HEARTH_TOOLS_HEARTH_RESULT_PICTURE_H_

#include <span>
#include <string>

#include "tools/hearth/decoded_results.h"
#include "tools/hearth/image.h"
#include "tools/hearth/model_outputs.h"

namespace hearth {

// All draw over or beside `picture`, which has three channels; one without pixels stands for a black one.

// Boxes with their labels and scores.
Image DrawBoxes(const Image& picture, std::span<const Box> boxes);
// Points that are at least `min_score` sure, and the limbs between them.
Image DrawKeyPoints(const Image& picture, const KeyPoints& points, float min_score);
// Left the picture; right what is foreground in colours, the rest grey, with the mask's border at one half.
Image DrawMask(const Image& picture, const PixelMap& mask);
// Left the picture; right each pixel in the colour of its class over the grey picture, which class 0 (by custom the
// background) leaves as it is; below the names of the classes that are there.
Image DrawClassMap(const Image& picture, const PixelMap& classes, std::span<const std::string> labels);
// The picture and a table of the highest scores.
Image DrawScores(const Image& picture, std::span<const TopEntry> top);
// An output's own pixels. Values within [0,1] or [-1,1] are stretched to 0 to 255; others within 0 to 255 are taken as
// they are, and anything else is stretched from the lowest to the highest.
Image PixelsOf(const TensorInfo& info, std::span<const float> values);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULT_PICTURE_H_
