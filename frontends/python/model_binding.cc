#include "core/base/text.h"
#include "frontends/python/bindings.h"
#include "hearth/model.h"

namespace py = pybind11;

namespace hearth {

namespace {

py::dict DictOf(const TensorMetadata& tensor) {
  py::dict dict;
  dict["name"] = tensor.name;
  dict["description"] = tensor.description;
  dict["content"] = tensor.content;
  dict["mean"] = tensor.mean;
  dict["std"] = tensor.std;
  dict["axis_labels"] = tensor.axis_labels;
  dict["value_labels"] = tensor.value_labels;
  return dict;
}

py::dict DictOf(const ModelMetadata& metadata) {
  py::list inputs, outputs;
  for (const TensorMetadata& tensor : metadata.inputs) inputs.append(DictOf(tensor));
  for (const TensorMetadata& tensor : metadata.outputs) outputs.append(DictOf(tensor));
  py::dict dict;
  dict["name"] = metadata.name;
  dict["description"] = metadata.description;
  dict["version"] = metadata.version;
  dict["author"] = metadata.author;
  dict["license"] = metadata.license;
  dict["inputs"] = std::move(inputs);
  dict["outputs"] = std::move(outputs);
  dict["warnings"] = metadata.warnings;
  const Recipe& recipe = metadata.recipe;
  dict["recipe"] = py::dict(py::arg("path") = recipe.path, py::arg("mean") = recipe.mean, py::arg("std") = recipe.std,
                            py::arg("labels") = recipe.labels, py::arg("meaning") = recipe.meaning);
  return dict;
}

// By the input's name: type, shape and content.
using Constants = std::map<std::string, std::tuple<std::string, std::vector<int32_t>, py::bytes>>;

std::map<std::string, FixedInput> FixedInputs(const Constants& constants) {
  std::map<std::string, FixedInput> fixed;
  for (const auto& [name, array] : constants) {
    const std::span<const std::byte> bytes = BytesOf(std::string_view(std::get<2>(array)));
    fixed[name] = {std::get<0>(array), std::get<1>(array), {bytes.begin(), bytes.end()}};
  }
  return fixed;
}

}  // namespace

void BindModels(py::module_& module) {
  py::class_<TensorInfo>(module, "TensorInfo")
      .def_readonly("name", &TensorInfo::name)
      .def_readonly("alias", &TensorInfo::alias)
      .def_readonly("dtype", &TensorInfo::dtype)
      .def_readonly("shape", &TensorInfo::shape)
      .def_readonly("declared_shape", &TensorInfo::declared_shape)
      .def_readonly("decides_shapes", &TensorInfo::decides_shapes)
      .def_readonly("size_bytes", &TensorInfo::size_bytes)
      .def_readonly("scales", &TensorInfo::scales)
      .def_readonly("zero_points", &TensorInfo::zero_points);

  const auto from_file = [](const std::string& path, const std::string& signature, const InputShapes& shapes,
                            int32_t top_k, bool class_maps, const Constants& constants,
                            const std::vector<std::string>& dimensions, const std::vector<std::string>& ops,
                            const PythonOps& custom_ops) {
    const ModelOptions options{
        signature, shapes, top_k, class_maps, FixedInputs(constants), dimensions, CustomOpsOf(custom_ops), ops};
    return Value(WithoutGil([&] { return Model::FromFile(path, options); }));
  };
  const auto from_bytes = [](const py::object& content, const std::string& signature, const InputShapes& shapes,
                             int32_t top_k, bool class_maps, const Constants& constants,
                             const std::vector<std::string>& dimensions, const std::vector<std::string>& ops,
                             const PythonOps& custom_ops) {
    const BufferBytes held(content, BufferBytes::Use::kRead);
    const ModelOptions options{
        signature, shapes, top_k, class_maps, FixedInputs(constants), dimensions, CustomOpsOf(custom_ops), ops};
    return Value(WithoutGil([&] { return Model::FromMemory(held.bytes(), "memory", options); }));
  };
  py::class_<Model>(module, "Model")
      .def_static("from_file", from_file, py::arg("path"), py::arg("signature"), py::arg("shapes"), py::arg("top_k"),
                  py::arg("class_maps"), py::arg("constants"), py::arg("dimensions"), py::arg("ops"),
                  py::arg("custom_ops"))
      .def_static("from_bytes", from_bytes, py::arg("content"), py::arg("signature"), py::arg("shapes"),
                  py::arg("top_k"), py::arg("class_maps"), py::arg("constants"), py::arg("dimensions"), py::arg("ops"),
                  py::arg("custom_ops"))
      .def_property_readonly("inputs", &Model::inputs, py::return_value_policy::copy)
      .def_property_readonly("outputs", &Model::outputs, py::return_value_policy::copy)
      .def_property_readonly("signature", &Model::signature)
      .def_property_readonly("signatures", &Model::signatures)
      .def_property_readonly("path", [](const Model& model) { return PathText(model.path()); })
      .def_property_readonly("fingerprint", &Model::fingerprint)
      .def("metadata", [](const Model& model) { return DictOf(Value(model.ReadMetadata())); });
}

}  // namespace hearth
