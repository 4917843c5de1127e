#include "conformance/conformance_case.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/float16.h"
#include "core/graph/evaluate.h"

namespace hearth::conformance {
namespace {

// FNV-1a, which is the same on every machine, unlike std::hash.
uint32_t SeedOf(const std::string& id) {
  uint32_t seed = 2166136261u;
  for (char c : id) seed = (seed ^ static_cast<uint8_t>(c)) * 16777619u;
  return seed;
}

// The numbers rounded to the type of `desc`.
ReferenceTensor Stored(const ReferenceTensor& tensor, const TensorDesc& desc) {
  std::vector<std::byte> bytes(desc.size_bytes());
  HEARTH_CHECK(ReferenceToBytes(tensor, desc, bytes).ok());
  Result<ReferenceTensor> stored = ReferenceFromBytes(desc, bytes);
  HEARTH_CHECK(stored.ok());
  return std::move(stored).value();
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

float Digits(float uniform) {
  return std::floor(uniform * 10.0f);
}
float Signed100(float uniform) {
  return std::floor(uniform * 201.0f) - 100.0f;
}
float ZeroOne(float uniform) {
  return uniform < 0.5f ? 0.0f : 1.0f;
}

ElementType Integers(DType dtype) {
  return {dtype, std::nullopt};
}
ElementType Bools() {
  return {DType::kBool, std::nullopt};
}
ElementType Quantized(DType dtype, float scale, int64_t zero_point) {
  return {dtype, Quantization{{scale}, {zero_point}, 0}};
}

Operand In(const Shape& shape, Fill fill, const ElementType& type) {
  return {shape, fill, type, Operand::Source::kInput, {}};
}
Operand Const(const Shape& shape, Fill fill, const ElementType& type) {
  return {shape, fill, type, Operand::Source::kConstant, {}};
}
Operand ConstOf(const Shape& shape, const std::vector<double>& numbers, const ElementType& type) {
  return {shape, nullptr, type, Operand::Source::kConstant, numbers};
}
Operand If(bool present, const Operand& operand) {
  return present ? operand : Operand{.source = Operand::Source::kNone};
}

CaseGraph::CaseGraph(CaseBatch& batch, const std::string& id, StorageType real)
    : batch_(batch), id_(id), real_(real), random_(SeedOf(id)) {}

std::string CaseGraph::Name(const char* what) {
  return fmt::format("{}.{}{}", id_, what, names_++);
}

ReferenceTensor CaseGraph::Numbers(const Shape& shape, Fill fill, const ElementType& type) {
  ReferenceTensor tensor{shape, std::vector<double>(static_cast<size_t>(shape.element_count()))};
  for (double& number : tensor.values) {
    // std::uniform_real_distribution gives other numbers in each standard library.
    const float drawn = fill(static_cast<float>(random_() % 65536) / 65536.0f);
    const bool halves = real_ == StorageType::kFloat16 && type.dtype == DType::kFloat32;
    number = halves ? HalfToFloat(FloatToHalf(drawn)) : drawn;
  }
  return tensor;
}

ValueId CaseGraph::Input(const Shape& shape, Fill fill, const ElementType& type) {
  const TensorDesc desc{type.dtype, shape, type.quantization};
  const ValueId value = batch_.graph.AddValue({Name("input"), desc, std::nullopt});
  batch_.graph.inputs.push_back(value);
  batch_.inputs.push_back(Stored(Numbers(shape, fill, type), desc));
  return value;
}

ValueId CaseGraph::Constant(const Shape& shape, Fill fill, const ElementType& type) {
  return ConstantOf(shape, Numbers(shape, fill, type).values, type);
}

ValueId CaseGraph::Of(const Operand& operand) {
  if (operand.source == Operand::Source::kNone) return kNoValue;
  if (!operand.numbers.empty()) return ConstantOf(operand.shape, operand.numbers, operand.type);
  return operand.source == Operand::Source::kInput ? Input(operand.shape, operand.fill, operand.type)
                                                   : Constant(operand.shape, operand.fill, operand.type);
}

std::vector<ValueId> CaseGraph::AllOf(const std::vector<Operand>& operands) {
  std::vector<ValueId> values;
  for (const Operand& operand : operands) values.push_back(Of(operand));
  return values;
}

ValueId CaseGraph::ConstantOf(const Shape& shape, const std::vector<double>& numbers, const ElementType& type) {
  const TensorDesc desc{type.dtype, shape, type.quantization};
  std::vector<std::byte> bytes(desc.size_bytes());
  HEARTH_CHECK(ReferenceToBytes({shape, numbers}, desc, bytes).ok());
  return batch_.graph.AddConstantValue(Name("constant"), desc, std::move(bytes));
}

ValueId CaseGraph::Node(Op op, std::vector<ValueId> inputs, const ElementType& type) {
  return Nodes(std::move(op), std::move(inputs), {type})[0];
}

std::vector<ValueId> CaseGraph::Nodes(Op op, std::vector<ValueId> inputs, const std::vector<ElementType>& types) {
  std::vector<ValueId> outputs;
  for (const ElementType& type : types) {
    outputs.push_back(batch_.graph.AddValue({Name("value"), {type.dtype, {}, type.quantization}, std::nullopt}));
  }
  batch_.graph.AddNode({std::move(op), std::move(inputs), outputs, id_});
  return outputs;
}

ConformanceCase NewCase(const CaseName& name, const Exactness& exactness, std::function<ValueId(CaseGraph&)> build,
                        bool every_path) {
  return {name.family, name.op, name.name, exactness, std::move(build), every_path};
}

ConformanceCase OneNode(const CaseName& name, const Exactness& exactness, Op op, std::vector<Operand> operands,
                        const ElementType& type, bool every_path) {
  const auto build = [=](CaseGraph& graph) { return graph.Node(op, graph.AllOf(operands), type); };
  return NewCase(name, exactness, build, every_path);
}

Fill FillOf(const ElementType& type) {
  return type.dtype == DType::kBool ? ZeroOne : type.dtype == DType::kFloat32 ? Wide : Digits;
}

std::string SuffixOf(const ElementType& type) {
  if (type.dtype == DType::kFloat32) return "";
  return fmt::format("_{}{}", type.quantization.has_value() ? "quantized_" : "", DTypeName(type.dtype));
}

std::vector<ConformanceCase> AllCases() {
  std::vector<ConformanceCase> cases;
  for (AddCases* add : {AddWindowCases, AddPoolCases, AddProductCases, AddElementwiseCases, AddBinaryCases,
                        AddConvertCases, AddMovementCases, AddRearrangeCases, AddBorderCases, AddReductionCases,
                        AddLookupCases, AddTypeCases, AddRecurrentCases, AddChainCases, AddMovedCases})
    add(cases);
  return cases;
}

}  // namespace hearth::conformance
