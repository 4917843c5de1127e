#include "hal/programs/load_or_compile.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/threads.h"
#include "core/store/entry_links.h"
#include "hal/device/stopping.h"
#include "hal/programs/program_set.h"

namespace hearth {
namespace {

// The programs of `sources` that `held` has.
std::vector<std::optional<SharedProgram>> HeldOf(const Device& device, std::span<const KernelSource> sources,
                                                 const SharedPrograms* held) {
  std::vector<std::optional<SharedProgram>> found(sources.size());
  if (held == nullptr) return found;
  std::ranges::transform(sources, found.begin(), [&](const KernelSource& source) { return held->Find(source); });
  const bool are_together = device.info().compile_grouping == CompileGrouping::kTogether;
  if (are_together && !std::ranges::all_of(found, &std::optional<SharedProgram>::has_value))
    found.assign(sources.size(), std::nullopt);
  return found;
}

// What is stored under the group's key: its binary, without the portable part where that is an entry of its own.
Result<std::vector<std::byte>> EntryOf(const FreshGroup& fresh) {
  if (!fresh.portable) return fresh.group->Binary();
  HEARTH_ASSIGN(const std::vector<std::byte> driver_part, fresh.group->DriverPart());
  return ToBytes(LinkedEntry{{fresh.portable->key}, driver_part});
}

void Add(ProgramSet set, LoadedPrograms& programs) {
  programs.by_kernel.insert(programs.by_kernel.end(), set.by_kernel.begin(), set.by_kernel.end());
  programs.compiled += set.compiled;
  programs.loaded += static_cast<int>(set.by_kernel.size()) - set.compiled;
  std::ranges::move(set.loaded_keys, std::back_inserter(programs.loaded_keys));
  if (set.fresh) programs.fresh.push_back(*std::move(set.fresh));
  for (std::unique_ptr<ProgramGroup>& group : set.groups) {
    programs.spirv_compiled += group->spirv_compiled();
    programs.groups.push_back(std::move(group));
  }
}

Result<LoadedPrograms> LoadOrCompileAll(Device& device, std::span<const KernelSource> sources,
                                        std::span<const GridClasses> grids, ResultCache* cache, int threads,
                                        const std::stop_token& stop, bool all_anew) {
  LoadedPrograms programs;
  if (sources.empty()) return programs;
  const bool is_one = device.info().compile_grouping == CompileGrouping::kTogether;
  const size_t step = is_one ? sources.size() : 1;
  std::vector<std::optional<Result<ProgramSet>>> sets(sources.size() / step);
  std::atomic<size_t> next = 0;
  const auto work_off = [&] {
    for (size_t k = next++; k < sets.size() && !stop.stop_requested(); k = next++) {
      const std::span<const GridClasses> its_grids = grids.empty() ? grids : grids.subspan(k * step, step);
      sets[k].emplace(GetPrograms(device, sources.subspan(k * step, step), its_grids, cache, all_anew));
    }
    return Status::Ok();
  };
  std::deque<WorkBeside> helpers;
  for (int t = 1; t < threads && t < static_cast<int>(sets.size()); ++t) helpers.emplace_back(work_off);
  HEARTH_TRY(work_off());
  for (WorkBeside& helper : helpers) HEARTH_TRY(helper.Join());

  if (stop.stop_requested()) return Stopped();
  for (std::optional<Result<ProgramSet>>& made : sets) {
    HEARTH_ASSIGN(ProgramSet set, *std::move(made));
    if (cache == nullptr) set.fresh.reset();
    Add(std::move(set), programs);
  }
  HEARTH_CHECK(programs.by_kernel.size() == sources.size());
  return programs;
}

}  // namespace

Status NoBinaries(std::string_view device_name) {
  return Error(StatusCode::kIoError, "{} has no program binaries, so every start compiles its programs", device_name);
}

Result<LoadedPrograms> LoadOrCompile(Device& device, std::span<const KernelSource> sources, ResultCache* cache,
                                     int threads, const std::stop_token& stop, SharedPrograms* held, bool all_anew,
                                     std::span<const GridClasses> grids) {
  if (!device.takes_binaries()) {
    if (cache != nullptr) Log(LogLevel::kDebug, NoBinaries(device.info().name).message());
    cache = nullptr;
  }
  const std::vector<std::optional<SharedProgram>> found = HeldOf(device, sources, held);
  std::vector<KernelSource> missing;
  std::vector<GridClasses> missing_grids;
  for (size_t k = 0; k < sources.size(); ++k) {
    if (found[k]) continue;
    missing.push_back(sources[k]);
    if (!grids.empty()) missing_grids.push_back(grids[k]);
  }
  HEARTH_ASSIGN(LoadedPrograms programs,
                LoadOrCompileAll(device, missing, missing_grids, cache, threads, stop, all_anew));
  if (held != nullptr) {
    for (const std::shared_ptr<ProgramGroup>& group : programs.groups) held->Add(group);
  }
  std::vector<Program*> by_kernel;
  size_t next_made = 0;
  for (const std::optional<SharedProgram>& program : found) {
    by_kernel.push_back(program ? program->program : programs.by_kernel[next_made++]);
    if (program) programs.groups.push_back(program->group);
    if (program) ++programs.held;
  }
  programs.by_kernel = std::move(by_kernel);
  return programs;
}

std::vector<std::string> StoreFreshPrograms(LoadedPrograms& programs, ResultCache& cache, const std::stop_token& stop) {
  const PutBatch batch(&cache);
  std::vector<std::string> warnings;
  std::vector<FreshGroup> left;  // to be read when less runs
  for (FreshGroup& fresh : programs.fresh) {
    if (stop.stop_requested()) break;
    // Also if it was loaded: it may have come from a layer, which later starts and the server's users lack.
    if (fresh.portable) cache.Put({fresh.portable->key, fresh.group->Portable(), fresh.portable->cost_ms});
    if (fresh.group != nullptr) {
      Result<std::vector<std::byte>> binary = EntryOf(fresh);
      if (!binary.ok()) {
        std::string warning = "programs are not kept: " + binary.status().message();
        if (!Contains(warnings, warning)) warnings.push_back(std::move(warning));
        if (binary.status().code() == StatusCode::kUnavailable) left.push_back(std::move(fresh));
        continue;
      }
      cache.Put({fresh.program.key, std::move(binary).value(), fresh.program.cost_ms});
    }
    for (const KeyedBytes& list : fresh.lists) cache.Put(list);
  }
  for (FreshGroup& fresh : programs.fresh) cache.ReleaseWhenStored(std::move(fresh.claim));
  programs.fresh = std::move(left);
  return warnings;
}

}  // namespace hearth
