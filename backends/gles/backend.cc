#include "backends/gles/backend.h"

#include "backends/gles/context.h"
#include "backends/gles/device.h"
#include "backends/gles/display.h"
#include "backends/gles/driver_api.h"
#include "core/base/error.h"

namespace hearth {
namespace {

DeviceCandidate Unusable(std::string name, const Status& why) {
  DeviceCandidate candidate{.backend = "gles", .name = std::move(name)};
  candidate.unusable_reason = why.message();
  return candidate;
}

// Opens the display for a moment, because only a context knows its renderer and version.
DeviceCandidate Probe(const gles::DriverApi& api, const gles::DisplaySource& source, int index) {
  Result<std::unique_ptr<gles::Context>> context = gles::Context::Open(api, source);
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

std::vector<DeviceCandidate> EnumerateGlesFrom(const gles::DriverLibraries& libraries) {
  const Result<gles::DriverApi> api = gles::LoadDriverApi(libraries);
  if (!api.ok()) return {Unusable("OpenGL ES", api.status())};
  const std::vector<gles::DisplaySource> sources = gles::ListDisplays(api->egl);
  std::vector<DeviceCandidate> candidates;
  for (size_t k = 0; k < sources.size(); ++k) {
    const bool is_device = sources[k].platform == gles::DisplaySource::Platform::kDevice;
    if (!is_device && AnyUsable(candidates)) break;
    DeviceCandidate candidate = Probe(*api, sources[k], static_cast<int>(k));
    // A fallback display that does not work either is listed only if there was nothing before it.
    if (is_device || candidate.usable || candidates.empty()) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<DeviceCandidate> EnumerateGles() {
  return EnumerateGlesFrom({});
}

Result<std::unique_ptr<Device>> OpenGles(const DeviceCandidate& candidate) {
  if (!candidate.usable) return Status(StatusCode::kUnavailable, candidate.unusable_reason);
  HEARTH_ASSIGN(const gles::DriverApi api, gles::LoadDriverApi({}));
  const std::vector<gles::DisplaySource> sources = gles::ListDisplays(api.egl);
  if (candidate.driver_index < 0 || static_cast<size_t>(candidate.driver_index) >= sources.size()) {
    return Error(StatusCode::kUnavailable, "the OpenGL ES device '{}' is gone; list the devices again", candidate.name);
  }
  HEARTH_ASSIGN(std::unique_ptr<gles::Context> context,
                gles::Context::Open(api, sources[static_cast<size_t>(candidate.driver_index)], candidate.profile));
  return std::unique_ptr<Device>(std::make_unique<gles::GlesDevice>(std::move(context)));
}

Result<std::unique_ptr<Device>> OpenSharedGles(const SharedContext& context) {
  const auto* shared = std::get_if<GlContext>(&context);
  if (shared == nullptr) return Error(StatusCode::kInvalidArgument, "the shared context is not an OpenGL ES context");
  HEARTH_ASSIGN(const gles::DriverApi api, gles::LoadDriverApi({}));
  HEARTH_ASSIGN(std::unique_ptr<gles::Context> own, gles::Context::Share(api, *shared));
  return std::unique_ptr<Device>(std::make_unique<gles::GlesDevice>(std::move(own)));
}

}  // namespace hearth
