#include "hearth/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/float_environment.h"
#include "core/base/text.h"
#include "core/graph/constant_results.h"
#include "core/graph/evaluate.h"
#include "core/graph/shorter_outputs.h"
#include "frontends/api/custom_ops.h"
#include "frontends/api/model_formats.h"
#include "frontends/api/option_table.h"
#include "frontends/api/recipe.h"
#include "hal/device/stopwatch.h"
#include "runtime/model/model_data.h"

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
  info.declared_shape = info.shape;
  return info;
}

bool LeavesOnlyBatchOpen(const TensorDeclaration& declared) {
  return std::find(declared.shape.begin() + 1, declared.shape.end(), -1) == declared.shape.end();
}

// A scalar of a file without shapes counts as known.
bool IsLeftOpen(const TensorDeclaration& declared, const ModelOptions& options) {
  const bool given = options.input_shapes.contains(declared.name) || options.input_shapes.contains(declared.alias);
  return declared.IsDynamic() && declared.has_shape && !given;
}

bool IsFixed(const TensorDeclaration& declared, const ModelOptions& options) {
  return options.constants.contains(declared.name) || options.constants.contains(declared.alias);
}

void AddDeclaration(const TensorDeclaration& declared, TensorInfo& info) {
  info.alias = declared.alias;
  info.declared_shape = declared.shape;
  info.dimensions = declared.dimensions;
}

void AddInterface(const ModelInterface& interface, const ModelOptions& options, ModelData& data) {
  data.signature = interface.signature;
  data.signatures = interface.signatures;
  size_t k = 0;
  for (const TensorDeclaration& declared : interface.inputs) {
    if (IsFixed(declared, options)) continue;
    TensorInfo& input = data.inputs[k];
    input.decides_shapes = Contains(data.graph.shape_inputs, data.graph.inputs[k]);
    ++k;
    AddDeclaration(declared, input);
    if (!IsLeftOpen(declared, options)) continue;
    data.open_inputs.push_back({declared.name, ShapeText(declared.shape), ShapeText(input.shape)});
    if (LeavesOnlyBatchOpen(declared)) continue;  // a batch of 1 is meant
    data.shape_warnings.push_back(
        fmt::format("the file leaves the shape of input '{}' ({}) open; {} is taken, --shape '{}=...' "
                    "chooses another",
                    declared.name, DeclaredText(input), ShapeText(input.shape), declared.name));
  }
  for (k = 0; k < interface.outputs.size(); ++k) AddDeclaration(interface.outputs[k], data.outputs[k]);
}

// Of a value that was made of the scores of an output. The file declares it as it does the scores, but for the last
// dimension, which the value lacks or Hearth chooses.
TensorInfo InfoOfMade(const Value& value, const TensorInfo& scores) {
  TensorInfo info = InfoOf(value);
  info.declared_shape = scores.declared_shape;
  if (info.declared_shape.empty()) return info;
  info.declared_shape.pop_back();
  if (info.shape.size() == scores.shape.size()) info.declared_shape.push_back(info.shape.back());
  return info;
}

// Of an output that became another value. It keeps its position, name and alias.
void DescribeAgain(size_t output, ModelData& data) {
  TensorInfo& info = data.outputs[output];
  TensorInfo now = InfoOfMade(data.graph.value(data.graph.outputs[output]), info);
  now.name = std::move(info.name);
  now.alias = std::move(info.alias);
  info = std::move(now);
}

// By output, for MapClassesOfOutputs. The operators tell the rank and the number of scores if the file does not: these
// rarely depend on the inputs' sizes, and a mask of one channel stays one. WithShapes refuses shapes where they do.
std::vector<std::vector<int32_t>> DeclaredOutputs(const ModelData& data) {
  std::vector<std::vector<int32_t>> all;
  for (const TensorInfo& output : data.outputs) {
    std::vector<int32_t>& declared = all.emplace_back(output.declared_shape);
    if (declared.empty()) declared.assign(output.shape.size(), -1);
    const bool takes_last = declared.size() == output.shape.size() && !declared.empty() && declared.back() < 0;
    if (takes_last) declared.back() = output.shape.back();
  }
  return all;
}

