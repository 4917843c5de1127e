// The numbers by which model files name operators and types, under short names for tests.
#ifndef HEARTH_TESTS_TESTING_BUILTIN_CODES_H_
#define HEARTH_TESTS_TESTING_BUILTIN_CODES_H_

#include <cstdint>

#include "frontends/tflite/schema_generated.h"

namespace hearth {

inline constexpr int32_t kAdd = 0, kConcatenation = 2, kConv2D = 3, kDequantize = 6, kFullyConnected = 9,
                         kLshProjection = 15, kMul = 18, kRelu = 19, kReshape = 22, kSoftmax = 25, kSvdf = 27,
                         kCall = 31, kGather = 36, kTranspose = 39, kMean = 40, kStridedSlice = 45,
                         kBidirectionalRnn = 46, kBidirectionalLstm = 52, kCast = 53, kLess = 58, kNeg = 59,
                         kPadV2 = 60, kGreater = 61, kSlice = 65, kExpandDims = 70, kSum = 74, kShape = 77, kPow = 78,
                         kReduceProd = 81, kReduceMax = 82, kPack = 83, kLogicalAnd = 86, kReduceMin = 89,
                         kZerosLike = 93, kFill = 94, kRange = 96, kUnique = 103, kGatherNd = 107, kWhere = 109,
                         kRank = 110, kQuantize = 114, kIf = 118, kWhile = 119, kDensify = 124, kCallOnce = 129,
                         kBroadcastTo = 130, kVarHandle = 142, kReadVariable = 143, kAssignVariable = 144,
                         kBroadcastArgs = 145, kRandomStandardNormal = 146, kRandomUniform = 148, kMultinomial = 149,
                         kCase = 209;

inline constexpr auto kBool = wire::TensorType_BOOL;
inline constexpr auto kInt = wire::TensorType_INT32;
inline constexpr auto kLong = wire::TensorType_INT64;
inline constexpr auto kResource = wire::TensorType_RESOURCE;

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_BUILTIN_CODES_H_
