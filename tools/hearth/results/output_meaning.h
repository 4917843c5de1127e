// Finds the meaning of a model's outputs: class scores, boxes, a mask, a picture, ... from shapes, names, the operators
// that make them, and the file's metadata (TFLite metadata).
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_OUTPUT_MEANING_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_OUTPUT_MEANING_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/model.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"

namespace hearth {

// The values of --show.
enum class Meaning { kNone, kClasses, kMask, kClassMap, kImage, kBoxes, kKeypoints };
std::string_view MeaningName(Meaning meaning);  // "none", "classes", "mask", "class-map", ...
std::optional<Meaning> MeaningOf(std::string_view name);

// The layout of a result's numbers.
enum class Layout {
  kOther,
  kScores,          // [1,...,C]
  kDetections,      // boxes[1,N,4] (ymin, xmin, ymax, xmax), classes[1,N], scores[1,N], count[1]
  kAnchoredFaces,   // regressors[1,896,16], logits[1,896,1]
  kOneChannel,      // [1,H,W,1] or [1,H,W]
  kTwoChannels,     // [1,H,W,2]: background, foreground
  kScoresPerPixel,  // [1,H,W,C]
  kClassPerPixel,   // [1,H,W] or [1,H,W,1] of integers
  kPixels,          // [1,H,W,1 or 3]
  kHeatmaps,        // heatmaps[1,h,w,K], offsets[1,h,w,2K]
  kPointsInPixels,  // K times x, y, z in pixels of the input
  kScoredPoints,    // [1,1,K,3]: y, x as fractions of the picture, score
};

// One result: an output, or several that belong together.
struct ResultGroup {
  Meaning meaning = Meaning::kNone;
  Layout layout = Layout::kOther;
  std::string reason;                     // why: "TFLite_Detection_PostProcess made it"
  std::vector<size_t> outputs;            // in the layout's order; the first stands for the group
  int input_height = 0, input_width = 0;  // of the input for pictures
};

// A group for each result; every output is in one group.
std::vector<ResultGroup> FindResults(const Model& model, const ModelMetadata& metadata);

// The same with the meaning that a user chose, by `asked_by` ("--show"): outputs whose shape allows it get it, the
// others get none. kInvalidArgument if no output can have it.
Result<std::vector<ResultGroup>> FindResultsOf(Meaning wanted, const std::string& asked_by, const Model& model,
                                               const ModelMetadata& metadata);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_OUTPUT_MEANING_H_
