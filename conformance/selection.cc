#include "conformance/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"

namespace hearth::conformance {
namespace {

constexpr std::string_view kDeviceOp = "hal";

bool Fits(const std::string& pattern, std::string_view op, const std::string& id) {
  return pattern == op || MatchesGlob(id, pattern);
}

// The same in every run and build.
uint64_t NumberOf(const std::string& text) {
  const Fingerprint hash = FingerprintOf(BytesOf(text));
  return hash.bytes[0] | hash.bytes[1] << 8;
}

bool IsTaken(const Selection& selection, std::string_view op, const std::string& id, const std::string& family) {
  const auto fits = [&](const std::string& pattern) { return Fits(pattern, op, id); };
  if (!selection.filters.empty() && std::ranges::none_of(selection.filters, fits)) return false;
  if (std::ranges::any_of(selection.excluded, fits)) return false;
  return static_cast<int>(NumberOf(family) % selection.shards) == selection.shard - 1;
}

// All names that a pattern may be meant to be.
std::vector<std::string> AllNames() {
  const std::vector<ConformanceCase> cases = AllCases();
  std::vector<std::string> names = {std::string(kDeviceOp)};
  for (const ConformanceCase& test : cases) {
    if (names.back() != test.op) names.push_back(test.op);
  }
  for (const ConformanceCase& test : cases) names.push_back(test.id());
  for (const DeviceCase& test : DeviceCases()) names.push_back(IdOf(test));
  return names;
}

Status CheckFits(std::span<const std::string> patterns) {
  if (patterns.empty()) return Status::Ok();
  const std::vector<std::string> names = AllNames();
  for (const std::string& pattern : patterns) {
    // The name of an operation is a name itself.
    if (std::ranges::any_of(names, [&](const std::string& name) { return MatchesGlob(name, pattern); })) continue;
    const std::string meant = NearestName(pattern, names);
    return Error(StatusCode::kNotFound, "no case fits '{}'{}; `hearth conformance --list` shows all", pattern,
                 meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
  }
  return Status::Ok();
}

}  // namespace

std::string IdOf(const DeviceCase& test) {
  return fmt::format("{}/{}", kDeviceOp, test.name);
}

Status Selection::Check() const {
  HEARTH_TRY(CheckFits(filters));
  return CheckFits(excluded);
}

std::vector<ConformanceCase> Selection::Cases() const {
  std::vector<ConformanceCase> cases = AllCases();
  std::erase_if(cases, [&](const ConformanceCase& test) {
    return !IsTaken(*this, test.op, test.id(), test.family) ||
           NumberOf(fmt::format("{} {}", seed, test.id())) % sample != 0;
  });
  return cases;
}

std::vector<DeviceCase> Selection::ChecksOfDevices() const {
  std::vector<DeviceCase> cases;
  for (const DeviceCase& test : DeviceCases()) {
    if (IsTaken(*this, kDeviceOp, IdOf(test), test.name)) cases.push_back(test);
  }
  return cases;
}

Status ParseShard(const std::string& text, Selection& selection) {
  const size_t slash = text.find('/');
  const std::string_view whole = text;
  if (slash != text.npos && NumberFrom(whole.substr(0, slash), selection.shard) &&
      NumberFrom(whole.substr(slash + 1), selection.shards) && selection.shard >= 1 &&
      selection.shard <= selection.shards) {
    return Status::Ok();
  }
  return Error(StatusCode::kInvalidArgument, "a shard is written as 2/8, the second of eight; '{}' is not", text);
}

std::vector<std::string> ListedLines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::string_view line : PartsOf(text, '\n')) {
    const size_t remark = line.starts_with('#') ? 0 : line.find(" #");
    line = Trimmed(line.substr(0, remark));
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

Result<std::vector<Expectation>> ParseExpectations(const std::vector<std::string>& lines) {
  std::vector<Expectation> expected;
  std::vector<std::string> patterns;
  for (const std::string_view line : lines) {
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) {
      return Error(StatusCode::kMalformedInput, "'{}' has no reason: write 'conv_2d/1x1: why it fails'", line);
    }
    Expectation made{.cases = Trimmed(line.substr(0, colon)), .reason = Trimmed(line.substr(colon + 2))};
    if (const size_t bracket = made.cases.find(" ["); bracket != std::string_view::npos && made.cases.ends_with(']')) {
      made.path = made.cases.substr(bracket + 2, made.cases.size() - bracket - 3);
      made.cases = made.cases.substr(0, bracket);
    }
    patterns.emplace_back(made.cases);
    expected.push_back(made);
  }
  HEARTH_TRY(CheckFits(patterns));
  return expected;
}

}  // namespace hearth::conformance
