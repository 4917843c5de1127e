// Recognizes files that were given in place of a TFLite model.
#include <cstdint>
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

// Whether the first fields of this protocol buffer are an ONNX model's: ir_version (field 1, a small number), then
// producer name (field 2), operator set (8) or graph (7).
bool LooksLikeOnnx(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return false;
  const auto at = [&](size_t k) { return std::to_integer<uint8_t>(bytes[k]); };
  constexpr uint8_t kIrVersion = 0x08, kProducer = 0x12, kGraph = 0x3a, kOperatorSet = 0x42;
  return at(0) == kIrVersion && at(1) >= 1 && at(1) <= 32 &&
         (at(2) == kProducer || at(2) == kGraph || at(2) == kOperatorSet);
}

}  // namespace

Status NotTfliteError(std::span<const std::byte> bytes) {
  const std::string_view text = TextFrom(bytes);
  for (const Beginning& beginning : kBeginnings) {
    if (!text.starts_with(beginning.bytes)) continue;
    return Error(StatusCode::kMalformedInput, "{}, not a TFLite model: {}", beginning.kind, beginning.advice);
  }
  if (LooksLikeOnnx(bytes)) {
    return Error(
        StatusCode::kMalformedInput,
        "an ONNX model, not a TFLite model: convert it with onnx2tf (onnx2tf -i FILE), or export it from PyTorch "
        "with litert-torch");
  }
  return Error(StatusCode::kMalformedInput, "not a TFLite model: bytes 4 to 7 are '{}' instead of 'TFL3'",
               text.size() > 4 ? CleanName(text.substr(4, 4)) : "");
}

}  // namespace hearth
