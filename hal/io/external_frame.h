// A frame in memory that several drivers share: a dma-buf or an AHardwareBuffer. A device imports the memory; where it
// can't, the host reads it. And where runs take an input from, or put an output.
#ifndef HEARTH_HAL_IO_EXTERNAL_FRAME_H_
#define HEARTH_HAL_IO_EXTERNAL_FRAME_H_

#include <chrono>
#include <memory>
#include <variant>

#include "hearth/frame.h"
#include "hearth/interop.h"
#include "hearth/status.h"

namespace hearth {

// Keeps the memory alive. For one thread at a time.
class ExternalFrame {
 public:
  virtual ~ExternalFrame() = default;
  ExternalFrame(const ExternalFrame&) = delete;
  ExternalFrame& operator=(const ExternalFrame&) = delete;

  // The frame with this object's own references and the memory's real sizes, for Device::ImportBuffer.
  const Frame& frame() const { return frame_; }

  // The same in host memory; its addresses may change with each BeginReading. kUnsupported if the host can't read it.
  virtual Result<Frame> OnHost() = 0;

  // Before each run: waits until the producer has written, and lets the host read if OnHost was called. Zero is no
  // limit; after it kResourceExhausted. EndReading follows, also after an error.
  virtual Status BeginReading(std::chrono::milliseconds limit) = 0;
  virtual void EndReading() = 0;

 protected:
  explicit ExternalFrame(const Frame& frame) : frame_(frame) {}
  Frame frame_;
};

// Takes references of its own to the frame's memory. kInvalidArgument for handles that are no such memory, and for
// sizes that the memory does not have; kUnsupported where the system has no such memory.
Result<std::shared_ptr<ExternalFrame>> OpenExternalFrame(const Frame& frame);

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

#endif  // HEARTH_HAL_IO_EXTERNAL_FRAME_H_
