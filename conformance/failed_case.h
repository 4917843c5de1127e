// A failed case as files, for whoever makes the driver: what was to be computed, what the driver was given, and what
// came out.
#ifndef HEARTH_CONFORMANCE_FAILED_CASE_H_
#define HEARTH_CONFORMANCE_FAILED_CASE_H_

#include <span>
#include <string>

#include "conformance/conformance_case.h"
#include "core/device/device_info.h"
#include "core/plan/plan.h"
#include "hearth/status.h"

namespace hearth::conformance {

struct FailedCase {
  std::string device, id, path, reason;  // as DeviceResults and CaseResult have them
  const DeviceInfo& info;
  const CaseBatch& batch;                   // of this case alone
  const Plan& plan;                         // of the same
  std::span<const double> expected, found;  // empty: it did not run
};

// Writes into a folder of `folder`, whose path is returned, named after device, case and path:
//   case.json        device, driver, reason; kernels with their defines, launches, sizes of buffers
//   graph.txt        the network, with types and shapes
//   kernel_K.cl      (.comp) each kernel's text as the driver gets it
//   buffer_K.bin     each buffer of constants as the kernels read it
//   input_K.bin      each input as its type, dense, little-endian, in C order
//   expected.bin, found.bin  the output as float64: the reference's and the device's
//   replay.sh        runs the case again
// kIoError.
Result<std::string> WriteFailedCase(const std::string& folder, const FailedCase& failed);

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_FAILED_CASE_H_
