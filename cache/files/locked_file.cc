#include "cache/files/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cache/files/folder.h"
#include "cache/files/remove_in_background.h"

namespace hearth {
namespace {

constexpr int kMaxTries = 16;

}  // namespace

LockedFile MakeLockedFile(const std::filesystem::path& folder, std::string_view prefix) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    std::string path = folder / (std::string(prefix) + "XXXXXX");
    Descriptor made(::mkostemp(path.data(), O_APPEND | O_CLOEXEC));
    if (!made.is_open()) return {};
    // Between the two calls, another process may have taken the file for a dead one's and removed it.
    struct stat info;
    if (::flock(made.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(made.get(), &info) == 0 && info.st_nlink > 0) {
      return {path, std::move(made)};
    }
    ::unlink(path.c_str());
  }
  return {};
}

// A new file is empty until its writer has locked it, so an empty one is removed under its lock: a writer that is later
// finds the file without a name and makes another.
void RemoveUnfinished(const std::filesystem::path& folder, int64_t most_bytes) {
  std::vector<std::filesystem::path> dead;
  for (const std::filesystem::path& file : FilesIn(folder, kUnfinishedPrefix)) {
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    if (!descriptor.is_open() || ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (::fstat(descriptor.get(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (info.st_size == 0) {
      ::unlink(file.c_str());
    } else if (info.st_size <= most_bytes) {
      dead.push_back(file);
    }
  }
  RemoveInBackground(dead);
}

}  // namespace hearth
