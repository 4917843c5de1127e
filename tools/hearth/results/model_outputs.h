// A model's outputs as array files, and files of labels.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_MODEL_OUTPUTS_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_MODEL_OUTPUTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

// One label per line, line 0 first; line ends are trimmed. kNotFound.
Result<std::vector<std::string>> ReadLabels(const std::string& path);

// Writes the array into `folder`, which is created if missing; returns the file's path. kIoError, kUnsupported.
Result<std::string> WriteOutput(const std::string& folder, size_t index, const TensorInfo& info,
                                std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_MODEL_OUTPUTS_H_
