/* Operators of one's own, in C: what a model's CUSTOM operator (.tflite) or a node of an operator that Hearth does not
 * know (.onnx) computes. They run on the CPU, between what the device runs. This header needs no other of Hearth's, and
 * a library of operators links to nothing of Hearth. docs/custom-operators.md has a whole example.
 *
 * Threads. Both functions may be called from several threads at once, also for one node: sessions, clones and a hot
 * start share an operator. What `user_data` points to must allow it.
 * Calls. `infer` is called while a model is read and whenever its plan is made, so also after a resize; it depends on
 * nothing but its arguments. `run` is called once in each run, and in trial runs on zeros while a session starts. An
 * operator of which no output is used is not called.
 * Errors. A function returns 0, or another number after it wrote a sentence to `error`: that is the error of the call
 * into Hearth, with the operator's and the node's names. No C++ exception may leave it. */
#ifndef HEARTH_HEARTH_OPS_H_
#define HEARTH_HEARTH_OPS_H_

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types as in C */

#ifdef __cplusplus
extern "C" {
#endif

/* Of the structs below. Within a version only those with a `struct_size` grow, at their end. */
#define HEARTH_OPS_VERSION 1u
#define HEARTH_OPS_MAX_RANK 8

/* A dense tensor in C order. Inputs are not to be written. */
typedef struct hearth_op_tensor {
  const char* dtype; /* "float32", "int8", ...; NULL: an optional input that is absent */
  int32_t rank;
  int32_t shape[HEARTH_OPS_MAX_RANK]; /* `rank` numbers */
  size_t size_bytes;
  /* NULL in `infer`, except for constants of the file. 64 bytes of alignment for what runs make; for
   * constants the element's, and at most 4. */
  void* data;
  /* Quantization: real = scale * (stored - zero_point). No scale when not quantized, 1 per tensor, else one for each
   * element of dimension `scale_dimension`. No zero point means 0, one means the same for all. The file decides:
   * functions don't set it. */
  size_t scale_count, zero_point_count;
  const float* scales;
  const int64_t* zero_points;
  int32_t scale_dimension;
} hearth_op_tensor;

typedef struct hearth_op_text {
  const char* text; /* ends with a zero that size_bytes does not count */
  size_t size_bytes;
} hearth_op_text;

/* An attribute of an .onnx node: one number or text, or a list, by its type. Tensors and graphs have none of these. */
typedef struct hearth_op_attribute {
  const char* name;
  int32_t is_list; /* 0: one number or text */
  size_t int_count;
  const int64_t* ints;
  size_t float_count;
  const float* floats;
  size_t text_count;
  const hearth_op_text* texts;
} hearth_op_attribute;

/* All pointers are valid during the call only. */
typedef struct hearth_op_call {
  size_t struct_size;
  void* user_data;
  const char* op;      /* the name under which the operator was registered */
  const char* node;    /* as errors name it */
  const void* options; /* .tflite: the operator's custom_options, bytes that only it defines */
  size_t options_bytes;
  const hearth_op_attribute* attributes; /* .onnx */
  size_t attribute_count;
  const hearth_op_tensor* inputs;
  size_t input_count;
  hearth_op_tensor* outputs;
  size_t output_count;
  char* error; /* room for a text that ends with a zero */
  size_t error_bytes;
} hearth_op_call;

typedef struct hearth_op {
  size_t struct_size; /* sizeof(hearth_op) */
  /* .tflite: the custom_code. .onnx: "domain::OpType", or "OpType" for the domain ai.onnx. A registered operator comes
   * before Hearth's own of the same name. */
  const char* name;
  /* Any text; NULL: "". Change it with what the functions do: the cache keeps no plan of another version. */
  const char* version;
  /* Sets dtype, rank and shape of all outputs. From a .tflite file their dtype is the file's before. */
  int32_t (*infer)(const hearth_op_call* call);
  int32_t (*run)(const hearth_op_call* call); /* fills the outputs' data */
  void* user_data;
  /* Called once, when the last model and session that may call the functions is gone, on any thread. May be NULL. Not
   * called for the operators of a shared library, which serve all models until it is unloaded: it may have a destructor
   * of its own. */
  void (*destroy)(void* user_data);
} hearth_op;

/* What a shared library of operators (`--ops FILE`, the option "ops") exports, under the name hearth_ops_v1:
 *
 *   HEARTH_OPS_EXPORT const hearth_ops* hearth_ops_v1(void);
 */
typedef struct hearth_ops {
  uint32_t version; /* HEARTH_OPS_VERSION */
  uint32_t op_count;
  const hearth_op* const* ops;
} hearth_ops;

#define HEARTH_OPS_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */
#endif /* HEARTH_HEARTH_OPS_H_ */