Status MapClasses(ModelData& data) {
  data.class_maps = true;
  for (const size_t output : MapClassesOfOutputs(data.graph, DeclaredOutputs(data))) DescribeAgain(output, data);
  return data.graph.Validate();
}

// `made`, or with a number behind it if an output of the model has this name. Its own outputs keep their names.
std::string NameBeside(std::span<const TensorInfo> outputs, const std::string& made) {
  return FreeName(made, [&](const std::string& name) {
    return std::ranges::any_of(outputs,
                               [&](const TensorInfo& info) { return info.name == name || info.alias == name; });
  });
}

Status KeepTop(int32_t k, ModelData& data) {
  if (k < 0) return Error(StatusCode::kInvalidArgument, "top_k is {}; it is a count, or 0 for all", k);
  data.top_k = k;
  if (k == 0) return Status::Ok();
  const std::vector<size_t> changed = KeepTopOfOutputs(data.graph, k);
  const size_t count = data.outputs.size();
  for (size_t j = 0; j < changed.size(); ++j) {
    DescribeAgain(changed[j], data);
    TensorInfo places = InfoOf(data.graph.value(data.graph.outputs[data.outputs.size()]));
    const TensorInfo& best = data.outputs[changed[j]];
    places.declared_shape = best.declared_shape;
    const std::span<const TensorInfo> own = std::span(data.outputs).first(count);
    places.name = NameBeside(own, best.name + "_indices");
    if (!best.alias.empty()) places.alias = NameBeside(own, best.alias + "_indices");
    data.outputs.push_back(std::move(places));
  }
  return data.graph.Validate();
}

// Maps the other files of the model, if its format has such.
Status AppendFiles(ModelFile& file, std::vector<ModelPart>& parts) {
  const ModelFormat& format = FormatOf(file.bytes());
  if (format.list_files == nullptr) return Status::Ok();
  HEARTH_ASSIGN(const std::vector<std::string> names, format.list_files(file.bytes()));
  if (names.empty()) return Status::Ok();
  HEARTH_ASSIGN(parts, file.Append(names));
  return Status::Ok();
}

// Sizes by name, of "NAME=SIZE".
Result<std::map<std::string, int32_t>> SizesOf(const std::vector<std::string>& texts) {
  std::map<std::string, int32_t> sizes;
  for (const std::string& text : texts) {
    HEARTH_ASSIGN(const auto named, ParseNamedSize(text));
    if (!sizes.insert(named).second)
      return Error(StatusCode::kInvalidArgument, "the dimension '{}' is given twice", named.first);
  }
  return sizes;
}

// Readers take 1 for each size that the file leaves open, and operators may have no result for that.
Status WithOpenShapes(const Status& unread, const Result<ModelInterface>& interface, const ModelOptions& options) {
  if (unread.code() != StatusCode::kMalformedInput || !interface.ok()) return unread;
  std::string hint;
  for (const TensorDeclaration& declared : interface->inputs) {
    TensorInfo input;
    AddDeclaration(declared, input);
    const auto given = options.input_shapes.find(declared.name);
    if (given != options.input_shapes.end() && std::ranges::find(declared.shape, -1) != declared.shape.end()) {
      return Status(
          unread.code(),
          fmt::format("{}; input '{}' ({}) got the shape {}: another one may fit (--shape '{}=...')", unread.message(),
                      declared.name, DeclaredText(input), ShapeText(given->second), declared.name));
    }
    if (!IsLeftOpen(declared, options) || IsFixed(declared, options)) continue;
    hint += fmt::format("{} '{}' ({})", hint.empty() ? "; the file leaves open the shape of input" : ",", declared.name,
                        DeclaredText(input));
  }
  if (hint.empty()) return unread;
  return Status(unread.code(), unread.message() + hint + ": choose it with --shape 'NAME=...', since 1 is taken");
}

}  // namespace

