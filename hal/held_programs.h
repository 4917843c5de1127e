// Programs that are on a device already, for plans of one session that use the same kernels.
#ifndef HEARTH_HAL_HELD_PROGRAMS_H_
#define HEARTH_HAL_HELD_PROGRAMS_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hal/device.h"

namespace hearth {

struct HeldProgram {
  std::shared_ptr<ProgramGroup> group;
  Program* program = nullptr;  // of the group
};

// The programs of one device. Keeps nothing alive. For one thread at a time, as programs are.
class HeldPrograms {
 public:
  std::optional<HeldProgram> Find(const KernelSource& source) const;
  // The programs of all sources, in order; empty if one of them is not held.
  std::vector<HeldProgram> FindAll(std::span<const KernelSource> sources) const;
  void Add(const std::shared_ptr<ProgramGroup>& group);

 private:
  std::vector<std::weak_ptr<ProgramGroup>> groups_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_HELD_PROGRAMS_H_
