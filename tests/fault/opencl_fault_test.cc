// Calls to the OpenCL driver fail, one after the other.
#include <type_traits>

#include "backends/opencl/driver_api.h"
#include "tests/fault/driver_call_faults.h"

namespace hearth {
namespace {

using testing::DriverCall;
using testing::DriverFault;

cl_int OpenClCodeOf(DriverFault fault) {
  return fault == DriverFault::kLost          ? CL_DEVICE_NOT_AVAILABLE
         : fault == DriverFault::kOutOfMemory ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                                              : CL_INVALID_OPERATION;
}

// The last argument, where functions that make something put their error.
inline cl_int* ErrorOf(cl_int* error) {
  return error;
}
template <typename T>
cl_int* ErrorOf(T) {
  return nullptr;
}
template <typename T, typename... Rest>
cl_int* ErrorOf(T, Rest... rest) {
  return ErrorOf(rest...);
}

inline int EventsIn() {
  return 0;
}
template <typename T, typename... Rest>
int EventsIn(T first, Rest... rest) {
  if constexpr (std::is_same_v<T, cl_event*>) return (first != nullptr ? 1 : 0) + EventsIn(rest...);
  return EventsIn(rest...);
}

struct OpenClRules {
  template <typename R>
  static bool CanFail(std::string_view name) {
    return !name.starts_with("clRelease");
  }

  static bool Waits(std::string_view name) { return name == "clFinish" || name == "clWaitForEvents"; }

  template <typename R, typename... A>
  static R Failed(DriverFault fault, std::string_view, A... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
      return OpenClCodeOf(fault);
    } else {
      if (cl_int* error = ErrorOf(arguments...)) *error = OpenClCodeOf(fault);
      return R();
    }
  }

  template <typename R, typename... A>
  static int Made(std::string_view name, R result, A... arguments) {
    if (name.starts_with("clRelease")) return -1;
    if constexpr (std::is_same_v<R, cl_int>) {
      if (result != CL_SUCCESS) return 0;
      return (name.starts_with("clRetain") ? 1 : 0) + EventsIn(arguments...);
    } else {
      if (result == R()) return 0;
      return (name.starts_with("clCreate") ? 1 : 0) + EventsIn(arguments...);
    }
  }
};

void Replace(OpenClApi& table) {
#define HEARTH_PUT(name) DriverCall<OpenClRules, &OpenClApi::name>::Put(table, #name);
  HEARTH_OPENCL_FUNCTIONS(HEARTH_PUT)
#undef HEARTH_PUT
}

class OpenClCallFaults : public testing::DriverCallFaults {
 protected:
  void SetUp() override {
    TheOpenClTableFilter() = Replace;
    Begin("opencl");
  }
};

HEARTH_DRIVER_CALL_TESTS(OpenClCallFaults);

}  // namespace
}  // namespace hearth
