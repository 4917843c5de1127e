// What a .tflite file says about its tensors: the flatbuffer that its metadata TFLITE_METADATA refers to, and the label
// files in the ZIP archive at the file's end. ReadTfliteMetadata (reader.h) is the way in.
#ifndef HEARTH_FRONTENDS_TFLITE_METADATA_READER_H_
#define HEARTH_FRONTENDS_TFLITE_METADATA_READER_H_

#include <cstddef>
#include <span>

#include "frontends/tflite/schema_generated.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"

namespace hearth {

// Metadata of the subgraph with that index; empty if the file has none. `model` is verified and lies in `file`, the
// whole file. Lists of tensors that are not as long as the subgraph's are left out with a warning.
Result<ModelMetadata> ReadMetadataOf(const wire::Model& model, uint32_t subgraph, std::span<const std::byte> file);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_METADATA_READER_H_
