#include "runtime/model/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

Status OpenError(const std::string& path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return Error(StatusCode::kNotFound, "no model file '{}': check the path", path);
  }
  if (error_number == ELOOP || error_number == ENAMETOOLONG) {
    return Error(StatusCode::kNotFound, "no model file '{}': {}: check the path", path,
                 std::generic_category().message(error_number));
  }
  return Error(StatusCode::kIoError, "cannot open the model file '{}': {}", path,
               std::generic_category().message(error_number));
}

int64_t ModifiedNs(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

uint64_t PageBytes() {
  return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Puts copies of pages in their place.
bool KeepPages(uintptr_t first, uintptr_t last) {
  void* const pages = reinterpret_cast<void*>(first);
  const size_t size = last - first;
  // Shared memory, because ReleasePages would empty private pages.
  void* const copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  std::memcpy(copy, pages, size);
  if (mprotect(copy, size, PROT_READ) == 0 &&
      mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pages) != MAP_FAILED)
    return true;
  munmap(copy, size);
  return false;
}

}  // namespace

Result<ModelFile> ModelFile::Open(const std::string& path) {
  ModelFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a named pipe must not wait for a writer; it has no effect on files.
  file.file_descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.file_descriptor_ < 0) return OpenError(path, errno);

  file.stamp_ = FileStampOf(file.file_descriptor_);
  struct stat info;
  if (fstat(file.file_descriptor_, &info) != 0) return OpenError(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return Error(StatusCode::kMalformedInput, "'{}' is a folder, not a file: name a file in it", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error(StatusCode::kMalformedInput, "'{}' is not a regular file: copy the model into one", path);
  }
  if (info.st_size == 0) {
    return Error(StatusCode::kMalformedInput, "the model file '{}' is empty: fetch or convert it again", path);
  }

  const size_t size_bytes = static_cast<size_t>(info.st_size);
  void* address = mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file.file_descriptor_, 0);
  if (address == MAP_FAILED) {
    return Error(StatusCode::kIoError, "cannot map the {} bytes of the model file '{}': {}", size_bytes, path,
                 std::generic_category().message(errno));
  }
  file.bytes_ = {static_cast<const std::byte*>(address), size_bytes};
  file.seen_ = {{path, info.st_dev, info.st_ino, info.st_size, ModifiedNs(info)}};
  return file;
}

