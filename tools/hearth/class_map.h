// The result of a segmentation network as a picture.
#ifndef HEARTH_TOOLS_HEARTH_CLASS_MAP_H_
#define HEARTH_TOOLS_HEARTH_CLASS_MAP_H_

#include <span>
#include <string>

#include "hearth/status.h"
#include "hearth/tensor_info.h"
#include "tools/hearth/image.h"

namespace hearth {

// Whether an output is [1,H,W,C] with at least two classes and more than one pixel.
bool IsClassMap(const TensorInfo& info);

// The picture on the left; on the right the class of each pixel's highest score, in a colour of its own over the grey
// picture, which class 0 (by custom the background) leaves as it is. Where `picture` is empty the class map is drawn
// alone, on black. Precondition: IsClassMap(info), scores of that shape; picture has 3 channels.
Image DrawClassMap(const TensorInfo& info, std::span<const float> scores, const Image& picture);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CLASS_MAP_H_
