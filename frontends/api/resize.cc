#include "frontends/api/resize.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/model_data.h"
#include "frontends/api/next_device.h"

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
  if (data.runner == nullptr)
    return Error(StatusCode::kDeviceLost, "the session lost its device and found no other; open a new one");
  const auto in_flight = std::ranges::count_if(data.slots, [](const RunSlot& slot) { return slot.number != 0; });
  if (in_flight > 0)
    return Error(StatusCode::kInvalidArgument, "{} runs are in flight: wait for them before shapes change", in_flight);
  for (const auto& [states, tensors] :
       {std::pair(&data.input_states, &data.model->inputs()), std::pair(&data.output_states, &data.model->outputs())}) {
    for (size_t k = 0; k < states->size(); ++k) {
      if ((*states)[k].is_bound())
        return Error(StatusCode::kInvalidArgument,
                     "'{}' is bound to memory that was made for its present shape: unbind it before shapes change",
                     (*tensors)[k].name);
    }
  }
  return Status::Ok();
}

// Swaps everything that is made for one shape.
void SwapShapes(SessionData& a, SessionData& b) {
  std::swap(a.model, b.model);
  std::swap(a.resized_model, b.resized_model);
  std::swap(a.plan_request, b.plan_request);
  std::swap(a.made, b.made);
  std::swap(a.runner, b.runner);
  std::swap(a.inputs, b.inputs);
  std::swap(a.outputs, b.outputs);
  std::swap(a.lent_outputs, b.lent_outputs);
  std::swap(a.input_states, b.input_states);
  std::swap(a.output_states, b.output_states);
  std::swap(a.slots, b.slots);
  std::swap(a.has_run, b.has_run);
  std::swap(a.is_saved, b.is_saved);
  std::swap(a.rest_bytes, b.rest_bytes);
  std::swap(a.frame_bytes, b.frame_bytes);
  // Each plan's own, as the driver compiled its kernels: a part of the plan's key.
  std::swap(a.opened.info.max_local_invocations, b.opened.info.max_local_invocations);
  std::swap(a.report.ops, b.report.ops);
  std::swap(a.report.programs, b.report.programs);
  std::swap(a.report.transfers, b.report.transfers);
  std::swap(a.report.memory, b.report.memory);
  std::swap(a.report.memory.both_live_bytes, b.report.memory.both_live_bytes);  // back: it is the session's
  a.plan_request.device = &a.opened.info;
  b.plan_request.device = &b.opened.info;
}

// The memory of all shapes that are ready.
uint64_t AliveBytes(const SessionData& data) {
  uint64_t bytes = data.rest_bytes + data.held.constants->LiveBytes();
  if (data.host != nullptr) bytes += data.host->live_weights_bytes();
  for (const auto& other : data.other_shapes) bytes += other->rest_bytes;
  return bytes;
}

