// The interpreter's nodes as a model of the file format, which the .tflite reader turns into a graph: attributes,
// constants and shapes are read by the same code for files and the interpreter.
#ifndef HEARTH_FRONTENDS_DELEGATE_INTERPRETER_MODEL_H_
#define HEARTH_FRONTENDS_DELEGATE_INTERPRETER_MODEL_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "frontends/delegate/tflite_c.h"
#include "frontends/tflite/model_writer.h"

namespace hearth {

// The numbers of an array that may be null.
std::span<const int> Numbers(const tflite_c::TfLiteIntArray* array);
// A copy: the interpreter may reuse the array.
std::vector<int> CopyOf(const tflite_c::TfLiteIntArray* array);

// A tensor of the interpreter; null if the index is out of range.
tflite_c::TfLiteTensor* TensorAt(const tflite_c::TfLiteContext& context, int index);
// "tensor 3 'conv/relu'".
std::string TensorLabel(const tflite_c::TfLiteContext& context, int index);
// Whether its content is part of the model.
bool IsConstant(const tflite_c::TfLiteTensor& tensor);

// A node with its registration. Borrowed: valid until nodes are added.
struct InterpreterNode {
  int index = -1;
  const tflite_c::TfLiteNode* node = nullptr;
  const tflite_c::TfLiteRegistration* registration = nullptr;

  std::string op_name() const;  // "CONV_2D", or a custom operator's own name
  // Whether it only prepares a constant: dequantizes it or makes it dense.
  bool IsOfConstant(const tflite_c::TfLiteContext& context) const;
};

struct LeftNode {  // a node that stays with the interpreter
  int index = -1;
  std::string op, reason;
};

Result<InterpreterNode> NodeAt(tflite_c::TfLiteContext& context, int index);
Result<std::vector<InterpreterNode>> NodesAt(tflite_c::TfLiteContext& context, const std::vector<int>& indices);

// Shapes of tensors that differ from the interpreter's before it prepares its nodes.
using TensorShapes = std::map<int, std::vector<int32_t>>;

struct InterpreterModel {
  ModelToWrite model;      // its constants are borrowed from the interpreter
  std::vector<int> nodes;  // the interpreter's node behind each operator
  // The interpreter's tensors for model.inputs and model.outputs.
  std::vector<int> inputs, outputs;
};

// `nodes` are in execution order; tensors that they read and do not make become inputs. `outputs` are tensors; if
// empty, all that none of the nodes reads. A variable tensor that a node changes becomes a state of the model. The
// input shapes determine all others: those that the interpreter has for its nodes' outputs count as the file's.
// kUnsupported for a tensor that Hearth's file format can't hold, one whose size is known only at run time, or a node
// that another delegate has taken. The message names it.
Result<InterpreterModel> ModelOfNodes(const tflite_c::TfLiteContext& context, std::span<const InterpreterNode> nodes,
                                      const std::optional<std::vector<int>>& outputs = std::nullopt,
                                      const TensorShapes& shapes = {});

// A graph read from `written`, and the interpreter's tensors for its inputs and outputs. Each state becomes an input
// and an output: its content stays in the interpreter, which resets it, and which other nodes read.
struct InterpreterGraph {
  Graph graph;
  std::vector<int> inputs, outputs;  // the interpreter's tensors for the graph's
};
Result<InterpreterGraph> ReadInterpreterGraph(const InterpreterModel& model, const WrittenModel& written);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_INTERPRETER_MODEL_H_
