// Where runs take an input from, or put an output.
#ifndef HEARTH_HAL_IO_ENDPOINT_H_
#define HEARTH_HAL_IO_ENDPOINT_H_

#include <memory>
#include <variant>

#include "hal/io/external_frame.h"
#include "hearth/frame.h"
#include "hearth/interop.h"

namespace hearth {

enum class Side : uint8_t { kInput, kOutput };

// Dense bytes in host memory, which each run is given.
struct GivenBytes {};
// The caller's memory, on the host or in one of a device's objects.
struct BorrowedMemory {
  Binding binding;
};
// A picture in host memory, for inputs. `external` keeps it alive if several drivers share it; else null.
struct HostFrame {
  Frame frame;
  std::shared_ptr<ExternalFrame> external;
};
// A picture in memory that the device imports, for inputs.
struct ImportedFrame {
  Frame frame;
  std::shared_ptr<ExternalFrame> external;
};

using Endpoint = std::variant<GivenBytes, BorrowedMemory, HostFrame, ImportedFrame>;

}  // namespace hearth

#endif  // HEARTH_HAL_IO_ENDPOINT_H_
