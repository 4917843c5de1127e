// The driver binaries of a program group as one array of bytes.
#ifndef HEARTH_BACKENDS_GLES_BINARY_CONTAINER_H_
#define HEARTH_BACKENDS_GLES_BINARY_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hearth/status.h"

namespace hearth::gles {

struct ProgramBinary {
  uint32_t format = 0;  // the driver's number for glProgramBinary
  std::vector<std::byte> bytes;
};

// "HGLB", u32 version, u32 count, then per binary u32 format, u32 size, bytes; little-endian.
std::vector<std::byte> PackBinaries(std::span<const ProgramBinary> binaries);

// kMalformedInput unless the bytes are exactly one packed list.
Result<std::vector<ProgramBinary>> UnpackBinaries(std::span<const std::byte> container);

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_BINARY_CONTAINER_H_
