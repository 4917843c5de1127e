// The numbers of a YOLO head: a row for each cell of the picture's grids, or a list of boxes.
#ifndef HEARTH_RUNTIME_RESULTS_YOLO_H_
#define HEARTH_RUNTIME_RESULTS_YOLO_H_

#include "hearth/results.h"

namespace hearth {

// Fills in the boxes, with points, turned or with masks if the head has these, and what the values say of them. A
// result that nobody asked for loses its meaning if they contradict its layout; one that was not sure becomes YOLOX's
// if sizes are below 0, which only logarithms are, and a pose's or a rotated box's if the numbers behind its scores are
// such.
void DecodeYolo(Interpretation& result);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_YOLO_H_
