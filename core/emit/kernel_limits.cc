#include "core/emit/kernel_limits.h"

#include <algorithm>

#include "core/base/error.h"

namespace hearth {
namespace {

Status AtMost(const KernelSource& source, uint64_t needed, uint64_t limit, std::string_view what,
              const DeviceInfo& info) {
  if (needed <= limit) return Status::Ok();
  return Error(StatusCode::kResourceExhausted, "kernel {} needs {} {}, {} has {}", source.name, needed, what, info.name,
               limit);
}

Status CheckArguments(const KernelSource& source, const DeviceInfo& info) {
  const auto sampled = static_cast<uint64_t>(std::ranges::count_if(source.tensors, IsSampled));
  const auto images = static_cast<uint64_t>(std::ranges::count_if(source.tensors, IsImage));
  const uint64_t scalar_bytes = source.scalars.size() * sizeof(uint32_t);
  const uint64_t buffers = source.tensors.size() - sampled - images;
  HEARTH_TRY(AtMost(source, buffers, info.max_storage_buffers, "storage buffers", info));
  HEARTH_TRY(AtMost(source, sampled, info.max_texel_buffers, "texel buffers", info));
  HEARTH_TRY(AtMost(source, scalar_bytes, info.max_scalar_bytes, "bytes of scalars", info));
  return AtMost(source, scalar_bytes + kPointerBytes * source.tensors.size(), info.max_argument_bytes,
                "bytes of arguments", info);
}

Status CheckWorkGroup(const KernelSource& source, const DeviceInfo& info) {
  uint64_t items = 1;  // fits into 64 bits, since each size is checked first
  for (int d = 0; d < 3; ++d) {
    if (source.local_size[d] == 0)
      return Error(StatusCode::kInvalidArgument, "kernel {} has an empty work group", source.name);
    HEARTH_TRY(
        AtMost(source, source.local_size[d], info.max_local_size[d], "items in one dimension of a work group", info));
    items *= source.local_size[d];
    HEARTH_TRY(AtMost(source, items, info.max_local_invocations, "items in a work group", info));
  }
  return Status::Ok();
}

uint64_t ElementBytes(const SharedArray& shared) {
  const uint64_t width = shared.type.ends_with("16")  ? 16
                         : shared.type.ends_with('4') ? 4
                         : shared.type.ends_with('2') ? 2
                                                      : 1;
  return width * sizeof(float);
}

}  // namespace

uint64_t LocalMemoryBytes(const KernelSource& source) {
  uint64_t bytes = 0;
  for (const SharedArray& shared : source.shared) bytes += ElementBytes(shared) * shared.count;
  return bytes;
}

uint64_t LocalBytesOfItem(const KernelSource& source) {
  uint64_t bytes = 0;
  for (const SharedArray& shared : source.shared) bytes += ElementBytes(shared);
  return bytes;
}

Status CheckKernelLimits(const KernelSource& source, const DeviceInfo& info) {
  HEARTH_TRY(CheckArguments(source, info));
  HEARTH_TRY(CheckWorkGroup(source, info));
  HEARTH_TRY(AtMost(source, LocalMemoryBytes(source), info.local_memory_bytes, "bytes of local memory", info));
  const bool reads_texels = std::ranges::any_of(
      source.tensors, [](const TensorArg& arg) { return IsSampled(arg) && arg.path == AccessPath::kTexelBuffer; });
  return AtMost(source, reads_texels ? 1 : 0, info.max_texel_elements, "texels", info);
}

Status CheckBindingLimit(const KernelSource& source, const TensorArg& arg, uint64_t size_bytes,
                         const DeviceInfo& info) {
  if (arg.path == AccessPath::kTexture) return Status::Ok();
  const bool as_texels = IsSampled(arg);
  const uint64_t limit = as_texels ? std::min(info.max_texel_elements, info.max_buffer_bytes / TexelBytes(arg.storage))
                                   : std::min(info.max_binding_bytes, info.max_buffer_bytes);
  const uint64_t needed = as_texels ? size_bytes / TexelBytes(arg.storage) : size_bytes;
  if (needed <= limit) return Status::Ok();
  return Error(StatusCode::kResourceExhausted, "argument '{}' of kernel {} has {} {}, one binding on {} takes {}",
               arg.name, source.name, needed, as_texels ? "texels" : "bytes", info.name, limit);
}

Status CheckGroupLimits(const KernelSource& source, const std::array<uint64_t, 3>& group_count,
                        const DeviceInfo& info) {
  for (int d = 0; d < 3; ++d) {
    if (group_count[d] != 0 && group_count[d] <= info.max_group_count[d]) continue;
    return Error(StatusCode::kResourceExhausted, "kernel {} needs {} work groups in dimension {}, {} takes 1 to {}",
                 source.name, group_count[d], d, info.name, info.max_group_count[d]);
  }
  return Status::Ok();
}

}  // namespace hearth
