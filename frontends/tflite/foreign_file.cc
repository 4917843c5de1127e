// Recognizes files that were given in place of a TFLite model.
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"
#include "frontends/tflite/reading.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

struct Beginning {
  std::string_view bytes, kind, advice;
};

constexpr std::string_view kModelFirst = "the model's file comes first, then its inputs";

constexpr Beginning kBeginnings[] = {
    {"\xff\xd8\xff", "a JPEG picture", kModelFirst},
    {"\x89PNG", "a PNG picture", kModelFirst},
    {"BM", "a BMP picture", kModelFirst},
    {"\x93NUMPY", "a NumPy array", kModelFirst},
    {"\x89HDF", "an HDF5 file, as Keras 2 writes models",
     "convert it: tf.lite.TFLiteConverter.from_keras_model(keras.models.load_model(FILE)).convert()"},
    {"PK\x03\x04", "a ZIP archive, as Keras 3 (.keras) and PyTorch (.pt) write models",
     "convert the model with tf.lite.TFLiteConverter or, from PyTorch, litert-torch"},
    {"version https://git-lfs", "a Git LFS pointer, not the file itself", "fetch it: git lfs pull"},
    {"<", "a web page or XML", "fetch the file itself, not the page about it"},
};

// By its version and the field behind it. Builds with a reader of such files have taken them before.
bool BeginsAsOnnx(std::string_view text) {
  return text.size() > 2 && text[0] == 0x08 && text[1] >= 1 && text[1] <= 32 &&
         std::string_view("\x12\x3a\x42").find(text[2]) != std::string_view::npos;
}

}  // namespace

Status NotTfliteError(std::span<const std::byte> bytes) {
  const std::string_view text = TextFrom(bytes);
  if (BeginsAsOnnx(text)) {
    return Error(StatusCode::kUnsupported,
                 "an ONNX model, whose reader this build of Hearth lacks: take a build with HEARTH_WITH_ONNX=ON, or "
                 "convert the model to TFLite");
  }
  for (const Beginning& beginning : kBeginnings) {
    if (!text.starts_with(beginning.bytes)) continue;
    return Error(StatusCode::kMalformedInput, "{}, not a TFLite model: {}", beginning.kind, beginning.advice);
  }
  return Error(StatusCode::kMalformedInput, "not a TFLite model: bytes 4 to 7 are '{}' instead of 'TFL3'",
               text.size() > 4 ? CleanName(text.substr(4, 4)) : "");
}

}  // namespace hearth
