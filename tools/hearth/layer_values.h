// The values between a network's layers, computed on a device or by the float64 reference.
#ifndef HEARTH_TOOLS_HEARTH_LAYER_VALUES_H_
#define HEARTH_TOOLS_HEARTH_LAYER_VALUES_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "hearth/session.h"
#include "tools/hearth/comparison.h"
#include "tools/hearth/printing.h"

namespace hearth {

// A layer: a node of the network as passes leave it for a device.
struct LayerInfo {
  int index = -1;  // its first operator in the model file; -1 if a pass made it
  std::string op, name;
};

struct LayerComparison {
  LayerInfo layer;
  TensorComparison output;
};

using TensorBytes = std::vector<std::vector<std::byte>>;

// Runs a model on one side of a comparison.
struct Side {
  std::string id, name;                                  // "opencl:0" and the device's name, or "reference"
  std::string precision;                                 // the one in use
  std::function<Result<TensorBytes>(const Model&)> run;  // every output of a model, for the compared inputs
};

// `options.model` must be empty. The layers' runs leave nothing in the cache.
Result<TensorBytes> RunOnDevice(const Model& model, const SessionOptions& options,
                                std::span<const std::vector<std::byte>> inputs);
Result<TensorBytes> RunReference(const Model& model, std::span<const std::vector<std::byte>> inputs);

// Compares every layer of `model`, after the passes for `device`, in order. Each layer's result becomes an output of a
// copy of the network, so lowering fuses nothing here. Parts run separately to bound memory.
Result<std::vector<LayerComparison>> CompareLayers(const Model& model, const DeviceInfo& device, const Side& ours,
                                                   const Side& theirs, double real_tolerance,
                                                   const std::function<void(size_t done, size_t total)>& progress);

// A tensor of which a 16-bit run stores numbers beyond 65504 as that number: a layer's result, an input, or weights.
struct ClampedLayer {
  LayerInfo layer;
  size_t clamped = 0, elements = 0;
};

// Runs `model` on `options.device` again, for parts of its layers, and counts. The layers are those that the plan
// stores in 16 bits, so values that stay inside a fused kernel are not among them. A number that rounds to 65504 itself
// counts too. Nothing is found in fp32.
Result<std::vector<ClampedLayer>> FindClamped(const Model& model, const SessionOptions& options,
                                              std::span<const std::vector<std::byte>> inputs);
std::string TextOf(const std::vector<ClampedLayer>& clamped);  // a line for each; empty if there is none
Json JsonOf(const std::vector<ClampedLayer>& clamped);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_LAYER_VALUES_H_
