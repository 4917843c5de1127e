#include "tools/hearth/results/model_outputs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "tools/hearth/files.h"
#include "tools/hearth/npy.h"

namespace hearth {
namespace {

// File systems allow 255 bytes; the rest is for index and extension.
constexpr size_t kMaxNameBytes = 200;

constexpr size_t kMaxLabelsBytes = size_t{16} << 20;

// "<index>_<name>.npy" with everything but letters, digits, '.', '_' and '-' as '_'.
std::string OutputFileName(size_t index, const std::string& name) {
  std::string safe = name.substr(0, kMaxNameBytes);
  for (char& c : safe) {
    const bool allowed =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!allowed) c = '_';
  }
  return fmt::format("{}_{}.npy", index, safe);
}

}  // namespace

Result<std::vector<std::string>> ReadLabels(const std::string& path) {
  std::error_code error;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, error)) {
    return Error(StatusCode::kNotFound, "can't read the labels {}: no such file, or not readable", path);
  }
  std::string text(kMaxLabelsBytes + 1, '\0');  // a pipe has no known size
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error(StatusCode::kIoError, "the labels {} can't be read", path);
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxLabelsBytes) {
    return Error(StatusCode::kInvalidArgument, "{} has over {} bytes: that is not a list of labels, one per line", path,
                 kMaxLabelsBytes);
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (text.empty() || text.find('\0') != std::string::npos) {
    return Error(StatusCode::kInvalidArgument, "{} {}: that is not a list of labels, one per line", path,
                 text.empty() ? "is empty" : "has bytes that are not text");
  }
  std::vector<std::string> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    labels.push_back(ValidUtf8(line));
  }
  return labels;
}

Result<std::string> WriteOutput(const std::string& folder, size_t index, const TensorInfo& info,
                                std::span<const std::byte> bytes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error(StatusCode::kIoError, "can't make the folder {}: {}", folder, error.message());
  Result<std::string> file = FormatNpy(info.dtype, info.shape, bytes);
  if (!file.ok()) return file.status().Within(fmt::format("output '{}'", info.name));
  const std::string path = (std::filesystem::path(folder) / OutputFileName(index, info.name)).string();
  HEARTH_TRY(WriteFile(path, file.value()));
  return path;
}

}  // namespace hearth
