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
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr size_t kMostOpenFiles = 16;
constexpr std::string_view kAdvice = "open it again, and replace a model in use by renaming a new file over it";

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

Status ShortenedError(const std::string& path, int64_t from_bytes, int64_t to_bytes) {
  return Error(StatusCode::kIoError, "the model file '{}' was shortened from {} to {} bytes after it was opened: {}",
               path, from_bytes, to_bytes, kAdvice);
}

}  // namespace

Result<ModelFile> ModelFile::Open(const std::string& path) {
  ModelFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a named pipe must not wait for a writer; it has no effect on files.
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) return OpenError(path, errno);

  const std::optional<FileStamp> stamp = FileStampOf(descriptor.get());
  struct stat info;
  if (fstat(descriptor.get(), &info) != 0) return OpenError(path, errno);
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
  void* address = mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (address == MAP_FAILED) {
    return Error(StatusCode::kIoError, "cannot map the {} bytes of the model file '{}': {}", size_bytes, path,
                 std::generic_category().message(errno));
  }
  file.bytes_ = {static_cast<const std::byte*>(address), size_bytes};
  file.seen_.push_back({path, std::move(descriptor), info.st_dev, info.st_ino, info.st_size, ModifiedNs(info), stamp,
                        stamp && IsSettledNow(*stamp)});
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
    if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory)
      return Error(StatusCode::kNotFound, "no file '{}' beside it, which holds its weights: fetch that too", name);
    if (failed) return OpenError((folder / name).string(), failed.value());
    // A link may lead anywhere.
    if (std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first != folder.end()) {
      return Error(StatusCode::kMalformedInput, "its weights in '{}' lie outside of its folder", name);
    }
    HEARTH_ASSIGN(ModelFile file, Open(path.string()));
    parts.push_back({name, end, file.bytes().size()});
    end += RoundUp(file.bytes().size(), page_bytes);
    if (parts.size() > kMostOpenFiles) file.seen_[0].descriptor = Descriptor();
    files.push_back(std::move(file));
  }
  const auto map_error = [&] {
    return Error(StatusCode::kIoError, "cannot map the {} bytes of the model's files: {}", end,
                 std::generic_category().message(errno));
  };
  void* const start = mmap(nullptr, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return map_error();
  files.insert(files.begin(), std::move(*this));
  ModelFile all;
  all.path_ = files[0].path_;
  all.bytes_ = {static_cast<const std::byte*>(start), end};
  for (size_t k = 0; k < files.size(); ++k) {
    const std::span<const std::byte> bytes = files[k].bytes_;
    if (mremap(const_cast<std::byte*>(bytes.data()), bytes.size(), bytes.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
               const_cast<std::byte*>(all.bytes_.data() + parts[k].offset_bytes)) == MAP_FAILED) {
      return map_error();
    }
    files[k].bytes_ = {};
    all.seen_.push_back(std::move(files[k].seen_[0]));
    all.seen_.back().offset_bytes = parts[k].offset_bytes;
  }
  all.seen_[0].path = own_path;
  *this = std::move(all);
  return parts;
}

std::optional<FileStamp> ModelFile::UnchangedStamp() const {
  return seen_.size() == 1 && seen_[0].HasItsStamp() ? seen_[0].stamp : std::nullopt;
}

std::optional<Fingerprint> ModelFile::Identity() const {
  std::string text;
  for (const Seen& file : seen_) {
    if (!file.is_settled || !file.HasItsStamp()) return std::nullopt;
    const FileStamp& stamp = *file.stamp;
    text += fmt::format("{} {} {} {} {} {} {}\n", file.offset_bytes, stamp.device, stamp.inode, stamp.size_bytes,
                        stamp.modified_ns, stamp.changed_ns, stamp.mount);
  }
  return FingerprintOf(BytesOf(text));
}

