#include "cache/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

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

}  // namespace hearth
