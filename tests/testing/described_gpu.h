// A description of a discrete GPU, for tests that end with a plan.
#ifndef HEARTH_TESTS_TESTING_DESCRIBED_GPU_H_
#define HEARTH_TESTS_TESTING_DESCRIBED_GPU_H_

#include "core/device/device_info.h"

namespace hearth::testing {

inline DeviceInfo DescribedGpu(Dialect dialect) {
  DeviceInfo info;
  info.backend = dialect == Dialect::kOpenCl ? "opencl" : "vulkan";
  info.dialect = dialect;
  info.type = DeviceType::kDiscreteGpu;
  info.name = "a device of the test";
  info.max_storage_buffers = 8;
  info.max_texel_elements = 65536;
  return info;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_DESCRIBED_GPU_H_
