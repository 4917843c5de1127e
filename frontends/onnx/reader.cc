#include "frontends/onnx/reader.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "frontends/onnx/custom.h"
#include "frontends/onnx/graph_reader.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/proto.h"
#include "frontends/onnx/texts.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

// The model's own bytes, without those of the files behind it.
std::span<const std::byte> OwnBytes(std::span<const std::byte> bytes, const ReadOptions& options) {
  return options.parts.empty() ? bytes : bytes.first(options.parts[0].size_bytes);
}

Result<onnx::ModelProto> ParsedModel(std::span<const std::byte> bytes) {
  HEARTH_ASSIGN(onnx::ModelProto model, onnx::ParseModel(bytes));
  if (!model.graph) return Error(StatusCode::kMalformedInput, "a damaged ONNX file (it has no graph): fetch it again");
  HEARTH_TRY(onnx::CheckOpset(model.sets));
  return model;
}

Status CheckSignature(const ReadOptions& options) {
  if (options.signature.empty()) return Status::Ok();
  return Error(StatusCode::kNotFound, "the model has no signature '{}'; an ONNX model has none",
               CleanName(options.signature));
}

// "; the model also has ...", for an error about one operator: those that neither a row nor the program has, with how
// many nodes have them.
std::string OtherUnknown(const onnx::Reading& reading) {
  std::map<std::string, int> unknown;
  const auto count = [&](const onnx::NodeProto& node) {
    if (reading.functions.contains({node.domain, node.op_type, node.overload}) ||
        onnx::FindOperator(node.domain, node.op_type) != nullptr ||
        onnx::RegisteredOp(reading.options.custom_ops, node) != nullptr) {
      return;
    }
    const std::string domain = node.domain.empty() ? std::string() : CleanName(ShortName(node.domain)) + ".";
    ++unknown[domain + CleanName(ShortName(node.op_type))];
  };
  onnx::Visit(reading.model, {.node = count});
  if (unknown.empty()) return "";
  std::string text = "; operators of this model that Hearth does not know: ";
  for (size_t k = 0; const auto& [name, count] : unknown) {
    text += fmt::format("{}{} ({})", k == 0 ? "" : ", ", name, count);
    if (++k == 20) break;
  }
  return text;
}

// What to do where the content of a small input decides a shape, if the error does not say so itself.
std::string ConstantHint(GraphWriter& writer, const std::string& error) {
  if (writer.shape_inputs().empty() || error.find("at run time") == std::string::npos) return "";
  const std::string name = ShortName(writer.graph().value(*writer.shape_inputs().begin()).name);
  return fmt::format("; if '{}' always holds the same, fix it (--constant '{}=...')", name, name);
}

}  // namespace

bool IsOnnxModel(std::span<const std::byte> bytes) {
  return onnx::LooksLikeModel(bytes);
}

Result<Graph> ReadOnnxModel(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_TRY(CheckSignature(options));
  HEARTH_ASSIGN(const onnx::ModelProto model, ParsedModel(OwnBytes(bytes, options)));
  ReadingBudget budget(std::max(bytes.size(), options.file_bytes));
  onnx::Reading reading{model, bytes, options, budget, {}, {}, {}};
  for (const std::string_view text : onnx::TextsOf(model)) reading.texts.emplace(text, ssize(reading.texts));
  for (const onnx::FunctionProto& function : model.functions) {
    reading.functions.emplace(std::tuple(function.domain, function.name, function.overload), &function);
  }
  GraphWriter writer(budget);
  const Status read = onnx::GraphReader(reading, writer, model.sets).ReadModel(*model.graph);
  if (read.code() == StatusCode::kUnsupported)
    return Status(read.code(), read.message() + ConstantHint(writer, read.message()) + OtherUnknown(reading));
  HEARTH_TRY(read);
  return std::move(writer.graph());
}

Result<ModelInterface> ReadOnnxInterface(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_TRY(CheckSignature(options));
  HEARTH_ASSIGN(const onnx::ModelProto model, ParsedModel(OwnBytes(bytes, options)));
  HEARTH_ASSIGN(const auto sizes, onnx::NamedDimensions(*model.graph, options));
  CopyBudget budget(bytes.size());
  ModelInterface interface;
  for (const onnx::ValueInfoProto* input : onnx::InputsOf(*model.graph)) {
    if (!budget.Charge(input->name.size())) return CopyBudget::Exceeded("the names of inputs");
    TensorDeclaration& declared = interface.inputs.emplace_back(onnx::DeclarationOf(*input));
    // A size that another input's shape gives is not open; one that its own shape gives may be chosen again.
    if (options.input_shapes.contains(declared.name)) continue;
    for (size_t d = 0; d < declared.shape.size(); ++d) {
      const auto named = sizes.find((*input->dims)[d].param);
      if (declared.shape[d] < 0 && named != sizes.end()) declared.shape[d] = named->second;
    }
  }
  for (const onnx::ValueInfoProto& output : model.graph->outputs) {
    if (!budget.Charge(output.name.size())) return CopyBudget::Exceeded("the names of outputs");
    interface.outputs.push_back(onnx::DeclarationOf(output));
  }
  return interface;
}

Result<ModelMetadata> ReadOnnxMetadata(std::span<const std::byte> bytes, const ReadOptions& options) {
  HEARTH_ASSIGN(const onnx::ModelProto model, ParsedModel(OwnBytes(bytes, options)));
  ModelMetadata metadata;
  metadata.name = CleanName(model.graph->name);
  metadata.description = CleanName(model.doc);
  const std::pair<std::string_view, std::string*> kept[] = {
      {"description", &metadata.description}, {"version", &metadata.version},     {"model_version", &metadata.version},
      {"author", &metadata.author},           {"model_author", &metadata.author}, {"license", &metadata.license},
      {"model_license", &metadata.license}};
  for (const auto& [key, value] : model.metadata) {
    for (const auto& [name, text] : kept) {
      if (key == name) *text = CleanName(value);
    }
  }
  metadata.outputs = onnx::OutputLabels(model);
  onnx::ReadTask(model, metadata);
  return metadata;
}

Result<std::vector<std::string>> OnnxFiles(std::span<const std::byte> bytes) {
  HEARTH_ASSIGN(const onnx::ModelProto model, onnx::ParseModel(bytes));
  std::set<std::string> files;
  const auto add = [&](const onnx::TensorProto& tensor) {
    for (const auto& [key, value] : tensor.external) {
      if (tensor.is_external() && key == "location") files.insert(std::string(value));
    }
  };
  onnx::Visit(model, {.tensor = add});
  for (const std::string& file : files) {
    const std::filesystem::path path(file);
    const bool leads_out = path.is_absolute() || file.empty() || file.find('\0') != std::string::npos ||
                           std::ranges::any_of(path, [](const auto& part) { return part == ".."; });
    if (leads_out) {
      return Error(StatusCode::kMalformedInput, "its weights are said to lie in '{}', which is not within its folder",
                   CleanName(ShortName(file)));
    }
  }
  return std::vector<std::string>(files.begin(), files.end());
}

}  // namespace hearth
