#include "runtime/devices/backends.h"

#include "backends/cpu/backend.h"
#ifdef HEARTH_WITH_GLES
#include "backends/gles/backend.h"
#endif
#ifdef HEARTH_WITH_OPENCL
#include "backends/opencl/backend.h"
#include "backends/opencl/pocl.h"
#endif
#ifdef HEARTH_WITH_VULKAN
#include "backends/vulkan/backend.h"
#endif
#include "hal/device/driver_files.h"

namespace hearth {
namespace {

template <typename Context>
bool Shares(const SharedContext& context) {
  return std::holds_alternative<Context>(context);
}

constexpr BackendDef kBackends[] = {
#ifdef HEARTH_WITH_VULKAN
    {"vulkan", EnumerateVulkan, OpenVulkan, OpenSharedVulkan, Shares<VulkanContext>, GiveMesaAFolder},
#endif
#ifdef HEARTH_WITH_OPENCL
    {"opencl", EnumerateOpenCl, OpenOpenCl, OpenSharedOpenCl, Shares<OpenClContext>, ChoosePoclFolder},
#endif
#ifdef HEARTH_WITH_GLES
    {"gles", EnumerateGles, OpenGles, OpenSharedGles, Shares<GlContext>, GiveMesaAFolder},
#endif
    {kHostBackend, EnumerateCpu, OpenCpu, nullptr, nullptr},
};

}  // namespace

std::span<const BackendDef> Backends() {
  return kBackends;
}

std::span<const BackendDef> GpuBackends() {
  return std::span(kBackends).first(std::size(kBackends) - 1);
}

std::vector<std::string> BackendNames() {
  std::vector<std::string> names;
  for (const BackendDef& backend : GpuBackends()) names.emplace_back(backend.name);
  return names;
}

const BackendDef* FindGpuBackend(std::string_view name) {
  for (const BackendDef& backend : GpuBackends()) {
    if (backend.name == name) return &backend;
  }
  return nullptr;
}

}  // namespace hearth
