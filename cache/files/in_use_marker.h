// Remembers across a crash which blobs a process was handing to a driver.
//
// A process writes the digest of a blob to its own side file, `in-use-` and six random characters, before a driver sees
// the blob, and removes it afterwards. The file is locked (flock) while the process lives. If a process that opens the
// store later can lock such a file, its writer has died, and the file says which blobs it was using. A side file costs
// two short writes to the page cache per blob and one readdir per start. A row instead would make readers write to the
// database.
#ifndef HEARTH_CACHE_FILES_IN_USE_MARKER_H_
#define HEARTH_CACHE_FILES_IN_USE_MARKER_H_

#include <unistd.h>

#include <filesystem>
#include <map>
#include <vector>

#include "cache/files/locked_file.h"
#include "core/base/fingerprint.h"

namespace hearth {

// Not thread-safe. Errors of the file are ignored: a crash is then not remembered.
class InUseMarker {
 public:
  explicit InUseMarker(std::filesystem::path folder) : folder_(std::move(folder)) {}
  InUseMarker(const InUseMarker&) = delete;
  InUseMarker& operator=(const InUseMarker&) = delete;
  ~InUseMarker();  // removes the file

  void Begin(const Fingerprint& digest);
  void End(const Fingerprint& digest);

 private:
  bool Open();
  void Append(char sign, const Fingerprint& digest);

  std::filesystem::path folder_;
  pid_t user_ = ::getpid();  // a copy in a forked child must not remove the file
  LockedFile file_;
  std::map<Fingerprint, int> in_use_;
};

// A marker of a dead process. It is locked while this object lives, so that one death counts once.
struct DeadMarker {
  LockedFile file;
  std::vector<Fingerprint> in_use;
};

// Searches `folder` for markers of dead processes and removes empty ones. Costs one readdir if there are none.
std::vector<DeadMarker> FindDeadMarkers(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_IN_USE_MARKER_H_
