// What a file is that was given in place of a TFLite model.
#ifndef HEARTH_FRONTENDS_TFLITE_FOREIGN_FILE_H_
#define HEARTH_FRONTENDS_TFLITE_FOREIGN_FILE_H_

#include <cstddef>
#include <span>

#include "hearth/status.h"

namespace hearth {

// kMalformedInput: names the kind of file where its beginning tells it, and the way from there to a TFLite model.
Status NotTfliteError(std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_FOREIGN_FILE_H_
