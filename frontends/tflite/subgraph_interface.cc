// A subgraph's inputs and outputs: names, and shapes that the caller gives for inputs.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/tflite/subgraph_reader.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

// The shape that the caller gave for an input.
Result<Shape> GivenShape(const TensorDeclaration& declared, const std::vector<int32_t>& dims) {
  const bool is_shape = dims.size() <= Shape::kMaxRank &&
                        std::all_of(dims.begin(), dims.end(), [](int32_t dim) { return dim >= 0; }) &&
                        CheckedElementCount(Shape::FromSpan(dims)).has_value();
  if (!is_shape) {
    return Error(StatusCode::kInvalidArgument,
                 "the shape for input '{}' needs at most {} dimensions, none negative, and at most {} elements",
                 declared.name, int{Shape::kMaxRank}, kMaxElementCount);
  }
  if (declared.has_shape && dims.size() != declared.shape.size()) {
    return Error(StatusCode::kInvalidArgument, "input '{}' has {} dimensions, a shape of {} was given", declared.name,
                 declared.shape.size(), dims.size());
  }
  return Shape::FromSpan(dims);
}

// What the caller gave for an input, by its name or alias; it is taken out of the list.
template <typename T>
std::optional<T> TakeOf(std::map<std::string, T>& all, const TensorDeclaration& declared) {
  auto found = all.find(declared.name);
  if (found == all.end()) found = all.find(declared.alias);
  if (found == all.end()) return std::nullopt;
  T taken = std::move(found->second);
  all.erase(found);
  return taken;
}

}  // namespace

// The signature's names for the inputs or outputs.
Result<SubgraphReader::Aliases> SubgraphReader::AliasesOf(Side side, const wire::SignatureDef* signature) {
  Aliases aliases;
  if (signature == nullptr) return aliases;
  const auto* names = side == Side::kInputs ? signature->inputs() : signature->outputs();
  for (uint32_t i = 0; names != nullptr && i < names->size(); ++i) {
    const wire::TensorMap& entry = *names->Get(i);
    if (entry.name() == nullptr) continue;
    if (!reading_.budget.copies.Charge(entry.name()->size())) return CopyBudget::Exceeded("the model's signature");
    aliases.emplace(static_cast<int32_t>(entry.tensor_index()), CleanName(entry.name()->string_view()));
  }
  return aliases;
}

TensorDeclaration SubgraphReader::DeclarationOf(int32_t tensor, const Aliases& aliases) const {
  TensorDeclaration declared{tensors_.NameOf(tensor), "", tensors_.DeclaredShape(tensor), !tensors_.HasNoShape(tensor)};
  if (tensors_.IsComplex(tensor) && declared.has_shape) declared.shape.push_back(2);
  if (const auto alias = aliases.find(tensor); alias != aliases.end()) declared.alias = alias->second;
  return declared;
}

Result<std::vector<TensorDeclaration>> SubgraphReader::Declarations(Side side, const wire::SignatureDef* signature) {
  const auto* listed = side == Side::kInputs ? subgraph_.inputs() : subgraph_.outputs();
  HEARTH_ASSIGN(const std::vector<int32_t> indices, CopyIndices(listed, "the list of model inputs or outputs"));
  HEARTH_ASSIGN(const auto aliases, AliasesOf(side, signature));
  std::vector<TensorDeclaration> declarations;
  for (const int32_t tensor : indices) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model inputs or outputs"));
    TensorDeclaration declared = DeclarationOf(tensor, aliases);
    if (!reading_.budget.copies.Charge(declared.name.size() + declared.alias.size()))
      return CopyBudget::Exceeded(tensors_.Label(tensor));
    declarations.push_back(std::move(declared));
  }
  return declarations;
}

