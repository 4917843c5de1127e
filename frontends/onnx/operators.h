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
std::span<const OperatorRow> ElementwiseOperators();
std::span<const OperatorRow> ActivationOperators();
std::span<const OperatorRow> ShapeOperators();
std::span<const OperatorRow> MovementOperators();
std::span<const OperatorRow> PaddingOperators();
std::span<const OperatorRow> PlacesOperators();
std::span<const OperatorRow> ScatteringOperators();
std::span<const OperatorRow> WindowOperators();
std::span<const OperatorRow> TransposedOperators();
std::span<const OperatorRow> PoolingOperators();
std::span<const OperatorRow> ResizeOperators();
std::span<const OperatorRow> SamplingOperators();
std::span<const OperatorRow> NormalizationOperators();
std::span<const OperatorRow> ReduceOperators();
std::span<const OperatorRow> ProductOperators();
std::span<const OperatorRow> NarrowWeightOperators();
std::span<const OperatorRow> QuantizedOperators();
std::span<const OperatorRow> RecurrentOperators();
std::span<const OperatorRow> ControlOperators();
std::span<const OperatorRow> SpectrumOperators();
std::span<const OperatorRow> BoxOperators();
std::span<const OperatorRow> RandomOperators();
std::span<const OperatorRow> EinsumOperators();
std::span<const OperatorRow> AttentionOperators();
std::span<const OperatorRow> GroupQueryOperators();
std::span<const OperatorRow> TransformerOperators();
std::span<const OperatorRow> ClassicOperators();
std::span<const OperatorRow> TreeOperators();
std::span<const OperatorRow> VectorOperators();

inline constexpr std::span<const OperatorRow> (*kOperatorLists[])() = {
    ElementwiseOperators,  ActivationOperators, ShapeOperators,         MovementOperators,   PaddingOperators,
    PlacesOperators,       ScatteringOperators, WindowOperators,        TransposedOperators, PoolingOperators,
    ResizeOperators,       SamplingOperators,   NormalizationOperators, ReduceOperators,     ProductOperators,
    NarrowWeightOperators, QuantizedOperators,  RecurrentOperators,     ControlOperators,    SpectrumOperators,
    BoxOperators,          RandomOperators,     EinsumOperators,        AttentionOperators,  GroupQueryOperators,
    TransformerOperators,  ClassicOperators,    TreeOperators,          VectorOperators};

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_OPERATORS_H_
