#include "backends/gles/driver_facts.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/device/driver_environment.h"
#include "core/device/driver_names.h"
#include "core/device/usable_limits.h"

namespace hearth::gles {
namespace {

uint32_t CountCpusOfMainThread() {
  cpu_set_t allowed;
  if (::sched_getaffinity(::getpid(), sizeof(allowed), &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

// Counted as llvmpipe does (util_cpu_detect of Mesa 22.3 and later): once in a process, of the process, which is its
// main thread. What the calling thread may use (backends/cpu/host/process_limits.h) is not what llvmpipe's binaries
// contain.
uint32_t CpusOfThisProcess() {
  static const uint32_t cpus = CountCpusOfMainThread();
  return cpus;
}

std::string Text(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text != nullptr ? ValidUtf8(reinterpret_cast<const char*>(text)) : "";
}

// A limit as an unsigned number; 0 if the driver does not know the name.
uint64_t Limit(GLenum name) {
  GLint64 value = 0;
  glGetInteger64v(name, &value);
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

uint32_t Limit32(GLenum name) {
  return static_cast<uint32_t>(std::min<uint64_t>(Limit(name), UINT32_MAX));
}

uint32_t LimitOf(GLenum name, uint32_t dimension) {
  GLint value = 0;
  glGetIntegeri_v(name, dimension, &value);
  return value > 0 ? static_cast<uint32_t>(value) : 0;
}

// OpenGL ES has no device type. A software driver is known by EGL's device extension or by its renderer's name: on the
// default display of an old Mesa, and in a guest, whose EGL device is hardware ("virgl (LLVMPIPE (LLVM 21.1.8, 128
// bits))").
DeviceType TypeOf(const DisplaySource& source, const std::string& renderer) {
  if (source.software || IsSoftwareName(renderer)) return DeviceType::kCpu;
  return NameIsDiscrete(renderer) ? DeviceType::kDiscreteGpu : DeviceType::kOther;
}

void ReadWorkGroupLimits(DeviceInfo& info) {
  for (uint32_t d = 0; d < 3; ++d) {
    info.max_local_size[d] = LimitOf(GL_MAX_COMPUTE_WORK_GROUP_SIZE, d);
    info.max_group_count[d] = LimitOf(GL_MAX_COMPUTE_WORK_GROUP_COUNT, d);
  }
  info.max_local_invocations = Limit32(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
  info.local_memory_bytes = Limit32(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
}

void ReadMemoryLimits(bool has_texel_buffers, DriverFacts& facts) {
  DeviceInfo& info = facts.info;
  // The API has no limit for a buffer's size: creating a buffer that is too large fails with out of memory. Drivers
  // count bytes in signed 32 bits.
  info.max_buffer_bytes = uint64_t{1} << 30;
  info.max_binding_bytes = std::min(Limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE), info.max_buffer_bytes);
  info.max_texel_buffers = Limit32(GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS);
  info.max_storage_buffers =
      std::min(Limit32(GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS), Limit32(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS));
  info.buffer_offset_alignment = UsableAlignment({Limit(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT)});
  if (has_texel_buffers) {
    info.max_texel_elements = Limit(GL_MAX_TEXTURE_BUFFER_SIZE);
    info.buffer_offset_alignment =
        UsableAlignment({info.buffer_offset_alignment, Limit(GL_TEXTURE_BUFFER_OFFSET_ALIGNMENT)});
  }
  // An array of ints may use a vector of four components for each element (GLSL ES 3.10, packing of uniforms), so only
  // a quarter of the components is certain.
  info.max_scalar_bytes = std::min(1024u, Limit32(GL_MAX_COMPUTE_UNIFORM_COMPONENTS) / 4 * 4);
}

std::vector<GLint> BinaryFormats() {
  GLint count = 0;
  glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &count);
  std::vector<GLint> formats(static_cast<size_t>(std::max(count, 0)));
  if (!formats.empty()) glGetIntegerv(GL_PROGRAM_BINARY_FORMATS, formats.data());
  return formats;
}

// Not used on software devices, whose clock is the host's anyway: llvmpipe (Mesa 22.3) has the extension and reports 1
// ns for any dispatch.
bool HasTimerQuery(const char* extensions, bool is_software) {
  if (is_software) return false;
  if (!HasExtension(extensions, "GL_EXT_disjoint_timer_query")) return false;
  GLint bits = 0;
  glGetQueryiv(GL_TIME_ELAPSED_EXT, GL_QUERY_COUNTER_BITS_EXT, &bits);
  return bits > 0;
}

void ReadExtensions(int version, DriverFacts& facts) {
  const std::string text = Text(GL_EXTENSIONS);
  const char* extensions = text.c_str();
  // By extension even on ES 3.2, since kernels are GLSL ES 3.10 and enable it by name.
  const bool has_texel_buffers =
      HasExtension(extensions, "GL_EXT_texture_buffer") || HasExtension(extensions, "GL_OES_texture_buffer");
  ReadMemoryLimits(has_texel_buffers, facts);
  facts.binary_formats = BinaryFormats();
  facts.parallel_compile = HasExtension(extensions, "GL_KHR_parallel_shader_compile");
  facts.timer_query = HasTimerQuery(extensions, facts.info.is_software());
  facts.reset_status =
      version >= 32 || HasExtension(extensions, "GL_EXT_robustness") || HasExtension(extensions, "GL_KHR_robustness");
}

// zink of Mesa 25.0.7 on lavapipe gives wrong results from a program's sixth set of loop bounds on, or crashes in the
// driver, so no probe can decide (README.md).
Status CheckIsSound(const DeviceInfo& info, const DisplaySource& source) {
  if (!info.is_software() || LowerCase(info.name).find("zink") == std::string::npos) return Status::Ok();
  return Error(StatusCode::kUnavailable,
               "{}: {} computes wrong results on software drivers (seen with Mesa 25.0.7); use device vulkan, which "
               "zink runs on, or unset MESA_LOADER_DRIVER_OVERRIDE and GALLIUM_DRIVER",
               source.name, info.name);
}

}  // namespace

Result<DriverFacts> QueryDriverFacts(const DisplaySource& source) {
  HEARTH_TRY(CheckVersion(reinterpret_cast<const char*>(glGetString(GL_VERSION)), source.name));
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  const int version = major * 10 + minor;
  if (version < 31) {
    return Error(StatusCode::kUnavailable, "{}: the driver has OpenGL ES {}.{}; compute needs 3.1", source.name, major,
                 minor);
  }
  DriverFacts facts;
  DeviceInfo& info = facts.info;
  info.backend = "gles";
  info.dialect = Dialect::kGles;
  info.name = Text(GL_RENDERER);
  info.vendor = Text(GL_VENDOR);
  info.driver_version = fmt::format("{}; {}", Text(GL_VERSION), info.name);
  info.uuid = source.uuid;
  info.type = TypeOf(source, info.name);
  HEARTH_TRY(CheckIsSound(info, source));
  info.fp16_storage = true;     // packHalf2x16 and RGBA16F texels belong to ES 3.1
  info.fp16_arithmetic = true;  // mediump lets the driver use 16 bits, but no query tells whether it does
  info.unified_memory = NameHasUnifiedMemory(info);
  // The API has no number of compute units. A software driver has the CPU's; a GPU's is derived from its name.
  info.compute_units = info.is_software() ? CpusOfThisProcess() : 0;
  // llvmpipe's binaries contain the number of CPUs of the process, and are refused with any other.
  info.binary_cpus = info.compute_units;
  info.driver_environment = DriverEnvironmentOf(info);
  info.compile_grouping = CompileGrouping::kEach;
  ReadWorkGroupLimits(info);
  ReadExtensions(version, facts);
  HEARTH_TRY(TakeGlErrors("reading the limits of " + info.name));
  if (info.max_local_invocations == 0 || info.max_storage_buffers == 0 || info.max_binding_bytes == 0) {
    return Error(StatusCode::kUnavailable, "{}: {} has no compute shaders with storage buffers", source.name,
                 info.name);
  }
  info = WithUsableLimits(std::move(info));
  return facts;
}

}  // namespace hearth::gles
