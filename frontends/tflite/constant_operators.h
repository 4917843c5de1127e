// Operators that compute shapes: their results are constants once the shapes of their operands are known.
#ifndef HEARTH_FRONTENDS_TFLITE_CONSTANT_OPERATORS_H_
#define HEARTH_FRONTENDS_TFLITE_CONSTANT_OPERATORS_H_

#include <optional>
#include <vector>

#include "frontends/tflite/operator_view.h"

namespace hearth {

struct ConstantResult {
  Shape shape;
  std::vector<double> values;
};

// The result of SHAPE, RANK, ZEROS_LIKE, FILL, RANGE or BROADCAST_ARGS (builtin `code`), of operators on lists of
// integers if a list is empty, and of a SLICE with an empty result. Nothing for other operators, for operands that are
// not constant (RANGE, FILL, BROADCAST_ARGS) or whose shape is unknown, and for more than kMaxConstantResult elements.
inline constexpr int64_t kMaxConstantResult = 1 << 24;
Result<std::optional<ConstantResult>> EvaluateConstantOperator(int32_t code, const OperatorView& view);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_CONSTANT_OPERATORS_H_
