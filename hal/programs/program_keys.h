// Requests for programs in the cache; their members are the keys.
#ifndef HEARTH_HAL_PROGRAMS_PROGRAM_KEYS_H_
#define HEARTH_HAL_PROGRAMS_PROGRAM_KEYS_H_

#include <cstdint>
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

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_PROGRAM_KEYS_H_
