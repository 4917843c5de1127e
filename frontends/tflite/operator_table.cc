#include "frontends/tflite/operator_table.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

constexpr std::string_view
    kStrings = "it works on strings or hash tables, which Hearth does not support: do this step before the model",
    kStableHlo = "an operator of StableHLO that LiteRT has no kernel for either: convert to TFLite's own operators",
    kRare = "not offered";

constexpr Positions kSecondFirst = {1, 0}, kSecond = {1}, kFifth = {4}, kStateSecond = {0, 4, 1, 2, 3},
                    kTransposeConvOrder = {2, 1, 3}, kOneHotOrder = {0, 2, 3}, kLstmStates = {18, 19},
                    kBasicLstmStates = {1, 4}, kBidirectionalRnnStates = {4, 8},
                    kBidirectionalLstmStates = {35, 36, 37, 38};
constexpr unsigned kCallTraits = kTakesRows | kTakesHandles | kCalls;

// Sorted by code for FindOperator.
constexpr OperatorRow kOperators[] = {
    // One node:   code, name, reader, required inputs, most inputs, inputs of the node[, most outputs, order, states]
    // Either:     code, name, reader, expansion of its other forms, required inputs, most inputs, inputs of the node
    // Several:    code, name, expansion, required inputs, most inputs[, traits, states]
    // Refused:    code, name, why
    {0, "ADD", ReadActivated<wire::AddOptions, BinaryKind::kAdd>, 2, 2, 2},
    {1, "AVERAGE_POOL_2D", ReadAs<ReadPool2D, PoolKind::kAverage>, 1, 1, 1},
    {2, "CONCATENATION", ReadConcatenation, 1, kAnyCount, kAnyCount},
    {3, "CONV_2D", ReadConv2D, 2, 3, 3},
    {4, "DEPTHWISE_CONV_2D", ReadDepthwiseConv2D, 2, 3, 3},
    {5, "DEPTH_TO_SPACE", ReadBlocks<wire::DepthToSpaceOptions, DepthToSpace>, 1, 1, 1},
    {6, "DEQUANTIZE", ReadUnary<UnaryKind::kDequantize>, 1, 1, 1},
    {7, "EMBEDDING_LOOKUP", ReadPlain<Gather>, 2, 2, 2, 1, kSecondFirst},
    {8, "FLOOR", ReadUnary<UnaryKind::kFloor>, 1, 1, 1},
    {9, "FULLY_CONNECTED", ReadFullyConnected, 2, 3, 3},
    {10, "HASHTABLE_LOOKUP", kStrings},
    {11, "L2_NORMALIZATION", ReadLayer<wire::L2NormOptions, L2Normalization>, 1, 1, 1},
    {12, "L2_POOL_2D", ReadAs<ReadPool2D, PoolKind::kL2>, 1, 1, 1},
    {13, "LOCAL_RESPONSE_NORMALIZATION", ReadLocalResponseNormalization, 1, 1, 1},
    {14, "LOGISTIC", ReadUnary<UnaryKind::kLogistic>, 1, 1, 1},
    {15, "LSH_PROJECTION", kRare},
    {16, "LSTM", ReadLstm, 1, 24, 24, 4, {}, kLstmStates},
    {17, "MAX_POOL_2D", ReadAs<ReadPool2D, PoolKind::kMax>, ExpandOfPlain, 1, 1, 1, kPlainApart},
    {18, "MUL", ReadActivated<wire::MulOptions, BinaryKind::kMul>, 2, 2, 2},
    {19, "RELU", ReadUnary<UnaryKind::kRelu>, 1, 1, 1},
    {20, "RELU_N1_TO_1", ReadUnary<UnaryKind::kReluN1To1>, 1, 1, 1},
    {21, "RELU6", ReadUnary<UnaryKind::kRelu6>, 1, 1, 1},
    {22, "RESHAPE", ReadReshape, 1, 2, 1},
    {23, "RESIZE_BILINEAR", ReadResizeBilinear, ExpandOfPlain, 2, 2, 1, kPlainApart},
    {24, "RNN", ReadLayer<wire::RNNOptions, Rnn>, 5, 5, 5, 1, kStateSecond, kFifth},
    {25, "SOFTMAX", ReadSoftmax, 1, 1, 1},
    {26, "SPACE_TO_DEPTH", ReadBlocks<wire::SpaceToDepthOptions, SpaceToDepth>, 1, 1, 1},
    {27, "SVDF", ReadSvdf, 3, 5, 5, 1, kStateSecond, kFifth},
    {28, "TANH", ReadUnary<UnaryKind::kTanh>, 1, 1, 1},
    {29, "CONCAT_EMBEDDINGS", kRare},
    {30, "SKIP_GRAM", kStrings},
    {31, "CALL", ExpandCall, 0, kAnyCount, kCallTraits},
    {kCustomOperator, "CUSTOM", std::string_view()},
    {33, "EMBEDDING_LOOKUP_SPARSE", ExpandEmbeddingLookupSparse, 5, 5},
    {34, "PAD", ReadPad, 2, 2, 1},
    {35, "UNIDIRECTIONAL_SEQUENCE_RNN", ReadUnidirectionalSequenceRnn, 5, 5, 5, 1, kStateSecond, kFifth},
    {36, "GATHER", ReadGather, 2, 2, 2},
    {37, "BATCH_TO_SPACE_ND", ReadBatchToSpace, 3, 3, 1},
    {38, "SPACE_TO_BATCH_ND", ReadSpaceToBatch, 3, 3, 1},
    {39, "TRANSPOSE", ReadTranspose, 2, 2, 1},
    {40, "MEAN", ReadAs<ReadReduce, ReduceKind::kMean>, ExpandOfPlain, 2, 2, 1, kNarrowApart},
    {41, "SUB", ReadActivated<wire::SubOptions, BinaryKind::kSub>, 2, 2, 2},
    {42, "DIV", ReadActivated<wire::DivOptions, BinaryKind::kDiv>, 2, 2, 2},
    {43, "SQUEEZE", ReadSqueeze, 1, 1, 1},
    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", ReadUnidirectionalSequenceLstm, 1, 24, 24, 1, {}, kLstmStates},
    {45, "STRIDED_SLICE", ReadStridedSlice, ExpandStridedSlice, 4, 4, 1},
    {46, "BIDIRECTIONAL_SEQUENCE_RNN", ExpandBidirectionalRnn, 9, 12, 0, kBidirectionalRnnStates},
    {47, "EXP", ReadUnary<UnaryKind::kExp>, 1, 1, 1},
    {48, "TOPK_V2", ReadTopK, ExpandTopK, 2, 2, 1, 0, 2},
    {49, "SPLIT", ReadSplit, 2, 2, 1, kAnyCount, kSecond},
    {50, "LOG_SOFTMAX", ReadPlain<LogSoftmax>, 1, 1, 1},
    {51, "DELEGATE", "a delegate's own node, which no file should hold: convert the model again"},
    {52, "BIDIRECTIONAL_SEQUENCE_LSTM", ExpandBidirectionalLstm, 1, 48, 0, kBidirectionalLstmStates},
    {53, "CAST", ReadCast, ExpandCast, 1, 1, 1, kTakesComplex},
    {54, "PRELU", ReadPRelu, ExpandPRelu, 2, 2, 2},
    {55, "MAXIMUM", ReadBinary<BinaryKind::kMaximum>, 2, 2, 2},
    {56, "ARG_MAX", ReadAs<ReadArgReduce, ArgKind::kMax>, 2, 2, 1},
    {57, "MINIMUM", ReadBinary<BinaryKind::kMinimum>, 2, 2, 2},
    {58, "LESS", ReadBinary<BinaryKind::kLess>, 2, 2, 2},
    {59, "NEG", ReadUnary<UnaryKind::kNeg>, 1, 1, 1},
    {60, "PADV2", ReadPad, 3, 3, 1},
    {61, "GREATER", ReadBinary<BinaryKind::kGreater>, 2, 2, 2},
    {62, "GREATER_EQUAL", ReadBinary<BinaryKind::kGreaterEqual>, 2, 2, 2},
    {63, "LESS_EQUAL", ReadBinary<BinaryKind::kLessEqual>, 2, 2, 2},
    {64, "SELECT", ReadSelect, 3, 3, 3},
    {65, "SLICE", ReadSlice, ExpandSlice, 3, 3, 1},
    {66, "SIN", ReadUnary<UnaryKind::kSin>, 1, 1, 1},
    {67, "TRANSPOSE_CONV", ReadTransposeConv, 3, 4, 3, 1, kTransposeConvOrder},
    {68, "SPARSE_TO_DENSE", ExpandSparseToDense, 4, 4},
    {69, "TILE", ReadTile, 2, 2, 1},
    {70, "EXPAND_DIMS", ReadExpandDims, 2, 2, 1},
    {71, "EQUAL", ReadBinary<BinaryKind::kEqual>, 2, 2, 2},
    {72, "NOT_EQUAL", ReadBinary<BinaryKind::kNotEqual>, 2, 2, 2},
    {73, "LOG", ReadUnary<UnaryKind::kLog>, 1, 1, 1},
    {74, "SUM", ReadAs<ReadReduce, ReduceKind::kSum>, ExpandOfPlain, 2, 2, 1, kNarrowApart},
    {75, "SQRT", ReadUnary<UnaryKind::kSqrt>, 1, 1, 1},
    {76, "RSQRT", ReadUnary<UnaryKind::kRsqrt>, 1, 1, 1},
    {77, "SHAPE", ExpandShape, 1, 1, kTakesRows | kTakesComplex},
    {78, "POW", ReadBinary<BinaryKind::kPow>, 2, 2, 2},
    {79, "ARG_MIN", ReadAs<ReadArgReduce, ArgKind::kMin>, 2, 2, 1},
    {80, "FAKE_QUANT", ExpandFakeQuant, 1, 1},
    {81, "REDUCE_PROD", ReadAs<ReadReduce, ReduceKind::kProd>, 2, 2, 1},
    {82, "REDUCE_MAX", ReadAs<ReadReduce, ReduceKind::kMax>, 2, 2, 1},
    {83, "PACK", ReadPack, 1, kAnyCount, kAnyCount},
    {84, "LOGICAL_OR", ReadBinary<BinaryKind::kLogicalOr>, 2, 2, 2},
    {85, "ONE_HOT", ReadOneHot, 4, 4, 3, 1, kOneHotOrder},
    {86, "LOGICAL_AND", ReadBinary<BinaryKind::kLogicalAnd>, 2, 2, 2},
    {87, "LOGICAL_NOT", ReadUnary<UnaryKind::kLogicalNot>, 1, 1, 1},
    {88, "UNPACK", ReadUnpack, 1, 1, 1, kAnyCount},
    {89, "REDUCE_MIN", ReadAs<ReadReduce, ReduceKind::kMin>, 2, 2, 1},
    {90, "FLOOR_DIV", ReadBinary<BinaryKind::kFloorDiv>, 2, 2, 2},
    {91, "REDUCE_ANY", ReadAs<ReadReduce, ReduceKind::kAny>, 2, 2, 1},
    {92, "SQUARE", ReadUnary<UnaryKind::kSquare>, 1, 1, 1},
    {93, "ZEROS_LIKE", ExpandZerosLike, 1, 1},
    {94, "FILL", ExpandFill, 2, 2},
    {95, "FLOOR_MOD", ReadBinary<BinaryKind::kFloorMod>, 2, 2, 2},
    {96, "RANGE", ExpandRange, 3, 3},
    {97, "RESIZE_NEAREST_NEIGHBOR", ReadResizeNearestNeighbor, ExpandOfPlain, 2, 2, 1, kPlainApart},
    {98, "LEAKY_RELU", ReadLeakyRelu, 1, 1, 1},
    {99, "SQUARED_DIFFERENCE", ReadBinary<BinaryKind::kSquaredDifference>, 2, 2, 2},
    {100, "MIRROR_PAD", ReadMirrorPad, 2, 2, 1},
    {101, "ABS", ReadUnary<UnaryKind::kAbs>, 1, 1, 1},
    {102, "SPLIT_V", ReadSplitV, 3, 3, 1, kAnyCount},
    {103, "UNIQUE", ExpandUnique, 1, 1},
    {104, "CEIL", ReadUnary<UnaryKind::kCeil>, 1, 1, 1},
    {105, "REVERSE_V2", ReadReverse, 2, 2, 1},
    {106, "ADD_N", ReadPlain<AddN>, 1, kAnyCount, kAnyCount},
    {107, "GATHER_ND", ReadPlain<GatherNd>, 2, 2, 2},
    {108, "COS", ReadUnary<UnaryKind::kCos>, 1, 1, 1},
    {109, "WHERE", ExpandWhere, 1, 1},
    {110, "RANK", ExpandRank, 1, 1, kTakesRows | kTakesComplex},
    {111, "ELU", ReadUnary<UnaryKind::kElu>, 1, 1, 1},
    {112, "REVERSE_SEQUENCE", ExpandReverseSequence, 2, 2},
    {113, "MATRIX_DIAG", ExpandDiagonal, 1, 1},
    {114, "QUANTIZE", ReadUnary<UnaryKind::kQuantize>, 1, 1, 1},
    {115, "MATRIX_SET_DIAG", ExpandDiagonal, 2, 2},
    {116, "ROUND", ReadUnary<UnaryKind::kRound>, 1, 1, 1},
    {117, "HARD_SWISH", ReadUnary<UnaryKind::kHardSwish>, 1, 1, 1},
    {118, "IF", ExpandIf, 1, kAnyCount, kCallTraits},
    {119, "WHILE", ExpandWhile, 0, kAnyCount, kCallTraits},
    {120, "NON_MAX_SUPPRESSION_V4", ExpandNonMaxSuppression, 5, 5},
    {121, "NON_MAX_SUPPRESSION_V5", ExpandNonMaxSuppression, 6, 6},
    {122, "SCATTER_ND", ExpandScatterNd, 3, 3},
    {123, "SELECT_V2", ReadPlain<Select>, 3, 3, 3},
    {124, "DENSIFY", ExpandDensify, 1, 1},
    {125, "SEGMENT_SUM", ExpandSegments<BinaryKind::kAdd>, 2, 2},
    {126, "BATCH_MATMUL", ReadBatchMatMul, ExpandIntegerMatMul, 2, 2, 2},
    {127, "PLACEHOLDER_FOR_GREATER_OP_CODES", "a placeholder, not an operator: the file is damaged"},
    {128, "CUMSUM", ReadCumSum, 2, 2, 1},
    {129, "CALL_ONCE", ExpandCallOnce, 0, kAnyCount, kCallTraits},
    {130, "BROADCAST_TO", ReadBroadcastTo, 2, 2, 1},
    {131, "RFFT2D", ExpandRfft2D, 2, 2},
    {132, "CONV_3D", ExpandConv3D, 2, 3},
    {133, "IMAG", ExpandImaginary, 1, 1, kTakesComplex},
    {134, "REAL", ExpandReal, 1, 1, kTakesComplex},
    {135, "COMPLEX_ABS", ExpandComplexAbs, 1, 1, kTakesComplex},
    {136, "HASHTABLE", kStrings},
    {137, "HASHTABLE_FIND", kStrings},
    {138, "HASHTABLE_IMPORT", kStrings},
    {139, "HASHTABLE_SIZE", kStrings},
    {140, "REDUCE_ALL", ReadAs<ReadReduce, ReduceKind::kAll>, 2, 2, 1},
    {141, "CONV_3D_TRANSPOSE", ExpandConv3DTranspose, 3, 4},
    {142, "VAR_HANDLE", ExpandVarHandle, 0, kAnyCount, kTakesHandles},
    {143, "READ_VARIABLE", ExpandReadVariable, 1, 1, kTakesHandles},
    {144, "ASSIGN_VARIABLE", ExpandAssignVariable, 2, 2, kTakesHandles | kTakesRows},
    {145, "BROADCAST_ARGS", ExpandBroadcastArgs, 2, 2},
    {146, "RANDOM_STANDARD_NORMAL", ExpandRandomNumbers, 1, 1},
    {147, "BUCKETIZE", ExpandBucketize, 1, 1},
    {148, "RANDOM_UNIFORM", ExpandRandomNumbers, 1, 1},
    {149, "MULTINOMIAL", ExpandMultinomial, 2, 2},
    {150, "GELU", ReadGelu, 1, 1, 1},
    {151, "DYNAMIC_UPDATE_SLICE", ReadPlain<DynamicUpdateSlice>, 3, 3, 3},
    {152, "RELU_0_TO_1", ReadUnary<UnaryKind::kRelu0To1>, 1, 1, 1},
    {153, "UNSORTED_SEGMENT_PROD", ExpandSegments<BinaryKind::kMul>, 3, 3},
    {154, "UNSORTED_SEGMENT_MAX", ExpandSegments<BinaryKind::kMaximum>, 3, 3},
    {155, "UNSORTED_SEGMENT_SUM", ExpandSegments<BinaryKind::kAdd>, 3, 3},
    {156, "ATAN2", ReadBinary<BinaryKind::kAtan2>, 2, 2, 2},
    {157, "UNSORTED_SEGMENT_MIN", ExpandSegments<BinaryKind::kMinimum>, 3, 3},
    {158, "SIGN", ReadUnary<UnaryKind::kSign>, 1, 1, 1},
    {159, "BITCAST", ExpandBitcast, 1, 1},
    {160, "BITWISE_XOR", ReadBinary<BinaryKind::kBitwiseXor>, 2, 2, 2},
    {161, "RIGHT_SHIFT", ReadBinary<BinaryKind::kRightShift>, 2, 2, 2},
    {162, "STABLEHLO_LOGISTIC", kStableHlo},
    {163, "STABLEHLO_ADD", ExpandHloBinary, 2, 2},
    {164, "STABLEHLO_DIVIDE", kStableHlo},
    {165, "STABLEHLO_MULTIPLY", ExpandHloBinary, 2, 2},
    {166, "STABLEHLO_MAXIMUM", ExpandHloBinary, 2, 2},
    {167, "STABLEHLO_RESHAPE", kStableHlo},
    {168, "STABLEHLO_CLAMP", kStableHlo},
    {169, "STABLEHLO_CONCATENATE", kStableHlo},
    {170, "STABLEHLO_BROADCAST_IN_DIM", kStableHlo},
    {171, "STABLEHLO_CONVOLUTION", ExpandHloConvolution, 2, 2},
    {172, "STABLEHLO_SLICE", kStableHlo},
    {173, "STABLEHLO_CUSTOM_CALL", kStableHlo},
    {174, "STABLEHLO_REDUCE", kStableHlo},
    {175, "STABLEHLO_ABS", kStableHlo},
    {176, "STABLEHLO_AND", ExpandHloBinary, 2, 2},
    {177, "STABLEHLO_COSINE", kStableHlo},
    {178, "STABLEHLO_EXPONENTIAL", kStableHlo},
    {179, "STABLEHLO_FLOOR", kStableHlo},
    {180, "STABLEHLO_LOG", kStableHlo},
    {181, "STABLEHLO_MINIMUM", ExpandHloBinary, 2, 2},
    {182, "STABLEHLO_NEGATE", kStableHlo},
    {183, "STABLEHLO_OR", kStableHlo},
    {184, "STABLEHLO_POWER", kStableHlo},
    {185, "STABLEHLO_REMAINDER", kStableHlo},
    {186, "STABLEHLO_RSQRT", kStableHlo},
    {187, "STABLEHLO_SELECT", kStableHlo},
    {188, "STABLEHLO_SUBTRACT", kStableHlo},
    {189, "STABLEHLO_TANH", kStableHlo},
    {190, "STABLEHLO_SCATTER", ExpandHloScatter, 3, 3},
    {191, "STABLEHLO_COMPARE", ExpandHloCompare, 2, 2},
    {192, "STABLEHLO_CONVERT", kStableHlo},
    {193, "STABLEHLO_DYNAMIC_SLICE", kStableHlo},
    {194, "STABLEHLO_DYNAMIC_UPDATE_SLICE", kStableHlo},
    {195, "STABLEHLO_PAD", ExpandHloPad, 2, 2},
    {196, "STABLEHLO_IOTA", kStableHlo},
    {197, "STABLEHLO_DOT_GENERAL", kStableHlo},
    {198, "STABLEHLO_REDUCE_WINDOW", ExpandHloReduceWindow, 2, 2},
    {199, "STABLEHLO_SORT", ExpandHloSort, 1, 64},
    {200, "STABLEHLO_WHILE", kStableHlo},
    {201, "STABLEHLO_GATHER", ExpandHloGather, 2, 2},
    {202, "STABLEHLO_TRANSPOSE", kStableHlo},
    {203, "DILATE", ExpandDilate, 3, 3},
    {204, "STABLEHLO_RNG_BIT_GENERATOR", ExpandRandomBits, 1, 1},
    {205, "REDUCE_WINDOW", ExpandReduceWindow, 5, 5},
    {206, "STABLEHLO_COMPOSITE", ExpandComposite, 0, kAnyCount, kCallTraits},
    {207, "STABLEHLO_SHIFT_LEFT", ExpandHloShiftLeft, 2, 2},
    {208, "STABLEHLO_CBRT", kStableHlo},
    {209, "STABLEHLO_CASE", ExpandCase, 1, kAnyCount, kCallTraits},
};
static_assert(std::is_sorted(std::begin(kOperators), std::end(kOperators),
                             [](const OperatorRow& a, const OperatorRow& b) { return a.code < b.code; }));

