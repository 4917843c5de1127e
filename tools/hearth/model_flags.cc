#include "tools/hearth/model_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "core/base/error.h"
#include "frontends/api/model_formats.h"
#include "frontends/model/model_file.h"

namespace hearth {
namespace {

constexpr int32_t kMaxDimension = 1 << 30;

// "1x224x224x3"
Result<std::vector<int32_t>> ParseDimensions(const std::string& text) {
  std::vector<int32_t> dimensions;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (true) {
    int32_t dimension = 0;
    const auto [next, error] = std::from_chars(at, end, dimension);
    const bool is_too_large = error == std::errc::result_out_of_range || dimension > kMaxDimension;
    if ((error != std::errc() && !is_too_large) || (next != end && *next != 'x') || dimension < 0) {
      return Error(StatusCode::kInvalidArgument, "'{}' is not a shape such as 1x224x224x3", text);
    }
    if (is_too_large) {
      return Error(StatusCode::kInvalidArgument, "'{}' has the dimension {}; at most {} is possible", text,
                   std::string_view(at, next), kMaxDimension);
    }
    dimensions.push_back(dimension);
    if (next == end) return dimensions;
    at = next + 1;
  }
}

// The inputs as declared in the file; their types are open.
Result<std::vector<TensorInfo>> DeclaredInputs(const std::string& path, const std::string& signature) {
  HEARTH_ASSIGN(const ModelFile file, ModelFile::Open(path));
  const Result<ModelInterface> interface =
      FormatOf(file.bytes()).read_interface(file.bytes(), {.signature = signature});
  if (!interface.ok()) return interface.status().Within(path);
  std::vector<TensorInfo> inputs;
  for (const TensorDeclaration& declared : interface->inputs) {
    TensorInfo info;
    info.name = declared.name;
    info.alias = declared.alias;
    info.declared_shape = declared.shape;
    inputs.push_back(std::move(info));
  }
  return inputs;
}

}  // namespace

void ModelFlags::AddOptions(CLI::App& app) {
  app.add_option("MODEL", path_, "A model file: .tflite or .onnx")->required()->type_name("");
  AddChoices(app);
}

void ModelFlags::AddChoices(CLI::App& app) {
  app.add_option("--signature", signature_, "The signature to run, by name (default: the model's first subgraph)")
      ->type_name("NAME");
  app.add_option("--shape", shapes_,
                 "The shape of an input that the file leaves open, or to replace the file's: x=1x224x224x3")
      ->type_name("NAME=SHAPE")
      ->allow_extra_args(false);
}

Result<ModelOptions> ModelFlags::Options(const InputOptions* inputs) const {
  ModelOptions options;
  options.signature = signature_;
  for (const std::string& text : shapes_) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(StatusCode::kInvalidArgument, "--shape {}: NAME=1x224x224x3 is meant, with the input's name", text);
    }
    const std::string name = text.substr(0, equals);
    if (options.input_shapes.contains(name)) {
      return Error(StatusCode::kInvalidArgument, "--shape {}: the shape of '{}' is given twice", text, name);
    }
    HEARTH_ASSIGN(options.input_shapes[name], ParseDimensions(text.substr(equals + 1)));
  }
  if (inputs == nullptr || inputs->arguments.empty() || !shapes_.empty()) return options;
  HEARTH_ASSIGN(const std::vector<TensorInfo> declared, DeclaredInputs(path_, signature_));
  HEARTH_ASSIGN(options.input_shapes, ShapesOfFiles(*inputs, declared));
  return options;
}

}  // namespace hearth
