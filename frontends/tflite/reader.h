// Reads a .tflite model (flatbuffer, file identifier "TFL3", schema version 3) into a Graph.
#ifndef HEARTH_FRONTENDS_TFLITE_READER_H_
#define HEARTH_FRONTENDS_TFLITE_READER_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/graph.h"
#include "hearth/status.h"

namespace hearth {

struct ReadOptions {
  std::string signature;  // which signature's subgraph to read; empty: the model's first subgraph
};

// Whatever the bytes are, the result is an error or a graph that passes Graph::Validate().
//
// `bytes` is the whole file, aligned to 16 (a mapped file or an allocation is). The graph borrows its
// constants from it, so `bytes` must outlive the graph; they are aligned to at least the smaller of 4
// and their element's size, no more.
//
// Only tensors that an operator or the model's interface refers to become values; operands that are
// attributes in Hearth (the shape of RESHAPE, the axes of MEAN, ...) don't. Value::desc is what the file
// says (dynamic dimensions with the size that the file holds for now). Node::source_index is the
// operator's index in the file. DEQUANTIZE of a float16 constant makes no node: what reads its output
// reads the float16 constant (filters, biases, unknown operators) or a float32 copy of it (all others). An operator
// that Hearth doesn't know, or not in that form (paddings computed at run time, ...), becomes an UnknownOp with the
// file's name for it.
//
// State tensors (`is_variable`) that the model only reads are constants of zeros, which is what they
// hold before the first run.
//
// kMalformedInput: not a model, or one that breaks the format's rules (index out of range, operators
//   out of order or in a cycle, sizes that don't fit, ...): one sentence that names what and where.
// kUnsupported: a tensor of an element type, sparsity or storage that Hearth has not.
// kNotFound: no signature of that name.  kInvalidArgument: `bytes` not aligned.
Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options = {});

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_READER_H_
