// Writes a model in the .tflite format into memory, for networks in another program's structures (the delegate plugin's
// interpreter). ReadTfliteModel reads the result like any file.
#ifndef HEARTH_FRONTENDS_TFLITE_MODEL_WRITER_H_
#define HEARTH_FRONTENDS_TFLITE_MODEL_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// One dimension of a sparse constant, in the order in which it is stored.
struct SparseLevelToWrite {
  int32_t dense_size = 0;                  // if dense
  std::vector<int32_t> segments, indices;  // if compressed: then segments is not empty
};
struct SparsityToWrite {
  std::vector<int32_t> traversal_order, block_map;
  std::vector<SparseLevelToWrite> levels;
};

struct TensorToWrite {
  std::string name;
  std::vector<int32_t> shape;
  int8_t type = 0;  // the format's number for the element type
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int32_t quantized_dimension = 0;
  bool is_variable = false;
  bool is_open = false;             // the file leaves its size open: the reader infers dependent shapes
  std::span<const std::byte> data;  // constants; borrowed until WriteModel returns
  std::optional<SparsityToWrite> sparsity;
};

// A field of an operator's options table: its number in the table, its type and value.
struct OptionToWrite {
  enum class Kind : uint8_t { kByte, kInt32, kFloat, kInt32List };
  uint16_t field = 0;
  Kind kind = Kind::kInt32;
  int32_t number = 0;         // kByte, kInt32
  float real = 0;             // kFloat
  std::vector<int32_t> list;  // kInt32List
};

struct OperatorToWrite {
  int32_t code = 0;         // the format's builtin code
  std::string custom_name;  // if custom (code 32)
  std::vector<int32_t> inputs, outputs;
  uint8_t options_type = 0;  // the union's tag; 0: no options
  std::vector<OptionToWrite> options;
  std::span<const std::byte> custom_options;
};

struct ModelToWrite {
  std::string name;
  std::vector<TensorToWrite> tensors;
  std::vector<OperatorToWrite> operators;
  std::vector<int32_t> inputs, outputs;
};

// The bytes of a whole file, aligned to 16.
class WrittenModel {
 public:
  WrittenModel() = default;
  // `size_bytes` zeros, which take memory only when touched. Empty if there is no memory.
  explicit WrittenModel(size_t size_bytes, size_t file_bytes = 0);
  std::span<const std::byte> bytes() const { return {data_.get(), size_bytes_}; }
  std::span<std::byte> bytes() { return {data_.get(), size_bytes_}; }
  // The size with all constants copied; see ReadOptions.
  size_t file_bytes() const { return file_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_bytes_ = 0, file_bytes_ = 0;
};

// Constants lie behind the flatbuffer and are copied once; tensors that share their data share the copy. Constants
// above `most_copied_bytes` hold zeros, all in one place: enough to find out what can run, at no cost. Only the size is
// checked; ReadTfliteModel checks the rest. kResourceExhausted if memory is too small.
Result<WrittenModel> WriteModel(const ModelToWrite& model,
                                size_t most_copied_bytes = std::numeric_limits<size_t>::max());

// Whether the reader treats input `position` of an operator as one that it changes if it is a variable tensor (the
// state of an LSTM, ...).
bool ChangesVariableInput(int32_t code, std::string_view custom_name, size_t input_count, size_t position);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_MODEL_WRITER_H_
