// Convolutions and fully connected layers of 8-bit numbers: rows of input bytes times packed weights.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "backends/cpu/integer/matrix_rows.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

constexpr int64_t kMostRows = 48, kMostRowsOfLine = 96, kRowsOfTile = 6;
constexpr int32_t kMostGroups = 4096;          // each has a packed matrix of its own
constexpr int64_t kChunkBytes = 32 << 10;      // bytes of rows: they stay in the first-level cache while weights pass
constexpr int64_t kLeastMatrixWork = 500'000;  // multiply-adds; fewer take less time than waking a worker

// Copies the first and the last kBytes of `bytes`, which may overlap. Loads come before stores.
template <size_t kBytes>
void CopyEnds(uint8_t* target, const uint8_t* source, int64_t bytes) {
  std::array<uint8_t, kBytes> first, last;
  std::memcpy(first.data(), source, kBytes);
  std::memcpy(last.data(), source + bytes - kBytes, kBytes);
  std::memcpy(target, first.data(), kBytes);
  std::memcpy(target + bytes - kBytes, last.data(), kBytes);
}

// Copies a few bytes without a call.
void CopyShort(uint8_t* target, const uint8_t* source, int64_t bytes) {
  if (bytes > 32) {
    std::memcpy(target, source, static_cast<size_t>(bytes));
  } else if (bytes >= 16) {
    CopyEnds<16>(target, source, bytes);
  } else if (bytes >= 8) {
    CopyEnds<8>(target, source, bytes);
  } else if (bytes >= 4) {
    CopyEnds<4>(target, source, bytes);
  } else {
    for (int64_t k = 0; k < bytes; ++k) target[k] = source[k];
  }
}

struct Group {
  std::shared_ptr<const PackedMatrix> packed;
  const std::byte* model_weights = nullptr;  // if they are not packed
};

class MatrixNode final : public HostNode {
 public:
  // Of a ConvInteger the groups are packed for a zero point of 1, so that their offsets times the run's are the right
  // ones.
  MatrixNode(const HostNodeRequest& request, const IntegerLayer& layer, MatrixRows rows, std::vector<Group> groups)
      : x_(reinterpret_cast<const uint8_t*>(request.bytes(request.node.inputs[0]).data())),
        y_(reinterpret_cast<uint8_t*>(request.bytes(request.node.outputs[0]).data())),
        flips_sign_(layer.input_is_signed),
        flips_weights_(!layer.weights_are_signed),
        zero_(std::to_integer<uint8_t>(layer.stored_zero())),
        rows_(std::move(rows)),
        groups_(std::move(groups)),
        workers_(request.workers) {
    const auto& inputs = request.node.inputs;
    if (std::holds_alternative<ConvInteger>(request.node.op)) {
      if (inputs.size() > 2 && inputs[2] != kNoValue) run_zero_ = request.StoredBytes(inputs[2]).data();
      for (const Group& group : groups_) run_terms_.push_back(group.packed->terms);
    }
    const Shape& out = request.out().shape;
    out_channels_ = out[out.rank() - 1];
    group_channels_ = static_cast<int32_t>(out_channels_ / static_cast<int64_t>(groups_.size()));
    blocks_ = (group_channels_ + kBlockChannels - 1) / kBlockChannels;
    if (rows_.place != RowsPlace::kInput) in_channels_ = rows_.in[3] / static_cast<int64_t>(groups_.size());
    piece_step_ = RoundUp(int64_t{rows_.piece_depth}, int64_t{kDepthStep});
    row_stride_ = rows_.place == RowsPlace::kInput ? rows_.depth : rows_.pieces * piece_step_;
    if (rows_.place == RowsPlace::kLines) {
      segments_ = Tiles(rows_.out[2], kMostRowsOfLine);
      chunks_ = int64_t{rows_.out[0]} * rows_.out[1] * segments_;
      if (rows_.padding.top > 0 || rows_.padding.bottom > 0)
        zeros_.assign(static_cast<size_t>(int64_t{rows_.in[2]} * rows_.in[3] + kDepthStep), zero_);
    } else {
      const int64_t in_cache = kChunkBytes / row_stride_ / kRowsOfTile * kRowsOfTile;
      const int64_t chunk = std::clamp(in_cache, kRowsOfTile, kMostRows);
      most_rows_ = chunk + kRowsOfTile;
      chunks_ = std::max<int64_t>(1, Tiles(rows_.count, chunk));
    }
    const int64_t wanted = 2 * int64_t{request.workers.threads()};
    if (request.workers.threads() > 1 && chunks_ < wanted) {
      splits_ = std::min<int64_t>((blocks_ + 3) / 4, (wanted + chunks_ - 1) / chunks_);
    }
    wide_numbers_ = WideNumbersOf(row_stride_);
    if (rows_.place == RowsPlace::kLines)
      wide_numbers_ = std::max(wide_numbers_, WideNumbersOf(int64_t{rows_.window.stride_w} * rows_.in[3]));
  }

