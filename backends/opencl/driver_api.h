// The OpenCL functions that Hearth calls, found at run time in the ICD loader; nothing links against it.
#ifndef HEARTH_BACKENDS_OPENCL_DRIVER_API_H_
#define HEARTH_BACKENDS_OPENCL_DRIVER_API_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hearth/status.h"

namespace hearth {

#define HEARTH_OPENCL_FUNCTIONS(X)            \
  X(clGetPlatformIDs)                         \
  X(clGetPlatformInfo)                        \
  X(clGetDeviceIDs)                           \
  X(clGetDeviceInfo)                          \
  X(clGetExtensionFunctionAddressForPlatform) \
  X(clCreateContext)                          \
  X(clReleaseContext)                         \
  X(clRetainContext)                          \
  X(clGetContextInfo)                         \
  X(clCreateCommandQueue)                     \
  X(clReleaseCommandQueue)                    \
  X(clRetainCommandQueue)                     \
  X(clGetCommandQueueInfo)                    \
  X(clCreateBuffer)                           \
  X(clCreateSubBuffer)                        \
  X(clCreateImage)                            \
  X(clRetainMemObject)                        \
  X(clReleaseMemObject)                       \
  X(clGetMemObjectInfo)                       \
  X(clSetMemObjectDestructorCallback)         \
  X(clEnqueueMapBuffer)                       \
  X(clEnqueueUnmapMemObject)                  \
  X(clCreateProgramWithSource)                \
  X(clCreateProgramWithBinary)                \
  X(clBuildProgram)                           \
  X(clGetProgramInfo)                         \
  X(clGetProgramBuildInfo)                    \
  X(clReleaseProgram)                         \
  X(clCreateKernel)                           \
  X(clGetKernelWorkGroupInfo)                 \
  X(clSetKernelArg)                           \
  X(clReleaseKernel)                          \
  X(clEnqueueNDRangeKernel)                   \
  X(clEnqueueMarkerWithWaitList)              \
  X(clEnqueueBarrierWithWaitList)             \
  X(clFlush)                                  \
  X(clFinish)                                 \
  X(clGetEventProfilingInfo)                  \
  X(clReleaseEvent)                           \
  X(clRetainEvent)                            \
  X(clGetEventInfo)                           \
  X(clWaitForEvents)

struct OpenClApi {
#define HEARTH_DECLARE(name) decltype(&::name) name = nullptr;
  HEARTH_OPENCL_FUNCTIONS(HEARTH_DECLARE)
#undef HEARTH_DECLARE
  // Of OpenCL 3.0; null in older loaders.
  cl_mem(CL_API_CALL* clCreateBufferWithProperties)(cl_context, const cl_ulong* properties, cl_mem_flags, size_t, void*,
                                                    cl_int*) = nullptr;
};

// The process's only table, loaded by the first call and never unloaded, because OpenCL drivers start threads.
// kUnavailable, each time with the same message, if the loader is missing or incomplete. Threads: any.
Result<const OpenClApi*> LoadOpenCl();

// For tests: called with the loaded table, to replace functions.
using OpenClTableFilter = void (*)(OpenClApi&);
OpenClTableFilter& TheOpenClTableFilter();  // set it before devices are listed for the first time

// "CL_OUT_OF_RESOURCES", or "OpenCL error -1234" for a number the 1.2 header does not name.
std::string OpenClErrorName(cl_int code);

// "what: CL_NAME". Out of memory or resources is kResourceExhausted, anything else `otherwise`.
Status OpenClError(cl_int code, StatusCode otherwise, std::string_view what);

// Owns one reference to an OpenCL object; move-only. `kRelease` names the member of OpenClApi that drops it.
template <typename T, auto kRelease>
class OpenClHandle {
 public:
  OpenClHandle() = default;
  OpenClHandle(const OpenClApi& api, T object) : api_(&api), object_(object) {}
  OpenClHandle(OpenClHandle&& other) noexcept : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  OpenClHandle& operator=(OpenClHandle&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~OpenClHandle() {
    if (object_ != nullptr) (api_->*kRelease)(object_);
  }

  T get() const { return object_; }
  // Keeps the reference for ever.
  void Leak() { object_ = nullptr; }

 private:
  const OpenClApi* api_ = nullptr;
  T object_ = nullptr;
};

using ContextHandle = OpenClHandle<cl_context, &OpenClApi::clReleaseContext>;
using QueueHandle = OpenClHandle<cl_command_queue, &OpenClApi::clReleaseCommandQueue>;
using MemoryHandle = OpenClHandle<cl_mem, &OpenClApi::clReleaseMemObject>;
using DriverProgramHandle = OpenClHandle<cl_program, &OpenClApi::clReleaseProgram>;
using KernelHandle = OpenClHandle<cl_kernel, &OpenClApi::clReleaseKernel>;
using EventHandle = OpenClHandle<cl_event, &OpenClApi::clReleaseEvent>;

class OpenClSubmissions;

// Objects of an opened device that it lends to everything it makes. The device outlives them.
struct OpenClDriver {
  const OpenClApi& api;
  cl_context context;
  cl_device_id device;
  cl_command_queue queue;  // in order
  uint64_t max_texels;     // of one texel view; 0 if the device has none
  OpenClSubmissions* submissions;
  bool is_software = false, is_pocl = false;
  std::atomic<uint32_t>* items_as_compiled = nullptr;  // Device::items_as_compiled
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_DRIVER_API_H_
