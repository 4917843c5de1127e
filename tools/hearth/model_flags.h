// Options that select a model, its signature, and the shapes that its file leaves open.
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
  // Without MODEL, for verbs with several models.
  void AddChoices(CLI::App& app);

  const std::string& path() const { return path_; }

  // The options on the command line. Open shapes that it does not give come from the input files in `inputs`, which may
  // be null. kInvalidArgument for an invalid shape.
  Result<ModelOptions> Options(const InputOptions* inputs) const;

 private:
  std::string path_, signature_;
  std::vector<std::string> shapes_;  // "NAME=1x224x224x3"
};

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_MODEL_FLAGS_H_
