// A network, read and checked, independent of any device.
#ifndef HEARTH_MODEL_H_
#define HEARTH_MODEL_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearth/export.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

struct ModelData;  // internal

struct ModelOptions {
  // Which of the model's signatures (named functions) to read; empty: the first subgraph, and the first signature
  // that describes it.
  std::string signature;
  // Shapes of inputs by name or alias: of dimensions that the file leaves open, or instead of the file's. Open
  // dimensions that are not given have the size that the file holds for now, as a rule 1.
  std::map<std::string, std::vector<int32_t>> input_shapes;
  // Answers of classifiers: an output of real numbers that is a row of more than so many ([N], [B, N], [B, 1, 1, N])
  // becomes its largest ones, largest first, and their places in the row an output more, int32, behind all others, with
  // "_indices" behind the name. The search is the device's, and only what is found crosses to the host. 0: all.
  int32_t top_k = 0;
};

// Immutable after it is made; may be used by several threads and sessions at once and must outlive them.
class HEARTH_EXPORT Model {
 public:
  // Maps a .tflite file and checks all of it. kNotFound, kIoError; kMalformedInput says in one sentence
  // what is wrong and where. The file must not change while the model lives.
  // kNotFound also for a signature that the model has not; kInvalidArgument for a shape that does not fit.
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
  const std::vector<std::string>& signatures() const;  // all that the file has
  const std::string& path() const;
  const std::string& fingerprint() const;  // 32 hex digits over the content

  // What the file says about the meaning of inputs and outputs, read anew at each call; empty for a file that says
  // nothing and for a built graph. kMalformedInput: metadata that can't be read; the model works without it.
  Result<ModelMetadata> ReadMetadata() const;

  // For Hearth's own parts.
  explicit Model(std::unique_ptr<ModelData> data);
  const ModelData& data() const { return *data_; }

 private:
  std::unique_ptr<ModelData> data_;
};

}  // namespace hearth

#endif  // HEARTH_MODEL_H_
