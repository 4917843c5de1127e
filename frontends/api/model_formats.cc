#include "frontends/api/model_formats.h"

#include <algorithm>

#ifdef HEARTH_WITH_ONNX
#include "frontends/onnx/reader.h"
#endif
#include "frontends/tflite/reader.h"
#include "runtime/model/model_file.h"

namespace hearth {
namespace {

constexpr ModelFormat kFormats[] = {
    {"tflite", IsTfliteModel, ReadTfliteModel, ReadTfliteInterface, ReadTfliteMetadata, nullptr},
#ifdef HEARTH_WITH_ONNX
    {"onnx", IsOnnxModel, ReadOnnxModel, ReadOnnxInterface, ReadOnnxMetadata, OnnxFiles},
#endif
};

}  // namespace

std::span<const ModelFormat> ModelFormats() {
  return kFormats;
}

const ModelFormat& FormatOf(std::span<const std::byte> bytes, std::span<const ModelFormat> formats) {
  const auto found = std::ranges::find_if(formats, [&](const ModelFormat& format) { return format.begins(bytes); });
  return found == formats.end() ? formats.front() : *found;
}

bool BeginsAsModel(const std::string& path) {
  const Result<ModelFile> file = ModelFile::Open(path);
  return file.ok() &&
         std::ranges::any_of(kFormats, [&](const ModelFormat& format) { return format.begins(file->bytes()); });
}

}  // namespace hearth
