#include "backends/gles/module.h"

#include <algorithm>

#include "backends/gles/buffer.h"
#include "backends/gles/context.h"
#include "backends/gles/display.h"
#include "backends/gles/executable.h"
#include "backends/gles/program.h"
#include "backends/gles/texture.h"
#include "core/base/error.h"

namespace hearth::gles {
namespace {

// hal/device/device.h over one GL context. Every call may come from any thread. The work, and the callbacks of Write
// and Read, run on the context's own thread, one call after the other.
class GlesDevice final : public Device {
 public:
  explicit GlesDevice(std::unique_ptr<Context> context) : Device(context->facts().info), context_(std::move(context)) {}
  ~GlesDevice() override { Context::Close(std::move(context_)); }

  bool takes_binaries() const override { return context_->facts().takes_binaries(); }

 private:
  void DoSetWaitLimit(std::chrono::nanoseconds limit) override { context_->submissions().wait_limit().Set(limit); }
  Result<std::unique_ptr<Buffer>> DoCreateBuffer(uint64_t size_bytes) override {
    return GlesBuffer::Create(*context_, size_bytes);
  }
  Result<std::unique_ptr<Buffer>> DoImportBuffer(const NativeMemory& memory) override {
    if (memory.kind == MemoryKind::kGlTexture) return GlesTexture::Import(*context_, memory);
    if (IsExternal(memory.kind)) return GlesTexture::ImportExternal(*context_, memory);
    if (memory.kind == MemoryKind::kGlBuffer) return GlesBuffer::Import(*context_, memory);
    return Error(StatusCode::kUnsupported,
                 "OpenGL ES imports only GL buffers, GL textures, dma-bufs and AHardwareBuffers");
  }
  Status DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                 const std::function<Status(std::span<std::byte>)>& fill) override {
    return static_cast<GlesBuffer&>(buffer).Write(offset_bytes, size_bytes, fill);
  }
  Status DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                const std::function<Status(std::span<const std::byte>)>& view) override {
    return static_cast<const GlesBuffer&>(buffer).Read(offset_bytes, size_bytes, view);
  }
  Result<std::unique_ptr<ProgramGroup>> DoCompile(std::span<const KernelSource> sources) override {
    return GlesProgramGroup::Compile(*context_, sources);
  }
  Result<std::unique_ptr<ProgramGroup>> DoLoad(std::span<const KernelSource> sources,
                                               std::span<const std::byte> binary) override {
    return GlesProgramGroup::Load(*context_, sources, binary);
  }
  Result<std::unique_ptr<Executable>> DoPrepare(const CommandList& commands) override {
    return GlesExecutable::Prepare(*context_, commands);
  }

  std::unique_ptr<Context> context_;
};

// Opens the display for a moment, because only a context knows its renderer and version.
DeviceCandidate Probe(const DisplaySource& source, int index) {
  const Result<std::unique_ptr<Context>> context = Context::Open(source);
  if (context.ok()) return CandidateOf((*context)->facts().info, "", index);
  return {.backend = "gles",
          .name = source.name,
          .type = source.software ? DeviceType::kCpu : DeviceType::kOther,
          .unusable_reason = context.status().message(),
          .driver_index = index};
}

std::vector<DeviceCandidate> Enumerate(const LoaderNames& names) {
  const Status opened = OpenDriver(names);
  if (!opened.ok()) return {{.backend = "gles", .name = "OpenGL ES", .unusable_reason = opened.message()}};
  const std::vector<DisplaySource> sources = ListDisplays();
  std::vector<DeviceCandidate> candidates;
  for (size_t k = 0; k < sources.size(); ++k) {
    const bool is_device = sources[k].platform == DisplaySource::Platform::kDevice;
    if (!is_device && std::ranges::any_of(candidates, &DeviceCandidate::usable)) break;
    DeviceCandidate candidate = Probe(sources[k], static_cast<int>(k));
    // A fallback display that does not work either is listed only if there was nothing before it.
    if (is_device || candidate.usable || candidates.empty()) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Result<std::unique_ptr<Device>> Open(const DeviceCandidate& candidate) {
  if (!candidate.usable) return Status(StatusCode::kUnavailable, candidate.unusable_reason);
  HEARTH_TRY(OpenDriver());
  const std::vector<DisplaySource> sources = ListDisplays();
  if (candidate.driver_index < 0 || static_cast<size_t>(candidate.driver_index) >= sources.size()) {
    return Error(StatusCode::kUnavailable, "the OpenGL ES device '{}' is gone; list the devices again", candidate.name);
  }
  HEARTH_ASSIGN(std::unique_ptr<Context> context,
                Context::Open(sources[static_cast<size_t>(candidate.driver_index)], candidate.profile));
  return std::make_unique<GlesDevice>(std::move(context));
}

Result<std::unique_ptr<Device>> OpenShared(const SharedContext& context) {
  const auto* shared = std::get_if<GlContext>(&context);
  if (shared == nullptr) return Error(StatusCode::kInvalidArgument, "the shared context is not an OpenGL ES context");
  HEARTH_TRY(OpenDriver());
  HEARTH_ASSIGN(std::unique_ptr<Context> own, Context::Share(*shared));
  return std::make_unique<GlesDevice>(std::move(own));
}

}  // namespace
}  // namespace hearth::gles

const hearth::gles::Module* hearth_gles_module() {
  static constexpr hearth::gles::Module kModule = {hearth::gles::Enumerate, hearth::gles::Open,
                                                   hearth::gles::OpenShared};
  return &kModule;
}

const char* hearth_gles_module_sources() {
  return hearth::kGlesModuleSources.data();  // of a literal, which ends with a zero
}
