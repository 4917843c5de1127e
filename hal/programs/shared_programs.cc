#include "hal/programs/shared_programs.h"

namespace hearth {

std::optional<SharedProgram> SharedPrograms::Find(const KernelSource& source) const {
  for (const std::weak_ptr<ProgramGroup>& held : groups_) {
    std::shared_ptr<ProgramGroup> group = held.lock();
    if (group == nullptr) continue;
    for (const std::unique_ptr<Program>& program : group->programs()) {
      if (program->source() == source) return SharedProgram{std::move(group), program.get()};
    }
  }
  return std::nullopt;
}

std::vector<SharedProgram> SharedPrograms::FindAll(std::span<const KernelSource> sources) const {
  std::vector<SharedProgram> all;
  for (const KernelSource& source : sources) {
    std::optional<SharedProgram> found = Find(source);
    if (!found) return {};
    all.push_back(*std::move(found));
  }
  return all;
}

void SharedPrograms::Add(const std::shared_ptr<ProgramGroup>& group) {
  std::erase_if(groups_, [](const std::weak_ptr<ProgramGroup>& held) { return held.expired(); });
  groups_.push_back(group);
}

}  // namespace hearth