  std::string_view kernel() const override { return "integer"; }
  std::optional<uint64_t> held_bytes() const override { return 0; }

  Status Run(RunControl* /*control*/) override {
    if (makes_sums()) TakeZeroPoint();
    const int64_t pieces = static_cast<int64_t>(groups_.size()) * chunks_ * splits_;
    const int64_t work = rows_.count * rows_.depth * out_channels_;
    const int64_t least = kLeastMatrixWork * pieces / std::max<int64_t>(1, work) + 1;
    workers_.ForEachPart(pieces, least, [&](int64_t begin, int64_t end) {
      const int64_t gathered = rows_.place != RowsPlace::kInput ? most_rows_ * row_stride_ : 0;
      const std::unique_ptr<uint8_t[]> scratch(new uint8_t[static_cast<size_t>(gathered)]);
      const std::unique_ptr<int16_t[]> wide(new int16_t[static_cast<size_t>(wide_numbers_)]);
      for (int64_t piece = begin; piece < end; ++piece) RunPiece(piece, scratch.get(), wide.get());
    });
    return Status::Ok();
  }

 private:
  bool makes_sums() const { return !run_terms_.empty(); }  // of a ConvInteger

  void TakeZeroPoint() {
    zero_ = run_zero_ == nullptr ? uint8_t{0} : std::to_integer<uint8_t>(*run_zero_);
    std::ranges::fill(zeros_, zero_);
    const int32_t shifted = zero_ ^ (flips_sign_ ? 0x80 : 0x00);
    for (size_t g = 0; g < groups_.size(); ++g) {
      std::ranges::transform(groups_[g].packed->terms.offsets, run_terms_[g].offsets.begin(),
                             [=](int32_t offset) { return static_cast<int32_t>(int64_t{offset} * shifted); });
    }
  }

  void RunPiece(int64_t piece, uint8_t* scratch, int16_t* wide) const {
    const int64_t split = piece % splits_, chunk = piece / splits_ % chunks_, group = piece / splits_ / chunks_;
    const Group& part = groups_[static_cast<size_t>(group)];
    MatrixTask task;
    task.row_stride = row_stride_;
    task.depth = rows_.piece_depth;
    task.flips_sign = flips_sign_;
    task.weights = part.packed->weights.data();
    task.model_weights = part.model_weights;
    task.flips_weights = flips_weights_;
    task.first_block = static_cast<int32_t>(blocks_ * split / splits_);
    task.end_block = static_cast<int32_t>(blocks_ * (split + 1) / splits_);
    task.channels = group_channels_;
    task.terms = makes_sums() ? &run_terms_[static_cast<size_t>(group)] : &part.packed->terms;
    task.out_stride = out_channels_;
    task.wide = wide;
    if (rows_.place == RowsPlace::kLines) return RunSegment(task, chunk, group, scratch);
    const int64_t first = FirstRow(chunk), end = FirstRow(chunk + 1);
    if (rows_.place == RowsPlace::kGathered) return RunGathered(task, first, end, group, scratch);
    const uint8_t* const row = x_ + first * row_stride_;
    task.pieces = {&row, 1};
    Multiply(task, first, end, group);
  }

  int64_t WideNumbersOf(int64_t row_stride) const {
    const std::array<const uint8_t*, kMostPieces> pieces = {};
    MatrixTask task;
    task.pieces = {pieces.data(), static_cast<size_t>(rows_.pieces)};
    task.row_stride = row_stride;
    task.row_count = most_rows_;
    task.depth = rows_.piece_depth;
    task.model_weights = groups_[0].model_weights;
    return WideNumbers(task, BestIntegerSet());
  }

