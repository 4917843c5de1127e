#include "frontends/tflite/operator_table.h"

#include <algorithm>
#include <iterator>

#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

// Sorted by code for FindOperator.
constexpr OperatorRow kOperators[] = {
    // code, name, reader, required inputs, most inputs, inputs of the node[, most outputs, order of the node's inputs]
    {0, "ADD", ReadAdd, 2, 2, 2},
    {1, "AVERAGE_POOL_2D", ReadAveragePool2D, 1, 1, 1},
    {2, "CONCATENATION", ReadConcatenation, 1, kAnyCount, kAnyCount},
    {3, "CONV_2D", ReadConv2D, 2, 3, 3},
    {4, "DEPTHWISE_CONV_2D", ReadDepthwiseConv2D, 2, 3, 3},
    {5, "DEPTH_TO_SPACE", ReadDepthToSpace, 1, 1, 1},
    {6, "DEQUANTIZE", ReadUnary<UnaryKind::kDequantize>, 1, 1, 1},
    {7, "EMBEDDING_LOOKUP", ReadEmbeddingLookup, 2, 2, 2, 1, "10"},
    {8, "FLOOR", ReadUnary<UnaryKind::kFloor>, 1, 1, 1},
    {9, "FULLY_CONNECTED", ReadFullyConnected, 2, 3, 3},
    {10, "HASHTABLE_LOOKUP"},
    {11, "L2_NORMALIZATION", ReadL2Normalization, 1, 1, 1},
    {12, "L2_POOL_2D", ReadL2Pool2D, 1, 1, 1},
    {13, "LOCAL_RESPONSE_NORMALIZATION", ReadLocalResponseNormalization, 1, 1, 1},
    {14, "LOGISTIC", ReadUnary<UnaryKind::kLogistic>, 1, 1, 1},
    {15, "LSH_PROJECTION"},
    {16, "LSTM", ReadLstm, 1, 24, 24, 4, "", "ij"},
    {17, "MAX_POOL_2D", ReadMaxPool2D, 1, 1, 1},
    {18, "MUL", ReadMul, 2, 2, 2},
    {19, "RELU", ReadUnary<UnaryKind::kRelu>, 1, 1, 1},
    {20, "RELU_N1_TO_1", ReadUnary<UnaryKind::kReluN1To1>, 1, 1, 1},
    {21, "RELU6", ReadUnary<UnaryKind::kRelu6>, 1, 1, 1},
    {22, "RESHAPE", ReadReshape, 1, 2, 1},
    {23, "RESIZE_BILINEAR", ReadResizeBilinear, 2, 2, 1},
    {24, "RNN", ReadRnn, 5, 5, 5, 1, "04123", "4"},
    {25, "SOFTMAX", ReadSoftmax, 1, 1, 1},
    {26, "SPACE_TO_DEPTH", ReadSpaceToDepth, 1, 1, 1},
    {27, "SVDF", ReadSvdf, 3, 5, 5, 1, "04123", "4"},
    {28, "TANH", ReadUnary<UnaryKind::kTanh>, 1, 1, 1},
    {29, "CONCAT_EMBEDDINGS"},
    {30, "SKIP_GRAM"},
    {31, "CALL"},
    {32, "CUSTOM"},
    {33, "EMBEDDING_LOOKUP_SPARSE"},
    {34, "PAD", ReadPad, 2, 2, 1},
    {35, "UNIDIRECTIONAL_SEQUENCE_RNN", ReadUnidirectionalSequenceRnn, 5, 5, 5, 1, "04123", "4"},
    {36, "GATHER", ReadGather, 2, 2, 2},
    {37, "BATCH_TO_SPACE_ND", ReadBatchToSpace, 3, 3, 1},
    {38, "SPACE_TO_BATCH_ND", ReadSpaceToBatch, 3, 3, 1},
    {39, "TRANSPOSE", ReadTranspose, 2, 2, 1},
    {40, "MEAN", ReadReduction<ReduceKind::kMean>, 2, 2, 1},
    {41, "SUB", ReadSub, 2, 2, 2},
    {42, "DIV", ReadDiv, 2, 2, 2},
    {43, "SQUEEZE", ReadSqueeze, 1, 1, 1},
    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", ReadUnidirectionalSequenceLstm, 1, 24, 24, 1, "", "ij"},
    {45, "STRIDED_SLICE", ReadStridedSlice, 4, 4, 1},
    {46, "BIDIRECTIONAL_SEQUENCE_RNN", nullptr, 0, 0, 0, 1, "", "48"},
    {47, "EXP", ReadUnary<UnaryKind::kExp>, 1, 1, 1},
    {48, "TOPK_V2", ReadTopK, 2, 2, 1, 2},
    {49, "SPLIT", ReadSplit, 2, 2, 1, kAnyCount, "1"},
    {50, "LOG_SOFTMAX", ReadLogSoftmax, 1, 1, 1},
    {51, "DELEGATE"},
    {52, "BIDIRECTIONAL_SEQUENCE_LSTM", nullptr, 0, 0, 0, 1, "", "z{|}"},
    {53, "CAST", ReadCast, 1, 1, 1},
    {54, "PRELU", ReadPRelu, 2, 2, 2},
    {55, "MAXIMUM", ReadBinary<BinaryKind::kMaximum>, 2, 2, 2},
    {56, "ARG_MAX", ReadArg<ArgKind::kMax>, 2, 2, 1},
    {57, "MINIMUM", ReadBinary<BinaryKind::kMinimum>, 2, 2, 2},
    {58, "LESS", ReadBinary<BinaryKind::kLess>, 2, 2, 2},
    {59, "NEG", ReadUnary<UnaryKind::kNeg>, 1, 1, 1},
    {60, "PADV2", ReadPadV2, 3, 3, 1},
    {61, "GREATER", ReadBinary<BinaryKind::kGreater>, 2, 2, 2},
    {62, "GREATER_EQUAL", ReadBinary<BinaryKind::kGreaterEqual>, 2, 2, 2},
    {63, "LESS_EQUAL", ReadBinary<BinaryKind::kLessEqual>, 2, 2, 2},
    {64, "SELECT", ReadSelect, 3, 3, 3},
    {65, "SLICE", ReadSlice, 3, 3, 1},
    {66, "SIN", ReadUnary<UnaryKind::kSin>, 1, 1, 1},
    {67, "TRANSPOSE_CONV", ReadTransposeConv, 3, 4, 3, 1, "213"},
    {68, "SPARSE_TO_DENSE"},
    {69, "TILE", ReadTile, 2, 2, 1},
    {70, "EXPAND_DIMS", ReadExpandDims, 2, 2, 1},
    {71, "EQUAL", ReadBinary<BinaryKind::kEqual>, 2, 2, 2},
    {72, "NOT_EQUAL", ReadBinary<BinaryKind::kNotEqual>, 2, 2, 2},
    {73, "LOG", ReadUnary<UnaryKind::kLog>, 1, 1, 1},
    {74, "SUM", ReadReduction<ReduceKind::kSum>, 2, 2, 1},
    {75, "SQRT", ReadUnary<UnaryKind::kSqrt>, 1, 1, 1},
    {76, "RSQRT", ReadUnary<UnaryKind::kRsqrt>, 1, 1, 1},
    {77, "SHAPE"},
    {78, "POW", ReadBinary<BinaryKind::kPow>, 2, 2, 2},
    {79, "ARG_MIN", ReadArg<ArgKind::kMin>, 2, 2, 1},
    {80, "FAKE_QUANT"},
    {81, "REDUCE_PROD", ReadReduction<ReduceKind::kProd>, 2, 2, 1},
    {82, "REDUCE_MAX", ReadReduction<ReduceKind::kMax>, 2, 2, 1},
    {83, "PACK", ReadPack, 1, kAnyCount, kAnyCount},
    {84, "LOGICAL_OR", ReadBinary<BinaryKind::kLogicalOr>, 2, 2, 2},
    {85, "ONE_HOT", ReadOneHot, 4, 4, 3, 1, "023"},
    {86, "LOGICAL_AND", ReadBinary<BinaryKind::kLogicalAnd>, 2, 2, 2},
    {87, "LOGICAL_NOT", ReadUnary<UnaryKind::kLogicalNot>, 1, 1, 1},
    {88, "UNPACK", ReadUnpack, 1, 1, 1, kAnyCount},
    {89, "REDUCE_MIN", ReadReduction<ReduceKind::kMin>, 2, 2, 1},
    {90, "FLOOR_DIV", ReadBinary<BinaryKind::kFloorDiv>, 2, 2, 2},
    {91, "REDUCE_ANY", ReadReduction<ReduceKind::kAny>, 2, 2, 1},
    {92, "SQUARE", ReadUnary<UnaryKind::kSquare>, 1, 1, 1},
    {93, "ZEROS_LIKE"},
    {94, "FILL"},
    {95, "FLOOR_MOD", ReadBinary<BinaryKind::kFloorMod>, 2, 2, 2},
    {96, "RANGE"},
    {97, "RESIZE_NEAREST_NEIGHBOR", ReadResizeNearestNeighbor, 2, 2, 1},
    {98, "LEAKY_RELU", ReadLeakyRelu, 1, 1, 1},
    {99, "SQUARED_DIFFERENCE", ReadBinary<BinaryKind::kSquaredDifference>, 2, 2, 2},
    {100, "MIRROR_PAD", ReadMirrorPad, 2, 2, 1},
    {101, "ABS", ReadUnary<UnaryKind::kAbs>, 1, 1, 1},
    {102, "SPLIT_V", ReadSplitV, 3, 3, 1, kAnyCount},
    {103, "UNIQUE"},
    {104, "CEIL", ReadUnary<UnaryKind::kCeil>, 1, 1, 1},
    {105, "REVERSE_V2", ReadReverse, 2, 2, 1},
    {106, "ADD_N", ReadAddN, 1, kAnyCount, kAnyCount},
    {107, "GATHER_ND", ReadGatherNd, 2, 2, 2},
    {108, "COS", ReadUnary<UnaryKind::kCos>, 1, 1, 1},
    {109, "WHERE"},
    {110, "RANK"},
    {111, "ELU", ReadUnary<UnaryKind::kElu>, 1, 1, 1},
    {112, "REVERSE_SEQUENCE"},
    {113, "MATRIX_DIAG"},
    {114, "QUANTIZE", ReadUnary<UnaryKind::kQuantize>, 1, 1, 1},
    {115, "MATRIX_SET_DIAG"},
    {116, "ROUND", ReadUnary<UnaryKind::kRound>, 1, 1, 1},
    {117, "HARD_SWISH", ReadUnary<UnaryKind::kHardSwish>, 1, 1, 1},
    {118, "IF"},
    {119, "WHILE"},
    {120, "NON_MAX_SUPPRESSION_V4"},
    {121, "NON_MAX_SUPPRESSION_V5"},
    {122, "SCATTER_ND"},
    {123, "SELECT_V2", ReadSelectV2, 3, 3, 3},
    {124, "DENSIFY"},
    {125, "SEGMENT_SUM"},
    {126, "BATCH_MATMUL", ReadBatchMatMul, 2, 2, 2},
    {127, "PLACEHOLDER_FOR_GREATER_OP_CODES"},
    {128, "CUMSUM", ReadCumSum, 2, 2, 1},
    {129, "CALL_ONCE"},
    {130, "BROADCAST_TO", ReadBroadcastTo, 2, 2, 1},
    {131, "RFFT2D"},
    {132, "CONV_3D"},
    {133, "IMAG"},
    {134, "REAL"},
    {135, "COMPLEX_ABS"},
    {136, "HASHTABLE"},
    {137, "HASHTABLE_FIND"},
    {138, "HASHTABLE_IMPORT"},
    {139, "HASHTABLE_SIZE"},
    {140, "REDUCE_ALL", ReadReduction<ReduceKind::kAll>, 2, 2, 1},
    {141, "CONV_3D_TRANSPOSE"},
    {142, "VAR_HANDLE"},
    {143, "READ_VARIABLE"},
    {144, "ASSIGN_VARIABLE"},
    {145, "BROADCAST_ARGS"},
    {146, "RANDOM_STANDARD_NORMAL"},
    {147, "BUCKETIZE"},
    {148, "RANDOM_UNIFORM"},
    {149, "MULTINOMIAL"},
    {150, "GELU", ReadGelu, 1, 1, 1},
    {151, "DYNAMIC_UPDATE_SLICE", ReadDynamicUpdateSlice, 3, 3, 3},
    {152, "RELU_0_TO_1", ReadUnary<UnaryKind::kRelu0To1>, 1, 1, 1},
    {153, "UNSORTED_SEGMENT_PROD"},
    {154, "UNSORTED_SEGMENT_MAX"},
    {155, "UNSORTED_SEGMENT_SUM"},
    {156, "ATAN2", ReadBinary<BinaryKind::kAtan2>, 2, 2, 2},
    {157, "UNSORTED_SEGMENT_MIN"},
    {158, "SIGN", ReadUnary<UnaryKind::kSign>, 1, 1, 1},
    {159, "BITCAST"},
    {160, "BITWISE_XOR", ReadBinary<BinaryKind::kBitwiseXor>, 2, 2, 2},
    {161, "RIGHT_SHIFT", ReadBinary<BinaryKind::kRightShift>, 2, 2, 2},
    {162, "STABLEHLO_LOGISTIC"},
    {163, "STABLEHLO_ADD"},
    {164, "STABLEHLO_DIVIDE"},
    {165, "STABLEHLO_MULTIPLY"},
    {166, "STABLEHLO_MAXIMUM"},
    {167, "STABLEHLO_RESHAPE"},
    {168, "STABLEHLO_CLAMP"},
    {169, "STABLEHLO_CONCATENATE"},
    {170, "STABLEHLO_BROADCAST_IN_DIM"},
    {171, "STABLEHLO_CONVOLUTION"},
    {172, "STABLEHLO_SLICE"},
    {173, "STABLEHLO_CUSTOM_CALL"},
    {174, "STABLEHLO_REDUCE"},
    {175, "STABLEHLO_ABS"},
    {176, "STABLEHLO_AND"},
    {177, "STABLEHLO_COSINE"},
    {178, "STABLEHLO_EXPONENTIAL"},
    {179, "STABLEHLO_FLOOR"},
    {180, "STABLEHLO_LOG"},
    {181, "STABLEHLO_MINIMUM"},
    {182, "STABLEHLO_NEGATE"},
    {183, "STABLEHLO_OR"},
    {184, "STABLEHLO_POWER"},
    {185, "STABLEHLO_REMAINDER"},
    {186, "STABLEHLO_RSQRT"},
    {187, "STABLEHLO_SELECT"},
    {188, "STABLEHLO_SUBTRACT"},
    {189, "STABLEHLO_TANH"},
    {190, "STABLEHLO_SCATTER"},
    {191, "STABLEHLO_COMPARE"},
    {192, "STABLEHLO_CONVERT"},
    {193, "STABLEHLO_DYNAMIC_SLICE"},
    {194, "STABLEHLO_DYNAMIC_UPDATE_SLICE"},
    {195, "STABLEHLO_PAD"},
    {196, "STABLEHLO_IOTA"},
    {197, "STABLEHLO_DOT_GENERAL"},
    {198, "STABLEHLO_REDUCE_WINDOW"},
    {199, "STABLEHLO_SORT"},
    {200, "STABLEHLO_WHILE"},
    {201, "STABLEHLO_GATHER"},
    {202, "STABLEHLO_TRANSPOSE"},
    {203, "DILATE"},
    {204, "STABLEHLO_RNG_BIT_GENERATOR"},
    {205, "REDUCE_WINDOW"},
    {206, "STABLEHLO_COMPOSITE"},
    {207, "STABLEHLO_SHIFT_LEFT"},
    {208, "STABLEHLO_CBRT"},
    {209, "STABLEHLO_CASE"},
};
static_assert(std::is_sorted(std::begin(kOperators), std::end(kOperators),
                             [](const OperatorRow& a, const OperatorRow& b) { return a.code < b.code; }));

