// The difference between two results of one tensor or of every layer, and whether it is too large.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_COMPARISON_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_COMPARISON_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "hearth/session.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"
#include "tools/hearth/printing.h"

namespace hearth {

// The allowed difference by type. Real numbers: 1e-4 (precision fp32) or 2e-2 (fp16, fp32_16) of the larger of 1 and
// the largest magnitude on the other side. Quantized numbers: at most 1 % of the elements differ by more than 2 steps.
// Integers and bool: at most 2 % of the elements differ.
struct TensorComparison {
  TensorInfo info;
  double max_difference = 0, mean_difference = 0;  // real numbers; infinite if one side alone is NaN
  double allowed_difference = 0;                   // per element
  size_t element_count = 0, elements_over = 0;     // all, and those over the allowed difference
  double allowed_share_over = 0;
  size_t worst = 0;             // index of the element with the largest difference
  double ours = 0, theirs = 0;  // its values
  bool is_over = false;

  // 1: exactly the allowed difference.
  double ratio() const;
  double share_over() const;  // the share of elements over the allowed difference
};

double RealTolerance(const std::string& precision);  // 1e-4 or 2e-2

// kUnsupported for element types without numbers. Precondition: both are dense tensors of `info`.
Result<TensorComparison> CompareTensors(const TensorInfo& info, std::span<const std::byte> ours,
                                        std::span<const std::byte> theirs, double real_tolerance);

// The index of an element: "[0,3,7,12]".
std::string PlaceText(const TensorInfo& info, size_t element);

// ---- Layers ----
// The values between a network's layers, computed on a device or by the float64 reference.

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

// Runs `model` on `options.device` again, for parts of its layers, and counts. `options.precision`: the one that the
// device used; nothing is found in fp32. The layers are those that the plan stores in 16 bits, so values that stay
// inside a fused kernel are not among them. A number that rounds to 65504 itself counts too.
Result<std::vector<ClampedLayer>> FindClamped(const Model& model, const SessionOptions& options,
                                              std::span<const std::vector<std::byte>> inputs);
std::string TextOf(const std::vector<ClampedLayer>& clamped);  // a line for each; empty if there is none
Json JsonOf(const std::vector<ClampedLayer>& clamped);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_COMPARISON_H_
