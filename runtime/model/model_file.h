// A model's files mapped into memory, read-only.
#ifndef HEARTH_RUNTIME_MODEL_MODEL_FILE_H_
#define HEARTH_RUNTIME_MODEL_MODEL_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/file_stamp.h"
#include "core/base/fingerprint.h"
#include "hearth/status.h"
#include "runtime/model/model_interface.h"

namespace hearth {

// Owns the mapping and the open file. Graphs read from bytes() borrow their constants, so the
// ModelFile outlives them; moving it keeps the bytes where they are. Const use from several threads
// is fine. A program that reads a mapped file which another one shortens ends (SIGBUS): so whoever
// reads bytes() after opening calls CheckUnchanged first, and keeps what it reads often.
class ModelFile {
 public:
  // kNotFound: no such file. kMalformedInput: a folder, another kind of non-file, or empty.
  // kIoError: the system refused to open or map it. Messages name the path.
  static Result<ModelFile> Open(const std::string& path);

  // Maps more files behind the model's own, each from a page on: names relative to the model's folder. Returns where
  // all lie in bytes(), the model's first. The fingerprint then covers all; there is no stamp, which is of one file.
  // kMalformedInput, kNotFound: a name that leads out of the folder, by a link too, or to no file; the message has it.
  Result<std::vector<ModelPart>> Append(const std::vector<std::string>& names);

  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) noexcept;
  ~ModelFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }  // page-aligned, never empty
  // The stamp from when the file was opened. nullopt if the file was changed since, or if stamps are unreliable there.
  std::optional<FileStamp> UnchangedStamp() const;

  // On a read-only mount, where no stamp proves anything: the SHA-256 in hex that the file NAME.sha256 beside it
  // states, as `sha256sum NAME` writes it. Whoever made the image made both. Else empty: where the file can be
  // replaced, a stated digest may be one of an earlier content.
  std::string StatedSha256() const;

  // kIoError, in one sentence, if a file was shortened or written to since it was opened, unless its fingerprint is
  // still the `known` one (in hex; empty: not known), as after `touch`. A file that another one was renamed over stays
  // what it was. Costs a system call per file; one that changes after the call may still end the process.
  Status CheckUnchanged(const std::string& known) const;

  // Whether these bytes are the file's.
  bool Contains(std::span<const std::byte> part) const;

  // Replaces the pages of these parts of bytes() by copies in memory, which no change of the file reaches. False: the
  // system has no memory for them. Others may read them meanwhile.
  bool KeepInMemory(std::vector<std::span<const std::byte>> parts) const;

  // The fingerprint of the content. Reads the whole file and releases its pages: keep the result.
  Fingerprint ContentFingerprint() const;

  // Releases the whole pages within `part` of bytes(). They are read from the file again on access, with the same
  // content.
  void ReleasePages(std::span<const std::byte> part) const;

 private:
  ModelFile() = default;

  // A file as it was when it was opened.
  struct Seen {
    std::string path;
    uint64_t device = 0, inode = 0;
    int64_t size_bytes = 0, modified_ns = 0;
  };
  std::string path_;
  int file_descriptor_ = -1;
  std::span<const std::byte> bytes_;
  std::optional<FileStamp> stamp_;
  std::vector<Seen> seen_;  // several: found by absolute path, so that a model of many files takes no descriptors
  mutable std::atomic<uint64_t> checked_times_ = 0;  // of changes that left the content as it was
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_MODEL_MODEL_FILE_H_
