#include "hal/programs/program_keys.h"

#include <array>
#include <string>
#include <variant>

#include "core/base/text.h"
#include "core/device/device_rules.h"

namespace hearth {
namespace {

// PoCL 3.1 makes separate machine code for grids with fewer work items in each dimension, whose indices fit 16 bits.
constexpr uint64_t kLargeGridItems = 65535;

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

KernelTexts KernelTextsOf(std::span<const KernelSource> sources, const DeviceInfo& info,
                          std::span<const GridClasses> grids) {
  KernelTexts texts;
  for (size_t k = 0; k < sources.size(); ++k) {
    const std::string text = Emit(sources[k], info.dialect);
    texts.push_back({sources[k].name, NameByHash(BytesOf(text)), grids.empty() ? GridClasses{0} : grids[k]});
  }
  return texts;
}

void AddToKey(CacheKey& key, const KernelTexts& texts) {
  for (const KernelText& text : texts) {
    key.Add(kKernelField.name, text.name).Add(kTextField.name, text.content);
    if (text.grids != 0) key.Add(kGridsField.name, int64_t{text.grids});
  }
}

std::optional<SharedProgram> SharedPrograms::Find(const KernelSource& source) const {
  const std::scoped_lock lock(mutex_);
  for (const std::weak_ptr<ProgramGroup>& held : groups_) {
    std::shared_ptr<ProgramGroup> group = held.lock();
    if (group == nullptr) continue;
    for (const std::unique_ptr<Program>& program : group->programs()) {
      if (program->source() == source) return SharedProgram{std::move(group), program.get()};
    }
  }
  return std::nullopt;
}

void SharedPrograms::Add(const std::shared_ptr<ProgramGroup>& group) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(groups_, [](const std::weak_ptr<ProgramGroup>& held) { return held.expired(); });
  groups_.push_back(group);
}

}  // namespace hearth
