// Tensors whose number of rows depends on data (indices of elements that are not 0, distinct elements). The graph holds
// them in their largest size, with the number of valid rows beside each (ValueMarks::open; along any dimension).
// Operators on them keep that number, mask the other rows, or are refused.
#ifndef HEARTH_FRONTENDS_WRITER_ROWS_H_
#define HEARTH_FRONTENDS_WRITER_ROWS_H_

#include <span>

#include "frontends/writer/node_writer.h"

namespace hearth {

// Whether dimension `k` of the new shape is dimension `d`, where elements keep their order.
bool IsSameDimension(const Shape& shape, int d, const Shape& made, int k);

// Whether an operand's number of rows depends on data.
bool HaveRows(const NodeWriter& to, std::span<const ValueId> operands);

// The error for an operator that has such an operand and needs all of its rows.
Status NeedsAllRows();

// The result of an operation with one result of this type. kUnsupported where it would depend on rows that are not
// valid.
Made AddOnRows(NodeWriter& to, Op op, std::vector<ValueId> operands, const TensorDesc& made);

// Says of the nodes from `first_node` on how many rows of their results are valid. kUnsupported as for AddOnRows.
Status KeepRows(NodeWriter& to, size_t first_node);

// All rows of what the nodes from `first_node` on make are valid, but for those that were marked.
void CloseRows(NodeWriter& to, size_t first_node);

// `value`, of which the first `count` (int32[1]) rows are valid, without the others if that number is known. It is one
// that nothing else stands for: who had it before would lose rows. A constant becomes a value that is none, as what
// others make of it must have that number too.
Made AddRows(NodeWriter& to, ValueId value, ValueId count, int dim = 0);

// `value` with the neutral element of the reduction in rows that are not valid.
Made MaskRows(NodeWriter& to, ValueId value, ReduceKind kind);

// `value` with a number in rows that are not valid.
Made FillRows(NodeWriter& to, ValueId value, const OpenDimension& open, const Made& number);

// The places of the elements of `value` that are not 0, as rows of coordinates (int64), and how many there are
// (int32[1]): the same two values each time, so that what is looked up by several of them has one number of rows.
Result<std::pair<ValueId, ValueId>> AddPlaces(NodeWriter& to, ValueId value);

// Parts one after the other; of rows along `axis` that data make the valid ones.
Made AddConcat(NodeWriter& to, const std::vector<ValueId>& parts, int axis);

// ---- counts.cc ----

// A number that data make as a number of rows (int32[1]), from 0 to `most`; one that is such a number, or a
// copy of it, stays the same value.
Made AddCount(NodeWriter& to, ValueId number, int32_t most);
// A number of rows and a constant number more: one value for each such number.
Made AddSumOfCount(NodeWriter& to, ValueId count, int32_t more);
// A number of rows times a constant, at most `most`: one value for each factor.
Made AddProductOfCount(NodeWriter& to, ValueId count, int32_t factor, int32_t most);
// The largest that a number can be which is made of numbers of rows and constants; nothing if data do not limit it.
std::optional<double> MostOf(const NodeWriter& to, ValueId number);

// A short list of integers as a constant, where each is a copy of one: the columns of a shape whose rows data make.
Made KnownNumbers(NodeWriter& to, const Made& list);

// The constant that element `at` of a list is a copy of; nothing if data make it.
std::optional<double> ConstantIn(const NodeWriter& to, ValueId list, int64_t at);
// The sum of a number of rows and element `at` of a list, where it is the same for all data: 300 for n and 300 - n.
std::optional<double> ConstantSum(const NodeWriter& to, ValueId count, ValueId list, int64_t at);

// Whether element `at` of a list of numbers is surely not negative.
bool IsNotNegative(const NodeWriter& to, ValueId list, int64_t at);

// Sizes that are known, or of which data decide one up to a number that is known.
struct OpenSizes {
  std::vector<int64_t> dims;
  OpenDimension open;
};
Result<OpenSizes> SizesIn(NodeWriter& to, ValueId list);
// `value` with this number of rows, if there is one.
Made WithRows(NodeWriter& to, const Made& value, const OpenDimension& open);

// The shape of a value as integers of this type: a constant, or with the number of valid rows.
Made AddShapeOf(NodeWriter& to, ValueId value, const TensorDesc& made);

// Adds an output with the number of valid rows for each output of the graph that has one.
Status AddRowOutputs(NodeWriter& to);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_ROWS_H_
