#include "frontends/tflite/reader.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/operator_view.h"
#include "frontends/tflite/schema_generated.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {
namespace {

constexpr uint32_t kSchemaVersion = 3;
constexpr size_t kAlignment = 16;           // of the whole file: what the format asks for buffers
constexpr uint32_t kMaxTables = 2'000'000;  // a large language model has about 100,000 tensors; bounds memory and time

// The model table, after every offset, vector and string that the schema describes was checked.
Result<const wire::Model*> VerifiedModel(std::span<const std::byte> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    return Error(StatusCode::kInvalidArgument, "the model's bytes are not aligned to {}: map or copy the file",
                 kAlignment);
  }
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (bytes.size() < 8 || !wire::ModelBufferHasIdentifier(data)) {
    const std::string_view text(reinterpret_cast<const char*>(data), bytes.size());
    return Error(StatusCode::kMalformedInput, "not a TFLite model: bytes 4 to 7 are '{}' instead of '{}'",
                 text.size() > 4 ? CleanName(text.substr(4, 4)) : "", wire::ModelIdentifier());
  }
  // Offsets in a flatbuffer have 31 bits; a larger file holds its constants behind it (Buffer.offset).
  const size_t size_bytes = std::min<size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  flatbuffers::Verifier::Options limits;
  limits.max_tables = kMaxTables;
  flatbuffers::Verifier verifier(data, size_bytes, limits);
  if (!wire::VerifyModelBuffer(verifier)) {
    return Error(StatusCode::kMalformedInput,
                 "a damaged TFLite model: an offset or length inside points outside its {} bytes; fetch it again",
                 bytes.size());
  }
  const wire::Model* model = wire::GetModel(data);
  if (model->version() != kSchemaVersion) {
    return Error(StatusCode::kUnsupported, "a TFLite model of schema version {}; only {} is known", model->version(),
                 kSchemaVersion);
  }
  return model;
}

Result<uint32_t> SubgraphOfSignature(const wire::Model& model, const std::string& signature) {
  std::string known;
  const uint32_t count = model.signature_defs() == nullptr ? 0 : model.signature_defs()->size();
  for (uint32_t i = 0; i < count; ++i) {
    const wire::SignatureDef& definition = *model.signature_defs()->Get(i);
    if (definition.signature_key() == nullptr) continue;
    if (definition.signature_key()->string_view() == signature) return definition.subgraph_index();
    if (known.size() > 1000) continue;  // enough for a message
    known += (known.empty() ? "" : ", ") + CleanName(definition.signature_key()->string_view().substr(0, 200));
  }
  return Error(StatusCode::kNotFound, "the model has no signature '{}'; it has: {}", signature,
               known.empty() ? "none" : known);
}

Result<const wire::SubGraph*> ChooseSubgraph(const wire::Model& model, const ReadOptions& options) {
  uint32_t index = 0;
  if (!options.signature.empty()) {
    HEARTH_ASSIGN(index, SubgraphOfSignature(model, options.signature));
  }
  const uint32_t count = model.subgraphs() == nullptr ? 0 : model.subgraphs()->size();
  if (index >= count) {
    return Error(StatusCode::kMalformedInput, "subgraph {} is asked for; the model has {} subgraphs", index, count);
  }
  return model.subgraphs()->Get(index);
}

// An entry of Model.operator_codes.
struct OperatorCode {
  const OperatorRow* row = nullptr;  // null for a custom or unknown operator
  std::string name;
};

Result<std::vector<OperatorCode>> ReadOperatorCodes(const wire::Model& model, CopyBudget& budget) {
  std::vector<OperatorCode> codes;
  const uint32_t count = model.operator_codes() == nullptr ? 0 : model.operator_codes()->size();
  for (uint32_t i = 0; i < count; ++i) {
    const wire::OperatorCode& stored = *model.operator_codes()->Get(i);
    const int32_t code = std::max<int32_t>(stored.deprecated_builtin_code(), stored.builtin_code());
    if (code < 0) return Error(StatusCode::kMalformedInput, "operator code {} is {}, below 0", i, code);
    if (code == kCustomOperator && stored.custom_code() != nullptr && stored.custom_code()->size() > 0) {
      if (!budget.Charge(stored.custom_code()->size())) {
        return CopyBudget::Exceeded(fmt::format("operator code {}", i));
      }
      codes.push_back({nullptr, CleanName(stored.custom_code()->string_view())});
    } else {
      codes.push_back({FindOperator(code), BuiltinName(code)});
    }
  }
  return codes;
}

