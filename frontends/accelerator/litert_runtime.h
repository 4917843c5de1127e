// The functions of the LiteRT that loaded the accelerator.
#ifndef HEARTH_FRONTENDS_ACCELERATOR_LITERT_RUNTIME_H_
#define HEARTH_FRONTENDS_ACCELERATOR_LITERT_RUNTIME_H_

#include <string_view>

#include "core/base/error.h"
#include "frontends/accelerator/litert_c.h"
#include "hearth/status.h"

namespace hearth {

// A function that this LiteRT lacks is null. Copyable; the functions live as long as LiteRT's library.
struct LiteRtRuntime {
  using Status = litert_c::LiteRtStatus;
  using Buffers = litert_c::LiteRtExternalLiteRtBufferContextT;
  using Buffer = litert_c::LiteRtTensorBufferT;
  using Event = litert_c::LiteRtEventT;
  using Environment = litert_c::LiteRtEnvironmentT;
  using Tensor = litert_c::TfLiteTensor;

  Status (*create_requirements)(int count, const litert_c::LiteRtTensorBufferType* kinds, size_t bytes,
                                int stride_count, const uint32_t* strides,
                                litert_c::LiteRtTensorBufferRequirementsT** made);
  // A share of the buffer behind a tensor of an invocation, for destroy_buffer; an error if it has none.
  Status (*buffer_of)(Buffers* buffers, const Tensor* tensor, Buffer** buffer);
  Status (*register_requirements)(Buffers* buffers, const Tensor* tensor,
                                  litert_c::LiteRtTensorBufferRequirementsT* requirements);
  Status (*environment_of)(Buffers* buffers, Environment** environment);
  Status (*is_async)(Buffers* buffers, bool* is_async);
  Status (*opaque_options)(litert_c::LiteRtOptionsT* options, litert_c::LiteRtOpaqueOptionsT** opaque);
  Status (*find_opaque_data)(litert_c::LiteRtOpaqueOptionsT* opaque, const char* identifier, void** data);
  // Null: the environment's options are not read.
  Status (*environment_options)(Environment* environment, litert_c::LiteRtEnvironmentOptionsT** options);
  Status (*environment_value)(litert_c::LiteRtEnvironmentOptionsT* options, int32_t tag, litert_c::LiteRtAny* value);
  Status (*wrap_delegate)(litert_c::TfLiteDelegate* delegate, void (*deleter)(litert_c::TfLiteDelegate*),
                          litert_c::LiteRtDelegateWrapperT** wrapper);
  Status (*unwrap_delegate)(litert_c::LiteRtDelegateWrapperT* wrapper, litert_c::TfLiteDelegate** delegate);
  void (*destroy_buffer)(Buffer* buffer);
  Status (*buffer_kind)(Buffer* buffer, litert_c::LiteRtTensorBufferType* kind);
  Status (*buffer_size)(Buffer* buffer, size_t* bytes);
  Status (*buffer_offset)(Buffer* buffer, size_t* bytes);
  Status (*lock)(Buffer* buffer, void** host_memory, litert_c::LiteRtTensorBufferLockMode mode);
  Status (*unlock)(Buffer* buffer);
  Status (*host_memory)(Buffer* buffer, void** address);
  Status (*custom_handle)(Buffer* buffer, void** handle);  // null: of no use
  Status (*has_event)(Buffer* buffer, bool* has_event);
  Status (*event_of)(Buffer* buffer, Event** event);
  Status (*set_event)(Buffer* buffer, Event* event);
  Status (*event_from_fence)(Environment* environment, int file, bool owns_file, Event** event);
  Status (*fence_of)(Event* event, int* file);  // still the event's; an error if it is no fence
  Status (*wait)(Event* event, int64_t timeout_ms);
  Status (*hardware)(litert_c::LiteRtOptionsT* options, int32_t* accelerators);

  // Of the LiteRT that calls with `context`: of its table if that has a header, else of its library.
  static Result<LiteRtRuntime> Of(const litert_c::LiteRtRuntimeContext* context);
  // From the table that LiteRT 2.2 and later hand over. kUnsupported, with a sentence for people, for a major version
  // that is not known and for a table without functions that nothing works without.
  static Result<LiteRtRuntime> FromContext(const litert_c::LiteRtRuntimeContext* context);
  // From the symbols of LiteRT's library: 2.1.6, whose table has no header. kUnsupported: others.
  static Result<LiteRtRuntime> FromLibrary();
};

// A symbol of LiteRT's library in this process; null if it has none, or if LiteRT is part of the program itself.
void* LiteRtSymbol(const char* name);

// To LiteRT's log, which is standard error: its loggers are not exported.
void LogToLiteRt(std::string_view message);

inline litert_c::LiteRtStatus LiteRtStatusOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return litert_c::kLiteRtStatusOk;
    case StatusCode::kInvalidArgument: return litert_c::kLiteRtStatusErrorInvalidArgument;
    case StatusCode::kUnsupported: return litert_c::kLiteRtStatusErrorUnsupported;
    case StatusCode::kResourceExhausted: return litert_c::kLiteRtStatusErrorMemoryAllocationFailure;
    default: return litert_c::kLiteRtStatusErrorRuntimeFailure;
  }
}

// Runs `work`; what goes wrong goes to LiteRT's log.
template <typename Work>
litert_c::LiteRtStatus Answered(const Work& work) {
  const Status status = Guarded(work);
  if (!status.ok()) LogToLiteRt(status.message());
  return LiteRtStatusOf(status.code());
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ACCELERATOR_LITERT_RUNTIME_H_
