// Inputs for `run` and `bench`: files of arrays, raw bytes or pictures, or random numbers.
#ifndef HEARTH_TOOLS_HEARTH_MODEL_INPUTS_H_
#define HEARTH_TOOLS_HEARTH_MODEL_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/model.h"
#include "hearth/model_metadata.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"
#include "tools/hearth/pictures/image.h"

namespace CLI {
class App;
}

namespace hearth {

// --input, --mean, --std, --random-inputs.
struct InputOptions {
  std::vector<std::string> arguments;   // "[NAME=]FILE"
  std::optional<uint64_t> random_seed;  // fills the inputs that no argument names
  PixelScaling scaling;                 // for pictures, if the file has none or the command line overrides it
  bool scaling_is_given = false;
  bool takes_many_pictures = false;  // `run` gives them to a single input one after the other

  void AddOptions(CLI::App& app);
};

struct LoadedInputs {
  std::vector<std::vector<std::byte>> bytes;  // of every input, in the model's order
  std::vector<std::string> stories;           // the conversion of each picture, as text
  std::optional<PixelScaling> tried;          // of pictures, where neither the model's file nor a recipe has one
};

// An argument without a name takes the first input that is still
// free; text before a '=' is a name only if the model has such an input (or such an alias of one). Errors (all the
// user's): kNotFound, kMalformedInput, kInvalidArgument (a wrong name, type, shape or size; an input that was not
// given).
// `metadata` says how pictures are scaled where the command line does not.
Result<LoadedInputs> LoadInputs(const InputOptions& options, std::span<const TensorInfo> inputs,
                                const ModelMetadata& metadata);

// The shapes of the files for inputs whose declared shape is open (a -1, or none), by input name: an array's shape, or
// a picture's height, width and channels; an open batch is 1. Errors as LoadInputs.
Result<std::map<std::string, std::vector<int32_t>>> ShapesOfFiles(const InputOptions& options,
                                                                  std::span<const TensorInfo> inputs);

// The array in a .npy file.
Result<FixedInput> ReadFixedInput(const std::string& path);
// Fixes inputs in `model`, with the contents of their files, which `options` then no longer has: those that decide
// shapes, and one without whose content the model cannot be read (it chooses a branch). `inputs`: as declared.
Status FixShapeInputs(const std::string& path, std::span<const TensorInfo> inputs, InputOptions& options,
                      ModelOptions& model);

// Whether the arguments are several pictures for the only input: the first one's run is followed by others.
bool AreManyPictures(const InputOptions& options, std::span<const TensorInfo> inputs);
// The first picture among the arguments that LoadInputs would use; empty if there is none.
std::string FirstPicture(const InputOptions& options, std::span<const TensorInfo> inputs);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_MODEL_INPUTS_H_