// Custom operators, found by name.
constexpr OperatorRow kCustomOperators[] = {
    // code, name, reader, required inputs, most inputs, inputs of the node
    {kCustomOperator, "Convolution2DTransposeBias", ReadTransposeConvBias, 3, 3, 3},
    {kCustomOperator, "MaxPoolingWithArgmax2D", ReadMaxPoolArgmax, 1, 1, 1, 2},
    {kCustomOperator, "MaxUnpooling2D", ReadMaxUnpool, 2, 2, 2},
    {kCustomOperator, "Resampler", ReadResampler, 2, 2, 2},
    {kCustomOperator, "TFLite_Detection_PostProcess", ReadDetectionPostProcess, 3, 3, 3, 4},
};

}  // namespace

const OperatorRow* FindCustomOperator(std::string_view name) {
  const auto* row = std::find_if(std::begin(kCustomOperators), std::end(kCustomOperators),
                                 [&](const OperatorRow& candidate) { return candidate.name == name; });
  return row != std::end(kCustomOperators) ? row : nullptr;
}

const OperatorRow* FindOperator(int32_t code) {
  const auto* row = std::lower_bound(std::begin(kOperators), std::end(kOperators), code,
                                     [](const OperatorRow& a, int32_t wanted) { return a.code < wanted; });
  return row != std::end(kOperators) && row->code == code ? row : nullptr;
}

