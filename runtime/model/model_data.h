// The data of a Model.
#ifndef HEARTH_RUNTIME_MODEL_MODEL_DATA_H_
#define HEARTH_RUNTIME_MODEL_MODEL_DATA_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "hearth/model.h"
#include "hearth/tensor_info.h"
#include "runtime/model/model_file.h"

namespace hearth {

struct OpenInput {
  std::string name;
  std::string declared, taken;  // "1x-1x-1x3", "1x1x1x3"
};

struct ModelData {
  std::string path;
  // Shared by the same model with other shapes.
  std::shared_ptr<const ModelFile> file;
  std::shared_ptr<const std::vector<std::max_align_t>> copy;  // of a model given in memory, for its alignment
  std::span<const std::byte> bytes;                           // of the file or the copy; empty for a built graph
  std::vector<ModelPart> parts;                               // of `bytes`, if the model has several files
  std::map<std::string, std::vector<int32_t>> input_shapes;   // chosen by the user
  std::map<std::string, FixedInput> constants;                // ModelOptions::constants
  std::vector<std::string> dimensions;                        // ModelOptions::dimensions
  std::vector<CustomOp> custom_ops;                           // ModelOptions::custom_ops, and those of op_libraries
  int32_t top_k = 0;                                          // ModelOptions::top_k
  bool class_maps = false;                                    // ModelOptions::class_maps
  Graph graph;
  std::optional<Graph> built_graph;       // as it was built, where `graph` leaves out tensors without elements
  std::vector<std::string> output_names;  // of a built graph, where one tensor may be an input or several outputs
  std::vector<TensorInfo> inputs, outputs;
  std::string signature;
  std::vector<std::string> signatures;
  std::vector<OpenInput> open_inputs;       // whose shape neither the file nor the user gives
  std::vector<std::string> shape_warnings;  // about sizes that were assumed for them
  double read_ms = 0;

  // Names what `constants` holds; empty without any.
  std::string NameOfConstants() const;

  const Graph& as_built() const { return built_graph ? *built_graph : graph; }

  // The content's fingerprint in hex. Computed at the first call, which reads the whole content, unless it was known.
  // Empty as long as it is not known and the file has changed since it was opened.
  const std::string& fingerprint() const;
  // As ModelFile::CheckUnchanged. A model without a file does not change.
  Status CheckFile() const;
  // Call it before `bytes` are read after opening: CheckFile, then ModelFile::Hold, of all, or of all but the graph's
  // constants.
  Result<HeldBytes> HoldFile() const;
  Result<HeldBytes> HoldDescription() const;
  // A copy of a part of `bytes`, read as ModelFile::ReadInto.
  Result<std::vector<std::byte>> Copy(std::span<const std::byte> part) const;
  // `bytes`, to be read once after opening, when reading the mapping may end the program. It takes 1.3 times as long.
  ContentReading content() const { return file ? file->content() : ContentOf(bytes); }
  // Sets the fingerprint if it has not been computed.
  void KnowFingerprint(const std::string& hex) const;

 private:
  mutable std::mutex fingerprint_mutex_;
  mutable std::string fingerprint_;  // once set, it stays
};

// The data of a model that was moved from.
const ModelData& NoModelData();

// "; input 'x' (1x-1x-1x3) ... --shape ...": the end of messages about shapes. Empty when all are known.
std::string OpenShapeHint(const ModelData& data, StatusCode code);

// Reads data->bytes, whose path, and file or copy, are there.
Result<Model> ReadModel(std::unique_ptr<ModelData> data, const ModelOptions& options);

// The same model, from the same bytes, with these shapes by name or alias of an input; the other inputs keep theirs.
// Errors: as Model::FromFile, kInvalidArgument if the shapes fit no input or operator, or would give an output another
// type or the model other outputs (top_k, class_maps).
Result<Model> WithShapes(const Model& model, const std::map<std::string, std::vector<int32_t>>& shapes);

// Infers the shapes of a graph that was built, and makes it the model's.
Status TakeBuiltGraph(Graph graph, ModelData& data);

// The shape in the file: "1x-1x-1x3", or with the names of dimensions "batch, 3, height, width".
std::string DeclaredText(const TensorInfo& info);

// Fills inputs and outputs from the graph.
void DescribeModel(ModelData& data);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_MODEL_MODEL_DATA_H_
