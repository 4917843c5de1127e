#include "frontends/api/model_formats.h"

#include <algorithm>

#include "frontends/onnx/reader.h"
#include "frontends/tflite/reader.h"
#include "runtime/model/model_file.h"

namespace hearth {
namespace {

constexpr ModelFormat kFormats[] = {
    {"tflite", IsTfliteModel, ReadTfliteModel, ReadTfliteInterface, ReadTfliteMetadata, nullptr},
    {"onnx", IsOnnxModel, ReadOnnxModel, ReadOnnxInterface, ReadOnnxMetadata, OnnxFiles},
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
