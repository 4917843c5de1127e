#include "backends/null/executable.h"

#include "core/base/error.h"
#include "core/plan/plan.h"

namespace hearth {
namespace {

bool Race(const DispatchCommand& a, const DispatchCommand& b) {
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    for (size_t j = 0; j < b.tensors.size(); ++j) {
      const bool written = a.program->source().tensors[i].direction == ArgDirection::kWrite ||
                           b.program->source().tensors[j].direction == ArgDirection::kWrite;
      if (written && Overlap(a.tensors[i], b.tensors[j])) return true;
    }
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Executable>> NullExecutable::Create(const CommandList& commands, NullCounts& counts) {
  int64_t dispatch_count = 0;
  std::vector<const DispatchCommand*> since_barrier;
  for (const Command& command : commands.commands) {
    if (std::holds_alternative<CopyCommand>(command))
      return Error(StatusCode::kUnsupported, "the null device has no staging buffers");
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) {
      since_barrier.clear();
      continue;
    }
    for (const DispatchCommand* earlier : since_barrier) {
      if (Race(*earlier, *dispatch)) {
        return Error(StatusCode::kInternal, "dispatches '{}' and '{}' race: there is no barrier between them",
                     earlier->label, dispatch->label);
      }
    }
    since_barrier.push_back(dispatch);
    ++dispatch_count;
  }
  return std::unique_ptr<Executable>(new NullExecutable(dispatch_count, counts));
}

Result<uint64_t> NullExecutable::Submit(const SubmitSync& sync) {
  if (!sync.wait_for.empty() || !sync.signal.empty() || sync.fence != nullptr)
    return Error(StatusCode::kUnsupported, "the null device has nothing to synchronize with");
  HEARTH_TRY(counts_.wait_limit.Check());
  counts_.dispatches_run += dispatch_count_;
  return ++counts_.submissions;
}

Status NullExecutable::Wait(uint64_t submission) {
  if (submission <= counts_.submissions) {
    if (submission < counts_.endless_from) return Status::Ok();
    if (counts_.wait_limit.is_set()) return counts_.wait_limit.Over();
    return Error(StatusCode::kInternal, "submission {} never ends, and there is no limit", submission);
  }
  return Error(StatusCode::kInvalidArgument, "there is no submission {}; the last is {}", submission,
               counts_.submissions.load());
}

Result<std::vector<double>> NullExecutable::RunProfiled() {
  HEARTH_TRY(Run());
  return std::vector<double>(static_cast<size_t>(dispatch_count_), 0.0);
}

}  // namespace hearth
