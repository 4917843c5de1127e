// Functions of single elements on worker threads.
#ifndef HEARTH_BACKENDS_CPU_APPLY_UNARY_H_
#define HEARTH_BACKENDS_CPU_APPLY_UNARY_H_

#include <span>

#include "backends/cpu/worker_pool.h"
#include "core/graph/op.h"

namespace hearth {

// y[k] = f(x[k]); x and y may be the same memory.
void ApplyUnary(const Unary& unary, std::span<const float> x, std::span<float> y, WorkerPool& workers);
// The same on the calling thread.
void ApplyUnary(const Unary& unary, std::span<const float> x, std::span<float> y);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_APPLY_UNARY_H_
