// Everything that a device must refuse, and the codes: the comments in hal/device/device.h as cases. They need no
// arithmetic, so the null device runs them too.
#include <string>
#include <vector>

#include "conformance/device_case_support.h"
#include "conformance/device_cases.h"
#include "core/base/error.h"

namespace hearth::conformance {
namespace {

// Larger numbers are not tried: the driver reports none, or one that no kernel reaches.
constexpr uint32_t kMostTried = 4096;
constexpr uint64_t kMostBytesTried = uint64_t{1} << 29;

KernelSource ContractKernel(const Device& device) {
  return UnaryKernel(device, "contract", 16, "y_store(GID(0), x_load(GID(0)));\n");
}

Status Expect(const Status& status, StatusCode code, std::string_view what, std::string_view part = "") {
  if (status.code() != code) {
    return Error(StatusCode::kInternal, "{}: the answer is '{}' ({}) instead of {}", what,
                 StatusCodeName(status.code()), status.message(), StatusCodeName(code));
  }
  if (status.message().find(part) != std::string::npos) return Status::Ok();
  return Error(StatusCode::kInternal, "{}: '{}' does not name {}", what, status.message(), part);
}

Status ExpectRefused(Device& device, const KernelSource& source, StatusCode code, std::string_view what) {
  return Expect(device.Compile({&source, 1}).status(), code, what, source.name);
}

Status NoLimit(const Device& device, std::string_view what) {
  return Error(StatusCode::kUnsupported, "no limit of {} on {} that is worth a try", what, device.info().name);
}

Status ABrokenKernelIsUnavailableAndNamed(Device& device) {
  KernelSource source = ContractKernel(device);
  source.name = "broken_on_purpose";
  source.body = "int at = no_such_function(1;\ny_store(at, x_load(at));\n";
  HEARTH_TRY(ExpectRefused(device, source, StatusCode::kUnavailable, "a kernel that is not a program"));
  const KernelSource good = ContractKernel(device);
  return device.Compile({&good, 1}).status();  // the device still works
}

Status TooManyBuffersAreExhausted(Device& device) {
  const uint32_t limit = device.info().max_storage_buffers;
  if (limit > kMostTried) return NoLimit(device, "storage buffers");
  KernelSource source = ContractKernel(device);
  while (source.tensors.size() <= limit) source.tensors.push_back({.name = fmt::format("t{}", source.tensors.size())});
  return ExpectRefused(device, source, StatusCode::kResourceExhausted, "a buffer too many");
}

Status TooManyTexelBuffersAreExhausted(Device& device) {
  const uint32_t limit = device.info().max_texel_buffers;
  if (limit > kMostTried) return NoLimit(device, "texel buffers");
  KernelSource source = ContractKernel(device);
  for (uint32_t k = 0; k <= limit; ++k)
    source.tensors.push_back({.name = fmt::format("t{}", k), .path = AccessPath::kTexelBuffer});
  return ExpectRefused(device, source, StatusCode::kResourceExhausted, "a texel buffer too many");
}

Status TooManyScalarsAreExhausted(Device& device) {
  const uint32_t limit = std::min(device.info().max_scalar_bytes, device.info().max_argument_bytes);
  if (limit > 4 * kMostTried) return NoLimit(device, "scalars");
  KernelSource source = ContractKernel(device);
  for (uint32_t k = 0; k <= limit / 4; ++k) source.scalars.push_back({fmt::format("s{}", k), ScalarType::kInt});
  return ExpectRefused(device, source, StatusCode::kResourceExhausted, "a scalar too many");
}

Status WorkGroupsKeepTheLimits(Device& device) {
  const DeviceInfo& info = device.info();
  KernelSource source = ContractKernel(device);
  for (int d = 0; d < 3; ++d) {
    if (info.max_local_size[d] == UINT32_MAX) continue;
    source.local_size = {1, 1, 1};
    source.local_size[d] = info.max_local_size[d] + 1;
    HEARTH_TRY(ExpectRefused(device, source, StatusCode::kResourceExhausted, "a work group too long"));
  }
  source.local_size = {1, 1, 1};
  for (int d = 0; d < 3; ++d) {  // fills dimension after dimension until there is one item too many
    uint32_t& size = source.local_size[d];
    while (size < info.max_local_size[d] &&
           uint64_t{source.local_size[0]} * source.local_size[1] * source.local_size[2] <= info.max_local_invocations)
      ++size;
  }
  const uint64_t items = uint64_t{source.local_size[0]} * source.local_size[1] * source.local_size[2];
  if (items > info.max_local_invocations)
    HEARTH_TRY(ExpectRefused(device, source, StatusCode::kResourceExhausted, "a work group with too many items"));
  source.local_size = {1, 0, 1};
  return ExpectRefused(device, source, StatusCode::kInvalidArgument, "an empty work group");
}

Status TooMuchLocalMemoryIsExhausted(Device& device) {
  KernelSource source = ContractKernel(device);
  source.shared = {{"part", "float4", device.info().local_memory_bytes / 16 + 1}};
  return ExpectRefused(device, source, StatusCode::kResourceExhausted, "local memory");
}

Status BuffersKeepTheirLimits(Device& device) {
  HEARTH_TRY(Expect(device.CreateBuffer(0).status(), StatusCode::kInvalidArgument, "a buffer of nothing"));
  const uint64_t limit = device.info().max_buffer_bytes;
  if (limit == UINT64_MAX) return Status::Ok();
  return Expect(device.CreateBuffer(limit + 1).status(), StatusCode::kResourceExhausted, "a buffer over the limit");
}

Status DamagedBinariesAreMalformed(Device& device) {
  const KernelSource source = ContractKernel(device);
  HEARTH_ASSIGN(const auto group, device.Compile({&source, 1}));
  const std::vector<std::byte> noise(64, std::byte{0x5a});
  HEARTH_TRY(Expect(device.Load({&source, 1}, noise).status(), StatusCode::kMalformedInput, "64 equal bytes"));
  HEARTH_TRY(Expect(device.Load({&source, 1}, {}).status(), StatusCode::kInvalidArgument, "no bytes"));
  HEARTH_TRY(Expect(device.LoadParts({&source, 1}, noise, {}).status(), StatusCode::kInvalidArgument, "one part"));
  if (device.portable_compiler().empty()) return Status::Ok();
  return Expect(device.LoadParts({&source, 1}, noise, noise).status(), StatusCode::kMalformedInput, "parts of noise");
}

// One copy of 16 texels, in which a case changes one thing.
struct OneDispatch {
  std::unique_ptr<ProgramGroup> group;
  std::unique_ptr<Buffer> x, y;
  DispatchCommand command;
};

Result<OneDispatch> MakeOneDispatch(Device& device, uint64_t size_bytes = 16 * 16) {
  OneDispatch made;
  const KernelSource source = ContractKernel(device);
  HEARTH_ASSIGN(made.group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(made.x, device.CreateBuffer(size_bytes));
  HEARTH_ASSIGN(made.y, device.CreateBuffer(16 * 16));
  made.command = {
      made.group->programs()[0].get(), {{made.x.get(), 0, 256}, {made.y.get(), 0, 256}}, {}, {1, 1, 1}, "one"};
  return made;
}

Status WrongArgumentsAreInvalid(Device& device) {
  HEARTH_ASSIGN(const OneDispatch good, MakeOneDispatch(device));
  const auto invalid = [&](auto spoil, std::string_view what) {
    DispatchCommand command = good.command;
    spoil(command);
    return Expect(device.Prepare({{command}}).status(), StatusCode::kInvalidArgument, what, "one");
  };
  HEARTH_TRY(device.Prepare({{good.command}}).status());
  HEARTH_TRY(invalid([](DispatchCommand& c) { c.program = nullptr; }, "no program"));
  HEARTH_TRY(invalid([](DispatchCommand& c) { c.tensors.pop_back(); }, "a tensor is missing"));
  HEARTH_TRY(invalid([](DispatchCommand& c) { c.scalars.push_back(1); }, "a scalar too many"));
  HEARTH_TRY(invalid([](DispatchCommand& c) { c.tensors[0].buffer = nullptr; }, "no buffer"));
  HEARTH_TRY(invalid([](DispatchCommand& c) { c.tensors[0].size_bytes = 0; }, "an empty range"));
  HEARTH_TRY(invalid([](DispatchCommand& c) { c.tensors[0].offset_bytes = 4; }, "a misaligned range"));
  return invalid([](DispatchCommand& c) { ++c.tensors[1].size_bytes; }, "a range that ends behind its buffer");
}

Status TooManyWorkGroupsAreExhausted(Device& device) {
  HEARTH_ASSIGN(OneDispatch one, MakeOneDispatch(device));
  for (int d = 0; d < 3; ++d) {
    const uint32_t limit = device.info().max_group_count[d];
    one.command.group_count = {1, 1, 1};
    one.command.group_count[d] = limit == UINT32_MAX ? 0 : limit + 1;
    HEARTH_TRY(Expect(device.Prepare({{one.command}}).status(), StatusCode::kResourceExhausted, "too many work groups",
                      "contract"));
  }
  return Status::Ok();
}

Status ABindingOverTheLimitIsExhausted(Device& device) {
  const DeviceInfo& info = device.info();
  const uint64_t size_bytes = info.max_binding_bytes + info.buffer_offset_alignment;
  if (size_bytes > info.max_buffer_bytes || size_bytes > kMostBytesTried) return NoLimit(device, "bindings");
  HEARTH_ASSIGN(OneDispatch one, MakeOneDispatch(device, size_bytes));
  one.command.tensors[0].size_bytes = size_bytes;
  return Expect(device.Prepare({{one.command}}).status(), StatusCode::kResourceExhausted, "a binding too large", "'x'");
}

constexpr DeviceCase kContractCases[] = {HEARTH_DEVICE_CASE(ABrokenKernelIsUnavailableAndNamed),
                                         HEARTH_DEVICE_CASE(TooManyBuffersAreExhausted),
                                         HEARTH_DEVICE_CASE(TooManyTexelBuffersAreExhausted),
                                         HEARTH_DEVICE_CASE(TooManyScalarsAreExhausted),
                                         HEARTH_DEVICE_CASE(WorkGroupsKeepTheLimits),
                                         HEARTH_DEVICE_CASE(TooMuchLocalMemoryIsExhausted),
                                         HEARTH_DEVICE_CASE(BuffersKeepTheirLimits),
                                         HEARTH_DEVICE_CASE(DamagedBinariesAreMalformed),
                                         HEARTH_DEVICE_CASE(WrongArgumentsAreInvalid),
                                         HEARTH_DEVICE_CASE(TooManyWorkGroupsAreExhausted),
                                         HEARTH_DEVICE_CASE(ABindingOverTheLimitIsExhausted)};

}  // namespace

std::span<const DeviceCase> ContractCases() {
  return kContractCases;
}

}  // namespace hearth::conformance
