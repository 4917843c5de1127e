// Facts about each builtin operator of the file format, one row each.
#ifndef HEARTH_FRONTENDS_TFLITE_OPERATOR_TABLE_H_
#define HEARTH_FRONTENDS_TFLITE_OPERATOR_TABLE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/op.h"
#include "frontends/tflite/operator_view.h"
#include "hearth/status.h"

namespace hearth {

// Reads an operator's attributes. The number of inputs and outputs was checked against the row.
using OperatorReader = Result<Op> (*)(const OperatorView& view);

inline constexpr int32_t kCustomOperator = 32;
inline constexpr int32_t kDequantizeOperator = 6;
inline constexpr int kAnyCount = std::numeric_limits<int>::max();

struct OperatorRow {
  int32_t code;
  std::string_view name;
  // Null: the operator is expanded (expansion.h), folded, or kept as UnknownOp; the counts below are then unused.
  OperatorReader read = nullptr;
  int required_inputs = 0;  // the first ones, which must be present
  int max_inputs = 0;
  int data_inputs = 0;  // the first ones, inputs of the node; later ones are attributes
  int max_outputs = 1;  // at least one is required
  // Digits: operands that are inputs of the node, in this order, instead of the first `data_inputs`. Absent operands at
  // the end are left out.
  std::string_view input_order = {};
  // Digits: operands that the operator changes if the file marks them as state (`is_variable`), as LSTMs do. The node
  // has one more output for each that is present: the state's next content.
  std::string_view state_inputs = {};
};

// The operand for a digit of these lists: 0 to 9, then characters from 'a' on ('a' is 10, 'z' 35, '{' 36).
constexpr size_t OperandPosition(char digit) {
  return static_cast<size_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// LSTM's BASIC kernel has other operands: x, activation, weights, bias, state.
constexpr bool IsBasicLstm(size_t operand_count) {
  return operand_count == 5;
}
// The row's state_inputs for an operator with this number of operands.
constexpr std::string_view StateInputs(const OperatorRow& row, size_t operand_count) {
  return row.name == "LSTM" && IsBasicLstm(operand_count) ? "14" : row.state_inputs;
}

// Null for a code that is not in the table.
const OperatorRow* FindOperator(int32_t code);
// The row of a custom operator; null if Hearth does not know the name.
const OperatorRow* FindCustomOperator(std::string_view name);
// "CONV_2D", or "BUILTIN_999" for a code that is not in the table.
std::string BuiltinName(int32_t code);

Result<std::vector<OperatorCode>> ReadOperatorCodes(const wire::Model& model, CopyBudget& budget);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_OPERATOR_TABLE_H_
