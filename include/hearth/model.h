// A network, read and checked, independent of any device.
#ifndef HEARTH_MODEL_H_
#define HEARTH_MODEL_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearth/custom_op.h"
#include "hearth/export.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

struct ModelData;  // internal

// The content of an input that is fixed while the model is read.
struct FixedInput {
  std::string
      dtype;  // as in TensorInfo; another one than the input's is converted, if integers then stay what they are
  std::vector<int32_t> shape;    // empty: the file's, with 1 for what it leaves open
  std::vector<std::byte> bytes;  // dense, in C order, little-endian
  friend bool operator==(const FixedInput&, const FixedInput&) = default;
};

struct ModelOptions {
  // The signature (named function) to read; empty: the first subgraph, and the first signature that describes it.
  std::string signature;
  // Shapes of inputs by name or alias. They set open dimensions or replace the file's shape. Open dimensions without a
  // given size have the file's placeholder size, usually 1.
  std::map<std::string, std::vector<int32_t>> input_shapes;
  // For classifiers. An output of real numbers with rows of more than top_k elements ([N], [B, N] or [B, 1, 1, N])
  // gives only the top_k largest of each row, largest first. An additional int32 output after all others, named
  // NAME_indices (NAME_indices_2, _3, ... if the model has an output of that name; aliases too), has their indices in
  // the row. The device searches, and only the result crosses to the host. An output that is quantized with several
  // scales stays as it is. 0: all.
  int32_t top_k = 0;
  // For segmentation. An output [B, H, W, C] of real numbers, with at least two scores for each of several pixels,
  // gives the int32 map [B, H, W] of the class with the largest score in each pixel; the first of equal scores counts.
  // The device searches, and only the map crosses to the host. Other outputs stay as they are. The shape in the file
  // decides (TensorInfo::declared_shape; -1 counts as several pixels), so input_shapes and Session::Resize change no
  // output's type or rank. Only if the file lacks the rank or C, those that the operators make count; a Resize that
  // would then change the type is kInvalidArgument.
  bool class_maps = false;
  // Contents of inputs by name or alias, which the model then no longer has: numbers that are the same in every run,
  // and those that decide shapes (TensorInfo::decides_shapes).
  std::map<std::string, FixedInput> constants;
  // "NAME=SIZE": the size of all open dimensions that an ONNX file gives this name. A shape in input_shapes comes
  // first.
  std::vector<std::string> dimensions;
  // Operators of one's own, each name once, and shared libraries of them (hearth/hearth_ops.h), which are opened with
  // the model. kInvalidArgument for one that can't be used.
  std::vector<CustomOp> custom_ops;
  std::vector<std::string> op_libraries;
};

// Immutable. Several threads and sessions may use it at once; it must outlive them. A model that was moved from has no
// inputs and no outputs and opens no session.
class HEARTH_EXPORT Model {
 public:
  // Maps a .tflite or .onnx file and checks all of it. kNotFound, kIoError; kMalformedInput says in one sentence what
  // is wrong and where. The file must not change while the model lives. kNotFound also for a signature that the model
  // lacks; kInvalidArgument for a shape that does not fit.
  static Result<Model> FromFile(const std::string& path, const ModelOptions& options = {});
  // The same from bytes, which are copied.
  static Result<Model> FromMemory(std::span<const std::byte> bytes, const std::string& name = "memory",
                                  const ModelOptions& options = {});

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  const std::string& signature() const;                // the one that was read; empty without one
  const std::vector<std::string>& signatures() const;  // all signatures of the file
  const std::string& path() const;
  const std::string& fingerprint() const;  // 32 hex digits over the content

  // Reads the file's metadata about inputs and outputs, and the recipe beside the file, at each call. Empty without
  // both and for a built graph. kMalformedInput: the metadata can't be read; the model works without it. A recipe that
  // can't be read is a warning in it.
  Result<ModelMetadata> ReadMetadata() const;

  // Internal.
  explicit Model(std::unique_ptr<ModelData> data);
  const ModelData& data() const;

 private:
  std::unique_ptr<ModelData> data_;
};

}  // namespace hearth

#endif  // HEARTH_MODEL_H_
