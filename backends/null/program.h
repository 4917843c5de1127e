// Kernels that are checked and kept, not compiled.
#ifndef HEARTH_BACKENDS_NULL_PROGRAM_H_
#define HEARTH_BACKENDS_NULL_PROGRAM_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hal/device.h"

namespace hearth {

class NullProgramGroup final : public ProgramGroup {
 public:
  // kUnavailable for a kernel whose brackets are not in pairs.
  static Result<std::unique_ptr<ProgramGroup>> Compile(std::span<const KernelSource> sources);
  // kMalformedInput unless `binary` is what Binary() gave for these sources, or for more.
  static Result<std::unique_ptr<ProgramGroup>> Load(std::span<const KernelSource> sources,
                                                    std::span<const std::byte> binary);

  std::span<const std::unique_ptr<Program>> programs() const override { return programs_; }
  // The entry points, one per line: enough to test a cache.
  Result<std::vector<std::byte>> Binary() override;

 private:
  NullProgramGroup() = default;

  std::string entry_points_;
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_NULL_PROGRAM_H_