Result<std::vector<ModelPart>> ModelFile::Append(const std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path own_path = fs::canonical(fs::path(path_), failed), folder = own_path.parent_path();
  std::vector<ModelFile> files;
  std::vector<ModelPart> parts = {{"", 0, bytes_.size()}};
  const size_t page_bytes = PageBytes();
  size_t end = RoundUp(bytes_.size(), page_bytes);
  for (const std::string& name : names) {
    const fs::path path = fs::canonical(folder / name, failed);
    if (failed)
      return Error(StatusCode::kNotFound, "no file '{}' beside it, which holds its weights: fetch that too", name);
    // A link may lead anywhere.
    if (std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first != folder.end()) {
      return Error(StatusCode::kMalformedInput, "its weights in '{}' lie outside of its folder", name);
    }
    HEARTH_ASSIGN(ModelFile file, Open(path.string()));
    parts.push_back({name, end, file.bytes().size()});
    end += RoundUp(file.bytes().size(), page_bytes);
    files.push_back(std::move(file));
  }
  files.insert(files.begin(), std::move(*this));
  const auto map = [&](void* wanted, size_t size, int protection, int flags, int descriptor) -> Result<std::byte*> {
    void* address = mmap(wanted, size, protection, flags, descriptor, 0);
    if (address != MAP_FAILED) return static_cast<std::byte*>(address);
    return Error(StatusCode::kIoError, "cannot map the {} bytes of the model's files: {}", size,
                 std::generic_category().message(errno));
  };
  HEARTH_ASSIGN(std::byte * start, map(nullptr, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  ModelFile all;
  all.path_ = files[0].path_;
  all.bytes_ = {start, end};
  for (size_t k = 0; k < files.size(); ++k) {
    HEARTH_TRY(map(start + parts[k].offset_bytes, parts[k].size_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                   files[k].file_descriptor_)
                   .status());
    all.seen_.push_back(files[k].seen_[0]);
  }
  all.seen_[0].path = own_path;
  *this = std::move(all);
  return parts;
}

std::optional<FileStamp> ModelFile::UnchangedStamp() const {
  if (file_descriptor_ < 0) return std::nullopt;  // several files
  return stamp_ == FileStampOf(file_descriptor_) ? stamp_ : std::nullopt;
}

std::string ModelFile::StatedSha256() const {
  const Descriptor beside(::open((path_ + ".sha256").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!beside.is_open() || !IsOnReadOnlyMount(file_descriptor_) || !IsOnReadOnlyMount(beside.get())) return {};
  std::array<char, 65> text;
  const ssize_t size = ::read(beside.get(), text.data(), text.size());
  std::array<uint8_t, 32> digest;
  const bool is_digest = size >= 64 && (size == 64 || std::isspace(static_cast<unsigned char>(text[64])) != 0) &&
                         BytesFromHex({text.data(), 64}, digest);
  return is_digest ? HexOf(digest) : std::string();
}

Status ModelFile::CheckUnchanged(const std::string& known) const {
  constexpr std::string_view kAdvice = "open it again, and replace a model in use by renaming a new file over it";
  const Seen* changed = nullptr;
  uint64_t times = 0;
  for (const Seen& file : seen_) {
    struct stat info;
    const bool is_open = file_descriptor_ >= 0;
    const bool is_found = (is_open ? fstat(file_descriptor_, &info) : stat(file.path.c_str(), &info)) == 0;
    if (!is_found && is_open) return OpenError(file.path, errno);
    if (!is_found || info.st_dev != file.device || info.st_ino != file.inode) continue;  // replaced
    if (info.st_size < file.size_bytes) {
      return Error(StatusCode::kIoError,
                   "the model file '{}' was shortened from {} to {} bytes after it was opened: {}", file.path,
                   file.size_bytes, info.st_size, kAdvice);
    }
    if (ModifiedNs(info) != file.modified_ns) changed = &file;
    times = times * 1099511628211u + static_cast<uint64_t>(ModifiedNs(info));
  }
  if (changed == nullptr || times == checked_times_) return Status::Ok();
  if (known.empty() || ContentFingerprint().ToHex() != known) {
    return Error(StatusCode::kIoError, "the model file '{}' was overwritten after it was opened: {}", changed->path,
                 kAdvice);
  }
  checked_times_ = times;
  return Status::Ok();
}

bool ModelFile::Contains(std::span<const std::byte> part) const {
  const auto begin = reinterpret_cast<uintptr_t>(part.data()), own = reinterpret_cast<uintptr_t>(bytes_.data());
  return begin >= own && begin - own <= bytes_.size() && part.size() <= bytes_.size() - (begin - own);
}

bool ModelFile::KeepInMemory(std::vector<std::span<const std::byte>> parts) const {
  std::ranges::sort(parts, {}, [](auto part) { return part.data(); });
  std::vector<std::pair<uintptr_t, uintptr_t>> ranges;  // whole pages
  for (const std::span<const std::byte> part : parts) {
    HEARTH_CHECK(Contains(part));
    const auto begin = reinterpret_cast<uintptr_t>(part.data());
    const uintptr_t first = begin / PageBytes() * PageBytes(), last = RoundUp(begin + part.size(), PageBytes());
    if (ranges.empty() || first > ranges.back().second) ranges.emplace_back(first, last);
    ranges.back().second = std::max(ranges.back().second, last);
  }
  return std::ranges::all_of(ranges, [](const auto& range) { return KeepPages(range.first, range.second); });
}

Fingerprint ModelFile::ContentFingerprint() const {
  constexpr size_t kPieceBytes = 1 << 20;
  return FingerprintInPieces(bytes_, kPieceBytes, [this](std::span<const std::byte> piece) { ReleasePages(piece); });
}

void ModelFile::ReleasePages(std::span<const std::byte> part) const {
  HEARTH_CHECK(part.empty() || Contains(part));
  const uintptr_t page_bytes = PageBytes();
  const auto begin = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t first = RoundUp(begin, page_bytes);
  const uintptr_t end = begin + part.size();
  // The file's last page belongs to no other data.
  const bool at_end = end == reinterpret_cast<uintptr_t>(bytes_.data()) + bytes_.size();
  const uintptr_t last = at_end ? end : end / page_bytes * page_bytes;
  // If this fails, the pages just stay in memory.
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_descriptor_(std::exchange(other.file_descriptor_, -1)),
      bytes_(std::exchange(other.bytes_, {})),
      stamp_(other.stamp_),
      seen_(std::move(other.seen_)) {}

ModelFile& ModelFile::operator=(ModelFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_descriptor_, other.file_descriptor_);
  std::swap(bytes_, other.bytes_);
  std::swap(stamp_, other.stamp_);
  std::swap(seen_, other.seen_);
  return *this;
}

ModelFile::~ModelFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (file_descriptor_ >= 0) close(file_descriptor_);
}

}  // namespace hearth
