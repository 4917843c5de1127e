// Finds the meaning of a model's outputs from shapes, names, the operators that make them, and the file's metadata.
#ifndef HEARTH_RUNTIME_RESULTS_OUTPUT_MEANING_H_
#define HEARTH_RUNTIME_RESULTS_OUTPUT_MEANING_H_

#include <string>
#include <vector>

#include "hearth/results.h"

namespace hearth {

// All names, "none" last, for options and messages.
std::vector<std::string> MeaningNames();

// A group for each result; every output is in one group.
std::vector<ResultGroup> FindResults(const Model& model, const ModelMetadata& metadata);

// The same with the meaning that a user chose, by `asked_by` ("--show"): outputs whose shape allows it get it, the
// others get none. kInvalidArgument if no output can have it.
Result<std::vector<ResultGroup>> FindResultsOf(Meaning wanted, const std::string& asked_by, const Model& model,
                                               const ModelMetadata& metadata);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_OUTPUT_MEANING_H_
