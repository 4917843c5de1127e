#include <limits>
#include <optional>
#include <vector>

#include "core/graph/ops/coordinates.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/ops/window.h"

namespace hearth {
namespace {

Status CheckBlock(const NodeInference& inference, int32_t block) {
  HEARTH_TRY(inference.CheckKeepsType());
  HEARTH_TRY(inference.CheckRank(0, 4));
  if (block >= 1 && block <= kMaxStep) return Status::Ok();
  return inference.Malformed("a block of {} x {} pixels, must be from 1 to {}", block, block, kMaxStep);
}

// Checks rank 3 or 4 and one number per spatial dimension: block at least 1, both lists of amounts at least 0.
Status CheckSpatial(const NodeInference& inference, const Shape& block, const Shape& before, const Shape& after) {
  HEARTH_TRY(inference.CheckKeepsType());
  const Shape& in = inference.shape(0);
  if (in.rank() != 3 && in.rank() != 4)
    return inference.Unsupported("input 0 has rank {} ({}), needs rank 3 or 4", in.rank(), in);
  const int spatial = in.rank() - 2;
  bool valid = block.rank() == spatial && before.rank() == spatial && after.rank() == spatial;
  for (int d = 0; valid && d < spatial; ++d) valid = block[d] >= 1 && before[d] >= 0 && after[d] >= 0;
  if (valid) return Status::Ok();
  return inference.Malformed("block {}, {} before and {} after for {} spatial dimensions", block, before, after,
                             spatial);
}

int64_t BlockPixels(const Shape& block) {
  return block.rank() == 1 ? block[0] : int64_t{block[0]} * block[1];
}

// Coordinates of pixel number `index` within a block.
int64_t InBlock(const Shape& block, int64_t index, int dimension) {
  if (block.rank() == 1) return index;
  return dimension == 0 ? index / block[1] : index % block[1];
}

}  // namespace

Status InferDepthToSpace(const NodeInference& inference) {
  const int64_t block = inference.op<DepthToSpace>().block;
  HEARTH_TRY(CheckBlock(inference, inference.op<DepthToSpace>().block));
  const Shape& in = inference.shape(0);
  if (in[3] % (block * block) != 0)
    return inference.Malformed("{} channels can't fill blocks of {} x {} pixels", in[3], block, block);
  return inference.SetOutput(0, {in[0], in[1] * block, in[2] * block, in[3] / (block * block)});
}

void ReferenceDepthToSpace(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const int64_t block = std::get<DepthToSpace>(node.op).block, channels = outputs[0].shape[3];
  MoveElements(*inputs[0], outputs[0], [&](const Coordinates& at) {
    const int64_t in_block = at[1] % block * block + at[2] % block;
    return Coordinates{at[0], at[1] / block, at[2] / block, in_block * channels + at[3]};
  });
}

Status InferSpaceToDepth(const NodeInference& inference) {
  const int64_t block = inference.op<SpaceToDepth>().block;
  HEARTH_TRY(CheckBlock(inference, inference.op<SpaceToDepth>().block));
  const Shape& in = inference.shape(0);
  if (in[1] % block != 0 || in[2] % block != 0)
    return inference.Malformed("an image of {} x {} pixels has no whole blocks of {} x {}", in[1], in[2], block, block);
  return inference.SetOutput(0, {in[0], in[1] / block, in[2] / block, in[3] * block * block});
}

void ReferenceSpaceToDepth(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const int64_t block = std::get<SpaceToDepth>(node.op).block, channels = inputs[0]->shape[3];
  MoveElements(*inputs[0], outputs[0], [&](const Coordinates& at) {
    const int64_t in_block = at[3] / channels;
    return Coordinates{at[0], at[1] * block + in_block / block, at[2] * block + in_block % block, at[3] % channels};
  });
}

Status InferSpaceToBatch(const NodeInference& inference) {
  const auto& op = inference.op<SpaceToBatch>();
  HEARTH_TRY(CheckSpatial(inference, op.block, op.before, op.after));
  const Shape& in = inference.shape(0);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  for (int d = 0; d < op.block.rank(); ++d) {
    const int64_t padded = int64_t{op.before[d]} + in[d + 1] + op.after[d];
    if (padded % op.block[d] != 0 || padded > std::numeric_limits<int32_t>::max()) {
      return inference.Malformed("{} pixels with {} before and {} after are not blocks of {}", in[d + 1], op.before[d],
                                 op.after[d], op.block[d]);
    }
    dims[d + 1] = padded / op.block[d];
  }
  if (BlockPixels(op.block) > std::numeric_limits<int32_t>::max())
    return inference.Malformed("a block of {} pixels", op.block);
  dims[0] *= BlockPixels(op.block);
  return inference.SetOutput(0, dims);
}

void ReferenceSpaceToBatch(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& op = std::get<SpaceToBatch>(node.op);
  const Shape& in = inputs[0]->shape;
  MoveElementsOrZero(*inputs[0], outputs[0], [&](Coordinates at) -> std::optional<Coordinates> {
    const int64_t in_block = at[0] / in[0];
    at[0] %= in[0];
    for (int d = 0; d < op.block.rank(); ++d) {
      at[d + 1] = at[d + 1] * op.block[d] + InBlock(op.block, in_block, d) - op.before[d];
      if (at[d + 1] < 0 || at[d + 1] >= in[d + 1]) return std::nullopt;
    }
    return at;
  });
}

Status InferBatchToSpace(const NodeInference& inference) {
  const auto& op = inference.op<BatchToSpace>();
  HEARTH_TRY(CheckSpatial(inference, op.block, op.crop_before, op.crop_after));
  const Shape& in = inference.shape(0);
  if (in[0] % BlockPixels(op.block) != 0)
    return inference.Malformed("a batch of {} can't fill blocks of {} pixels", in[0], op.block);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  dims[0] /= BlockPixels(op.block);
  for (int d = 0; d < op.block.rank(); ++d) {
    const int64_t whole = int64_t{in[d + 1]} * op.block[d];
    dims[d + 1] = whole - op.crop_before[d] - op.crop_after[d];
    if (dims[d + 1] < 1 || whole > std::numeric_limits<int32_t>::max())
      return inference.Malformed("{} and {} cropped from {} pixels", op.crop_before[d], op.crop_after[d], whole);
  }
  return inference.SetOutput(0, dims);
}

void ReferenceBatchToSpace(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& op = std::get<BatchToSpace>(node.op);
  const int64_t batch = outputs[0].shape[0];
  MoveElements(*inputs[0], outputs[0], [&](Coordinates at) {
    int64_t in_block = 0;
    for (int d = 0; d < op.block.rank(); ++d) {
      const int64_t whole = at[d + 1] + op.crop_before[d];
      in_block = in_block * op.block[d] + whole % op.block[d];
      at[d + 1] = whole / op.block[d];
    }
    at[0] += in_block * batch;
    return at;
  });
}

}  // namespace hearth
