// What models of ai.onnx.ml share: real numbers in attributes, and scores of classes.
#ifndef HEARTH_FRONTENDS_ONNX_CLASSIC_H_
#define HEARTH_FRONTENDS_ONNX_CLASSIC_H_

#include <vector>

#include "frontends/onnx/operators.h"

namespace hearth::onnx {

// The numbers of an attribute, which may be a tensor, or of NAME_as_tensor, which may be double; none where both are
// absent.
Result<std::vector<double>> RealsOf(const OpView& op, std::string_view name);

// Operand 0 as rows of float32, or of double if it has that type: [1, features] of a vector.
Made RowsOf(OpView& op, NodeWriter& to);
Made FloatRowsOf(OpView& op, NodeWriter& to);  // as float32 in any case

// x by constant weights [results, features], plus one number for each result unless there is none.
Made LayerOf(NodeWriter& to, const Made& x, int32_t results, const std::vector<double>& weights,
             const std::vector<double>& added);

// `scores` [rows, columns] as this value of post_transform has them.
Made Transformed(NodeWriter& to, const Made& scores, std::string_view name);
inline std::string_view PostTransform(const OpView& op) {
  return op.Text("post_transform", "NONE");
}

// The numbers of the node's classes (texts.h). kMalformedInput if there are none.
Result<std::vector<int64_t>> ClassesOf(const OpView& op);
// The class that has the largest number in each row.
Made LabelOfLargest(OpView& op, NodeWriter& to, const Made& rows, const std::vector<int64_t>& classes);

// What a single column of scores says of two classes.
enum class Single : uint8_t {
  kProbability,  // how likely the second class is, which is chosen above 0.5; of LOGISTIC a difference
  kScore,        // the second is chosen above 0, and scores are shown as such probabilities
  kDifference,   // the second is chosen above 0, and the first has the opposite score
};
// What the first class shows beside it.
enum class First : uint8_t {
  kRest,  // what Single says
  kZero,
};
Made ScoresOfTwo(OpView& op, NodeWriter& to, ValueId scores, Single single);

// (class of each row, scores [rows, classes]) of scores that post_transform has not yet changed.
Results Classified(OpView& op, NodeWriter& to, const Made& scores, Single single, First first = First::kRest);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_CLASSIC_H_