// Where a tensor's content comes from, before any operator runs or after some did.
enum class Source : uint8_t { kNone, kLater, kReady };

class SubgraphReader {
 public:
  SubgraphReader(const wire::Model& model, const wire::SubGraph& subgraph, std::span<const std::byte> bytes)
      : model_(model), subgraph_(subgraph), budget_(bytes.size()), tensors_(model, subgraph, bytes, budget_, graph_) {}

  Result<Graph> Read() {
    HEARTH_ASSIGN(codes_, ReadOperatorCodes(model_, budget_));
    if (subgraph_.name() != nullptr && budget_.Charge(subgraph_.name()->size())) {
      graph_.name = CleanName(subgraph_.name()->string_view());
    }
    sources_.resize(tensors_.count(), Source::kNone);
    HEARTH_TRY(ReadInputs());
    HEARTH_TRY(FindOutputs());
    HEARTH_TRY(FindProducers());
    for (int index = 0; index < operator_count(); ++index) {
      HEARTH_TRY(ReadOperator(index));
    }
    HEARTH_TRY(ReadOutputs());
    return std::move(graph_);
  }

 private:
  int operator_count() const {
    return subgraph_.operators() == nullptr ? 0 : static_cast<int>(subgraph_.operators()->size());
  }
  const wire::Operator& op(int index) const { return *subgraph_.operators()->Get(index); }
  // "operator 3 (CONV_2D)"
  std::string OperatorLabel(int index) const {
    return fmt::format("operator {} ({})", index, std::string_view(CodeOf(index).name).substr(0, 200));
  }
  const OperatorCode& CodeOf(int index) const { return codes_[op(index).opcode_index()]; }

  Result<std::vector<int32_t>> CopyIndices(const flatbuffers::Vector<int32_t>* indices, std::string_view where) {
    if (indices != nullptr && !budget_.Charge(4 * size_t{indices->size()})) return CopyBudget::Exceeded(where);
    return CopyOf(indices);
  }

  Status ReadInputs();
  Status FindOutputs();
  Status ReadOutputs();
  Status FindProducers();
  Status CheckProduced(int32_t tensor, std::string_view where);
  Status CheckHasContent(int32_t tensor, std::string_view where);
  Status ReadOperator(int index);
  Status CheckInputs(int index, std::span<const int32_t> inputs);
  Result<Op> ReadOp(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  Result<bool> FoldDequantize(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  Status AddNode(int index, Op op, std::span<const int32_t> inputs, std::span<const int32_t> outputs);

  const wire::Model& model_;
  const wire::SubGraph& subgraph_;
  Graph graph_;
  CopyBudget budget_;
  TensorReader tensors_;
  std::vector<OperatorCode> codes_;
  std::vector<int32_t> output_tensors_;
  std::vector<Source> sources_;        // by tensor
  std::vector<bool> is_model_output_;  // by tensor
};

Status SubgraphReader::ReadInputs() {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(subgraph_.inputs(), "the list of model inputs"));
  for (const int32_t tensor : inputs) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model inputs"));
    HEARTH_TRY(CheckProduced(tensor, "the list of model inputs"));
    if (sources_[tensor] == Source::kReady) {
      return Error(StatusCode::kMalformedInput, "{} is listed twice as a model input", tensors_.Label(tensor));
    }
    sources_[tensor] = Source::kReady;
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    graph_.inputs.push_back(value);
  }
  return Status::Ok();
}

Status SubgraphReader::FindOutputs() {
  HEARTH_ASSIGN(output_tensors_, CopyIndices(subgraph_.outputs(), "the list of model outputs"));
  if (output_tensors_.empty()) return Error(StatusCode::kMalformedInput, "the model has no outputs");
  is_model_output_.resize(tensors_.count(), false);
  for (const int32_t tensor : output_tensors_) {
    HEARTH_TRY(tensors_.CheckIndex(tensor, "the list of model outputs"));
    is_model_output_[tensor] = true;
  }
  return Status::Ok();
}

