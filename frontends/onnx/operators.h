// The operators that the reader knows, one row each.
#ifndef HEARTH_FRONTENDS_ONNX_OPERATORS_H_
#define HEARTH_FRONTENDS_ONNX_OPERATORS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

template <typename Enum>
constexpr int Kind(Enum kind) {
  return static_cast<int>(kind);
}

// Null for an operator that no list has.
const OperatorRow* FindOperator(std::string_view domain, std::string_view name);

// Versions of ai.onnx that are known.
inline constexpr int64_t kFirstOpset = 7, kLastOpset = 25;
// The version of a domain's operators, for the nodes of a model or function with these sets.
int64_t OpsetOf(const OperatorSets& sets, std::string_view domain);
// kUnsupported for a version of ai.onnx that is not known.
Status CheckOpset(const OperatorSets& sets);

// One list for each file.
using OperatorList = std::span<const OperatorRow>;
extern const OperatorList kElementwiseOperators, kActivationOperators, kShapeOperators, kMovementOperators,
    kPaddingOperators, kPlacesOperators, kScatteringOperators, kWindowOperators, kTransposedOperators,
    kPoolingOperators, kResizeOperators, kSamplingOperators, kNormalizationOperators, kReduceOperators,
    kProductOperators, kNarrowWeightOperators, kQuantizedOperators, kRecurrentOperators, kControlOperators,
    kSpectrumOperators, kBoxOperators, kRandomOperators, kEinsumOperators, kAttentionOperators, kGroupQueryOperators,
    kTransformerOperators, kClassicOperators, kTreeOperators, kVectorOperators, kSequenceOperators;

inline constexpr const OperatorList* kOperatorLists[] = {
    &kElementwiseOperators,   &kActivationOperators,  &kShapeOperators,      &kMovementOperators,
    &kPaddingOperators,       &kPlacesOperators,      &kScatteringOperators, &kWindowOperators,
    &kTransposedOperators,    &kPoolingOperators,     &kResizeOperators,     &kSamplingOperators,
    &kNormalizationOperators, &kReduceOperators,      &kProductOperators,    &kNarrowWeightOperators,
    &kQuantizedOperators,     &kRecurrentOperators,   &kControlOperators,    &kSpectrumOperators,
    &kBoxOperators,           &kRandomOperators,      &kEinsumOperators,     &kAttentionOperators,
    &kGroupQueryOperators,    &kTransformerOperators, &kClassicOperators,    &kTreeOperators,
    &kVectorOperators,        &kSequenceOperators};

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_OPERATORS_H_
