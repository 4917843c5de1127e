#include "frontends/onnx/operators.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "frontends/onnx/windows.h"

namespace hearth::onnx {
namespace {

template <typename Enum>
constexpr int Kind(Enum kind) {
  return static_cast<int>(kind);
}

constexpr std::string_view kMicrosoft = "com.microsoft";

// Sorted for FindOperator: first those of ai.onnx.
constexpr OperatorRow kRows[] = {
    {"Abs", ReadUnary, Kind(UnaryKind::kAbs)},
    {"Acos", ReadActivation, Kind(Composed::kAcos)},
    {"Acosh", ReadActivation, Kind(Composed::kAcosh)},
    {"Add", ReadBinary, Kind(BinaryKind::kAdd)},
    {"And", ReadBinary, Kind(BinaryKind::kLogicalAnd)},
    {"ArgMax", ReadArg, Kind(ArgKind::kMax)},
    {"ArgMin", ReadArg, Kind(ArgKind::kMin)},
    {"Asin", ReadActivation, Kind(Composed::kAsin)},
    {"Asinh", ReadActivation, Kind(Composed::kAsinh)},
    {"Atan", ReadActivation, Kind(Composed::kAtan)},
    {"Atanh", ReadActivation, Kind(Composed::kAtanh)},
    {"AveragePool", ReadPool, Kind(PoolKind::kAverage)},
    {"BatchNormalization", ReadBatchNormalization},
    {"BitwiseAnd", ReadBinary, Kind(BinaryKind::kBitwiseAnd)},
    {"BitwiseXor", ReadBinary, Kind(BinaryKind::kBitwiseXor)},
    {"Cast", ReadCast},
    {"CastLike", ReadCast, 1},
    {"Ceil", ReadUnary, Kind(UnaryKind::kCeil)},
    {"Celu", ReadActivation, Kind(Composed::kCelu)},
    {"Clip", ReadClip},
    {"Concat", ReadConcat},
    {"Constant", ReadConstant},
    {"ConstantOfShape", ReadConstantOfShape},
    {"Conv", ReadConv},
    {"ConvInteger", ReadConvInteger},
    {"ConvTranspose", ReadConvTranspose, kTransposed},
    {"Cos", ReadUnary, Kind(UnaryKind::kCos)},
    {"Cosh", ReadActivation, Kind(Composed::kCosh)},
    {"CumSum", ReadCumSum},
    {"DepthToSpace", ReadDepthToSpace},
    {"DequantizeLinear", ReadDequantizeLinear},
    {"Div", ReadBinary, Kind(BinaryKind::kDiv)},
    {"Dropout", ReadDropout},
    {"DynamicQuantizeLinear", ReadDynamicQuantizeLinear},
    {"Elu", ReadActivation, Kind(Composed::kElu)},
    {"Equal", ReadBinary, Kind(BinaryKind::kEqual)},
    {"Erf", ReadActivation, Kind(Composed::kErf)},
    {"Exp", ReadUnary, Kind(UnaryKind::kExp)},
    {"Expand", ReadExpand},
    {"EyeLike", ReadEyeLike},
    {"Flatten", ReadFlatten},
    {"Floor", ReadUnary, Kind(UnaryKind::kFloor)},
    {"GRU", ReadRecurrent, Kind(Recurrent::kGru)},
    {"Gather", ReadGather},
    {"GatherElements", ReadGatherElements},
    {"GatherND", ReadGatherNd},
    {"Gelu", ReadUnary, Kind(UnaryKind::kGelu)},
    {"Gemm", ReadGemm},
    {"GlobalAveragePool", ReadGlobalPool, Kind(ReduceKind::kMean)},
    {"GlobalMaxPool", ReadGlobalPool, Kind(ReduceKind::kMax)},
    {"Greater", ReadBinary, Kind(BinaryKind::kGreater)},
    {"GreaterOrEqual", ReadBinary, Kind(BinaryKind::kGreaterEqual)},
    {"GroupNormalization", ReadGroupNormalization},
    {"HardSigmoid", ReadActivation, Kind(Composed::kHardSigmoid)},
    {"HardSwish", ReadUnary, Kind(UnaryKind::kHardSwish)},
    {"Identity", ReadIdentity},
    {"If", ReadIf},
    {"InstanceNormalization", ReadInstanceNormalization},
    {"LRN", ReadLrn},
    {"LSTM", ReadRecurrent, Kind(Recurrent::kLstm)},
    {"LayerNormalization", ReadLayerNormalization},
    {"LeakyRelu", ReadUnary, Kind(UnaryKind::kLeakyRelu)},
    {"Less", ReadBinary, Kind(BinaryKind::kLess)},
    {"LessOrEqual", ReadBinary, Kind(BinaryKind::kLessEqual)},
    {"Log", ReadUnary, Kind(UnaryKind::kLog)},
    {"LogSoftmax", ReadSoftmax, 1},
    {"Loop", ReadLoop},
    {"LpNormalization", ReadLpNormalization},
    {"MatMul", ReadMatMul},
    {"MatMulInteger", ReadMatMulInteger},
    {"Max", ReadVariadic, Kind(BinaryKind::kMaximum)},
    {"MaxPool", ReadPool, Kind(PoolKind::kMax)},
    {"Mean", ReadVariadic, -1},
    {"MeanVarianceNormalization", ReadMeanVarianceNormalization},
    {"Min", ReadVariadic, Kind(BinaryKind::kMinimum)},
    {"Mish", ReadActivation, Kind(Composed::kMish)},
    {"Mod", ReadMod},
    {"Mul", ReadBinary, Kind(BinaryKind::kMul)},
    {"Neg", ReadUnary, Kind(UnaryKind::kNeg)},
    {"Not", ReadUnary, Kind(UnaryKind::kLogicalNot)},
    {"OneHot", ReadOneHot},
    {"Or", ReadBinary, Kind(BinaryKind::kLogicalOr)},
    {"PRelu", ReadPRelu},
    {"Pad", ReadPad},
    {"Pow", ReadBinary, Kind(BinaryKind::kPow)},
    {"QLinearConv", ReadQLinearConv},
    {"QLinearMatMul", ReadQLinearMatMul},
    {"QuantizeLinear", ReadQuantizeLinear},
    {"RMSNormalization", ReadLayerNormalization, 1},
    {"RNN", ReadRecurrent, Kind(Recurrent::kRnn)},
    {"Range", ReadRange},
    {"Reciprocal", ReadActivation, Kind(Composed::kReciprocal)},
    {"ReduceL1", ReadReduce, Kind(Reduction::kL1)},
    {"ReduceL2", ReadReduce, Kind(Reduction::kL2)},
    {"ReduceLogSum", ReadReduce, Kind(Reduction::kLogSum)},
    {"ReduceLogSumExp", ReadReduce, Kind(Reduction::kLogSumExp)},
    {"ReduceMax", ReadReduce, Kind(Reduction::kMax)},
    {"ReduceMean", ReadReduce, Kind(Reduction::kMean)},
    {"ReduceMin", ReadReduce, Kind(Reduction::kMin)},
    {"ReduceProd", ReadReduce, Kind(Reduction::kProd)},
    {"ReduceSum", ReadReduce, Kind(Reduction::kSum)},
    {"ReduceSumSquare", ReadReduce, Kind(Reduction::kSumSquare)},
    {"Relu", ReadUnary, Kind(UnaryKind::kRelu)},
    {"Reshape", ReadReshape},
    {"Resize", ReadResize},
    {"ReverseSequence", ReadReverseSequence},
    {"Round", ReadUnary, Kind(UnaryKind::kRound)},
    {"STFT", ReadStft},
    {"Scan", ReadScan},
    {"Scatter", ReadScatterElements},
    {"ScatterElements", ReadScatterElements},
    {"ScatterND", ReadScatterNd},
    {"Selu", ReadActivation, Kind(Composed::kSelu)},
    {"Shape", ReadShape},
    {"Shrink", ReadActivation, Kind(Composed::kShrink)},
    {"Sigmoid", ReadUnary, Kind(UnaryKind::kLogistic)},
    {"Sign", ReadUnary, Kind(UnaryKind::kSign)},
    {"Sin", ReadUnary, Kind(UnaryKind::kSin)},
    {"Sinh", ReadActivation, Kind(Composed::kSinh)},
    {"Size", ReadSize},
    {"Slice", ReadSlice},
    {"Softmax", ReadSoftmax},
    {"Softplus", ReadActivation, Kind(Composed::kSoftplus)},
    {"Softsign", ReadActivation, Kind(Composed::kSoftsign)},
    {"SpaceToDepth", ReadSpaceToDepth},
    {"Split", ReadSplit},
    {"Sqrt", ReadUnary, Kind(UnaryKind::kSqrt)},
    {"Squeeze", ReadSqueeze},
    {"Sub", ReadBinary, Kind(BinaryKind::kSub)},
    {"Sum", ReadVariadic, Kind(BinaryKind::kAdd)},
    {"Swish", ReadActivation, Kind(Composed::kSwish)},
    {"Tan", ReadActivation, Kind(Composed::kTan)},
    {"Tanh", ReadUnary, Kind(UnaryKind::kTanh)},
    {"ThresholdedRelu", ReadActivation, Kind(Composed::kThresholdedRelu)},
    {"Tile", ReadTile},
    {"TopK", ReadTopK},
    {"Transpose", ReadTranspose},
    {"Trilu", ReadTrilu},
    {"Unsqueeze", ReadUnsqueeze},
    {"Upsample", ReadResize, 1},
    {"Where", ReadWhere},
    {"Xor", ReadBinary, Kind(BinaryKind::kNotEqual)},
    {"BiasGelu", ReadBiasGelu, 0, kMicrosoft},
    {"DequantizeLinear", ReadDequantizeLinear, 0, kMicrosoft},
    {"FastGelu", ReadFastGelu, 0, kMicrosoft},
    {"FusedMatMul", ReadMatMul, 0, kMicrosoft},
    {"Gelu", ReadUnary, Kind(UnaryKind::kGelu), kMicrosoft},
    {"QuantizeLinear", ReadQuantizeLinear, 0, kMicrosoft},
    {"QuickGelu", ReadActivation, Kind(Composed::kQuickGelu), kMicrosoft},
};

constexpr bool IsBefore(const OperatorRow& a, const OperatorRow& b) {
  return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
}
static_assert(std::ranges::is_sorted(kRows, IsBefore));

}  // namespace

std::span<const OperatorRow> OperatorRows() {
  return kRows;
}

const OperatorRow* FindOperator(std::string_view domain, std::string_view name) {
  const OperatorRow wanted{name, nullptr, 0, domain};
  const auto* found = std::ranges::lower_bound(kRows, wanted, IsBefore);
  return found != std::end(kRows) && found->name == name && found->domain == domain ? found : nullptr;
}

}  // namespace hearth::onnx
