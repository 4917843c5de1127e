// Which model, which of its functions, and the shapes that its file leaves open.
#ifndef HEARTH_TOOLS_HEARTH_MODEL_FLAGS_H_
#define HEARTH_TOOLS_HEARTH_MODEL_FLAGS_H_

#include <string>
#include <vector>

#include "hearth/model.h"
#include "tools/hearth/model_inputs.h"

namespace hearth {

// MODEL, --signature, --shape.
class ModelFlags {
 public:
  void AddOptions(CLI::App& app);
  // Without MODEL, for verbs that take several.
  void AddChoices(CLI::App& app);

  const std::string& path() const { return path_; }

  // What the command line says; open shapes that it does not say are those of the input's files in `inputs`, which
  // may be null. kInvalidArgument for a shape that is none.
  Result<ModelOptions> Options(const InputOptions* inputs) const;

 private:
  std::string path_, signature_;
  std::vector<std::string> shapes_;  // "NAME=1x224x224x3"
};

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_MODEL_FLAGS_H_
