// A subgraph's inputs and outputs: names, and shapes that the caller gives for inputs.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/tflite/subgraph_reader.h"

namespace hearth {

// The signature's names for the inputs or outputs.
Result<std::unordered_map<int32_t, std::string>> SubgraphReader::AliasesOf(Side side) {
  std::unordered_map<int32_t, std::string> aliases;
  if (signature_ == nullptr) return aliases;
  const auto* names = side == Side::kInputs ? signature_->inputs() : signature_->outputs();
  for (uint32_t i = 0; names != nullptr && i < names->size(); ++i) {
    const wire::TensorMap& entry = *names->Get(i);
    if (entry.name() == nullptr) continue;
    if (!budget_.Charge(entry.name()->size())) return CopyBudget::Exceeded("the model's signature");
    aliases.emplace(static_cast<int32_t>(entry.tensor_index()), CleanName(entry.name()->string_view()));
  }
  return aliases;
}

TensorDeclaration SubgraphReader::DeclarationOf(int32_t tensor,
                                                const std::unordered_map<int32_t, std::string>& aliases) const {
  TensorDeclaration declared{tensors_.NameOf(tensor), "", tensors_.DeclaredShape(tensor), !tensors_.HasNoShape(tensor)};
  if (const auto alias = aliases.find(tensor); alias != aliases.end()) declared.alias = alias->second;
  return declared;
}

Result<std::vector<TensorDeclaration>> SubgraphReader::Declarations(Side side) {
  const auto* listed = side == Side::kInputs ? subgraph_.inputs() : subgraph_.outputs();
  HEARTH_ASSIGN(const std::vector<int32_t> indices, CopyIndices(listed, "the list of model inputs or outputs"));
  HEARTH_ASSIGN(const auto aliases, AliasesOf(side));
  std::vector<TensorDeclaration> declarations;
  for (const int32_t tensor : indices) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model inputs or outputs"));
    TensorDeclaration declared = DeclarationOf(tensor, aliases);
    if (!budget_.Charge(declared.name.size() + declared.alias.size()))
      return CopyBudget::Exceeded(tensors_.Label(tensor));
    declarations.push_back(std::move(declared));
  }
  return declarations;
}

Status SubgraphReader::SetInputShape(int32_t tensor, const TensorDeclaration& declared,
                                     const std::vector<int32_t>& dims) {
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
  const Shape shape = Shape::FromSpan(dims);
  HEARTH_ASSIGN(const Shape stored, tensors_.ShapeOf(tensor));
  if (declared.has_shape && shape == stored) return Status::Ok();
  tensors_.SetShape(tensor, shape);
  has_open_shape_[tensor] = true;
  return Status::Ok();
}

Status SubgraphReader::CheckInput(int32_t tensor) {
  constexpr std::string_view kWhere = "the caller of the model";
  if (tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kUnsupported, "{} writes {}, which is state of the model", kWhere, tensors_.Label(tensor));
  }
  return CheckProduced(tensor, kWhere);
}

Status SubgraphReader::ReadInputs(std::map<std::string, std::vector<int32_t>> input_shapes) {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(subgraph_.inputs(), "the list of model inputs"));
  HEARTH_ASSIGN(const auto aliases, AliasesOf(Side::kInputs));
  shapes_were_given_ = !input_shapes.empty();
  std::string names;  // for an error message
  for (const int32_t tensor : inputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model inputs"));
    HEARTH_TRY(CheckInput(tensor));
    if (sources_[tensor] == Source::kReady) {
      return Error(StatusCode::kMalformedInput, "{} is listed twice as a model input", tensors_.Label(tensor));
    }
    sources_[tensor] = Source::kReady;
    const TensorDeclaration declared = DeclarationOf(tensor, aliases);
    has_open_shape_[tensor] = declared.has_shape && declared.IsDynamic();
    for (const std::string& name : {declared.name, declared.alias}) {
      const auto given = input_shapes.find(name);
      if (given == input_shapes.end()) continue;
      HEARTH_TRY(SetInputShape(tensor, declared, given->second));
      input_shapes.erase(given);
    }
    HEARTH_ASSIGN(ValueId value, tensors_.ValueOf(tensor));
    if (graph_.IsConstant(value)) {  // empty inputs: readers know that
      value = graph_.AddValue({graph_.value(value).name, graph_.value(value).desc, std::nullopt});
    }
    graph_.inputs.push_back(value);
    if (names.size() < 1000) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", declared.name);
  }
  if (input_shapes.empty()) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "a shape was given for '{}', which is not an input of the model; it has {}", input_shapes.begin()->first,
               names.empty() ? "none" : names);
}

Status SubgraphReader::FindOutputs() {
  HEARTH_ASSIGN(output_tensors_, CopyIndices(subgraph_.outputs(), "the list of model outputs"));
  if (output_tensors_.empty()) return Error(StatusCode::kMalformedInput, "the model has no outputs");
  for (const int32_t tensor : output_tensors_) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model outputs"));
    is_model_output_[tensor] = true;
  }
  return Status::Ok();
}

// A file may list the same value as any number of outputs, and each copy has a name and scales of its own.
Result<ValueId> SubgraphReader::AddCopy(ValueId value, std::string name) {
  const TensorDesc desc = graph_.value(value).desc;
  if (!budget_.Charge(name.size()) || !budget_.ChargeScales(desc)) return CopyBudget::Exceeded("an output");
  const ValueId copy = graph_.AddValue({std::move(name), desc, std::nullopt});
  graph_.AddNode({.op = Unary{.kind = UnaryKind::kCopy}, .inputs = {value}, .outputs = {copy}});
  return copy;
}

Status SubgraphReader::ReadOutputs() {
  for (const int32_t tensor : output_tensors_) {
    HEARTH_TRY(CheckHasContent(tensor, "the list of model outputs"));
    HEARTH_ASSIGN(ValueId value, tensors_.ValueOf(tensor));
    if (IsHandle(value)) {
      return Error(StatusCode::kUnsupported,
                   "{} is a resource variable, which cannot be an output: return what it holds",
                   tensors_.Label(tensor));
    }
    if (graph_.IsState(value)) {  // a copy, because the run changes the state
      HEARTH_ASSIGN(value, AddCopy(value, graph_.value(value).name));
    }
    graph_.outputs.push_back(value);
  }
  return AddRowOutputs();
}

}  // namespace hearth
