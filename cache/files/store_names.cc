#include "cache/files/store_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cache/files/folder.h"
#include "core/base/error.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSideFiles[] = {"-wal", "-shm", "-journal"};
constexpr std::time_t kSecondsADay = 24 * 60 * 60;

constexpr std::string_view kBefore = "hearth-", kBehind = ".db";

bool IsStoreOfAFormat(std::string_view name) {
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind) || name.size() <= kBefore.size() + kBehind.size()) {
    return false;
  }
  name.remove_prefix(kBefore.size());
  name.remove_suffix(kBehind.size());
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<fs::path> OtherFormats(const fs::path& folder, const fs::path& own) {
  std::vector<fs::path> files = FilesIn(folder, kBefore);
  std::erase_if(files,
                [&own](const fs::path& file) { return file == own || !IsStoreOfAFormat(file.filename().string()); });
  return files;
}

std::time_t LastWritten(const fs::path& file) {
  std::time_t last = 0;
  for (const std::string& name : {file.string(), file.string() + "-wal"}) {
    struct stat info;
    if (::lstat(name.c_str(), &info) == 0) last = std::max(last, info.st_mtime);
  }
  return last;
}

}  // namespace

fs::path FileOfFormat(const fs::path& folder, int64_t format) {
  return folder / fmt::format("hearth-{}.db", format);
}

fs::path ClearedFile(const fs::path& folder) {
  return folder / (std::string(kStoreFileName) + ".cleared");
}

fs::path DamagedFile(const fs::path& folder) {
  return folder / (std::string(kStoreFileName) + ".damaged");
}

Status CantReplace(const fs::path& file) {
  const int error = errno;
  const char* why = error == EBUSY ? "it is a mount point: mount its folder instead of the file" : std::strerror(error);
  return Error(StatusCode::kIoError, "can't replace {}: {}", file.string(), why);
}

Status RenameWithSideFiles(const fs::path& from, const fs::path& to) {
  RemoveWithSideFiles(to);
  if (::rename(from.c_str(), to.c_str()) != 0 && ::unlink(from.c_str()) != 0) return CantReplace(from);
  for (const char* suffix : kSideFiles) {
    const std::string side_file = from.string() + suffix;
    if (::rename(side_file.c_str(), (to.string() + suffix).c_str()) != 0) ::unlink(side_file.c_str());
  }
  return Status::Ok();
}

std::vector<fs::path> WithSideFiles(const fs::path& file) {
  std::vector<fs::path> files = {file};
  for (const char* suffix : kSideFiles) files.emplace_back(file.string() + suffix);
  return files;
}

void RemoveSideFiles(const fs::path& file) {
  for (const char* suffix : kSideFiles) ::unlink((file.string() + suffix).c_str());
}

void RemoveWithSideFiles(const fs::path& file) {
  ::unlink(file.c_str());
  RemoveSideFiles(file);
}

uint64_t BytesWithLog(const fs::path& file) {
  uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const uint64_t size = fs::file_size(file.string() + suffix, error);
    if (!error) bytes += size;
  }
  return bytes;
}

void RemoveOtherFormats(const fs::path& folder, const fs::path& own, int unused_days) {
  const std::time_t latest = std::time(nullptr) - unused_days * kSecondsADay;
  for (const fs::path& file : OtherFormats(folder, own)) {
    // All means those of the future too: a clock was wrong.
    if (unused_days == 0 || LastWritten(file) <= latest) RemoveWithSideFiles(file);
  }
}

uint64_t OtherFormatsBytes(const fs::path& folder, const fs::path& own) {
  uint64_t bytes = 0;
  for (const fs::path& file : OtherFormats(folder, own)) bytes += BytesWithLog(file);
  return bytes;
}

}  // namespace hearth
