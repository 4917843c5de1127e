#include "cache/sources/bundle_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "cache/files/folder.h"
#include "cache/files/trusted_path.h"
#include "cache/store/entry_row.h"
#include "core/base/blocked_signal.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEndBytes = 2 * kTarBlockBytes;  // of zeros
constexpr std::array<std::byte, kEndBytes> kZeros{};

std::string MemberName(const Fingerprint& digest) {
  return digest.ToHex() + ".entry";
}

Status ExistsAlready(const fs::path& file) {
  return Error(StatusCode::kInvalidArgument, "{} exists already: choose another name", file.string());
}

Status CantMake(const fs::path& file) {
  return Error(StatusCode::kIoError, "can't make {}: {}", file.string(), std::strerror(errno));
}

// The name of an open file that has none, for linkat.
std::string NameOfOpened(const Descriptor& descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor.get());
}

// The bytes that a member's header and content take.
uint64_t MemberBytes(uint64_t content_bytes) {
  return kTarBlockBytes + TarBytes(content_bytes);
}

// Writes all bytes, also after an interruption or a write of fewer. A limit on file sizes is an error, no signal.
Status WriteAll(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& file) {
  const BlockedSizeSignal held;
  int interruptions = 0;
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR && ++interruptions < kMostInterruptions) continue;
    if (count <= 0) return Error(StatusCode::kIoError, "can't write {}: {}", file.string(), std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return Status::Ok();
}

// Positions of the fields (POSIX.1-2017, pax, "ustar Interchange Format").
constexpr size_t kName = 0, kMode = 100, kUser = 108, kGroup = 116, kSize = 124, kTime = 136, kSum = 148, kType = 156,
                 kMagicText = 257;
constexpr size_t kSumBytes = 8;
constexpr size_t kSizeDigits = 11;
// 1980, because programs warn of files from 1970.
constexpr uint64_t kFixedTime = 315532800;

void Write(TarHeader& header, size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

}  // namespace

