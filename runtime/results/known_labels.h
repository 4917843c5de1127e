// Labels of the data sets that most public networks were trained on.
#ifndef HEARTH_RUNTIME_RESULTS_KNOWN_LABELS_H_
#define HEARTH_RUNTIME_RESULTS_KNOWN_LABELS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "hearth/results.h"

namespace hearth {

// Fills empty `labels` of a result of a picture whose number of classes is that of a data set, and says so in its
// reason: ImageNet's 1000 classes (1001 with a background), COCO's 80 objects (90 with the gaps in its own numbers),
// Pascal VOC's 20 (21 with a background, in class maps).
void GiveKnownLabels(size_t class_count, ResultGroup& group, std::vector<std::string>& labels);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_KNOWN_LABELS_H_
