// Describes an input or output of a model.
#ifndef HEARTH_TENSOR_INFO_H_
#define HEARTH_TENSOR_INFO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

struct TensorInfo {
  std::string name;
  std::string dtype;           // "float32", "uint8", "int8", "int32", ...
  std::vector<int32_t> shape;  // outermost dimension first; images are [batch, height, width, channels]
  size_t size_bytes = 0;       // of the dense tensor in C order, little-endian
  std::vector<float> scales;   // quantized tensors: real = scale * (stored - zero_point)
  std::vector<int64_t> zero_points;
  std::string alias;                    // its name in the model's signature; empty without one
  std::vector<int32_t> declared_shape;  // as in the file: -1 where the size is chosen when the model is opened
  std::vector<std::string> dimensions;  // the names that the file gives dimensions, "" for none; empty: none has one
  // Of an input: its content decides shapes (paddings, axes, a new shape, a count). Nothing runs until it is fixed in
  // ModelOptions::constants.
  bool decides_shapes = false;
};

}  // namespace hearth

#endif  // HEARTH_TENSOR_INFO_H_
