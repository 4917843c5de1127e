// Finds the meaning of a model's outputs from shapes, names, the operators that make them, and the file's metadata.
#ifndef HEARTH_RUNTIME_RESULTS_OUTPUT_MEANING_H_
#define HEARTH_RUNTIME_RESULTS_OUTPUT_MEANING_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/results.h"

namespace hearth {

// The values of --show, for options and messages: the meanings, "none" last of them, and the layouts that stand for
// one.
std::vector<std::string> ShowWords();
// Sets meaning and layout to what a value of --show says; false for any other word.
bool SetShown(std::string_view word, InterpretOptions& options);

// A group for each result; every output is in one group.
std::vector<ResultGroup> FindResults(const Model& model, const ModelMetadata& metadata);

// The same with the meaning, and layout if any, that a user chose, by `asked_by` ("--show"): outputs whose shape allows
// it get it, the others get none. kInvalidArgument if no output can have it.
Result<std::vector<ResultGroup>> FindResultsOf(Meaning wanted, std::optional<Layout> layout,
                                               const std::string& asked_by, const Model& model,
                                               const ModelMetadata& metadata);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_OUTPUT_MEANING_H_
