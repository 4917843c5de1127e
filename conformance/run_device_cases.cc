#include <fmt/format.h>

#include "conformance/case_result.h"
#include "conformance/suite.h"
#include "hal/device/stopwatch.h"
#include "runtime/devices/read_path_probe.h"

namespace hearth::conformance {

void RunDeviceCases(Device& device, std::span<const DeviceCase> cases, DeviceResults& results,
                    const RunOptions& options) {
  results.cases_total += cases.size();
  for (const DeviceCase& test : cases) {
    if (options.is_stopped && options.is_stopped()) {
      results.was_stopped = true;
      return;
    }
    CaseResult result;
    result.op = "hal";
    result.name = test.name;
    result.path = "device";
    const std::string key = JournalKey(results.device, results.info, result.path, result.id());
    const Journal::Word last = options.journal != nullptr ? options.journal->LastOf(key) : Journal::Word::kRan;
    Status status = Status::Ok();
    if (last == Journal::Word::kAlone) {
      status = Status(StatusCode::kInternal, std::string(kDied));
    } else if (last != Journal::Word::kPassed) {
      if (options.journal != nullptr) options.journal->Note(Journal::Word::kAlone, key);
      const Stopwatch watch;
      status = test.run(device);
      result.milliseconds = watch.milliseconds();
    }
    if (!status.ok()) {
      result.detail = status.message();
      // If the driver refuses texel reads, the probe prevents them, so such a case is no failure.
      const bool is_refused = result.name.find("Texel") != std::string::npos && !TryTexelReads(device).ok();
      const bool lacks = status.code() == StatusCode::kUnsupported || is_refused;
      result.outcome = lacks ? Outcome::kUnsupported : Outcome::kFailed;
    }
    if (const Expectation* expected = FindExpectation(options.waivers, result.id(), results.info.name, result.path)) {
      if (result.outcome == Outcome::kFailed) {
        result.outcome = Outcome::kExpectedFailure;
        result.detail = fmt::format("{} ({})", result.detail, expected->reason);
      } else if (result.outcome == Outcome::kPassed) {
        FailAsPassed(result, *expected);
      }
    }
    if (options.journal != nullptr && last != Journal::Word::kAlone) options.journal->Note(WordOf(result), key);
    results.cases.push_back(std::move(result));
  }
}

}  // namespace hearth::conformance