std::string BuiltinName(int32_t code) {
  const OperatorRow* row = FindOperator(code);
  return row != nullptr ? std::string(row->name) : fmt::format("BUILTIN_{}", code);
}

Result<std::vector<OperatorCode>> ReadOperatorCodes(const wire::Model& model, CopyBudget& budget) {
  std::vector<OperatorCode> codes;
  const uint32_t count = model.operator_codes() == nullptr ? 0 : model.operator_codes()->size();
  for (uint32_t i = 0; i < count; ++i) {
    const wire::OperatorCode& stored = *model.operator_codes()->Get(i);
    const int32_t code = std::max<int32_t>(stored.deprecated_builtin_code(), stored.builtin_code());
    if (code < 0) return Error(StatusCode::kMalformedInput, "operator code {} is {}, below 0", i, code);
    if (code == kCustomOperator && stored.custom_code() != nullptr && stored.custom_code()->size() > 0) {
      if (!budget.Charge(stored.custom_code()->size())) {
        return CopyBudget::Exceeded(fmt::format("operator code {}", i));
      }
      const std::string_view name = stored.custom_code()->string_view();
      codes.push_back({FindCustomOperator(name), CleanName(name)});
    } else {
      codes.push_back({FindOperator(code), BuiltinName(code)});
    }
  }
  return codes;
}

}  // namespace hearth
