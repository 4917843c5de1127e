// Results as text, as JUnit XML for CI systems, and as one HTML page of operations against devices.
#ifndef HEARTH_CONFORMANCE_REPORT_H_
#define HEARTH_CONFORMANCE_REPORT_H_

#include <span>
#include <string>

#include "conformance/suite.h"

namespace hearth::conformance {

// A line per failure and a summary line.
std::string FailuresText(const DeviceResults& results);

// A sentence if no case passed and some were unsupported, which is no success: nothing is known about the device's
// results. Else empty.
std::string NothingPassedText(const DeviceResults& results);

// A testsuite per device; unsupported cases and expected failures are skipped ones with their reason.
std::string JUnitXml(std::span<const DeviceResults> devices);

// Self-contained: no script, no file beside it.
std::string MatrixHtml(std::span<const DeviceResults> devices);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_REPORT_H_
