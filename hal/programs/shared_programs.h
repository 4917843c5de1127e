// Programs that are on a device already, for plans of one session that use the same kernels.
#ifndef HEARTH_HAL_PROGRAMS_SHARED_PROGRAMS_H_
#define HEARTH_HAL_PROGRAMS_SHARED_PROGRAMS_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

struct SharedProgram {
  std::shared_ptr<ProgramGroup> group;
  Program* program = nullptr;  // of the group
};

// The programs of one device. Keeps nothing alive. For one thread at a time, as programs are.
class SharedPrograms {
 public:
  std::optional<SharedProgram> Find(const KernelSource& source) const;
  // The programs of all sources, in order; empty if one of them is not held.
  std::vector<SharedProgram> FindAll(std::span<const KernelSource> sources) const;
  void Add(const std::shared_ptr<ProgramGroup>& group);

 private:
  std::vector<std::weak_ptr<ProgramGroup>> groups_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_SHARED_PROGRAMS_H_
