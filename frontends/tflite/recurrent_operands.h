// Converts the operands of recurrent operators from the file's form to the graph's.
#ifndef HEARTH_FRONTENDS_TFLITE_RECURRENT_OPERANDS_H_
#define HEARTH_FRONTENDS_TFLITE_RECURRENT_OPERANDS_H_

#include "core/graph/graph.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {

// For an Lstm node with the file's operands (5 of a BASIC kernel, or 20 to 24) and outputs. Stacks the gates' weights,
// which the file has separately or (BASIC) in another order, into float constants, and removes outputs that are only
// scratch memory. Does nothing for other nodes. kUnsupported, with the node unchanged, for weights that are computed at
// run time or exceed TensorReader::ChargeMade.
Status ArrangeRecurrentOperands(Graph& graph, TensorReader& tensors, StackedConstants& stacked, Node& node);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_RECURRENT_OPERANDS_H_
