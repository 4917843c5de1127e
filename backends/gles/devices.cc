#include "backends/gles/devices.h"

#include "backends/gles/context.h"
#include "backends/gles/device.h"
#include "backends/gles/display.h"
#include "core/base/error.h"

namespace hearth::gles {
namespace {

DeviceCandidate Unusable(std::string name, const Status& why) {
  DeviceCandidate candidate{.backend = "gles", .name = std::move(name)};
  candidate.unusable_reason = why.message();
  return candidate;
}

// Opens the display for a moment, because only a context knows its renderer and version.
DeviceCandidate Probe(const DisplaySource& source, int index) {
  Result<std::unique_ptr<Context>> context = Context::Open(source);
  DeviceCandidate candidate;
  if (context.ok()) {
    const DeviceInfo& info = (*context)->facts().info;
    candidate = {
        .backend = "gles", .name = info.name, .driver = info.driver_version, .type = info.type, .usable = true};
  } else {
    candidate = Unusable(source.name, context.status());
    if (source.software) candidate.type = DeviceType::kCpu;
  }
  candidate.driver_index = index;
  return candidate;
}

bool AnyUsable(const std::vector<DeviceCandidate>& candidates) {
  for (const DeviceCandidate& candidate : candidates) {
    if (candidate.usable) return true;
  }
  return false;
}

}  // namespace

std::vector<DeviceCandidate> Enumerate(const DriverLibraries& libraries) {
  const Status opened = OpenDriver(libraries);
  if (!opened.ok()) return {Unusable("OpenGL ES", opened)};
  const std::vector<DisplaySource> sources = ListDisplays();
  std::vector<DeviceCandidate> candidates;
  for (size_t k = 0; k < sources.size(); ++k) {
    const bool is_device = sources[k].platform == DisplaySource::Platform::kDevice;
    if (!is_device && AnyUsable(candidates)) break;
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
  return std::unique_ptr<Device>(std::make_unique<GlesDevice>(std::move(context)));
}

Result<std::unique_ptr<Device>> OpenShared(const SharedContext& context) {
  const auto* shared = std::get_if<GlContext>(&context);
  if (shared == nullptr) return Error(StatusCode::kInvalidArgument, "the shared context is not an OpenGL ES context");
  HEARTH_TRY(OpenDriver());
  HEARTH_ASSIGN(std::unique_ptr<Context> own, Context::Share(*shared));
  return std::unique_ptr<Device>(std::make_unique<GlesDevice>(std::move(own)));
}

}  // namespace hearth::gles
