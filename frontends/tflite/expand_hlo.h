// What the operators of StableHLO have in common: lists of numbers in their options, borders that are also negative or
// between elements, the functions that they name by a subgraph.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_H_
#define HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/tflite/expansion.h"

namespace hearth {

// The numbers of a list in the options. Each is from `least` on and small enough that sums of two are sizes.
Result<std::vector<int64_t>> NumbersIn(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least);
// The same for one with a number for each dimension.
Result<std::vector<int64_t>> ListOfDims(const flatbuffers::Vector<int64_t>* list, std::string_view name, int64_t least,
                                        int rank);
// The same for different dimensions of a tensor of `rank`.
Result<std::vector<int64_t>> ListOfAxes(const flatbuffers::Vector<int64_t>* list, std::string_view name, int rank);

// `value` with `between` times `number` between two neighbours of dimension `axis`.
Result<ValueId> AddBetween(Expansion& to, ValueId value, int axis, int64_t between, double number);
// `value` with `before` and `after` times `number` around dimension `axis`; what is below 0 is cut off.
Result<ValueId> AddEdges(Expansion& to, ValueId value, int axis, int64_t before, int64_t after, double number);

// The function that an operator of this code computes of two elements, as TFLite's own or as StableHLO's.
std::optional<BinaryKind> FunctionOf(int32_t code);

// kUnsupported for elements that such a function does not take.
Status CheckElementsOf(const TensorDesc& desc, BinaryKind kind);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_H_
