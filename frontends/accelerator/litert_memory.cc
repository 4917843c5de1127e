#include "frontends/accelerator/litert_memory.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {
namespace {

using namespace litert_c;  // NOLINT(google-build-using-namespace): the names of one interface
using tflite_c::TfLiteContext;

// What LiteRT may hand over; it makes the first. All can be locked.
constexpr LiteRtTensorBufferType kKinds[] = {kLiteRtTensorBufferTypeHostMemory,  kLiteRtTensorBufferTypeAhwb,
                                             kLiteRtTensorBufferTypeIon,         kLiteRtTensorBufferTypeDmaBuf,
                                             kLiteRtTensorBufferTypeFastRpc,     kLiteRtTensorBufferTypeGlBuffer,
                                             kLiteRtTensorBufferTypeOpenClBuffer};

LiteRtExternalLiteRtBufferContextT* BuffersOf(TfLiteContext& context) {
  if (context.GetExternalContext == nullptr) return nullptr;
  return static_cast<LiteRtExternalLiteRtBufferContextT*>(
      context.GetExternalContext(&context, kTfLiteLiteRtBufferContext));
}

bool HasOpenSize(const TfLiteTensor& tensor) {
  return std::ranges::any_of(Numbers(tensor.dims_signature), [](int size) { return size < 0; });
}

Status Refused(std::string_view what, const TfLiteContext& context, int index, LiteRtStatus status) {
  return Error(StatusCode::kInvalidArgument, "LiteRT does not {} the buffer of {} (status {})", what,
               TensorLabel(context, index), static_cast<int>(status));
}

// The buffers of one invocation.
class HeldBuffers final : public HeldMemory {
 public:
  HeldBuffers(const LiteRtRuntime& runtime, LiteRtExternalLiteRtBufferContextT* buffers)
      : runtime_(runtime), buffers_(buffers) {}

  ~HeldBuffers() override {
    if (done_ >= 0) {
      const uint64_t one = 1;
      while (write(done_, &one, sizeof one) < 0 && errno == EINTR) {
      }
      close(done_);
    }
    for (const Taken& taken : taken_) {
      if (taken.is_locked) runtime_.unlock(taken.buffer);
      runtime_.destroy_buffer(taken.buffer);
    }
  }

  Status Wait() override {
    for (LiteRtEventT* event : events_) {
      if (runtime_.wait(event, -1) != kLiteRtStatusOk)
        return Error(StatusCode::kUnavailable, "LiteRT's event of an input ends with an error");
    }
    return Status::Ok();
  }

  // The tensor's memory; `is_output`: the invocation writes it.
  Result<std::span<std::byte>> Take(TfLiteContext& context, int index, bool is_output) {
    const TfLiteTensor* tensor = TensorAt(context, index);
    LiteRtTensorBufferT* buffer = nullptr;
    if (tensor == nullptr || runtime_.buffer_of(buffers_, tensor, &buffer) != kLiteRtStatusOk || buffer == nullptr) {
      is_all_host_ = false;
      return BytesOfTensor(context, index);
    }
    taken_.push_back({buffer});
    size_t bytes = 0, offset = 0;
    if (runtime_.buffer_size(buffer, &bytes) != kLiteRtStatusOk ||
        runtime_.buffer_offset(buffer, &offset) != kLiteRtStatusOk) {
      return Refused("tell the size of", context, index, kLiteRtStatusErrorRuntimeFailure);
    }
    if (offset > bytes || bytes - offset < tensor->bytes) {
      return Error(StatusCode::kInvalidArgument, "{} has {} bytes, the buffer for it {}", TensorLabel(context, index),
                   tensor->bytes, offset > bytes ? 0 : bytes - offset);
    }
    HEARTH_ASSIGN(std::byte * memory, MemoryOf(context, index, taken_.back(), is_output));
    if (is_output) outputs_.push_back(buffer);
    return std::span(memory + offset, tensor->bytes);
  }

  // From here on the invocation may return before its end, if all its memory is the host's: the outputs get events.
  void MakeAsync() {
    LiteRtEnvironmentT* environment = nullptr;
    if (!is_all_host_ || runtime_.environment_of(buffers_, &environment) != kLiteRtStatusOk) return;
    done_ = eventfd(0, EFD_CLOEXEC);
    if (done_ < 0) return;
    for (LiteRtTensorBufferT* buffer : outputs_) {
      LiteRtEventT* event = nullptr;
      const int file = dup(done_);  // the event closes it
      if (file < 0) return;
      if (runtime_.event_from_fence(environment, file, true, &event) != kLiteRtStatusOk) {
        close(file);
        return;
      }
      runtime_.set_event(buffer, event);
    }
    is_async = true;
  }

