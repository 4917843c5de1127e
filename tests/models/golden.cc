#include "tests/models/golden.h"

#include <fmt/format.h>

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
                       tensor.at("dtype"), tensor.value("peer_max_abs_diff", 0.0)});
  }
  return tensors;
}

template <typename T>
std::vector<double> Elements(std::span<const std::byte> bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return {elements.begin(), elements.end()};
}

std::string FloatDisagreement(const GoldenTensor& golden, const std::vector<double>& actual, double relative) {
  const std::vector<double> expected = Elements<float>(golden.bytes);
  double largest = 1, worst = 0;
  for (size_t k = 0; k < expected.size(); ++k) {
    const double difference = std::abs(expected[k] - actual[k]);
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    largest = std::max(largest, std::abs(expected[k]));
  }
  const double allowed = std::max(relative * largest, 3 * golden.peer_max_abs_diff);
  return worst <= allowed ? "" : fmt::format("it is off by {}, allowed {}", worst, allowed);
}

std::string StepDisagreement(const GoldenTensor& golden, const std::vector<double>& expected,
                             const std::vector<double>& actual) {
  double worst = 0;
  size_t within_two = 0;
  for (size_t k = 0; k < expected.size(); ++k) {
    const double steps = std::abs(expected[k] - actual[k]);
    worst = std::max(worst, steps);
    within_two += steps <= 2 ? 1 : 0;
  }
  const double share = static_cast<double>(within_two) / static_cast<double>(expected.size());
  if (share < 0.99 && worst > 2 * golden.peer_max_abs_diff) {
    return fmt::format("{} of its elements lie within 2 steps, the worst is off by {}", share, worst);
  }
  const auto top = std::max_element(actual.begin(), actual.end()) - actual.begin();
  const double highest = *std::max_element(expected.begin(), expected.end());
  // Quantized scores tie easily: an element within the peer's distance of the highest may come first.
  if (expected[top] < highest - std::max(2.0, golden.peer_max_abs_diff)) {
    return fmt::format("its highest element is {}, {} steps below the golden's", top, highest - expected[top]);
  }
  return "";
}

}  // namespace

Golden ReadGolden(const std::filesystem::path& root, const std::filesystem::path& manifest) {
  std::ifstream file(manifest);
  nlohmann::json json = nlohmann::json::parse(file);
  if (json.contains("goldens")) json = json.at("goldens").at(0);
  return {root / json.at("model").get<std::string>(), ReadTensors(json.at("inputs"), manifest.parent_path()),
          ReadTensors(json.at("outputs"), manifest.parent_path())};
}

std::string Disagreement(const GoldenTensor& golden, std::span<const std::byte> actual, double relative) {
  if (actual.size() != golden.bytes.size()) return "it has another size";
  if (golden.dtype == "float32") return FloatDisagreement(golden, Elements<float>(actual), relative);
  if (golden.dtype == "uint8")
    return StepDisagreement(golden, Elements<uint8_t>(golden.bytes), Elements<uint8_t>(actual));
  if (golden.dtype == "int8") return StepDisagreement(golden, Elements<int8_t>(golden.bytes), Elements<int8_t>(actual));
  return "outputs of type " + golden.dtype + " are not known here";
}

void TakeOverLastClasses(Golden& golden, std::span<const std::byte> classes) {
  constexpr size_t kClasses = 1, kScores = 2;
  if (golden.outputs.size() != 4 || golden.outputs[kClasses].name.find("Detection_PostProcess") == std::string::npos)
    return;
  std::vector<std::byte>& expected = golden.outputs[kClasses].bytes;
  const std::vector<double> scores = Elements<float>(golden.outputs[kScores].bytes);
  if (golden.inputs[0].dtype == "float32" || classes.size() != expected.size() || scores.empty()) return;
  const double certain = *std::ranges::min_element(scores) + 2 * golden.outputs[kScores].peer_max_abs_diff;
  for (size_t k = 0; k < scores.size(); ++k) {
    if (scores[k] > certain) continue;
    std::memcpy(expected.data() + k * sizeof(float), classes.data() + k * sizeof(float), sizeof(float));
  }
}

}  // namespace hearth::testing
