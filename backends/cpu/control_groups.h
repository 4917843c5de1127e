// The control groups of this process, which may limit it to less than the machine has.
#ifndef HEARTH_BACKENDS_CPU_CONTROL_GROUPS_H_
#define HEARTH_BACKENDS_CPU_CONTROL_GROUPS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace hearth {

struct ControlGroup {
  std::filesystem::path folder;  // the folder of its files
  bool is_v2 = false;
};

// This process's group and all visible groups around it, of version 2 and of version 1's `controller` ("cpu",
// "memory"). `root` is prepended to /proc and the mount points, for tests.
std::vector<ControlGroup> ControlGroupsAround(const std::string& controller, const std::filesystem::path& root);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_CONTROL_GROUPS_H_