Result<Model> ReadModel(std::unique_ptr<ModelData> data, const ModelOptions& options) {
  const DefaultFloatEnvironment environment;
  const Stopwatch watch;
  ReadOptions read_options{options.signature, options.input_shapes, 0, data->parts, options.constants};
  HEARTH_ASSIGN(read_options.dimensions, SizesOf(options.dimensions));
  HEARTH_ASSIGN(data->custom_ops, AllCustomOps(options));
  read_options.custom_ops = data->custom_ops;
  const ModelFormat& format = FormatOf(data->bytes);
  Result<Graph> graph = format.read(data->bytes, read_options);
  const Result<ModelInterface> interface = format.read_interface(data->bytes, read_options);
  if (!graph.ok()) return WithOpenShapes(graph.status(), interface, options);
  HEARTH_TRY(interface.status());
  data->graph = *std::move(graph);
  data->graph.DropUnusedConstants();
  if (data->file) data->file->ReleasePages(data->bytes);  // what was made of them is the graph's
  data->input_shapes = options.input_shapes;
  data->dimensions = options.dimensions;
  data->constants = options.constants;
  // Outputs get the shapes that the operators make, regardless of the file: users allocate memory by them. Whoever runs
  // the graph reports what cannot be inferred.
  static_cast<void>(InferShapes(data->graph));
  DescribeModel(*data);
  AddInterface(*interface, options, *data);
  if (options.class_maps) HEARTH_TRY(MapClasses(*data));
  HEARTH_TRY(KeepTop(options.top_k, *data));
  data->read_ms = watch.milliseconds();
  return Model(std::move(data));
}

