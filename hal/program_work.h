// Makes the programs of one group: as many as possible from the store, the rest with the compiler.
#ifndef HEARTH_HAL_PROGRAM_WORK_H_
#define HEARTH_HAL_PROGRAM_WORK_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/blob_store.h"
#include "hal/device.h"
#include "hal/loaded_programs.h"
#include "hal/program_keys.h"
#include "hal/program_parts.h"

namespace hearth {

class ProgramWork {
 public:
  // `grids`: as ProgramKey takes them.
  ProgramWork(std::span<const KernelSource> sources, std::span<const GridClasses> grids)
      : sources_(sources), grids_(grids), by_kernel_(sources.size()) {}

  // `store` may be null. `all_anew`: uses no binaries of other sources.
  void Make(Device& device, BlobStore* store, bool all_anew);

  // Appends the result to `programs`. Precondition: Make has ended.
  Status MoveTo(LoadedPrograms& programs, bool has_store);

 private:
  // Loads from the entry of all sources: a binary, or a ProgramParts. Returns whether all programs exist now.
  bool Load(Device& device, const CacheKey& key, BlobStore& store, bool all_anew);
  // Loads missing programs from binaries that were made for other sources.
  void LoadFromOtherSets(Device& device, BlobStore& store);
  // Loads the programs of these sources from the binary under `key`, which may contain more.
  bool LoadBinary(Device& device, std::span<const size_t> kernels, const CacheKey& key, BlobStore& store);
  bool LoadBytes(Device& device, std::span<const size_t> kernels, const CacheKey& key, std::span<const std::byte> bytes,
                 BlobStore& store);
  // The same where another entry has the portable part. Without that one, the entry is rejected.
  bool LoadSplit(Device& device, std::span<const size_t> kernels, const CacheKey& key, std::span<const std::byte> bytes,
                 BlobStore& store);
  // Takes what was loaded from the entry of `key`, or rejects that entry.
  bool TakeLoaded(std::span<const size_t> kernels, const CacheKey& key, Result<std::unique_ptr<ProgramGroup>> loaded,
                  BlobStore& store);
  Status Compile(Device& device, BlobStore* store, const CacheKey& whole, std::unique_ptr<MakingClaim> claim);
  // Compiles from the portable part in the store, else from the texts.
  Result<std::unique_ptr<ProgramGroup>> CompileGroup(Device& device, BlobStore* store,
                                                     std::span<const KernelSource> sources);
  // Stores the entries that lead other sets, and the next start with these sources, to these programs.
  void NoteParts(const DeviceInfo& info, const CacheKey& whole, std::span<const size_t> made);
  std::vector<size_t> Missing() const;
  CacheKey KeyOf(std::span<const size_t> kernels, const DeviceInfo& info) const;
  void Take(std::span<const size_t> kernels, const CacheKey& key, std::unique_ptr<ProgramGroup> group);

  std::span<const KernelSource> sources_;
  std::span<const GridClasses> grids_;
  std::vector<std::unique_ptr<ProgramGroup>> groups_;
  ProgramParts parts_;               // the binary of each program
  std::vector<Program*> by_kernel_;  // null: missing
  std::vector<CacheKey> loaded_keys_;
  std::optional<CacheKey> source_key_;
  std::optional<FreshGroup> fresh_;
  int compiled_ = 0;
  Status status_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAM_WORK_H_
