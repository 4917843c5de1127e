// A model's results as text, as JSON and as a picture.
#ifndef HEARTH_TOOLS_HEARTH_RESULT_REPORT_H_
#define HEARTH_TOOLS_HEARTH_RESULT_REPORT_H_

#include <string>
#include <vector>

#include "hearth/session.h"
#include "tools/hearth/decoded_results.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/result_picture.h"

namespace CLI {
class App;
}

namespace hearth {

// --show, --top, --labels, --min-score.
class ShowOptions {
 public:
  void AddOptions(CLI::App& app);
  // Reads the labels, before the slow part. kNotFound.
  Status Prepare();

  // What is to be shown of the model's outputs: what they mean, or what --show says. kInvalidArgument.
  Result<std::vector<ResultGroup>> Choose(const Model& model, const ModelMetadata& metadata) const;

  // --labels, else what the file says for outputs of this group, else none.
  std::vector<std::string> LabelsFor(const ResultGroup& group, const ModelMetadata& metadata) const;
  const std::string& labels_path() const { return labels_path_; }
  size_t top() const { return static_cast<size_t>(top_); }
  float min_score() const { return min_score_; }

 private:
  std::string show_, labels_path_;
  std::vector<std::string> labels_;
  int top_ = 5;
  float min_score_ = 0.5f;
};

// One group's numbers, decoded.
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

// kUnsupported for element types that have no numbers.
Result<DecodedResult> Decode(const ResultGroup& group, const Session& session, const ShowOptions& show,
                             const ModelMetadata& metadata);

// Tables and sentences; empty for a result that means nothing.
std::string TextOf(const DecodedResult& result, const ShowOptions& show);
// The keys that the group's first output gets: "top", "boxes", "keypoints", "mask", "areas".
Json JsonOf(const DecodedResult& result, const ShowOptions& show);
// Precondition: IsDrawable(result.group).
Image PictureOf(const DecodedResult& result, const Image& picture, const ShowOptions& show);

bool IsDrawable(const ResultGroup& group);
// kInvalidArgument, a sentence, where none of the groups is drawable.
Status CheckDrawable(const std::vector<ResultGroup>& groups, const std::vector<TensorInfo>& outputs);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_RESULT_REPORT_H_
