#include "frontends/onnx/operators.h"

#include <algorithm>

namespace hearth::onnx {

const OperatorRow* FindOperator(std::string_view domain, std::string_view name) {
  for (const auto list : {ElementwiseOperators, ShapeOperators, MovementOperators, PlacesOperators, WindowOperators,
                          ResizeOperators, NormalizationOperators, ReduceOperators, ProductOperators,
                          QuantizedOperators, RecurrentOperators, ControlOperators, SpectrumOperators}) {
    const std::span<const OperatorRow> rows = list();
    const auto found =
        std::ranges::find_if(rows, [&](const OperatorRow& row) { return row.name == name && row.domain == domain; });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

}  // namespace hearth::onnx
