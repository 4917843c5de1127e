// The operators that the reader knows, one row each.
#ifndef HEARTH_FRONTENDS_ONNX_OPERATORS_H_
#define HEARTH_FRONTENDS_ONNX_OPERATORS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

struct OperatorRow {
  std::string_view name;
  Results (*read)(OpView& op);
  int kind = 0;             // what a reader that several operators share takes
  std::string_view domain;  // "" is ai.onnx
};

// Kinds of ReadActivation: operators of one operand that others compose.
enum class Composed : uint8_t {
  kElu,
  kErf,
  kCelu,
  kSelu,
  kSoftplus,
  kMish,
  kSoftsign,
  kHardSigmoid,
  kThresholdedRelu,
  kShrink,
  kSwish,
  kQuickGelu,
  kReciprocal,
  kTan,
  kAtan,
  kAsin,
  kAcos,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
};

// Kinds of ReadReduce.
enum class Reduction : uint8_t { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum, kLogSumExp };

// Kinds of ReadRecurrent.
enum class Recurrent : uint8_t { kLstm, kGru, kRnn };

// Sorted by domain and name.
std::span<const OperatorRow> OperatorRows();
const OperatorRow* FindOperator(std::string_view domain, std::string_view name);

// Versions of ai.onnx that are known.
inline constexpr int64_t kFirstOpset = 7, kLastOpset = 25;

// elementwise.cc
Results ReadUnary(OpView& op);
Results ReadBinary(OpView& op);
Results ReadVariadic(OpView& op);
Results ReadCast(OpView& op);
Results ReadClip(OpView& op);
Results ReadWhere(OpView& op);
Results ReadPRelu(OpView& op);
Results ReadActivation(OpView& op);
Results ReadMod(OpView& op);
Results ReadIdentity(OpView& op);
Results ReadBiasGelu(OpView& op);
Results ReadFastGelu(OpView& op);
Results ReadDropout(OpView& op);
// shape.cc
Results ReadShape(OpView& op);
Results ReadSize(OpView& op);
Results ReadConstant(OpView& op);
Results ReadConstantOfShape(OpView& op);
Results ReadRange(OpView& op);
Results ReadReshape(OpView& op);
Results ReadFlatten(OpView& op);
Results ReadSqueeze(OpView& op);
Results ReadUnsqueeze(OpView& op);
Results ReadExpand(OpView& op);
Results ReadTile(OpView& op);
Results ReadEyeLike(OpView& op);
// movement.cc
Results ReadTranspose(OpView& op);
Results ReadConcat(OpView& op);
Results ReadSplit(OpView& op);
Results ReadSlice(OpView& op);
Results ReadPad(OpView& op);
Results ReadGather(OpView& op);
Results ReadGatherElements(OpView& op);
Results ReadGatherNd(OpView& op);
Results ReadScatterNd(OpView& op);
Results ReadScatterElements(OpView& op);
Results ReadDepthToSpace(OpView& op);
Results ReadSpaceToDepth(OpView& op);
Results ReadReverseSequence(OpView& op);
Results ReadOneHot(OpView& op);
Results ReadTrilu(OpView& op);
// windows.cc
Results ReadConv(OpView& op);
Results ReadConvTranspose(OpView& op);
Results ReadPool(OpView& op);
Results ReadGlobalPool(OpView& op);
// resize.cc
Results ReadResize(OpView& op);
// normalization.cc
Results ReadBatchNormalization(OpView& op);
Results ReadInstanceNormalization(OpView& op);
Results ReadLayerNormalization(OpView& op);
Results ReadGroupNormalization(OpView& op);
Results ReadLpNormalization(OpView& op);
Results ReadMeanVarianceNormalization(OpView& op);
Results ReadLrn(OpView& op);
// reduce.cc
Results ReadReduce(OpView& op);
Results ReadArg(OpView& op);
Results ReadTopK(OpView& op);
Results ReadSoftmax(OpView& op);
Results ReadCumSum(OpView& op);
// product.cc
Results ReadMatMul(OpView& op);
Results ReadGemm(OpView& op);
// quantized.cc
Results ReadQuantizeLinear(OpView& op);
Results ReadDequantizeLinear(OpView& op);
Results ReadDynamicQuantizeLinear(OpView& op);
Results ReadMatMulInteger(OpView& op);
Results ReadConvInteger(OpView& op);
Results ReadQLinearConv(OpView& op);
Results ReadQLinearMatMul(OpView& op);
// recurrent.cc
Results ReadRecurrent(OpView& op);
// control.cc
Results ReadIf(OpView& op);
Results ReadLoop(OpView& op);
Results ReadScan(OpView& op);
// spectrum.cc
Results ReadStft(OpView& op);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_OPERATORS_H_
