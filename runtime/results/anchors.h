// MediaPipe's detectors of faces, palms and people: boxes and points relative to anchors.
#ifndef HEARTH_RUNTIME_RESULTS_ANCHORS_H_
#define HEARTH_RUNTIME_RESULTS_ANCHORS_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/results.h"
#include "runtime/results/output_facts.h"

namespace hearth {

// Numbers beside logits for as many anchors as MediaPipe has for a picture of the input's size. How many numbers there
// are says what is found; without a meaning if that is unknown.
std::optional<ResultGroup> FindAnchors(const Outputs& outputs);

// Of Layout::kAnchors.
std::vector<Box> DecodeAnchors(const Interpretation& result);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_ANCHORS_H_
