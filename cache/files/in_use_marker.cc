#include "cache/files/in_use_marker.h"

#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/blocked_signal.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarkerPrefix = "in-use-";
constexpr size_t kRecordBytes = 1 + 32 + 1;      // sign, digest in hex, line end
constexpr size_t kMaxMarkerBytes = 1024 * 1024;  // a longer file is not ours

std::string ReadAll(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk;
  while (text.size() < kMaxMarkerBytes) {
    const ssize_t count = ::pread(descriptor, chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    if (count <= 0) break;
    text.append(chunk.data(), static_cast<size_t>(count));
  }
  return text;
}

// Digests whose use began and did not end. A last line that the crash cut off is ignored.
std::vector<Fingerprint> DigestsInUse(std::string_view text) {
  std::map<Fingerprint, int> counts;
  for (; text.size() >= kRecordBytes; text.remove_prefix(kRecordBytes)) {
    Fingerprint digest;
    if (!BytesFromHex(text.substr(1, 32), digest.bytes)) break;
    counts[digest] += text[0] == '+' ? 1 : -1;
  }
  std::vector<Fingerprint> in_use;
  for (const auto& [digest, count] : counts) {
    if (count > 0) in_use.push_back(digest);
  }
  return in_use;
}

}  // namespace

InUseMarker::~InUseMarker() {
  if (file_.descriptor.is_open() && ::getpid() == user_) ::unlink(file_.path.c_str());
}

bool InUseMarker::Open() {
  if (!file_.descriptor.is_open()) file_ = MakeLockedFile(folder_, kMarkerPrefix);
  return file_.descriptor.is_open();
}

void InUseMarker::Append(char sign, const Fingerprint& digest) {
  const std::string record = sign + digest.ToHex() + '\n';
  const BlockedSizeSignal held;
  // Not synced, because it must outlive the process, not the machine.
  if (::write(file_.descriptor.get(), record.data(), record.size()) != static_cast<ssize_t>(record.size())) {
    ::unlink(file_.path.c_str());  // after a full disk: half a record would spoil the next ones
    file_.descriptor = Descriptor();
  }
}

void InUseMarker::Begin(const Fingerprint& digest) {
  if (!Open()) return;
  ++in_use_[digest];
  Append('+', digest);
}

void InUseMarker::End(const Fingerprint& digest) {
  const auto found = in_use_.find(digest);
  if (found == in_use_.end()) return;
  if (--found->second == 0) in_use_.erase(found);
  if (!file_.descriptor.is_open()) return;
  // Keeps the file short in a process that runs for long.
  if (!in_use_.empty() || ::ftruncate(file_.descriptor.get(), 0) != 0) Append('-', digest);
}

std::vector<DeadMarker> FindDeadMarkers(const fs::path& folder) {
  std::vector<DeadMarker> dead;
  ForEachDeadFile(folder, kMarkerPrefix, [&](LockedFile& file) {
    std::vector<Fingerprint> in_use = DigestsInUse(ReadAll(file.descriptor.get()));
    if (in_use.empty()) {
      ::unlink(file.path.c_str());
    } else {
      dead.push_back({std::move(file), std::move(in_use)});
    }
  });
  return dead;
}

}  // namespace hearth