  // Computes a part of an output line.
  void RunSegment(const MatrixTask& task, int64_t chunk, int64_t group, uint8_t* scratch) const {
    const int64_t line = chunk / segments_, segment = chunk % segments_, width = rows_.out[2];
    const auto column = [&](int64_t number) {
      return number == segments_ ? width : width * number / segments_ / kRowsOfTile * kRowsOfTile;
    };
    const int64_t first = column(segment), end = column(segment + 1);
    const int64_t inside = std::clamp(rows_.inside_begin, first, end);
    const int64_t inside_end = std::clamp(rows_.inside_end, inside, end);
    RunGathered(task, line * width + first, line * width + inside, group, scratch);
    RunInLines(task, line, inside, inside_end, group);
    RunGathered(task, line * width + inside_end, line * width + end, group, scratch);
  }

  void RunInLines(MatrixTask task, int64_t line, int64_t first, int64_t end, int64_t group) const {
    const Window2D& window = rows_.window;
    const int64_t batch = line / rows_.out[1], top = line % rows_.out[1] * window.stride_h - rows_.padding.top;
    const int64_t left = first * window.stride_w - rows_.padding.left;
    const int32_t of_line = rows_.pieces / rows_.kernel_h;
    std::array<const uint8_t*, kMostPieces> pieces;
    for (int32_t piece = 0; piece < rows_.pieces; ++piece) {
      const int64_t iy = top + int64_t{piece / of_line} * window.dilation_h;
      const bool is_inside = iy >= 0 && iy < rows_.in[1];
      const uint8_t* of_image = is_inside ? x_ + (batch * rows_.in[1] + iy) * rows_.in[2] * rows_.in[3] : zeros_.data();
      const int64_t ix = left + int64_t{piece % of_line} * window.dilation_w;
      pieces[static_cast<size_t>(piece)] = of_image + ix * rows_.in[3] + group * in_channels_;
    }
    task.pieces = {pieces.data(), static_cast<size_t>(rows_.pieces)};
    task.row_stride = int64_t{window.stride_w} * rows_.in[3];
    Multiply(task, line * rows_.out[2] + first, line * rows_.out[2] + end, group);
  }

  void RunGathered(MatrixTask task, int64_t first, int64_t end, int64_t group, uint8_t* scratch) const {
    if (first == end) return;
    Gather(first, end, group, scratch);
    std::array<const uint8_t*, kMostPieces> pieces;
    for (int64_t piece = 0; piece < rows_.pieces; ++piece)
      pieces[static_cast<size_t>(piece)] = scratch + piece * piece_step_;
    task.pieces = {pieces.data(), static_cast<size_t>(rows_.pieces)};
    Multiply(task, first, end, group);
  }

  void Multiply(MatrixTask& task, int64_t first, int64_t end, int64_t group) const {
    if (first == end) return;
    const PackedMatrix& packed = *groups_[static_cast<size_t>(group)].packed;
    task.row_count = end - first;
    const int64_t place = first * out_channels_ + group * group_channels_;
    task.out = y_ + place;
    if (makes_sums()) task.sums = reinterpret_cast<int32_t*>(y_) + place;
    std::array<int32_t, kMostRowsOfLine + kRowsOfTile> sums;
    if (packed.needs_row_sums()) {
      SumRows(task, packed.row_factor != 0 ? packed.row_factor : 1, sums.data(), BestIntegerSet());
      task.row_sums = sums.data();
    }
    MultiplyRows(task, BestIntegerSet());
  }

  // Divides rows into whole tiles, as evenly as possible.
  int64_t FirstRow(int64_t chunk) const {
    return chunk == chunks_ ? rows_.count : rows_.count * chunk / chunks_ / kRowsOfTile * kRowsOfTile;
  }

  // Copies the bytes that output pixels [first, end) depend on: a row of pieces for each, with zeros outside the image.
  void Gather(int64_t first, int64_t end, int64_t group, uint8_t* target) const {
    int64_t ox = first % rows_.out[2], oy = first / rows_.out[2] % rows_.out[1];
    int64_t batch = first / rows_.out[2] / rows_.out[1];
    for (int64_t row = first; row < end; ++row, target += row_stride_) {
      GatherWindow(batch, oy, ox, group, target);
      if (++ox < rows_.out[2]) continue;
      ox = 0;
      if (++oy < rows_.out[1]) continue;
      oy = 0;
      ++batch;
    }
  }

