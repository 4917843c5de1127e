// The program's own OpenCL, and a camera whose frames are in its memory.
#ifndef HEARTH_EXAMPLES_ZERO_COPY_OPENCL_CAMERA_H_
#define HEARTH_EXAMPLES_ZERO_COPY_OPENCL_CAMERA_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "segmentation_picture.h"

namespace examples {

// NV12 in one piece of memory, as decoders and cameras write it: the rows of Y, then those of U and V for 2x2 pixels.
struct Nv12Frame {
  int width = 0, height = 0;  // even
  std::vector<uint8_t> bytes;
};

// What a camera that is held on its left side sees of a picture: the picture turned by 90 degrees to the left, with a
// grey margin of `margin` pixels around it. Turned to the right within the margin it is the picture again.
Nv12Frame SeenSideways(const Picture& picture, int margin);

// A context on the first device, with the camera's queue.
class Camera {
 public:
  // Empty, or why there is none.
  std::string Open();
  ~Camera();

  cl_context context() const { return context_; }
  cl_device_id device() const { return device_; }

  // Memory for a frame; null on failure. Released with the camera.
  cl_mem MakeBuffer(size_t size_bytes);
  // Writes the frame without waiting; returns the event after it, which the caller releases.
  cl_event Deliver(const Nv12Frame& frame, cl_mem buffer);

 private:
  cl_context context_ = nullptr;
  cl_device_id device_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<cl_mem> buffers_;
};

}  // namespace examples

#endif  // HEARTH_EXAMPLES_ZERO_COPY_OPENCL_CAMERA_H_
