// Remembers across a crash which blobs a process was handing to a driver.
//
// A process writes the digest of a blob to a side file of its own, `in-use-` and six random characters, before a driver
// sees it, and takes it back afterwards; the file is locked (flock) as long as the process lives. A process that later
// opens the store and can lock such a file knows that its writer died, and which blobs it was using. A side file
// instead of a row: it costs two short writes to the page cache per blob and one readdir per start, and readers don't
// become writers of the database.
#ifndef HEARTH_CACHE_IN_USE_MARKER_H_
#define HEARTH_CACHE_IN_USE_MARKER_H_

#include <unistd.h>

#include <filesystem>
#include <map>
#include <vector>

#include "cache/descriptor.h"
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
  std::filesystem::path file_;
  Descriptor descriptor_;
  std::map<Fingerprint, int> in_use_;
};

// A marker of a dead process. It is locked while this object lives, so that one death counts once.
struct DeadMarker {
  Descriptor lock;
  std::filesystem::path file;
  std::vector<Fingerprint> in_use;
};

// Searches `folder` for markers of dead processes and removes empty ones. Costs one readdir if there are none.
std::vector<DeadMarker> FindDeadMarkers(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_IN_USE_MARKER_H_
