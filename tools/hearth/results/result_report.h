// A model's results as text and JSON, and whether they look as if the picture was scaled wrongly.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_RESULT_REPORT_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_RESULT_REPORT_H_

#include <string>
#include <vector>

#include "hearth/results.h"
#include "tools/hearth/pictures/image.h"
#include "tools/hearth/printing.h"

namespace CLI {
class App;
}

namespace hearth {

// --show, --top, --labels, --min-score.
class ShowOptions {
 public:
  void AddOptions(CLI::App& app);
  // Reads the labels, before slow work. kNotFound.
  Status Prepare();

  // The meaning of the model's outputs, found or given by --show. kInvalidArgument.
  Result<Interpreter> InterpreterFor(const Model& model, const ModelMetadata& metadata) const;

  // What --show and --labels say.
  void AddTo(Recipe& recipe) const {
    if (!show_.empty()) recipe.meaning = show_;
    if (!labels_.empty()) recipe.labels = labels_;
  }
  const std::string& labels_path() const { return labels_path_; }

 private:
  std::string show_, labels_path_;
  std::vector<std::string> labels_;
  int top_ = 5;
  float min_score_ = 0.5f;
};

// Tables and sentences; empty for a result without meaning.
std::string TextOf(const Interpretation& result);
// The same in a few words: "cat 0.831, dog 0.102", "2 boxes: person 0.930, dog 0.801".
std::string LineOf(const Interpretation& result);
// The JSON keys of the group's first output: "top", "boxes", "keypoints", "mask", "areas".
Json JsonOf(const Interpretation& result);
// A sentence that names the scaling of pictures to try after `tried`; empty for a result that looks sound, or is no
// picture, mask or class map. Doubts a picture that is nearly constant or nearly all black and white, a map of one
// class, and a mask with a border as long as that of many small spots.
std::string ScalingDoubt(const Interpretation& result, const PixelScaling& tried);

// kInvalidArgument if none of the groups can be drawn; the values of a run can still settle what a layout leaves open.
Status CheckDrawable(const std::vector<ResultGroup>& groups, const std::vector<TensorInfo>& outputs);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_RESULT_REPORT_H_
