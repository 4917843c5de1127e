#include "core/emit/kernel_library.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/emit/helpers.h"

namespace hearth {

extern const EmbeddedFile kKernelFiles[];
extern const size_t kKernelFilesCount;

namespace {

std::vector<std::string> WordsOfLine(std::string_view line) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at < line.size()) {
    const size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

// Applies one header line, already split; false if it has none of the known forms.
bool ApplyDirective(const std::vector<std::string>& words, KernelSource& source) {
  const std::string& kind = words[0];
  if (kind == "@read" || kind == "@write") {
    if (words.size() < 2) return false;
    TensorArg arg;
    arg.name = words[1];
    arg.direction = kind == "@read" ? ArgDirection::kRead : ArgDirection::kWrite;
    arg.wide = words.size() == 3 && words[2] == "wide";
    if (words.size() == 3 && words[2] == "integers") arg.storage = StorageType::kInt32;
    source.tensors.push_back(arg);
    return words.size() == 2 || arg.wide || arg.storage == StorageType::kInt32;
  }
  if (kind == "@int" || kind == "@float") {
    for (size_t k = 1; k < words.size(); ++k) {
      source.scalars.push_back({words[k], kind == "@int" ? ScalarType::kInt : ScalarType::kFloat});
    }
    return words.size() >= 2;
  }
  if (kind == "@define" && words.size() == 3) {
    source.defines.push_back({words[1], words[2]});
    return true;
  }
  if (kind == "@local" && words.size() == 4) {
    return NumberFrom(words[1], source.local_size[0]) && NumberFrom(words[2], source.local_size[1]) &&
           NumberFrom(words[3], source.local_size[2]);
  }
  if (kind == "@shared" && words.size() == 4) {
    source.shared.push_back({words[2], words[1], 0});
    return NumberFrom(words[3], source.shared.back().count);
  }
  return false;
}

}  // namespace

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (size_t k = 0; k < kKernelFilesCount; ++k) names.emplace_back(kKernelFiles[k].name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<KernelSource> ParseKernel(std::string_view name, std::string_view text) {
  KernelSource source;
  source.name = std::string(name);
  int line_number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++line_number;
    if (line == "---") {
      source.body = std::string(text);
      return source;
    }
    const std::vector<std::string> words = WordsOfLine(line);
    if (words.empty() || words[0].starts_with("//")) continue;
    if (!ApplyDirective(words, source)) {
      return Error(StatusCode::kInternal, "{}.kernel:{}: not a header line: '{}'", name, line_number, line);
    }
  }
  return Error(StatusCode::kInternal, "{}.kernel has no line '---' before its body", name);
}

Result<KernelSource> LoadKernel(std::string_view name) {
  for (size_t k = 0; k < kKernelFilesCount; ++k) {
    if (kKernelFiles[k].name == name) return ParseKernel(name, kKernelFiles[k].text);
  }
  return Error(StatusCode::kNotFound, "no kernel is named '{}'; there are: {}", name, fmt::join(KernelNames(), ", "));
}

Status SetDefine(KernelSource& source, std::string_view name, std::string_view value) {
  const auto define = std::ranges::find(source.defines, name, &Define::name);
  if (define == source.defines.end())
    return Error(StatusCode::kInternal, "kernel {} has no define {}", source.name, name);
  define->value = std::string(value);
  return Status::Ok();
}

// ---- A kernel of a cached plan, checked against the library ----

namespace {

constexpr size_t kMostTensors = 32, kMostScalars = 128, kMostNameSize = 40;
constexpr uint32_t kMostInvocations = 4096, kMostSharedTexels = 1 << 16;

bool IsIdentifier(std::string_view name) {
  return !name.empty() && name.size() <= kMostNameSize && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, IsOfIdentifier);
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
