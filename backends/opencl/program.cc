#include "backends/opencl/program.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "backends/opencl/pocl.h"
#include "backends/opencl/submissions.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/emit/emit.h"
#include "hal/device/entry_points.h"

namespace hearth {
namespace {

// No relaxed arithmetic: -cl-fast-relaxed-math gained nothing on PoCL and would change results.
constexpr const char* kBuildOptions = "-cl-std=CL1.2";
// GPU compilers then load through the read-only cache; PoCL gains nothing. See kAlone in emit.h.
constexpr const char* kBuildOptionsOfGpus = "-cl-std=CL1.2 -Dpx_alone=restrict";

constexpr uint32_t kMagic = 0x314c4348;  // "HCL1"

// A binary has this, then the entry points, then the driver's bytes.
struct BinaryHeader {
  uint32_t magic = kMagic;
  uint32_t entry_points_bytes = 0;
  uint64_t binary_bytes = 0;
};

// Computed once per group, because EntryPoint emits the kernel's whole text to name it.
std::vector<std::string> EntryPoints(std::span<const KernelSource> sources) {
  std::vector<std::string> names;
  for (const KernelSource& source : sources) names.push_back(EntryPoint(source));
  return names;
}

std::string Lines(const std::vector<std::string>& entry_points) {
  std::string lines;
  for (const std::string& name : entry_points) lines += name + '\n';
  return lines;
}

std::string KernelNames(std::span<const KernelSource> sources) {
  std::string names;
  for (const KernelSource& source : sources) names += (names.empty() ? "" : ", ") + source.name;
  return names;
}

std::string BuildLog(const OpenClApi& api, cl_program program, cl_device_id device) {
  size_t size = 0;
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string log(size, '\0');
  if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) != CL_SUCCESS) {
    return "";
  }
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

struct BinaryParts {
  std::string_view entry_points;
  std::span<const std::byte> driver_bytes;
};

// The parts of `binary`; an error if Hearth did not make it or it lacks these kernels.
Result<BinaryParts> PartsOf(std::span<const std::byte> binary, const std::string& entry_points) {
  BinaryHeader header;
  if (binary.size() < sizeof header) {
    return Error(StatusCode::kMalformedInput, "an OpenCL binary of {} bytes is too short", binary.size());
  }
  std::memcpy(&header, binary.data(), sizeof header);
  const auto rest = binary.subspan(sizeof header);
  if (header.magic != kMagic || header.entry_points_bytes > rest.size() || header.binary_bytes == 0 ||
      header.binary_bytes != rest.size() - header.entry_points_bytes) {
    return Error(StatusCode::kMalformedInput, "an OpenCL binary of {} bytes has a damaged header", binary.size());
  }
  const std::string_view held = TextFrom(rest.first(header.entry_points_bytes));
  if (!HoldsLines(held, entry_points)) {
    return Error(StatusCode::kMalformedInput, "the OpenCL binary was made for other kernels");
  }
  return BinaryParts{held, rest.subspan(header.entry_points_bytes)};
}

void NoteItemsAsCompiled(const OpenClDriver& driver, size_t limit) {
  if (driver.items_as_compiled == nullptr || limit == 0) return;
  std::atomic<uint32_t>& fewest = *driver.items_as_compiled;
  uint32_t known = fewest;
  while (limit < known && !fewest.compare_exchange_weak(known, static_cast<uint32_t>(limit))) continue;
}

// A kernel that takes many registers may run in smaller groups than the device's largest.
Status CheckWorkGroup(const OpenClDriver& driver, cl_kernel kernel, const KernelSource& source) {
  size_t limit = 0;
  const cl_int code = driver.api.clGetKernelWorkGroupInfo(kernel, driver.device, CL_KERNEL_WORK_GROUP_SIZE,
                                                          sizeof limit, &limit, nullptr);
  const size_t items = size_t{source.local_size[0]} * source.local_size[1] * source.local_size[2];
  if (code != CL_SUCCESS || items <= limit) return Status::Ok();
  NoteItemsAsCompiled(driver, limit);
  return Error(StatusCode::kResourceExhausted, "kernel {} needs {} work items in a group; as compiled it supports {}",
               source.name, items, limit);
}

}  // namespace

Result<KernelHandle> OpenClProgram::CreateKernel() const {
  cl_int code = CL_SUCCESS;
  const cl_kernel kernel = api_.clCreateKernel(driver_program_, entry_point_.c_str(), &code);
  if (kernel == nullptr) return OpenClError(code, StatusCode::kUnavailable, fmt::format("kernel {}", entry_point_));
  return KernelHandle(api_, kernel);
}

