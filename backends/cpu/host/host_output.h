// An output of a host node, and what is applied to it after the node's kernel.
#ifndef HEARTH_BACKENDS_CPU_HOST_HOST_OUTPUT_H_
#define HEARTH_BACKENDS_CPU_HOST_HOST_OUTPUT_H_

#include <cstddef>
#include <limits>
#include <span>

#include "backends/cpu/host/host_node.h"

namespace hearth {

// An activation in two parts: bounds to which a kernel clamps each element, and the rest for HostOutput::Finish if it
// is not a clamp (tanh).
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
  // Precondition: the output is held as float32.
  std::span<float> floats() const { return {as<float>(), bytes_.size() / sizeof(float)}; }

  // Whether the output is quantized and held as floats, so that Finish rounds it to its grid.
  bool is_rounded() const { return is_rounded_; }

  // Applies the activation, and rounds to the grid if the output is quantized.
  void Finish() const;

 private:
  const TensorDesc& desc_;
  std::span<std::byte> bytes_;
  WorkerPool& workers_;
  Unary after_;  // kCopy: nothing
  bool is_rounded_;
};

// y[k] = f(x[k]) on worker threads; x and y may be the same memory.
void ApplyUnary(const Unary& unary, std::span<const float> x, std::span<float> y, WorkerPool& workers);
// The same on the calling thread.
void ApplyUnary(const Unary& unary, std::span<const float> x, std::span<float> y);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_HOST_OUTPUT_H_
