#include "tests/models/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hearth::testing {
namespace {

std::vector<std::byte> ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

// An RGB image is stored as bytes where the model takes floats.
std::vector<std::byte> AsModelType(std::vector<std::byte> bytes, const nlohmann::json& tensor) {
  if (tensor.at("dtype") != "float32" || tensor.at("file_dtype") != "uint8") return bytes;
  std::vector<float> floats(bytes.size());
  std::transform(bytes.begin(), bytes.end(), floats.begin(), [](std::byte b) { return static_cast<float>(b); });
  const auto* first = reinterpret_cast<const std::byte*>(floats.data());
  return {first, first + floats.size() * sizeof(float)};
}

std::vector<GoldenTensor> ReadTensors(const nlohmann::json& list, const std::filesystem::path& folder) {
  std::vector<GoldenTensor> tensors;
  for (const nlohmann::json& tensor : list) {
    tensors.push_back({tensor.at("name"), AsModelType(ReadBytes(folder / tensor.at("file").get<std::string>()), tensor),
                       tensor.value("peer_max_abs_diff", 0.0)});
  }
  return tensors;
}

}  // namespace

Golden ReadGolden(const std::filesystem::path& root, const std::filesystem::path& manifest) {
  std::ifstream file(manifest);
  nlohmann::json json = nlohmann::json::parse(file);
  if (json.contains("goldens")) json = json.at("goldens").at(0);
  return {root / json.at("model").get<std::string>(), ReadTensors(json.at("inputs"), manifest.parent_path()),
          ReadTensors(json.at("outputs"), manifest.parent_path())};
}

Distance CompareFloats(const std::vector<std::byte>& golden, double peer_max_abs_diff, const std::byte* actual) {
  Distance distance;
  double largest = 0;
  for (size_t at = 0; at < golden.size(); at += sizeof(float)) {
    float expected = 0, got = 0;
    std::memcpy(&expected, golden.data() + at, sizeof(float));
    std::memcpy(&got, actual + at, sizeof(float));
    const double difference = std::abs(double{expected} - double{got});
    distance.max_abs = std::isnan(difference) ? INFINITY : std::max(distance.max_abs, difference);
    largest = std::max(largest, std::abs(double{expected}));
  }
  distance.allowed = std::max(1e-4 * std::max(1.0, largest), 3 * peer_max_abs_diff);
  return distance;
}

}  // namespace hearth::testing
