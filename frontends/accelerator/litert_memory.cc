#include "frontends/accelerator/litert_memory.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "frontends/accelerator/hearth_buffer.h"
#include "frontends/delegate/interpreter_model.h"

namespace hearth {
namespace {

using namespace litert_c;  // NOLINT(google-build-using-namespace): the names of one interface
using tflite_c::TfLiteContext;

// What LiteRT may hand over. All can be locked.
constexpr std::array kKinds = {kLiteRtTensorBufferTypeHostMemory,   kHearthBuffer,
                               kLiteRtTensorBufferTypeOpenClBuffer, kLiteRtTensorBufferTypeAhwb,
                               kLiteRtTensorBufferTypeIon,          kLiteRtTensorBufferTypeDmaBuf,
                               kLiteRtTensorBufferTypeFastRpc,      kLiteRtTensorBufferTypeGlBuffer};

// The same with the one first that LiteRT is to make.
auto KindsAfter(LiteRtTensorBufferType first) {
  auto kinds = kKinds;
  std::swap(kinds[0], *std::ranges::find(kinds, first));
  return kinds;
}

// So many pairs of an input and an output of one shape make states. A single pair may be a picture that is changed.
constexpr size_t kFewestStates = 2;

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
class BoundBuffers final : public BoundMemory {
 public:
  BoundBuffers(const LiteRtRuntime& runtime, LiteRtExternalLiteRtBufferContextT* buffers)
      : runtime_(runtime), buffers_(buffers) {}

