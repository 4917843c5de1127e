#include "hal/command_list.h"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

bool Overlap(const BoundRange& a, const BoundRange& b) {
  return a.buffer == b.buffer && a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

}  // namespace

void CommandRecorder::Record(DispatchCommand dispatch, const std::vector<bool>& writes) {
  const auto conflicts = [&](const Touched& earlier) {
    for (size_t k = 0; k < dispatch.tensors.size(); ++k) {
      if ((earlier.written || writes[k]) && Overlap(earlier.range, dispatch.tensors[k])) return true;
    }
    return false;
  };
  if (std::any_of(since_barrier_.begin(), since_barrier_.end(), conflicts)) {
    list_.commands.emplace_back(BarrierCommand{});
    since_barrier_.clear();
  }
  for (size_t k = 0; k < dispatch.tensors.size(); ++k) since_barrier_.push_back({dispatch.tensors[k], writes[k]});
  list_.commands.emplace_back(std::move(dispatch));
}

CommandList CommandRecorder::Finish() {
  since_barrier_.clear();
  return std::exchange(list_, {});
}

}  // namespace hearth
