// Is the C interface that frontends/delegate declares the interpreter's? Compared with the interpreter's own headers
// where they are found: in the tensorflow package of Python, in /usr/include, or below the folder
// HEARTH_TFLITE_HEADERS. (The wheels of tensorflow 2.16 to 2.21 and of ai-edge-litert 2.3 carry none; a checkout of
// LiteRT does.) Without them the numbers stand for them that they gave on x86-64: LiteRT at commit f6745779 of
// 2026-08-21.

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "frontends/delegate/builtin_options.h"
#include "frontends/delegate/tflite_c.h"

#if __has_include(<tflite/core/c/common.h>)
#include <tflite/core/c/builtin_op_data.h>
#include <tflite/core/c/common.h>
#if __has_include(<tflite/delegates/gpu/delegate_options.h>)
#include <tflite/delegates/gpu/delegate_options.h>
#define HEARTH_HAS_GPU_OPTIONS
#endif
#define HEARTH_HAS_HEADERS
#elif __has_include(<tensorflow/lite/core/c/common.h>)
#include <tensorflow/lite/core/c/builtin_op_data.h>
#include <tensorflow/lite/core/c/common.h>
#if __has_include(<tensorflow/lite/delegates/gpu/delegate_options.h>)
#include <tensorflow/lite/delegates/gpu/delegate_options.h>
#define HEARTH_HAS_GPU_OPTIONS
#endif
#define HEARTH_HAS_HEADERS
#endif

