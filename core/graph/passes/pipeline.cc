
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/passes/pass.h"

namespace hearth {
namespace {

// Dead nodes go first, so that later passes see the true readers. Padding and bias are folded before activations: a
// convolution with an activation takes nothing more.
constexpr Pass kDefaultPasses[] = {
    {"remove_dead_nodes", RemoveDeadNodes},  //
    {"to_floats", ToFloats},                 // before passes that know products of floats
    {"remove_no_ops", RemoveNoOps},          //
    {"lists_to_concat", ListsToConcat},      //
    {"unify_transposes", UnifyTransposes},   //
    {"transposes_into_products", TransposesIntoProducts},
    {"moves_to_reshapes", MovesToReshapes},            //
    {"unify_reshapes", UnifyReshapes},                 //
    {"concat_to_padding", ConcatToPadding},            //
    {"fold_padding", FoldPadding},                     //
    {"pool_to_mean", PoolToMean},                      //
    {"sum_to_mean", SumToMean},                        //
    {"power_to_square", PowerToSquare},                //
    {"fuse_normalization", FuseNormalization},         //
    {"fuse_gelu", FuseGelu},                           // before activations: GELU contains a tanh
    {"functions_before_moves", FunctionsBeforeMoves},  // before fuse_bias and fuse_activation take them
    {"fuse_bias", FuseBias},                           //
    {"fold_into_weights", FoldIntoWeights},            //
    {"fuse_activation", FuseActivation},               //
    {"to_integers", ToIntegers},                       // of layers that have their bias and activation
};

// Each pass that changes something makes the graph smaller, so real networks need two or three rounds. The bound
// is for passes that undo each other; stopping then leaves a valid graph.
constexpr int kMaxRounds = 32;

// New constants may take this multiple of the graph's, and some more for graphs that have few. Real networks make less
// than one copy of their filters.
constexpr size_t kMostCopies = 4, kSmallConstantsBytes = size_t{64} << 20;

Status CheckDisabledNames(std::span<const Pass> passes, const std::vector<std::string>& disabled) {
  std::vector<std::string> known;
  for (const Pass& pass : passes) known.emplace_back(pass.name);
  for (const std::string& name : disabled) {
    if (Contains(known, name)) continue;
    std::string list;
    for (const std::string& pass : known) list += (list.empty() ? "" : ", ") + pass;
    return Error(StatusCode::kInvalidArgument, "no pass named '{}'; there are: {}", name, list);
  }
  return Status::Ok();
}

Status CheckValid(const Graph& graph, const std::string& who) {
  const Status valid = graph.Validate();
  return valid.ok() ? valid : Error(StatusCode::kInternal, "{} left an invalid graph: {}", who, valid.message());
}

Result<Verdict> RunPass(const Pass& pass, Graph& graph, const DeviceInfo& device, PassObserver* observer) {
  Result<Verdict> verdict = pass.run(graph, device);
  if (!verdict.ok()) return verdict.status().Within(pass.name);
  if (*verdict == Verdict::kChanged) HEARTH_TRY(CheckValid(graph, fmt::format("pass {}", pass.name)));
  if (observer != nullptr) observer->AfterPass(pass.name, *verdict, graph);
  return verdict;
}

}  // namespace

std::span<const Pass> DefaultPasses() {
  return kDefaultPasses;
}

Status RunPasses(Graph& graph, const DeviceInfo& device, std::span<const Pass> passes, const PassOptions& options) {
  HEARTH_TRY(CheckDisabledNames(passes, options.disabled));
  graph.LimitNewConstants(kMostCopies * graph.ConstantsSizeBytes() + kSmallConstantsBytes);
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    for (const Pass& pass : passes) {
      if (Contains(options.disabled, pass.name)) continue;
      HEARTH_ASSIGN(const Verdict verdict, RunPass(pass, graph, device, options.observer));
      changed |= verdict == Verdict::kChanged;
    }
    if (!changed) break;
  }
  return CheckValid(graph, "the list of passes");
}

Status RunPasses(Graph& graph, const DeviceInfo& device, const PassOptions& options) {
  return RunPasses(graph, device, DefaultPasses(), options);
}

}  // namespace hearth
