#include "backends/opencl/driver_api.h"

#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "hal/device/driver_files.h"
#include "hal/device/driver_isolation.h"
#include "hal/device/loader_names.h"

namespace hearth {
namespace {

Result<OpenClApi> LoadOnce() {
  HEARTH_TRY(IsolateDrivers("opencl", OpenClDriverFiles));
  Result<DynamicLibrary> library = DynamicLibrary::Open(LoaderNamesOn(ThisSystem()).opencl);
  if (!library.ok()) return library.status().Within("no OpenCL loader; install ocl-icd-libopencl1 or the GPU's driver");
  OpenClApi api;
#define HEARTH_FIND(name)                                                        \
  if (api.name = library->Symbol<decltype(&::name)>(#name); api.name == nullptr) \
    return Error(StatusCode::kUnavailable, "the OpenCL loader lacks {}: it is older than OpenCL 1.2", #name);
  HEARTH_OPENCL_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  api.clCreateBufferWithProperties =
      library->Symbol<decltype(api.clCreateBufferWithProperties)>("clCreateBufferWithProperties");
  library->Leak();
  if (TheOpenClTableFilter() != nullptr) TheOpenClTableFilter()(api);
  return api;
}

}  // namespace

Result<const OpenClApi*> LoadOpenCl() {
  static const Result<OpenClApi> loaded = LoadOnce();
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

OpenClTableFilter& TheOpenClTableFilter() {
  static OpenClTableFilter filter = nullptr;
  return filter;
}

std::string OpenClErrorName(cl_int code) {
  switch (code) {
#define HEARTH_NAME(name) \
  case name: return #name;
    HEARTH_NAME(CL_SUCCESS)
    HEARTH_NAME(CL_DEVICE_NOT_FOUND)
    HEARTH_NAME(CL_DEVICE_NOT_AVAILABLE)
    HEARTH_NAME(CL_COMPILER_NOT_AVAILABLE)
    HEARTH_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    HEARTH_NAME(CL_OUT_OF_RESOURCES)
    HEARTH_NAME(CL_OUT_OF_HOST_MEMORY)
    HEARTH_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
    HEARTH_NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED)
    HEARTH_NAME(CL_BUILD_PROGRAM_FAILURE)
    HEARTH_NAME(CL_MAP_FAILURE)
    HEARTH_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    HEARTH_NAME(CL_INVALID_VALUE)
    HEARTH_NAME(CL_INVALID_PLATFORM)
    HEARTH_NAME(CL_INVALID_DEVICE)
    HEARTH_NAME(CL_INVALID_CONTEXT)
    HEARTH_NAME(CL_INVALID_COMMAND_QUEUE)
    HEARTH_NAME(CL_INVALID_MEM_OBJECT)
    HEARTH_NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
    HEARTH_NAME(CL_INVALID_IMAGE_SIZE)
    HEARTH_NAME(CL_INVALID_IMAGE_DESCRIPTOR)
    HEARTH_NAME(CL_INVALID_BINARY)
    HEARTH_NAME(CL_INVALID_BUILD_OPTIONS)
    HEARTH_NAME(CL_INVALID_PROGRAM)
    HEARTH_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    HEARTH_NAME(CL_INVALID_KERNEL_NAME)
    HEARTH_NAME(CL_INVALID_KERNEL_DEFINITION)
    HEARTH_NAME(CL_INVALID_KERNEL)
    HEARTH_NAME(CL_INVALID_ARG_INDEX)
    HEARTH_NAME(CL_INVALID_ARG_VALUE)
    HEARTH_NAME(CL_INVALID_ARG_SIZE)
    HEARTH_NAME(CL_INVALID_KERNEL_ARGS)
    HEARTH_NAME(CL_INVALID_WORK_DIMENSION)
    HEARTH_NAME(CL_INVALID_WORK_GROUP_SIZE)
    HEARTH_NAME(CL_INVALID_WORK_ITEM_SIZE)
    HEARTH_NAME(CL_INVALID_GLOBAL_OFFSET)
    HEARTH_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    HEARTH_NAME(CL_INVALID_EVENT)
    HEARTH_NAME(CL_INVALID_OPERATION)
    HEARTH_NAME(CL_INVALID_BUFFER_SIZE)
#undef HEARTH_NAME
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";  // cl_khr_icd: the loader found no driver
    default: return fmt::format("OpenCL error {}", code);
  }
}

Status OpenClError(cl_int code, StatusCode otherwise, std::string_view what) {
  const bool exhausted =
      code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return Error(exhausted ? StatusCode::kResourceExhausted : otherwise, "{}: {}", what, OpenClErrorName(code));
}

}  // namespace hearth
