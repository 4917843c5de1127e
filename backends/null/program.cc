#include "backends/null/program.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"

namespace hearth {
namespace {

uint64_t SharedBytes(const KernelSource& source) {
  uint64_t bytes = 0;
  for (const SharedArray& shared : source.shared) {
    const uint64_t width = shared.type.ends_with("16")  ? 16
                           : shared.type.ends_with('4') ? 4
                           : shared.type.ends_with('2') ? 2
                                                        : 1;
    bytes += width * sizeof(float) * shared.count;
  }
  return bytes;
}

Status CheckLimit(const KernelSource& source, std::string_view what, uint64_t needed, uint64_t limit) {
  if (needed <= limit) return Status::Ok();
  return Error(StatusCode::kResourceExhausted, "kernel {} needs {} {}, the device has {}", source.name, needed, what,
               limit);
}

Status CheckKernel(const KernelSource& source, const DeviceInfo& info) {
  uint64_t invocations = 1;
  for (int d = 0; d < 3; ++d) {
    HEARTH_TRY(CheckLimit(source, "items in one dimension of a group", source.local_size[d], info.max_local_size[d]));
    invocations *= source.local_size[d];
  }
  if (invocations == 0) return Error(StatusCode::kInvalidArgument, "kernel {} has an empty group", source.name);
  HEARTH_TRY(CheckLimit(source, "items in a group", invocations, info.max_local_invocations));
  HEARTH_TRY(CheckLimit(source, "bytes of local memory", SharedBytes(source), info.local_memory_bytes));
  HEARTH_TRY(CheckLimit(source, "bytes of scalars", source.scalars.size() * 4, info.max_scalar_bytes));

  const auto is_texel = [](const TensorArg& arg) {
    return arg.path == AccessPath::kTexelBuffer && arg.direction == ArgDirection::kRead;
  };
  const auto texels = static_cast<uint64_t>(std::ranges::count_if(source.tensors, is_texel));
  HEARTH_TRY(CheckLimit(source, "storage buffers", source.tensors.size() - texels, info.max_storage_buffers));
  return texels == 0 ? Status::Ok() : CheckLimit(source, "texel", 1, info.max_texel_elements);
}

}  // namespace

Result<std::unique_ptr<ProgramGroup>> NullProgramGroup::Compile(const DeviceInfo& info,
                                                                std::span<const KernelSource> sources) {
  std::unique_ptr<NullProgramGroup> group(new NullProgramGroup);
  for (const KernelSource& source : sources) {
    HEARTH_TRY(CheckKernel(source, info));
    group->entry_points_ += EntryPoint(source) + '\n';
    group->programs_.push_back(std::make_unique<Program>(source));
  }
  return std::unique_ptr<ProgramGroup>(std::move(group));
}

Result<std::unique_ptr<ProgramGroup>> NullProgramGroup::Load(const DeviceInfo& info,
                                                             std::span<const KernelSource> sources,
                                                             std::span<const std::byte> binary) {
  HEARTH_ASSIGN(std::unique_ptr<ProgramGroup> group, Compile(info, sources));
  HEARTH_ASSIGN(const std::vector<std::byte> expected, group->Binary());
  if (!std::ranges::equal(expected, binary)) {
    return Error(StatusCode::kInvalidArgument, "the binary holds other kernels than those asked for");
  }
  return group;
}

Result<std::vector<std::byte>> NullProgramGroup::Binary() {
  const auto* start = reinterpret_cast<const std::byte*>(entry_points_.data());
  return std::vector<std::byte>(start, start + entry_points_.size());
}

}  // namespace hearth
