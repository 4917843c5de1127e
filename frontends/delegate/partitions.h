// Which of the nodes that could be taken are taken: how many partitions, how small, and what about constants.
#ifndef HEARTH_FRONTENDS_DELEGATE_PARTITIONS_H_
#define HEARTH_FRONTENDS_DELEGATE_PARTITIONS_H_

#include <map>
#include <vector>

#include "frontends/delegate/delegate_options.h"
#include "frontends/delegate/support.h"

namespace hearth {

// An array as the interpreter takes it; lives as long as the vector.
class IntArray {
 public:
  explicit IntArray(const std::vector<int>& numbers) : storage_(numbers) {
    storage_.insert(storage_.begin(), static_cast<int>(numbers.size()));
  }
  const tflite_c::TfLiteIntArray* get() const {
    return reinterpret_cast<const tflite_c::TfLiteIntArray*>(storage_.data());
  }

 private:
  std::vector<int> storage_;
};

// By the tensor that they make: taken nodes that only prepare constants.
std::map<int, int> ConstantMakers(const tflite_c::TfLiteContext& context, const Support& support);

// The nodes to replace, by the interpreter's own partitioning. The whole network is one partition. Of a part of it,
// nodes that only prepare constants stay with the interpreter (each kernel reads the stored constant itself), then the
// largest partitions are taken that the options allow. A node that cannot be read within its partition moves from
// support.taken to support.left.
Result<std::vector<int>> NodesToReplace(tflite_c::TfLiteContext& context, const DelegateOptions& options,
                                        Support& support);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_PARTITIONS_H_
