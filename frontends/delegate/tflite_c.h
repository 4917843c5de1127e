// The C interface between the TFLite/LiteRT interpreter and a delegate, as far as Hearth uses it. Structures, numbers
// and the order of fields belong to the interface and must not change; tests/unit/delegate_layout_test.cc compares them
// with the interpreter's headers if those are installed. The layout is that of TensorFlow Lite 2.14 and later and of
// LiteRT 1 and 2. Appended fields come last and are read only in structures that the interpreter made.
#ifndef HEARTH_FRONTENDS_DELEGATE_TFLITE_C_H_
#define HEARTH_FRONTENDS_DELEGATE_TFLITE_C_H_

#include <cstddef>
#include <cstdint>

namespace hearth::tflite_c {

enum TfLiteStatus : int32_t { kTfLiteOk = 0, kTfLiteError = 1, kTfLiteDelegateError = 2 };

// Element types. The numbers differ from the file format's.
enum TfLiteType : int32_t {
  kTfLiteNoType = 0,
  kTfLiteFloat32 = 1,
  kTfLiteInt32 = 2,
  kTfLiteUInt8 = 3,
  kTfLiteInt64 = 4,
  kTfLiteString = 5,
  kTfLiteInt16 = 7,
  kTfLiteInt8 = 9,
  kTfLiteFloat16 = 10,
  kTfLiteResource = 14,
  kTfLiteInt4 = 18,
};

// The origin of a tensor's memory.
enum TfLiteAllocationType : int32_t {
  kTfLiteMmapRo = 1,  // a constant of the model
  kTfLiteArenaRw = 2,
  kTfLiteDynamic = 4,  // its size is known only at run time
};

enum TfLiteQuantizationType : int32_t { kTfLiteNoQuantization = 0, kTfLiteAffineQuantization = 1 };
enum TfLiteDimensionType : int32_t { kTfLiteDimDense = 0, kTfLiteDimSparseCSR = 1 };

inline constexpr int kTfLiteOptionalTensor = -1;  // an absent optional input
inline constexpr int32_t kTfLiteBuiltinDequantize = 6;
inline constexpr int32_t kTfLiteBuiltinCustom = 32;
inline constexpr int32_t kTfLiteBuiltinDelegate = 51;
inline constexpr int32_t kTfLiteBuiltinDensify = 124;

struct TfLiteIntArray {
  int size;
  int data[];  // NOLINT(modernize-avoid-c-arrays): the interface's
};
struct TfLiteFloatArray {
  int size;
  float data[];  // NOLINT(modernize-avoid-c-arrays): the interface's
};

struct TfLiteQuantizationParams {  // the older form: one scale per tensor
  float scale;
  int32_t zero_point;
};
struct TfLiteQuantization {
  TfLiteQuantizationType type;
  void* params;  // TfLiteAffineQuantization
};
struct TfLiteAffineQuantization {
  TfLiteFloatArray* scale;
  TfLiteIntArray* zero_point;
  int32_t quantized_dimension;
};

struct TfLiteDimensionMetadata {
  TfLiteDimensionType format;
  int dense_size;
  TfLiteIntArray* array_segments;
  TfLiteIntArray* array_indices;
};
struct TfLiteSparsity {
  TfLiteIntArray* traversal_order;
  TfLiteIntArray* block_map;
  TfLiteDimensionMetadata* dim_metadata;
  int dim_metadata_size;
};

struct TfLiteDelegate;
struct TfLiteContext;

struct TfLiteTensor {
  TfLiteType type;
  void* data;  // a union of pointers
  TfLiteIntArray* dims;
  TfLiteQuantizationParams params;
  TfLiteAllocationType allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  TfLiteDelegate* delegate;
  int buffer_handle;
  bool data_is_stale;
  bool is_variable;
  TfLiteQuantization quantization;
  TfLiteSparsity* sparsity;
  const TfLiteIntArray* dims_signature;
};

struct TfLiteNode {
  TfLiteIntArray* inputs;
  TfLiteIntArray* outputs;
  TfLiteIntArray* intermediates;
  TfLiteIntArray* temporaries;
  void* user_data;     // what TfLiteRegistration::init returned
  void* builtin_data;  // a struct of attributes: builtin_options.cc
  const void* custom_initial_data;
  int custom_initial_data_size;
  TfLiteDelegate* delegate;
  bool might_have_side_effect;
};

struct TfLiteRegistration {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  void* registration_external;
  void* (*async_kernel)(TfLiteContext* context, TfLiteNode* node);
  uint64_t inplace_operator;
};

// The `buffer` argument of a delegate kernel's init.
struct TfLiteDelegateParams {
  TfLiteDelegate* delegate;
  TfLiteIntArray* nodes_to_replace;
  TfLiteIntArray* input_tensors;
  TfLiteIntArray* output_tensors;
};

struct TfLiteContext {
  size_t tensors_size;
  TfLiteStatus (*GetExecutionPlan)(TfLiteContext* context, TfLiteIntArray** execution_plan);
  TfLiteTensor* tensors;
  void* impl_;  // NOLINT(readability-identifier-naming): the interface's
  TfLiteStatus (*ResizeTensor)(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* new_size);
  void (*ReportError)(TfLiteContext* context, const char* format, ...);
  TfLiteStatus (*AddTensors)(TfLiteContext* context, int tensors_to_add, int* first_new_tensor_index);
  TfLiteStatus (*GetNodeAndRegistration)(TfLiteContext* context, int node_index, TfLiteNode** node,
                                         TfLiteRegistration** registration);
  TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(TfLiteContext* context, TfLiteRegistration registration,
                                                        const TfLiteIntArray* nodes_to_replace,
                                                        TfLiteDelegate* delegate);
  int recommended_num_threads;
  void* (*GetExternalContext)(TfLiteContext* context, int32_t type);
  void (*SetExternalContext)(TfLiteContext* context, int32_t type, void* external_context);
  bool allow_fp32_relax_to_fp16;
  void* profiler;  // a C++ object of the interpreter's
  void* (*AllocatePersistentBuffer)(TfLiteContext* context, size_t bytes);
  TfLiteStatus (*AllocateBufferForEval)(TfLiteContext* context, size_t bytes, void** buffer);
  TfLiteStatus (*RequestScratchBufferInArena)(TfLiteContext* context, size_t bytes, int* buffer_index);
  void* (*GetScratchBuffer)(TfLiteContext* context, int buffer_index);
  TfLiteStatus (*ResizeTensorExplicit)(TfLiteContext* context, TfLiteTensor* tensor, int rank, const int* shape);
  TfLiteStatus (*PreviewDelegatePartitioning)(TfLiteContext* context, const TfLiteIntArray* nodes_to_replace,
                                              TfLiteDelegateParams** partitions, int* partition_count);
};  // further members are not used

// AllowDynamicTensors: the delegate is applied before the interpreter prepares its nodes, and its kernels follow every
// change of shapes.
enum TfLiteDelegateFlags : int64_t { kTfLiteDelegateFlagsNone = 0, kTfLiteDelegateFlagsAllowDynamicTensors = 1 };

struct TfLiteDelegate {
  void* data_;  // NOLINT(readability-identifier-naming): the interface's
  TfLiteStatus (*Prepare)(TfLiteContext* context, TfLiteDelegate* delegate);
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate, int buffer_handle,
                                       TfLiteTensor* tensor);
  TfLiteStatus (*CopyToBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate, int buffer_handle,
                                     TfLiteTensor* tensor);
  void (*FreeBufferHandle)(TfLiteContext* context, TfLiteDelegate* delegate, int* handle);
  int64_t flags;
  void* opaque_delegate_builder;  // null: this struct is the delegate
};

// ---- The options of the reference's GPU delegate, for TfLiteGpuDelegateV2Create ----

struct TfLiteGpuDelegateOptionsV2 {
  int32_t is_precision_loss_allowed;  // obsolete; -1: the priorities decide
  int32_t inference_preference;       // 0 fast single answer, 1 sustained speed, 2 balanced
  int32_t inference_priority1;        // 0 auto, 1 max precision, 2 min latency, 3 min memory usage
  int32_t inference_priority2;
  int32_t inference_priority3;
  int64_t experimental_flags;  // bits: 1 quantized models, 2 OpenCL only, 4 OpenGL only, 8 serialization
  int32_t max_delegated_partitions;
  const char* serialization_dir;
  const char* model_token;
};

}  // namespace hearth::tflite_c

#endif  // HEARTH_FRONTENDS_DELEGATE_TFLITE_C_H_
