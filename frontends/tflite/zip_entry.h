// A file in a ZIP archive at the end of another file, where TFLite metadata keeps label files.
#ifndef HEARTH_FRONTENDS_TFLITE_ZIP_ENTRY_H_
#define HEARTH_FRONTENDS_TFLITE_ZIP_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

// The archive at the end of `file`. The file is searched once, for any number of names.
class ZipDirectory {
 public:
  // `file` outlives the directory and does not change.
  explicit ZipDirectory(std::span<const std::byte> file);

  // The contents of the entry of that name. kNotFound: no archive, or no such entry. kUnsupported: the entry is
  // compressed or encrypted (writers of metadata store it plainly). kMalformedInput: the archive's sizes or offsets
  // point outside the file. Checksums are not verified.
  Result<std::span<const std::byte>> Find(std::string_view name) const;

 private:
  // Notes the entries up to a damage in the directory, which is the error.
  Status Read();
  Result<std::span<const std::byte>> ContentsOf(uint64_t record) const;

  std::span<const std::byte> file_;
  uint64_t base_ = 0;  // bytes before the archive; its offsets count from there
  // By name, the position of the record. A map and not a hash table, whose names a file could choose to collide.
  std::map<std::string_view, uint64_t> records_;
  Status why_missing_;  // of the names that are not in records_
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_ZIP_ENTRY_H_
