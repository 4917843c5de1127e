#include "frontends/tflite/reader.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "frontends/tflite/schema_generated.h"
#include "frontends/tflite/subgraph_reader.h"
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

}  // namespace

Result<Graph> ReadTfliteModel(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_ASSIGN(const wire::Model* model, VerifiedModel(bytes));
  HEARTH_ASSIGN(const wire::SubGraph* subgraph, ChooseSubgraph(*model, options));
  SubgraphReader reader(*model, *subgraph, bytes);
  return reader.Read();
}

}  // namespace hearth
