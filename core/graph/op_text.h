// Names and attributes of operations as text, for graph texts, reports and errors.
#ifndef HEARTH_CORE_GRAPH_OP_TEXT_H_
#define HEARTH_CORE_GRAPH_OP_TEXT_H_

#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace hearth {

// Advice for a model that Hearth can run only in part.
inline constexpr std::string_view kPluginAdvice =
    "run the model by Hearth's plugin, which leaves to the LiteRT interpreter what Hearth can't run";

// How a program brings an operator along.
inline constexpr std::string_view kRegisterAdvice =
    "--ops FILE, the option ops, ModelOptions::custom_ops; docs/custom-operators.md";

// "conv_2d", "relu6" (a unary op by its kind), or the unknown operator's own name.
std::string OpName(const Op& op);

// "stride=2x2 padding=same activation=relu6"; attributes that have their default are left out.
std::string AttributesToText(const Op& op);

// `conv_2d "MobilenetV1/Conv2d_0" (operator 3)`: how errors and reports call a node.
std::string NodeLabel(const Node& node);

// Whether the user's `wanted` names this node: by its operation in any case, as in model files ("CONV_2D") or as OpName
// gives it, or by its operator's index in the file ("op:7").
bool IsCalled(const Node& node, std::string_view wanted);

// The error for a node that nothing here can run: names operator and index, with advice.
Status UnknownOperation(const Node& node);

// "text" with quotes, backslashes and control characters escaped.
std::string Quoted(std::string_view text);

// A graph as text, for tests and dumps: one line per value and node. Constant contents are written whole up to 64
// elements, else as "fill". Tests and benchmarks read such texts (tests/testing/graph_from_text.h).
std::string ToText(const Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OP_TEXT_H_
