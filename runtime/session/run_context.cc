#include "runtime/session/run_context.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "hal/io/binding_layout.h"
#include "runtime/model/model_data.h"
#include "runtime/session/memory_need.h"

namespace hearth {
namespace {

const Binding* HostBindingOf(const Endpoint& endpoint) {
  const auto* borrowed = std::get_if<BorrowedMemory>(&endpoint);
  return borrowed != nullptr && borrowed->binding.memory == MemoryKind::kHost ? &borrowed->binding : nullptr;
}

std::span<std::byte> MemoryOf(const Binding& binding) {
  return {reinterpret_cast<std::byte*>(static_cast<uintptr_t>(binding.handle)), binding.size_bytes};
}

// Whether only this device can read or write there: the host can read frames that several drivers share.
bool IsOnThisDeviceOnly(const Endpoint& endpoint) {
  return IsInDeviceMemory(endpoint) && ExternalOf(endpoint) == nullptr;
}

}  // namespace

bool IsInDeviceMemory(const Endpoint& endpoint) {
  return std::holds_alternative<ImportedFrame>(endpoint) ||
         (std::holds_alternative<BorrowedMemory>(endpoint) && HostBindingOf(endpoint) == nullptr);
}

std::shared_ptr<ExternalFrame> ExternalOf(const Endpoint& endpoint) {
  if (const auto* frame = std::get_if<HostFrame>(&endpoint)) return frame->external;
  if (const auto* frame = std::get_if<ImportedFrame>(&endpoint)) return frame->external;
  return nullptr;
}

RunContext::RunContext(PreparedRuns made, int max_in_flight) : made_(std::move(made)) {
  for (const TensorInfo& input : model().inputs()) caller_.inputs.emplace_back().bytes.resize(input.size_bytes);
  caller_.outputs.resize(model().outputs().size());
  caller_.slots.resize(static_cast<size_t>(max_in_flight));
  OwnOutputs();
}

// ---- Inputs and outputs ----

const TensorDesc& RunContext::DescOf(Side side, size_t index) const {
  return side == Side::kInput ? plan().inputs[index].desc : plan().outputs[index].desc;
}

Status RunContext::Bind(Side side, size_t index, const Endpoint& endpoint) {
  Endpoint& own = side == Side::kInput ? caller_.inputs[index].endpoint : caller_.outputs[index].endpoint;
  const Binding* const in_host_memory = HostBindingOf(endpoint);
  if (in_host_memory != nullptr) {
    const std::string& name = (side == Side::kInput ? model().inputs() : model().outputs())[index].name;
    if (in_host_memory->handle == 0)
      return Error(StatusCode::kInvalidArgument, "'{}': the address of the host memory is null", name);
    HEARTH_TRY(LayoutOf(*in_host_memory, DescOf(side, index)).status().Within("'" + name + "'"));
  }
  // PlaceFrame tells the device of a frame in host memory.
  const bool is_of_host = std::holds_alternative<HostFrame>(endpoint) || in_host_memory != nullptr;
  HEARTH_TRY(runs().Bind(side, index, is_of_host ? Endpoint() : endpoint));
  own = endpoint;
  return Status::Ok();
}

std::span<const std::byte> RunContext::output(size_t index) const {
  const OutputState& output = caller_.outputs[index];
  return output.in_program.empty() ? std::span<const std::byte>(output.bytes) : output.in_program;
}

OutputSpans RunContext::OwnOutputs() {
  OutputSpans spans;
  for (size_t k = 0; k < caller_.outputs.size(); ++k) {
    OutputState& output = caller_.outputs[k];
    output.in_program = runs().OutputMemory(k);
    if (!output.in_program.empty()) {
      std::vector<std::byte>().swap(output.bytes);
      spans.push_back(output.in_program);
    } else {
      output.bytes.resize(model().outputs()[k].size_bytes);
      spans.emplace_back(output.bytes);
    }
  }
  return spans;
}

void RunContext::KeepVisibleOutputs() {
  for (OutputState& output : caller_.outputs) {
    const std::span<std::byte> in_program = std::exchange(output.in_program, {});
    if (!in_program.empty()) output.bytes.assign(in_program.begin(), in_program.end());
  }
}

// ---- Runs ----

Status RunContext::CheckInputsAreSet() const {
  for (size_t k = 0; k < caller_.inputs.size(); ++k) {
    const InputState& input = caller_.inputs[k];
    if (!input.is_set && std::holds_alternative<GivenBytes>(input.endpoint))
      return Error(StatusCode::kInvalidArgument, "input '{}' was not given", model().inputs()[k].name);
  }
  return Status::Ok();
}

bool RunContext::NeedsSlot() const {
  const auto in_device_memory = [](const auto& state) { return IsInDeviceMemory(state.endpoint); };
  return std::ranges::any_of(caller_.slots, [](const RunSlot& slot) { return slot.number != 0; }) ||
         std::ranges::any_of(caller_.inputs, in_device_memory) ||
         std::ranges::any_of(caller_.outputs, in_device_memory);
}

Status RunContext::ReadBorrowedMemory() {
  for (size_t k = 0; k < caller_.inputs.size(); ++k) {
    const Binding* const binding = HostBindingOf(caller_.inputs[k].endpoint);
    if (binding == nullptr) continue;
    const TensorDesc& desc = DescOf(Side::kInput, k);
    HEARTH_ASSIGN(const BindingLayout layout, LayoutOf(*binding, desc));
    ReadBinding(layout, desc, MemoryOf(*binding), caller_.inputs[k].bytes);
  }
  return Status::Ok();
}

Status RunContext::WriteBorrowedMemory() {
  for (size_t k = 0; k < caller_.outputs.size(); ++k) {
    const Binding* const binding = HostBindingOf(caller_.outputs[k].endpoint);
    if (binding == nullptr) continue;
    const TensorDesc& desc = DescOf(Side::kOutput, k);
    HEARTH_ASSIGN(const BindingLayout layout, LayoutOf(*binding, desc));
    WriteBinding(layout, desc, output(k), MemoryOf(*binding));
  }
  return Status::Ok();
}

InputSpans RunContext::OwnInputs() const {
  InputSpans spans;
  for (const InputState& input : caller_.inputs) spans.emplace_back(input.bytes);
  return spans;
}

Result<size_t> RunContext::FreeSlot() const {
  const auto free = std::ranges::find(caller_.slots, uint64_t{0}, &RunSlot::number);
  if (free != caller_.slots.end()) return static_cast<size_t>(free - caller_.slots.begin());
  return Error(StatusCode::kResourceExhausted,
               "{} runs are in flight, as many as SessionOptions::max_in_flight allows; wait for one first",
               caller_.slots.size());
}

OutputSpans RunContext::OutputsOf(RunSlot& slot) const {
  slot.outputs.resize(caller_.outputs.size());
  OutputSpans spans;
  for (size_t k = 0; k < slot.outputs.size(); ++k) {
    slot.outputs[k].resize(model().outputs()[k].size_bytes);
    spans.emplace_back(slot.outputs[k]);
  }
  return spans;
}

uint64_t RunContext::slots_with_memory() const {
  const auto has_memory = [](const RunSlot& slot) { return !slot.outputs.empty(); };
  return static_cast<uint64_t>(std::ranges::count_if(caller_.slots, has_memory));
}

uint64_t RunContext::frame_bytes() const {
  return has_device() ? made_.runs->frame_bytes() * (1 + slots_with_memory()) : 0;
}

uint64_t RunContext::run_bytes() const {
  return has_device() ? slots_with_memory() * 2 * InterfaceBytes(plan()) + frame_bytes() : 0;
}

// ---- States, other devices ----

Status RunContext::RetainStates() {
  if (plan().states.empty()) return Status::Ok();
  HEARTH_ASSIGN(caller_.retained_states, runs().ReadStates());
  caller_.runs_since_retained = 0;
  return Status::Ok();
}

// Borrowed memory does not go along, nor does a run in flight that waits for or signals sync points, whose inputs are
// not retained. States go along only while all runs since they were retained are in flight.
bool RunContext::CanLeaveItsDevice() const {
  const auto is_here_only = [](const auto& state) { return IsOnThisDeviceOnly(state.endpoint); };
  if (std::ranges::any_of(caller_.inputs, is_here_only) || std::ranges::any_of(caller_.outputs, is_here_only))
    return false;
  for (const RunSlot& slot : caller_.slots) {
    if (!slot.is_in_flight()) continue;
    if (slot.inputs.size() != caller_.inputs.size()) return false;
    // An input of a run in flight was in memory that the program lent to this device and has taken back since.
    if (std::ranges::any_of(slot.inputs, [](const RetainedInput& input) { return input.index() == 0; })) return false;
  }
  return plan().states.empty() || caller_.runs_since_retained == 0;
}

void RunContext::CloseDevice() {
  early_save_.reset();
  KeepVisibleOutputs();
  made_.runs.reset();
  made_.prepared->loaded.reset();
  made_.prepared->request.device->opened.device.reset();
}

Status RunContext::TakeOver(RunContext& before, std::span<const StateContent> states) {
  if (!plan().states.empty()) HEARTH_TRY(runs().ResetState());
  HEARTH_TRY(runs().WriteStates(states));
  for (const Side side : {Side::kInput, Side::kOutput}) {
    const size_t count = side == Side::kInput ? before.caller_.inputs.size() : before.caller_.outputs.size();
    for (size_t k = 0; k < count; ++k) {
      const Endpoint& endpoint =
          side == Side::kInput ? before.caller_.inputs[k].endpoint : before.caller_.outputs[k].endpoint;
      if (IsInDeviceMemory(endpoint)) HEARTH_TRY(runs().Bind(side, k, endpoint));
    }
  }
  before.KeepVisibleOutputs();
  caller_ = std::move(before.caller_);  // all of it
  return Status::Ok();
}

Status RunContext::RepeatRuns() {
  std::vector<RunSlot*> in_flight;
  for (RunSlot& slot : caller_.slots) {
    if (slot.is_in_flight()) in_flight.push_back(&slot);
  }
  std::ranges::sort(in_flight, {}, &RunSlot::number);
  for (RunSlot* slot : in_flight) {
    MakeRetainedInputs(*slot);
    InputSpans inputs;
    for (const RetainedInput& input : slot->inputs) inputs.emplace_back(std::get<std::vector<std::byte>>(input));
    HEARTH_TRY(runs().Run(inputs, OutputsOf(*slot)));
    slot->is_done = true;
  }
  return Status::Ok();
}

Status RunContext::FinishRunsInFlight() {
  for (size_t k = 0; k < caller_.slots.size(); ++k) {
    RunSlot& slot = caller_.slots[k];
    if (!slot.is_in_flight()) continue;
    HEARTH_TRY(runs().Finish({SlotKind::kInFlight, k}, OutputsOf(slot)));
    slot.is_done = true;
  }
  return Status::Ok();
}

// ---- The cache ----

bool RunContext::MayStore() const {
  const PrepareRequest& request = prepared().request;
  return has_device() && has_run_ && request.cache != nullptr && !request.options->cache_read_only;
}

void RunContext::SaveSoon() {
  if (is_stored_ || early_save_ != nullptr || !MayStore()) return;
  Prepared& prepared = *made_.prepared;
  if (!prepared.made.is_new && prepared.loaded->programs().fresh.empty()) return;
  const auto save = [&prepared] {
    std::vector<std::string> warnings = StorePrepared(prepared);
    prepared.request.cache->store->Flush();
    return warnings;
  };
  early_save_ = std::make_unique<EarlySave>(save, [&prepared] {
    const auto& device = prepared.request.device->opened.device;
    return device == nullptr || device->is_quiet();
  });
}

std::vector<std::string> RunContext::Store() {
  if (!MayStore()) return {};
  std::vector<std::string> warnings;
  if (!is_stored_ && early_save_ != nullptr && early_save_->Finish()) {
    is_stored_ = made_.prepared->loaded->programs().fresh.empty();
    if (is_stored_) warnings = early_save_->warnings();
  }
  if (is_stored_ && !runs().HasMoreToStore()) return warnings;
  ResultCache& store = *prepared().request.cache->store;
  {
    const PutBatch batch(&store);  // all in one transaction of the cache
    if (!std::exchange(is_stored_, true)) warnings = StorePrepared(*made_.prepared);
    const std::vector<std::string> more = runs().StoreMore();
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  store.Flush();
  return warnings;
}

}  // namespace hearth
