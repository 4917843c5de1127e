// Convolutions and fully connected layers of 8-bit numbers: rows of input bytes times packed weights.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "core/base/round_up.h"

namespace hearth {
namespace {

constexpr int64_t kMostRows = 48, kRowsOfTile = 6;
constexpr int64_t kChunkBytes = 32 << 10;      // of rows: they stay in the first cache while weights pass
constexpr int64_t kLeastMatrixWork = 500'000;  // multiply-adds; fewer are done before a worker wakes up

// How the rows of a product lie in the input: one for each pixel of the output.
struct Rows {
  bool in_place = true;  // else gathered: a convolution's windows
  int64_t count = 0, depth = 0;
  Window2D window;
  Padding2D padding;
  Shape in, out;
  int32_t kernel_h = 1, kernel_w = 1;
};

// The first and the last kBytes of `bytes`, which may overlap: at least half of them all. In loads before stores.
template <size_t kBytes>
void CopyEnds(uint8_t* target, const uint8_t* source, int64_t bytes) {
  std::array<uint8_t, kBytes> first, last;
  std::memcpy(first.data(), source, kBytes);
  std::memcpy(last.data(), source + bytes - kBytes, kBytes);
  std::memcpy(target, first.data(), kBytes);
  std::memcpy(target + bytes - kBytes, last.data(), kBytes);
}

// A few bytes, without a call.
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
  const std::byte* model_weights = nullptr;  // where they are not packed
};

class MatrixNode final : public HostNode {
 public:
  MatrixNode(const HostNodeRequest& request, const IntegerLayer& layer, Rows rows, std::vector<Group> groups)
      : x_(reinterpret_cast<const uint8_t*>(request.arena.stored(request.node.inputs[0]).data())),
        y_(reinterpret_cast<uint8_t*>(request.arena.stored(request.node.outputs[0]).data())),
        flips_sign_(layer.input_is_signed),
        flips_weights_(!layer.weights_are_signed),
        zero_(std::to_integer<uint8_t>(layer.stored_zero())),
        rows_(std::move(rows)),
        groups_(std::move(groups)),
        workers_(request.workers) {
    const Shape& out = request.graph.value(request.node.outputs[0]).desc.shape;
    out_channels_ = out[out.rank() - 1];
    group_channels_ = static_cast<int32_t>(out_channels_ / static_cast<int64_t>(groups_.size()));
    blocks_ = (group_channels_ + kBlockChannels - 1) / kBlockChannels;
    if (!rows_.in_place) in_channels_ = rows_.in[3] / static_cast<int64_t>(groups_.size());
    row_stride_ = rows_.in_place ? rows_.depth : RoundUp(rows_.depth, int64_t{kDepthStep});
    const int64_t in_cache = kChunkBytes / row_stride_ / kRowsOfTile * kRowsOfTile;
    const int64_t chunk = std::clamp(in_cache, kRowsOfTile, kMostRows);
    most_rows_ = chunk + kRowsOfTile;
    chunks_ = std::max<int64_t>(1, (rows_.count + chunk - 1) / chunk);
    const int64_t wanted = 2 * int64_t{request.workers.threads()};
    if (request.workers.threads() > 1 && chunks_ < wanted) {
      splits_ = std::min<int64_t>((blocks_ + 3) / 4, (wanted + chunks_ - 1) / chunks_);
    }
  }

  std::string_view kernel() const override { return "integer"; }
  std::optional<uint64_t> held_bytes() const override { return 0; }

  Status Run() override {
    const int64_t pieces = static_cast<int64_t>(groups_.size()) * chunks_ * splits_;
    const int64_t work = rows_.count * rows_.depth * out_channels_;
    const int64_t least = kLeastMatrixWork * pieces / std::max<int64_t>(1, work) + 1;
    workers_.ForEachPart(pieces, least, [&](int64_t begin, int64_t end) {
      std::unique_ptr<uint8_t[]> scratch;
      if (!rows_.in_place) scratch.reset(new uint8_t[static_cast<size_t>(most_rows_ * row_stride_)]);
      for (int64_t piece = begin; piece < end; ++piece) RunPiece(piece, scratch.get());
    });
    return Status::Ok();
  }

