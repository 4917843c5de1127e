#include "hearth/model.h"

#include <cstring>

#include "core/error.h"
#include "core/op_table.h"
#include "frontends/api/model_data.h"
#include "frontends/tflite/reader.h"
#include "hal/stopwatch.h"

namespace hearth {
namespace {

TensorInfo InfoOf(const Value& value) {
  TensorInfo info;
  info.name = value.name;
  info.dtype = DTypeName(value.desc.dtype);
  info.shape.assign(value.desc.shape.dims().begin(), value.desc.shape.dims().end());
  info.size_bytes = value.desc.size_bytes();
  if (value.desc.quantization) {
    info.scales = value.desc.quantization->scales;
    info.zero_points = value.desc.quantization->zero_points;
  }
  return info;
}

Result<Model> ReadModel(std::unique_ptr<ModelData> data) {
  const Stopwatch watch;
  HEARTH_ASSIGN(data->graph, ReadTfliteModel(data->bytes));
  data->fingerprint = FingerprintOf(data->bytes);
  DescribeModel(*data);
  data->read_ms = watch.milliseconds();
  return Model(std::move(data));
}

}  // namespace

void DescribeModel(ModelData& data) {
  data.fingerprint_hex = data.fingerprint.ToHex();
  for (ValueId value : data.graph.inputs) data.inputs.push_back(InfoOf(data.graph.value(value)));
  for (ValueId value : data.graph.outputs) data.outputs.push_back(InfoOf(data.graph.value(value)));
}

Result<Model> Model::FromFile(const std::string& path) {
  auto data = std::make_unique<ModelData>();
  data->path = path;
  HEARTH_ASSIGN(data->file, ModelFile::Open(path));
  data->bytes = data->file->bytes();
  Result<Model> model = ReadModel(std::move(data));
  return model.ok() ? std::move(model) : Result<Model>(model.status().Within(path));
}

Result<Model> Model::FromMemory(std::span<const std::byte> bytes, const std::string& name) {
  auto data = std::make_unique<ModelData>();
  data->path = name;
  data->copy.resize((bytes.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  if (!bytes.empty()) std::memcpy(data->copy.data(), bytes.data(), bytes.size());
  data->bytes = std::as_bytes(std::span(data->copy)).first(bytes.size());
  return ReadModel(std::move(data));
}

Model::Model(std::unique_ptr<ModelData> data) : data_(std::move(data)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const std::vector<TensorInfo>& Model::inputs() const {
  return data_->inputs;
}
const std::vector<TensorInfo>& Model::outputs() const {
  return data_->outputs;
}
const std::string& Model::path() const {
  return data_->path;
}
const std::string& Model::fingerprint() const {
  return data_->fingerprint_hex;
}

}  // namespace hearth
