#include "hal/io/hardware_buffer.h"

#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "hal/device/loader_names.h"
#include "hal/io/frame_layout.h"

namespace hearth {
namespace {

// AHardwareBuffer_Format and AHardwareBuffer_UsageFlags.
enum : uint32_t { kFormatRgba8 = 1, kFormatRgbx8 = 2, kFormatRgb8 = 3, kFormatYuv420 = 0x23 };
constexpr uint64_t kReadByCpuOften = 3;

HardwareBufferApi LoadApi() {
  HardwareBufferApi api;
  Result<DynamicLibrary> library = DynamicLibrary::Open(LoaderNamesOn(ThisSystem()).hardware_buffers);
  if (!library.ok()) return api;
  const auto find = [&]<typename Function>(const char* name, Function& function) {
    function = library->Symbol<Function>(name);
  };
  find("AHardwareBuffer_acquire", api.acquire);
  find("AHardwareBuffer_release", api.release);
  find("AHardwareBuffer_describe", api.describe);
  find("AHardwareBuffer_lock", api.lock);
  find("AHardwareBuffer_lockPlanes", api.lock_planes);
  find("AHardwareBuffer_unlock", api.unlock);
  library->Leak();
  return api;
}

bool Holds(uint32_t format, PixelFormat pixels) {
  switch (format) {
    case kFormatRgba8:
    case kFormatRgbx8: return pixels == PixelFormat::kRgba8;
    case kFormatRgb8: return pixels == PixelFormat::kRgb8;
    case kFormatYuv420: return pixels >= PixelFormat::kNv12;
    default: return false;
  }
}

class HardwareBufferFrame final : public ExternalFrame {
 public:
  HardwareBufferFrame(const HardwareBufferApi& api, const Frame& frame)
      : ExternalFrame(frame), api_(api), buffer_(reinterpret_cast<AHardwareBuffer*>(frame.planes[0].handle)) {
    api_.acquire(buffer_);
  }
  ~HardwareBufferFrame() override {
    EndReading();
    api_.release(buffer_);
  }

  Status Check() {
    api_.describe(buffer_, &desc_);
    if (desc_.width != static_cast<uint32_t>(frame_.width) || desc_.height != static_cast<uint32_t>(frame_.height)) {
      return Error(StatusCode::kInvalidArgument, "the AHardwareBuffer is {}x{}, but the frame says {}x{}", desc_.width,
                   desc_.height, frame_.width, frame_.height);
    }
    if (Holds(desc_.format, frame_.format)) return Status::Ok();
    return Error(StatusCode::kInvalidArgument,
                 "the AHardwareBuffer has the format 0x{:x}, which is not the frame's; RGBA8, RGB8 and 8-bit 4:2:0 can "
                 "be read",
                 desc_.format);
  }

  Result<Frame> OnHost() override {
    is_read_by_host_ = true;
    if (is_locked_) return host_;
    // The addresses are known while the buffer is locked.
    HEARTH_TRY(Lock());
    EndReading();
    return host_;
  }

  // Locking waits for the producer.
  Status BeginReading(std::chrono::milliseconds /*limit*/) override {
    return is_read_by_host_ && !is_locked_ ? Lock() : Status::Ok();
  }

  void EndReading() override {
    if (is_locked_) api_.unlock(buffer_, nullptr);
    is_locked_ = false;
  }

 private:
  Status Lock() {
    host_ = frame_;
    host_.memory = MemoryKind::kHost;
    const bool is_yuv = desc_.format == kFormatYuv420;
    if (is_yuv && api_.lock_planes == nullptr)
      return Error(StatusCode::kUnsupported, "this Android can't give planes to the CPU; API level 29 can");
    HardwareBufferPlanes planes = {1, {}};
    const int code = is_yuv ? api_.lock_planes(buffer_, kReadByCpuOften, -1, nullptr, &planes)
                            : api_.lock(buffer_, kReadByCpuOften, -1, nullptr, &planes.planes[0].data);
    if (code != 0) {
      return Error(
          StatusCode::kUnsupported,
          "the CPU can't lock the AHardwareBuffer (error {}); make it with AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN", code);
    }
    is_locked_ = true;
    const Status placed = is_yuv ? PlaceYuv(planes) : PlacePixels(planes.planes[0].data);
    if (!placed.ok()) EndReading();
    return placed;
  }

  Status PlacePixels(const void* address) {
    Place(0, address, uint64_t{desc_.stride} * PlaneSizes(frame_)[0].element_bytes);
    return Status::Ok();
  }

  // Planes of U and V, or one plane of pairs that starts with either.
  Status PlaceYuv(const HardwareBufferPlanes& given) {
    if (given.count != 3 || given.planes[0].pixel_stride != 1)
      return Error(StatusCode::kUnsupported, "the AHardwareBuffer's planes of Y, U and V lie in an unknown way");
    const auto address = [&](size_t k) { return static_cast<const std::byte*>(given.planes[k].data); };
    const uint32_t step = given.planes[1].pixel_stride;
    size_t pairs = 1;
    if (step == 1 && given.planes[2].pixel_stride == 1) {
      host_.format = PixelFormat::kI420;
    } else if (step == 2 && address(2) == address(1) + 1) {
      host_.format = PixelFormat::kNv12;
    } else if (step == 2 && address(1) == address(2) + 1) {
      host_.format = PixelFormat::kNv21;
      pairs = 2;
    } else {
      return Error(StatusCode::kUnsupported, "the AHardwareBuffer's U and V are {} bytes apart, which no format has",
                   step);
    }
    Place(0, address(0), given.planes[0].row_stride);
    Place(1, address(pairs), given.planes[pairs].row_stride);
    if (host_.format == PixelFormat::kI420) Place(2, address(2), given.planes[2].row_stride);
    return Status::Ok();
  }

  void Place(size_t k, const void* address, uint64_t pitch_bytes) {
    const PlaneSize size = PlaneSizes(host_)[k];
    host_.planes[k] = {.handle = reinterpret_cast<uintptr_t>(address),
                       .size_bytes = (size.rows - 1) * pitch_bytes + size.row_bytes(),
                       .row_pitch_bytes = pitch_bytes};
  }

  const HardwareBufferApi& api_;
  AHardwareBuffer* buffer_;
  HardwareBufferDesc desc_{};
  Frame host_;
  bool is_read_by_host_ = false, is_locked_ = false;
};

}  // namespace

HardwareBufferApi& TheHardwareBufferApi() {
  static HardwareBufferApi api = LoadApi();
  return api;
}

Result<std::shared_ptr<ExternalFrame>> OpenHardwareBuffer(const Frame& frame) {
  const HardwareBufferApi& api = TheHardwareBufferApi();
  if (!api.is_complete())
    return Error(StatusCode::kUnsupported, "this system has no AHardwareBuffer; Android has it from API level 26 on");
  if (frame.width < 1 || frame.height < 1)
    return Error(StatusCode::kInvalidArgument, "a frame of {}x{} pixels", frame.width, frame.height);
  auto opened = std::make_shared<HardwareBufferFrame>(api, frame);
  HEARTH_TRY(opened->Check());
  return std::shared_ptr<ExternalFrame>(std::move(opened));
}

}  // namespace hearth
