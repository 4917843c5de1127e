// A range of bytes in one of a model's files. A .tflite model is one file; other formats keep weights in separate
// files.
#ifndef HEARTH_CORE_BASE_FILE_RANGE_H_
#define HEARTH_CORE_BASE_FILE_RANGE_H_

#include <compare>
#include <cstdint>

namespace hearth {

struct FileRange {
  uint32_t file = 0;  // index into the list of files that the model's reader made
  uint64_t offset_bytes = 0, size_bytes = 0;
  friend auto operator<=>(const FileRange&, const FileRange&) = default;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FILE_RANGE_H_
