// A network, read and checked, independent of any device.
#ifndef HEARTH_MODEL_H_
#define HEARTH_MODEL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hearth/export.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

struct ModelData;  // internal

// Immutable after it is made; may be used by several threads and sessions at once and must outlive them.
class HEARTH_EXPORT Model {
 public:
  // Maps a .tflite file and checks all of it. kNotFound, kIoError; kMalformedInput says in one sentence
  // what is wrong and where. The file must not change while the model lives.
  static Result<Model> FromFile(const std::string& path);
  // The same from bytes, which are copied.
  static Result<Model> FromMemory(std::span<const std::byte> bytes, const std::string& name = "memory");

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  const std::string& path() const;
  const std::string& fingerprint() const;  // 32 hex digits over the content

  // For Hearth's own parts.
  explicit Model(std::unique_ptr<ModelData> data);
  const ModelData& data() const { return *data_; }

 private:
  std::unique_ptr<ModelData> data_;
};

}  // namespace hearth

#endif  // HEARTH_MODEL_H_
