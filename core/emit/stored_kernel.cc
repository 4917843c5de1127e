// Checks a kernel of a cached plan against the kernel library.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/emit/kernel_library.h"

namespace hearth {
namespace {

constexpr size_t kMostTensors = 32, kMostScalars = 128, kMostNameSize = 40;
constexpr uint32_t kMostInvocations = 4096, kMostSharedTexels = 1 << 16;

bool IsIdentifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= kMostNameSize && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Whether lowering can set this path. Textures and their formats occur only in memory that a caller lends.
bool IsPathOf(const TensorArg& arg) {
  if (arg.storage > StorageType::kInt32) return false;
  switch (arg.path) {
    case AccessPath::kBuffer: return true;
    case AccessPath::kTexelBuffer: return arg.direction == ArgDirection::kRead && arg.storage != StorageType::kInt32;
    case AccessPath::kBuffer64: return arg.direction == ArgDirection::kWrite && arg.storage == StorageType::kFloat32;
    case AccessPath::kTexture: return false;
  }
  return false;
}

// The kernel's own tensors first, then those that its epilogue reads.
bool HasTensorsOf(const KernelSource& library, const KernelSource& source) {
  const size_t own = library.tensors.size(), count = source.tensors.size();
  if (count < own || count > kMostTensors) return false;
  for (size_t k = 0; k < count; ++k) {
    const TensorArg& arg = source.tensors[k];
    const TensorArg known = k < own ? library.tensors[k] : TensorArg{.name = arg.name};
    const bool is_known = arg.name == known.name && arg.direction == known.direction && arg.wide == known.wide;
    if (!is_known || !IsPathOf(arg)) return false;
  }
  return true;
}

bool HasScalarsOf(const KernelSource& library, const KernelSource& source) {
  return source.scalars.size() <= kMostScalars && source.scalars.size() >= library.scalars.size() &&
         std::equal(library.scalars.begin(), library.scalars.end(), source.scalars.begin());
}

bool HasDefinesOf(const KernelSource& library, const KernelSource& source) {
  return std::ranges::equal(library.defines, source.defines, [](const Define& known, const Define& define) {
    return known.name == define.name && (known.value == define.value || IsDefineValue(define.value));
  });
}

// The arrays of the library's kernel, as long as lowering made them.
bool HasSharedArraysOf(const KernelSource& library, const KernelSource& source) {
  return std::ranges::equal(library.shared, source.shared, [](const SharedArray& known, const SharedArray& array) {
    return known.name == array.name && known.type == array.type && array.count > 0 && array.count <= kMostSharedTexels;
  });
}

// The names of all arguments; empty if one is no name or occurs twice.
std::set<std::string_view> NamesOf(const KernelSource& source) {
  std::set<std::string_view> names;
  const auto add = [&](const auto& args) {
    return std::ranges::all_of(
        args, [&](const auto& arg) { return IsIdentifier(arg.name) && names.insert(arg.name).second; });
  };
  if (!add(source.tensors) || !add(source.scalars)) names.clear();
  return names;
}

bool IsGoodEpilogue(const KernelSource& source) {
  const std::set<std::string_view> names = NamesOf(source);
  return !names.empty() && std::ranges::all_of(source.epilogue, [&](const EpilogueStatement& statement) {
    return IsComplete(statement) &&
           std::ranges::all_of(statement.arguments, [&](const std::string& name) { return names.contains(name); });
  });
}

bool IsGoodLocalSize(const std::array<uint32_t, 3>& size) {
  uint64_t invocations = 1;
  for (uint32_t dimension : size) {
    if (dimension == 0 || dimension > kMostInvocations) return false;
    invocations *= dimension;
  }
  return invocations <= kMostInvocations;
}

}  // namespace

Status CompleteStoredKernel(KernelSource& source) {
  Result<KernelSource> library = LoadKernel(source.name);
  if (!library.ok()) return Error(StatusCode::kMalformedInput, "a plan names a kernel that there is not");
  const bool is_known = HasTensorsOf(*library, source) && HasScalarsOf(*library, source) &&
                        HasSharedArraysOf(*library, source) && HasDefinesOf(*library, source) &&
                        IsGoodEpilogue(source) && IsGoodLocalSize(source.local_size);
  if (!is_known) {
    return Error(StatusCode::kMalformedInput, "a plan calls kernel {} in a way that there is not", library->name);
  }
  source.body = std::move(library->body);
  return Status::Ok();
}

}  // namespace hearth