TarHeader MakeTarHeader(std::string_view name, uint64_t size_bytes) {
  TarHeader header{};
  Write(header, kName, name.substr(0, kMode));
  Write(header, kMode, "0000644");
  Write(header, kUser, "0000000");
  Write(header, kGroup, "0000000");
  Write(header, kSize, fmt::format("{:011o}", size_bytes & kMaxTarMemberBytes));
  Write(header, kTime, fmt::format("{:011o}", kFixedTime));
  Write(header, kSum, std::string(kSumBytes, ' '));  // the checksum field counts as blanks in the checksum
  Write(header, kType, "0");
  Write(header, kMagicText, std::string_view("ustar\00000", 8));
  uint32_t sum = 0;
  for (std::byte byte : header) sum += std::to_integer<uint32_t>(byte);
  Write(header, kSum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

std::optional<uint64_t> SizeInTarHeader(std::span<const std::byte, kTarBlockBytes> header, std::string_view name) {
  uint64_t size_bytes = 0;
  for (std::byte digit : header.subspan(kSize, kSizeDigits)) {
    if (digit < std::byte{'0'} || digit > std::byte{'7'}) return std::nullopt;
    size_bytes = size_bytes * 8 + (std::to_integer<uint64_t>(digit) - '0');
  }
  if (!std::ranges::equal(MakeTarHeader(name, size_bytes), header)) return std::nullopt;
  return size_bytes;
}

Result<BundleFile> BundleFile::Open(const fs::path& wanted) {
  HEARTH_ASSIGN(fs::path file, TrustedPath(wanted));
  HEARTH_ASSIGN(OpenedFile opened, OpenBundlePart(file));
  return BundleFile(std::move(file), std::move(opened.descriptor), opened.size_bytes);
}

Status BundleFile::Damaged(std::string_view what) const {
  return Error(StatusCode::kIoError, "{} is not a complete bundle: {}; copy it again, or export it again",
               path_.string(), what);
}

Status BundleFile::Read(uint64_t at, std::span<std::byte> bytes) const {
  const Status status = ReadExactly(descriptor_, at, bytes);
  return status.ok() ? status : Damaged(status.message());
}

Result<std::string> BundleFile::ReadText(uint64_t at, std::string_view name, uint64_t max_bytes) const {
  TarHeader header;
  HEARTH_TRY(Read(at, header));
  const std::optional<uint64_t> size_bytes = SizeInTarHeader(header, name);
  if (!size_bytes || *size_bytes > max_bytes || *size_bytes > size_bytes_) {
    return Damaged(fmt::format("{} is not at its place, or too long", name));
  }
  std::string text(*size_bytes, '\0');
  HEARTH_TRY(Read(at + kTarBlockBytes, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<BundleTexts> BundleFile::ReadTexts() {
  BundleTexts texts;
  HEARTH_ASSIGN(texts.manifest, ReadText(0, kManifestName, kMaxManifestBytes));
  texts_end_ = MemberBytes(texts.manifest.size());
  TarHeader header;
  HEARTH_TRY(Read(texts_end_, header));
  if (!SizeInTarHeader(header, kSignatureName)) return texts;
  HEARTH_ASSIGN(texts.signature, ReadText(texts_end_, kSignatureName, kMaxSignatureBytes));
  texts_end_ += MemberBytes(texts.signature.size());
  return texts;
}

Status BundleFile::Locate(const Manifest& manifest) {
  places_.clear();
  std::vector<Place> places;
  uint64_t at = texts_end_;
  if (at > size_bytes_) return Damaged("it is shorter than its manifest says");
  for (const ManifestEntry& entry : manifest.entries) {
    if (!places.empty() && !(places.back().digest < entry.digest)) return Damaged("its entries are out of order");
    if (entry.size_bytes > size_bytes_ - at) return Damaged("it is shorter than its manifest says");
    places.push_back({entry.digest, at, entry.size_bytes});
    at += MemberBytes(entry.size_bytes);
    if (at > size_bytes_) return Damaged("it is shorter than its manifest says");
  }
  if (at + kEndBytes != size_bytes_) return Damaged("its length is not that of its manifest");
  places_ = std::move(places);
  return Status::Ok();
}

Status BundleFile::ReadEntry(size_t entry, uint64_t at, std::span<std::byte> bytes) const {
  const Place& place = places_[entry];
  HEARTH_CHECK(at <= place.size_bytes && bytes.size() <= place.size_bytes - at);
  TarHeader header;
  HEARTH_TRY(Read(place.at, header));
  if (SizeInTarHeader(header, MemberName(place.digest)) != place.size_bytes) {
    return Damaged(fmt::format("entry {} is not at its place", place.digest.ToHex()));
  }
  return Read(place.at + kTarBlockBytes + at, bytes);
}

Result<BundleFile::Head> BundleFile::ReadHead(size_t entry) const {
  const uint64_t size_bytes = places_[entry].size_bytes;
  std::vector<std::byte> head(std::min(size_bytes, kEnvelopeStartBytes));
  HEARTH_TRY(ReadEntry(entry, 0, head));
  const std::optional<uint64_t> head_bytes = EnvelopeHeadBytes(head);
  if (head_bytes && *head_bytes <= size_bytes) {
    head.resize(*head_bytes);
    HEARTH_TRY(ReadEntry(entry, 0, head));
    if (std::optional<EnvelopeHead> envelope = EnvelopeHeadFrom(head)) return Head{*std::move(envelope), head};
  }
  return Damaged(fmt::format("entry {} is no entry", places_[entry].digest.ToHex()));
}

Result<BundleFileWriter> BundleFileWriter::Create(const fs::path& wanted) {
  HEARTH_ASSIGN(fs::path file, PlaceOfNewFile(wanted, "bundle"));
  std::error_code error;
  if (fs::symlink_status(file, error).type() != fs::file_type::not_found) return ExistsAlready(file);
  BundleFileWriter writer(std::move(file));
  HEARTH_TRY(writer.MakeUnnamed());
  return writer;
}

// A file without a name leaves nothing behind if this process is killed. Where there are none, or no /proc through
// which it could get its name, it has another name first.
Status BundleFileWriter::MakeUnnamed() {
  descriptor_ = Descriptor(::open(path_.parent_path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (descriptor_.is_open() && ::access(NameOfOpened(descriptor_).c_str(), F_OK) == 0) return Status::Ok();
  std::string name = path_.string() + ".XXXXXX";
  descriptor_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!descriptor_.is_open()) return CantMake(path_);
  unfinished_ = std::move(name);
  return Status::Ok();
}

// Never takes the name from another file.
Status BundleFileWriter::TakeName() {
  const std::string from = unfinished_.empty() ? NameOfOpened(descriptor_) : unfinished_;
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    // Some file systems have no second names.
    const bool is_renamed = errno != EEXIST && !unfinished_.empty() &&
                            ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
    if (!is_renamed) return errno == EEXIST ? ExistsAlready(path_) : CantMake(path_);
  }
  return Status::Ok();
}

BundleFileWriter::~BundleFileWriter() {
  if (descriptor_.is_open() && !unfinished_.empty()) ::unlink(unfinished_.c_str());
}

Status BundleFileWriter::Write(std::span<const std::byte> bytes) {
  return WriteAll(descriptor_.get(), bytes, path_);
}

Status BundleFileWriter::AddMember(const std::string& name, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxTarMemberBytes) {
    return Error(StatusCode::kInvalidArgument, "{} of {} bytes does not fit in a bundle: leave it out", name,
                 bytes.size());
  }
  HEARTH_TRY(Write(MakeTarHeader(name, bytes.size())));
  HEARTH_TRY(Write(bytes));
  return Write(std::span(kZeros).first(TarBytes(bytes.size()) - bytes.size()));
}

Status BundleFileWriter::AddTexts(const BundleTexts& texts) {
  HEARTH_TRY(AddMember(kManifestName, BytesOf(texts.manifest)));
  return texts.signature.empty() ? Status::Ok() : AddMember(kSignatureName, BytesOf(texts.signature));
}

Status BundleFileWriter::AddEntry(const Fingerprint& digest, std::span<const std::byte> envelope) {
  return AddMember(MemberName(digest), envelope);
}

Status BundleFileWriter::Finish() {
  HEARTH_TRY(Write(kZeros));
  if (::fsync(descriptor_.get()) != 0) {
    return Error(StatusCode::kIoError, "can't write {}: {}", path_.string(), std::strerror(errno));
  }
  return TakeName();
}

}  // namespace hearth
