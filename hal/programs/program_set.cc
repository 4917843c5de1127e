#include "hal/programs/program_set.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/store/entry_links.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

using Group = std::unique_ptr<ProgramGroup>;

template <typename T>
std::vector<T> Chosen(std::span<const T> all, std::span<const size_t> kernels) {
  std::vector<T> chosen;
  for (const size_t kernel : kernels) chosen.push_back(all[kernel]);
  return chosen;
}

std::vector<size_t> AllOf(const ProgramRequest& request) {
  std::vector<size_t> all(request.kernels.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

ProgramSet EmptySet(const ProgramRequest& request) {
  ProgramSet set;
  set.by_kernel.resize(request.kernels.size());
  set.list.binary_of.resize(request.kernels.size());
  return set;
}

// Adds the programs of these kernels, which are the group's.
void Take(std::span<const size_t> kernels, const CacheKey& key, Group group, ProgramSet& set) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    set.by_kernel[kernels[k]] = group->programs()[k].get();
    set.list.binary_of[kernels[k]] = static_cast<uint32_t>(set.list.binaries.size());
  }
  set.list.binaries.push_back(key);
  set.groups.push_back(std::move(group));
}

// A binary, which may contain more than these programs, or the driver's part of one.
Result<Group> GroupFrom(const StoredEntry& entry, std::span<const KernelSource> sources, Device& device) {
  if (!HasLinks(entry.bytes)) return device.Load(sources, entry.bytes);
  HEARTH_ASSIGN(const LinkedEntry linked, LinkedEntryFrom(entry.bytes));
  if (linked.links.size() != 1) return Error(StatusCode::kMalformedInput, "it does not name its SPIR-V");
  HEARTH_ASSIGN(const std::vector<std::byte> portable, entry.Linked(linked.links.front()));
  return device.LoadParts(sources, portable, linked.rest);
}

bool LoadBinary(const ProgramRequest& request, std::span<const size_t> kernels, const CacheKey& key, ProgramSet& set) {
  const auto& [device, sources, cache] = request.maker.value;
  const std::vector<KernelSource> chosen = Chosen(sources, kernels);
  auto loaded = cache->FindByKey(
      key, [&, &device = *device](const StoredEntry& entry) { return GroupFrom(entry, chosen, device); });
  if (!loaded) return false;
  Take(kernels, key, std::move(loaded->value), set);
  set.loaded_keys.push_back(key);
  set.binaries_cost_ms += loaded->cost_ms;
  return true;
}

std::vector<size_t> MissingOf(const ProgramSet& set) {
  std::vector<size_t> missing;
  for (size_t k = 0; k < set.by_kernel.size(); ++k) {
    if (set.by_kernel[k] == nullptr) missing.push_back(k);
  }
  return missing;
}

Result<ProgramSet> FromBinary(const ProgramRequest& request, const StoredEntry& entry) {
  HEARTH_ASSIGN(Group group, GroupFrom(entry, request.maker.value.sources, *request.maker.value.device));
  ProgramSet set = EmptySet(request);
  Take(AllOf(request), entry.key, std::move(group), set);
  set.loaded_keys.push_back(entry.key);
  return set;
}

// nullopt: there is no list, or a binary is gone.
std::optional<ProgramSet> FromList(const ProgramRequest& request) {
  ResultCache& cache = *request.maker.value.cache;
  const size_t kernels = request.kernels.size();
  const auto parse = [&](const StoredEntry& entry) { return ProgramListFrom(entry.bytes, kernels); };
  const auto list = cache.Find(ProgramListRequest{request.device, request.cpus, request.kernels, request.maker}, parse,
                               Misses::kUncounted);
  if (!list) return std::nullopt;
  ProgramSet set = EmptySet(request);
  // Those that may be gone come first, so that nothing is loaded in vain.
  std::vector<size_t> order(list->value.binaries.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t binary) { return !cache.HasKey(list->value.binaries[binary]); });
  for (const size_t binary : order) {
    std::vector<size_t> its_kernels;
    for (size_t k = 0; k < kernels; ++k) {
      if (list->value.binary_of[k] == binary) its_kernels.push_back(k);
    }
    if (its_kernels.empty()) continue;
    if (!LoadBinary(request, its_kernels, list->value.binaries[binary], set)) return std::nullopt;
  }
  return set;
}

Result<Group> FromPortable(const PortableRequest& request, const StoredEntry& entry) {
  return request.maker.value.device->Load(request.maker.value.sources, entry.bytes);
}

Result<Group> FromTexts(const PortableRequest& request) {
  return request.maker.value.device->Compile(request.maker.value.sources);
}

