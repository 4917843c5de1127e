// Operators of one's own: what Hearth calls for a CUSTOM operator of a .tflite file, or for a node of an .onnx file
// whose operator it does not know.
#ifndef HEARTH_CUSTOM_OP_H_
#define HEARTH_CUSTOM_OP_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "hearth/hearth_ops.h"
#include "hearth/status.h"

namespace hearth {

// hearth/hearth_ops.h says when the functions are called, from which threads, and what a call holds; its `user_data`
// and `error` are null here. A status that is not ok, or an exception, is the error of the call into Hearth.
class CustomOperator {
 public:
  virtual ~CustomOperator() = default;
  // Sets dtype, rank and shape of call.outputs. Texts for `dtype` must outlive the call.
  virtual Status Infer(const hearth_op_call& call) const = 0;
  // Fills the data of call.outputs.
  virtual Status Run(const hearth_op_call& call) const = 0;
};

// For ModelOptions::custom_ops. Models and sessions share the functions' ownership.
struct CustomOp {
  std::string name;     // hearth_op::name
  std::string version;  // hearth_op::version
  std::shared_ptr<const CustomOperator> functions;
};

// The elements of a tensor whose dtype is T's.
template <typename T>
std::span<const T> Elements(const hearth_op_tensor& tensor) {
  return {static_cast<const T*>(tensor.data), tensor.size_bytes / sizeof(T)};
}
template <typename T>
std::span<T> Elements(hearth_op_tensor& tensor) {
  return {static_cast<T*>(tensor.data), tensor.size_bytes / sizeof(T)};
}

}  // namespace hearth

#endif  // HEARTH_CUSTOM_OP_H_
