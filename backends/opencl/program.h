// Kernels that share one cl_program, and that program's binary.
#ifndef HEARTH_BACKENDS_OPENCL_PROGRAM_H_
#define HEARTH_BACKENDS_OPENCL_PROGRAM_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/opencl/driver_api.h"
#include "hal/device/device.h"

namespace hearth {

class OpenClProgram final : public Program {
 public:
  // Borrows `driver_program` from its group.
  OpenClProgram(const OpenClApi& api, cl_program driver_program, const KernelSource& source, std::string entry_point)
      : Program(source), api_(api), driver_program_(driver_program), entry_point_(std::move(entry_point)) {}

  // Makes a separate kernel object, so that its arguments can be set once. kInternal if the driver program lacks it.
  Result<KernelHandle> CreateKernel() const;

 private:
  const OpenClApi& api_;
  cl_program driver_program_;
  std::string entry_point_;
};

class OpenClProgramGroup final : public ProgramGroup {
 public:
  // One driver program for all sources: PoCL compiles one program at a time, and one of 12 kernels takes 2.8-3.1 s, 12
  // of one kernel 4.1-5.1. Equal sources are emitted once. kUnavailable with the build log if the driver refuses the
  // text.
  static Result<std::unique_ptr<ProgramGroup>> Compile(const OpenClDriver& driver,
                                                       std::span<const KernelSource> sources);
  // The binary may have more kernels. kMalformedInput unless Binary() made it from these sources, kUnavailable if the
  // driver refuses it.
  static Result<std::unique_ptr<ProgramGroup>> Load(const OpenClDriver& driver, std::span<const KernelSource> sources,
                                                    std::span<const std::byte> binary);

  std::span<const std::unique_ptr<Program>> programs() const override { return programs_; }
  Result<std::vector<std::byte>> Binary() override;

 private:
  OpenClProgramGroup(const OpenClDriver& driver, DriverProgramHandle driver_program, std::string entry_points)
      : api_(driver.api),
        is_pocl_(driver.is_pocl),
        driver_program_(std::move(driver_program)),
        entry_points_(std::move(entry_points)) {}
  static Result<std::unique_ptr<ProgramGroup>> Build(const OpenClDriver& driver, DriverProgramHandle driver_program,
                                                     std::span<const KernelSource> sources,
                                                     const std::vector<std::string>& entry_points,
                                                     std::string held_entry_points);

  const OpenClApi& api_;
  const bool is_pocl_;
  DriverProgramHandle driver_program_;
  std::string entry_points_;  // of all kernels in the driver program, a line each
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_PROGRAM_H_
