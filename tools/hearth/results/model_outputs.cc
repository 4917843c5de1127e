#include "tools/hearth/results/model_outputs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/graph/element.h"
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

Result<std::vector<double>> OutputAsReals(const TensorInfo& info, std::span<const std::byte> bytes) {
  const std::optional<DType> dtype = DTypeFromName(info.dtype);
  if (!dtype || BitsOf(*dtype) < 8) {
    return Error(StatusCode::kUnsupported, "outputs of type {} can't be shown", info.dtype);
  }
  std::vector<double> values(bytes.size() * 8 / static_cast<size_t>(BitsOf(*dtype)));
  for (size_t k = 0; k < values.size(); ++k) values[k] = LoadElement(*dtype, bytes, static_cast<int64_t>(k));
  if (info.scales.size() == 1) {
    const double zero_point = info.zero_points.empty() ? 0.0 : static_cast<double>(info.zero_points[0]);
    for (double& value : values) value = static_cast<double>(info.scales[0]) * (value - zero_point);
  }
  return values;
}

Result<std::vector<float>> OutputAsFloats(const TensorInfo& info, std::span<const std::byte> bytes) {
  HEARTH_ASSIGN(const std::vector<double> values, OutputAsReals(info, bytes));
  std::vector<float> floats(values.size());
  std::ranges::transform(values, floats.begin(), [](double value) { return static_cast<float>(value); });
  return floats;
}

std::vector<TopEntry> TopEntries(std::span<const float> scores, size_t count, std::span<const std::string> labels) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t k) {
    return std::isnan(scores[k]) ? -std::numeric_limits<float>::infinity() : scores[k];
  };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](size_t a, size_t b) { return rank(a) != rank(b) ? rank(a) > rank(b) : a < b; });
  std::vector<TopEntry> top;
  for (size_t k = 0; k < count; ++k) {
    top.push_back({order[k], order[k] < labels.size() ? labels[order[k]] : "", scores[order[k]]});
  }
  return top;
}

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
  if (text.empty() || text.find('\0') != std::string::npos) {
    return Error(StatusCode::kInvalidArgument, "{} {}: that is not a list of labels, one per line", path,
                 text.empty() ? "is empty" : "has bytes that are not text");
  }
  std::vector<std::string> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    labels.push_back(line);
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
