// Sizes as users write them.
#ifndef HEARTH_CORE_BASE_SIZE_TEXT_H_
#define HEARTH_CORE_BASE_SIZE_TEXT_H_

#include <cstdint>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// "1500", "64K", "256M", "1.5G", "256MiB" use powers of 1024; "256MB" powers of 1000. kInvalidArgument says what is
// expected.
Result<uint64_t> ParseSizeBytes(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_SIZE_TEXT_H_
