#include <algorithm>
#include <vector>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// Distributes `in`, seen as `rows` rows, to the outputs: each row is split among them in order.
void DealRows(int64_t rows, const ReferenceTensor& in, ReferenceOutputs outputs) {
  const double* from = in.values.data();
  for (int64_t row = 0; row < rows; ++row) {
    for (ReferenceTensor& out : outputs) {
      const int64_t length = static_cast<int64_t>(out.values.size()) / rows;
      std::copy_n(from, length, out.values.data() + row * length);
      from += length;
    }
  }
}

// The reverse: each row of the output is those of the inputs in order.
void JoinRows(int64_t rows, ReferenceInputs inputs, ReferenceTensor& out) {
  double* to = out.values.data();
  for (int64_t row = 0; row < rows; ++row) {
    for (const ReferenceTensor* input : inputs) {
      const int64_t length = static_cast<int64_t>(input->values.size()) / rows;
      to = std::copy_n(input->values.data() + row * length, length, to);
    }
  }
}

}  // namespace

Status InferConcat(const NodeInference& inference) {
  const auto& concat = inference.op<Concat>();
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& first = inference.shape(0);
  if (concat.axis >= first.rank() || concat.axis < -first.rank())
    return inference.Malformed("axis {} is outside of rank {}", concat.axis, first.rank());
  const int axis = concat.axis < 0 ? concat.axis + first.rank() : concat.axis;
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  for (size_t i = 1; i < inference.node().inputs.size(); ++i) {
    if (inference.input(i).dtype != inference.input(0).dtype) {
      return inference.Malformed("input {} is {}, input 0 is {}", i, DTypeName(inference.input(i).dtype),
                                 DTypeName(inference.input(0).dtype));
    }
    HEARTH_TRY(inference.CheckKeepsType(0, i));
    const Shape& shape = inference.shape(i);
    bool fits = shape.rank() == first.rank();
    for (int d = 0; fits && d < first.rank(); ++d) fits = d == axis || shape[d] == first[d];
    if (!fits) {
      return inference.Malformed("input {} ({}) does not fit input 0 ({}) beside axis {}", i, shape, first, axis);
    }
    dims[axis] += shape[axis];
  }
  return inference.SetOutput(0, dims);
}

void ReferenceConcat(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& concat = std::get<Concat>(node.op);
  ReferenceTensor& out = outputs[0];
  const int axis = concat.axis < 0 ? concat.axis + out.shape.rank() : concat.axis;
  JoinRows(CountBetween(out.shape, 0, axis), inputs, out);
  ApplyActivation(concat.activation, out.values);
}

Status InferSplit(const NodeInference& inference) {
  const auto& split = inference.op<Split>();
  HEARTH_TRY(inference.CheckOperands({1, 0, split.sizes.size()}));
  const Shape in = inference.shape(0);
  if (split.axis < 0 || split.axis >= in.rank())
    return inference.Malformed("dimension {} is outside of rank {}", split.axis, in.rank());
  int64_t sum = 0;
  for (int32_t size : split.sizes) sum += size;
  if (sum != in[split.axis])
    return inference.Malformed("parts of {} elements together from dimension {} of {}", sum, split.axis, in);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  for (size_t k = 0; k < split.sizes.size(); ++k) {
    HEARTH_TRY(inference.CheckKeepsType(k));
    dims[split.axis] = split.sizes[k];
    HEARTH_TRY(inference.SetOutput(k, dims));
  }
  return Status::Ok();
}

void ReferenceSplit(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  DealRows(CountBetween(inputs[0]->shape, 0, std::get<Split>(node.op).axis), *inputs[0], outputs);
}

Status InferUnpack(const NodeInference& inference) {
  const auto& unpack = inference.op<Unpack>();
  HEARTH_TRY(inference.CheckOperands({1, 0, unpack.count < 0 ? 0 : static_cast<size_t>(unpack.count)}));
  const Shape in = inference.shape(0);
  if (unpack.axis < 0 || unpack.axis >= in.rank() || in[unpack.axis] != unpack.count)
    return inference.Malformed("{} slices along dimension {} of {}", unpack.count, unpack.axis, in);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  dims.erase(dims.begin() + unpack.axis);
  for (size_t k = 0; k < inference.node().outputs.size(); ++k) {
    HEARTH_TRY(inference.CheckKeepsType(k));
    HEARTH_TRY(inference.SetOutput(k, dims));
  }
  return Status::Ok();
}

void ReferenceUnpack(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  DealRows(CountBetween(inputs[0]->shape, 0, std::get<Unpack>(node.op).axis), *inputs[0], outputs);
}

Status InferPack(const NodeInference& inference) {
  const int32_t axis = inference.op<Pack>().axis;
  const Shape& in = inference.shape(0);
  if (axis < 0 || axis > in.rank())
    return inference.Malformed("a new dimension {} is outside of rank {}", axis, in.rank() + 1);
  for (size_t k = 0; k < inference.node().inputs.size(); ++k) {
    HEARTH_TRY(inference.CheckKeepsType(0, k));
    if (inference.shape(k) != in)
      return inference.Malformed("input {} has shape {}, input 0 {}", k, inference.shape(k), in);
  }
  std::vector<int64_t> dims(in.dims().begin(), in.dims().begin() + axis);
  dims.push_back(static_cast<int64_t>(inference.node().inputs.size()));
  dims.insert(dims.end(), in.dims().begin() + axis, in.dims().end());
  return inference.SetOutput(0, dims);
}

void ReferencePack(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  JoinRows(CountBetween(outputs[0].shape, 0, std::get<Pack>(node.op).axis), inputs, outputs[0]);
}

}  // namespace hearth
