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

// The dense tensor of `shape` (row-major) whose elements other than zero are `values`, in the order in which
// `sparsity` walks over the dimensions: each is dense or a compressed list (TACO's formats, Kjolstad et al. 2017),
// blocks are dimensions of their own behind the tensor's. `element_bytes` is the size of one element, zero all of its
// bytes 0. kMalformedInput where the lists contradict each other, the shape or the number of values.
// The caller limits shape and ListBytes: a small file can ask for any amount of both.
Result<std::vector<std::byte>> MakeDense(const wire::SparsityParameters& sparsity, const Shape& shape,
                                         std::span<const std::byte> values, size_t element_bytes);

// Bytes of the lists that MakeDense copies.
size_t ListBytes(const wire::SparsityParameters& sparsity);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_SPARSE_TENSOR_H_
