/* A library of one operator that Hearth lacks: Mish(x) = x * tanh(log(1 + exp(x))) of float32 tensors of any shape
 * (Misra, "Mish: A Self Regularized Non-Monotonic Activation Function").
 *
 *   cc -shared -fPIC mish_op.c -o libmish.so -lm
 *   hearth run model.tflite --ops libmish.so
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hearth/hearth_ops.h"

static int32_t infer(const hearth_op_call* call) {
  if (call->input_count != 1 || call->output_count != 1 || strcmp(call->inputs[0].dtype, "float32") != 0) {
    snprintf(call->error, call->error_bytes, "it takes one float32 tensor and makes one");
    return 1;
  }
  call->outputs[0].dtype = "float32";
  call->outputs[0].rank = call->inputs[0].rank;
  memcpy(call->outputs[0].shape, call->inputs[0].shape, sizeof(call->inputs[0].shape));
  return 0;
}

static int32_t run(const hearth_op_call* call) {
  const float* x = call->inputs[0].data;
  float* y = call->outputs[0].data;
  for (size_t k = 0; k < call->outputs[0].size_bytes / sizeof(float); ++k) y[k] = x[k] * tanhf(log1pf(expf(x[k])));
  return 0;
}

/* For .tflite files by its custom_code, for .onnx files in the domain "example". */
static const hearth_op in_tflite = {sizeof(hearth_op), "Mish", "1", infer, run, NULL, NULL};
static const hearth_op in_onnx = {sizeof(hearth_op), "example::Mish", "1", infer, run, NULL, NULL};
static const hearth_op* const all[] = {&in_tflite, &in_onnx};
static const hearth_ops table = {HEARTH_OPS_VERSION, sizeof(all) / sizeof(all[0]), all};

HEARTH_OPS_EXPORT const hearth_ops* hearth_ops_v1(void);
const hearth_ops* hearth_ops_v1(void) {
  return &table;
}
