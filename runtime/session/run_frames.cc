// The frames of a RunContext.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "hal/io/frame_layout.h"
#include "runtime/session/run_context.h"

namespace hearth {
namespace {

// While it lives, the host reads a frame that the device imported.
class HostReading {
 public:
  HostReading(ExternalFrame& external, std::chrono::milliseconds limit)
      : external_(external), frame_(Begin(external, limit)) {}
  ~HostReading() { external_.EndReading(); }
  HostReading(const HostReading&) = delete;
  HostReading& operator=(const HostReading&) = delete;
  const Result<Frame>& frame() const { return frame_; }

 private:
  static Result<Frame> Begin(ExternalFrame& external, std::chrono::milliseconds limit) {
    HEARTH_TRY(external.OnHost().status());  // it is mapped before the reading begins
    HEARTH_TRY(external.BeginReading(limit));
    return external.OnHost();
  }

  ExternalFrame& external_;
  Result<Frame> frame_;
};

Status ReadInto(const Frame& frame, const TensorDesc& desc, std::span<std::byte> dense) {
  HEARTH_ASSIGN(const FrameLayout layout, LayoutOfFrame(frame, desc));
  ReadFrame(layout, HostPlanes(frame), desc, dense);
  return Status::Ok();
}

}  // namespace

void WarnOnce(const TensorInfo& input, std::string_view text, std::vector<std::string>& warnings) {
  const std::string whose = fmt::format("input '{}': ", input.name);
  if (std::ranges::none_of(warnings, [&](const std::string& known) { return known.starts_with(whose); }))
    warnings.push_back(whose + std::string(text));
}

Result<bool> RunContext::PlaceFrame(size_t index, const std::function<Status()>& fits,
                                    std::vector<std::string>& warnings) {
  if (!runs().IsOnDeviceOnly(Side::kInput, index)) return false;
  Status placed = runs().Bind(Side::kInput, index, caller_.inputs[index].endpoint);
  if (placed.ok()) {
    placed = fits();
    if (placed.ok()) return true;
    HEARTH_TRY(runs().Bind(Side::kInput, index, GivenBytes()));
  }
  if (placed.code() != StatusCode::kResourceExhausted) return placed;
  WarnOnce(model().inputs()[index], placed.message() + "; the CPU makes the input of it", warnings);
  return false;
}

Status RunContext::PlaceFrames(const std::function<Status()>& fits, std::vector<std::string>& warnings) {
  for (size_t k = 0; k < caller_.inputs.size(); ++k) {
    InputState& input = caller_.inputs[k];
    const auto* framed = std::get_if<HostFrame>(&input.endpoint);
    if (framed == nullptr) continue;
    HEARTH_ASSIGN(const bool is_placed, PlaceFrame(k, fits, warnings));
    if (!is_placed) HEARTH_TRY(ReadInto(framed->frame, DescOf(Side::kInput, k), input.bytes));
  }
  return Status::Ok();
}

Status RunContext::DropFrames() {
  for (size_t k = 0; k < caller_.inputs.size(); ++k) {
    if (std::holds_alternative<HostFrame>(caller_.inputs[k].endpoint))
      HEARTH_TRY(runs().Bind(Side::kInput, k, GivenBytes()));
  }
  return Status::Ok();
}

Status RunContext::HandFramesToHost(bool are_begun, std::chrono::milliseconds limit) {
  for (RunSlot& slot : caller_.slots) {
    for (size_t k = 0; k < slot.inputs.size(); ++k) {
      auto* retained = std::get_if<std::shared_ptr<ExternalFrame>>(&slot.inputs[k]);
      if (retained == nullptr || !slot.is_in_flight()) continue;
      const std::shared_ptr<ExternalFrame> external = *retained;
      const HostReading reading(*external, limit);
      HEARTH_ASSIGN(const Frame frame, reading.frame());
      const TensorDesc& desc = DescOf(Side::kInput, k);
      std::vector<std::byte> bytes(desc.size_bytes());
      HEARTH_TRY(ReadInto(frame, desc, bytes));
      slot.inputs[k] = std::move(bytes);
    }
  }
  for (InputState& input : caller_.inputs) {
    const auto* imported = std::get_if<ImportedFrame>(&input.endpoint);
    if (imported == nullptr || imported->external == nullptr) continue;
    const std::shared_ptr<ExternalFrame> external = imported->external;
    HEARTH_TRY(external->OnHost().status());  // it is mapped before the reading begins
    if (are_begun) HEARTH_TRY(external->BeginReading(limit));
    HEARTH_ASSIGN(const Frame frame, external->OnHost());
    input.endpoint = HostFrame{frame, external};
  }
  return Status::Ok();
}

Status RunContext::RetainInputs(RunSlot& slot, bool as_inputs) {
  slot.inputs.resize(caller_.inputs.size());
  for (size_t k = 0; k < caller_.inputs.size(); ++k) {
    const InputState& input = caller_.inputs[k];
    RetainedInput& retained = slot.inputs[k];
    if (const auto* framed = std::get_if<HostFrame>(&input.endpoint)) {
      HEARTH_ASSIGN(const FrameLayout layout, LayoutOfFrame(framed->frame, DescOf(Side::kInput, k)));
      auto* kept = std::get_if<KeptFrame>(&retained);
      KeepFrame(layout, HostPlanes(framed->frame), kept != nullptr ? *kept : retained.emplace<KeptFrame>());
    } else if (const auto* imported = std::get_if<ImportedFrame>(&input.endpoint);
               imported != nullptr && imported->external != nullptr) {
      retained = imported->external;
    } else if (IsInDeviceMemory(input.endpoint)) {
      retained = std::monostate();
    } else {
      retained = input.bytes;
    }
  }
  if (as_inputs) MakeRetainedInputs(slot);
  return Status::Ok();
}

void RunContext::MakeRetainedInputs(RunSlot& slot) const {
  for (size_t k = 0; k < slot.inputs.size(); ++k) {
    const auto* kept = std::get_if<KeptFrame>(&slot.inputs[k]);
    if (kept == nullptr) continue;
    const TensorDesc& desc = DescOf(Side::kInput, k);
    std::vector<std::byte> bytes(desc.size_bytes());
    ReadFrame(*kept, desc, bytes);
    slot.inputs[k] = std::move(bytes);
  }
}

}  // namespace hearth