void DropLeastUsed(SessionData& data) {
  SessionData& last = *data.other_shapes.back();
  SaveData(last);
  data.report.save_ms += last.report.save_ms;
  data.other_shapes.pop_back();
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

Result<std::unique_ptr<SessionData>> MakeShape(const SessionData& data, const InputShapes& shapes,
                                               const ModelCheck& check) {
  std::unique_ptr<SessionData> next = DataBeside(data);
  HEARTH_ASSIGN(Model model, WithShapes(*data.model, shapes));
  if (check) HEARTH_TRY(check(*data.model, model));
  next->resized_model = std::make_shared<const Model>(std::move(model));
  next->model = next->resized_model.get();
  next->opened = data.opened;
  next->opened.warnings.clear();
  next->held = data.held;
  next->host = data.host;
  next->report.start = data.report.start;
  uint64_t& limit = next->options.memory_limit_bytes;
  if (limit != 0) limit = std::max<uint64_t>(1, limit - std::min(limit, AliveBytes(data)));
  HEARTH_TRY(Prepare(*next));
  return next;
}

// Drops the least used of the kept shapes until the memory limit holds.
Result<std::unique_ptr<SessionData>> MakeShapeWithinTheLimit(SessionData& data, const InputShapes& shapes,
                                                             const ModelCheck& check) {
  Result<std::unique_ptr<SessionData>> next = MakeShape(data, shapes, check);
  while (!next.ok() && data.options.memory_limit_bytes != 0 && !data.other_shapes.empty()) {
    DropLeastUsed(data);
    next = MakeShape(data, shapes, check);
  }
  return next;
}

std::unique_ptr<SessionData> TakeKeptShape(SessionData& data, const InputSizes& wanted) {
  const auto found =
      std::ranges::find_if(data.other_shapes, [&](const auto& other) { return InputSizesOf(*other->model) == wanted; });
  if (found == data.other_shapes.end()) return nullptr;
  std::unique_ptr<SessionData> kept = std::move(*found);
  data.other_shapes.erase(found);
  return kept;
}

// Keeps the states if each has the same shape; otherwise all begin at zero. Returns what `next` then has; empty: zeros.
Result<std::vector<StateContent>> CarryStates(SessionData& data, SessionData& next) {
  std::vector<StateContent> states;
  if (next.runner->plan().states.empty()) return states;
  HEARTH_TRY(next.runner->ResetState());
  const std::vector<PlanState>&before = data.runner->plan().states, &after = next.runner->plan().states;
  const bool are_same = std::ranges::equal(before, after, [](const PlanState& a, const PlanState& b) {
    return a.name == b.name && a.desc.shape == b.desc.shape;
  });
  if (!are_same) return states;
  HEARTH_ASSIGN(states, data.runner->ReadStates());
  HEARTH_TRY(next.runner->WriteStates(states));
  return states;
}

void AdoptNewWarnings(SessionData& data, SessionData& next) {
  std::vector<std::string>& warnings = data.report.warnings;
  for (std::string& warning : next.report.warnings) {
    if (!Contains(warnings, warning)) warnings.push_back(std::move(warning));
  }
  next.report.warnings.clear();
}

void NoteResize(SessionData& data, bool was_kept, double milliseconds) {
  auto& resize = data.report.resize;
  ++(was_kept ? resize.kept : resize.made);
  resize.last_ms = milliseconds;
  resize.shared_weights_bytes = data.runner->held_weights_bytes();
  resize.uploaded_weights_bytes = was_kept ? 0 : data.runner->uploaded_weights_bytes();
}

Status ResizeChecked(SessionData& data, const InputShapes& shapes, const ModelCheck& check) {
  HEARTH_TRY(CheckMayResize(data));
  HEARTH_ASSIGN(const InputSizes wanted, WantedShapes(*data.model, shapes));
  if (wanted == InputSizesOf(*data.model)) return Status::Ok();
  const Stopwatch watch;
  std::unique_ptr<SessionData> next = TakeKeptShape(data, wanted);
  const bool was_kept = next != nullptr;
  if (was_kept && check) {
    const Status fits = check(*data.model, *next->model);
    if (!fits.ok()) data.other_shapes.insert(data.other_shapes.begin(), std::move(next));
    HEARTH_TRY(fits);
  }
  if (!was_kept) {
    Result<std::unique_ptr<SessionData>> made = MakeShapeWithinTheLimit(data, shapes, check);
    if (!made.ok()) return made.status().Within(ChangesText(*data.model, wanted)).Within(data.model->path());
    next = std::move(made).value();
  }
  HEARTH_ASSIGN(std::vector<StateContent> states, CarryStates(data, *next));
  // Nothing below can fail: an error says that the session keeps its shapes.
  SwapShapes(data, *next);
  // As KeepStates, which would read them from the device again.
  if (HasNextDevice(data)) data.kept_states = std::move(states);
  data.runs_since_kept = 0;
  AdoptNewWarnings(data, *next);
  for (InterfaceState& input : data.input_states) input.is_set = false;
  data.shows_run = false;
  data.other_shapes.insert(data.other_shapes.begin(), std::move(next));
  while (data.other_shapes.size() > static_cast<size_t>(data.options.kept_shapes)) DropLeastUsed(data);
  data.report.memory.needed_bytes = AliveBytes(data);
  NoteResize(data, was_kept, watch.milliseconds());
  RestartBehind(data);
  return Status::Ok();
}

}  // namespace

Status ResizeSession(SessionData& data, const InputShapes& shapes) {
  return ResizeChecked(data, shapes, {});
}

Status ResizeBatchOf(SessionData& data, int32_t batch) {
  InputShapes shapes;
  for (const TensorInfo& input : data.model->inputs()) {
    if (input.shape.empty())
      return Error(StatusCode::kInvalidArgument, "input '{}' is a scalar and has no batch", input.name);
    std::vector<int32_t>& shape = shapes[input.name] = input.shape;
    shape[0] = batch;
  }
  const auto check = [batch](const Model& before, const Model& after) { return CheckBatch(before, after, batch); };
  return ResizeChecked(data, shapes, check);
}

}  // namespace hearth
