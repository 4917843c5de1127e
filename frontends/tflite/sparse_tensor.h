// Sparse constants (the format's SparsityParameters) made dense.
#ifndef HEARTH_FRONTENDS_TFLITE_SPARSE_TENSOR_H_
#define HEARTH_FRONTENDS_TFLITE_SPARSE_TENSOR_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/graph/types.h"
#include "frontends/tflite/schema_generated.h"
#include "hearth/status.h"

namespace hearth {

// The dense tensor of `shape` (row-major). `values` are its elements other than zero, in the order in which `sparsity`
// visits the dimensions. Each dimension is dense or a compressed list (TACO's formats, Kjolstad et al. 2017); blocks
// are additional dimensions after the tensor's. An element has `element_bytes` bytes, all 0 for zero. kMalformedInput
// if the lists contradict each other, the shape or the number of values.
// The caller limits shape and ListBytes: a small file can ask for any amount of both.
Result<std::vector<std::byte>> MakeDense(const wire::SparsityParameters& sparsity, const Shape& shape,
                                         std::span<const std::byte> values, size_t element_bytes);

// Bytes of the lists that MakeDense copies.
size_t ListBytes(const wire::SparsityParameters& sparsity);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_SPARSE_TENSOR_H_
