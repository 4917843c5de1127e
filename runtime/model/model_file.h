// A model's files mapped into memory, read-only.
#ifndef HEARTH_RUNTIME_MODEL_MODEL_FILE_H_
#define HEARTH_RUNTIME_MODEL_MODEL_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/file_stamp.h"
#include "core/base/fingerprint.h"
#include "core/store/content.h"
#include "hearth/status.h"
#include "runtime/model/model_interface.h"

namespace hearth {

class ModelFile;

// While it lives, another program can shorten the file and this one goes on reading bytes(). Empty: it can't.
class HeldBytes {
 public:
  HeldBytes() = default;
  explicit HeldBytes(const ModelFile& file) : file_(&file) {}
  HeldBytes(HeldBytes&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~HeldBytes();

 private:
  const ModelFile* file_ = nullptr;
};

// Owns the mapping and the open files. Graphs read from bytes() borrow their constants, so the
// ModelFile outlives them; moving it, before others use it, keeps the bytes where they are. Const use from several
// threads is fine. A program that reads a mapped file which another one shortens ends (SIGBUS). So whoever reads
// bytes() after opening holds them, or calls CheckUnchanged and reads by content() or ReadInto. Of a model of more than
// 16 files those behind the 16th are not kept open: if one is renamed and then shortened, nothing notices it.
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

  // Identifies the content of all files: whoever has the same one in this process has the same bytes(). nullopt where
  // stamps are unreliable, or a file was changed since it was opened or shortly before.
  std::optional<Fingerprint> Identity() const;

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

  // Replaces the pages of these parts of bytes() by copies in memory, which no change of the file reaches, for good.
  // False: the file was shortened, or the system has no memory for them. Others may read them meanwhile.
  bool KeepInMemory(const std::vector<std::span<const std::byte>>& parts) const;

  // The same for all of bytes() but the parts that nobody will read, for as long as the result lives. More than 32 MiB,
  // and a file with weights beside it, stay as they are: a copy would take too much. kIoError: shortened, or can't be
  // read.
  Result<HeldBytes> Hold(std::vector<std::span<const std::byte>> unread = {}) const;

  // Copies bytes() from an offset on by system calls, which fail where reading the mapping ends the program.
  // kIoError: as Hold.
  Status ReadInto(uint64_t offset_bytes, std::span<std::byte> memory) const;
  // All of bytes(), read so.
  ContentReading content() const;

  // The fingerprint of the content. Reads the whole file: keep the result. kIoError: as Hold.
  Result<Fingerprint> ContentFingerprint() const;

  // Releases the whole pages within `part` of bytes(), unless they are held. They are read from the file again on
  // access, with the same content.
  void ReleasePages(std::span<const std::byte> part) const;

 private:
  ModelFile() = default;

  // A file as it was when it was opened.
  struct Seen {
    std::string path;
    Descriptor descriptor;  // closed: found by its path, which is absolute
    uint64_t device = 0, inode = 0;
    int64_t size_bytes = 0, modified_ns = 0;
    std::optional<FileStamp> stamp;
    bool is_settled = false;    // every later change changes the stamp
    uint64_t offset_bytes = 0;  // in bytes()

    bool HasItsStamp() const { return stamp && stamp == FileStampOf(descriptor.get()); }
  };
  // Where a page of bytes() is.
  enum class Place : uint8_t { kFile, kHeld, kKept };

  friend class HeldBytes;
  void EndHold() const;
  Status ReadPart(const Seen& file, uint64_t offset_bytes, std::span<std::byte> memory) const;
  // Makes copies of the pages [first, last) that may change, or do not last as long.
  Status CopyPages(size_t first, size_t last, Place place) const;  // needs the lock
  // The end of the pages from `first` on that are where it is.
  size_t EndOfRun(size_t first, size_t last) const;  // needs the lock

  std::string path_;
  std::span<const std::byte> bytes_;
  std::vector<Seen> seen_;                           // empty after a move
  mutable std::atomic<uint64_t> checked_times_ = 0;  // of changes that left the content as it was
  mutable std::mutex pages_mutex_;
  mutable std::vector<Place> pages_;  // empty: all in the file
  mutable int holders_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_MODEL_MODEL_FILE_H_