// Adds an input of the model, with the shape that the caller gave, if any, or a constant with the content.
Status SubgraphReader::AddInput(int32_t tensor, const TensorDeclaration& declared, const std::vector<int32_t>* given,
                                const FixedInput* fixed) {
  constexpr std::string_view kWhere = "the caller of the model";
  if (tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kUnsupported, "{} writes {}, which is state of the model", kWhere, tensors_.Label(tensor));
  }
  HEARTH_TRY(CheckProduced(tensor, kWhere));
  TensorState& state = tensors_[tensor];
  if (state.source == TensorState::Source::kReady) {
    return Error(StatusCode::kMalformedInput, "{} is listed twice as a model input", tensors_.Label(tensor));
  }
  state.source = TensorState::Source::kReady;
  const bool is_complex = reading_.complex_as_pairs && tensors_.IsComplex(tensor);
  HEARTH_ASSIGN(NamedResult input, is_complex ? tensors_.PairsFor(tensor) : tensors_.ResultFor(tensor));
  if (given != nullptr) {
    HEARTH_ASSIGN(input.desc.shape, GivenShape(declared, *given));
  }
  if (fixed == nullptr) {
    state.value = to_.AddInput(input.name, input.desc);
  } else {
    HEARTH_ASSIGN(state.value, to_.AddFixedInput(input.name, input.desc, *fixed));
  }
  if (given == nullptr && !declared.has_shape) to_.marks().unknown_shapes.insert(state.value);
  if (is_complex) {
    const int last = to_.shape(state.value).rank() - 1;
    const Shape parts = Without(to_.shape(state.value), last);
    const auto part = [&](int32_t k) { return to_.AddReshape(to_.AddSlice(state.value, last, k, 1), parts); };
    HEARTH_ASSIGN(const ValueId real, part(0));
    HEARTH_ASSIGN(const ValueId imaginary, part(1));
    state.value = AddComplex(to_, real, imaginary);
    return Status::Ok();
  }
  // Readers know what an input without elements holds.
  if (to_.IsEmpty(state.value)) {
    state.value = to_.graph().AddConstantValue(std::move(input.name), std::move(input.desc), {});
  }
  return Status::Ok();
}

Status SubgraphReader::ReadInputs(const wire::SignatureDef* signature, ReadOptions options) {
  std::map<std::string, std::vector<int32_t>>& input_shapes = options.input_shapes;
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(subgraph_.inputs(), "the list of model inputs"));
  HEARTH_ASSIGN(const auto aliases, AliasesOf(Side::kInputs, signature));
  if (!input_shapes.empty()) to_.RequireShapes();
  std::string names;  // for an error message
  for (const int32_t tensor : inputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model inputs"));
    const TensorDeclaration declared = DeclarationOf(tensor, aliases);
    const auto given = TakeOf(input_shapes, declared);
    auto fixed = TakeOf(options.constants, declared);
    if (given.has_value() && fixed.has_value()) {
      return Error(StatusCode::kInvalidArgument, "input '{}' is given a shape and a content", declared.name);
    }
    const auto& shape = fixed.has_value() && !fixed->shape.empty() ? std::optional(fixed->shape) : given;
    HEARTH_TRY(AddInput(tensor, declared, shape ? &*shape : nullptr, fixed ? &*fixed : nullptr));
    if (names.size() < 1000) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", declared.name);
  }
  if (input_shapes.empty() && options.constants.empty()) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "a {} was given for '{}', which is not an input of the model; it has {}",
               input_shapes.empty() ? "content" : "shape",
               input_shapes.empty() ? options.constants.begin()->first : input_shapes.begin()->first,
               names.empty() ? "none" : names);
}

Result<std::vector<int32_t>> SubgraphReader::FindOutputs() {
  HEARTH_ASSIGN(std::vector<int32_t> outputs, CopyIndices(subgraph_.outputs(), "the list of model outputs"));
  if (outputs.empty()) return Error(StatusCode::kMalformedInput, "the model has no outputs");
  for (const int32_t tensor : outputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model outputs"));
    tensors_[tensor].is_output = true;
  }
  return outputs;
}

Status SubgraphReader::ReadOutputs(const std::vector<int32_t>& outputs) {
  for (const int32_t tensor : outputs) {
    HEARTH_TRY(CheckHasContent(tensor, "the list of model outputs"));
    HEARTH_ASSIGN(ValueId value, tensors_.ValueOf(tensor));
    if (to_.marks().IsHandle(value)) {
      return Error(StatusCode::kUnsupported,
                   "{} is a resource variable, which cannot be an output: return what it holds",
                   tensors_.Label(tensor));
    }
    if (to_.graph().IsState(value)) {  // a copy, because the run changes the state
      HEARTH_ASSIGN(value, to_.AddCopy(value, to_.graph().value(value).name));
    }
    to_.graph().outputs.push_back(value);
  }
  return Status::Ok();
}

}  // namespace hearth
