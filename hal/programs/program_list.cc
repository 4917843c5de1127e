#include "hal/programs/program_list.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/store/entry_links.h"

namespace hearth {
namespace {

// PoCL 3.1 takes about 5 ms to load a binary, 100 ms to compile a kernel and 200 ms to read its binary.
constexpr size_t kMostBinaries = 3;

// The key of the binary with this kernel; nullopt if the cache has none.
std::optional<CacheKey> BinaryOf(const KernelText& text, const DeviceInfo& info, ResultCache& cache) {
  const auto from_list = [](const StoredEntry& entry) -> Result<CacheKey> {
    HEARTH_ASSIGN(const ProgramList list, ProgramListFrom(entry.bytes, 1));
    return list.binaries[list.binary_of[0]];
  };
  const auto list = cache.Find(RequestOf<ProgramListRequest>(info, {text}), from_list, Misses::kUncounted);
  if (list && cache.HasKey(list->value)) return list->value;
  const CacheKey alone = cache.KeyFor(RequestOf<ProgramRequest>(info, {text}));
  return cache.HasKey(alone) ? std::optional(alone) : std::nullopt;
}

// What a kernel adds to the key of a set of kernels.
std::string PartOfKey(const KernelText& text) {
  CacheKey part(BlobKind::kProgram);
  AddToKey(part, KernelTexts{text});
  return part.material();
}

}  // namespace

std::vector<std::byte> ToBytes(const ProgramList& list) {
  std::vector<std::byte> binary_of;
  for (const uint32_t binary : list.binary_of) AppendNumber(binary_of, binary);
  return ToBytes(LinkedEntry{list.binaries, binary_of});
}

Result<ProgramList> ProgramListFrom(std::span<const std::byte> bytes, size_t kernels) {
  const Status malformed(StatusCode::kMalformedInput, "it is not a list of programs for these kernels");
  Result<LinkedEntry> linked = LinkedEntryFrom(bytes);
  if (!linked.ok() || linked->links.size() > kernels) return malformed;
  ProgramList list{std::move(linked->links), {}};
  for (const CacheKey& binary : list.binaries) {
    if (binary.kind() != BlobKind::kProgram) return malformed;
  }
  ByteReader reader(linked->rest);
  for (size_t k = 0; k < kernels; ++k) {
    list.binary_of.push_back(reader.Number<uint32_t>());
    if (reader.failed() || list.binary_of.back() >= list.binaries.size()) return malformed;
  }
  return reader.rest().empty() ? Result<ProgramList>(std::move(list)) : malformed;
}

std::vector<ChosenBinary> ChooseBinaries(const KernelTexts& texts, const DeviceInfo& info, ResultCache& cache) {
  std::vector<size_t> wanted(texts.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  std::map<std::string, CacheKey> binaries;  // by material
  for (const KernelText& text : texts) {
    const std::optional<CacheKey> binary = BinaryOf(text, info, cache);
    if (binary) binaries.try_emplace(binary->material(), *binary);
  }
  std::vector<ChosenBinary> chosen;
  while (!binaries.empty() && !wanted.empty() && chosen.size() < kMostBinaries) {
    ChosenBinary most;
    for (const auto& entry : binaries) {
      const std::string& material = entry.first;
      ChosenBinary binary{entry.second, {}};
      std::ranges::copy_if(wanted, std::back_inserter(binary.kernels),
                           [&](size_t kernel) { return material.find(PartOfKey(texts[kernel])) != std::string::npos; });
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
