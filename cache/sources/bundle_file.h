// A bundle is one file: a tar of manifest.txt, manifest.sig if it is signed, and for each entry, in the manifest's
// order (that of the digests), <digest>.entry, an envelope (envelope.h).
//
// All positions follow from the manifest, and the archive's own headers are not trusted: an unexpected header or file
// length means that it is not a bundle. The file is not mapped, so truncating it is an error, not a signal.
#ifndef HEARTH_CACHE_SOURCES_BUNDLE_FILE_H_
#define HEARTH_CACHE_SOURCES_BUNDLE_FILE_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/trust/envelope.h"
#include "cache/trust/manifest.h"
#include "core/base/descriptor.h"
#include "core/base/numbers.h"
#include "hearth/status.h"

namespace hearth {

// The ending of a bundle's name.
inline constexpr const char* kBundleFileSuffix = ".tar";

// The form of tar (POSIX ustar): regular files with short names and constant other fields.
inline constexpr uint64_t kTarBlockBytes = 512;
inline constexpr uint64_t kMaxTarMemberBytes = (uint64_t{1} << 33) - 1;  // 11 octal digits

using TarHeader = std::array<std::byte, kTarBlockBytes>;

// `name` has at most 100 bytes.
TarHeader MakeTarHeader(std::string_view name, uint64_t size_bytes);

// The size in a header; nullopt unless the header is exactly what MakeTarHeader makes for that name and size.
std::optional<uint64_t> SizeInTarHeader(std::span<const std::byte, kTarBlockBytes> header, std::string_view name);

// The bytes that `size_bytes` of content take in whole blocks.
constexpr uint64_t TarBytes(uint64_t size_bytes) {
  return RoundUp(size_bytes, kTarBlockBytes);
}

// Thread-safe once located.
class BundleFile {
 public:
  // Opens the file under the rules of read-only layers (folder.h): it is ours or root's and no link, and nobody else
  // may write to it or a folder above it. kNotFound if it does not exist.
  static Result<BundleFile> Open(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return path_; }

  // Manifest and signature, not checked yet.
  Result<BundleTexts> ReadTexts();
  // Locates the manifest's entries. kIoError if the file does not match the manifest.
  Status Locate(const Manifest& manifest);

  // Reads the envelope's bytes from `at` on, which must exist, by the entry's index in the manifest.
  Status ReadEntry(size_t entry, uint64_t at, std::span<std::byte> bytes) const;
  // The part of the envelope before its blob. Not checked against the manifest.
  struct Head {
    EnvelopeHead envelope;
    std::vector<std::byte> bytes;
  };
  Result<Head> ReadHead(size_t entry) const;

 private:
  struct Place {
    Fingerprint digest;
    uint64_t at = 0;  // of the header of <digest>.entry
    uint64_t size_bytes = 0;
  };
  BundleFile(std::filesystem::path path, Descriptor descriptor, uint64_t size_bytes)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_bytes_(size_bytes) {}
  Status Read(uint64_t at, std::span<std::byte> bytes) const;
  Result<std::string> ReadText(uint64_t at, std::string_view name, uint64_t max_bytes) const;
  Status Damaged(std::string_view what) const;

  std::filesystem::path path_;
  Descriptor descriptor_;
  uint64_t size_bytes_ = 0, texts_end_ = 0;
  std::vector<Place> places_;
};

// Writes a bundle file, which gets its name when it is complete. The destructor removes an unfinished one.
class BundleFileWriter {
 public:
  // kInvalidArgument, here or from Finish, if a file of this name exists; kIoError if others could lead it elsewhere
  // (trusted_path.h).
  static Result<BundleFileWriter> Create(const std::filesystem::path& file);
  BundleFileWriter(BundleFileWriter&&) = default;
  BundleFileWriter& operator=(BundleFileWriter&&) = delete;
  ~BundleFileWriter();

  Status AddTexts(const BundleTexts& texts);
  Status AddEntry(const Fingerprint& digest, std::span<const std::byte> envelope);
  Status Finish();

 private:
  explicit BundleFileWriter(std::filesystem::path path) : path_(std::move(path)) {}
  Status MakeUnnamed();
  Status TakeName();
  Status AddMember(const std::string& name, std::span<const std::byte> bytes);
  Status Write(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::string unfinished_;  // another name of the file beside it; empty: it has no name yet
  Descriptor descriptor_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_SOURCES_BUNDLE_FILE_H_
