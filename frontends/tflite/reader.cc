#include "frontends/tflite/reader.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "frontends/tflite/subgraph_reader.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

constexpr size_t kAlignment = 16;           // of the file, as the format demands for buffers
constexpr uint32_t kMaxTables = 2'000'000;  // a large language model has about 100,000 tensors; bounds memory and time

// The model table. Every offset, vector and string that the schema describes has been checked.
Result<const wire::Model*> VerifiedModel(std::span<const std::byte> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    return Error(StatusCode::kInvalidArgument, "the model's bytes are not aligned to {}: map or copy the file",
                 kAlignment);
  }
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (!IsTfliteModel(bytes)) return NotTfliteError(bytes);
  // Flatbuffer offsets have 31 bits. A larger file holds its constants behind the flatbuffer (Buffer.offset).
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

// The subgraph and signature to read.
struct Choice {
  const wire::SubGraph* subgraph = nullptr;
  const wire::SignatureDef* signature = nullptr;  // null: no signature describes the subgraph
  uint32_t index = 0;                             // of the subgraph
};

std::vector<std::string> SignatureNames(const wire::Model& model, CopyBudget& budget) {
  std::vector<std::string> names;
  const uint32_t count = model.signature_defs() == nullptr ? 0 : model.signature_defs()->size();
  for (uint32_t i = 0; i < count; ++i) {
    const flatbuffers::String* key = model.signature_defs()->Get(i)->signature_key();
    if (key != nullptr && budget.Charge(key->size())) names.push_back(CleanName(key->string_view()));
  }
  return names;
}

Status NoSuchSignature(const wire::Model& model, const std::string& wanted, CopyBudget& budget) {
  std::string known;
  for (const std::string& name : SignatureNames(model, budget)) {
    if (known.size() > 1000) break;  // enough for an error message
    known += (known.empty() ? "" : ", ") + name.substr(0, 200);
  }
  return Error(StatusCode::kNotFound, "the model has no signature '{}'; it has: {}", CleanName(wanted),
               known.empty() ? "none" : known);
}

// The named signature. Without a name: the first one of the first subgraph, if there is one.
Result<Choice> Choose(const wire::Model& model, const std::string& wanted, CopyBudget& budget) {
  Choice choice;
  const uint32_t count = model.signature_defs() == nullptr ? 0 : model.signature_defs()->size();
  for (uint32_t i = 0; i < count && choice.signature == nullptr; ++i) {
    const wire::SignatureDef& candidate = *model.signature_defs()->Get(i);
    const flatbuffers::String* key = candidate.signature_key();
    if (wanted.empty()) {
      if (candidate.subgraph_index() == 0) choice.signature = &candidate;
    } else if (key != nullptr) {
      // Names are cleaned before they are compared, because users see only the cleaned names.
      if (!budget.Charge(key->size())) return CopyBudget::Exceeded("the model's signatures");
      if (CleanName(key->string_view()) == CleanName(wanted)) choice.signature = &candidate;
    }
  }
  if (choice.signature == nullptr && !wanted.empty()) return NoSuchSignature(model, wanted, budget);
  const uint32_t index = choice.signature == nullptr ? 0 : choice.signature->subgraph_index();
  const uint32_t subgraphs = model.subgraphs() == nullptr ? 0 : model.subgraphs()->size();
  if (index >= subgraphs) {
    return Error(StatusCode::kMalformedInput, "subgraph {} was asked for; the model has {} subgraphs", index,
                 subgraphs);
  }
  choice.subgraph = model.subgraphs()->Get(index);
  choice.index = index;
  return choice;
}

}  // namespace

bool IsTfliteModel(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && wire::ModelBufferHasIdentifier(bytes.data());
}

Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options) {
  ReadingBudget budget(std::max(bytes.size(), options.file_bytes));
  return ReadTfliteModel(bytes, options, budget);
}

Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options, ReadingBudget& budget) {
  HEARTH_ASSIGN(const wire::Model* model, VerifiedModel(bytes));
  if (!options.dimensions.empty()) {
    return Error(StatusCode::kInvalidArgument,
                 "a .tflite file gives its dimensions no names such as '{}': choose the shapes of inputs (--shape)",
                 options.dimensions.begin()->first);
  }
  HEARTH_ASSIGN(const Choice choice, Choose(*model, options.signature, budget.copies));
  GraphWriter writer(budget);
  Reading reading{*model, bytes, budget, options.complex_as_pairs};
  reading.calls.push_back(static_cast<int32_t>(choice.index));
  HEARTH_TRY(SubgraphReader(reading, writer, *choice.subgraph).Read(choice.signature, options));
  return std::move(writer.graph());
}

Result<ModelInterface> ReadTfliteInterface(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_ASSIGN(const wire::Model* model, VerifiedModel(bytes));
  ReadingBudget budget(std::max(bytes.size(), options.file_bytes));
  HEARTH_ASSIGN(const Choice choice, Choose(*model, options.signature, budget.copies));
  ModelInterface interface;
  interface.signatures = SignatureNames(*model, budget.copies);
  if (choice.signature != nullptr && choice.signature->signature_key() != nullptr) {
    interface.signature = CleanName(choice.signature->signature_key()->string_view());
  }
  GraphWriter writer(budget);
  Reading reading{*model, bytes, budget};
  SubgraphReader reader(reading, writer, *choice.subgraph);
  HEARTH_ASSIGN(interface.inputs, reader.Declarations(SubgraphReader::Side::kInputs, choice.signature));
  HEARTH_ASSIGN(interface.outputs, reader.Declarations(SubgraphReader::Side::kOutputs, choice.signature));
  return interface;
}

Result<ModelMetadata> ReadTfliteMetadata(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_ASSIGN(const wire::Model* model, VerifiedModel(bytes));
  CopyBudget budget(bytes.size());
  HEARTH_ASSIGN(const Choice choice, Choose(*model, options.signature, budget));
  return ReadMetadataOf(*model, choice.index, bytes);
}

}  // namespace hearth