  void GatherWindow(int64_t batch, int64_t oy, int64_t ox, int64_t group, uint8_t* target) const {
    const Shape& in = rows_.in;
    const Window2D& window = rows_.window;
    const int64_t channels = in_channels_;
    const int64_t left = ox * window.stride_w - rows_.padding.left, top = oy * window.stride_h - rows_.padding.top;
    const bool is_dense = window.dilation_w == 1 && groups_.size() == 1;
    const bool is_piece = rows_.place == RowsPlace::kLines;
    const int64_t pixel_step = is_piece && rows_.piece_depth == channels ? piece_step_ : channels;
    const int64_t line_step = is_piece ? rows_.pieces / rows_.kernel_h * piece_step_ : rows_.kernel_w * channels;
    const bool is_inside = left >= 0 && left + int64_t{rows_.kernel_w - 1} * window.dilation_w < in[2];
    for (int32_t ky = 0; ky < rows_.kernel_h; ++ky, target += line_step) {
      const int64_t iy = top + int64_t{ky} * window.dilation_h;
      if (iy < 0 || iy >= in[1]) {
        std::memset(target, zero_, static_cast<size_t>(line_step));
        continue;
      }
      const uint8_t* line = x_ + (batch * in[1] + iy) * in[2] * in[3] + group * channels;
      if (is_dense && is_inside && pixel_step == channels) {
        CopyShort(target, line + left * in[3], rows_.kernel_w * channels);
        continue;
      }
      for (int32_t kx = 0; kx < rows_.kernel_w; ++kx) {
        const int64_t ix = left + int64_t{kx} * window.dilation_w;
        if (ix < 0 || ix >= in[2]) {
          std::memset(target + kx * pixel_step, zero_, static_cast<size_t>(channels));
        } else {
          CopyShort(target + kx * pixel_step, line + ix * in[3], channels);
        }
      }
    }
  }

  const uint8_t* x_;
  uint8_t* y_;
  bool flips_sign_, flips_weights_;
  uint8_t zero_;
  const std::byte* run_zero_ = nullptr;  // of a ConvInteger: its zero point, as in the next
  std::vector<Requantization> run_terms_;
  MatrixRows rows_;
  std::vector<Group> groups_;
  WorkerPool& workers_;
  std::vector<uint8_t> zeros_;  // a line outside the image
  int64_t in_channels_ = 0, out_channels_ = 0, blocks_ = 0, chunks_ = 1, segments_ = 1, splits_ = 1;
  int64_t wide_numbers_ = 0;
  int64_t piece_step_ = 0, row_stride_ = 0, most_rows_ = kMostRowsOfLine + kRowsOfTile;  // row_stride_: not for kLines
  int32_t group_channels_ = 0;
};

// The weights' bytes begin at `first` of operand 1; they are looked at only to pack them.
[[gnu::cold]] Group GroupOf(const HostNodeRequest& request, const IntegerLayer& layer, IntegerWeights weights,
                            const MatrixRows& rows, int32_t number = 0, size_t first = 0) {
  const Graph& graph = request.graph;
  const ValueId filter = request.node.inputs[1];
  const WeightsPlace place = PlaceOf(weights, rows.count);
  WeightsKey key = KeyOf(place == WeightsPlace::kPacked ? "matrix" : "matrix in the model", layer, graph, filter);
  key.Add(number).Add(weights.channels).Add(weights.depth).Add(weights.channel_stride).Add(weights.depth_stride);
  key.Add(rows.piece_depth);
  const auto pack = [&] {
    const OrderedBytes stored = graph.ReadConstant(filter);
    weights.bytes = stored.bytes.subspan(first);
    return PackMatrix(layer, weights, place, rows.piece_depth, BestIntegerSet());
  };
  const auto packed = request.weights.FindOrMake<PackedMatrix>(key, pack);
  if (place == WeightsPlace::kPacked) return {packed, nullptr};
  return {packed, request.weights.ReadInPlace(graph.ConstantBytes(filter).subspan(first)).data()};
}

// Of images. The weights' elements per output channel are `depth`.
int32_t DepthOf(const Shape& filter) {
  return static_cast<int32_t>(filter.element_count() / filter[0]);
}

