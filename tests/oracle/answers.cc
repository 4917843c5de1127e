#include "tests/oracle/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/graph/element.h"

namespace hearth::oracle {
namespace {

std::vector<std::byte> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

std::vector<std::byte> Part(const std::vector<std::byte>& bytes, const nlohmann::json& place) {
  const std::span<const std::byte> part =
      std::span(bytes).subspan(place.at("offset").get<size_t>(), place.at("size").get<size_t>());
  return {part.begin(), part.end()};
}

double AllowedSteps(const AnsweredModel& model, const Answer& answer) {
  if (model.tolerance == "moved") return 1;
  return model.tolerance == "quantized" ? model.steps + answer.peer_distance : 0;
}

double AllowedDistance(const AnsweredModel& model, const Answer& answer, double largest) {
  if (!IsFloat(answer.dtype)) return AllowedSteps(model, answer);
  if (model.tolerance == "exact" || model.tolerance == "moved") return 0;
  return 1e-4 * std::max(1.0, largest) + (model.tolerance == "hybrid" ? model.hybrid_error : 0);
}

// Integers of 64 bits have more digits than a double.
double DistanceBetween(DType dtype, std::span<const std::byte> expected, std::span<const std::byte> actual,
                       int64_t at) {
  if (dtype == DType::kInt64) {
    const auto a = LoadAt<int64_t>(expected.data(), at), b = LoadAt<int64_t>(actual.data(), at);
    return static_cast<double>(static_cast<uint64_t>(std::max(a, b)) - static_cast<uint64_t>(std::min(a, b)));
  }
  if (dtype == DType::kUInt64) {
    const auto a = LoadAt<uint64_t>(expected.data(), at), b = LoadAt<uint64_t>(actual.data(), at);
    return static_cast<double>(std::max(a, b) - std::min(a, b));
  }
  const double a = LoadElement(dtype, expected, at), b = LoadElement(dtype, actual, at);
  const bool same = a == b || (std::isnan(a) && std::isnan(b));
  return same ? 0 : std::abs(a - b);
}

}  // namespace

std::vector<AnsweredModel> ReadAnswers(const std::filesystem::path& folder, const std::string& family) {
  const std::vector<std::byte> bytes = ReadFile(folder / "expected.bin");
  std::ifstream file(folder / "expected.json");
  std::vector<AnsweredModel> models;
  const nlohmann::json json = nlohmann::json::parse(file);
  for (const nlohmann::json& item : json.at("models")) {
    if (item.at("family") != family) continue;
    AnsweredModel model{.file = item.at("file"),
                        .family = family,
                        .shows = item.at("shows"),
                        .tolerance = item.at("tolerance"),
                        .runs = item.at("runs"),
                        .hybrid_error = item.value("hybrid_error", 0.0),
                        .steps = item.value("steps", 2.0),
                        .inputs = {},
                        .outputs = {}};
    for (const nlohmann::json& input : item.at("inputs")) model.inputs.push_back(Part(bytes, input));
    for (const nlohmann::json& output : item.at("outputs")) {
      model.outputs.push_back(
          {Part(bytes, output), *DTypeFromName(output.at("dtype").get<std::string>()), output.at("peer_distance")});
    }
    models.push_back(std::move(model));
  }
  return models;
}

std::string Disagreement(const AnsweredModel& model, size_t k, std::span<const std::byte> actual) {
  const Answer& answer = model.outputs[k];
  if (actual.size() != answer.bytes.size()) {
    return fmt::format("output {} has {} bytes, the interpreter's {}", k, actual.size(), answer.bytes.size());
  }
  const auto count = static_cast<int64_t>(actual.size() * 8 / BitsOf(answer.dtype));
  double largest = 0, worst = -1;
  int64_t worst_at = 0;
  for (int64_t at = 0; at < count; ++at) {
    const double expected = LoadElement(answer.dtype, answer.bytes, at);
    if (std::isfinite(expected)) largest = std::max(largest, std::abs(expected));
    const double distance = DistanceBetween(answer.dtype, answer.bytes, actual, at);
    if (distance <= worst) continue;  // one that is not a number counts as the worst
    worst = std::isnan(distance) ? INFINITY : distance;
    worst_at = at;
  }
  const double allowed = AllowedDistance(model, answer, largest);
  if (worst <= allowed) return "";
  return fmt::format("element {} of output {} is {:.8g}, the interpreter's {:.8g}; off by {:.3g}, allowed {:.3g}",
                     worst_at, k, LoadElement(answer.dtype, actual, worst_at),
                     LoadElement(answer.dtype, answer.bytes, worst_at), worst, allowed);
}

}  // namespace hearth::oracle
