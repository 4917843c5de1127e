#include "cache/files/locked_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cache/files/folder.h"
#include "core/base/descriptor.h"

namespace hearth {
namespace {

constexpr int kMaxTries = 16;

namespace fs = std::filesystem;

constexpr uint64_t kLargeBytes = uint64_t{256} << 20;  // a disk removes less in about a tenth of a second
constexpr int kMostWaitMs = 300;

void RemoveAll(const std::vector<const char*>& names) {
  for (const char* name : names) ::unlink(name);
}

// Runs in a child with only this thread: it must not take a lock that another thread held at the fork. It closes all
// files but `done`, because a reader of the caller's output waits until everyone has closed it.
[[noreturn]] void RemoveInChild(const std::vector<const char*>& names, int done) {
  ::setsid();  // closing the terminal does not end it
  if (done != 0) ::dup2(done, 0);
  if (::close_range(1, ~0U, 0) != 0) {
    for (int descriptor = 1; descriptor < 1024; ++descriptor) ::close(descriptor);
  }
  RemoveAll(names);
  ::_exit(0);
}

// Returns false if no process could be made. The process's parent ends at once, so nobody has to wait for it.
bool RemoveInProcess(const std::vector<const char*>& names) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  const Descriptor ended(ends[0]);
  Descriptor done(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) RemoveInChild(names, done.get());
    ::_exit(grandchild > 0 ? 0 : 1);
  }
  done = Descriptor();
  if (child < 0) return false;
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  // If the program reaps children itself, the result is unknown.
  if (waited == child && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) return false;
  pollfd end{ended.get(), POLLIN, 0};
  ::poll(&end, 1, kMostWaitMs);
  return true;
}

}  // namespace

LockedFile MakeLockedFile(const fs::path& folder, std::string_view prefix) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    std::string path = folder / (std::string(prefix) + "XXXXXX");
    Descriptor made(::mkostemp(path.data(), O_APPEND | O_CLOEXEC));
    if (!made.is_open()) return {};
    // Between the two calls, another process may have taken the file for a dead one's and removed it.
    struct stat info;
    if (::flock(made.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(made.get(), &info) == 0 && info.st_nlink > 0) {
      ShareFile(made, folder);
      return {path, std::move(made)};
    }
    ::unlink(path.c_str());
  }
  return {};
}

void ForEachDeadFile(const fs::path& folder, std::string_view prefix,
                     const std::function<void(LockedFile& file)>& visit) {
  for (const fs::path& path : FilesIn(folder, prefix)) {
    LockedFile file{path, Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))};
    if (file.descriptor.is_open() && ::flock(file.descriptor.get(), LOCK_EX | LOCK_NB) == 0) visit(file);
  }
}

// A new file is empty until its writer has locked it, so an empty one is removed under its lock: a writer that is later
// finds the file without a name and makes another.
void RemoveUnfinished(const fs::path& folder, int64_t most_bytes) {
  std::vector<fs::path> dead;
  ForEachDeadFile(folder, kUnfinishedPrefix, [&](const LockedFile& file) {
    struct stat info;
    if (::fstat(file.descriptor.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    if (info.st_size == 0) {
      ::unlink(file.path.c_str());
    } else if (info.st_size <= most_bytes) {
      dead.push_back(file.path);
    }
  });
  RemoveInBackground(dead);
}

void RemoveInBackground(const std::vector<fs::path>& files) {
  std::vector<const char*> names;
  uint64_t largest = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const uint64_t size = fs::file_size(file, error);
    names.push_back(file.c_str());
    if (!error) largest = std::max(largest, size);
  }
  if (largest < kLargeBytes || !RemoveInProcess(names)) RemoveAll(names);
}

}  // namespace hearth
