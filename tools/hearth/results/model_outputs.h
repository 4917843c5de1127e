// A model's outputs: array files, a summary, the highest scores.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_MODEL_OUTPUTS_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_MODEL_OUTPUTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

// The elements as real numbers: quantized ones as scale * (stored - zero_point), per tensor.
// kUnsupported for element types without an array form ("int4").
Result<std::vector<double>> OutputAsReals(const TensorInfo& info, std::span<const std::byte> bytes);
Result<std::vector<float>> OutputAsFloats(const TensorInfo& info, std::span<const std::byte> bytes);

struct TopEntry {
  size_t index = 0;
  std::string label;  // empty if there is none
  float score = 0;
};
// The `count` highest, highest first; among equals the lower index first; NaN last.
std::vector<TopEntry> TopEntries(std::span<const float> scores, size_t count, std::span<const std::string> labels);

// One label per line, line 0 first; line ends are trimmed. kNotFound.
Result<std::vector<std::string>> ReadLabels(const std::string& path);

// Writes the array into `folder`, which is created if missing; returns the file's path. kIoError, kUnsupported.
Result<std::string> WriteOutput(const std::string& folder, size_t index, const TensorInfo& info,
                                std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_MODEL_OUTPUTS_H_
