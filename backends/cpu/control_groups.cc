#include "backends/cpu/control_groups.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/base/contains.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> PartsOf(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// mountinfo writes blanks, line ends and backslashes as a backslash and three octal digits.
std::string Unescaped(const std::string& text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\\' && k + 3 < text.size() && is_octal(text[k + 1]) && is_octal(text[k + 2]) &&
        is_octal(text[k + 3])) {
      plain += static_cast<char>((text[k + 1] - '0') * 64 + (text[k + 2] - '0') * 8 + (text[k + 3] - '0'));
      k += 3;
    } else {
      plain += text[k];
    }
  }
  return plain;
}

// A file system of control groups, which shows its group `group` at `point`.
struct GroupMount {
  bool is_v2 = false;
  fs::path group, point;
};

std::vector<GroupMount> GroupMounts(const std::string& controller, const fs::path& root) {
  std::vector<GroupMount> mounts;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // id, parent, device, root, mount point, options, any optional fields, "-", type, source, options of the type
    const std::vector<std::string> fields = PartsOf(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
    const std::string& type = dash[1];
    const bool is_v1 = type == "cgroup" && Contains(PartsOf(dash[3], ','), controller);
    if (is_v1 || type == "cgroup2") mounts.push_back({!is_v1, Unescaped(fields[3]), Unescaped(fields[4])});
  }
  return mounts;
}

// This process's group, of version 2 or of version 1's controller.
std::optional<fs::path> OwnGroup(const std::string& controller, const fs::path& root, bool is_v2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool matches = is_v2 ? controllers.empty() && line.compare(0, first, "0") == 0
                               : Contains(PartsOf(controllers, ','), controller);
    if (matches) return fs::path(line.substr(second + 1));
  }
  return std::nullopt;
}

// `path` relative to `base`; empty if it is not below it, as in a container with another group's mount.
fs::path Below(const fs::path& path, const fs::path& base) {
  const fs::path relative = path.lexically_relative(base);
  return relative.empty() || *relative.begin() == ".." || relative == "." ? fs::path() : relative;
}

}  // namespace

std::vector<ControlGroup> ControlGroupsAround(const std::string& controller, const fs::path& root) {
  std::vector<ControlGroup> groups;
  for (const GroupMount& mount : GroupMounts(controller, root)) {
    const std::optional<fs::path> group = OwnGroup(controller, root, mount.is_v2);
    if (!group) continue;
    const fs::path top = root / mount.point.relative_path();
    const fs::path below = Below(*group, mount.group);
    fs::path folder = below.empty() ? top : top / below;
    for (;; folder = folder.parent_path()) {
      groups.push_back({folder, mount.is_v2});
      if (folder == top || !folder.has_relative_path()) break;
    }
  }
  return groups;
}

}  // namespace hearth
