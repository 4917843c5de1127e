// Writes to a file that has no store's journal: bundles.
#ifndef HEARTH_CACHE_WRITE_ALL_H_
#define HEARTH_CACHE_WRITE_ALL_H_

#include <cstddef>
#include <filesystem>
#include <span>

#include "hearth/status.h"

namespace hearth {

// Writes all bytes, also after an interruption or a write of fewer. A limit on file sizes is an error, no signal. The
// error names `file`.
Status WriteAll(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& file);

}  // namespace hearth

#endif  // HEARTH_CACHE_WRITE_ALL_H_
