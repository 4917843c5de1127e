// A model file mapped into memory, read-only.
#ifndef HEARTH_FRONTENDS_MODEL_MODEL_FILE_H_
#define HEARTH_FRONTENDS_MODEL_MODEL_FILE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "core/base/file_stamp.h"
#include "core/base/fingerprint.h"
#include "hearth/status.h"

namespace hearth {

// Owns the mapping and the open file. Graphs read from bytes() borrow their constants, so the
// ModelFile outlives them; moving it keeps the bytes where they are. Const use from several threads
// is fine. A file that another process shortens while it is mapped ends the reading process
// (SIGBUS), as with every mapped file: replace model files by rename.
class ModelFile {
 public:
  // kNotFound: no such file. kMalformedInput: a folder, another kind of non-file, or empty.
  // kIoError: the system refused to open or map it. Messages name the path.
  static Result<ModelFile> Open(const std::string& path);

  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) noexcept;
  ~ModelFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }  // page-aligned, never empty
  // As it was when the file was opened, as long as nobody changed the file since; else, or where a stamp can't be
  // relied upon, nullopt.
  std::optional<FileStamp> UnchangedStamp() const;

  // Depends on the contents alone. Reads the whole file and leaves none of it resident: keep the result.
  Fingerprint ContentFingerprint() const;

  // Gives the whole pages inside `part` of bytes() back to the system. They are read from the file again when
  // touched; what is read stays the same.
  void ReleasePages(std::span<const std::byte> part) const;

 private:
  ModelFile() = default;

  std::string path_;
  int file_descriptor_ = -1;
  std::span<const std::byte> bytes_;
  std::optional<FileStamp> stamp_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_MODEL_MODEL_FILE_H_
