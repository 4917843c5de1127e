#include "hal/program_keys.h"

#include <array>
#include <string>
#include <variant>

#include "core/base/text.h"
#include "core/device/device_rules.h"
#include "core/plan/key_fields.h"

namespace hearth {
namespace {

// PoCL 3.1 makes separate machine code for grids with fewer work items in each dimension, whose indices fit 16 bits.
constexpr uint64_t kLargeGridItems = 65535;

void AddText(CacheKey& key, const KernelSource& source, Dialect dialect) {
  const std::string text = Emit(source, dialect);
  key.Add(kKernelField.name, source.name).AddContent(kTextField.name, BytesOf(text));
}

}  // namespace

std::vector<GridClasses> GridClassesOf(const Plan& plan, const DeviceInfo& info) {
  if (!Applies(Rule::kGridClasses, info)) return {};
  std::vector<GridClasses> grids(plan.kernels.size());
  for (const Dispatch& dispatch : plan.dispatches) {
    const std::array<uint32_t, 3>& local_size = plan.kernels[dispatch.kernel].local_size;
    bool is_large = false;
    for (size_t d = 0; d < 3; ++d) {
      is_large |= uint64_t{dispatch.group_count[d]} * local_size[d] >= kLargeGridItems;
    }
    grids[dispatch.kernel] |= is_large ? kLargeGrids : kSmallGrids;
  }
  return grids;
}

CacheKey ProgramKey(std::span<const KernelSource> sources, const DeviceInfo& info, std::span<const GridClasses> grids) {
  CacheKey key(BlobKind::kProgram);
  AddDevice(key, info, DevicePart::kIdentity);
  if (info.binary_cpus != 0) key.Add(kCpusField.name, info.binary_cpus);
  for (size_t k = 0; k < sources.size(); ++k) {
    AddText(key, sources[k], info.dialect);
    if (!grids.empty()) key.Add(kGridsField.name, int64_t{grids[k]});
  }
  return key;
}

CacheKey SourceKey(std::span<const KernelSource> sources, const DeviceInfo& info, std::string_view compiler) {
  CacheKey key(BlobKind::kSource);
  key.Add(kCompilerField.name, compiler);
  for (const KernelSource& source : sources) AddText(key, source, info.dialect);
  return key;
}

}  // namespace hearth
