#include "hal/program_work.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/split_program.h"
#include "hal/choose_binaries.h"
#include "hal/program_keys.h"
#include "hal/stopwatch.h"

namespace hearth {
namespace {

std::vector<KernelSource> Chosen(std::span<const KernelSource> sources, std::span<const size_t> kernels) {
  std::vector<KernelSource> chosen;
  for (const size_t kernel : kernels) chosen.push_back(sources[kernel]);
  return chosen;
}

}  // namespace

std::vector<size_t> ProgramWork::Missing() const {
  std::vector<size_t> missing;
  for (size_t k = 0; k < by_kernel_.size(); ++k) {
    if (by_kernel_[k] == nullptr) missing.push_back(k);
  }
  return missing;
}

CacheKey ProgramWork::KeyOf(std::span<const size_t> kernels, const DeviceInfo& info) const {
  std::vector<GridClasses> grids;
  for (const size_t kernel : kernels) {
    if (!grids_.empty()) grids.push_back(grids_[kernel]);
  }
  return ProgramKey(Chosen(sources_, kernels), info, grids);
}

void ProgramWork::Take(std::span<const size_t> kernels, const CacheKey& key, std::unique_ptr<ProgramGroup> group) {
  parts_.binary_of.resize(sources_.size());
  for (size_t k = 0; k < kernels.size(); ++k) {
    by_kernel_[kernels[k]] = group->programs()[k].get();
    parts_.binary_of[kernels[k]] = static_cast<uint32_t>(parts_.binaries.size());
  }
  parts_.binaries.push_back(key);
  groups_.push_back(std::move(group));
}

bool ProgramWork::LoadBytes(Device& device, std::span<const size_t> kernels, const CacheKey& key,
                            std::span<const std::byte> bytes, BlobStore& store) {
  if (IsSplitProgram(bytes)) return LoadSplit(device, kernels, key, bytes, store);
  store.BeginUse(key);
  Result<std::unique_ptr<ProgramGroup>> loaded = device.Load(Chosen(sources_, kernels), bytes);
  store.EndUse(key);
  return TakeLoaded(kernels, key, std::move(loaded), store);
}

bool ProgramWork::LoadSplit(Device& device, std::span<const size_t> kernels, const CacheKey& key,
                            std::span<const std::byte> bytes, BlobStore& store) {
  const Result<SplitProgram> split = SplitProgramFrom(bytes);
  if (!split.ok()) return TakeLoaded(kernels, key, split.status(), store);
  const std::optional<std::vector<std::byte>> portable = store.Get(split->source);
  if (!portable) {
    const std::string kind(BlobKindName(split->source.kind()));
    return TakeLoaded(kernels, key,
                      Error(StatusCode::kNotFound,
                            "the cache lacks the {} entry {:.12} that it needs (evicted, removed, or in a layer that "
                            "is not given now)",
                            kind, split->source.digest().ToHex()),
                      store);
  }
  // Only this entry is in use: should the driver crash, the next start tries the portable part alone.
  store.BeginUse(key);
  Result<std::unique_ptr<ProgramGroup>> loaded =
      device.LoadParts(Chosen(sources_, kernels), *portable, split->driver_part);
  store.EndUse(key);
  return TakeLoaded(kernels, key, std::move(loaded), store);
}

bool ProgramWork::TakeLoaded(std::span<const size_t> kernels, const CacheKey& key,
                             Result<std::unique_ptr<ProgramGroup>> loaded, BlobStore& store) {
  if (!loaded.ok()) {
    store.Reject(key, loaded.status().message());
    return false;
  }
  Take(kernels, key, std::move(loaded).value());
  loaded_keys_.push_back(key);
  return true;
}

bool ProgramWork::LoadBinary(Device& device, std::span<const size_t> kernels, const CacheKey& key, BlobStore& store) {
  const std::optional<std::vector<std::byte>> bytes = store.Get(key);
  return bytes && !IsProgramParts(*bytes) && LoadBytes(device, kernels, key, *bytes, store);
}

bool ProgramWork::Load(Device& device, const CacheKey& key, BlobStore& store, bool all_anew) {
  const std::optional<std::vector<std::byte>> bytes = store.Get(key);
  if (!bytes) return false;
  std::vector<size_t> all(sources_.size());
  std::iota(all.begin(), all.end(), 0);
  if (!IsProgramParts(*bytes)) return LoadBytes(device, all, key, *bytes, store);
  if (all_anew) return false;
  const Result<ProgramParts> parts = ProgramPartsFrom(*bytes, sources_.size());
  if (!parts.ok()) {
    store.Reject(key, parts.status().message());
    return false;
  }
  for (size_t binary = 0; binary < parts->binaries.size(); ++binary) {
    std::vector<size_t> kernels;
    std::ranges::copy_if(all, std::back_inserter(kernels), [&](size_t kernel) {
      return parts->binary_of[kernel] == binary && by_kernel_[kernel] == nullptr;  // it is not loaded yet
    });
    if (!kernels.empty()) LoadBinary(device, kernels, parts->binaries[binary], store);
  }
  return Missing().empty();
}

void ProgramWork::LoadFromOtherSets(Device& device, BlobStore& store) {
  for (const ChosenBinary& binary : ChooseBinaries(sources_, grids_, Missing(), device.info(), store))
    LoadBinary(device, binary.kernels, binary.key, store);
}

Result<std::unique_ptr<ProgramGroup>> ProgramWork::CompileGroup(Device& device, BlobStore* store,
                                                                std::span<const KernelSource> sources) {
  const std::string compiler = device.portable_compiler();
  if (store == nullptr || compiler.empty()) return device.Compile(sources);
  source_key_ = SourceKey(sources, device.info(), compiler);
  const std::optional<std::vector<std::byte>> portable = store->Get(*source_key_);
  if (!portable) return device.Compile(sources);
  store->BeginUse(*source_key_);
  Result<std::unique_ptr<ProgramGroup>> loaded = device.Load(sources, *portable);
  store->EndUse(*source_key_);
  if (!loaded.ok()) {
    store->Reject(*source_key_, loaded.status().message());
    return device.Compile(sources);
  }
  loaded_keys_.push_back(*source_key_);
  return loaded;
}

Status ProgramWork::Compile(Device& device, BlobStore* store, const CacheKey& whole,
                            std::unique_ptr<MakingClaim> claim) {
  const std::vector<size_t> missing = Missing();
  fresh_ = FreshGroup{.group = nullptr, .key = whole, .claim = std::move(claim)};
  if (!missing.empty()) {
    const Stopwatch watch;
    const std::vector<KernelSource> sources = Chosen(sources_, missing);
    Result<std::unique_ptr<ProgramGroup>> made = CompileGroup(device, store, sources);
    if (!made.ok()) return made.status();
    fresh_->group = made->get();
    fresh_->source_key = source_key_;
    fresh_->compile_ms = watch.milliseconds();
    if (store != nullptr && missing.size() < sources_.size()) fresh_->key = KeyOf(missing, device.info());
    Take(missing, fresh_->key, std::move(made).value());
    compiled_ = static_cast<int>(missing.size());
  }
  if (store != nullptr) NoteParts(device.info(), whole, missing);
  return Status::Ok();
}

void ProgramWork::NoteParts(const DeviceInfo& info, const CacheKey& whole, std::span<const size_t> made) {
  if (made.size() < sources_.size()) fresh_->parts.push_back({whole, ToBytes(parts_)});
  if (made.size() < 2 || info.compile_grouping != CompileGrouping::kTogether) return;
  const std::vector<std::byte> its_binary = ToBytes({{fresh_->key}, {0}});
  for (const size_t kernel : made) fresh_->parts.push_back({KeyOf({&kernel, 1}, info), its_binary});
}

void ProgramWork::Make(Device& device, BlobStore* store, bool all_anew) {
  CacheKey key(BlobKind::kProgram);
  MakingTurn turn;
  if (store != nullptr) {
    key = ProgramKey(sources_, device.info(), grids_);
    if (Load(device, key, *store, all_anew)) return;
    turn = store->TakeMakingTurn(key);
    if (turn.has_waited && Load(device, key, *store, all_anew)) return;
    if (sources_.size() > 1 && !all_anew) LoadFromOtherSets(device, *store);
  }
  status_ = Compile(device, store, key, std::move(turn.claim));
}

Status ProgramWork::MoveTo(LoadedPrograms& programs, bool has_store) {
  HEARTH_TRY(status_);
  programs.by_kernel.insert(programs.by_kernel.end(), by_kernel_.begin(), by_kernel_.end());
  programs.compiled += compiled_;
  programs.loaded += static_cast<int>(sources_.size()) - compiled_;
  std::ranges::move(loaded_keys_, std::back_inserter(programs.loaded_keys));
  if (fresh_ && has_store) programs.fresh.push_back(*std::move(fresh_));
  for (std::unique_ptr<ProgramGroup>& group : groups_) {
    programs.spirv_compiled += group->spirv_compiled();
    programs.groups.push_back(std::move(group));
  }
  return Status::Ok();
}

}  // namespace hearth
