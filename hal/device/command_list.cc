#include "hal/device/command_list.h"

#include <algorithm>
#include <utility>

#include "core/plan/plan.h"
#include "core/plan/storage.h"

namespace hearth {
namespace {

// The bytes that the device may touch for this argument. A texel buffer view may be longer than its range. Drivers read
// nothing beyond the range, but a write into the view without a barrier is a hazard all the same.
BoundRange SeenBy(const Program* program, size_t tensor, BoundRange range) {
  const bool is_view = program != nullptr && tensor < program->source().tensors.size() &&
                       program->source().tensors[tensor].path == AccessPath::kTexelBuffer;
  if (is_view) range.size_bytes += TexelViewRoomBytes(range.size_bytes);
  return range;
}

}  // namespace

void CommandRecorder::Order(const std::vector<Touched>& touched) {
  const auto conflicts = [&](const Touched& earlier) {
    return std::ranges::any_of(touched, [&](const Touched& now) {
      return (earlier.written || now.written) && Overlap(earlier.range, now.range);
    });
  };
  if (std::ranges::any_of(since_barrier_, conflicts)) {
    list_.commands.emplace_back(BarrierCommand{});
    since_barrier_.clear();
  }
  since_barrier_.insert(since_barrier_.end(), touched.begin(), touched.end());
}

void CommandRecorder::Record(DispatchCommand dispatch, const std::vector<bool>& writes) {
  std::vector<Touched> touched;
  for (size_t k = 0; k < dispatch.tensors.size(); ++k)
    touched.push_back({SeenBy(dispatch.program, k, dispatch.tensors[k]), writes[k]});
  Order(touched);
  list_.commands.emplace_back(std::move(dispatch));
}

void CommandRecorder::Record(CopyCommand copy) {
  Order({{copy.from, false}, {copy.to, true}});
  list_.commands.emplace_back(copy);
}

CommandList CommandRecorder::Finish() {
  since_barrier_.clear();
  return std::exchange(list_, {});
}

}  // namespace hearth
