// Selects which of the supported nodes are taken: number and size of partitions, and nodes that prepare constants.
#ifndef HEARTH_FRONTENDS_DELEGATE_PARTITIONS_H_
#define HEARTH_FRONTENDS_DELEGATE_PARTITIONS_H_

#include <map>
#include <vector>

#include "frontends/delegate/delegate_options.h"
#include "frontends/delegate/support.h"

namespace hearth {

// An array in the interpreter's form, valid while the vector lives.
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

// Taken nodes that only prepare constants, by their output tensor.
std::map<int, int> ConstantMakers(const tflite_c::TfLiteContext& context, const Support& support);

// The nodes to replace, in the interpreter's own partitions. The whole network is one partition. If only a part of it
// is taken, nodes that only prepare constants stay with the interpreter (each kernel reads the stored constant itself),
// and the largest partitions that the options allow are taken. A node that cannot be read within its partition moves
// from support.taken to support.left.
Result<std::vector<int>> NodesToReplace(tflite_c::TfLiteContext& context, const DelegateOptions& options,
                                        Support& support);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_PARTITIONS_H_