std::string ModelFile::StatedSha256() const {
  if (seen_.size() != 1) return {};
  const Descriptor beside(::open((path_ + ".sha256").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!beside.is_open() || !IsOnReadOnlyMount(seen_[0].descriptor.get()) || !IsOnReadOnlyMount(beside.get())) return {};
  std::array<char, 65> text;
  const ssize_t size = ::read(beside.get(), text.data(), text.size());
  std::array<uint8_t, 32> digest;
  const bool is_digest = size >= 64 && (size == 64 || std::isspace(static_cast<unsigned char>(text[64])) != 0) &&
                         BytesFromHex({text.data(), 64}, digest);
  return is_digest ? HexOf(digest) : std::string();
}

Status ModelFile::CheckUnchanged(const std::string& known) const {
  const Seen* changed = nullptr;
  uint64_t times = 0;
  for (const Seen& file : seen_) {
    struct stat info;
    const bool is_open = file.descriptor.is_open();
    const bool is_found = (is_open ? fstat(file.descriptor.get(), &info) : stat(file.path.c_str(), &info)) == 0;
    if (!is_found && is_open) return OpenError(file.path, errno);
    if (!is_found || info.st_dev != file.device || info.st_ino != file.inode) continue;  // replaced
    if (info.st_size < file.size_bytes) return ShortenedError(file.path, file.size_bytes, info.st_size);
    if (ModifiedNs(info) != file.modified_ns) changed = &file;
    times = times * 1099511628211u + static_cast<uint64_t>(ModifiedNs(info));
  }
  if (changed == nullptr || times == checked_times_) return Status::Ok();
  std::string now;
  if (!known.empty()) {
    HEARTH_ASSIGN(const Fingerprint fingerprint, ContentFingerprint());
    now = fingerprint.ToHex();
  }
  if (known.empty() || now != known) {
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

Status ModelFile::ReadPart(const Seen& file, uint64_t offset_bytes, std::span<std::byte> memory) const {
  Descriptor own;
  int descriptor = file.descriptor.get();
  if (!file.descriptor.is_open()) {
    own = Descriptor(open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    descriptor = own.get();
    struct stat info;
    if (fstat(descriptor, &info) != 0 || info.st_dev != file.device || info.st_ino != file.inode) {
      // Another one is there now, and this one has another name or none.
      std::memcpy(memory.data(), bytes_.data() + file.offset_bytes + offset_bytes, memory.size());
      return Status::Ok();
    }
  }
  while (!memory.empty()) {
    const ssize_t size = pread(descriptor, memory.data(), memory.size(), static_cast<off_t>(offset_bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return Error(StatusCode::kIoError, "cannot read the model file '{}': {}", file.path,
                   std::generic_category().message(errno));
    }
    if (size == 0) return ShortenedError(file.path, file.size_bytes, static_cast<int64_t>(offset_bytes));
    offset_bytes += static_cast<uint64_t>(size);
    memory = memory.subspan(static_cast<size_t>(size));
  }
  return Status::Ok();
}

Status ModelFile::ReadInto(uint64_t offset_bytes, std::span<std::byte> memory) const {
  const uint64_t end = offset_bytes + memory.size();
  uint64_t done = offset_bytes;
  for (const Seen& file : seen_) {
    const uint64_t first = std::max(offset_bytes, file.offset_bytes);
    const uint64_t last = std::min(end, file.offset_bytes + static_cast<uint64_t>(file.size_bytes));
    if (first >= last) continue;
    std::ranges::fill(memory.subspan(done - offset_bytes, first - done), std::byte{});  // between files
    HEARTH_TRY(ReadPart(file, first - file.offset_bytes, memory.subspan(first - offset_bytes, last - first)));
    done = last;
  }
  std::ranges::fill(memory.subspan(done - offset_bytes), std::byte{});
  return Status::Ok();
}

ContentReading ModelFile::content() const {
  return {bytes_.size(), [this](const ContentReading::Take& take) -> Status {
            std::vector<std::byte> memory(std::min(bytes_.size(), kContentPieceBytes));
            return ForEachPiece(bytes_.size(), [&](uint64_t at, size_t size) -> Status {
              const std::span<std::byte> piece = std::span(memory).first(size);
              HEARTH_TRY(ReadInto(at, piece));
              take(piece);
              return Status::Ok();
            });
          }};
}

Result<Fingerprint> ModelFile::ContentFingerprint() const {
  HEARTH_ASSIGN(const ContentDigests digests, DigestsOf(content(), {}, WithName::kNo));
  return digests.fingerprint;
}

size_t ModelFile::EndOfRun(size_t first, size_t last) const {
  size_t end = first;
  while (end < last && pages_[end] == pages_[first]) ++end;
  return end;
}

Status ModelFile::CopyPages(size_t first, size_t last, Place place) const {
  if (pages_.empty()) pages_.resize(RoundUp(bytes_.size(), PageBytes()) / PageBytes());
  for (size_t page = first, end = first; page < last; page = end) {
    end = EndOfRun(page, last);
    if (pages_[page] == place || pages_[page] == Place::kKept) continue;
    const size_t size = (end - page) * PageBytes();
    // ReleasePages would empty private memory, which takes half of the time of shared memory.
    const int flags = (place == Place::kHeld ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | MAP_POPULATE;
    void* const copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (copy == MAP_FAILED)
      return Error(StatusCode::kResourceExhausted, "no memory for {} bytes of the model's file", size);
    void* const pages = const_cast<std::byte*>(bytes_.data() + page * PageBytes());
    Status read;
    if (pages_[page] == Place::kFile) {
      read = ReadInto(page * PageBytes(), {static_cast<std::byte*>(copy), size});
    } else {
      std::memcpy(copy, pages, size);
    }
    if (!read.ok() || mprotect(copy, size, PROT_READ) != 0 ||
        mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == MAP_FAILED) {
      munmap(copy, size);
      return read.ok() ? Error(StatusCode::kResourceExhausted, "cannot remap the model's file") : read;
    }
    std::fill(pages_.begin() + static_cast<ptrdiff_t>(page), pages_.begin() + static_cast<ptrdiff_t>(end), place);
  }
  return Status::Ok();
}

bool ModelFile::KeepInMemory(const std::vector<std::span<const std::byte>>& parts) const {
  const std::scoped_lock lock(pages_mutex_);
  return std::ranges::all_of(parts, [&](std::span<const std::byte> part) {
    HEARTH_CHECK(Contains(part));
    const size_t begin = static_cast<size_t>(part.data() - bytes_.data());
    return CopyPages(begin / PageBytes(), RoundUp(begin + part.size(), PageBytes()) / PageBytes(), Place::kKept).ok();
  });
}

Result<HeldBytes> ModelFile::Hold(std::vector<std::span<const std::byte>> unread) const {
  constexpr size_t kMostBytes = 32 << 20;
  if (seen_.size() != 1) return HeldBytes();
  std::ranges::sort(unread, {}, [](std::span<const std::byte> part) { return part.data(); });
  unread.push_back(bytes_.last(0));
  std::vector<std::pair<size_t, size_t>> runs;  // of pages
  size_t page = 0, pages = 0;
  for (const std::span<const std::byte> part : unread) {
    HEARTH_CHECK(part.empty() || Contains(part));
    const size_t begin = static_cast<size_t>(part.data() - bytes_.data());
    const size_t first = RoundUp(begin, PageBytes()) / PageBytes();
    if (first > page) pages += runs.emplace_back(page, first).second - page;
    page = std::max({page, first, (begin + part.size()) / PageBytes()});
  }
  if (pages * PageBytes() > kMostBytes) return HeldBytes();
  Status copied;
  {
    const std::scoped_lock lock(pages_mutex_);
    ++holders_;
    for (const auto& [first, last] : runs) {
      if (copied.ok()) copied = CopyPages(first, last, Place::kHeld);
    }
  }
  HeldBytes held(*this);
  if (copied.code() == StatusCode::kIoError) return copied;
  return held;
}

void ModelFile::EndHold() const {
  const std::scoped_lock lock(pages_mutex_);
  if (--holders_ > 0) return;
  bool is_whole = true;
  for (size_t page = 0, end = 0; page < pages_.size(); page = end) {
    end = EndOfRun(page, pages_.size());
    if (pages_[page] != Place::kHeld) continue;
    const size_t offset = page * PageBytes();
    void* const pages = const_cast<std::byte*>(bytes_.data() + offset);
    if (mmap(pages, (end - page) * PageBytes(), PROT_READ, MAP_PRIVATE | MAP_FIXED, seen_[0].descriptor.get(),
             static_cast<off_t>(offset)) == MAP_FAILED) {
      is_whole = false;
      continue;
    }
    std::fill(pages_.begin() + page, pages_.begin() + end, Place::kFile);
  }
  // The copies stay, and count as held: ReleasePages would make zeros of them.
  if (!is_whole) ++holders_;
}

HeldBytes::~HeldBytes() {
  if (file_ != nullptr) file_->EndHold();
}

void ModelFile::ReleasePages(std::span<const std::byte> part) const {
  HEARTH_CHECK(part.empty() || Contains(part));
  const std::scoped_lock lock(pages_mutex_);
  if (holders_ > 0) return;
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
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})), seen_(std::move(other.seen_)) {}

ModelFile& ModelFile::operator=(ModelFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(seen_, other.seen_);
  return *this;
}

ModelFile::~ModelFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace hearth
