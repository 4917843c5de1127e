// Measures whether a device reads memory faster through plain or texel buffers, and stores the result.
#ifndef HEARTH_RUNTIME_DEVICES_READ_PATH_PROBE_H_
#define HEARTH_RUNTIME_DEVICES_READ_PATH_PROBE_H_

#include <optional>
#include <string>
#include <string_view>

#include "core/plan/key_fields.h"
#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

extern const std::string_view kProbeSources;  // a fingerprint: frontends/CMakeLists.txt lists the files

struct ReadPathRequest {
  static constexpr BlobKind kKind = BlobKind::kReadPath;
  DeviceIdentity device;
  Field<kProbeSourcesField> sources = std::string(kProbeSources);
  Unkeyed<Device*> opened = {};  // it is that device
};

// Reads part of a buffer through texels. An error means that the driver offers texel buffers and refuses to read
// (rusticl of Mesa 22.3 answers CL_OUT_OF_HOST_MEMORY at the enqueue). What fails without texels too is no error here.
Status TryTexelReads(Device& device);

// What is known of an opened device's read path. The cache is asked once: the answer is kept.
class KnownReadPath {
 public:
  // The stored result for this device and driver: a path if it was measured at least twice as fast as the other.
  // Nothing if the default stays: no probe has run, neither path was clearly faster, the rule `texel_reads` is forced,
  // or `info` is of a software driver or a simulated device, where the rule decides.
  std::optional<AccessPath> LookUp(const DeviceInfo& info, ResultCache& cache);

  // What LookUp then tells. Runs the probe unless the cache has its result, is only read, or LookUp doesn't ask for
  // one. It compiles two programs and reads 0.8 GB, once for each device and driver; call it before a plan is made,
  // since plans depend on its result. `info` is the device's, with what the user forced. After an error the default
  // stays and nothing is stored; a lost device is asked again.
  std::optional<AccessPath> Probe(Device& device, const DeviceInfo& info, ResultCache& cache);

 private:
  bool is_looked_up_ = false;
  bool is_final_ = false;  // measured, or left to the rule
  std::optional<AccessPath> path_;
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_DEVICES_READ_PATH_PROBE_H_
