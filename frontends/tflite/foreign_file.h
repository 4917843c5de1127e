// Recognizes files that were given in place of a TFLite model.
#ifndef HEARTH_FRONTENDS_TFLITE_FOREIGN_FILE_H_
#define HEARTH_FRONTENDS_TFLITE_FOREIGN_FILE_H_

#include <cstddef>
#include <span>

#include "hearth/status.h"

namespace hearth {

// kMalformedInput: names the kind of file, if its first bytes tell it, and how to get a TFLite model from it.
Status NotTfliteError(std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_FOREIGN_FILE_H_