Result<std::unique_ptr<ProgramGroup>> OpenClProgramGroup::Build(const OpenClDriver& driver,
                                                                DriverProgramHandle driver_program,
                                                                std::span<const KernelSource> sources,
                                                                const std::vector<std::string>& entry_points,
                                                                std::string held_entry_points) {
  if (driver.is_pocl) HEARTH_TRY(CheckPoclSurvives());
  const char* options = driver.is_software ? kBuildOptions : kBuildOptionsOfGpus;
  cl_int code = CL_SUCCESS;
  try {
    code = driver.api.clBuildProgram(driver_program.get(), 1, &driver.device, options, nullptr, nullptr);
  } catch (const std::bad_alloc&) {
    // PoCL's compiler throws through its C functions while it holds the program's lock: releasing the program would
    // wait for ever.
    driver_program.Leak();
    return Error(StatusCode::kResourceExhausted, "memory ran out in the driver while it built {}",
                 KernelNames(sources));
  }
  if (code != CL_SUCCESS) {
    const Status error = OpenClError(code, StatusCode::kUnavailable, "building " + KernelNames(sources));
    const std::string hint = driver.is_pocl ? HintOfPoclFolder() : "";
    const std::string log = BuildLog(driver.api, driver_program.get(), driver.device);
    return Status(error.code(), error.message() + (log.empty() ? "" : "\n" + log) + hint);
  }
  std::unique_ptr<OpenClProgramGroup> group(
      new OpenClProgramGroup(driver, std::move(driver_program), std::move(held_entry_points)));
  for (size_t k = 0; k < sources.size(); ++k) {
    auto program =
        std::make_unique<OpenClProgram>(driver.api, group->driver_program_.get(), sources[k], entry_points[k]);
    // Created once here, so that a missing kernel is an error of Compile or Load, not of the first Prepare.
    HEARTH_ASSIGN(const KernelHandle kernel, program->CreateKernel());
    HEARTH_TRY(CheckWorkGroup(driver, kernel.get(), sources[k]));
    group->programs_.push_back(std::move(program));
  }
  return std::unique_ptr<ProgramGroup>(std::move(group));
}

Result<std::unique_ptr<ProgramGroup>> OpenClProgramGroup::Compile(const OpenClDriver& driver,
                                                                  std::span<const KernelSource> sources) {
  const std::vector<std::string> entry_points = EntryPoints(sources);
  const std::string text = EmitOpenClProgram(sources);
  const char* start = text.data();
  const size_t size = text.size();
  cl_int code = CL_SUCCESS;
  DriverProgramHandle program(driver.api,
                              driver.api.clCreateProgramWithSource(driver.context, 1, &start, &size, &code));
  if (program.get() == nullptr) return OpenClError(code, StatusCode::kUnavailable, "source of " + KernelNames(sources));
  return Build(driver, std::move(program), sources, entry_points, Lines(entry_points));
}

Result<std::unique_ptr<ProgramGroup>> OpenClProgramGroup::Load(const OpenClDriver& driver,
                                                               std::span<const KernelSource> sources,
                                                               std::span<const std::byte> binary) {
  const std::vector<std::string> entry_points = EntryPoints(sources);
  HEARTH_ASSIGN(const BinaryParts parts, PartsOf(binary, Lines(entry_points)));
  const auto* start = reinterpret_cast<const unsigned char*>(parts.driver_bytes.data());
  const size_t size = parts.driver_bytes.size();
  cl_int binary_code = CL_SUCCESS, code = CL_SUCCESS;
  DriverProgramHandle program(driver.api, driver.api.clCreateProgramWithBinary(driver.context, 1, &driver.device, &size,
                                                                               &start, &binary_code, &code));
  if (program.get() == nullptr || binary_code != CL_SUCCESS) {
    return OpenClError(code != CL_SUCCESS ? code : binary_code, StatusCode::kUnavailable,
                       "the driver refuses the binary of " + KernelNames(sources));
  }
  return Build(driver, std::move(program), sources, entry_points, std::string(parts.entry_points));
}

Result<std::vector<std::byte>> OpenClProgramGroup::Binary() {
  // The context has one device, so there is one size and one binary. When asked for the size, PoCL 3.1 compiles each
  // kernel again, which takes 130-250 ms each; the bytes cost nothing after that.
  OpenClTraffic::Lock traffic;
  if (is_pocl_) {
    HEARTH_ASSIGN(traffic, OpenClTraffic::OfProcess().ToReadBinaries());
  }
  size_t size = 0;
  cl_int code = api_.clGetProgramInfo(driver_program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kUnsupported, "size of the program's binary");
  if (size == 0) return Error(StatusCode::kUnsupported, "the OpenCL driver has no program binaries");

  BinaryHeader header;
  header.entry_points_bytes = static_cast<uint32_t>(entry_points_.size());
  header.binary_bytes = size;
  std::vector<std::byte> container(sizeof header + entry_points_.size() + size);
  std::memcpy(container.data(), &header, sizeof header);
  std::memcpy(container.data() + sizeof header, entry_points_.data(), entry_points_.size());
  auto* start = reinterpret_cast<unsigned char*>(container.data() + sizeof header + entry_points_.size());
  code = api_.clGetProgramInfo(driver_program_.get(), CL_PROGRAM_BINARIES, sizeof start, &start, nullptr);
  if (code != CL_SUCCESS) return OpenClError(code, StatusCode::kUnsupported, "the program's binary");
  return container;
}

}  // namespace hearth
