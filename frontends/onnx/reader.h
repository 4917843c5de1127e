// Reads an .onnx model (protocol buffers, opsets 7 to 25) into a Graph.
#ifndef HEARTH_FRONTENDS_ONNX_READER_H_
#define HEARTH_FRONTENDS_ONNX_READER_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"
#include "runtime/model/model_interface.h"

namespace hearth {

// Whether the fields at the top level are a model's; no more is looked at.
bool IsOnnxModel(std::span<const std::byte> bytes);

// Returns an error or a graph that passes Graph::Validate(), for any bytes.
//
// `bytes` is the whole file, and behind it those of options.parts; it must outlive the graph, which borrows constants
// from it where they lie aligned. The shapes of all values are inferred from those of the inputs; what the file says
// about values between is not read. Dimensions of an input that the file leaves open are 1, or what
// options.input_shapes gives; those that share a name share the size, or have that of options.dimensions. float16 and
// bfloat16 are computed as float32.
//
// Node::source_index is the node's index in the main graph. Nodes on which no output depends are not read.
//
// kMalformedInput: damaged, or against the format's rules. kUnsupported: an operator, a form of it or an element type
// that Hearth lacks; the message names the node. kInvalidArgument: a given shape fits no input.
Result<Graph> ReadOnnxModel(std::span<const std::byte> bytes, const ReadOptions& options = {});
Result<ModelInterface> ReadOnnxInterface(std::span<const std::byte> bytes, const ReadOptions& options = {});
Result<ModelMetadata> ReadOnnxMetadata(std::span<const std::byte> bytes, const ReadOptions& options = {});

// The files beside the model that hold its weights, relative to its folder. kMalformedInput for a name that leads out
// of the folder.
Result<std::vector<std::string>> OnnxFiles(std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ONNX_READER_H_
