// Requests for programs in the cache; their members are the keys.
#ifndef HEARTH_HAL_PROGRAMS_PROGRAM_KEYS_H_
#define HEARTH_HAL_PROGRAMS_PROGRAM_KEYS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/emit/kernel_source.h"
#include "core/plan/key_fields.h"
#include "core/plan/plan.h"
#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

// The sizes of grids in which a plan's dispatches run a kernel, as bits, if the driver makes different machine code for
// large ones (Rule::kGridClasses).
using GridClasses = uint8_t;
inline constexpr GridClasses kSmallGrids = 1, kLargeGrids = 2;
// One entry per kernel of the plan; empty if nothing depends on them.
std::vector<GridClasses> GridClassesOf(const Plan& plan, const DeviceInfo& info);

// Kernels as keys name them, in the order of their programs.
struct KernelText {
  std::string name, content;  // the content's name: texts are long
  GridClasses grids = 0;
};
using KernelTexts = std::vector<KernelText>;
KernelTexts KernelTextsOf(std::span<const KernelSource> sources, const DeviceInfo& info,
                          std::span<const GridClasses> grids = {});
void AddToKey(CacheKey& key, const KernelTexts& texts);

// What makes the programs of a request. The key has the device's identity and the kernels' texts.
struct ProgramMaker {
  Device* device = nullptr;
  std::span<const KernelSource> sources;
  ResultCache* cache = nullptr;
};

// Programs of these kernels on this device and driver: a binary, or the list of the binaries that hold them.
template <BlobKind kOfEntry>
struct ProgramsRequest {
  static constexpr BlobKind kKind = kOfEntry;
  DeviceIdentity device;
  Field<kCpusField, uint32_t> cpus;
  KernelTexts kernels;
  Unkeyed<ProgramMaker> maker = {};
};
using ProgramRequest = ProgramsRequest<BlobKind::kProgram>;
using ProgramListRequest = ProgramsRequest<BlobKind::kProgramList>;
template <typename Request>
Request RequestOf(const DeviceInfo& info, KernelTexts kernels, const ProgramMaker& maker = {}) {
  return {&info, info.binary_cpus, std::move(kernels), {maker}};
}

// Their SPIR-V. Without a device and a driver in the key, it survives driver updates.
struct PortableRequest {
  static constexpr BlobKind kKind = BlobKind::kSource;
  Field<kCompilerField> compiler;
  KernelTexts kernels;
  Unkeyed<ProgramMaker> maker = {};  // its device's dialect is that of the texts
};

// ---- Programs that are ready, and what must be stored of them ----

// An entry that is not in the cache yet; its bytes are read from the group after its programs ran.
struct FreshEntry {
  CacheKey key;
  double cost_ms = 0;
};

// Programs that were compiled in this process and are not in the cache yet.
struct FreshGroup {
  ProgramGroup* group = nullptr;  // null: all programs are in other groups' binaries, and `lists` say in which
  FreshEntry program{CacheKey(BlobKind::kProgram)};
  std::optional<FreshEntry> portable = {};  // an entry of its own; absent: the binary is whole
  std::vector<KeyedBytes> lists = {};       // that lead to this binary, to be stored with it
  std::unique_ptr<MakingClaim> claim;       // other processes wait until it is stored
};

struct LoadedPrograms {
  std::vector<std::shared_ptr<ProgramGroup>> groups;
  std::vector<Program*> by_kernel;  // in the order of the sources; owned by `groups`
  std::vector<FreshGroup> fresh;
  std::vector<CacheKey> loaded_keys;  // of the entries that programs were made from
  int compiled = 0;                   // programs made from source
  int loaded = 0;                     // programs made from a cached binary
  int spirv_compiled = 0;             // GLSL texts turned into SPIR-V
  int held = 0;                       // programs that were on the device already
};

// ---- Programs that are on a device already, for plans of one model that use the same kernels ----

struct SharedProgram {
  std::shared_ptr<ProgramGroup> group;
  Program* program = nullptr;  // of the group
};

// The programs of one device. Keeps nothing alive. Any thread may look for programs; what it finds is for one thread at
// a time unless the device's programs_serve_all_threads().
class SharedPrograms {
 public:
  std::optional<SharedProgram> Find(const KernelSource& source) const;
  void Add(const std::shared_ptr<ProgramGroup>& group);

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<ProgramGroup>> groups_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_PROGRAM_KEYS_H_
