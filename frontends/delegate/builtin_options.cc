#include "frontends/delegate/builtin_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>

#include "frontends/delegate/builtin_params.h"

// A macro, because offsetof needs the names of struct and member.
#define FIELD(number, kind, structure, member) \
  { number, Kind::kind, offsetof(tflite_c::structure, member) }

namespace hearth {
namespace {

// The conversion of a member of the interpreter's struct to a field of the file's table.
enum class Kind : uint8_t {
  kInt,      // int -> int
  kFloat,    // float -> float
  kBool,     // bool -> byte
  kEnum,     // enumeration with the file's numbers -> byte
  kPadding,  // enumeration that counts from 1 (the file's from 0) -> byte
  kType,     // element type -> byte
  kDims,     // int32_t[8] followed by a count -> list
  kFloats,   // a count followed by a pointer to as many floats -> list
};

struct FieldRow {
  uint16_t number;  // in the file's table
  Kind kind;
  size_t offset;  // in the struct
};

constexpr size_t kMaxDims = 8;

constexpr FieldRow kConv[] = {
    FIELD(0, kPadding, TfLiteConvParams, padding),           FIELD(1, kInt, TfLiteConvParams, stride_width),
    FIELD(2, kInt, TfLiteConvParams, stride_height),         FIELD(3, kEnum, TfLiteConvParams, activation),
    FIELD(4, kInt, TfLiteConvParams, dilation_width_factor), FIELD(5, kInt, TfLiteConvParams, dilation_height_factor)};
constexpr FieldRow kDepthwise[] = {FIELD(0, kPadding, TfLiteDepthwiseConvParams, padding),
                                   FIELD(1, kInt, TfLiteDepthwiseConvParams, stride_width),
                                   FIELD(2, kInt, TfLiteDepthwiseConvParams, stride_height),
                                   FIELD(3, kInt, TfLiteDepthwiseConvParams, depth_multiplier),
                                   FIELD(4, kEnum, TfLiteDepthwiseConvParams, activation),
                                   FIELD(5, kInt, TfLiteDepthwiseConvParams, dilation_width_factor),
                                   FIELD(6, kInt, TfLiteDepthwiseConvParams, dilation_height_factor)};
constexpr FieldRow kPool[] = {
    FIELD(0, kPadding, TfLitePoolParams, padding),   FIELD(1, kInt, TfLitePoolParams, stride_width),
    FIELD(2, kInt, TfLitePoolParams, stride_height), FIELD(3, kInt, TfLitePoolParams, filter_width),
    FIELD(4, kInt, TfLitePoolParams, filter_height), FIELD(5, kEnum, TfLitePoolParams, activation)};
constexpr FieldRow kTransposeConv[] = {
    FIELD(0, kPadding, TfLiteTransposeConvParams, padding), FIELD(1, kInt, TfLiteTransposeConvParams, stride_width),
    FIELD(2, kInt, TfLiteTransposeConvParams, stride_height), FIELD(3, kEnum, TfLiteTransposeConvParams, activation)};
constexpr FieldRow kSvdf[] = {FIELD(0, kInt, TfLiteSVDFParams, rank), FIELD(1, kEnum, TfLiteSVDFParams, activation)};
constexpr FieldRow kRnn[] = {FIELD(0, kEnum, TfLiteRNNParams, activation)};
constexpr FieldRow kSequenceRnn[] = {FIELD(0, kBool, TfLiteSequenceRNNParams, time_major),
                                     FIELD(1, kEnum, TfLiteSequenceRNNParams, activation)};
constexpr FieldRow kFullyConnected[] = {FIELD(0, kEnum, TfLiteFullyConnectedParams, activation),
                                        FIELD(1, kEnum, TfLiteFullyConnectedParams, weights_format),
                                        FIELD(2, kBool, TfLiteFullyConnectedParams, keep_num_dims)};
constexpr FieldRow kSoftmax[] = {FIELD(0, kFloat, TfLiteSoftmaxParams, beta)};
constexpr FieldRow kConcatenation[] = {FIELD(0, kInt, TfLiteConcatenationParams, axis),
                                       FIELD(1, kEnum, TfLiteConcatenationParams, activation)};
constexpr FieldRow kAdd[] = {FIELD(0, kEnum, TfLiteAddParams, activation)};
constexpr FieldRow kMul[] = {FIELD(0, kEnum, TfLiteMulParams, activation)};
constexpr FieldRow kSub[] = {FIELD(0, kEnum, TfLiteSubParams, activation)};
constexpr FieldRow kDiv[] = {FIELD(0, kEnum, TfLiteDivParams, activation)};
constexpr FieldRow kL2Norm[] = {FIELD(0, kEnum, TfLiteL2NormParams, activation)};
constexpr FieldRow kLocalResponseNorm[] = {
    FIELD(0, kInt, TfLiteLocalResponseNormParams, radius), FIELD(1, kFloat, TfLiteLocalResponseNormParams, bias),
    FIELD(2, kFloat, TfLiteLocalResponseNormParams, alpha), FIELD(3, kFloat, TfLiteLocalResponseNormParams, beta)};
constexpr FieldRow kLstm[] = {
    FIELD(0, kEnum, TfLiteLSTMParams, activation), FIELD(1, kFloat, TfLiteLSTMParams, cell_clip),
    FIELD(2, kFloat, TfLiteLSTMParams, proj_clip), FIELD(3, kEnum, TfLiteLSTMParams, kernel_type)};
constexpr FieldRow kSequenceLstm[] = {FIELD(0, kEnum, TfLiteUnidirectionalSequenceLSTMParams, activation),
                                      FIELD(1, kFloat, TfLiteUnidirectionalSequenceLSTMParams, cell_clip),
                                      FIELD(2, kFloat, TfLiteUnidirectionalSequenceLSTMParams, proj_clip),
                                      FIELD(3, kBool, TfLiteUnidirectionalSequenceLSTMParams, time_major)};
constexpr FieldRow kResizeBilinear[] = {FIELD(2, kBool, TfLiteResizeBilinearParams, align_corners),
                                        FIELD(3, kBool, TfLiteResizeBilinearParams, half_pixel_centers)};
constexpr FieldRow kResizeNearest[] = {FIELD(0, kBool, TfLiteResizeNearestNeighborParams, align_corners),
                                       FIELD(1, kBool, TfLiteResizeNearestNeighborParams, half_pixel_centers)};
constexpr FieldRow kReshape[] = {FIELD(0, kDims, TfLiteReshapeParams, shape)};
constexpr FieldRow kSqueeze[] = {FIELD(0, kDims, TfLiteSqueezeParams, squeeze_dims)};
constexpr FieldRow kSpaceToDepth[] = {FIELD(0, kInt, TfLiteSpaceToDepthParams, block_size)};
constexpr FieldRow kDepthToSpace[] = {FIELD(0, kInt, TfLiteDepthToSpaceParams, block_size)};
constexpr FieldRow kCast[] = {FIELD(0, kType, TfLiteCastParams, in_data_type),
                              FIELD(1, kType, TfLiteCastParams, out_data_type)};
constexpr FieldRow kGather[] = {FIELD(0, kInt, TfLiteGatherParams, axis),
                                FIELD(1, kInt, TfLiteGatherParams, batch_dims)};
constexpr FieldRow kReducer[] = {FIELD(0, kBool, TfLiteReducerParams, keep_dims)};
constexpr FieldRow kSplit[] = {FIELD(0, kInt, TfLiteSplitParams, num_splits)};
constexpr FieldRow kSplitV[] = {FIELD(0, kInt, TfLiteSplitVParams, num_splits)};
constexpr FieldRow kStridedSlice[] = {
    FIELD(0, kInt, TfLiteStridedSliceParams, begin_mask),       FIELD(1, kInt, TfLiteStridedSliceParams, end_mask),
    FIELD(2, kInt, TfLiteStridedSliceParams, ellipsis_mask),    FIELD(3, kInt, TfLiteStridedSliceParams, new_axis_mask),
    FIELD(4, kInt, TfLiteStridedSliceParams, shrink_axis_mask), FIELD(5, kBool, TfLiteStridedSliceParams, offset)};
constexpr FieldRow kArgMax[] = {FIELD(0, kType, TfLiteArgMaxParams, output_type)};
constexpr FieldRow kArgMin[] = {FIELD(0, kType, TfLiteArgMinParams, output_type)};
constexpr FieldRow kPack[] = {FIELD(0, kInt, TfLitePackParams, values_count), FIELD(1, kInt, TfLitePackParams, axis)};
constexpr FieldRow kUnpack[] = {FIELD(0, kInt, TfLiteUnpackParams, num), FIELD(1, kInt, TfLiteUnpackParams, axis)};
constexpr FieldRow kOneHot[] = {FIELD(0, kInt, TfLiteOneHotParams, axis)};
constexpr FieldRow kLeakyRelu[] = {FIELD(0, kFloat, TfLiteLeakyReluParams, alpha)};
constexpr FieldRow kMirrorPad[] = {FIELD(0, kPadding, TfLiteMirrorPaddingParams, mode)};
constexpr FieldRow kBatchMatMul[] = {FIELD(0, kBool, TfLiteBatchMatMulParams, adj_x),
                                     FIELD(1, kBool, TfLiteBatchMatMulParams, adj_y)};
constexpr FieldRow kCumsum[] = {FIELD(0, kBool, TfLiteCumsumParams, exclusive),
                                FIELD(1, kBool, TfLiteCumsumParams, reverse)};
constexpr FieldRow kFakeQuant[] = {
    FIELD(0, kFloat, TfLiteFakeQuantParams, min), FIELD(1, kFloat, TfLiteFakeQuantParams, max),
    FIELD(2, kInt, TfLiteFakeQuantParams, num_bits), FIELD(3, kBool, TfLiteFakeQuantParams, narrow_range)};
constexpr FieldRow kReverseSequence[] = {FIELD(0, kInt, TfLiteReverseSequenceParams, seq_dim),
                                         FIELD(1, kInt, TfLiteReverseSequenceParams, batch_dim)};
constexpr FieldRow kEmbeddingLookupSparse[] = {FIELD(0, kEnum, TfLiteEmbeddingLookupSparseParams, combiner)};
constexpr FieldRow kBidirectionalRnn[] = {FIELD(0, kBool, TfLiteBidirectionalSequenceRNNParams, time_major),
                                          FIELD(1, kEnum, TfLiteBidirectionalSequenceRNNParams, activation),
                                          FIELD(2, kBool, TfLiteBidirectionalSequenceRNNParams, merge_outputs)};
constexpr FieldRow kBidirectionalLstm[] = {FIELD(0, kEnum, TfLiteBidirectionalSequenceLSTMParams, activation),
                                           FIELD(1, kFloat, TfLiteBidirectionalSequenceLSTMParams, cell_clip),
                                           FIELD(2, kFloat, TfLiteBidirectionalSequenceLSTMParams, proj_clip),
                                           FIELD(3, kBool, TfLiteBidirectionalSequenceLSTMParams, merge_outputs),
                                           FIELD(4, kBool, TfLiteBidirectionalSequenceLSTMParams, time_major)};
constexpr FieldRow kConv3D[] = {FIELD(0, kPadding, TfLiteConv3DParams, padding),
                                FIELD(1, kInt, TfLiteConv3DParams, stride_depth),
                                FIELD(2, kInt, TfLiteConv3DParams, stride_width),
                                FIELD(3, kInt, TfLiteConv3DParams, stride_height),
                                FIELD(4, kEnum, TfLiteConv3DParams, activation),
                                FIELD(5, kInt, TfLiteConv3DParams, dilation_depth_factor),
                                FIELD(6, kInt, TfLiteConv3DParams, dilation_width_factor),
                                FIELD(7, kInt, TfLiteConv3DParams, dilation_height_factor)};
constexpr FieldRow kBucketize[] = {FIELD(0, kFloats, TfLiteBucketizeParams, num_boundaries)};
constexpr FieldRow kGelu[] = {FIELD(0, kBool, TfLiteGeluParams, approximate)};

struct OptionsRow {
  int32_t code;          // of the operator
  uint8_t options_type;  // tag of the file's union
  std::span<const FieldRow> fields;
};

// Sorted by code.
constexpr OptionsRow kBuiltinRows[] = {
    {0, 11, kAdd},
    {1, 5, kPool},
    {2, 10, kConcatenation},
    {3, 1, kConv},
    {4, 2, kDepthwise},
    {5, 94, kDepthToSpace},
    {9, 8, kFullyConnected},
    {11, 12, kL2Norm},
    {12, 5, kPool},
    {13, 13, kLocalResponseNorm},
    {16, 14, kLstm},
    {17, 5, kPool},
    {18, 21, kMul},
    {22, 17, kReshape},
    {23, 15, kResizeBilinear},
    {24, 7, kRnn},
    {25, 9, kSoftmax},
    {26, 19, kSpaceToDepth},
    {27, 6, kSvdf},
    {33, 20, kEmbeddingLookupSparse},
    {35, 31, kSequenceRnn},
    {36, 23, kGather},
    {40, 27, kReducer},
    {41, 28, kSub},
    {42, 29, kDiv},
    {43, 30, kSqueeze},
    {44, 71, kSequenceLstm},
    {45, 32, kStridedSlice},
    {46, 70, kBidirectionalRnn},
    {49, 35, kSplit},
    {52, 69, kBidirectionalLstm},
    {53, 37, kCast},
    {56, 40, kArgMax},
    {67, 49, kTransposeConv},
    {74, 27, kReducer},
    {79, 57, kArgMin},
    {80, 58, kFakeQuant},
    {81, 27, kReducer},
    {82, 27, kReducer},
    {83, 59, kPack},
    {85, 61, kOneHot},
    {88, 64, kUnpack},
    {89, 27, kReducer},
    {91, 27, kReducer},
    {97, 74, kResizeNearest},
    {98, 75, kLeakyRelu},
    {100, 77, kMirrorPad},
    {102, 79, kSplitV},
    {112, 87, kReverseSequence},
    {126, 101, kBatchMatMul},
    {128, 102, kCumsum},
    {132, 106, kConv3D},
    {140, 27, kReducer},
    {141, 106, kConv3D},
    {147, 115, kBucketize},
    {150, 116, kGelu},
};
static_assert(std::is_sorted(std::begin(kBuiltinRows), std::end(kBuiltinRows),
                             [](const OptionsRow& a, const OptionsRow& b) { return a.code < b.code; }));

// Indexed by the interpreter's number.
constexpr std::array<int8_t, 24> kFileTypes = {-1, 0,  2,  3,  4,  5,  6,  7,  8,  9,  1,  10,
                                               11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};

template <typename T>
T Load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

OptionToWrite OptionOf(const FieldRow& row, const std::byte* member) {
  OptionToWrite option;
  option.field = row.number;
  switch (row.kind) {
    case Kind::kInt: option.number = Load<int32_t>(member); break;
    case Kind::kFloat:
      option.kind = OptionToWrite::Kind::kFloat;
      option.real = Load<float>(member);
      break;
    case Kind::kDims: {
      option.kind = OptionToWrite::Kind::kInt32List;
      const auto count = Load<int32_t>(member + kMaxDims * sizeof(int32_t));
      option.list.resize(static_cast<size_t>(std::clamp<int32_t>(count, 0, kMaxDims)));
      for (size_t k = 0; k < option.list.size(); ++k) option.list[k] = Load<int32_t>(member + 4 * k);
      break;
    }
    case Kind::kFloats: {
      // A list of 32-bit numbers in the file, of any type.
      option.kind = OptionToWrite::Kind::kInt32List;
      const auto count = Load<int32_t>(member);
      const auto* numbers = Load<const float*>(member + sizeof(const float*));
      if (numbers != nullptr && count > 0) option.list.resize(static_cast<size_t>(count));
      if (!option.list.empty()) std::memcpy(option.list.data(), numbers, option.list.size() * sizeof(float));
      break;
    }
    default:
      option.kind = OptionToWrite::Kind::kByte;
      if (row.kind == Kind::kBool) option.number = Load<uint8_t>(member) != 0 ? 1 : 0;
      if (row.kind == Kind::kEnum) option.number = Load<int32_t>(member);
      if (row.kind == Kind::kPadding) option.number = Load<int32_t>(member) - 1;
      if (row.kind == Kind::kType) option.number = FileTypeOf(Load<int32_t>(member));
      option.number = std::clamp(option.number, -1, 127);  // out of range becomes an unknown enumerator
  }
  return option;
}

}  // namespace

int8_t FileTypeOf(int32_t interpreter_type) {
  const bool is_known = interpreter_type >= 0 && interpreter_type < static_cast<int32_t>(kFileTypes.size());
  return is_known ? kFileTypes[static_cast<size_t>(interpreter_type)] : static_cast<int8_t>(-1);
}

void SetOptions(const void* builtin_data, OperatorToWrite& op) {
  const auto* row = std::lower_bound(std::begin(kBuiltinRows), std::end(kBuiltinRows), op.code,
                                     [](const OptionsRow& a, int32_t code) { return a.code < code; });
  if (builtin_data == nullptr || row == std::end(kBuiltinRows) || row->code != op.code) return;
  op.options_type = row->options_type;
  for (const FieldRow& field : row->fields) {
    op.options.push_back(OptionOf(field, static_cast<const std::byte*>(builtin_data) + field.offset));
  }
}

}  // namespace hearth