// `tensor` is written by an operator or the caller: it must be able to hold something new.
Status SubgraphReader::CheckProduced(int32_t tensor, std::string_view where) {
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(tensor));
  HEARTH_ASSIGN(const Shape shape, tensors_.ShapeOf(tensor));
  if (!bytes.empty()) {
    return Error(StatusCode::kMalformedInput, "{} writes {}, which holds constant data", where, tensors_.Label(tensor));
  }
  if (shape.element_count() == 0) {
    return Error(StatusCode::kMalformedInput, "{} writes {}, which has no elements", where, tensors_.Label(tensor));
  }
  if (tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kUnsupported, "{} writes {}, which is state of the model", where, tensors_.Label(tensor));
  }
  return Status::Ok();
}

// Checks every operator's code and outputs, so that later an operator's input tells "made later" from "never made".
Status SubgraphReader::FindProducers() {
  for (int index = 0; index < operator_count(); ++index) {
    if (op(index).opcode_index() >= codes_.size()) {
      return Error(StatusCode::kMalformedInput, "operator {} has operator code {}; the model has {} operator codes",
                   index, op(index).opcode_index(), codes_.size());
    }
    const std::string where = OperatorLabel(index);
    HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(op(index).outputs(), where));
    if (outputs.empty() && CodeOf(index).row != nullptr && CodeOf(index).row->read != nullptr) {
      return Error(StatusCode::kMalformedInput, "{} has no output", where);
    }
    for (const int32_t tensor : outputs) {
      HEARTH_TRY(tensors_.CheckIndex(tensor, where));
      HEARTH_TRY(CheckProduced(tensor, where));
      if (sources_[tensor] != Source::kNone) {
        return Error(StatusCode::kMalformedInput, "{} writes {}, which {} already", where, tensors_.Label(tensor),
                     sources_[tensor] == Source::kReady ? "is a model input" : "another operator writes");
      }
      sources_[tensor] = Source::kLater;
    }
  }
  return Status::Ok();
}

Status SubgraphReader::CheckHasContent(int32_t tensor, std::string_view where) {
  if (sources_[tensor] == Source::kReady) return Status::Ok();
  if (sources_[tensor] == Source::kLater) {
    return Error(StatusCode::kMalformedInput,
                 "{} reads {} before it is made: the operators are out of order or form a cycle", where,
                 tensors_.Label(tensor));
  }
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(tensor));
  HEARTH_ASSIGN(const Shape shape, tensors_.ShapeOf(tensor));
  if (bytes.empty() && shape.element_count() > 0 && !tensors_.IsVariable(tensor)) {
    return Error(StatusCode::kMalformedInput, "{} reads {}, which nothing makes and which holds no data", where,
                 tensors_.Label(tensor));
  }
  sources_[tensor] = Source::kReady;
  return Status::Ok();
}

Status SubgraphReader::CheckInputs(int index, std::span<const int32_t> inputs) {
  const std::string where = OperatorLabel(index);
  for (const int32_t tensor : inputs) {
    if (tensor == -1) continue;  // an optional input that is absent
    HEARTH_TRY(tensors_.CheckIndex(tensor, where));
    HEARTH_TRY(CheckHasContent(tensor, where));
  }
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || row->read == nullptr) return Status::Ok();
  const int count = static_cast<int>(inputs.size());
  if (count < row->required_inputs || count > row->max_inputs) {
    return Error(StatusCode::kMalformedInput, "{} has {} inputs, but needs {} to {}", where, count,
                 row->required_inputs, row->max_inputs);
  }
  const int required = row->max_inputs == kAnyCount ? count : row->required_inputs;
  for (int i = 0; i < required; ++i) {
    if (inputs[i] == -1) return Error(StatusCode::kMalformedInput, "input {} of {} is absent", i, where);
  }
  if (op(index).outputs()->size() != 1) {
    return Error(StatusCode::kMalformedInput, "{} has {} outputs instead of one", where, op(index).outputs()->size());
  }
  return Status::Ok();
}

