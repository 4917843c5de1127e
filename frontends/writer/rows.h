// Tensors whose number of rows depends on data (indices of elements that are not 0, distinct elements). The graph holds
// them in their largest size, with the number of valid rows beside each (ValueMarks::rows; along dimension
// 1, as of a transposed matrix: columns). Operators on them keep that number, mask the other rows, or are refused.
#ifndef HEARTH_FRONTENDS_WRITER_ROWS_H_
#define HEARTH_FRONTENDS_WRITER_ROWS_H_

#include <span>

#include "frontends/writer/node_writer.h"

namespace hearth {

// Whether an operand's number of rows, or columns, depends on data.
bool HaveRows(const NodeWriter& to, std::span<const ValueId> operands);

// The error for an operator that has such an operand and needs all of its rows.
Status NeedsAllRows();

// The result of an operation with one result of this type. kUnsupported where it would depend on rows that are not
// valid.
Made AddOnRows(NodeWriter& to, Op op, std::vector<ValueId> operands, const TensorDesc& made);

// Says of the nodes from `first_node` on how many rows of their results are valid. kUnsupported as for AddOnRows.
Status KeepRows(NodeWriter& to, size_t first_node);

// `value`, of which the first `count` (int32[1]) rows are valid, without the others if that number is known.
Made AddRows(NodeWriter& to, ValueId value, ValueId count);

// The shape of a value as integers of this type: a constant, or with the number of valid rows.
Made AddShapeOf(NodeWriter& to, ValueId value, const TensorDesc& made);

// Adds an output with the number of valid rows for each output of the graph that has one.
Status AddRowOutputs(NodeWriter& to);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_ROWS_H_
