// Other input shapes for a session that is open.
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "hal/device/stopwatch.h"
#include "runtime/model/model_data.h"
#include "runtime/session/hot_start.h"
#include "runtime/session/memory_need.h"
#include "runtime/session/move.h"
#include "runtime/session/session_data.h"

namespace hearth {
namespace {

using InputSizes = std::vector<std::vector<int32_t>>;  // by input

InputSizes InputSizesOf(const Model& model) {
  InputSizes shapes;
  for (const TensorInfo& input : model.inputs()) shapes.push_back(input.shape);
  return shapes;
}

Result<InputSizes> WantedShapes(const Model& model, const InputShapes& given) {
  InputSizes wanted = InputSizesOf(model);
  for (const auto& [name, shape] : given) {
    HEARTH_ASSIGN(const size_t index, IndexOf(model.inputs(), name, "input"));
    wanted[index] = shape;
  }
  return wanted;
}

// The changed inputs for messages: "input 'x' as 8x224x224x3".
std::string ChangesText(const Model& model, const InputSizes& wanted) {
  std::string text;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const TensorInfo& input = model.inputs()[k];
    if (wanted[k] == input.shape) continue;
    const std::string shape = wanted[k].empty() ? "scalar" : fmt::format("{}", fmt::join(wanted[k], "x"));
    text += fmt::format("{}input '{}' as {}", text.empty() ? "" : ", ", input.name, shape);
  }
  return text;
}

Status CheckMayResize(const SessionData& data) {
  HEARTH_TRY(CheckHasDevice(data));
  const CallerState& caller = data.context->caller();
  const auto in_flight = std::ranges::count_if(caller.slots, [](const RunSlot& slot) { return slot.number != 0; });
  if (in_flight > 0)
    return Error(StatusCode::kInvalidArgument, "{} runs are in flight: wait for them before shapes change", in_flight);
  const auto check_is_unbound = [](const auto& states, const std::vector<TensorInfo>& tensors) -> Status {
    for (size_t k = 0; k < states.size(); ++k) {
      if (!std::holds_alternative<GivenBytes>(states[k].endpoint))
        return Error(StatusCode::kInvalidArgument,
                     "'{}' is bound to memory that was made for its present shape: unbind it before shapes change",
                     tensors[k].name);
    }
    return Status::Ok();
  };
  HEARTH_TRY(check_is_unbound(caller.inputs, data.context->model().inputs()));
  return check_is_unbound(caller.outputs, data.context->model().outputs());
}

void DropLeastUsed(SessionData& data) {
  SaveContext(data, *data.earlier_shapes.back());
  data.earlier_shapes.pop_back();
}

// Checks that outputs follow the batch. If the model writes its batch into a RESHAPE with a -1, a larger batch would
// mix the images.
Status CheckBatch(const Model& before, const Model& after, int32_t batch) {
  const int32_t old_batch = before.inputs()[0].shape[0];
  for (size_t k = 0; k < after.outputs().size(); ++k) {
    const TensorInfo &was = before.outputs()[k], &is = after.outputs()[k];
    if (was.shape.empty() || was.shape[0] != old_batch || (!is.shape.empty() && is.shape[0] == batch)) continue;
    return Error(StatusCode::kInvalidArgument,
                 "output '{}' would be {}: the model writes its batch of {} into a RESHAPE; its shapes can be changed "
                 "without regard for a batch",
                 is.name, fmt::join(is.shape, "x"), old_batch);
  }
  return Status::Ok();
}

using ModelCheck = std::function<Status(const Model& before, const Model& after)>;

Result<std::unique_ptr<RunContext>> MakeShape(const SessionData& data, const InputShapes& shapes,
                                              const ModelCheck& check) {
  const Model& before = data.context->model();
  HEARTH_ASSIGN(Model model, WithShapes(before, shapes));
  if (check) HEARTH_TRY(check(before, model));
  const PrepareRequest& present = data.context->prepared().request;
  PrepareRequest request =
      SuccessorOf(present, present.device, LeftOfLimit(data.options->memory_limit_bytes, NeededBytes(data)));
  request.model = std::make_shared<const Model>(std::move(model));
  request.is_interim = present.is_interim;
  return PrepareContext(request);
}

// Drops the least used of the earlier shapes until the memory limit holds.
Result<std::unique_ptr<RunContext>> MakeShapeWithinTheLimit(SessionData& data, const InputShapes& shapes,
                                                            const ModelCheck& check) {
  Result<std::unique_ptr<RunContext>> next = MakeShape(data, shapes, check);
  while (!next.ok() && data.options->memory_limit_bytes != 0 && !data.earlier_shapes.empty()) {
    DropLeastUsed(data);
    next = MakeShape(data, shapes, check);
  }
  return next;
}

std::unique_ptr<RunContext> TakeEarlierShape(SessionData& data, const InputSizes& wanted) {
  const auto found = std::ranges::find_if(
      data.earlier_shapes, [&](const auto& earlier) { return InputSizesOf(earlier->model()) == wanted; });
  if (found == data.earlier_shapes.end()) return nullptr;
  std::unique_ptr<RunContext> earlier = std::move(*found);
  data.earlier_shapes.erase(found);
  return earlier;
}

// Keeps the states if each has the same shape; otherwise all begin at zero. Returns what `next` then has; empty: zeros.
Result<std::vector<StateContent>> CarryStates(RunContext& before, RunContext& next) {
  std::vector<StateContent> states;
  if (next.plan().states.empty()) return states;
  HEARTH_TRY(next.runs().ResetState());
  const bool are_same = std::ranges::equal(
      before.plan().states, next.plan().states,
      [](const PlanState& a, const PlanState& b) { return a.name == b.name && a.desc.shape == b.desc.shape; });
  if (!are_same) return states;
  HEARTH_ASSIGN(states, before.runs().ReadStates());
  HEARTH_TRY(next.runs().WriteStates(states));
  return states;
}

void NoteResize(SessionData& data, bool was_ready, double milliseconds) {
  auto& resize = data.report.resize;
  const LoadedPlan& loaded = *data.context->prepared().loaded;
  ++(was_ready ? resize.kept : resize.made);
  resize.last_ms = milliseconds;
  resize.shared_weights_bytes = loaded.held_weights_bytes();
  resize.uploaded_weights_bytes = was_ready ? 0 : loaded.uploaded_weights_bytes();
}

Status ResizeChecked(SessionData& data, const InputShapes& shapes, const ModelCheck& check) {
  HEARTH_TRY(CheckMayResize(data));
  const Model& model = data.context->model();
  HEARTH_ASSIGN(const InputSizes wanted, WantedShapes(model, shapes));
  if (wanted == InputSizesOf(model)) return Status::Ok();
  const Stopwatch watch;
  std::unique_ptr<RunContext> next = TakeEarlierShape(data, wanted);
  const bool was_ready = next != nullptr;
  if (was_ready && check) {
    const Status fits = check(model, next->model());
    if (!fits.ok()) data.earlier_shapes.insert(data.earlier_shapes.begin(), std::move(next));
    HEARTH_TRY(fits);
  }
  if (!was_ready) {
    Result<std::unique_ptr<RunContext>> made = MakeShapeWithinTheLimit(data, shapes, check);
    if (!made.ok()) return made.status().Within(ChangesText(model, wanted)).Within(model.path());
    next = std::move(made).value();
  }
  HEARTH_ASSIGN(std::vector<StateContent> states, CarryStates(*data.context, *next));
  // Nothing below can fail: an error says that the session keeps its shapes.
  CallerState& caller = next->caller();
  for (InputState& input : caller.inputs) input.is_set = false;
  caller.submit_count = data.context->caller().submit_count;
  caller.retained_states = std::move(states);
  caller.runs_since_retained = 0;
  caller.shows_run = false;
  data.earlier_shapes.insert(data.earlier_shapes.begin(), std::exchange(data.context, std::move(next)));
  ShowContext(data);
  while (data.earlier_shapes.size() > static_cast<size_t>(data.options->kept_shapes)) DropLeastUsed(data);
  NoteResize(data, was_ready, watch.milliseconds());
  RestartBackground(data);
  return Status::Ok();
}

}  // namespace

Status ResizeSession(SessionData& data, const InputShapes& shapes) {
  return ResizeChecked(data, shapes, {});
}

Status ResizeBatchOf(SessionData& data, int32_t batch) {
  InputShapes shapes;
  for (const TensorInfo& input : data.context->model().inputs()) {
    if (input.shape.empty())
      return Error(StatusCode::kInvalidArgument, "input '{}' is a scalar and has no batch", input.name);
    std::vector<int32_t>& shape = shapes[input.name] = input.shape;
    shape[0] = batch;
  }
  const auto check = [batch](const Model& before, const Model& after) { return CheckBatch(before, after, batch); };
  return ResizeChecked(data, shapes, check);
}

}  // namespace hearth