// The attributes; UnknownOp when Hearth does not know the operator in this form.
Result<Op> SubgraphReader::ReadOp(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  const OperatorCode& code = CodeOf(index);
  if (!budget_.Charge(code.name.size())) return CopyBudget::Exceeded(OperatorLabel(index));
  if (code.row == nullptr || code.row->read == nullptr) return Op(UnknownOp{code.name});
  const OperatorView view(op(index), inputs, outputs, tensors_);
  Result<Op> read = code.row->read(view);
  if (read.ok()) return read;
  // Without a shape (the file's "known at run time") a complaint about sizes says nothing.
  const bool shape_unknown = sources_[inputs[0]] == Source::kReady && view.InputHasNoShape(0);
  if (read.status().code() == StatusCode::kUnsupported || shape_unknown) return Op(UnknownOp{code.name});
  return read.status().Within(OperatorLabel(index));
}

// True for DEQUANTIZE of a float16 constant to a tensor inside the model: its readers get the constant itself.
Result<bool> SubgraphReader::FoldDequantize(int index, const std::vector<int32_t>& inputs,
                                            const std::vector<int32_t>& outputs) {
  const OperatorRow* row = CodeOf(index).row;
  if (row == nullptr || row->code != kDequantizeOperator) return false;
  if (inputs.size() != 1 || outputs.size() != 1 || inputs[0] == -1) return false;
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, tensors_.ConstantBytes(inputs[0]));
  if (bytes.empty()) return false;
  HEARTH_ASSIGN(const TensorDesc stored, tensors_.Describe(inputs[0]));
  HEARTH_ASSIGN(const TensorDesc output, tensors_.Describe(outputs[0]));
  if (stored.dtype != DType::kFloat16 || output.dtype != DType::kFloat32 || stored.shape != output.shape) return false;
  if (is_model_output_[outputs[0]]) return false;  // it keeps its own name and type
  HEARTH_ASSIGN(const ValueId constant, tensors_.ValueOf(inputs[0]));
  tensors_.Alias(outputs[0], constant);
  return true;
}

Status SubgraphReader::AddNode(int index, Op op, std::span<const int32_t> inputs, std::span<const int32_t> outputs) {
  const OperatorRow* row = CodeOf(index).row;
  if (!std::holds_alternative<UnknownOp>(op)) {
    inputs = inputs.first(std::min<size_t>(inputs.size(), row->data_inputs));
    while (!inputs.empty() && inputs.back() == -1) inputs = inputs.first(inputs.size() - 1);
  }
  Node node;
  node.op = std::move(op);
  node.source_index = index;
  for (const int32_t tensor : inputs) {
    ValueId value = kNoValue;
    if (tensor != -1) {
      HEARTH_ASSIGN(value, tensors_.ValueOf(tensor));
    }
    node.inputs.push_back(value);
  }
  for (const int32_t tensor : outputs) {
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    node.outputs.push_back(value);
  }
  graph_.AddNode(std::move(node));
  return Status::Ok();
}

Status SubgraphReader::ReadOperator(int index) {
  HEARTH_ASSIGN(const std::vector<int32_t> inputs, CopyIndices(op(index).inputs(), "an operator"));
  HEARTH_ASSIGN(const std::vector<int32_t> outputs, CopyIndices(op(index).outputs(), "an operator"));
  HEARTH_TRY(CheckInputs(index, inputs));
  HEARTH_ASSIGN(const bool folded, FoldDequantize(index, inputs, outputs));
  if (!folded) {
    HEARTH_ASSIGN(Op attributes, ReadOp(index, inputs, outputs));
    if (Status added = AddNode(index, std::move(attributes), inputs, outputs); !added.ok()) {
      return added.Within(OperatorLabel(index));
    }
  }
  for (const int32_t tensor : outputs) sources_[tensor] = Source::kReady;
  return Status::Ok();
}

Status SubgraphReader::ReadOutputs() {
  for (const int32_t tensor : output_tensors_) {
    HEARTH_TRY(CheckHasContent(tensor, "the list of model outputs"));
    HEARTH_ASSIGN(const ValueId value, tensors_.ValueOf(tensor));
    graph_.outputs.push_back(value);
  }
  return Status::Ok();
}

}  // namespace

Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_ASSIGN(const wire::Model* model, VerifiedModel(bytes));
  HEARTH_ASSIGN(const wire::SubGraph* subgraph, ChooseSubgraph(*model, options));
  SubgraphReader reader(*model, *subgraph, bytes);
  return reader.Read();
}

}  // namespace hearth
