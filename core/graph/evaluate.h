// Evaluates a graph in float64: the reference of all tests, and the CPU's last resort.
#ifndef HEARTH_CORE_GRAPH_EVALUATE_H_
#define HEARTH_CORE_GRAPH_EVALUATE_H_

#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/op_def.h"

namespace hearth {

// A reference tensor of this size takes 8 GiB; more is refused.
inline constexpr int64_t kMaxReferenceElements = int64_t{1} << 30;

// Runs infer for all nodes in order, and compares the descriptions of states with those of their next content.
Status InferShapes(Graph& graph);
// The rest of InferShapes for a graph whose nodes are inferred.
Status CheckInferred(const Graph& graph);

// Evaluates one node, or the whole graph, in float64. `inputs` follow node.inputs / graph.inputs.
// The result of each node is rounded to its value's type, as a device would store it.
Result<std::vector<ReferenceTensor>> EvaluateNode(const Graph& graph, const Node& node, ReferenceInputs inputs);
// `states` follow graph.states: their content before the run, replaced by that after it. Empty or null means zeros.
Result<std::vector<ReferenceTensor>> EvaluateGraph(const Graph& graph, std::span<const ReferenceTensor> inputs,
                                                   std::vector<ReferenceTensor>* states = nullptr);

// A dense host tensor to doubles and back; quantized types are dequantized and quantized
// (round half away from zero, clamped to the type's range).
Result<ReferenceTensor> ReferenceFromBytes(const TensorDesc& desc, std::span<const std::byte> bytes);
// The stored bytes of a tensor of real zeros: its zero point if it is quantized.
Result<std::vector<std::byte>> BytesOfZeros(const TensorDesc& desc);
Status ReferenceToBytes(const ReferenceTensor& tensor, const TensorDesc& desc, std::span<std::byte> bytes);
// Whether ReferenceTensor, which has float64, holds these 64-bit integers exactly. The largest one, which stands for
// "to the end", counts as held where it was only moved or chosen. Chosen integers between 2^53 and 2^63 and calculated
// ones above 2^53 do not: they may have been rounded.
enum class Made64 : uint8_t { kMoved, kChosen, kCalculated };
bool AreKept(const TensorDesc& desc, std::span<const std::byte> bytes, Made64 made);

// A constant's elements as floats: dequantized, int32 and float16 converted.
Result<std::vector<float>> ConstantAsFloats(const Graph& graph, ValueId id);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_EVALUATE_H_
