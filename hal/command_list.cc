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
  for (size_t k = 0; k < dispatch.tensors.size(); ++k) touched.push_back({dispatch.tensors[k], writes[k]});
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
