// A file in a ZIP archive at the end of another file, where TFLite metadata keeps label files.
#ifndef HEARTH_FRONTENDS_TFLITE_ZIP_ENTRY_H_
#define HEARTH_FRONTENDS_TFLITE_ZIP_ENTRY_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// The contents of the entry of that name in `file`. kNotFound: no archive, or no such entry. kUnsupported: the entry is
// compressed or encrypted (writers of metadata store it plainly). kMalformedInput: the archive's sizes or offsets point
// outside the file. Checksums are not verified.
Result<std::span<const std::byte>> FindZipEntry(std::span<const std::byte> file, std::string_view name);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_ZIP_ENTRY_H_
