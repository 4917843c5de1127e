#include "hal/choose_binaries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hal/program_keys.h"
#include "hal/program_parts.h"

namespace hearth {
namespace {

// PoCL 3.1 takes about 5 ms to load a binary, 100 ms to compile a kernel and 200 ms to read its binary.
constexpr size_t kMostBinaries = 3;

// The key of the binary with this key's kernel; nullopt if the store has none.
std::optional<CacheKey> BinaryOf(const CacheKey& key, BlobStore& store) {
  const std::optional<std::vector<std::byte>> bytes = store.Get(key);
  if (!bytes) return std::nullopt;
  if (!IsProgramParts(*bytes)) return key;
  Result<ProgramParts> parts = ProgramPartsFrom(*bytes, 1);
  if (parts.ok()) return parts->binaries[parts->binary_of[0]];
  store.Reject(key, parts.status().message());
  return std::nullopt;
}

}  // namespace

std::vector<ChosenBinary> ChooseBinaries(std::span<const KernelSource> sources, std::span<const GridClasses> grids,
                                         std::vector<size_t> wanted, const DeviceInfo& info, BlobStore& store) {
  const size_t device_part = ProgramKey({}, info).material().size();
  std::map<size_t, std::string> part_of_key;  // what a kernel adds to the key of a set of kernels
  std::map<std::string, CacheKey> binaries;   // by material
  for (const size_t kernel : wanted) {
    const CacheKey key = ProgramKey({&sources[kernel], 1}, info, grids.empty() ? grids : grids.subspan(kernel, 1));
    part_of_key[kernel] = key.material().substr(device_part);
    if (const std::optional<CacheKey> binary = BinaryOf(key, store)) binaries.try_emplace(binary->material(), *binary);
  }
  std::vector<ChosenBinary> chosen;
  while (!binaries.empty() && !wanted.empty() && chosen.size() < kMostBinaries) {
    ChosenBinary most;
    for (const auto& entry : binaries) {
      const std::string& material = entry.first;
      ChosenBinary binary{entry.second, {}};
      std::ranges::copy_if(wanted, std::back_inserter(binary.kernels), [&](size_t kernel) {
        return material.find(part_of_key[kernel], device_part) != std::string::npos;
      });
      if (binary.kernels.size() > most.kernels.size()) most = std::move(binary);
    }
    if (most.kernels.empty()) break;
    std::erase_if(wanted, [&](size_t kernel) { return std::ranges::count(most.kernels, kernel) > 0; });
    binaries.erase(most.key.material());
    chosen.push_back(std::move(most));
  }
  if (!wanted.empty()) std::erase_if(chosen, [](const ChosenBinary& binary) { return binary.kernels.size() < 2; });
  return chosen;
}

}  // namespace hearth
