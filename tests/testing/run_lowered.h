// A graph of one input and one output, lowered and run once on an open device.
#ifndef HEARTH_TESTS_TESTING_RUN_LOWERED_H_
#define HEARTH_TESTS_TESTING_RUN_LOWERED_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/device/options.h"
#include "core/graph/graph.h"
#include "runtime/devices/device_choice.h"

namespace hearth::testing {

// The output's bytes. Nothing goes into a cache.
Result<std::vector<std::byte>> RunLowered(const OpenedDevice& opened, const Graph& graph, const LowerOptions& options,
                                          std::span<const std::byte> input);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_RUN_LOWERED_H_
