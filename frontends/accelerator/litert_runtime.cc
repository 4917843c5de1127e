#include "frontends/accelerator/litert_runtime.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "core/base/error.h"

namespace hearth {
namespace {

using litert_c::LiteRtAbiHeader;

struct FunctionRow {
  size_t at;           // in LiteRtRuntime
  size_t in_context;   // in LiteRtRuntimeContext of major version 1, with its header
  const char* symbol;  // of LiteRT's library
  bool is_needed = true;
};

#define HEARTH_FUNCTION(member, offset, symbol, ...)               \
  FunctionRow {                                                    \
    offsetof(LiteRtRuntime, member), offset, symbol, ##__VA_ARGS__ \
  }

constexpr FunctionRow kFunctions[] = {
    HEARTH_FUNCTION(create_requirements, 8, "LiteRtCreateTensorBufferRequirements"),
    HEARTH_FUNCTION(buffer_of, 16, "LiteRtGetExternalLiteRtBufferContextTensorBuffer"),
    HEARTH_FUNCTION(register_requirements, 48, "LiteRtExternalLiteRtBufferContextRegisterBufferRequirements"),
    HEARTH_FUNCTION(environment_of, 56, "LiteRtExternalLiteRtBufferContextGetEnvironment"),
    HEARTH_FUNCTION(is_async, 64, "LiteRtExternalLiteRtBufferContextIsAsyncExecutionMode"),
    HEARTH_FUNCTION(opaque_options, 80, "LiteRtGetOpaqueOptions"),
    HEARTH_FUNCTION(find_opaque_data, 88, "LiteRtFindOpaqueOptionsData"),
    HEARTH_FUNCTION(environment_options, 104, "LiteRtGetEnvironmentOptions", false),
    HEARTH_FUNCTION(environment_value, 112, "LiteRtGetEnvironmentOptionsValue", false),
    HEARTH_FUNCTION(wrap_delegate, 144, "LiteRtWrapDelegate"),
    HEARTH_FUNCTION(unwrap_delegate, 152, "LiteRtUnwrapDelegate"),
    HEARTH_FUNCTION(destroy_buffer, 176, "LiteRtDestroyTensorBuffer"),
    HEARTH_FUNCTION(buffer_kind, 184, "LiteRtGetTensorBufferType"),
    HEARTH_FUNCTION(buffer_size, 200, "LiteRtGetTensorBufferSize"),
    HEARTH_FUNCTION(buffer_offset, 216, "LiteRtGetTensorBufferOffset"),
    HEARTH_FUNCTION(lock, 224, "LiteRtLockTensorBuffer"),
    HEARTH_FUNCTION(unlock, 232, "LiteRtUnlockTensorBuffer"),
    HEARTH_FUNCTION(host_memory, 240, "LiteRtGetTensorBufferHostMemory"),
    HEARTH_FUNCTION(custom_handle, 264, "LiteRtGetTensorBufferCustomTensorBufferHandle", false),
    HEARTH_FUNCTION(has_event, 296, "LiteRtHasTensorBufferEvent"),
    HEARTH_FUNCTION(event_of, 304, "LiteRtGetTensorBufferEvent"),
    HEARTH_FUNCTION(set_event, 312, "LiteRtSetTensorBufferEvent"),
    HEARTH_FUNCTION(event_from_fence, 328, "LiteRtCreateEventFromSyncFenceFd"),
    HEARTH_FUNCTION(fence_of, 344, "LiteRtGetEventSyncFenceFd"),
    HEARTH_FUNCTION(wait, 384, "LiteRtWaitEvent"),
    HEARTH_FUNCTION(hardware, 400, "LiteRtGetOptionsHardwareAccelerators", false),  // since 1.1
};

#undef HEARTH_FUNCTION

// By a symbol that only 2.2 and later have; where LiteRT is part of the program, nothing is known.
bool IsBefore22() {
  return LiteRtSymbol("LiteRtWrapDelegate") != nullptr &&
         LiteRtSymbol("LiteRtExternalLiteRtBufferContextGetRunOptions") == nullptr;
}

void SetFunction(LiteRtRuntime& runtime, const FunctionRow& row, void* function) {
  std::memcpy(reinterpret_cast<std::byte*>(&runtime) + row.at, &function, sizeof function);
}

}  // namespace

Result<LiteRtRuntime> LiteRtRuntime::Of(const litert_c::LiteRtRuntimeContext* context) {
  return IsBefore22() ? FromLibrary() : FromContext(context);
}

Result<LiteRtRuntime> LiteRtRuntime::FromContext(const litert_c::LiteRtRuntimeContext* context) {
  if (context == nullptr) return Error(StatusCode::kUnsupported, "LiteRT hands over no functions");
  LiteRtAbiHeader header;
  std::memcpy(&header, context, sizeof header);
  if (header.major_version != 1) {
    return Error(StatusCode::kUnsupported,
                 "this LiteRT's interface for accelerators has version {}.{}, and this Hearth knows version 1: take a "
                 "newer Hearth",
                 header.major_version, header.minor_version);
  }
  LiteRtRuntime runtime = {};
  for (const FunctionRow& row : kFunctions) {
    void* function = nullptr;
    if (row.in_context + sizeof function <= header.struct_size)
      std::memcpy(&function, reinterpret_cast<const std::byte*>(context) + row.in_context, sizeof function);
    if (function == nullptr) function = LiteRtSymbol(row.symbol);
    if (function == nullptr && row.is_needed) {
      return Error(StatusCode::kUnsupported,
                   "this LiteRT (interface {}.{}, {} bytes) does not give accelerators the function {}",
                   header.major_version, header.minor_version, header.struct_size, row.symbol);
    }
    SetFunction(runtime, row, function);
  }
  return runtime;
}

Result<LiteRtRuntime> LiteRtRuntime::FromLibrary() {
  // A symbol that only 2.1.6 and later have: before, functions of the same names took other arguments. After 2.1
  // LiteRtAcceleratorImpl is taken, unless its version is no longer known.
  if (LiteRtSymbol("LiteRtDestroyDelegateWrapper") == nullptr)
    return Error(StatusCode::kUnsupported, "Hearth needs LiteRT 2.1.6 or later: this one is older, or is not known");
  if (!IsBefore22()) {
    return Error(StatusCode::kUnsupported,
                 "this LiteRT does not take accelerators of version 1, the one that this Hearth knows: take a newer "
                 "Hearth");
  }
  LiteRtRuntime runtime = {};
  for (const FunctionRow& row : kFunctions) {
    void* function = LiteRtSymbol(row.symbol);
    if (function == nullptr && row.is_needed)
      return Error(StatusCode::kUnsupported, "this LiteRT's library lacks the function {}", row.symbol);
    SetFunction(runtime, row, function);
  }
  return runtime;
}

void* LiteRtSymbol(const char* name) {
  // Python opens it for itself only: its symbols are not the process's.
  static void* const library = dlopen("libLiteRt.so", RTLD_NOLOAD | RTLD_LAZY);
  return dlsym(library == nullptr ? RTLD_DEFAULT : library, name);
}

void LogToLiteRt(std::string_view message) {
  std::fprintf(stderr, "Hearth: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace hearth
