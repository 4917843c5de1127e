// What is known of a model's inputs and outputs: descriptions, scaling of pictures, names of classes. From the metadata
// of a .tflite file (TFLite metadata), which most files lack, and from a recipe beside the model (NAME.hearth.json),
// which wins.
#ifndef HEARTH_MODEL_METADATA_H_
#define HEARTH_MODEL_METADATA_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

struct TensorMetadata {
  std::string name, description;
  std::string content;           // "feature", "image", "boxes"; empty if the file does not say
  std::vector<float> mean, std;  // of a picture's values 0 to 255: (x - mean) / std, one pair or one per channel

  // Names for indices of the last dimension (a classifier's scores), and for values (a detector's classes).
  std::vector<std::string> axis_labels, value_labels;

  // For boxes. box_type: "boundaries" (left, top, right, bottom), "upper_left" (x, y, width, height) or "center".
  // box_order: the index in the tensor of each of those four; empty: in this order. box_in_pixels: pixels, else
  // fractions of width and height.
  std::string box_type;
  std::vector<uint32_t> box_order;
  bool box_in_pixels = false;
};

// What a file beside the model, NAME.hearth.json, says of it: a JSON object of which each key may be missing.
struct Recipe {
  std::string path;                 // of the recipe; empty: there is none
  std::vector<float> mean, std;     // of pictures, for every input: one number or one per channel
  std::vector<std::string> labels;  // of classes, for every output
  std::string meaning;              // of the outputs, as `hearth run --show` has it
};

struct ModelMetadata {
  std::string name, description, version, author, license;
  std::vector<TensorMetadata> inputs, outputs;  // as many as the model has, in its order, or none
  std::vector<std::string> warnings;            // parts that are missing or damaged
  Recipe recipe;                                // its scaling is that of `inputs` too
  // Of YOLO (ultralytics' exporter): "detect", "segment", "pose", "obb" or "classify"; and of a pose the number of its
  // points and of the numbers of each, 2 or 3. Empty or 0 if the file does not say.
  std::string task;
  int32_t pose_points = 0, pose_numbers = 0;

  bool is_empty() const { return inputs.empty() && outputs.empty() && name.empty() && description.empty(); }
};

}  // namespace hearth

#endif  // HEARTH_MODEL_METADATA_H_
