#include "frontends/delegate/open_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "core/base/contains.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

// Operators whose output sizes depend on the content of their inputs.
constexpr std::string_view kOfData[] = {
    "WHERE", "UNIQUE",    "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SEGMENT_SUM", "IF",
    "WHILE", "CALL",      "READ_VARIABLE",          "HASHTABLE_LOOKUP",       "SKIP_GRAM",   "LSH_PROJECTION",
    "RANGE", "VAR_HANDLE"};
// The same, unless the integer operands that give the size are constants.
constexpr std::string_view kOfOperands[] = {"RESHAPE",
                                            "TILE",
                                            "FILL",
                                            "BROADCAST_TO",
                                            "ONE_HOT",
                                            "RESIZE_BILINEAR",
                                            "SLICE",
                                            "STRIDED_SLICE",
                                            "PAD",
                                            "PADV2",
                                            "MIRROR_PAD",
                                            "TRANSPOSE",
                                            "TRANSPOSE_CONV",
                                            "SCATTER_ND",
                                            "SPACE_TO_BATCH_ND",
                                            "TOPK_V2",
                                            "EXPAND_DIMS",
                                            "MEAN",
                                            "SUM",
                                            "REDUCE_PROD",
                                            "REDUCE_MAX",
                                            "REDUCE_MIN",
                                            "REDUCE_ANY",
                                            "REDUCE_ALL",
                                            "RESIZE_NEAREST_NEIGHBOR",
                                            "SPARSE_TO_DENSE",
                                            "SPLIT_V",
                                            "BATCH_TO_SPACE_ND"};
constexpr std::string_view kOfFirstOperand[] = {"FILL", "TRANSPOSE_CONV"};

bool IsRunTimeInteger(const TfLiteContext& context, int index) {
  const TfLiteTensor* tensor = TensorAt(context, index);
  return tensor != nullptr && !IsConstant(*tensor) && (tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64);
}

bool HasOpenSignature(const TfLiteContext& context, int index) {
  const TfLiteTensor* tensor = TensorAt(context, index);
  if (tensor == nullptr) return false;
  const std::span<const int> signature = Numbers(tensor->dims_signature);
  return Contains(signature, -1);
}

// Whether the file leaves an input's size open: it then says nothing about the tensors behind it.
bool HasOpenInput(const TfLiteContext& context, std::span<const InterpreterNode> plan) {
  std::set<int> made;
  for (const InterpreterNode& node : plan) {
    for (const int tensor : Numbers(node.node->inputs)) {
      if (!made.contains(tensor) && HasOpenSignature(context, tensor)) return true;
    }
    for (const int tensor : Numbers(node.node->outputs)) made.insert(tensor);
  }
  return false;
}

bool MakesOpenSize(const TfLiteContext& context, const InterpreterNode& node, bool has_open_input) {
  const std::string name = node.op_name();
  if (Contains(kOfData, name)) return true;
  const std::span<const int> inputs = Numbers(node.node->inputs), outputs = Numbers(node.node->outputs);
  const size_t first = Contains(kOfFirstOperand, name) ? 0 : 1;
  for (size_t k = first; k < inputs.size() && Contains(kOfOperands, name); ++k) {
    if (IsRunTimeInteger(context, inputs[k])) return true;
  }
  return !has_open_input &&
         std::any_of(outputs.begin(), outputs.end(), [&](int tensor) { return HasOpenSignature(context, tensor); });
}

}  // namespace

std::vector<LeftNode> NodesAfterOpenSizes(const TfLiteContext& context, std::span<const InterpreterNode> plan,
                                          std::span<const InterpreterNode> taken) {
  std::set<int> taken_indices, open;
  for (const InterpreterNode& node : taken) taken_indices.insert(node.index);
  const bool has_open_input = HasOpenInput(context, plan);
  std::vector<LeftNode> left;
  for (const InterpreterNode& node : plan) {
    const std::span<const int> inputs = Numbers(node.node->inputs), outputs = Numbers(node.node->outputs);
    const auto read = std::find_if(inputs.begin(), inputs.end(), [&](int tensor) { return open.contains(tensor); });
    const bool is_taken = taken_indices.contains(node.index);
    if (is_taken && read != inputs.end()) {
      left.push_back({node.index, "",
                      fmt::format("the size of {} is known only while the network runs", TensorLabel(context, *read))});
    }
    if (read != inputs.end() || (!is_taken && MakesOpenSize(context, node, has_open_input))) {
      open.insert(outputs.begin(), outputs.end());
    }
  }
  return left;
}

}  // namespace hearth
