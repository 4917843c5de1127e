// What a node holds whose operator the program registered.
#ifndef HEARTH_CORE_GRAPH_CUSTOM_NODE_H_
#define HEARTH_CORE_GRAPH_CUSTOM_NODE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/custom_op.h"

namespace hearth {

struct CustomAttribute {
  std::string name;
  bool is_list = false;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> texts;
};

struct CustomNode {
  CustomOp op;
  std::vector<std::byte> options;           // of a .tflite file
  std::vector<CustomAttribute> attributes;  // of an .onnx file
};

// Null if none has the name.
inline const CustomOp* FindCustomOp(std::span<const CustomOp> ops, std::string_view name) {
  const auto found = std::ranges::find(ops, name, &CustomOp::name);
  return found == ops.end() ? nullptr : &*found;
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_CUSTOM_NODE_H_
