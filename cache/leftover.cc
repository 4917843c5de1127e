#include "cache/leftover.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cache/entry_row.h"
#include "cache/folder.h"
#include "cache/held_signal.h"
#include "cache/key_value_blob_store.h"
#include "cache/remove_behind.h"
#include "core/base/byte_reader.h"
#include "core/base/descriptor.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLeftoverPrefix = "left-";
constexpr std::string_view kUnfinishedPrefix = "unfinished-";
constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;
// A session does not wait for the removal of a dead prune's copy of a store.
constexpr int64_t kMostBytesAtStart = kMaxFileBytes;
constexpr size_t kMaxFiles = 8;

struct Files {
  std::vector<fs::path> left, unfinished;
};
Files FilesIn(const fs::path& folder) {
  Files files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(kLeftoverPrefix)) files.left.push_back(it->path());
    if (name.starts_with(kUnfinishedPrefix)) files.unfinished.push_back(it->path());
  }
  return files;
}

struct Record {
  CacheKey key{BlobKind::kPlan};
  std::span<const std::byte> bytes;
  double cost_ms = 0;
};

// The next record; nullopt at the end, and if the bytes are not a record.
std::optional<Record> TakeRecord(ByteReader& reader) {
  const auto envelope_bytes = reader.Number<uint64_t>();
  const auto kind = reader.Number<uint8_t>();
  const std::span<const std::byte> material = reader.Bytes(reader.Number<uint64_t>());
  const std::span<const std::byte> envelope = reader.Bytes(envelope_bytes);
  if (reader.failed() || kind >= kBlobKindCount) return {};
  std::optional<CacheKey> key = KeyFromMaterial(static_cast<BlobKind>(kind), TextFrom(material));
  if (!key) return {};
  Record record;
  record.key = *std::move(key);
  const auto opened = OpenEnvelope(record.key, envelope);
  if (!opened) return {};
  record.bytes = opened->blob;
  record.cost_ms = opened->cost_ms;
  return record;
}

void Append(std::string& text, std::span<const std::byte> bytes) {
  text.append(TextFrom(bytes));
}

std::string Encoded(const PutRequest& request) {
  const std::vector<std::byte> envelope = MakeEnvelope(request);
  const std::string& material = request.key->material();
  const uint64_t envelope_bytes = envelope.size(), material_bytes = material.size();
  const auto kind = static_cast<uint8_t>(request.key->kind());
  std::string record;
  Append(record, std::as_bytes(std::span(&envelope_bytes, 1)));
  Append(record, std::as_bytes(std::span(&kind, 1)));
  Append(record, std::as_bytes(std::span(&material_bytes, 1)));
  Append(record, BytesOf(material));
  Append(record, envelope);
  return record;
}

// The whole file, if it is ours and nobody else is taking it. The descriptor's lock keeps others away.
std::vector<std::byte> ReadWhole(const fs::path& file, const Descriptor& descriptor) {
  struct stat info;
  if (!descriptor.is_open() || ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) return {};
  if (::fstat(descriptor.get(), &info) != 0 || info.st_nlink == 0 || !S_ISREG(info.st_mode)) return {};
  if (!CheckStoreFile(file, FolderUse::kExisting).ok() || static_cast<uint64_t>(info.st_size) > kMaxFileBytes)
    return {};
  std::vector<std::byte> bytes(static_cast<size_t>(info.st_size));
  const ssize_t count = ::pread(descriptor.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return bytes;
}

// What processes that died were writing. A new file is empty until its writer has locked it, so an empty one is removed
// under its lock: a writer that is later finds the file without a name and makes another (MakeLockedFile).
void RemoveOfTheDead(const std::vector<fs::path>& unfinished, int64_t most_bytes) {
  std::vector<fs::path> dead;
  for (const fs::path& file : unfinished) {
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
  RemoveBehind(dead);  // a copy of a store may be large
}

}  // namespace

LockedFile MakeUnfinishedFile(const fs::path& folder) {
  return MakeLockedFile(folder, kUnfinishedPrefix);
}

bool LeaveForLater(const fs::path& folder, std::span<const PutRequest> requests) {
  if (FilesIn(folder).left.size() >= kMaxFiles) return false;
  const auto [unfinished, descriptor] = MakeUnfinishedFile(folder);
  if (!descriptor.is_open()) return false;
  const std::string name = unfinished.filename().string();
  const fs::path file = folder / (std::string(kLeftoverPrefix) + name.substr(kUnfinishedPrefix.size()));
  const HeldSizeSignal held;
  bool is_written = true;
  uint64_t size_bytes = 0;
  for (const PutRequest& request : requests) {
    const std::string record = Encoded(request);
    size_bytes += record.size();
    is_written = is_written && size_bytes <= kMaxFileBytes &&
                 ::write(descriptor.get(), record.data(), record.size()) == static_cast<ssize_t>(record.size());
  }
  // Renamed only when it is complete.
  if (is_written && ::rename(unfinished.c_str(), file.c_str()) == 0) return true;
  ::unlink(unfinished.c_str());
  return false;
}

void TakeLeftovers(const fs::path& folder, const std::function<bool(std::span<const PutRequest>)>& store) {
  const Files files = FilesIn(folder);
  RemoveOfTheDead(files.unfinished, kMostBytesAtStart);
  for (const fs::path& file : files.left) {
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    const std::vector<std::byte> bytes = ReadWhole(file, descriptor);
    std::vector<Record> records;
    ByteReader reader(bytes);
    while (std::optional<Record> record = TakeRecord(reader)) records.push_back(*std::move(record));
    std::vector<PutRequest> requests;
    for (const Record& record : records) requests.push_back({&record.key, record.bytes, record.cost_ms});
    if (!bytes.empty() && store(requests)) ::unlink(file.c_str());
  }
}

void RemoveUnfinished(const fs::path& folder) {
  RemoveOfTheDead(FilesIn(folder).unfinished, std::numeric_limits<int64_t>::max());
}

void RemoveLeftovers(const fs::path& folder) {
  const Files files = FilesIn(folder);
  RemoveUnfinished(folder);
  for (const fs::path& file : files.left) ::unlink(file.c_str());
}

}  // namespace hearth