  ~BoundBuffers() override {
    const uint64_t one = 1;
    while (done_.is_open() && write(done_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    for (const Taken& taken : taken_) {
      if (taken.is_locked) runtime_.unlock(taken.buffer);
      runtime_.destroy_buffer(taken.buffer);
    }
  }

  Status Wait() override {
    for (const Descriptor& fence : fences_) {
      pollfd polled = {fence.get(), POLLIN, 0};
      while (poll(&polled, 1, -1) < 0 && errno == EINTR) {
      }
      if ((polled.revents & POLLIN) == 0) return Error(StatusCode::kUnavailable, "the fence of an input has an error");
    }
    return Status::Ok();
  }

  // The tensor's memory; `is_output`: the invocation writes it. Empty with `on_device`.
  Result<std::span<std::byte>> Take(TfLiteContext& context, int index, bool is_output, DeviceMemory*& on_device) {
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
    if (is_output) outputs_.push_back(buffer);
    if (!is_output) HEARTH_TRY(NoteEvent(context, index, buffer));
    LiteRtTensorBufferType kind{};
    if (runtime_.buffer_kind(buffer, &kind) != kLiteRtStatusOk)
      return Refused("tell the kind of", context, index, kLiteRtStatusErrorRuntimeFailure);
    void* handle = nullptr;
    if (runtime_.custom_handle != nullptr && offset == 0 &&
        (kind == kHearthBuffer || kind == kLiteRtTensorBufferTypeOpenClBuffer) &&
        runtime_.custom_handle(buffer, &handle) == kLiteRtStatusOk && handle != nullptr) {
      on_device = static_cast<DeviceMemory*>(handle);
      return std::span<std::byte>();
    }
    HEARTH_ASSIGN(std::byte * memory, MemoryOf(context, index, taken_.back(), kind));
    return std::span(memory + offset, tensor->bytes);
  }

  // From here on the invocation may return before its end, if no memory is locked: the outputs get events.
  void MakeAsync() {
    LiteRtEnvironmentT* environment = nullptr;
    if (!is_all_host_ || runtime_.environment_of(buffers_, &environment) != kLiteRtStatusOk) return;
    done_ = Descriptor(eventfd(0, EFD_CLOEXEC));
    if (!done_.is_open()) return;
    for (LiteRtTensorBufferT* buffer : outputs_) {
      LiteRtEventT* event = nullptr;
      Descriptor file(dup(done_.get()));
      if (!file.is_open() || runtime_.event_from_fence(environment, file.get(), true, &event) != kLiteRtStatusOk) {
        return;
      }
      static_cast<void>(file.Release());  // the event closes it
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

  // A fence is waited for in the invocation, another event now, because the program may destroy it at any time.
  Status NoteEvent(const TfLiteContext& context, int index, LiteRtTensorBufferT* buffer) {
    bool has_event = false;
    LiteRtEventT* event = nullptr;
    if (runtime_.has_event(buffer, &has_event) != kLiteRtStatusOk || !has_event) return Status::Ok();
    LiteRtStatus status = runtime_.event_of(buffer, &event);
    int fence = -1;
    if (status == kLiteRtStatusOk && runtime_.fence_of(event, &fence) == kLiteRtStatusOk && fence >= 0) {
      Descriptor own(dup(fence));
      if (own.is_open()) {
        fences_.push_back(std::move(own));
        return Status::Ok();
      }
    }
    if (status == kLiteRtStatusOk) status = runtime_.wait(event, -1);
    return status == kLiteRtStatusOk ? Status::Ok() : Refused("wait for the event of", context, index, status);
  }

  Result<std::byte*> MemoryOf(TfLiteContext& context, int index, Taken& taken, LiteRtTensorBufferType kind) {
    // An input may be an output too: it is locked once.
    for (const Taken& other : taken_) {
      if (&other != &taken && other.buffer == taken.buffer) return other.memory;
    }
    void* address = nullptr;
    LiteRtStatus status = kLiteRtStatusOk;
    if (kind == kLiteRtTensorBufferTypeHostMemory) {
      status = runtime_.host_memory(taken.buffer, &address);
    } else {
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
  std::vector<Descriptor> fences_;  // of inputs
  bool is_all_host_ = true;         // none of them is locked
  Descriptor done_;                 // becomes readable at the end
};

// The inputs and outputs that are a network's states.
std::set<int> StatesAmong(const TfLiteContext& context, std::span<const SizedTensor> inputs,
                          std::span<const SizedTensor> outputs) {
  std::set<int> states;
  for (const SizedTensor& output : outputs) {
    const TfLiteTensor& made = *TensorAt(context, output.index);
    const auto input = std::ranges::find_if(inputs, [&](const SizedTensor& candidate) {
      const TfLiteTensor& read = *TensorAt(context, candidate.index);
      return read.type == tflite_c::kTfLiteFloat32 && made.type == tflite_c::kTfLiteFloat32 &&
             std::ranges::equal(Numbers(read.dims), Numbers(made.dims)) && !states.contains(candidate.index);
    });
    if (input == inputs.end()) continue;
    states.insert({input->index, output.index});
  }
  return states.size() >= 2 * kFewestStates ? states : std::set<int>();
}

}  // namespace

LiteRtTensorBufferType LiteRtMemory::FirstKind(const TfLiteTensor& tensor, bool is_state) const {
  if (device_ != nullptr && tensor.type == tflite_c::kTfLiteFloat32) return kLiteRtTensorBufferTypeOpenClBuffer;
  return is_state ? kHearthBuffer : kLiteRtTensorBufferTypeHostMemory;
}

Status LiteRtMemory::Announce(TfLiteContext& context, std::span<const SizedTensor> inputs,
                              std::span<const SizedTensor> outputs, const std::set<int>& others) {
  LiteRtExternalLiteRtBufferContextT* buffers = BuffersOf(context);
  if (buffers == nullptr) return Status::Ok();
  const auto is_open = [&](const SizedTensor& tensor) { return HasOpenSize(*TensorAt(context, tensor.index)); };
  if (std::ranges::any_of(inputs, is_open)) return Status::Ok();  // LiteRT asks the tensors for their sizes then
  const std::set<int> states =
      runtime_.custom_handle != nullptr ? StatesAmong(context, inputs, outputs) : std::set<int>();
  for (const std::span<const SizedTensor> list : {inputs, outputs}) {
    for (const auto& [index, bytes] : list) {
      if (others.contains(index)) continue;  // who needs the memory in the tensor
      LiteRtTensorBufferRequirementsT* requirements = nullptr;
      const auto kinds = KindsAfter(FirstKind(*TensorAt(context, index), states.contains(index)));
      LiteRtStatus status =
          runtime_.create_requirements(static_cast<int>(kinds.size()), kinds.data(), bytes, 0, nullptr, &requirements);
      if (status == kLiteRtStatusOk)
        status = runtime_.register_requirements(buffers, TensorAt(context, index), requirements);
      if (status != kLiteRtStatusOk) return Refused("take what is told of", context, index, status);
    }
  }
  return Status::Ok();
}

Result<std::unique_ptr<BoundMemory>> LiteRtMemory::Hold(TfLiteContext& context, std::span<const int> inputs,
                                                        std::span<const int> outputs) {
  LiteRtExternalLiteRtBufferContextT* buffers = BuffersOf(context);
  if (buffers == nullptr) return MemoryOfTensors().Hold(context, inputs, outputs);
  auto held = std::make_unique<BoundBuffers>(runtime_, buffers);
  for (const int index : inputs) {
    DeviceMemory*& on_device = held->inputs_on_device.emplace_back(nullptr);
    HEARTH_ASSIGN(const std::span<std::byte> bytes, held->Take(context, index, false, on_device));
    held->inputs.emplace_back(bytes);
  }
  for (const int index : outputs) {
    DeviceMemory*& on_device = held->outputs_on_device.emplace_back(nullptr);
    HEARTH_ASSIGN(const std::span<std::byte> bytes, held->Take(context, index, true, on_device));
    held->outputs.push_back(bytes);
  }
  bool is_async = false;
  if (runtime_.is_async(buffers, &is_async) == kLiteRtStatusOk && is_async) held->MakeAsync();
  return std::unique_ptr<BoundMemory>(std::move(held));
}

}  // namespace hearth
