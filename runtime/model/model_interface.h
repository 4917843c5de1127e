// A caller's options for reading a model file, and the inputs and outputs that the file declares.
#ifndef HEARTH_RUNTIME_MODEL_MODEL_INTERFACE_H_
#define HEARTH_RUNTIME_MODEL_MODEL_INTERFACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/contains.h"
#include "hearth/model.h"

namespace hearth {

// A file of a model whose weights lie in several: where its bytes are among those of all.
struct ModelPart {
  std::string name;  // relative to the folder of the first one, as that names it
  size_t offset_bytes = 0, size_bytes = 0;
};

struct ReadOptions {
  std::string signature;  // which signature's subgraph to read; empty: the model's first subgraph
  // Shapes of inputs, by tensor or signature name; they override the file's.
  std::map<std::string, std::vector<int32_t>> input_shapes;
  // The size from which memory limits are computed, if the bytes hold less than the model (zeros in one place for all
  // weights). 0: the size of the bytes. It never comes from a file: a small file must not ask for much memory.
  size_t file_bytes = 0;
  // The files whose bytes are given, the model's own first; empty: only that one.
  std::vector<ModelPart> parts = {};
  // Contents of inputs, by tensor or signature name: they are constants, and the graph has no such inputs.
  std::map<std::string, FixedInput> constants = {};
  // Sizes of open dimensions by the name that the file gives them; a shape of an input comes before them.
  std::map<std::string, int32_t> dimensions = {};
  // Complex inputs and outputs are float32 with real and imaginary part in a last dimension of 2; else they are
  // refused.
  bool complex_as_pairs = true;
  std::vector<CustomOp> custom_ops = {};  // checked
};

// How a file declares an input or output.
struct TensorDeclaration {
  std::string name;                          // the tensor's, as the graph's value has it
  std::string alias;                         // in the signature; empty without one
  std::vector<int32_t> shape;                // -1 where the size is known at run time only
  bool has_shape = true;                     // false: the rank is unknown (or the tensor is a scalar)
  std::vector<std::string> dimensions = {};  // the names of its dimensions, empty for none; or no list

  // A size, or the whole shape, is open.
  bool IsDynamic() const { return !has_shape || Contains(shape, -1); }
};

struct ModelInterface {
  std::string signature;                           // the one that was read; empty without one
  std::vector<std::string> signatures;             // all of the model
  std::vector<TensorDeclaration> inputs, outputs;  // of the subgraph that was read, in its order
};

}  // namespace hearth

#endif  // HEARTH_RUNTIME_MODEL_MODEL_INTERFACE_H_
