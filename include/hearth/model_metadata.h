// What a .tflite file says about the meaning of its inputs and outputs (TFLite metadata): texts, how pictures are
// scaled, names of classes. Most files say nothing.
#ifndef HEARTH_MODEL_METADATA_H_
#define HEARTH_MODEL_METADATA_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

struct TensorMetadata {
  std::string name, description;
  std::string content;           // "feature", "image", "boxes"; empty where the file does not say
  std::vector<float> mean, std;  // of a picture's values 0 to 255: (x - mean) / std, one pair or one per channel

  // Names of what the last dimension counts (a classifier's scores), and of what values mean (a detector's classes).
  std::vector<std::string> axis_labels, value_labels;

  // For boxes: "boundaries" (left, top, right, bottom), "upper_left" (x, y, width, height) or "center"; which place of
  // the tensor each of those four takes (empty: in this order); pixels, or shares of width and height.
  std::string box_type;
  std::vector<uint32_t> box_order;
  bool box_in_pixels = false;
};

struct ModelMetadata {
  std::string name, description, version, author, license;
  std::vector<TensorMetadata> inputs, outputs;  // as many as the model has, in its order, or none
  std::vector<std::string> warnings;            // what the file promises and does not hold

  bool is_empty() const { return inputs.empty() && outputs.empty() && name.empty() && description.empty(); }
};

}  // namespace hearth

#endif  // HEARTH_MODEL_METADATA_H_