// Compiles what is missing, from the portable part if the cache has it.
Status CompileMissing(const ProgramRequest& request, std::span<const size_t> missing, ProgramSet& set) {
  const auto& [device, sources, cache] = request.maker.value;
  const std::vector<KernelSource> chosen = Chosen(sources, missing);
  const Stopwatch watch;
  const std::string compiler = device->portable_compiler();
  if (cache == nullptr || compiler.empty()) {
    HEARTH_ASSIGN(Group group, device->Compile(chosen));
    set.fresh->group = group.get();
    Take(missing, set.fresh->program.key, std::move(group), set);
  } else {
    const PortableRequest portable{
        compiler, Chosen(std::span<const KernelText>(request.kernels), missing), {{device, chosen, cache}}};
    HEARTH_ASSIGN(auto made, GetOrMake(cache, portable, FromPortable, FromTexts));
    set.fresh->group = made.value.get();
    const double its_cost_ms = made.found_as ? made.cost_ms : made.value->portable_ms();
    set.fresh->portable = FreshEntry{cache->KeyFor(portable), its_cost_ms};
    if (made.found_as) set.loaded_keys.push_back(*made.found_as);
    Take(missing, set.fresh->program.key, std::move(made.value), set);
  }
  set.fresh->program.cost_ms = std::max(0.0, watch.milliseconds() - set.fresh->group->portable_ms());
  set.compiled = static_cast<int>(missing.size());
  return Status::Ok();
}

// The entries that lead other sets, and the next start with these kernels, to these programs.
void ListBinaries(const ProgramRequest& request, std::span<const size_t> made, ProgramSet& set) {
  ResultCache& cache = *request.maker.value.cache;
  const auto list = [&](KernelTexts kernels, const ProgramList& binaries, double cost_ms) {
    const ProgramListRequest listed{request.device, request.cpus, std::move(kernels)};
    set.fresh->lists.push_back({cache.KeyFor(listed), ToBytes(binaries), cost_ms});
  };
  // Without the list, the binaries that it names are not found: it is worth what they are.
  const double made_ms = set.fresh->program.cost_ms;
  if (made.size() < request.kernels.size()) list(request.kernels, set.list, set.binaries_cost_ms + made_ms);
  if (made.size() < 2 || request.device->compile_grouping != CompileGrouping::kTogether) return;
  for (const size_t kernel : made) list({request.kernels[kernel]}, {{set.fresh->program.key}, {0}}, made_ms);
}

Result<ProgramSet> Make(const ProgramRequest& request, bool may_use_others) {
  ResultCache* const cache = request.maker.value.cache;
  ProgramSet set = EmptySet(request);
  if (may_use_others && request.kernels.size() > 1) {
    for (const ChosenBinary& binary : ChooseBinaries(request.kernels, *request.device, *cache))
      LoadBinary(request, binary.kernels, binary.key, set);
  }
  const std::vector<size_t> missing = MissingOf(set);
  set.fresh.emplace();
  if (cache != nullptr) {
    ProgramRequest fresh = request;
    fresh.kernels = Chosen(std::span<const KernelText>(request.kernels), missing);
    set.fresh->program.key = cache->KeyFor(fresh);
  }
  if (!missing.empty()) HEARTH_TRY(CompileMissing(request, missing, set));
  if (cache != nullptr) ListBinaries(request, missing, set);
  return set;
}

Result<ProgramSet> FromOthersAndCompiler(const ProgramRequest& request) {
  return Make(request, true);
}

Result<ProgramSet> FromCompiler(const ProgramRequest& request) {
  return Make(request, false);
}

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

Result<ProgramSet> GetPrograms(Device& device, std::span<const KernelSource> sources,
                               std::span<const GridClasses> grids, ResultCache* cache, bool all_anew) {
  const DeviceInfo& info = device.info();
  const ProgramMaker maker{&device, sources, cache};
  const bool may_use_others = cache != nullptr && !all_anew;
  const auto request = RequestOf<ProgramRequest>(
      info, cache != nullptr ? KernelTextsOf(sources, info, grids) : KernelTexts(sources.size()), maker);
  const bool has_lists = info.compile_grouping == CompileGrouping::kTogether;
  HEARTH_ASSIGN(auto made, GetOrMake(cache, request, FromBinary, may_use_others ? FromOthersAndCompiler : FromCompiler,
                                     may_use_others && has_lists ? FromList : nullptr));
  if (made.value.fresh) made.value.fresh->claim = std::move(made.claim);
  return std::move(made.value);
}

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
