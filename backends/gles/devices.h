// What backend.h promises, with libepoxy linked.
#ifndef HEARTH_BACKENDS_GLES_DEVICES_H_
#define HEARTH_BACKENDS_GLES_DEVICES_H_

#include <memory>
#include <vector>

#include "backends/gles/driver.h"
#include "hal/device.h"

namespace hearth::gles {

std::vector<DeviceCandidate> Enumerate(const DriverLibraries& libraries = {});
Result<std::unique_ptr<Device>> Open(const DeviceCandidate& candidate);
Result<std::unique_ptr<Device>> OpenShared(const SharedContext& context);

}  // namespace hearth::gles

#endif  // HEARTH_BACKENDS_GLES_DEVICES_H_