std::unique_ptr<HostNode> MakeConvolution(const HostNodeRequest& request, const Window2D& window,
                                          const std::optional<IntegerLayer>& layer) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[0], depth = DepthOf(filter);
  const int32_t groups = graph.value(node.inputs[0]).desc.shape[3] / filter[3], in_group = channels / groups;
  if (!layer || groups > kMostGroups) return nullptr;
  MatrixRows rows = WindowRows(request, window, filter[1], filter[2], depth);
  const IntegerLayer common = WithoutChannels(*layer);
  OrderedBytes in_order;  // once for all groups
  if (groups > 1) in_order = graph.ReadConstant(node.inputs[1]);
  std::vector<Group> packed;
  for (int32_t group = 0; group < groups; ++group) {
    const size_t first = size_t(group) * size_t(in_group);
    const IntegerLayer part = PartOf(*layer, common, first, size_t(in_group));
    packed.push_back(GroupOf(request, part, {{}, in_group, depth, depth, 1}, rows, group, first * size_t(depth)));
  }
  return std::make_unique<MatrixNode>(request, *layer, std::move(rows), std::move(packed));
}

// For an input with one channel: each tap of the window is one number of the depth.
std::unique_ptr<HostNode> MakeDepthwiseOfOneChannel(const HostNodeRequest& request, const DepthwiseConv2D& conv) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[3], depth = filter[1] * filter[2];
  const auto layer = IntegerLayerOf(graph, node, conv.activation, 3, channels, depth);
  if (!layer) return nullptr;
  MatrixRows rows = WindowRows(request, conv.window, filter[1], filter[2], depth);
  const Group group = GroupOf(request, *layer, {{}, channels, depth, 1, channels}, rows);
  return std::make_unique<MatrixNode>(request, *layer, std::move(rows), std::vector{group});
}

std::unique_ptr<HostNode> MakeFullyConnected(const HostNodeRequest& request, const std::optional<IntegerLayer>& layer) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[0], depth = filter[1];
  if (!layer || depth == 0) return nullptr;
  MatrixRows rows;
  rows.depth = rows.piece_depth = depth;
  rows.count = graph.value(node.inputs[0]).desc.shape.element_count() / depth;
  const Group group = GroupOf(request, *layer, {{}, channels, depth, depth, 1}, rows);
  return std::make_unique<MatrixNode>(request, *layer, std::move(rows), std::vector{group});
}

}  // namespace

std::unique_ptr<HostNode> MakeIntegerMatrixNode(const HostNodeRequest& request) {
  if (BestIntegerSet() == IntegerSet::kNone || !HasWeightsForIntegers(request.graph, request.node)) return nullptr;
  const auto layer_of = [&](Activation activation) {
    const Shape& filter = request.in(1).shape;
    return IntegerLayerOf(request.graph, request.node, activation, 0, filter[0], DepthOf(filter));
  };
  if (const auto* conv = std::get_if<Conv2D>(&request.node.op))
    return MakeConvolution(request, conv->window, layer_of(conv->activation));
  if (const auto* op = std::get_if<FullyConnected>(&request.node.op))
    return MakeFullyConnected(request, layer_of(op->activation));
  const auto* depthwise = std::get_if<DepthwiseConv2D>(&request.node.op);
  const bool has_one_channel = depthwise != nullptr && request.in(0).shape[3] == 1;
  return has_one_channel ? MakeDepthwiseOfOneChannel(request, *depthwise) : nullptr;
}

Result<std::unique_ptr<HostNode>> MakeIntegerSumsNode(const HostNodeRequest& request) {
  const Node& node = request.node;
  const auto* sums = std::get_if<ConvInteger>(&node.op);
  if (sums == nullptr) return nullptr;
  const TensorDesc& weights = request.graph.value(node.inputs[1]).desc;
  // Kernels read past the end of rows, which a constant in the model may not have.
  if (BestIntegerSet() == IntegerSet::kNone || request.graph.IsConstant(node.inputs[0])) return nullptr;
  if (weights.shape.element_count() == 0) return nullptr;
  IntegerLayer layer;
  layer.input_is_signed = request.graph.value(node.inputs[0]).desc.dtype == DType::kInt8;
  layer.weights_are_signed = weights.dtype == DType::kInt8;
  layer.input_zero_point = 1;
  const std::vector<int64_t>& zeros = weights.quantization->zero_points;
  for (size_t c = 0; c < static_cast<size_t>(weights.shape[0]); ++c) {
    const auto zero = static_cast<int32_t>(zeros[zeros.size() == 1 ? 0 : c]);
    layer.weight_zero_points.push_back(zero - (layer.weights_are_signed ? 0 : 128));
  }
  layer.biases.assign(layer.weight_zero_points.size(), 0);
  layer.multipliers.assign(layer.weight_zero_points.size(), 1.0f);
  return weights.shape.rank() == 2 ? MakeFullyConnected(request, layer) : MakeConvolution(request, sums->window, layer);
}

}  // namespace hearth
