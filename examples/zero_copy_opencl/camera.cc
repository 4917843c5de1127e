#include "zero_copy_opencl/camera.h"

#include <algorithm>
#include <cmath>

namespace examples {
namespace {

uint8_t Byte(float value) {
  return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

}  // namespace

Nv12Frame SeenSideways(const Picture& picture, int margin) {
  // Multiples of 4: U and V have half of both, and the buffer a multiple of 4 bytes. A picture loses up to 3 lines.
  const int width = picture.height / 4 * 4, height = picture.width / 4 * 4;
  Nv12Frame frame{width + 2 * margin, height + 2 * margin, {}};
  const size_t pixels = static_cast<size_t>(frame.width) * frame.height;
  frame.bytes.assign(pixels * 3 / 2, 128);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const uint8_t* rgba = &picture.rgba[(size_t{4} * x * picture.width) + size_t{4} * (height - 1 - y)];
      const auto r = static_cast<float>(rgba[0]), g = static_cast<float>(rgba[1]), b = static_cast<float>(rgba[2]);
      // BT.601 with Y from 16 to 235, which is what hearth::Frame expects.
      const size_t row = static_cast<size_t>(y) + margin, column = static_cast<size_t>(x) + margin;
      frame.bytes[row * frame.width + column] = Byte(16 + 0.257f * r + 0.504f * g + 0.098f * b);
      if (x % 2 != 0 || y % 2 != 0) continue;
      uint8_t* uv = &frame.bytes[pixels + row / 2 * frame.width + column];
      uv[0] = Byte(128 - 0.148f * r - 0.291f * g + 0.439f * b);
      uv[1] = Byte(128 + 0.439f * r - 0.368f * g - 0.071f * b);
    }
  }
  return frame;
}

std::string Camera::Open() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return "no OpenCL driver";
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) continue;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    if (context_ == nullptr) continue;
    queue_ = clCreateCommandQueue(context_, device_, 0, nullptr);
    return queue_ != nullptr ? "" : "the OpenCL device has no queue";
  }
  return "no OpenCL device";
}

Camera::~Camera() {
  for (cl_mem buffer : buffers_) clReleaseMemObject(buffer);
  if (queue_ != nullptr) clReleaseCommandQueue(queue_);
  if (context_ != nullptr) clReleaseContext(context_);
}

cl_mem Camera::MakeBuffer(size_t size_bytes) {
  cl_mem buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE, size_bytes, nullptr, nullptr);
  if (buffer != nullptr) buffers_.push_back(buffer);
  return buffer;
}

cl_event Camera::Deliver(const Nv12Frame& frame, cl_mem buffer) {
  cl_event written = nullptr;
  clEnqueueWriteBuffer(queue_, buffer, CL_FALSE, 0, frame.bytes.size(), frame.bytes.data(), 0, nullptr, &written);
  clFlush(queue_);
  return written;
}

}  // namespace examples