 private:
  void RunPiece(int64_t piece, uint8_t* scratch) const {
    const int64_t split = piece % splits_, chunk = piece / splits_ % chunks_, group = piece / splits_ / chunks_;
    const int64_t first = FirstRow(chunk), end = FirstRow(chunk + 1);
    if (first == end) return;
    const PackedMatrix& packed = *groups_[static_cast<size_t>(group)].packed;
    MatrixTask task;
    task.row_stride = row_stride_;
    task.row_count = end - first;
    task.flips_sign = flips_sign_;
    task.weights = packed.weights.data();
    task.depth_steps = (rows_.depth + kDepthStep - 1) / kDepthStep;
    task.model_weights = groups_[static_cast<size_t>(group)].model_weights;
    task.depth = rows_.depth;
    task.flips_weights = flips_weights_;
    task.first_block = static_cast<int32_t>(blocks_ * split / splits_);
    task.end_block = static_cast<int32_t>(blocks_ * (split + 1) / splits_);
    task.channels = group_channels_;
    task.terms = &packed.terms;
    task.out = y_ + first * out_channels_ + group * group_channels_;
    task.out_stride = out_channels_;
    if (rows_.in_place) {
      task.rows = x_ + first * row_stride_;
    } else {
      Gather(first, end, group, scratch);
      task.rows = scratch;
    }
    std::array<int32_t, kMostRows + kRowsOfTile> sums;
    if (packed.needs_row_sums()) {
      const int32_t factor = packed.row_factor != 0 ? packed.row_factor : 1;
      SumRows(task, rows_.depth, factor, sums.data(), BestIntegerSet());
      task.row_sums = sums.data();
    }
    MultiplyRows(task, BestIntegerSet());
  }

  // Whole tiles, as evenly as they go.
  int64_t FirstRow(int64_t chunk) const {
    return chunk == chunks_ ? rows_.count : rows_.count * chunk / chunks_ / kRowsOfTile * kRowsOfTile;
  }

  // The bytes that output pixels [first, end) depend on, a row for each; zeros outside of the image.
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
    const bool is_inside = left >= 0 && left + int64_t{rows_.kernel_w - 1} * window.dilation_w < in[2];
    for (int32_t ky = 0; ky < rows_.kernel_h; ++ky, target += rows_.kernel_w * channels) {
      const int64_t iy = top + int64_t{ky} * window.dilation_h;
      if (iy < 0 || iy >= in[1]) {
        std::memset(target, zero_, static_cast<size_t>(rows_.kernel_w * channels));
        continue;
      }
      const uint8_t* line = x_ + (batch * in[1] + iy) * in[2] * in[3] + group * channels;
      if (is_dense && is_inside) {
        CopyShort(target, line + left * in[3], rows_.kernel_w * channels);
        continue;
      }
      for (int32_t kx = 0; kx < rows_.kernel_w; ++kx) {
        const int64_t ix = left + int64_t{kx} * window.dilation_w;
        if (ix < 0 || ix >= in[2]) {
          std::memset(target + kx * channels, zero_, static_cast<size_t>(channels));
        } else {
          CopyShort(target + kx * channels, line + ix * in[3], channels);
        }
      }
    }
  }

  const uint8_t* x_;
  uint8_t* y_;
  bool flips_sign_, flips_weights_;
  uint8_t zero_;
  Rows rows_;
  std::vector<Group> groups_;
  WorkerPool& workers_;
  int64_t in_channels_ = 0, out_channels_ = 0, blocks_ = 0, row_stride_ = 0, most_rows_ = 0, chunks_ = 1, splits_ = 1;
  int32_t group_channels_ = 0;
};

Rows WindowRows(const HostNodeRequest& request, const Window2D& window, int32_t kernel_h, int32_t kernel_w,
                int64_t depth) {
  Rows rows;
  rows.in = request.graph.value(request.node.inputs[0]).desc.shape;
  rows.out = request.graph.value(request.node.outputs[0]).desc.shape;
  rows.window = window;
  rows.padding = ResolvePadding(window, rows.in[1], rows.in[2], kernel_h, kernel_w);
  rows.kernel_h = kernel_h;
  rows.kernel_w = kernel_w;
  rows.count = int64_t{rows.out[0]} * rows.out[1] * rows.out[2];
  rows.depth = depth;
  const bool is_pixel = kernel_h == 1 && kernel_w == 1 && window.stride_h == 1 && window.stride_w == 1;
  rows.in_place = is_pixel && depth == rows.in[3] && rows.in[1] == rows.out[1] && rows.in[2] == rows.out[2] &&
                  rows.padding.top == 0 && rows.padding.left == 0;
  return rows;
}

