#include "frontends/engine/backends.h"

#include <array>

#ifdef HEARTH_WITH_GLES
#include "backends/gles/backend.h"
#endif
#ifdef HEARTH_WITH_OPENCL
#include "backends/opencl/backend.h"
#endif
#ifdef HEARTH_WITH_VULKAN
#include "backends/vulkan/backend.h"
#endif

namespace hearth {
namespace {

constexpr BackendDef kGpuBackends[] = {
#ifdef HEARTH_WITH_VULKAN
    {BackendKind::kVulkan, EnumerateVulkan, OpenVulkan, OpenSharedVulkan},
#endif
#ifdef HEARTH_WITH_OPENCL
    {BackendKind::kOpenCl, EnumerateOpenCl, OpenOpenCl, OpenSharedOpenCl},
#endif
#ifdef HEARTH_WITH_GLES
    {BackendKind::kGles, EnumerateGles, OpenGles, OpenSharedGles},
#endif
    {BackendKind::kNull, nullptr, nullptr, nullptr},  // keeps the array legal in a build without GPU backends
};

}  // namespace

std::span<const BackendDef> GpuBackends() {
  return std::span(kGpuBackends).first(std::size(kGpuBackends) - 1);
}

const BackendDef* FindGpuBackend(std::string_view name) {
  for (const BackendDef& backend : GpuBackends()) {
    if (BackendName(backend.kind) == name) return &backend;
  }
  return nullptr;
}

}  // namespace hearth
