// Texts of a model. A graph of Hearth has none: a text is its place in the list of all that the file holds, as int64,
// and the metadata of an output says which text that is.
#ifndef HEARTH_FRONTENDS_ONNX_TEXTS_H_
#define HEARTH_FRONTENDS_ONNX_TEXTS_H_

#include <string_view>
#include <vector>

#include "frontends/onnx/proto.h"
#include "hearth/model_metadata.h"

namespace hearth::onnx {

// Each text once, in the order of the file: classes, keys and values of ai.onnx.ml, and elements of constants.
std::vector<std::string_view> TextsOf(const ModelProto& model);

// What the file says of its outputs: the texts behind numbers, and the classes behind scores; empty without any.
std::vector<TensorMetadata> OutputLabels(const ModelProto& model);

// What YOLO's exporter says that the model is for.
void ReadTask(const ModelProto& model, ModelMetadata& metadata);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_TEXTS_H_