Group GroupOf(const HostNodeRequest& request, const IntegerLayer& layer, const IntegerWeights& weights,
              int64_t row_count, int32_t number = 0) {
  const WeightsPlace place = PlaceOf(weights, row_count);
  WeightsKey key = KeyOf(place == WeightsPlace::kPacked ? "matrix" : "matrix in the model", layer, request.graph,
                         request.node.inputs[1]);
  key.Add(number).Add(weights.channels).Add(weights.depth).Add(weights.channel_stride).Add(weights.depth_stride);
  return {request.weights.FindOrMake<PackedMatrix>(key, [&] { return PackMatrix(layer, weights, place); }),
          place == WeightsPlace::kPacked ? nullptr : weights.bytes.data()};
}

std::unique_ptr<HostNode> MakeConvolution(const HostNodeRequest& request, const Conv2D& conv) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[0], depth = filter[1] * filter[2] * filter[3];
  const int32_t groups = graph.value(node.inputs[0]).desc.shape[3] / filter[3], in_group = channels / groups;
  const auto layer = IntegerLayerOf(graph, node, conv.activation, 0, channels, depth);
  if (!layer) return nullptr;
  const std::span<const std::byte> bytes = graph.ConstantBytes(node.inputs[1]);
  Rows rows = WindowRows(request, conv.window, filter[1], filter[2], depth);
  std::vector<Group> packed;
  for (int32_t group = 0; group < groups; ++group) {
    const size_t first = size_t(group) * size_t(in_group);
    IntegerLayer part = *layer;
    const auto keep = [&](auto& list) { list = {list.begin() + long(first), list.begin() + long(first) + in_group}; };
    keep(part.weight_zero_points);
    keep(part.biases);
    keep(part.multipliers);
    const IntegerWeights weights{bytes.subspan(first * size_t(depth)), in_group, depth, depth, 1};
    packed.push_back(GroupOf(request, part, weights, rows.count, group));
  }
  return std::make_unique<MatrixNode>(request, *layer, std::move(rows), std::move(packed));
}

// Of an input with one channel: each tap of the window is one number of the depth.
std::unique_ptr<HostNode> MakeDepthwiseOfOneChannel(const HostNodeRequest& request, const DepthwiseConv2D& conv) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[3], depth = filter[1] * filter[2];
  const auto layer = IntegerLayerOf(graph, node, conv.activation, 3, channels, depth);
  if (!layer) return nullptr;
  const IntegerWeights weights{graph.ConstantBytes(node.inputs[1]), channels, depth, 1, channels};
  Rows rows = WindowRows(request, conv.window, filter[1], filter[2], depth);
  const Group group = GroupOf(request, *layer, weights, rows.count);
  return std::make_unique<MatrixNode>(request, *layer, std::move(rows), std::vector{group});
}

std::unique_ptr<HostNode> MakeFullyConnected(const HostNodeRequest& request, const FullyConnected& op) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[0], depth = filter[1];
  const auto layer = IntegerLayerOf(graph, node, op.activation, 0, channels, depth);
  if (!layer || depth == 0) return nullptr;
  Rows rows;
  rows.depth = depth;
  rows.count = graph.value(node.inputs[0]).desc.shape.element_count() / depth;
  const IntegerWeights weights{graph.ConstantBytes(node.inputs[1]), channels, depth, depth, 1};
  const Group group = GroupOf(request, *layer, weights, rows.count);
  return std::make_unique<MatrixNode>(request, *layer, std::move(rows), std::vector{group});
}

}  // namespace

std::unique_ptr<HostNode> MakeIntegerMatrixNode(const HostNodeRequest& request) {
  if (BestIntegerSet() == IntegerSet::kNone || !HasWeightsForIntegers(request.graph, request.node)) return nullptr;
  if (const auto* conv = std::get_if<Conv2D>(&request.node.op)) return MakeConvolution(request, *conv);
  if (const auto* op = std::get_if<FullyConnected>(&request.node.op)) return MakeFullyConnected(request, *op);
  const auto* depthwise = std::get_if<DepthwiseConv2D>(&request.node.op);
  const bool has_one_channel = depthwise != nullptr && request.graph.value(request.node.inputs[0]).desc.shape[3] == 1;
  return has_one_channel ? MakeDepthwiseOfOneChannel(request, *depthwise) : nullptr;
}

}  // namespace hearth
