// Matrix products of 8-bit numbers that read weights in place in the model, along the depth.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MODEL_WEIGHTS_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MODEL_WEIGHTS_KERNEL_H_

#include "backends/cpu/integer/matrix_task.h"

namespace hearth {

// For tasks with model_weights.
void MultiplyByModelWeights(const MatrixTask& task, IntegerSet set);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MODEL_WEIGHTS_KERNEL_H_