namespace hearth {
namespace {

TEST(DelegateLayout, IsTheInterpretersOnX8664) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "not a 64-bit machine";
  EXPECT_EQ(sizeof(tflite_c::TfLiteTensor), 112U);
  EXPECT_EQ(offsetof(tflite_c::TfLiteTensor, allocation_type), 32U);
  EXPECT_EQ(offsetof(tflite_c::TfLiteTensor, is_variable), 77U);
  EXPECT_EQ(offsetof(tflite_c::TfLiteTensor, dims_signature), 104U);
  EXPECT_EQ(sizeof(tflite_c::TfLiteNode), 80U);
  EXPECT_EQ(sizeof(tflite_c::TfLiteRegistration), 88U);
  EXPECT_EQ(sizeof(tflite_c::TfLiteDelegateParams), 32U);
  EXPECT_EQ(sizeof(tflite_c::TfLiteDelegate), 56U);
  EXPECT_EQ(offsetof(tflite_c::TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels), 64U);
  EXPECT_EQ(offsetof(tflite_c::TfLiteContext, recommended_num_threads), 72U);
  EXPECT_EQ(offsetof(tflite_c::TfLiteContext, PreviewDelegatePartitioning), 152U);
  EXPECT_EQ(sizeof(tflite_c::TfLiteGpuDelegateOptionsV2), 56U);
}

#ifdef HEARTH_HAS_HEADERS

#define SAME_SIZE(structure) EXPECT_EQ(sizeof(tflite_c::structure), sizeof(::structure)) << #structure
#define SAME(structure, member)                                                                              \
  EXPECT_EQ(offsetof(tflite_c::structure, member), offsetof(::structure, member)) << #structure "." #member; \
  EXPECT_EQ(sizeof(tflite_c::structure::member), sizeof(::structure::member)) << #structure "." #member

TEST(DelegateLayout, OfTensorsIsThatOfTheHeaders) {
  SAME_SIZE(TfLiteTensor);
  SAME(TfLiteTensor, type);
  SAME(TfLiteTensor, data);
  SAME(TfLiteTensor, dims);
  SAME(TfLiteTensor, params);
  SAME(TfLiteTensor, allocation_type);
  SAME(TfLiteTensor, bytes);
  SAME(TfLiteTensor, allocation);
  SAME(TfLiteTensor, name);
  SAME(TfLiteTensor, delegate);
  SAME(TfLiteTensor, buffer_handle);
  SAME(TfLiteTensor, data_is_stale);
  SAME(TfLiteTensor, is_variable);
  SAME(TfLiteTensor, quantization);
  SAME(TfLiteTensor, sparsity);
  SAME(TfLiteTensor, dims_signature);
  SAME_SIZE(TfLiteQuantization);
  SAME(TfLiteQuantization, params);
  SAME_SIZE(TfLiteAffineQuantization);
  SAME(TfLiteAffineQuantization, zero_point);
  SAME(TfLiteAffineQuantization, quantized_dimension);
  SAME_SIZE(TfLiteSparsity);
  SAME(TfLiteSparsity, block_map);
  SAME(TfLiteSparsity, dim_metadata);
  SAME(TfLiteSparsity, dim_metadata_size);
  SAME_SIZE(TfLiteDimensionMetadata);
  SAME(TfLiteDimensionMetadata, dense_size);
  SAME(TfLiteDimensionMetadata, array_segments);
  SAME(TfLiteDimensionMetadata, array_indices);
  EXPECT_EQ(offsetof(tflite_c::TfLiteIntArray, data), offsetof(::TfLiteIntArray, data));
  EXPECT_EQ(offsetof(tflite_c::TfLiteFloatArray, data), offsetof(::TfLiteFloatArray, data));
}

TEST(DelegateLayout, OfNodesAndDelegatesIsThatOfTheHeaders) {
  SAME_SIZE(TfLiteNode);
  SAME(TfLiteNode, outputs);
  SAME(TfLiteNode, user_data);
  SAME(TfLiteNode, builtin_data);
  SAME(TfLiteNode, custom_initial_data);
  SAME(TfLiteNode, custom_initial_data_size);
  SAME(TfLiteNode, delegate);
  EXPECT_GE(sizeof(tflite_c::TfLiteRegistration), sizeof(::TfLiteRegistration));  // passed by value, never returned
  SAME(TfLiteRegistration, init);
  SAME(TfLiteRegistration, free);
  SAME(TfLiteRegistration, prepare);
  SAME(TfLiteRegistration, invoke);
  SAME(TfLiteRegistration, profiling_string);
  SAME(TfLiteRegistration, builtin_code);
  SAME(TfLiteRegistration, custom_name);
  SAME(TfLiteRegistration, version);
  SAME(TfLiteRegistration, registration_external);
  SAME_SIZE(TfLiteDelegateParams);
  SAME(TfLiteDelegateParams, nodes_to_replace);
  SAME(TfLiteDelegateParams, input_tensors);
  SAME(TfLiteDelegateParams, output_tensors);
  EXPECT_GE(sizeof(tflite_c::TfLiteDelegate), sizeof(::TfLiteDelegate));  // ours is read, theirs never
  SAME(TfLiteDelegate, data_);
  SAME(TfLiteDelegate, Prepare);
  SAME(TfLiteDelegate, FreeBufferHandle);
  SAME(TfLiteDelegate, flags);
}

TEST(DelegateLayout, OfTheContextIsThatOfTheHeaders) {
  EXPECT_LE(sizeof(tflite_c::TfLiteContext), sizeof(::TfLiteContext));  // theirs is read, ours never
  SAME(TfLiteContext, tensors_size);
  SAME(TfLiteContext, GetExecutionPlan);
  SAME(TfLiteContext, tensors);
  SAME(TfLiteContext, impl_);
  SAME(TfLiteContext, ReportError);
  SAME(TfLiteContext, GetNodeAndRegistration);
  SAME(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels);
  SAME(TfLiteContext, recommended_num_threads);
  SAME(TfLiteContext, PreviewDelegatePartitioning);
}

// The numbers of the fields of an operator's table that two structs of attributes make differently.
std::vector<int> DifferentFields(int32_t code, const void* one, const void* other) {
  OperatorToWrite from_one, from_other;
  from_one.code = from_other.code = code;
  SetOptions(one, from_one);
  SetOptions(other, from_other);
  std::vector<int> fields;
  for (size_t k = 0; k < from_one.options.size(); ++k) {
    const OptionToWrite &a = from_one.options[k], &b = from_other.options[k];
    if (a.number != b.number || a.real != b.real || a.list != b.list) fields.push_back(a.field);
  }
  return fields;
}

#define READS(code, field, structure, member)                                                        \
  {                                                                                                  \
    ::structure zeros{}, params{};                                                                   \
    params.member = static_cast<decltype(params.member)>(1);                                         \
    EXPECT_EQ(DifferentFields(code, &params, &zeros), std::vector{field}) << #structure "." #member; \
  }

TEST(DelegateLayout, OfAttributesIsThatOfTheHeaders) {
  READS(3, 5, TfLiteConvParams, dilation_height_factor);
  READS(3, 3, TfLiteConvParams, activation);
  READS(1, 5, TfLitePoolParams, activation);
  READS(4, 6, TfLiteDepthwiseConvParams, dilation_height_factor);
  READS(67, 3, TfLiteTransposeConvParams, activation);
  READS(27, 1, TfLiteSVDFParams, activation);
  READS(24, 0, TfLiteRNNParams, activation);
  READS(35, 1, TfLiteSequenceRNNParams, activation);
  READS(9, 1, TfLiteFullyConnectedParams, weights_format);
  READS(9, 2, TfLiteFullyConnectedParams, keep_num_dims);
  READS(25, 0, TfLiteSoftmaxParams, beta);
  READS(2, 1, TfLiteConcatenationParams, activation);
  READS(0, 0, TfLiteAddParams, activation);
  READS(18, 0, TfLiteMulParams, activation);
  READS(41, 0, TfLiteSubParams, activation);
  READS(42, 0, TfLiteDivParams, activation);
  READS(11, 0, TfLiteL2NormParams, activation);
  READS(13, 3, TfLiteLocalResponseNormParams, beta);
  READS(16, 3, TfLiteLSTMParams, kernel_type);
  READS(44, 3, TfLiteUnidirectionalSequenceLSTMParams, time_major);
  READS(23, 3, TfLiteResizeBilinearParams, half_pixel_centers);
  READS(97, 1, TfLiteResizeNearestNeighborParams, half_pixel_centers);
  READS(22, 0, TfLiteReshapeParams, num_dimensions);
  READS(43, 0, TfLiteSqueezeParams, num_squeeze_dims);
  READS(26, 0, TfLiteSpaceToDepthParams, block_size);
  READS(5, 0, TfLiteDepthToSpaceParams, block_size);
  READS(53, 1, TfLiteCastParams, out_data_type);
  READS(36, 1, TfLiteGatherParams, batch_dims);
  READS(40, 0, TfLiteReducerParams, keep_dims);
  READS(49, 0, TfLiteSplitParams, num_splits);
  READS(102, 0, TfLiteSplitVParams, num_splits);
  READS(45, 5, TfLiteStridedSliceParams, offset);
  READS(56, 0, TfLiteArgMaxParams, output_type);
  READS(79, 0, TfLiteArgMinParams, output_type);
  READS(83, 1, TfLitePackParams, axis);
  READS(88, 1, TfLiteUnpackParams, axis);
  READS(85, 0, TfLiteOneHotParams, axis);
  READS(98, 0, TfLiteLeakyReluParams, alpha);
  READS(100, 0, TfLiteMirrorPaddingParams, mode);
  READS(126, 1, TfLiteBatchMatMulParams, adj_y);
  READS(128, 1, TfLiteCumsumParams, reverse);
  READS(150, 0, TfLiteGeluParams, approximate);
  READS(80, 3, TfLiteFakeQuantParams, narrow_range);
  READS(112, 1, TfLiteReverseSequenceParams, batch_dim);
  READS(33, 0, TfLiteEmbeddingLookupSparseParams, combiner);
  READS(46, 2, TfLiteBidirectionalSequenceRNNParams, merge_outputs);
  READS(52, 4, TfLiteBidirectionalSequenceLSTMParams, time_major);
  READS(132, 1, TfLiteConv3DParams, stride_depth);
  READS(132, 3, TfLiteConv3DParams, stride_height);
  READS(132, 4, TfLiteConv3DParams, activation);
  READS(132, 7, TfLiteConv3DParams, dilation_height_factor);
  EXPECT_EQ(offsetof(::TfLiteBucketizeParams, boundaries), sizeof(const float*));
}

TEST(DelegateLayout, NumbersAreThoseOfTheHeaders) {
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteDelegateFlagsAllowDynamicTensors),
            static_cast<int>(::kTfLiteDelegateFlagsAllowDynamicTensors));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteDelegateError), static_cast<int>(::kTfLiteDelegateError));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteInt4), static_cast<int>(::kTfLiteInt4));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteFloat16), static_cast<int>(::kTfLiteFloat16));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteMmapRo), static_cast<int>(::kTfLiteMmapRo));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteDynamic), static_cast<int>(::kTfLiteDynamic));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteAffineQuantization), static_cast<int>(::kTfLiteAffineQuantization));
  EXPECT_EQ(static_cast<int>(tflite_c::kTfLiteDimSparseCSR), static_cast<int>(::kTfLiteDimSparseCSR));
  EXPECT_EQ(1, static_cast<int>(::kTfLitePaddingSame));
  EXPECT_EQ(5, static_cast<int>(::kTfLiteActSignBit));
}

#ifdef HEARTH_HAS_GPU_OPTIONS
TEST(DelegateLayout, OfTheGpuOptionsIsThatOfTheHeaders) {
  SAME_SIZE(TfLiteGpuDelegateOptionsV2);
  SAME(TfLiteGpuDelegateOptionsV2, inference_priority3);
  SAME(TfLiteGpuDelegateOptionsV2, experimental_flags);
  SAME(TfLiteGpuDelegateOptionsV2, max_delegated_partitions);
  SAME(TfLiteGpuDelegateOptionsV2, model_token);
}
#endif

#else

TEST(DelegateLayout, IsThatOfTheHeaders) {
  GTEST_SKIP() << "no TFLite headers in Python's tensorflow, /usr/include or HEARTH_TFLITE_HEADERS";
}

#endif

}  // namespace
}  // namespace hearth
