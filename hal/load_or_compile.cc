#include "hal/load_or_compile.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/split_program.h"
#include "core/base/threads.h"
#include "hal/program_work.h"
#include "hal/stopping.h"

namespace hearth {
namespace {

// The cost of a list of programs when the store makes room. Without the list, the binaries that it names are not found,
// and these cost seconds to make, so it must not go long before them.
constexpr double kListCostMs = 100;
// The share of a program's cost that its entry has where the portable part is another entry. A start needs both, so the
// portable part has the rest: without it this one is lost too, and makes no room either.
constexpr double kDriverPartShare = 0.125;

std::vector<ProgramWork> SplitIntoGroups(std::span<const KernelSource> sources, std::span<const GridClasses> grids,
                                         CompileGrouping grouping) {
  std::vector<ProgramWork> works;
  const size_t step = grouping == CompileGrouping::kTogether ? sources.size() : 1;
  for (size_t k = 0; k < sources.size(); k += step) {
    works.emplace_back(sources.subspan(k, step), grids.empty() ? grids : grids.subspan(k, step));
  }
  return works;
}

// The programs of `sources` that `held` has.
std::vector<std::optional<HeldProgram>> HeldOf(const Device& device, std::span<const KernelSource> sources,
                                               const HeldPrograms* held) {
  std::vector<std::optional<HeldProgram>> found(sources.size());
  if (held == nullptr) return found;
  if (device.info().compile_grouping == CompileGrouping::kTogether) {
    const std::vector<HeldProgram> all = held->FindAll(sources);
    std::copy(all.begin(), all.end(), found.begin());
    return found;
  }
  std::ranges::transform(sources, found.begin(), [&](const KernelSource& source) { return held->Find(source); });
  return found;
}

// What is stored under the group's key: its binary, without the portable part where that is an entry of its own.
Result<std::vector<std::byte>> EntryOf(const FreshGroup& fresh) {
  if (!fresh.source_key) return fresh.group->Binary();
  HEARTH_ASSIGN(const std::vector<std::byte> driver_part, fresh.group->DriverPart());
  return MakeSplitProgram({*fresh.source_key, driver_part});
}

Result<LoadedPrograms> LoadOrCompileAll(Device& device, std::span<const KernelSource> sources,
                                        std::span<const GridClasses> grids, BlobStore* store, int threads,
                                        const std::stop_token& stop, bool all_anew) {
  LoadedPrograms programs;
  if (sources.empty()) return programs;
  std::vector<ProgramWork> works = SplitIntoGroups(sources, grids, device.info().compile_grouping);
  std::atomic<size_t> next = 0;
  const auto work_off = [&] {
    for (size_t k = next++; k < works.size() && !stop.stop_requested(); k = next++)
      works[k].Make(device, store, all_anew);
    return Status::Ok();
  };
  std::deque<WorkBeside> helpers;
  for (int t = 1; t < threads && t < static_cast<int>(works.size()); ++t) helpers.emplace_back(work_off);
  HEARTH_TRY(work_off());
  for (WorkBeside& helper : helpers) HEARTH_TRY(helper.Join());

  if (stop.stop_requested()) return Stopped();
  for (ProgramWork& work : works) HEARTH_TRY(work.MoveTo(programs, store != nullptr));
  HEARTH_CHECK(programs.by_kernel.size() == sources.size());
  return programs;
}

}  // namespace

Status NoBinaries(std::string_view device_name) {
  return Error(StatusCode::kIoError, "{} has no program binaries, so every start compiles its programs", device_name);
}

Result<LoadedPrograms> LoadOrCompile(Device& device, std::span<const KernelSource> sources, BlobStore* store,
                                     int threads, const std::stop_token& stop, HeldPrograms* held, bool all_anew,
                                     std::span<const GridClasses> grids) {
  if (!device.takes_binaries()) {
    if (store != nullptr) Log(LogLevel::kDebug, NoBinaries(device.info().name).message());
    store = nullptr;
  }
  const std::vector<std::optional<HeldProgram>> found = HeldOf(device, sources, held);
  std::vector<KernelSource> missing;
  std::vector<GridClasses> missing_grids;
  for (size_t k = 0; k < sources.size(); ++k) {
    if (found[k]) continue;
    missing.push_back(sources[k]);
    if (!grids.empty()) missing_grids.push_back(grids[k]);
  }
  HEARTH_ASSIGN(LoadedPrograms programs,
                LoadOrCompileAll(device, missing, missing_grids, store, threads, stop, all_anew));
  if (held != nullptr) {
    for (const std::shared_ptr<ProgramGroup>& group : programs.groups) held->Add(group);
  }
  std::vector<Program*> by_kernel;
  size_t next_made = 0;
  for (const std::optional<HeldProgram>& program : found) {
    by_kernel.push_back(program ? program->program : programs.by_kernel[next_made++]);
    if (program) programs.groups.push_back(program->group);
    if (program) ++programs.held;
  }
  programs.by_kernel = std::move(by_kernel);
  return programs;
}

std::vector<std::string> StoreFreshPrograms(LoadedPrograms& programs, BlobStore& store, const std::stop_token& stop) {
  std::vector<std::string> warnings;
  std::deque<std::vector<std::byte>> binaries;
  std::vector<PutRequest> requests;
  for (const FreshGroup& fresh : programs.fresh) {
    if (stop.stop_requested()) break;
    const double own_share = fresh.source_key ? kDriverPartShare : 1;
    // Also if it was loaded: it may have come from a layer, which later starts and the server's users lack.
    if (fresh.source_key) {
      binaries.push_back(fresh.group->Portable());
      requests.push_back({&*fresh.source_key, binaries.back(), fresh.compile_ms * (1 - own_share)});
    }
    if (fresh.group != nullptr) {
      Result<std::vector<std::byte>> binary = EntryOf(fresh);
      if (!binary.ok()) {
        std::string warning = "programs are not kept: " + binary.status().message();
        if (!Contains(warnings, warning)) warnings.push_back(std::move(warning));
        continue;
      }
      binaries.push_back(std::move(binary).value());
      requests.push_back({&fresh.key, binaries.back(), fresh.compile_ms * own_share});
    }
    for (const StoredParts& parts : fresh.parts) requests.push_back({&parts.key, parts.bytes, kListCostMs});
  }
  if (!requests.empty()) store.Put(requests);
  for (FreshGroup& fresh : programs.fresh) store.ReleaseWhenStored(std::move(fresh.claim));
  programs.fresh.clear();
  return warnings;
}

}  // namespace hearth
