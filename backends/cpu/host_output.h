// What a host node writes, and what is done to it when the node's kernel has run.
#ifndef HEARTH_BACKENDS_CPU_HOST_OUTPUT_H_
#define HEARTH_BACKENDS_CPU_HOST_OUTPUT_H_

#include <cstddef>
#include <limits>
#include <span>

#include "backends/cpu/host_node.h"

namespace hearth {

// An activation in two parts: bounds, to which a kernel clamps each element that it writes, and the activation that is
// left for HostOutput::Finish where bounds can't express it (tanh).
struct ActivationParts {
  float lowest = -std::numeric_limits<float>::infinity(), highest = std::numeric_limits<float>::infinity();
  Activation rest = Activation::kNone;
};
ActivationParts ActivationPartsOf(Activation activation);

// Output `position` of a node, in the form in which the node writes it. The request's graph, arena and workers must
// outlive it.
class HostOutput {
 public:
  // `after`: an activation that the kernel leaves to Finish; other than kNone only for outputs held as float32.
  explicit HostOutput(const HostNodeRequest& request, Activation after = Activation::kNone, size_t position = 0);

  const TensorDesc& desc() const { return desc_; }  // as the model declares it
  const Shape& shape() const { return desc_.shape; }
  std::byte* bytes() const { return bytes_.data(); }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(bytes_.data());
  }
  // Precondition: it is held as float32.
  std::span<float> floats() const { return {as<float>(), bytes_.size() / sizeof(float)}; }

  // Quantized and held as floats: Finish rounds it to its grid.
  bool is_rounded() const { return is_rounded_; }

  // Applies the activation and, where the output stands for numbers of a grid, rounds it to that.
  void Finish() const;

 private:
  const TensorDesc& desc_;
  std::span<std::byte> bytes_;
  WorkerPool& workers_;
  Unary after_;  // kCopy: nothing
  bool is_rounded_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_OUTPUT_H_
