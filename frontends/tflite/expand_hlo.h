// Shared code for StableHLO operators: lists of numbers in options, and operations named by a subgraph.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_H_
#define HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/tflite/op_readers.h"

namespace hearth {

// The numbers of a list in the options. Each is at least `least` and small enough that sums of two are sizes.
Result<std::vector<int64_t>> NumbersIn(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least);
// The same for a list with a number for each dimension.
Result<std::vector<int64_t>> ListOfDims(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least,
                                        int rank);
// The same for distinct dimensions of a tensor of `rank`.
Result<std::vector<int64_t>> ListOfAxes(const flatbuffers::Vector<int64_t>* list, std::string_view name, int rank);

// The binary operation of an operator code of TFLite or StableHLO.
std::optional<BinaryKind> FunctionOf(int32_t code);

// kUnsupported for elements that the operation does not support.
Status CheckElementsOf(const TensorDesc& desc, BinaryKind kind);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_H_
