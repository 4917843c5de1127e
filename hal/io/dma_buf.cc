#include "hal/io/dma_buf.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "hal/io/frame_layout.h"
#include "hal/io/hardware_buffer.h"

#if __has_include(<linux/dma-buf.h>)
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#endif

namespace hearth {
namespace {

constexpr uint64_t kUnknownModifier = 0x00ffffffffffffff;  // DRM_FORMAT_MOD_INVALID

// A descriptor of its own for memory that a program lent, and the memory's mapping once the host reads it.
class ExternalMemory {
 public:
  ExternalMemory() = default;
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;
  ~ExternalMemory() {
    if (address_ != nullptr) ::munmap(address_, size_bytes_);
  }

  bool is_open() const { return descriptor_.is_open(); }
  void Close() { descriptor_ = Descriptor(); }

  Status Duplicate(uint64_t handle) {
    const int lent = handle <= INT_MAX ? static_cast<int>(handle) : -1;
    descriptor_ = Descriptor(::fcntl(lent, F_DUPFD_CLOEXEC, 3));  // 0 means none
    if (!is_open()) {
      return Error(StatusCode::kInvalidArgument, "{} is no open file descriptor ({}); give that of a dma-buf", handle,
                   std::strerror(errno));
    }
    HEARTH_ASSIGN(size_bytes_, CurrentSize());
    return Status::Ok();
  }

  int descriptor() const { return descriptor_.get(); }
  uint64_t size_bytes() const { return size_bytes_; }

  // Whether both are one dma-buf. Before Linux 5.3 dma-bufs have one inode together, so that nothing tells.
  bool Is(const ExternalMemory& other) const {
#if __has_include(<linux/dma-buf.h>)
    constexpr auto kAnonymousInodes = 0x09041934;
    struct statfs system = {};
    if (::fstatfs(descriptor(), &system) != 0 || system.f_type == kAnonymousInodes) return false;
#endif
    struct stat a = {}, b = {};
    return ::fstat(descriptor(), &a) == 0 && ::fstat(other.descriptor(), &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
  }

  Status Map() {
    if (address_ != nullptr) return Status::Ok();
    void* address = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_SHARED, descriptor(), 0);
    if (address == MAP_FAILED) {
      return Error(StatusCode::kUnsupported, "the host can't map the dma-buf of {} bytes: {}", size_bytes_,
                   std::strerror(errno));
    }
    address_ = address;
    return Status::Ok();
  }
  uint64_t address() const {
    return reinterpret_cast<uintptr_t>(address_);
  }

  // Access beyond the end of memory that became smaller would end the process.
  Status CheckSize() const {
    HEARTH_ASSIGN(const uint64_t size_bytes, CurrentSize());
    if (size_bytes >= size_bytes_) return Status::Ok();
    return Error(StatusCode::kInvalidArgument, "the frame's memory had {} bytes when it was bound, and has {} now",
                 size_bytes_, size_bytes);
  }

  // Makes the device's writes visible to the host. Memory that is no dma-buf needs nothing.
  Status Synchronize([[maybe_unused]] bool is_begin) const {
#ifdef DMA_BUF_IOCTL_SYNC
    if (address_ == nullptr) return Status::Ok();
    dma_buf_sync sync = {};
    sync.flags = DMA_BUF_SYNC_READ | (is_begin ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END);
    int result = 0;
    do {
      result = ::ioctl(descriptor(), DMA_BUF_IOCTL_SYNC, &sync);
    } while (result != 0 && (errno == EINTR || errno == EAGAIN));
    if (result != 0 && errno != ENOTTY && errno != EINVAL)
      return Error(StatusCode::kIoError, "the host can't read the dma-buf: {}", std::strerror(errno));
#endif
    return Status::Ok();
  }

 private:
  // The size of a dma-buf is where its end is: stat of old kernels has 0.
  Result<uint64_t> CurrentSize() const {
    struct stat facts = {};
    const bool is_file = ::fstat(descriptor(), &facts) == 0 && !S_ISDIR(facts.st_mode) && !S_ISCHR(facts.st_mode) &&
                         !S_ISFIFO(facts.st_mode) && !S_ISSOCK(facts.st_mode);
    off_t end = is_file ? facts.st_size : -1;
    if (is_file && end == 0) {
      end = ::lseek(descriptor(), 0, SEEK_END);
      ::lseek(descriptor(), 0, SEEK_SET);
    }
    if (end > 0) return static_cast<uint64_t>(end);
    return Error(StatusCode::kInvalidArgument, "the file descriptor is that of no memory; give that of a dma-buf");
  }

  Descriptor descriptor_;
  uint64_t size_bytes_ = 0;
  void* address_ = nullptr;
};

class DmaBufFrame final : public ExternalFrame {
 public:
  explicit DmaBufFrame(const Frame& frame) : ExternalFrame(frame) {}

  // Replaces the handles by own ones, equal for planes in one dma-buf, and fills in the sizes.
  Status Adopt() {
    if (frame_.drm_modifier == kUnknownModifier) {
      return Error(StatusCode::kInvalidArgument,
                   "the modifier is DRM_FORMAT_MOD_INVALID: ask the producer for the real one, or for a linear buffer");
    }
    // Memory in tiles may have more planes than the format, such as one of compression data.
    const size_t count = IsInTexels(frame_) ? frame_.planes.size() : PlaneSizes(frame_).size();
    for (size_t k = 0; k < frame_.planes.size(); ++k) {
      if (k >= count) frame_.planes[k] = {};
      if (frame_.planes[k].handle != 0) HEARTH_TRY(AdoptPlane(k).Within(fmt::format("plane {}", k)));
      if (IsInTexels(frame_)) HEARTH_TRY(CheckBegin(k).Within(fmt::format("plane {}", k)));
    }
    return Status::Ok();
  }

