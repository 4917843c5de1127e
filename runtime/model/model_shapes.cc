// A model with other input shapes.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "runtime/model/model_data.h"

namespace hearth {
namespace {

using Shapes = std::map<std::string, std::vector<int32_t>>;

Status CheckDimensions(const TensorInfo& input, const std::vector<int32_t>& shape) {
  const bool is_shape = std::ranges::all_of(shape, [](int32_t dimension) { return dimension >= 0; }) &&
                        shape.size() == input.shape.size() && CheckedElementCount(Shape::FromSpan(shape)).has_value();
  if (is_shape) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "the shape for input '{}' needs {} dimensions, none negative", input.name,
               input.shape.size());
}

// Of a graph that was built: all other shapes follow from those of the inputs.
Status MakeReshaped(const ModelData& data, const Shapes& shapes, ModelData& made) {
  Graph graph = data.as_built().Clone();
  for (const Node& node : graph.nodes()) {
    for (const ValueId output : node.outputs) graph.value(output).desc.shape = Shape();
  }
  for (const auto& [name, shape] : shapes) {
    const auto input = std::ranges::find(data.inputs, name, &TensorInfo::name);
    if (input == data.inputs.end())
      return Error(StatusCode::kInvalidArgument, "a shape was given for '{}', which is not an input of the model",
                   name);
    HEARTH_TRY(CheckDimensions(*input, shape));
    graph.value(graph.inputs[static_cast<size_t>(input - data.inputs.begin())]).desc.shape = Shape::FromSpan(shape);
  }
  const Status fits = TakeBuiltGraph(std::move(graph), made);
  return fits.ok() ? fits : Status(StatusCode::kInvalidArgument, fits.message());
}

// Whether class_maps applies to an output can depend on shapes only where the file leaves its rank or scores open.
Status CheckSameTypes(const ModelData& before, const ModelData& after) {
  for (size_t k = 0; k < std::min(before.outputs.size(), after.outputs.size()); ++k) {
    const TensorInfo &was = before.outputs[k], &is = after.outputs[k];
    if (was.dtype == is.dtype) continue;
    return Error(StatusCode::kInvalidArgument,
                 "output '{}' would be {} instead of {}: the file leaves open whether it has several scores for each "
                 "pixel, so with class_maps this shape needs the model to be opened with it",
                 is.name, is.dtype, was.dtype);
  }
  return Status::Ok();
}

// Which outputs are rows of more than top_k scores depends on shapes: those that a program has opened must stay.
Status CheckSameOutputs(const ModelData& before, const ModelData& after) {
  if (std::ranges::equal(before.outputs, after.outputs, {}, &TensorInfo::name, &TensorInfo::name)) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "with top_k={} this shape would give {} outputs instead of {}, since only rows of more scores are "
               "shortened: the model must be opened with the shape",
               before.top_k, after.outputs.size(), before.outputs.size());
}

}  // namespace

Result<Model> WithShapes(const Model& model, const Shapes& shapes) {
  const ModelData& from = model.data();
  auto data = std::make_unique<ModelData>();
  data->path = from.path;
  data->KnowFingerprint(from.fingerprint());
  if (from.bytes.empty()) {
    HEARTH_TRY(MakeReshaped(from, shapes, *data));
    data->output_names = from.output_names;
    DescribeModel(*data);
    return Model(std::move(data));
  }
  HEARTH_ASSIGN(const HeldBytes held, from.HoldFile());
  data->file = from.file;
  data->copy = from.copy;
  data->bytes = from.bytes;
  data->parts = from.parts;
  ModelOptions options{from.signature, from.input_shapes, from.top_k,      from.class_maps,
                       from.constants, from.dimensions,   from.custom_ops, {}};
  for (const auto& [name, shape] : shapes) {
    // The input's alias is replaced too: otherwise the input would have two shapes.
    const auto input = std::ranges::find_if(
        from.inputs, [&name = name](const TensorInfo& info) { return info.name == name || info.alias == name; });
    if (input != from.inputs.end()) options.input_shapes.erase(input->alias);
    options.input_shapes.insert_or_assign(input != from.inputs.end() ? input->name : name, shape);
  }
  HEARTH_ASSIGN(Model made, ReadModel(std::move(data), options));
  if (from.top_k > 0) HEARTH_TRY(CheckSameOutputs(from, made.data()));
  if (from.class_maps) HEARTH_TRY(CheckSameTypes(from, made.data()));
  return made;
}

}  // namespace hearth
