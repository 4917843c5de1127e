// The formats of model files, recognized by a file's content.
#ifndef HEARTH_FRONTENDS_API_MODEL_FORMATS_H_
#define HEARTH_FRONTENDS_API_MODEL_FORMATS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"
#include "runtime/model/model_interface.h"

namespace hearth {

// A row of the list: the reader of one format. The functions take the whole file, aligned to 16.
struct ModelFormat {
  std::string_view name;  // "tflite"
  // By the first bytes; true says nothing about the rest.
  bool (*begins)(std::span<const std::byte> bytes);
  // The graph borrows its constants from `bytes`.
  Result<Graph> (*read)(std::span<const std::byte> bytes, const ReadOptions& options);
  Result<ModelInterface> (*read_interface)(std::span<const std::byte> bytes, const ReadOptions& options);
  Result<ModelMetadata> (*read_metadata)(std::span<const std::byte> bytes, const ReadOptions& options);
  // The other files of the model, relative to its folder and within it. Null: a format of one file.
  Result<std::vector<std::string>> (*list_files)(std::span<const std::byte> bytes);
};

// The list to extend when a format is added.
std::span<const ModelFormat> ModelFormats();

// The format that recognizes `bytes`; if none does, the first one, whose reader names the actual kind of file.
const ModelFormat& FormatOf(std::span<const std::byte> bytes, std::span<const ModelFormat> formats = ModelFormats());

// Whether the file exists and a format recognizes it.
bool BeginsAsModel(const std::string& path);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_MODEL_FORMATS_H_