  Result<Frame> OnHost() override {
    if (IsInTexels(frame_)) {
      return Error(StatusCode::kUnsupported,
                   "the host can't read a dma-buf with the modifier 0x{:x}, only a linear one", frame_.drm_modifier);
    }
    for (ExternalMemory& memory : memories_) {
      if (memory.is_open()) HEARTH_TRY(memory.Map());
    }
    Frame host = frame_;
    host.memory = MemoryKind::kHost;
    for (FramePlane& plane : host.planes) {
      if (plane.handle != 0) plane.handle = MemoryWith(plane.handle).address();
    }
    return host;
  }

  Status BeginReading(std::chrono::milliseconds limit) override {
    for (const ExternalMemory& memory : memories_) {
      if (!memory.is_open()) continue;
      HEARTH_TRY(memory.CheckSize());
      HEARTH_TRY(WaitForProducer(memory, limit));
      HEARTH_TRY(memory.Synchronize(true));
    }
    return Status::Ok();
  }

  void EndReading() override {
    for (const ExternalMemory& memory : memories_) (void)memory.Synchronize(false);
  }

 private:
  Status AdoptPlane(size_t k) {
    FramePlane& plane = frame_.planes[k];
    ExternalMemory& own = memories_[k];
    HEARTH_TRY(own.Duplicate(plane.handle));
    if (plane.size_bytes > own.size_bytes()) {
      return Error(StatusCode::kInvalidArgument, "the dma-buf has {} bytes, but the frame says {}", own.size_bytes(),
                   plane.size_bytes);
    }
    plane.size_bytes = own.size_bytes();
    if (k > 0 && memories_[0].Is(own)) own.Close();
    plane.handle = static_cast<uint64_t>((own.is_open() ? own : memories_[0]).descriptor());
    return Status::Ok();
  }

  // Only a driver knows where memory in tiles ends.
  Status CheckBegin(size_t k) const {
    const FramePlane& plane = frame_.planes[k];
    const uint64_t size_bytes = (memories_[k].is_open() ? memories_[k] : memories_[0]).size_bytes();
    if (plane.offset_bytes < size_bytes && plane.row_pitch_bytes <= size_bytes) return Status::Ok();
    return Error(StatusCode::kInvalidArgument,
                 "the offset ({}) or the row pitch ({}) is not inside the dma-buf of {} bytes", plane.offset_bytes,
                 plane.row_pitch_bytes, size_bytes);
  }

  const ExternalMemory& MemoryWith(uint64_t handle) const {
    return *std::ranges::find_if(
        memories_, [&](const ExternalMemory& memory) { return static_cast<uint64_t>(memory.descriptor()) == handle; });
  }

  // A dma-buf becomes readable when its producer's fence is signaled.
  static Status WaitForProducer(const ExternalMemory& memory, std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + limit;
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      const int timeout = limit.count() == 0 ? -1 : static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
      pollfd waited{memory.descriptor(), POLLIN, 0};
      const int count = ::poll(&waited, 1, timeout);
      if (count > 0) return Status::Ok();
      if (count < 0 && errno != EINTR)
        return Error(StatusCode::kIoError, "waiting for the frame's producer failed: {}", std::strerror(errno));
      if (count == 0 && left <= 0) {
        return Error(StatusCode::kResourceExhausted,
                     "the frame's producer did not finish writing within {} ms; wait_limit_ms sets a longer limit",
                     limit.count());
      }
    }
  }

  std::array<ExternalMemory, 3> memories_;  // by plane; not open: in the first one
};

// See OpenExternalFrame. A memfd is taken too.
Result<std::shared_ptr<ExternalFrame>> OpenDmaBuf(const Frame& frame) {
  auto opened = std::make_shared<DmaBufFrame>(frame);
  HEARTH_TRY(opened->Adopt());
  return std::shared_ptr<ExternalFrame>(std::move(opened));
}

}  // namespace

Result<Descriptor> DescriptorForDriver(uint64_t descriptor) {
  Descriptor duplicate(::fcntl(static_cast<int>(descriptor), F_DUPFD_CLOEXEC, 0));
  if (duplicate.is_open()) return duplicate;
  return Error(StatusCode::kResourceExhausted, "no file descriptor is left: {}", std::strerror(errno));
}

uint32_t DrmFormatOf(PixelFormat format) {
  const auto code = [](const char(&name)[5]) {
    uint32_t value = 0;
    for (int k = 0; k < 4; ++k) value |= static_cast<uint32_t>(static_cast<unsigned char>(name[k])) << (8 * k);
    return value;
  };
  switch (format) {
    case PixelFormat::kRgba8: return code("AB24");
    case PixelFormat::kBgra8: return code("AR24");
    case PixelFormat::kRgb8: return code("BG24");
    case PixelFormat::kNv12: return code("NV12");
    case PixelFormat::kNv21: return code("NV21");
    default: return code("YU12");
  }
}

Result<std::shared_ptr<ExternalFrame>> OpenExternalFrame(const Frame& frame) {
  if (frame.format > PixelFormat::kI420)
    return Error(StatusCode::kInvalidArgument, "the frame's format is not one that hearth/frame.h lists");
  if (frame.planes[0].handle == 0) return Error(StatusCode::kInvalidArgument, "the frame's first plane has no memory");
  return frame.memory == MemoryKind::kDmaBuf ? OpenDmaBuf(frame) : OpenHardwareBuffer(frame);
}

}  // namespace hearth
