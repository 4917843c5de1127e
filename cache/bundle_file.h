// A bundle as one file: a tar of manifest.txt, manifest.sig where it is signed, and for each entry of the manifest, in
// its order, which is that of the digests, <digest>.key (the key's material) and <digest>.blob.
//
// Where everything lies follows from the manifest, so no directory of the file is believed: a header that is not the
// one that belongs there, or a file of another length, is no bundle. Read without maps: a file that somebody cuts short
// is an error, not a signal.
#ifndef HEARTH_CACHE_BUNDLE_FILE_H_
#define HEARTH_CACHE_BUNDLE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cache/descriptor.h"
#include "cache/manifest.h"
#include "cache/signed_manifest.h"
#include "hearth/status.h"

namespace hearth {

// A name that ends so is that of a bundle file, others are folders', where one is to be made.
inline constexpr const char* kBundleFileSuffix = ".tar";

// Thread-safe once located.
class BundleFile {
 public:
  // Under the rules of read-only layers (folder.h): ours or root's, no link, nobody else may write to it or a folder
  // above it. kNotFound: there is none.
  static Result<BundleFile> Open(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return path_; }

  // Manifest and signature, of which nothing is believed yet.
  Result<BundleTexts> ReadTexts();
  // Finds what the manifest names. kIoError: the file is not what it promises.
  Status Locate(const Manifest& manifest);

  // By the entry's number in the manifest; read as it is, unchecked against the manifest's digests.
  Result<std::string> ReadMaterial(size_t entry) const;
  // The blob's bytes from `at` on, which it must have.
  Status ReadBlob(size_t entry, uint64_t at, std::span<std::byte> bytes) const;

 private:
  struct Place {
    Fingerprint digest;
    uint64_t at = 0;  // of the header of <digest>.key
    uint64_t material_bytes = 0, blob_bytes = 0;
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

// Writes one. What is not finished is removed by the destructor.
class BundleFileWriter {
 public:
  // kInvalidArgument: there is something of that name.
  static Result<BundleFileWriter> Create(const std::filesystem::path& file);
  BundleFileWriter(BundleFileWriter&&) = default;
  BundleFileWriter& operator=(BundleFileWriter&&) = delete;
  ~BundleFileWriter();

  Status AddTexts(const BundleTexts& texts);
  Status AddEntry(const Fingerprint& digest, std::string_view material, std::span<const std::byte> blob);
  Status Finish();

 private:
  BundleFileWriter(std::filesystem::path path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  Status AddMember(const std::string& name, std::span<const std::byte> bytes);
  Status Write(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_FILE_H_
