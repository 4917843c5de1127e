// What a model's outputs mean: scores of classes, boxes, key points, masks, pictures.
//
//   auto results = hearth::Interpret(*session);  // after a run
//   for (const hearth::Interpretation& result : *results)
//     for (const hearth::Box& box : result.boxes) std::printf("%s %.2f\n", box.label.c_str(), box.score);
//
// The meaning is found from shapes, names, the operators that make an output, the file's metadata (TFLite metadata) and
// the recipe beside the model. Positions are fractions of the picture's width and height, from its upper left corner.
#ifndef HEARTH_RESULTS_H_
#define HEARTH_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/export.h"
#include "hearth/model.h"
#include "hearth/model_metadata.h"
#include "hearth/session.h"
#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

enum class Meaning { kNone, kClasses, kMask, kClassMap, kImage, kBoxes, kKeypoints };
// "none", "classes", "mask", "class-map", "image", "boxes", "keypoints": the values of `hearth run --show`.
HEARTH_EXPORT std::string_view MeaningName(Meaning meaning);
HEARTH_EXPORT std::optional<Meaning> MeaningOf(std::string_view name);

// The layout of a result's numbers.
enum class Layout {
  kOther,
  kScores,          // [1,...,C]
  kDetections,      // boxes[1,N,4] (ymin, xmin, ymax, xmax), classes[1,N], scores[1,N], count[1]
  kAnchors,         // regressors[1,N,4+2P], logits[1,N,1]: MediaPipe's detectors of faces, palms and people
  kYoloObjectness,  // [1,N,5+C] or [1,5+C,N]: centre x, y, width, height, objectness, scores (YOLO v5)
  kYoloScores,      // [1,4+C,N] or [1,N,4+C]: centre x, y, width, height, scores (YOLO v8, v9, v11)
  kYoloListed,      // [1,N,6]: left, top, right, bottom, score, class (YOLO v10); others may follow
  kYoloCells,       // like kYoloObjectness, but still relative to the cells of its grids (YOLOX)
  kYoloPoses,       // like kYoloScores, and K times x, y, probability behind the scores
  kYoloRotated,     // like kYoloScores, and an angle in radians behind the scores
  kOneChannel,      // [1,H,W,1] or [1,H,W]
  kTwoChannels,     // [1,H,W,2]: background, foreground
  kScoresPerPixel,  // [1,H,W,C]
  kClassPerPixel,   // [1,H,W] or [1,H,W,1] of integers
  kPixels,          // [1,H,W,1 or 3]
  kHeatmaps,        // heatmaps[1,h,w,K], and offsets[1,h,w,2K] if there are any
  kPointsInPixels,  // K times x, y, z in pixels of the input
  kPosePoints,      // 39 times x, y in pixels of the input, z, visibility, presence (BlazePose); 33 are of the body
  kScoredPoints,    // [1,1,K,3]: y, x as fractions of the picture, score
};

// One result: an output, or several that belong together.
struct ResultGroup {
  Meaning meaning = Meaning::kNone;
  Layout layout = Layout::kOther;
  std::string reason;                     // why: "TFLite_Detection_PostProcess makes it"
  std::vector<size_t> outputs;            // in the layout's order; the first stands for the group
  int input_height = 0, input_width = 0;  // of the input for pictures
  bool is_asked_for = false;              // by the user: the values are not checked for it
  // Of YOLO's poses, where the file says how many points they have, and numbers a point.
  int32_t pose_points = 0, pose_numbers = 0;
};

struct ScoredClass {
  size_t class_index = 0;
  std::string label;  // empty if there is none
  float score = 0;
};

struct KeyPoint {
  float x = 0, y = 0;
  float score = 1;  // 1 if the model gives none
};

// Names of key points and the limbs between them.
struct Skeleton {
  std::string_view name;  // "body", "hand", "face", "corners"
  size_t point_count = 0;
  std::span<const std::string_view> point_names;     // empty if points have numbers only
  std::span<const std::pair<size_t, size_t>> limbs;  // between two points; empty for a cloud of points
};

struct Box {
  size_t class_index = 0;
  std::string label;  // empty if there is none
  float score = 0;
  float left = 0, top = 0, right = 0, bottom = 0;
  // Of a face: right eye, left eye, nose, mouth, right ear, left ear. Palms have 7 points, people 4 or a pose's. The
  // corners of a rotated box, which left to bottom hold: clockwise from the one that is upper left before it is turned.
  std::vector<KeyPoint> points;
  const Skeleton* skeleton = nullptr;  // of the points; lives as long as the process; null: no names, no limbs
};

