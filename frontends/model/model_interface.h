// What a caller may ask of a model file, and what the file declares of its inputs and outputs.
#ifndef HEARTH_FRONTENDS_MODEL_MODEL_INTERFACE_H_
#define HEARTH_FRONTENDS_MODEL_MODEL_INTERFACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hearth {

struct ReadOptions {
  std::string signature;  // which signature's subgraph to read; empty: the model's first subgraph
  // Shapes of inputs, by tensor or signature name, over those of the file.
  std::map<std::string, std::vector<int32_t>> input_shapes;
  // The size that limits on memory are reckoned from, where the bytes read hold less than the model (zeros in one place
  // for all weights). 0: that of the bytes. Never from a file: a small file must not ask for much memory.
  size_t file_bytes = 0;
};

// How a file declares an input or output.
struct TensorDeclaration {
  std::string name;            // the tensor's, as the graph's value has it
  std::string alias;           // in the signature; empty without one
  std::vector<int32_t> shape;  // -1 where the size is known at run time only
  bool has_shape = true;       // false: not even the rank is known (or the tensor is a scalar)
  bool IsDynamic() const;      // a size, or the whole shape of a tensor that may be no scalar, is left open
};

struct ModelInterface {
  std::string signature;                           // the one that was read; empty without one
  std::vector<std::string> signatures;             // all of the model
  std::vector<TensorDeclaration> inputs, outputs;  // of the subgraph that was read, in its order
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_MODEL_MODEL_INTERFACE_H_
