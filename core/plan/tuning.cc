#include "core/plan/tuning.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

constexpr std::string_view kTitle = "tuned layer\n", kTitleOfAll = "tuned layer, all candidates\n";
// Limits of a record: beyond them it is damaged or forged.
constexpr size_t kMostCandidates = 1000;
constexpr int64_t kMostSamples = int64_t{1} << 40;
constexpr double kMostMs = 1e12, kMostSquares = kMostMs * kMostMs;

// Candidates that are not clearly faster don't replace the rules' choice: a table of narrow winners would change with
// each measurement.
constexpr double kClearlyFaster = 0.97;

std::string OperandText(const Graph& graph, ValueId value) {
  if (value == kNoValue) return "none";
  const TensorDesc& desc = graph.value(value).desc;
  return fmt::format("{}[{}]{}", DTypeName(desc.dtype), desc.shape, graph.IsConstant(value) ? " constant" : "");
}

}  // namespace

std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options) {
  std::string key = OpName(node.op);
  if (const std::string attributes = AttributesToText(node.op); !attributes.empty()) key += " " + attributes;
  key += ":";
  for (ValueId input : node.inputs) key += " " + OperandText(graph, input);
  key += " ->";
  for (ValueId output : node.outputs) key += " " + OperandText(graph, output);
  return key + fmt::format(", {}, {}", PrecisionName(options.precision),
                           AccessPathName(options.read_path.value_or(DefaultReadPath(device))));
}

std::string ToText(const TuningTable& table) {
  std::string text;
  for (const auto& [key, tuned] : table) text += fmt::format("{} = {}\n", key, ToText(tuned.choice));
  return text;
}

int64_t TuningRecord::samples() const {
  int64_t count = 0;
  for (const CandidateTime& candidate : candidates) count += candidate.count;
  return count;
}

const CandidateTime* TuningRecord::Best() const {
  if (candidates.empty()) return nullptr;
  const auto best =
      std::min_element(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.ms < b.ms; });
  return best->ms < kClearlyFaster * candidates.front().ms ? &*best : &candidates.front();
}

TuningTable TableOf(const TuningRecords& records) {
  TuningTable table;
  for (const auto& [layer, record] : records) {
    if (const CandidateTime* best = record.Best()) table.emplace(layer, TunedLayer{best->choice, record.of_all});
  }
  return table;
}

namespace {

// Merges counts, means and sums of squares of two samples (Chan, Golub and LeVeque, 1979), up to the limits of a
// record.
void Add(const CandidateTime& other, CandidateTime& sum) {
  const auto n = static_cast<double>(sum.count), m = static_cast<double>(other.count);
  const double distance = other.ms - sum.ms;
  sum.ms = std::min(sum.ms + distance * m / (n + m), kMostMs);
  sum.squares = std::min(sum.squares + other.squares + distance * distance * n * m / (n + m), kMostSquares);
  sum.count = std::min(sum.count + other.count, kMostSamples);
}

}  // namespace

TuningRecord Merged(const TuningRecord& one, const TuningRecord& other) {
  TuningRecord merged = one;
  merged.of_all = one.of_all || other.of_all;
  for (const CandidateTime& candidate : other.candidates) {
    const auto same = std::find_if(merged.candidates.begin(), merged.candidates.end(),
                                   [&](const CandidateTime& known) { return known.choice == candidate.choice; });
    if (same != merged.candidates.end()) {
      Add(candidate, *same);
    } else if (merged.candidates.size() < kMostCandidates) {
      merged.candidates.push_back(candidate);
    }
  }
  return merged;
}

std::string ToText(const TuningRecord& record) {
  std::string text(record.of_all ? kTitleOfAll : kTitle);
  for (const CandidateTime& candidate : record.candidates) {
    text += fmt::format("{} = {} {} {}\n", ToText(candidate.choice), candidate.count, candidate.ms, candidate.squares);
  }
  return text;
}

namespace {

template <typename T>
bool TakeNumber(std::string_view& text, char end, T& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr == text.data() + text.size() || *parsed.ptr != end) return false;
  text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()) + 1);
  return true;
}

// Takes one line from the front.
std::optional<CandidateTime> TakeCandidate(std::string_view& text) {
  const size_t equals = text.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  const auto choice = KernelChoiceFromText(text.substr(0, equals));
  text.remove_prefix(equals + 3);
  CandidateTime candidate;
  if (!choice || !TakeNumber(text, ' ', candidate.count) || !TakeNumber(text, ' ', candidate.ms) ||
      !TakeNumber(text, '\n', candidate.squares)) {
    return std::nullopt;
  }
  candidate.choice = *choice;
  const bool is_sound = candidate.count > 0 && candidate.count <= kMostSamples && candidate.ms >= 0 &&
                        candidate.ms <= kMostMs && candidate.squares >= 0 && candidate.squares <= kMostSquares;
  return is_sound ? std::optional(candidate) : std::nullopt;
}

}  // namespace

Result<TuningRecord> TuningRecordFromText(std::string_view text) {
  TuningRecord record;
  record.of_all = text.starts_with(kTitleOfAll);
  if (!record.of_all && !text.starts_with(kTitle)) {
    return Error(StatusCode::kMalformedInput, "a tuning record without its title");
  }
  text.remove_prefix((record.of_all ? kTitleOfAll : kTitle).size());
  while (!text.empty()) {
    const std::optional<CandidateTime> candidate = TakeCandidate(text);
    if (!candidate || record.candidates.size() >= kMostCandidates) {
      return Error(StatusCode::kMalformedInput, "line {} of a tuning record is no candidate",
                   record.candidates.size() + 1);
    }
    record.candidates.push_back(*candidate);
  }
  return record;
}

}  // namespace hearth
