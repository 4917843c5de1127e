#include "hearth/model.h"

#include "frontends/c/answer.h"
#include "frontends/c/handles.h"

namespace hearth {
namespace {

Result<std::unique_ptr<hearth_model>> HandleOf(Result<Model> made) {
  HEARTH_ASSIGN(Model model, std::move(made));
  auto handle = std::make_unique<hearth_model>(std::move(model));
  handle->inputs = TensorsOf(handle->model.inputs());
  handle->outputs = TensorsOf(handle->model.outputs());
  return handle;
}

ModelOptions ModelOptionsOf(const hearth_options* options) {
  return options == nullptr ? ModelOptions() : options->options.model;
}

const hearth_tensor* TensorAt(const std::vector<hearth_tensor>& tensors, size_t index) {
  return index < tensors.size() ? &tensors[index] : nullptr;
}

}  // namespace
}  // namespace hearth

hearth_status hearth_model_open(const char* path, const hearth_options* options, hearth_model** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_model>> {
    HEARTH_NOT_NULL(path);
    return hearth::HandleOf(hearth::Model::FromFile(path, hearth::ModelOptionsOf(options)));
  });
}

hearth_status hearth_model_from_memory(const void* bytes, size_t size_bytes, const hearth_options* options,
                                       hearth_model** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_model>> {
    HEARTH_NOT_NULL(bytes);
    const std::span<const std::byte> content(static_cast<const std::byte*>(bytes), size_bytes);
    return hearth::HandleOf(hearth::Model::FromMemory(content, "memory", hearth::ModelOptionsOf(options)));
  });
}

hearth_status hearth_graph_build(hearth_graph* graph, hearth_model** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_model>> {
    HEARTH_NOT_NULL(graph);
    if (!graph->builder) return hearth::Error(hearth::StatusCode::kInvalidArgument, "the graph was built before");
    hearth::GraphBuilder builder = std::move(*graph->builder);
    graph->builder.reset();
    HEARTH_TRY(graph->first_mistake);
    if (graph->lacks_tensors) {
      return hearth::Error(hearth::StatusCode::kResourceExhausted,
                           "memory ran out while a tensor was added to the graph; create it again");
    }
    return hearth::HandleOf(std::move(builder).Build());
  });
}

void hearth_model_destroy(hearth_model* model) {
  if (model != nullptr && --model->users == 0) delete model;
}

const char* hearth_model_fingerprint(const hearth_model* model) {
  return model == nullptr ? nullptr : model->model.fingerprint().c_str();
}

size_t hearth_model_signature_count(const hearth_model* model) {
  return model == nullptr ? 0 : model->model.signatures().size();
}

const char* hearth_model_signature(const hearth_model* model, size_t index) {
  return index < hearth_model_signature_count(model) ? model->model.signatures()[index].c_str() : nullptr;
}

size_t hearth_model_input_count(const hearth_model* model) {
  return model == nullptr ? 0 : model->inputs.size();
}

size_t hearth_model_output_count(const hearth_model* model) {
  return model == nullptr ? 0 : model->outputs.size();
}

const hearth_tensor* hearth_model_input(const hearth_model* model, size_t index) {
  return model == nullptr ? nullptr : hearth::TensorAt(model->inputs, index);
}

const hearth_tensor* hearth_model_output(const hearth_model* model, size_t index) {
  return model == nullptr ? nullptr : hearth::TensorAt(model->outputs, index);
}

const char* hearth_tensor_name(const hearth_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->info->name.c_str();
}

const char* hearth_tensor_alias(const hearth_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->info->alias.c_str();
}

const char* hearth_tensor_dtype(const hearth_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->info->dtype.c_str();
}

size_t hearth_tensor_rank(const hearth_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->info->shape.size();
}

const int32_t* hearth_tensor_shape(const hearth_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->info->shape.data();
}

int hearth_tensor_decides_shapes(const hearth_tensor* tensor) {
  return tensor != nullptr && tensor->info->decides_shapes ? 1 : 0;
}

size_t hearth_tensor_size_bytes(const hearth_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->info->size_bytes;
}

size_t hearth_tensor_scale_count(const hearth_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->info->scales.size();
}

const float* hearth_tensor_scales(const hearth_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->info->scales.data();
}

const int64_t* hearth_tensor_zero_points(const hearth_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->info->zero_points.data();
}
