// The C interface between LiteRT 2 and a GPU accelerator, as far as Hearth uses it: LiteRT 2.1.6 and later. Structures,
// numbers and the order of members belong to the interface. Members are read only where the other side's header says
// that they are there (litert_runtime.h).
#ifndef HEARTH_FRONTENDS_ACCELERATOR_LITERT_C_H_
#define HEARTH_FRONTENDS_ACCELERATOR_LITERT_C_H_

#include <cstddef>
#include <cstdint>

#include "frontends/delegate/tflite_c.h"

namespace hearth::litert_c {

using tflite_c::TfLiteDelegate;
using tflite_c::TfLiteTensor;

enum LiteRtStatus : int32_t {
  kLiteRtStatusOk = 0,
  kLiteRtStatusErrorInvalidArgument = 1,
  kLiteRtStatusErrorMemoryAllocationFailure = 2,
  kLiteRtStatusErrorRuntimeFailure = 3,
  kLiteRtStatusErrorUnsupported = 5,
};

enum LiteRtHwAccelerators : int32_t {
  kLiteRtHwAcceleratorCpu = 1,
  kLiteRtHwAcceleratorGpu = 2,
};

// Opaque objects of LiteRT's.
struct LiteRtAcceleratorT;
struct LiteRtDelegateWrapperT;
struct LiteRtEnvironmentT;
struct LiteRtEnvironmentOptionsT;
struct LiteRtEventT;
struct LiteRtExternalLiteRtBufferContextT;
struct LiteRtMetricsT;
struct LiteRtOpaqueOptionsT;
struct LiteRtOptionsT;
struct LiteRtTensorBufferT;
struct LiteRtTensorBufferRequirementsT;

struct LiteRtApiVersion {
  int major, minor, patch;
};

// A value of several types.
enum LiteRtAnyType : int32_t { kLiteRtAnyTypeInt = 2, kLiteRtAnyTypeReal = 3 };
struct LiteRtAny {
  LiteRtAnyType type;
  union {
    int64_t int_value;
    double real_value;
  };
};
struct LiteRtMetric {
  const char* name;
  LiteRtAny value;
};

enum LiteRtTensorBufferType : int32_t {
  kLiteRtTensorBufferTypeHostMemory = 1,
  kLiteRtTensorBufferTypeAhwb = 2,
  kLiteRtTensorBufferTypeIon = 3,
  kLiteRtTensorBufferTypeDmaBuf = 4,
  kLiteRtTensorBufferTypeFastRpc = 5,
  kLiteRtTensorBufferTypeGlBuffer = 6,
  kLiteRtTensorBufferTypeOpenClBuffer = 10,
  kLiteRtTensorBufferTypeUserCustomBuffer = 100,  // to 199
};
enum LiteRtTensorBufferLockMode : int32_t {
  kLiteRtTensorBufferLockModeRead = 0,
  kLiteRtTensorBufferLockModeWrite = 1,
  kLiteRtTensorBufferLockModeReadWrite = 2,
};

// The number of an external context in TfLiteContext::GetExternalContext: LiteRT's tensor buffers.
inline constexpr int32_t kTfLiteLiteRtBufferContext = 4;

// Before every structure of the interface since 2.2.
struct LiteRtAbiHeader {
  uint16_t struct_size;
  uint16_t major_version;
  uint16_t minor_version;
  uint16_t reserved;
};

// The functions that LiteRT gives; read by litert_runtime.cc.
struct LiteRtRuntimeContext;

// ---- Memory that the accelerator makes for tensors ----

// Options of the environment.
inline constexpr int32_t kLiteRtEnvOptionTagOpenClContext = 4;
inline constexpr int32_t kLiteRtEnvOptionTagOpenClCommandQueue = 5;

struct HwMemoryInfo {
  void* memory_handle;
  void* raw_handle;
};
struct LiteRtRankedTensorType;

struct LiteRtCustomTensorBufferHandlers {
  LiteRtAbiHeader abi_header;
  LiteRtStatus (*create)(void* device, void* queue, const LiteRtRankedTensorType* type, LiteRtTensorBufferType kind,
                         size_t bytes, size_t packed_bytes, HwMemoryInfo** made);
  LiteRtStatus (*destroy)(HwMemoryInfo* memory);
  LiteRtStatus (*lock)(HwMemoryInfo* memory, LiteRtTensorBufferLockMode mode, void** host_memory);
  LiteRtStatus (*unlock)(HwMemoryInfo* memory);
  LiteRtStatus (*clear)(HwMemoryInfo* memory);
  LiteRtStatus (*import)(void* device, void* queue, const LiteRtRankedTensorType* type, LiteRtTensorBufferType kind,
                         void* handle, size_t bytes, size_t packed_bytes, HwMemoryInfo** made);
  int32_t device_tag;  // the environment option whose value is handed over as `device`; 255: none
  int32_t queue_tag;
  size_t kinds_count;
  LiteRtTensorBufferType kinds[16];
};

// ---- The accelerator ----

using GetName = LiteRtStatus (*)(LiteRtAcceleratorT* accelerator, const char** name);
using GetVersion = LiteRtStatus (*)(LiteRtAcceleratorT* accelerator, LiteRtApiVersion* version);
using GetHardwareSupport = LiteRtStatus (*)(LiteRtAcceleratorT* accelerator, int32_t* hardware);
using IsResponsibleForJit = LiteRtStatus (*)(LiteRtAcceleratorT* accelerator, bool* is_responsible);
using CreateDelegate = LiteRtStatus (*)(LiteRtRuntimeContext* runtime, LiteRtEnvironmentT* environment,
                                        LiteRtAcceleratorT* accelerator, LiteRtOptionsT* options,
                                        LiteRtDelegateWrapperT** wrapper);
using StartMetrics = LiteRtStatus (*)(LiteRtRuntimeContext* runtime, LiteRtDelegateWrapperT* delegate,
                                      int detail_level);
using StopMetrics = LiteRtStatus (*)(LiteRtRuntimeContext* runtime, LiteRtDelegateWrapperT* delegate,
                                     LiteRtMetricsT* metrics);

struct LiteRtAcceleratorDef {
  LiteRtAbiHeader abi_header;
  GetName get_name;
  GetVersion get_version;
  GetHardwareSupport get_hardware_support;
  IsResponsibleForJit is_responsible_for_jit;
  CreateDelegate create_delegate;
  StartMetrics start_metrics;
  StopMetrics stop_metrics;
  LiteRtCustomTensorBufferHandlers buffer_handlers;
};
static_assert(sizeof(void*) != 8 ||
              (sizeof(LiteRtAcceleratorDef) == 200 && offsetof(LiteRtAcceleratorDef, create_delegate) == 40 &&
               offsetof(LiteRtAcceleratorDef, buffer_handlers) == 64 &&
               offsetof(LiteRtCustomTensorBufferHandlers, device_tag) == 56 &&
               offsetof(LiteRtCustomTensorBufferHandlers, kinds) == 72));

}  // namespace hearth::litert_c

#endif  // HEARTH_FRONTENDS_ACCELERATOR_LITERT_C_H_
