// The description of tensors in a .tflite file: the flatbuffer that its metadata TFLITE_METADATA refers to, and the
// label files in the ZIP archive at the file's end. Call ReadTfliteMetadata (reader.h).
#ifndef HEARTH_FRONTENDS_TFLITE_METADATA_READER_H_
#define HEARTH_FRONTENDS_TFLITE_METADATA_READER_H_

#include <cstddef>
#include <span>

#include "frontends/tflite/schema_generated.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"

namespace hearth {

// Metadata of the subgraph with that index; empty if the file has none. `model` is verified and part of `file`, the
// whole file. Lists of tensors with another length than the subgraph's are left out with a warning.
Result<ModelMetadata> ReadMetadataOf(const wire::Model& model, uint32_t subgraph, std::span<const std::byte> file);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_METADATA_READER_H_