// Custom operators, found by name.
constexpr OperatorRow kCustomOperators[] = {
    {kCustomOperator, "Convolution2DTransposeBias", ReadTransposeConvBias, 3, 3, 3},
    {kCustomOperator, "MaxPoolingWithArgmax2D", ReadMaxPoolArgmax, 1, 1, 1, 2},
    {kCustomOperator, "MaxUnpooling2D", ReadMaxUnpool, 2, 2, 2},
    {kCustomOperator, "Resampler", ReadPlain<Resampler>, 2, 2, 2},
    {kCustomOperator, "TFLite_Detection_PostProcess", ReadDetectionPostProcess, 3, 3, 3, 4},
    {kCustomOperator, "aeq.hadamard_rotation", ExpandHadamardRotation, 1, 1},
};

}  // namespace

Positions StateInputs(const OperatorRow& row, size_t operand_count) {
  return IsBasicLstm(row, operand_count) ? kBasicLstmStates : row.state_inputs;
}

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

Result<std::vector<OperatorCode>> ReadOperatorCodes(const wire::Model& model, CopyBudget& budget,
                                                    std::span<const CustomOp> custom_ops) {
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
      const CustomOp* custom = FindCustomOp(custom_ops, name);
      codes.push_back({custom != nullptr ? nullptr : FindCustomOperator(name), CleanName(name), custom});
    } else {
      codes.push_back({FindOperator(code), BuiltinName(code)});
    }
  }
  return codes;
}

}  // namespace hearth
