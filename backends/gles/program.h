// Kernels as OpenGL programs, and the form in which they are stored.
#ifndef HEARTH_BACKENDS_GLES_PROGRAM_H_
#define HEARTH_BACKENDS_GLES_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/gles/context.h"
#include "hal/device/device.h"
#include "hearth/status.h"

namespace hearth::gles {

// ---- The stored form ----
// The driver binaries of a program group as one array of bytes.

struct ProgramBinary {
  uint32_t format = 0;  // the driver's number for glProgramBinary
  std::vector<std::byte> bytes;
};

// "HGLB", u32 version, u32 count, then per binary u32 format, u32 size, bytes; little-endian.
std::vector<std::byte> PackBinaries(std::span<const ProgramBinary> binaries);

// kMalformedInput unless the bytes are exactly one packed list.
Result<std::vector<ProgramBinary>> UnpackBinaries(std::span<const std::byte> container);

// ---- Programs ----

// A linked GL program with one compute shader.
class GlesProgram : public Program {
 public:
  GlesProgram(Context& context, KernelSource source) : Program(std::move(source)), context_(context) {}
  ~GlesProgram() override;

  // 0 until the group has made it.
  GLuint id() const { return id_; }

 private:
  friend class GlesProgramGroup;

  Context& context_;
  GLuint id_ = 0;
};

// One driver program per source.
class GlesProgramGroup : public ProgramGroup {
 public:
  // Compiles and links all sources before it asks for results, because a driver with GL_KHR_parallel_shader_compile
  // works on all at once. kUnavailable with the driver's log.
  static Result<std::unique_ptr<GlesProgramGroup>> Compile(Context& context, std::span<const KernelSource> sources);

  // From the result of Binary(). kMalformedInput if it is no such binary of these sources, kUnavailable if the driver
  // does not accept it, or no longer does.
  static Result<std::unique_ptr<GlesProgramGroup>> Load(Context& context, std::span<const KernelSource> sources,
                                                        std::span<const std::byte> binary);

  std::span<const std::unique_ptr<Program>> programs() const override { return programs_; }
  Result<std::vector<std::byte>> Binary() override;

 private:
  GlesProgramGroup(Context& context, std::span<const KernelSource> sources);
  GlesProgram& program(size_t k) { return static_cast<GlesProgram&>(*programs_[k]); }

  Context& context_;
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_PROGRAM_H_
