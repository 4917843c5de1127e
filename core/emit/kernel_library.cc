#include "core/emit/kernel_library.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

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
  const auto define =
      std::find_if(source.defines.begin(), source.defines.end(), [&](const Define& d) { return d.name == name; });
  if (define == source.defines.end())
    return Error(StatusCode::kInternal, "kernel {} has no define {}", source.name, name);
  define->value = std::string(value);
  return Status::Ok();
}

}  // namespace hearth