 private:
  struct Taken {
    LiteRtTensorBufferT* buffer;
    bool is_locked = false;
    std::byte* memory = nullptr;
  };

  Result<std::byte*> MemoryOf(TfLiteContext& context, int index, Taken& taken, bool is_output) {
    bool has_event = false;
    LiteRtEventT* event = nullptr;
    if (!is_output && runtime_.has_event(taken.buffer, &has_event) == kLiteRtStatusOk && has_event &&
        runtime_.event_of(taken.buffer, &event) == kLiteRtStatusOk) {
      events_.push_back(event);
    }
    // An input may be an output too: it is locked once.
    for (const Taken& other : taken_) {
      if (&other != &taken && other.buffer == taken.buffer) return other.memory;
    }
    LiteRtTensorBufferType kind{};
    void* address = nullptr;
    LiteRtStatus status = runtime_.buffer_kind(taken.buffer, &kind);
    if (status == kLiteRtStatusOk && kind == kLiteRtTensorBufferTypeHostMemory) {
      status = runtime_.host_memory(taken.buffer, &address);
    } else if (status == kLiteRtStatusOk) {
      is_all_host_ = false;
      status = runtime_.lock(taken.buffer, &address, kLiteRtTensorBufferLockModeReadWrite);
      taken.is_locked = status == kLiteRtStatusOk;
    }
    if (status != kLiteRtStatusOk || address == nullptr) return Refused("lock", context, index, status);
    taken.memory = static_cast<std::byte*>(address);
    return taken.memory;
  }

  const LiteRtRuntime runtime_;
  LiteRtExternalLiteRtBufferContextT* buffers_;
  std::vector<Taken> taken_;  // shares
  std::vector<LiteRtTensorBufferT*> outputs_;
  std::vector<LiteRtEventT*> events_;  // of inputs, whose buffers own them
  bool is_all_host_ = true;
  int done_ = -1;  // a file that becomes readable at the end
};

}  // namespace

Status LiteRtMemory::Announce(TfLiteContext& context, std::span<const SizedTensor> inputs,
                              std::span<const SizedTensor> outputs, const std::set<int>& others) {
  LiteRtExternalLiteRtBufferContextT* buffers = BuffersOf(context);
  if (buffers == nullptr) return Status::Ok();
  const auto is_open = [&](const SizedTensor& tensor) { return HasOpenSize(*TensorAt(context, tensor.index)); };
  if (std::ranges::any_of(inputs, is_open)) return Status::Ok();  // LiteRT asks the tensors for their sizes then
  for (const std::span<const SizedTensor> list : {inputs, outputs}) {
    for (const auto& [index, bytes] : list) {
      if (others.contains(index)) continue;  // who needs the memory in the tensor
      LiteRtTensorBufferRequirementsT* requirements = nullptr;
      LiteRtStatus status =
          runtime_.create_requirements(static_cast<int>(std::size(kKinds)), kKinds, bytes, 0, nullptr, &requirements);
      if (status == kLiteRtStatusOk)
        status = runtime_.register_requirements(buffers, TensorAt(context, index), requirements);
      if (status != kLiteRtStatusOk) return Refused("take what is told of", context, index, status);
    }
  }
  return Status::Ok();
}

Result<std::unique_ptr<HeldMemory>> LiteRtMemory::Hold(TfLiteContext& context, std::span<const int> inputs,
                                                       std::span<const int> outputs) {
  LiteRtExternalLiteRtBufferContextT* buffers = BuffersOf(context);
  if (buffers == nullptr) return MemoryOfTensors().Hold(context, inputs, outputs);
  auto held = std::make_unique<HeldBuffers>(runtime_, buffers);
  for (const int index : inputs) {
    HEARTH_ASSIGN(const std::span<std::byte> bytes, held->Take(context, index, false));
    held->inputs.emplace_back(bytes);
  }
  for (const int index : outputs) {
    HEARTH_ASSIGN(const std::span<std::byte> bytes, held->Take(context, index, true));
    held->outputs.push_back(bytes);
  }
  bool is_async = false;
  if (runtime_.is_async(buffers, &is_async) == kLiteRtStatusOk && is_async) held->MakeAsync();
  return std::unique_ptr<HeldMemory>(std::move(held));
}

}  // namespace hearth
