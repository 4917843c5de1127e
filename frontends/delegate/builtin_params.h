// The structs behind TfLiteNode::builtin_data for operators whose attributes Hearth reads. The layout is the
// interface's, as in tflite_c.h. C enumerations are int32_t here.
#ifndef HEARTH_FRONTENDS_DELEGATE_BUILTIN_PARAMS_H_
#define HEARTH_FRONTENDS_DELEGATE_BUILTIN_PARAMS_H_

#include <cstdint>

namespace hearth::tflite_c {

struct TfLiteConvParams {
  int32_t padding;  // 1 same, 2 valid
  int stride_width;
  int stride_height;
  int32_t activation;  // the file format's numbers
  int dilation_width_factor;
  int dilation_height_factor;
  int32_t quantized_bias_type;
};
struct TfLitePoolParams {
  int32_t padding;
  int stride_width;
  int stride_height;
  int filter_width;
  int filter_height;
  int32_t activation;
  int computed_padding[4];  // NOLINT(modernize-avoid-c-arrays): the interface's
};
struct TfLiteDepthwiseConvParams {
  int32_t padding;
  int stride_width;
  int stride_height;
  int depth_multiplier;
  int32_t activation;
  int dilation_width_factor;
  int dilation_height_factor;
};
struct TfLiteTransposeConvParams {
  int32_t padding;
  int stride_width;
  int stride_height;
  int32_t activation;
  int32_t quantized_bias_type;
};
struct TfLiteSVDFParams {
  int rank;
  int32_t activation;
  bool asymmetric_quantize_inputs;
};
struct TfLiteRNNParams {
  int32_t activation;
  bool asymmetric_quantize_inputs;
};
struct TfLiteSequenceRNNParams {
  bool time_major;
  int32_t activation;
  bool asymmetric_quantize_inputs;
};
struct TfLiteFullyConnectedParams {
  int32_t activation;
  int32_t weights_format;
  bool keep_num_dims;
  bool asymmetric_quantize_inputs;
  int32_t quantized_bias_type;
};
struct TfLiteSoftmaxParams {
  float beta;
};
struct TfLiteConcatenationParams {
  int axis;
  int32_t activation;
};
struct TfLiteAddParams {
  int32_t activation;
  bool pot_scale_int16;
};
struct TfLiteMulParams {
  int32_t activation;
};
struct TfLiteSubParams {
  int32_t activation;
  bool pot_scale_int16;
};
struct TfLiteDivParams {
  int32_t activation;
};
struct TfLiteL2NormParams {
  int32_t activation;
};
struct TfLiteLocalResponseNormParams {
  int radius;
  float bias;
  float alpha;
  float beta;
};
struct TfLiteLSTMParams {
  int32_t activation;
  float cell_clip;
  float proj_clip;
  int32_t kernel_type;
  bool asymmetric_quantize_inputs;
};
struct TfLiteUnidirectionalSequenceLSTMParams {
  int32_t activation;
  float cell_clip;
  float proj_clip;
  bool time_major;
  bool asymmetric_quantize_inputs;
  bool diagonal_recurrent_tensors;
};
struct TfLiteResizeBilinearParams {
  bool align_corners;
  bool half_pixel_centers;
};
struct TfLiteResizeNearestNeighborParams {
  bool align_corners;
  bool half_pixel_centers;
};
struct TfLiteReshapeParams {
  int32_t shape[8];  // NOLINT(modernize-avoid-c-arrays): the interface's
  int num_dimensions;
};
struct TfLiteSqueezeParams {
  int32_t squeeze_dims[8];  // NOLINT(modernize-avoid-c-arrays): the interface's
  int num_squeeze_dims;
};
struct TfLiteSpaceToDepthParams {
  int block_size;
};
struct TfLiteDepthToSpaceParams {
  int block_size;
};
struct TfLiteCastParams {
  int32_t in_data_type;
  int32_t out_data_type;
};
struct TfLiteGatherParams {
  int axis;
  int batch_dims;
};
struct TfLiteReducerParams {
  bool keep_dims;
};
struct TfLiteSplitParams {
  int num_splits;
};
struct TfLiteSplitVParams {
  int num_splits;
};
struct TfLiteStridedSliceParams {
  int begin_mask;
  int end_mask;
  int ellipsis_mask;
  int new_axis_mask;
  int shrink_axis_mask;
  bool offset;
};
struct TfLiteArgMaxParams {
  int32_t output_type;
};
struct TfLiteArgMinParams {
  int32_t output_type;
};
struct TfLitePackParams {
  int values_count;
  int axis;
};
struct TfLiteUnpackParams {
  int num;
  int axis;
};
struct TfLiteOneHotParams {
  int axis;
};
struct TfLiteLeakyReluParams {
  float alpha;
};
struct TfLiteMirrorPaddingParams {
  int32_t mode;  // 1 reflect, 2 symmetric
};
struct TfLiteBatchMatMulParams {
  bool adj_x;
  bool adj_y;
  bool asymmetric_quantize_inputs;
};
struct TfLiteCumsumParams {
  bool exclusive;
  bool reverse;
};
struct TfLiteFakeQuantParams {
  float min;
  float max;
  int num_bits;
  bool narrow_range;
};
struct TfLiteReverseSequenceParams {
  int seq_dim;
  int batch_dim;
};
struct TfLiteEmbeddingLookupSparseParams {
  int32_t combiner;  // the file format's numbers
};
struct TfLiteBidirectionalSequenceRNNParams {
  bool time_major;
  int32_t activation;
  bool merge_outputs;
  bool asymmetric_quantize_inputs;
};
struct TfLiteBidirectionalSequenceLSTMParams {
  int32_t activation;
  float cell_clip;
  float proj_clip;
  bool merge_outputs;
  bool time_major;
  bool asymmetric_quantize_inputs;
};
struct TfLiteConv3DParams {  // also of CONV_3D_TRANSPOSE
  int32_t padding;
  int stride_width;
  int stride_height;
  int stride_depth;
  int dilation_width_factor;
  int dilation_height_factor;
  int dilation_depth_factor;
  int32_t activation;
};
struct TfLiteBucketizeParams {
  int num_boundaries;
  const float* boundaries;
};
struct TfLiteGeluParams {
  bool approximate;
};

}  // namespace hearth::tflite_c

#endif  // HEARTH_FRONTENDS_DELEGATE_BUILTIN_PARAMS_H_
