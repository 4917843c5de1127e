#include "conformance/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/contains.h"
#include "core/base/text.h"

namespace hearth::conformance {
namespace {

// "641", or "446 of 641" after a run that was stopped.
std::string CountText(const DeviceResults& results) {
  return results.was_stopped ? fmt::format("stopped after {} of {}", results.cases.size(), results.cases_total)
                             : fmt::format("{}", results.cases.size());
}

std::string SummaryText(const DeviceResults& results) {
  return fmt::format("{} ({}): {} cases, {} passed, {} failed, {} unsupported, {} expected failures, {:.1f} s",
                     results.device, results.info.name, CountText(results), results.Count(Outcome::kPassed),
                     results.Count(Outcome::kFailed), results.Count(Outcome::kUnsupported),
                     results.Count(Outcome::kExpectedFailure), results.milliseconds / 1000.0);
}

// One cell of the matrix: all cases of an operation on a device.
struct Cell {
  int passed = 0, failed = 0, unsupported = 0, expected = 0;
  double worst_share = 0;  // of the tolerance; exact operations have none
  double milliseconds = 0;
  std::string failures;
};

Cell CellOf(const DeviceResults& results, const std::string& op) {
  Cell cell;
  for (const CaseResult& result : results.cases) {
    if (result.op != op) continue;
    cell.milliseconds += result.milliseconds;
    if (result.judged && result.tolerance > 0) {
      cell.worst_share = std::max(cell.worst_share, result.worst_error / result.tolerance);
    }
    switch (result.outcome) {
      case Outcome::kPassed: ++cell.passed; break;
      case Outcome::kFailed:
        ++cell.failed;
        cell.failures += fmt::format("{} [{}]: {}\n", result.name, result.path, result.detail);
        break;
      case Outcome::kUnsupported: ++cell.unsupported; break;
      case Outcome::kExpectedFailure: ++cell.expected; break;
    }
  }
  return cell;
}

std::string CellHtml(const Cell& cell) {
  const char* kind = cell.failed > 0 ? "bad" : cell.passed > 0 ? "good" : "none";
  std::string text = fmt::format("{} of {} passed", cell.passed, cell.passed + cell.failed);
  if (cell.passed + cell.failed == 0) text = "not run";
  if (cell.unsupported > 0) text += fmt::format(", {} unsupported", cell.unsupported);
  if (cell.expected > 0) text += fmt::format(", {} expected failures", cell.expected);
  std::string numbers = cell.worst_share > 0 ? fmt::format("{:.0f} % of tolerance", cell.worst_share * 100) : "";
  if (cell.milliseconds > 0) numbers += fmt::format("{}{:.2f} ms", numbers.empty() ? "" : ", ", cell.milliseconds);
  return fmt::format("<td class=\"{}\" title=\"{}\">{}<br><small>{}</small></td>", kind, XmlEscaped(cell.failures),
                     text, numbers);
}

constexpr std::string_view kStyle = R"(<style>
body { font: 14px sans-serif; margin: 2em; overflow-wrap: anywhere }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #999; padding: 3px 8px; text-align: left; vertical-align: top }
.good { background: #d9f2d9 } .bad { background: #f7c6c6 } .none { background: #eee }
small { color: #555 }
</style>)";

}  // namespace

std::string FailuresText(const DeviceResults& results) {
  std::string text;
  for (const CaseResult& result : results.cases) {
    if (result.outcome != Outcome::kFailed) continue;
    text += fmt::format("FAILED {} {} [{}]: {}\n", results.device, result.id(), result.path, result.detail);
  }
  std::map<std::string, int> reasons;
  for (const CaseResult& result : results.cases) {
    // The text after the last quoted name is the same for all cases.
    const size_t name_end = result.detail.rfind("\": ");
    const std::string reason = name_end == std::string::npos ? result.detail : result.detail.substr(name_end + 3);
    if (result.outcome == Outcome::kUnsupported) ++reasons[reason];
  }
  for (const auto& [reason, count] : reasons)
    text += fmt::format("{}: {} unsupported: {}\n", results.device, count, reason);
  for (const std::string& note : results.notes) text += fmt::format("{}: {}\n", results.device, note);
  return text + SummaryText(results) + "\n";
}

std::string NothingPassedText(const DeviceResults& results) {
  const int unsupported = results.Count(Outcome::kUnsupported);
  if (results.Count(Outcome::kPassed) > 0 || unsupported == 0) return "";
  return fmt::format(
      "{}: none of {} cases passed and {} are unsupported, so nothing is known about its results; the reasons are "
      "above",
      results.device, results.cases.size(), unsupported);
}

std::string JUnitXml(std::span<const DeviceResults> devices) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const DeviceResults& results : devices) {
    const int skipped = results.Count(Outcome::kUnsupported) + results.Count(Outcome::kExpectedFailure);
    xml += fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
                       XmlEscaped(results.device), results.cases.size(), results.Count(Outcome::kFailed), skipped,
                       results.milliseconds / 1000.0);
    xml += fmt::format(
        "<properties>\n<property name=\"device\" value=\"{}\"/>\n<property name=\"driver\" value=\"{}\"/>\n"
        "<property name=\"cases_total\" value=\"{}\"/>\n<property name=\"interrupted\" value=\"{}\"/>\n</properties>\n",
        XmlEscaped(results.info.name), XmlEscaped(results.info.driver_version), results.cases_total,
        results.was_stopped);
    for (const CaseResult& result : results.cases) {
      xml += fmt::format("<testcase classname=\"{}.{}\" name=\"{} [{}]\" time=\"{:.6f}\"", XmlEscaped(results.device),
                         XmlEscaped(result.op), XmlEscaped(result.name), XmlEscaped(result.path),
                         result.milliseconds / 1000.0);
      if (result.outcome == Outcome::kPassed) {
        xml += "/>\n";
        continue;
      }
      const char* element = result.outcome == Outcome::kFailed ? "failure" : "skipped";
      xml += fmt::format("><{} message=\"{}\"/></testcase>\n", element, XmlEscaped(result.detail));
    }
    xml += "</testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

std::string MatrixHtml(std::span<const DeviceResults> devices) {
  std::vector<std::string> ops;
  for (const DeviceResults& results : devices) {
    for (const CaseResult& result : results.cases) {
      if (!Contains(ops, result.op)) ops.push_back(result.op);
    }
  }
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Hearth "
      "conformance</title>{}</head><body>\n"
      "<h1>Hearth conformance</h1>\n<p>Each operation on each device against a float64 reference: cases passed, the "
      "worst "
      "error as a share of what is allowed, and the time of all its cases. Failures are in the cell's "
      "tooltip.</p>\n<table>\n<tr><th></th>",
      kStyle);
  for (const DeviceResults& results : devices) {
    html += fmt::format("<th>{}<br><small>{}<br>{}</small></th>", XmlEscaped(results.device),
                        XmlEscaped(results.info.name), XmlEscaped(results.info.driver_version));
  }
  html += "</tr>\n";
  for (const std::string& op : ops) {
    html += fmt::format("<tr><th>{}</th>", XmlEscaped(op));
    for (const DeviceResults& results : devices) html += CellHtml(CellOf(results, op));
    html += "</tr>\n";
  }
  html += "</table>\n<ul>\n";
  for (const DeviceResults& results : devices) html += fmt::format("<li>{}</li>\n", XmlEscaped(SummaryText(results)));
  return html + "</ul>\n</body></html>\n";
}

}  // namespace hearth::conformance