struct KeyPoints {
  const Skeleton* skeleton = nullptr;  // lives as long as the process; null: no names, no limbs
  float score = 1;                     // that there is an object at all
  std::vector<KeyPoint> points;
};
// The point's name, or its number.
HEARTH_EXPORT std::string PointName(const Skeleton* skeleton, size_t point);

// [height][width]: the foreground's probability, 0 to 1, or the class.
struct PixelMap {
  int height = 0, width = 0;
  std::vector<float> values;
};

struct ClassArea {
  size_t class_index = 0;
  std::string label;  // empty if there is none
  float share = 0;    // of all pixels
};

// One result's numbers, decoded. Members that its meaning does not have are empty.
struct Interpretation {
  ResultGroup group;
  // Of the group's outputs, in its order: dequantized, and pictures with channels first (ONNX's) have them last.
  std::vector<TensorInfo> infos;
  std::vector<std::vector<float>> values;
  std::vector<std::string> labels;  // of all classes, perhaps guessed (the reason says it); empty if there are none
  float min_score = 0;

  std::vector<ScoredClass> classes;  // highest first; among equals the lower index first
  std::vector<Box> boxes;            // highest first, none below min_score
  KeyPoints points;
  PixelMap map;                  // of a mask or class map; of boxes with masks: 1 + the box's place, 0 for no box
  std::vector<ClassArea> areas;  // of a class map: the classes that occur, largest first
};

struct InterpretOptions {
  // Outputs whose shape allows it get this meaning, the others none. Without one, the recipe's, else what is found.
  std::optional<Meaning> meaning;
  std::vector<std::string> labels;  // of classes; else the recipe's, the file's, those of a data set with as many
  size_t top = 5;                   // how many classes of scores
  float min_score = 0.5f;           // of boxes, and of key points in pictures
  // With `meaning`, where an output's shape allows several layouts that have it, such as kYoloObjectness and
  // kYoloCells.
  std::optional<Layout> layout = {};
};

// Finds the meaning once and decodes many runs. Threads: any, each with its own session.
class HEARTH_EXPORT Interpreter {
 public:
  // kInvalidArgument if no output can have the wanted meaning; kMalformedInput for a recipe whose meaning is none.
  // Metadata that can't be read counts as none.
  static Result<Interpreter> Create(const Model& model, InterpretOptions options = {});
  // With what the caller has read. `asked_by`: how the user gave options.meaning, in messages.
  static Result<Interpreter> Create(const Model& model, const ModelMetadata& metadata, InterpretOptions options,
                                    const std::string& asked_by);

  // Every output is in one. A run's values can still show that it is not what its shape says: then its result has no
  // meaning, and a reason that begins with "not sure". They can also settle what its shape leaves open.
  const std::vector<ResultGroup>& groups() const { return groups_; }
  const std::vector<std::string>& LabelsOf(size_t group) const { return labels_[group]; }

  // The results of `session`'s last run, which must be of the same model; make the interpreter again after a resize
  // (kInvalidArgument). kUnsupported for element types without numbers. Zeros before the first run.
  Result<std::vector<Interpretation>> Interpret(const Session& session) const;
  Result<Interpretation> InterpretGroup(const Session& session, size_t group) const;

 private:
  InterpretOptions options_;
  std::vector<TensorInfo> outputs_;  // of the model
  std::vector<bool> are_planar_;     // by output: with channels first
  std::vector<ResultGroup> groups_;
  std::vector<std::vector<std::string>> labels_;  // by group
};

// Finds and decodes: for a single run.
HEARTH_EXPORT Result<std::vector<Interpretation>> Interpret(const Session& session, InterpretOptions options = {});

// Rows of red, green and blue from the upper left corner.
struct RgbPicture {
  int width = 0, height = 0;
  std::vector<uint8_t> values;
};

// A result over or beside `picture`, the one that went in; without it over black. Text is ASCII. kInvalidArgument for
// kNone and for a picture whose values don't fit its size; kResourceExhausted over 2^27 pixels.
HEARTH_EXPORT Result<RgbPicture> Draw(const Interpretation& result, const RgbPicture& picture = {});

}  // namespace hearth

#endif  // HEARTH_RESULTS_H_
