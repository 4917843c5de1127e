// Reads a .tflite model (flatbuffer, file identifier "TFL3", schema version 3) into a Graph.
#ifndef HEARTH_FRONTENDS_TFLITE_READER_H_
#define HEARTH_FRONTENDS_TFLITE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/graph/graph.h"
#include "frontends/model/model_interface.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"

namespace hearth {

inline constexpr uint32_t kSchemaVersion = 3;

// Whether the file identifier is there; no more is looked at.
bool IsTfliteModel(std::span<const std::byte> bytes);

// Whatever the bytes are, the result is an error or a graph that passes Graph::Validate().
//
// `bytes` is the whole file, aligned to 16 (a mapped file or an allocation is). The graph borrows its
// constants from it, so `bytes` must outlive the graph; they are aligned to at least the smaller of 4
// and their element's size, no more.
//
// Only tensors that an operator or the model's interface refers to become values; operands that are
// attributes in Hearth (the shape of RESHAPE, the axes of MEAN, ...) don't. Value::desc is what the file
// says, but for what depends on dimensions that the file leaves open or options.input_shapes changes: those shapes
// are inferred from the inputs', whose open dimensions have the size that the file holds for now (1 as a rule).
// Operators whose operands are constant, or ask for shapes only (SHAPE, RANK, ...), are evaluated and make no node.
// Node::source_index is the operator's index in the file. DEQUANTIZE of a constant makes no node either: what reads its
// output reads the stored constant (filters, biases, unknown operators) or a float32 copy of it (all others). Sparse
// constants are made dense. An operator that Hearth doesn't know, or not in that form (paddings computed at run
// time, ...), becomes an UnknownOp with the file's name for it.
//
// State tensors (`is_variable`) that an operator changes are states of the graph; others are constants of zeros, which
// is what they hold before the first run.
//
// kMalformedInput: not a model, or one that breaks the format's rules (index out of range, operators
//   out of order or in a cycle, sizes that don't fit, ...): one sentence that names what and where.
// kUnsupported: a tensor of an element type or storage that Hearth has not.
// kNotFound: no signature of that name.  kInvalidArgument: `bytes` not aligned, a shape for an input that the model has
//   not or that is not a shape.
Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options = {});

// The declarations alone: what options.input_shapes may name. Errors as above, operators are not looked at.
Result<ModelInterface> ReadTfliteInterface(std::span<const std::byte> bytes, const ReadOptions& options = {});

// The file's metadata about the chosen subgraph's inputs and outputs; empty if it has none. Texts are cleaned and
// bounded by the file's size, as names are. kMalformedInput: metadata that is not a flatbuffer of its format. A missing
// or damaged label file is a warning in the result. Other errors as ReadTfliteModel.
Result<ModelMetadata> ReadTfliteMetadata(std::span<const std::byte> bytes, const ReadOptions& options = {});

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_READER_H_
