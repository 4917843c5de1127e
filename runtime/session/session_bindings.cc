// Binds a session's inputs and outputs to memory that the program lends.
#include <algorithm>

#include "core/base/error.h"
#include "hal/io/external_frame.h"
#include "hal/io/frame_layout.h"
#include "hearth/session.h"
#include "runtime/session/hot_start.h"
#include "runtime/session/session_call.h"
#include "runtime/session/session_data.h"

namespace hearth {
namespace {

Result<size_t> IndexOnDevice(const SessionData& data, Side side, std::string_view name) {
  HEARTH_TRY(CheckHasDevice(data));
  const Model& model = data.context->model();
  return side == Side::kInput ? IndexOf(model.inputs(), name, "input") : IndexOf(model.outputs(), name, "output");
}

Status Bind(SessionData& data, Side side, std::string_view name, const Endpoint& endpoint) {
  HEARTH_ASSIGN(const size_t index, IndexOnDevice(data, side, name));
  return WithHotHint(data, data.context->Bind(side, index, endpoint));
}

Result<bool> PlaceFrame(SessionData& data, size_t index) {
  return data.context->PlaceFrame(
      index, [&data] { return CheckFramesFit(data); }, data.report.warnings);
}

// Binds an input to memory that the device imports, or that the host reads if it can't.
Status BindExternalFrame(SessionData& data, size_t index, const Frame& given) {
  HEARTH_ASSIGN(std::shared_ptr<ExternalFrame> external, OpenExternalFrame(given));
  RunContext& context = *data.context;
  const TensorDesc& desc = context.plan().inputs[index].desc;
  const Frame frame = external->frame();
  if (frame.memory == MemoryKind::kDmaBuf) {
    // A wrong frame is refused before a driver sees it.
    Frame checked = frame;
    if (!IsInTexels(frame)) checked.memory = MemoryKind::kHost;
    HEARTH_TRY(LayoutOfFrame(checked, desc).status());
  }
  const Status imported = context.Bind(Side::kInput, index, ImportedFrame{frame, external});
  if (imported.ok() || imported.code() == StatusCode::kDeviceLost) return imported;
  const Result<Frame> on_host = external->OnHost();
  if (!on_host.ok()) return Error(on_host.status().code(), "{} ({})", on_host.status().message(), imported.message());
  HEARTH_TRY(LayoutOfFrame(*on_host, desc).status());
  HEARTH_TRY(context.Bind(Side::kInput, index, HostFrame{*on_host, external}));
  HEARTH_ASSIGN(const bool is_placed, PlaceFrame(data, index));
  if (is_placed) {
    WarnOnce(context.model().inputs()[index], "the host reads the frame's memory: " + imported.message(),
             data.report.warnings);
  }
  return Status::Ok();
}

Status BindFrame(SessionData& data, std::string_view name, const Frame& frame) {
  HEARTH_ASSIGN(const size_t index, IndexOnDevice(data, Side::kInput, name));
  const std::string whose = fmt::format("'{}'", name);
  if (IsExternal(frame.memory)) return BindExternalFrame(data, index, frame).Within(whose);
  HEARTH_TRY(LayoutOfFrame(frame, data.context->plan().inputs[index].desc).status().Within(whose));
  if (frame.memory != MemoryKind::kHost)
    return WithHotHint(data, data.context->Bind(Side::kInput, index, ImportedFrame{frame, nullptr}));
  HEARTH_TRY(data.context->Bind(Side::kInput, index, HostFrame{frame, nullptr}));
  // Compiles a new kernel now. A run reports an error of the device.
  return PlaceFrame(data, index).status();
}

}  // namespace

Status Session::BindInput(std::string_view name, const Binding& binding) {
  return InCall(data_.get(), [&](auto& data) { return Bind(data, Side::kInput, name, BorrowedMemory{binding}); });
}

Status Session::BindOutput(std::string_view name, const Binding& binding) {
  return InCall(data_.get(), [&](auto& data) { return Bind(data, Side::kOutput, name, BorrowedMemory{binding}); });
}

Status Session::BindFrame(std::string_view name, const Frame& frame) {
  return InCall(data_.get(), [&](auto& data) { return hearth::BindFrame(data, name, frame); });
}

Status Session::UnbindInput(std::string_view name) {
  return InCall(data_.get(), [&](auto& data) { return Bind(data, Side::kInput, name, GivenBytes()); });
}

Status Session::UnbindOutput(std::string_view name) {
  return InCall(data_.get(), [&](auto& data) { return Bind(data, Side::kOutput, name, GivenBytes()); });
}

}  // namespace hearth
