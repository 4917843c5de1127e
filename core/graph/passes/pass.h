// Rewrites a graph before lowering: small passes run in the order of pipeline.cc until nothing changes. Every pass
// keeps the graph's inputs and outputs (ids, names, types), and its results up to float rounding. Passes are pure: an
// observer measures times, dumps and logs.
#ifndef HEARTH_CORE_GRAPH_PASSES_PASS_H_
#define HEARTH_CORE_GRAPH_PASSES_PASS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"
#include "core/graph/graph.h"

namespace hearth {

enum class Verdict : uint8_t { kUnchanged, kChanged };

struct Pass {
  std::string_view name;
  // Precondition: the graph is valid and its shapes are inferred; both hold afterwards.
  Result<Verdict> (*run)(Graph& graph, const DeviceInfo& device);
};

// The pipeline, in order.
std::span<const Pass> DefaultPasses();

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  // Called after every run of a pass, once its result has been verified.
  virtual void AfterPass(std::string_view name, Verdict verdict, const Graph& graph) = 0;
};

struct PassOptions {
  std::vector<std::string> disabled;  // names of passes to leave out
  PassObserver* observer = nullptr;
};

// Runs `passes` until a whole round changes nothing (at most 32 rounds). Errors: kInvalidArgument for a disabled pass
// that does not exist; what a pass returned; kInternal when a pass left an invalid graph. The message names the pass;
// the graph must not be used after an error.
Status RunPasses(Graph& graph, const DeviceInfo& device, std::span<const Pass> passes, const PassOptions& options);

// With DefaultPasses().
Status RunPasses(Graph& graph, const DeviceInfo& device, const PassOptions& options);

// ---- The passes ----

// Removes nodes whose outputs nothing uses.
Result<Verdict> RemoveDeadNodes(Graph& graph, const DeviceInfo& device);
// Where nothing multiplies bytes, exact sums of 8-bit integers become products of floats.
Result<Verdict> ToFloats(Graph& graph, const DeviceInfo& device);
// Removes nodes whose output is their input: copy, reshape and resize to the same size, padding by nothing,
// concatenation of one tensor. A node between an input and an output of the network stays.
Result<Verdict> RemoveNoOps(Graph& graph, const DeviceInfo& device);
// A list that is written item by item (slice, item, slice; or dynamic_update_slice) becomes one concatenation.
Result<Verdict> ListsToConcat(Graph& graph, const DeviceInfo& device);
// Transposes, slices, tiles and the like that move no element become reshapes.
Result<Verdict> MovesToReshapes(Graph& graph, const DeviceInfo& device);
// A transpose of a transpose reads the first one's input.
Result<Verdict> UnifyTransposes(Graph& graph, const DeviceInfo& device);
// A product of a matrix whose rows and columns a transpose has exchanged exchanges them itself.
Result<Verdict> TransposesIntoProducts(Graph& graph, const DeviceInfo& device);
// A reshape of a reshape reads the first one's input.
Result<Verdict> UnifyReshapes(Graph& graph, const DeviceInfo& device);
// Concatenation of one tensor with zeros becomes padding.
Result<Verdict> ConcatToPadding(Graph& graph, const DeviceInfo& device);
// Average pooling of whole large images becomes a mean, whose work items share one sum.
Result<Verdict> PoolToMean(Graph& graph, const DeviceInfo& device);
// A power of 2 becomes a square.
Result<Verdict> PowerToSquare(Graph& graph, const DeviceInfo& device);
// A sum divided by the number of its terms becomes a mean.
Result<Verdict> SumToMean(Graph& graph, const DeviceInfo& device);
// Mean, variance, subtraction and division become one node: layer or instance normalization.
Result<Verdict> FuseNormalization(Graph& graph, const DeviceInfo& device);
// The operators of GELU (by tanh or erf) become one node.
Result<Verdict> FuseGelu(Graph& graph, const DeviceInfo& device);
// An elementwise function after reshapes and transposes of a product's result moves before them.
Result<Verdict> FunctionsBeforeMoves(Graph& graph, const DeviceInfo& device);
// Adding, subtracting or multiplying by a constant per channel becomes part of bias and weights of the convolution or
// fully connected node that reads it; adding only if that node pads nothing.
Result<Verdict> FoldIntoWeights(Graph& graph, const DeviceInfo& device);
// Zero padding of height and width becomes part of the convolution that reads it.
Result<Verdict> FoldPadding(Graph& graph, const DeviceInfo& device);
// Adding, subtracting or multiplying by a constant per channel becomes part of the convolution's or fully connected
// node's bias and weights.
Result<Verdict> FuseBias(Graph& graph, const DeviceInfo& device);
// An activation becomes an attribute of the node that makes its input.
Result<Verdict> FuseActivation(Graph& graph, const DeviceInfo& device);
// On the CPU: values that are rounded to 256 steps become quantized ones, and nodes between them compute on integers.
Result<Verdict> ToIntegers(Graph& graph, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_PASSES_PASS_H_
