#include <algorithm>
#include <cstdint>
#include <vector>

#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

// A constant operand with one integer for each dimension of a tensor of `rank`.
Result<Shape> ReadPerDimension(const OperatorView& view, int input, int rank) {
  HEARTH_ASSIGN(const std::vector<int32_t> numbers, view.ConstantIntegers(input));
  if (numbers.size() != static_cast<size_t>(rank)) {
    return Error(StatusCode::kMalformedInput, "{} numbers in {} where {} belong", numbers.size(),
                 view.InputLabel(input), rank);
  }
  return Shape::FromSpan(numbers);
}

struct Amounts {  // before and after each dimension
  Shape before, after;
};

// Constant paddings or crops, [count, 2] numbers, none negative.
Result<Amounts> ReadAmounts(const OperatorView& view, int input, int count) {
  HEARTH_ASSIGN(const std::vector<int32_t> numbers, view.ConstantIntegers(input));
  if (numbers.size() != 2 * static_cast<size_t>(count)) {
    return Error(StatusCode::kMalformedInput, "{} numbers in {} where {} pairs belong", numbers.size(),
                 view.InputLabel(input), count);
  }
  std::vector<int32_t> before, after;
  for (int i = 0; i < count; ++i) {
    before.push_back(numbers[2 * i]);
    after.push_back(numbers[2 * i + 1]);
  }
  if (std::any_of(numbers.begin(), numbers.end(), [](int32_t number) { return number < 0; })) {
    return Error(StatusCode::kMalformedInput, "{} holds negative amounts", view.InputLabel(input));
  }
  return Amounts{Shape::FromSpan(before), Shape::FromSpan(after)};
}

// Block and amounts (operands 1 and 2) for an input of rank 3 or 4.
struct SpatialBlocks {
  Shape block;
  Amounts amounts;
};
Result<SpatialBlocks> ReadSpatialBlocks(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  if (input.rank() != 3 && input.rank() != 4) {
    return Error(StatusCode::kUnsupported, "an input of shape {} instead of rank 3 or 4", input.ToString());
  }
  SpatialBlocks blocks;
  HEARTH_ASSIGN(blocks.block, ReadPerDimension(view, 1, input.rank() - 2));
  HEARTH_ASSIGN(blocks.amounts, ReadAmounts(view, 2, input.rank() - 2));
  return blocks;
}

}  // namespace

Result<Op> ReadBatchToSpace(const OperatorView& view) {
  HEARTH_ASSIGN(const SpatialBlocks blocks, ReadSpatialBlocks(view));
  return Op(BatchToSpace{blocks.block, blocks.amounts.before, blocks.amounts.after});
}

Result<Op> ReadBroadcastTo(const OperatorView& view) {
  HEARTH_ASSIGN(const std::vector<int32_t> dims, view.ConstantIntegers(1));
  if (dims.size() > Shape::kMaxRank) {
    return Error(StatusCode::kUnsupported, "a shape of {} dimensions; at most {} are possible", dims.size(),
                 int{Shape::kMaxRank});
  }
  return Op(BroadcastTo{Shape::FromSpan(dims)});
}

Result<Op> ReadMirrorPad(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::MirrorPadOptions* options, view.Options<wire::MirrorPadOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const Amounts amounts, ReadAmounts(view, 1, input.rank()));
  return Op(MirrorPad{amounts.before, amounts.after, options->mode() == wire::MirrorPadMode_SYMMETRIC});
}

Result<Op> ReadPack(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::PackOptions* options, view.Options<wire::PackOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  Pack pack;
  HEARTH_ASSIGN(pack.axis, ResolveAxis(options->axis(), input.rank() + 1));
  return Op(pack);
}

Result<Op> ReadReverse(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  HEARTH_ASSIGN(const std::vector<int32_t> axes, view.ConstantIntegers(1));
  HEARTH_ASSIGN(const uint32_t mask, ResolveAxes(axes, input.rank()));
  return Op(Reverse{mask});
}

Result<Op> ReadSpaceToBatch(const OperatorView& view) {
  HEARTH_ASSIGN(const SpatialBlocks blocks, ReadSpatialBlocks(view));
  return Op(SpaceToBatch{blocks.block, blocks.amounts.before, blocks.amounts.after});
}

Result<Op> ReadSplit(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::SplitOptions* options, view.Options<wire::SplitOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(1));
  Split split;
  HEARTH_ASSIGN(split.axis, view.ConstantAxis(0, input.rank()));
  const int count = view.output_count();
  if (options->num_splits() != count || input[split.axis] % count != 0) {
    return Error(StatusCode::kMalformedInput, "dimension {} of shape {} can't be split into {} equal parts, {} outputs",
                 split.axis, input.ToString(), options->num_splits(), count);
  }
  split.sizes.assign(count, input[split.axis] / count);
  return Op(split);
}

Result<Op> ReadSplitV(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  const auto count = static_cast<size_t>(view.output_count());
  HEARTH_ASSIGN(const std::vector<int32_t> sizes, view.ConstantIntegers(1, count));
  Split split{.sizes = sizes};
  HEARTH_ASSIGN(split.axis, view.ConstantAxis(2, input.rank()));
  int64_t left = input[split.axis];
  for (int32_t size : sizes) left -= size == -1 ? 0 : size;
  const bool negative = std::any_of(sizes.begin(), sizes.end(), [](int32_t size) { return size < -1; });
  if (sizes.size() != count || negative || std::count(sizes.begin(), sizes.end(), -1) > 1 || left < 0) {
    return Error(StatusCode::kMalformedInput, "the sizes in {} can't divide dimension {} of shape {} among {} outputs",
                 view.InputLabel(1), split.axis, input.ToString(), count);
  }
  // A size of -1 takes the rest.
  std::replace(split.sizes.begin(), split.sizes.end(), -1, static_cast<int32_t>(left));
  return Op(split);
}

Result<Op> ReadTile(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  Tile tile;
  HEARTH_ASSIGN(tile.multiples, ReadPerDimension(view, 1, input.rank()));
  return Op(tile);
}

Result<Op> ReadTranspose(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  Transpose transpose;
  HEARTH_ASSIGN(transpose.permutation, ReadPerDimension(view, 1, input.rank()));
  for (int d = 0; d < input.rank(); ++d) {
    HEARTH_ASSIGN(transpose.permutation[d], ResolveAxis(transpose.permutation[d], input.rank()));
  }
  return Op(transpose);
}

Result<Op> ReadUnpack(const OperatorView& view) {
  HEARTH_ASSIGN(const wire::UnpackOptions* options, view.Options<wire::UnpackOptions>());
  HEARTH_ASSIGN(const Shape input, view.InputShape(0));
  Unpack unpack{.count = options->num()};
  HEARTH_ASSIGN(unpack.axis, ResolveAxis(options->axis(), input.rank()));
  if (unpack.count != view.output_count() || unpack.count != input[unpack.axis]) {
    return Error(StatusCode::kMalformedInput, "{} slices along dimension {} of shape {} for {} outputs", unpack.count,
                 unpack.axis, input.ToString(), view.output_count());
  }
  return Op(unpack);
}

}  // namespace hearth
