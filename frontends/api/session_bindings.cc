// Binds a session's inputs and outputs to memory that the program lends.
#include "core/base/error.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"
#include "hearth/session.h"

namespace hearth {
namespace {

// The host memory's part of a binding. The runner has the device's part.
Status SetHostBinding(InterfaceState& state, const Binding& binding, const TensorDesc& desc) {
  if (binding.handle == 0) return Error(StatusCode::kInvalidArgument, "the address of the host memory is null");
  HEARTH_ASSIGN(state.layout, LayoutOf(binding, desc));
  state.memory = {reinterpret_cast<std::byte*>(static_cast<uintptr_t>(binding.handle)), binding.size_bytes};
  state.is_on_device = false;
  return Status::Ok();
}

// Sets both parts; `bind` sets the runner's.
template <typename Bind>
Status SetBinding(InterfaceState& state, const Binding& binding, const TensorDesc& desc, std::string_view name,
                  Bind bind) {
  if (binding.memory == MemoryKind::kHost) HEARTH_TRY(SetHostBinding(state, binding, desc).Within(std::string(name)));
  HEARTH_TRY(bind());
  state.is_on_device = binding.memory != MemoryKind::kHost;
  if (state.is_on_device) state.layout.reset();
  state.frame.reset();
  state.external.reset();
  return Status::Ok();
}

}  // namespace

Status Session::BindInput(std::string_view name, const Binding& binding) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  HEARTH_ASSIGN(const size_t index, IndexOf(inputs(), name, "input"));
  const TensorDesc& desc = data_->runner->plan().inputs[index].desc;
  return WithHotHint(*data_, SetBinding(data_->input_states[index], binding, desc, name,
                                        [&] { return data_->runner->BindInput(index, binding); }));
}

Status Session::BindOutput(std::string_view name, const Binding& binding) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  HEARTH_ASSIGN(const size_t index, IndexOf(outputs(), name, "output"));
  const TensorDesc& desc = data_->runner->plan().outputs[index].desc;
  return WithHotHint(*data_, SetBinding(data_->output_states[index], binding, desc, name,
                                        [&] { return data_->runner->BindOutput(index, binding); }));
}

Status Session::UnbindInput(std::string_view name) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  HEARTH_ASSIGN(const size_t index, IndexOf(inputs(), name, "input"));
  HEARTH_TRY(data_->runner->BindInput(index, {.memory = MemoryKind::kHost}));
  data_->input_states[index].Unbind();
  return Status::Ok();
}

Status Session::UnbindOutput(std::string_view name) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  HEARTH_ASSIGN(const size_t index, IndexOf(outputs(), name, "output"));
  HEARTH_TRY(data_->runner->BindOutput(index, {.memory = MemoryKind::kHost}));
  data_->output_states[index].Unbind();
  return Status::Ok();
}

}  // namespace hearth