std::string DeclaredText(const TensorInfo& info) {
  if (info.dimensions.empty()) return ShapeText(info.declared_shape);
  std::vector<std::string> parts;
  for (size_t d = 0; d < info.declared_shape.size(); ++d) {
    const bool has_name = info.declared_shape[d] < 0 && !info.dimensions[d].empty();
    parts.push_back(has_name ? info.dimensions[d] : std::to_string(info.declared_shape[d]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string OpenShapeHint(const ModelData& data, StatusCode code) {
  // A shape does not help with an unknown operator.
  if (data.open_inputs.empty() || code == StatusCode::kUnsupported) return "";
  const OpenInput& input = data.open_inputs[0];
  return fmt::format("; the file leaves the shape of input '{}' ({}) open: choose it with --shape '{}={}'", input.name,
                     input.declared, input.name, input.taken);
}

const std::string& ModelData::fingerprint() const {
  static const std::string unknown;
  const std::scoped_lock lock(fingerprint_mutex_);
  if (!fingerprint_.empty()) return fingerprint_;
  if (file && !file->CheckUnchanged({}).ok()) return unknown;
  const Result<Fingerprint> computed = file ? file->ContentFingerprint() : FingerprintOf(bytes);
  if (!computed.ok()) return unknown;
  fingerprint_ = computed->ToHex();
  return fingerprint_;
}

std::string ModelData::NameOfConstants() const {
  if (constants.empty()) return "";
  std::string all;
  for (const auto& [name, input] : constants) {
    all += fmt::format("{} {} {} {} ", name.size(), name, fmt::join(input.shape, "x"), input.bytes.size());
    all.append(reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size());
  }
  return FingerprintOf(std::as_bytes(std::span(all))).ToHex();
}

void ModelData::KnowFingerprint(const std::string& hex) const {
  const std::scoped_lock lock(fingerprint_mutex_);
  if (fingerprint_.empty()) fingerprint_ = hex;
}

Status ModelData::CheckFile() const {
  if (!file) return Status::Ok();
  const std::scoped_lock lock(fingerprint_mutex_);
  return file->CheckUnchanged(fingerprint_);
}

Result<HeldBytes> ModelData::HoldFile() const {
  HEARTH_TRY(CheckFile());
  return file ? file->Hold() : HeldBytes();
}

Result<HeldBytes> ModelData::HoldDescription() const {
  HEARTH_TRY(CheckFile());
  if (!file) return HeldBytes();
  std::vector<std::span<const std::byte>> weights;
  for (const Value& value : graph.values()) {
    if (!value.constant) continue;
    const Constant& constant = graph.constant(*value.constant);
    if (constant.source && file->Contains(constant.bytes)) weights.push_back(constant.bytes);
  }
  return file->Hold(std::move(weights));
}

Result<std::vector<std::byte>> ModelData::Copy(std::span<const std::byte> part) const {
  std::vector<std::byte> copied(part.size());
  if (file) {
    HEARTH_TRY(file->ReadInto(static_cast<uint64_t>(part.data() - bytes.data()), copied));
  } else {
    std::ranges::copy(part, copied.begin());
  }
  return copied;
}

Status TakeBuiltGraph(Graph graph, ModelData& data) {
  HEARTH_ASSIGN(std::optional<Graph> without_empty, WithoutEmptyTensors(graph));
  if (without_empty) data.built_graph = std::exchange(graph, *std::move(without_empty));
  data.graph = std::move(graph);
  return Status::Ok();
}

void DescribeModel(ModelData& data) {
  for (ValueId value : data.graph.inputs) data.inputs.push_back(InfoOf(data.graph.value(value)));
  for (ValueId value : data.graph.outputs) data.outputs.push_back(InfoOf(data.graph.value(value)));
  for (size_t k = 0; k < data.output_names.size(); ++k) data.outputs[k].name = data.output_names[k];
}

const ModelData& NoModelData() {
  static const ModelData none{};
  return none;
}

Result<Model> Model::FromFile(const std::string& path, const ModelOptions& options) {
  auto data = std::make_unique<ModelData>();
  data->path = path;
  HEARTH_ASSIGN(ModelFile file, ModelFile::Open(path));
  HEARTH_TRY(AppendFiles(file, data->parts).Within(path));
  data->file = std::make_shared<const ModelFile>(std::move(file));
  data->bytes = data->file->bytes();
  Result<Model> model = ReadModel(std::move(data), options);
  return model.ok() ? std::move(model) : Result<Model>(model.status().Within(path));
}

Result<Model> Model::FromMemory(std::span<const std::byte> bytes, const std::string& name,
                                const ModelOptions& options) {
  auto data = std::make_unique<ModelData>();
  data->path = name;
  std::vector<std::max_align_t> copy((bytes.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  data->copy = std::make_shared<const std::vector<std::max_align_t>>(std::move(copy));
  data->bytes = std::as_bytes(std::span(*data->copy)).first(bytes.size());
  return ReadModel(std::move(data), options);
}

Model::Model(std::unique_ptr<ModelData> data) : data_(std::move(data)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelData& Model::data() const {
  return data_ != nullptr ? *data_ : NoModelData();
}

const std::vector<TensorInfo>& Model::inputs() const {
  return data().inputs;
}
const std::vector<TensorInfo>& Model::outputs() const {
  return data().outputs;
}
const std::string& Model::signature() const {
  return data().signature;
}
const std::vector<std::string>& Model::signatures() const {
  return data().signatures;
}
const std::string& Model::path() const {
  return data().path;
}
const std::string& Model::fingerprint() const {
  return data().fingerprint();
}

Result<ModelMetadata> Model::ReadMetadata() const {
  if (data().bytes.empty()) return ModelMetadata();
  HEARTH_ASSIGN(const HeldBytes held, data().HoldDescription());
  Result<ModelMetadata> metadata =
      FormatOf(data().bytes).read_metadata(data().bytes, {data().signature, {}, 0, data().parts});
  if (!metadata.ok()) return metadata.status().Within(data().path);
  Result<Recipe> recipe = data().file ? ReadRecipe(data().path) : Recipe();
  if (!recipe.ok()) {
    metadata->warnings.push_back(recipe.status().message() + "; it is not used");
    return metadata;
  }
  metadata->recipe = std::move(recipe).value();
  if (!metadata->recipe.mean.empty()) {
    metadata->inputs.resize(inputs().size());
    for (TensorMetadata& input : metadata->inputs) {
      input.mean = metadata->recipe.mean;
      input.std = metadata->recipe.std;
    }
  }
  return metadata;
}

}  // namespace hearth
