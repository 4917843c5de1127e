// The operators of the file format, one row each.
#ifndef HEARTH_FRONTENDS_TFLITE_OPERATOR_TABLE_H_
#define HEARTH_FRONTENDS_TFLITE_OPERATOR_TABLE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tflite/reading.h"
#include "hearth/status.h"

namespace hearth {

inline constexpr int32_t kDequantizeOperator = 6;
inline constexpr int32_t kLstmOperator = 16;
inline constexpr int32_t kCustomOperator = 32;
inline constexpr int32_t kStridedSliceOperator = 45;
inline constexpr int kAnyCount = std::numeric_limits<int>::max();

// LSTM's BASIC kernel has other operands: x, activation, weights, bias, state.
constexpr bool IsBasicLstm(const OperatorRow& row, size_t operand_count) {
  return row.code == kLstmOperator && operand_count == 5;
}
// The row's state_inputs for an operator with this number of operands.
Positions StateInputs(const OperatorRow& row, size_t operand_count);

// Null for a code that is not in the table.
const OperatorRow* FindOperator(int32_t code);
// The row of a custom operator; null if Hearth does not know the name.
const OperatorRow* FindCustomOperator(std::string_view name);
// "CONV_2D", or "BUILTIN_999" for a code that is not in the table.
std::string BuiltinName(int32_t code);

// Custom operators are those of `custom_ops`, then Hearth's own.
Result<std::vector<OperatorCode>> ReadOperatorCodes(const wire::Model& model, CopyBudget& budget,
                                                    std::span<const CustomOp> custom_ops);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_OPERATOR_TABLE_H_
