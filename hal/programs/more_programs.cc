#include "hal/programs/more_programs.h"

#include <algorithm>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "hal/device/stopwatch.h"
#include "hal/programs/smaller_groups.h"

namespace hearth {

Status MorePrograms::Load(std::span<const KernelSource> sources, const std::stop_token& stop, SharedPrograms* held) {
  std::vector<KernelSource> missing;
  for (const KernelSource& source : sources) {
    if (Find(source) == nullptr && !Contains(missing, source)) missing.push_back(source);
  }
  if (missing.empty()) return Status::Ok();
  const Stopwatch watch;
  HEARTH_ASSIGN(LoadedPrograms loaded, LoadOrCompile(device_, missing, store_, threads_, stop, held));
  milliseconds_ += watch.milliseconds();
  if (is_stored_) {
    // The next save may be far off, so other processes should compile the programs themselves.
    for (FreshGroup& fresh : loaded.fresh) fresh.claim.reset();
  }
  programs_.push_back({std::move(missing), std::move(loaded)});
  return Status::Ok();
}

Program* MorePrograms::Find(const KernelSource& source) const {
  for (const Group& group : programs_) {
    const auto found = std::ranges::find(group.sources, source);
    if (found != group.sources.end()) return group.loaded.by_kernel[static_cast<size_t>(found - group.sources.begin())];
  }
  return nullptr;
}

Status MorePrograms::MakeKernel(const std::function<Result<BindingKernel>(const DeviceInfo& device)>& make,
                                BindingKernel& kernel, Program*& program) {
  DeviceInfo info = InfoAsCompiled(device_);
  return MakeInSmallerGroups(device_, info, [&]() -> Status {
    HEARTH_ASSIGN(kernel, make(info));
    HEARTH_TRY(Load({&kernel.source, 1}));
    program = Find(kernel.source);
    return Status::Ok();
  });
}

int MorePrograms::compiled() const {
  int compiled = 0;
  for (const Group& group : programs_) compiled += group.loaded.compiled;
  return compiled;
}

void MorePrograms::NoteRun(size_t count) {
  that_ran_ = std::max(that_ran_, count);
}

bool MorePrograms::HasMoreToStore() const {
  const auto end = programs_.begin() + static_cast<std::ptrdiff_t>(that_ran_);
  return store_ != nullptr &&
         std::any_of(programs_.begin(), end, [](const Group& group) { return !group.loaded.fresh.empty(); });
}

std::vector<std::string> MorePrograms::Store(const std::stop_token& stop) {
  is_stored_ = true;
  std::vector<std::string> warnings;
  for (size_t k = 0; store_ != nullptr && k < programs_.size(); ++k) {
    LoadedPrograms& loaded = programs_[k].loaded;
    if (k >= that_ran_) {
      for (FreshGroup& fresh : loaded.fresh) fresh.claim.reset();
      continue;
    }
    std::vector<std::string> more = StoreFreshPrograms(loaded, *store_, stop);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  return warnings;
}

bool MorePrograms::RejectLoaded(std::string_view reason) {
  bool any = false;
  for (Group& group : programs_) {
    const std::vector<CacheKey> keys = std::exchange(group.loaded.loaded_keys, {});
    if (keys.empty()) continue;
    store_->Reject(keys, reason);
    any = true;
  }
  return any;
}

}  // namespace hearth
