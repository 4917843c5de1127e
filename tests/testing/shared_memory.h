// Anonymous memory with a file descriptor, in place of a dma-buf: drivers and Hearth take it the same way.
#ifndef HEARTH_TESTS_TESTING_SHARED_MEMORY_H_
#define HEARTH_TESTS_TESTING_SHARED_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include "core/base/numbers.h"

namespace hearth::testing {

// Of whole pages, as dma-bufs are.
class SharedMemory {
 public:
  explicit SharedMemory(std::span<const std::byte> bytes) : size_bytes_(RoundUp(bytes.size(), 4096)) {
    descriptor_ = ::memfd_create("frame", MFD_CLOEXEC);
    if (::ftruncate(descriptor_, static_cast<off_t>(size_bytes_)) == 0) Write(bytes);
  }
  ~SharedMemory() { Close(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void Write(std::span<const std::byte> bytes) const {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), 0);
    if (written != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  void Shrink() const {
    if (::ftruncate(descriptor_, 1) != 0) std::abort();
  }
  void Close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  uint64_t descriptor() const { return static_cast<uint64_t>(descriptor_); }
  uint64_t size_bytes() const { return size_bytes_; }

  // The process's open descriptors of such memory, duplicates included. Those of other files are not counted: a
  // driver's threads open and close files at any time.
  static size_t CountOpen() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      count += std::filesystem::read_symlink(entry.path(), error).string().starts_with("/memfd:frame") ? 1 : 0;
    }
    return count;
  }

 private:
  uint64_t size_bytes_;
  int descriptor_ = -1;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SHARED_MEMORY_H_
