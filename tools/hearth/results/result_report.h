// A model's results as text, JSON and a picture.
#ifndef HEARTH_TOOLS_HEARTH_RESULTS_RESULT_REPORT_H_
#define HEARTH_TOOLS_HEARTH_RESULTS_RESULT_REPORT_H_

#include <string>
#include <vector>

#include "hearth/session.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/results/decoded_results.h"
#include "tools/hearth/results/result_picture.h"

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
  Result<std::vector<ResultGroup>> Choose(const Model& model, const ModelMetadata& metadata) const;

  // The labels: of --labels, else of the file for this group's outputs, else none.
  std::vector<std::string> LabelsFor(const ResultGroup& group, const ModelMetadata& metadata) const;
  // What --show and --labels say.
  void AddTo(Recipe& recipe) const {
    if (!show_.empty()) recipe.meaning = show_;
    if (!labels_.empty()) recipe.labels = labels_;
  }
  const std::string& labels_path() const { return labels_path_; }
  size_t top() const { return static_cast<size_t>(top_); }
  float min_score() const { return min_score_; }

 private:
  std::string show_, labels_path_;
  std::vector<std::string> labels_;
  int top_ = 5;
  float min_score_ = 0.5f;
};

// The decoded numbers of a group.
struct DecodedResult {
  ResultGroup group;
  std::vector<TensorInfo> infos;  // of its outputs
  GroupValues values;
  std::vector<std::string> labels;

  std::vector<TopEntry> top;  // classes
  std::vector<Box> boxes;
  KeyPoints points;
  PixelMap map;  // mask, class map
};

// kUnsupported for element types without numbers.
Result<DecodedResult> Decode(const ResultGroup& group, const Session& session, const ShowOptions& show,
                             const ModelMetadata& metadata);

// Tables and sentences; empty for a result without meaning.
std::string TextOf(const DecodedResult& result, const ShowOptions& show);
// The JSON keys of the group's first output: "top", "boxes", "keypoints", "mask", "areas".
Json JsonOf(const DecodedResult& result, const ShowOptions& show);
// Precondition: IsDrawable(result.group).
Image PictureOf(const DecodedResult& result, const Image& picture, const ShowOptions& show);

bool IsDrawable(const ResultGroup& group);
// kInvalidArgument if none of the groups is drawable.
Status CheckDrawable(const std::vector<ResultGroup>& groups, const std::vector<TensorInfo>& outputs);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULTS_RESULT_REPORT_H_
