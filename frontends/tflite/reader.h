// Reads a .tflite model (flatbuffer, file identifier "TFL3", schema version 3) into a Graph.
#ifndef HEARTH_FRONTENDS_TFLITE_READER_H_
#define HEARTH_FRONTENDS_TFLITE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/graph/graph.h"
#include "frontends/writer/budget.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"
#include "runtime/model/model_interface.h"

namespace hearth {

inline constexpr uint32_t kSchemaVersion = 3;

// Whether the file identifier is there; no more is looked at.
bool IsTfliteModel(std::span<const std::byte> bytes);

// Returns an error or a graph that passes Graph::Validate(), for any bytes.
//
// `bytes` is the whole file, aligned to 16 (a mapped file or an allocation is). It must outlive the graph, which
// borrows its constants from it. Their alignment is at least the smaller of 4 and their element's size.
//
// Only tensors that an operator or the model's interface refers to become values. Operands that are attributes in
// Hearth (the shape of RESHAPE, the axes of MEAN, ...) don't. Value::desc is the file's description. Shapes that depend
// on dimensions which the file leaves open, or which options.input_shapes changes, are inferred from those of the
// inputs, whose open dimensions have the file's placeholder size (usually 1).
//
// Node::source_index is the operator's index in the file. Operators with constant operands, or that read only shapes
// (SHAPE, RANK, ...), are evaluated and make no node. Neither does DEQUANTIZE of a constant: readers of its output get
// the stored constant (filters, biases, unknown operators) or a float32 copy of it (all others). Sparse constants are
// made dense. An operator that Hearth doesn't know, or not in this form (paddings computed at run time, ...), becomes
// an UnknownOp with the file's name. State tensors (`is_variable`) that an operator changes are states of the graph;
// others are constants of zeros, their content before the first run.
//
// kMalformedInput: no model, or one that breaks the format's rules (index out of range, operators out of order or in a
// cycle, sizes that don't fit, ...): one sentence with the fault and its place. kUnsupported: a tensor with an element
// type or storage that Hearth lacks. kNotFound: no signature of that name. kInvalidArgument: `bytes` is not aligned, or
// a given shape is invalid or names no input.
Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options = {});
// The same within given limits.
Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options, ReadingBudget& budget);

// Reads only the declarations, which options.input_shapes may name. Errors as above; operators are not read.
Result<ModelInterface> ReadTfliteInterface(std::span<const std::byte> bytes, const ReadOptions& options = {});

// The file's metadata about the chosen subgraph's inputs and outputs; empty if it has none. Texts are cleaned and
// bounded by the file's size, as names are. kMalformedInput: metadata that is not a flatbuffer of its format. A missing
// or damaged label file is a warning in the result. Other errors as ReadTfliteModel.
Result<ModelMetadata> ReadTfliteMetadata(std::span<const std::byte> bytes, const ReadOptions& options = {});

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_READER_H_
