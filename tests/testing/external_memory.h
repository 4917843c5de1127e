// Runs a small network on memory that a test lends to a session, in every format, and compares it with a plain session.
#ifndef HEARTH_TESTS_TESTING_EXTERNAL_MEMORY_H_
#define HEARTH_TESTS_TESTING_EXTERNAL_MEMORY_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/interop.h"
#include "hearth/model.h"
#include "hearth/session.h"

namespace hearth::testing {

// Allocates a test's memory.
class ExternalMemory {
 public:
  virtual ~ExternalMemory() = default;
  virtual MemoryKind kind() const = 0;
  // Memory with these bytes, valid as long as this object.
  virtual uint64_t Make(std::span<const std::byte> bytes) = 0;
  virtual std::vector<std::byte> Read(uint64_t handle, size_t size_bytes) = 0;
};

inline constexpr int kExternalHeight = 5, kExternalWidth = 7, kExternalChannels = 3;

// Input "x" [1, 5, 7, 3], output "y" of the same shape: maxima of windows, negated.
Model ExternalMemoryModel();

// Options for a session on `device` that shares `shared`, without a cache.
SessionOptions SharedOptions(const SharedContext& shared, const std::string& device);

// Runs with float32, rgba8 and rgba16f, packed, and with offset, row pitch, flip, scale and offset per channel. Reports
// failures to GoogleTest. Checks that only the tensor's pixels are written and, with `copies_nothing`, that no byte
// crosses between host and device.
void ExpectEveryFormatRuns(Session& session, ExternalMemory& memory, bool copies_nothing);

// Frames in the same memory, in every format, cropped, rotated and flipped: equal to the host's conversion to the bit.
void ExpectFramesRun(Session& session, ExternalMemory& memory);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_EXTERNAL_MEMORY_H_
