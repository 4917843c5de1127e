#include "tests/conformance/conformance_case.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace hearth::conformance {
namespace {

// FNV-1a: the same numbers on every machine, unlike std::hash.
uint32_t SeedOf(const std::string& id) {
  uint32_t seed = 2166136261u;
  for (char c : id) seed = (seed ^ static_cast<uint8_t>(c)) * 16777619u;
  return seed;
}

}  // namespace

float Symmetric(float uniform) {
  return uniform * 2.0f - 1.0f;
}
float Wide(float uniform) {
  return uniform * 16.0f - 8.0f;
}
float Positive(float uniform) {
  return uniform * 3.75f + 0.25f;
}
float OffIntegers(float uniform) {
  return (std::floor(uniform * 64.0f) * 2.0f + 1.0f) / 16.0f - 4.0f;
}
float PowerOfTwo(float uniform) {
  constexpr float kNumbers[] = {-2.0f, -1.0f, -0.5f, 0.5f, 1.0f, 2.0f};
  return kNumbers[static_cast<int>(uniform * 6.0f)];
}

CaseGraph::CaseGraph(CaseBatch& batch, const std::string& id) : batch_(batch), id_(id), random_(SeedOf(id)) {}

std::string CaseGraph::Name(const char* what) {
  return fmt::format("{}.{}{}", id_, what, names_++);
}

std::vector<float> CaseGraph::Numbers(const Shape& shape, Fill fill) {
  std::vector<float> numbers(static_cast<size_t>(shape.element_count()));
  // Not std::uniform_real_distribution, whose numbers differ between standard libraries.
  for (float& number : numbers) number = fill(static_cast<float>(random_() % 65536) / 65536.0f);
  return numbers;
}

ValueId CaseGraph::Input(const Shape& shape, Fill fill) {
  const ValueId value = batch_.graph.AddValue({Name("input"), {DType::kFloat32, shape, std::nullopt}, std::nullopt});
  batch_.graph.inputs.push_back(value);
  const std::vector<float> numbers = Numbers(shape, fill);
  batch_.inputs.push_back({shape, {numbers.begin(), numbers.end()}});
  return value;
}

ValueId CaseGraph::Constant(const Shape& shape, Fill fill) {
  return batch_.graph.AddFloatConstant(Name("constant"), shape, Numbers(shape, fill));
}

ValueId CaseGraph::Node(Op op, std::vector<ValueId> inputs) {
  const ValueId output = batch_.graph.AddValue({Name("value"), {}, std::nullopt});
  batch_.graph.AddNode({std::move(op), std::move(inputs), {output}, id_});
  return output;
}

std::vector<ConformanceCase> AllCases() {
  std::vector<ConformanceCase> cases;
  AddWindowCases(cases);
  AddPoolCases(cases);
  AddElementwiseCases(cases);
  AddMovementCases(cases);
  AddReductionCases(cases);
  AddChainCases(cases);
  return cases;
}

}  // namespace hearth::conformance
