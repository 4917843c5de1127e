// Commands as data, free of hazards, for a backend to run.
#ifndef HEARTH_HAL_DEVICE_COMMAND_LIST_H_
#define HEARTH_HAL_DEVICE_COMMAND_LIST_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/numbers.h"
#include "core/emit/kernel_source.h"

namespace hearth {

class Buffer;

// One kernel, ready to be dispatched.
class Program {
 public:
  explicit Program(KernelSource source) : source_(std::move(source)) {}
  virtual ~Program() = default;
  const KernelSource& source() const { return source_; }

 private:
  KernelSource source_;
};

struct BoundRange {
  Buffer* buffer = nullptr;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

struct DispatchCommand {
  Program* program = nullptr;
  std::vector<BoundRange> tensors;  // in the kernel's argument order
  std::vector<uint32_t> scalars;    // 4 bytes each, in the kernel's argument order
  std::array<uint32_t, 3> group_count = {1, 1, 1};
  std::string label;
};

// The work groups that cover the items of one dimension.
inline uint32_t GroupsFor(uint64_t items, uint32_t local_size) {
  return static_cast<uint32_t>(Tiles(static_cast<int64_t>(items), local_size));
}

// Everything before it is finished and visible before anything after it starts.
struct BarrierCommand {};

// Copies bytes between a buffer of Device::CreateStaging and a kernel's buffer, in either direction. Both ranges have
// the same size, a multiple of 4.
struct CopyCommand {
  BoundRange from, to;
};

using Command = std::variant<DispatchCommand, BarrierCommand, CopyCommand>;

struct CommandList {
  std::vector<Command> commands;
};

// Builds a CommandList, with a barrier where a dispatch touches bytes that an earlier
// one wrote, or writes bytes that an earlier one read, since the last barrier.
class CommandRecorder {
 public:
  // `writes[k]` says whether tensor k is written.
  void Record(DispatchCommand dispatch, const std::vector<bool>& writes);
  void Record(CopyCommand copy);
  CommandList Finish();

 private:
  struct Touched {
    BoundRange range;
    bool written = false;
  };

  // Adds a barrier before a command on these ranges, if it needs one.
  void Order(const std::vector<Touched>& touched);

  CommandList list_;
  std::vector<Touched> since_barrier_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_COMMAND_LIST_H_
