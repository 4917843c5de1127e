#include "core/plan/plan_proof.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/fingerprint.h"
#include "core/plan/member_writer.h"

namespace hearth {
namespace {

// `read` is sorted.
std::array<uint64_t, 2> DigestOf(const Graph& graph, std::span<const FileRange> read) {
  MemberWriter writer;
  for (const Constant& constant : graph.constants()) {
    if (constant.source) writer(*constant.source);
    if (constant.elements != nullptr) writer(constant.elements->form());
    const bool counts = !constant.source || std::ranges::binary_search(read, *constant.source);
    if (counts) writer(FingerprintOf(constant.bytes).bytes);
  }
  for (const Value& value : graph.values()) writer(value.name, value.desc, value.constant);
  for (const Node& node : graph.nodes()) writer(node.op, node.inputs, node.outputs, node.name, node.source_index);
  writer(graph.inputs, graph.outputs, graph.states, graph.source_operator_count);
  return std::bit_cast<std::array<uint64_t, 2>>(FingerprintOf(writer.TakeBytes()).bytes);
}

}  // namespace

PlanProof ProofOf(const Graph& as_read, const Graph& lowered) {
  PlanProof proof;
  for (const Constant& constant : lowered.constants())
    if (constant.source && constant.was_read.is_set()) proof.read.push_back(*constant.source);
  std::ranges::sort(proof.read);
  proof.read.erase(std::unique(proof.read.begin(), proof.read.end()), proof.read.end());
  proof.digest = DigestOf(as_read, proof.read);
  return proof;
}

bool Holds(const PlanProof& proof, const Graph& as_read) {
  return DigestOf(as_read, proof.read) == proof.digest;
}

}  // namespace hearth
