#include "cache/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cache/held_signal.h"
#include "core/base/error.h"

namespace hearth {

Status WriteAll(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& file) {
  const HeldSizeSignal held;
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Error(StatusCode::kIoError, "can't write {}: {}", file.string(), std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return Status::Ok();
}

}  // namespace hearth
