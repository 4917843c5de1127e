// Depthwise convolutions of 8-bit numbers with one output channel for each input channel.
#include <algorithm>

#include "backends/cpu/integer/depthwise_kernel.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "core/base/numbers.h"
#include "core/graph/ops/window.h"

namespace hearth {
namespace {

constexpr int64_t kLeastDepthwiseWork = 200'000;  // multiply-adds; fewer take less time than waking a worker
constexpr int64_t kOutside = -1;
constexpr int64_t kMostListedBytes = 16 << 20;  // of the places and addresses of a row's taps

// Whether the taps of all pixels of a row are few enough to be listed: for the node, and again for each thread.
bool CanListTaps(int32_t pixels, const Shape& filter) {
  const int64_t of_pixel = int64_t{filter[2]} + RoundUp(int64_t{filter[1]} * filter[2], int64_t{kDepthStep});
  return of_pixel <= kMostListedBytes / static_cast<int64_t>(sizeof(int64_t)) / pixels;
}

class DepthwiseNode final : public HostNode {
 public:
  // neighbours: the weights for several pixels at once, or null.
  DepthwiseNode(const HostNodeRequest& request, const IntegerLayer& layer,
                std::shared_ptr<const DepthwiseWeights> weights, std::shared_ptr<const DepthwiseWeights> neighbours)
      : x_(reinterpret_cast<const uint8_t*>(request.arena.stored(request.node.inputs[0]).data())),
        y_(reinterpret_cast<uint8_t*>(request.arena.stored(request.node.outputs[0]).data())),
        flips_sign_(layer.input_is_signed),
        in_(request.in(0).shape),
        out_(request.out().shape),
        window_(std::get<DepthwiseConv2D>(request.node.op).window),
        weights_(std::move(weights)),
        neighbours_(std::move(neighbours)),
        zeros_(static_cast<size_t>(neighbours_ != nullptr ? neighbours_->channels : weights_->channels),
               std::to_integer<uint8_t>(layer.stored_zero())),
        workers_(request.workers) {
    const Shape& filter = request.in(1).shape;
    kernel_h_ = filter[1];
    kernel_w_ = filter[2];
    padding_ = ResolvePadding(window_, in_[1], in_[2], kernel_h_, kernel_w_);
    for (int64_t ox = 0; ox < out_[2]; ++ox) {
      bool is_inside = true;
      for (int64_t kx = 0; kx < kernel_w_; ++kx) {
        const int64_t ix = ox * window_.stride_w - padding_.left + kx * window_.dilation_w;
        columns_.push_back(ix >= 0 && ix < in_[2] ? ix * in_[3] : kOutside);
        is_inside = is_inside && columns_.back() != kOutside;
      }
      if (!is_inside) continue;
      if (inside_end_ == 0) inside_begin_ = ox;
      inside_end_ = ox + 1;
    }
  }

  std::string_view kernel() const override { return "integer"; }
  std::optional<uint64_t> held_bytes() const override { return 0; }

  Status Run(RunControl* /*control*/) override {
    const int64_t row_work = int64_t{out_[2]} * weights_->channels * weights_->taps;
    workers_.ForEachPart(
        int64_t{out_[0]} * out_[1], kLeastDepthwiseWork / (row_work + 1) + 1, [&](int64_t begin, int64_t end) {
          std::vector<const uint8_t*> taps(static_cast<size_t>(TapsOfPixel() * out_[2]), zeros_.data());
          std::vector<const uint8_t*> lines(static_cast<size_t>(kernel_h_));
          for (int64_t row = begin; row < end; ++row) {
            FindLines(row, lines.data());
            RunRow(lines.data(), taps.data(), y_ + row * out_[2] * weights_->channels);
          }
        });
    return Status::Ok();
  }

 private:
  int64_t TapsOfPixel() const { return int64_t{weights_->tap_steps()} * kDepthStep; }

  // The input lines that an output row depends on; null for lines outside the image.
  void FindLines(int64_t row, const uint8_t** lines) const {
    const int64_t batch = row / out_[1], oy = row % out_[1];
    const TapRange inside = TapsInside(oy, window_.stride_h, padding_.top, window_.dilation_h, kernel_h_, in_[1]);
    for (int32_t ky = 0; ky < kernel_h_; ++ky) {
      const int64_t iy = inside.origin + int64_t{ky} * window_.dilation_h;
      const bool is_inside = ky >= inside.begin && ky < inside.end;
      lines[ky] = is_inside ? x_ + (batch * in_[1] + iy) * in_[2] * in_[3] : nullptr;
    }
  }

  // Neighbours whose taps are all inside the image are computed together; the last ones overlap those before.
  void RunRow(const uint8_t* const* lines, const uint8_t** taps, uint8_t* out) const {
    const int64_t many = neighbours_ == nullptr ? 0 : neighbours_->channels / weights_->channels;
    if (many == 0 || inside_end_ - inside_begin_ < many) return Convolve(*weights_, lines, 0, out_[2], taps, out);
    Convolve(*weights_, lines, 0, inside_begin_, taps, out);
    const int64_t groups = (inside_end_ - inside_begin_) / many;
    Convolve(*neighbours_, lines, inside_begin_, groups, taps, out);
    if (inside_begin_ + groups * many < inside_end_) Convolve(*neighbours_, lines, inside_end_ - many, 1, taps, out);
    Convolve(*weights_, lines, inside_end_, out_[2] - inside_end_, taps, out);
  }

  // Computes `count` pixels, or groups of neighbours, from pixel `first` on.
  void Convolve(const DepthwiseWeights& weights, const uint8_t* const* lines, int64_t first, int64_t count,
                const uint8_t** taps, uint8_t* out) const {
    Locate(lines, first, count, weights.channels / weights_->channels, taps);
    ConvolvePixels({taps, count, flips_sign_, &weights, out + first * weights_->channels}, BestIntegerSet());
  }

  // The addresses of the taps of `count` pixels of a row, `apart` pixels from each other, or of zeros.
  void Locate(const uint8_t* const* lines, int64_t first, int64_t count, int64_t apart, const uint8_t** taps) const {
    const int64_t step = TapsOfPixel();
    for (int32_t ky = 0; ky < kernel_h_; ++ky) {
      const uint8_t** tap = taps + int64_t{ky} * kernel_w_;
      const int64_t* column = columns_.data() + first * kernel_w_;
      for (int64_t pixel = 0; pixel < count; ++pixel, tap += step, column += apart * kernel_w_) {
        for (int32_t kx = 0; kx < kernel_w_; ++kx) {
          tap[kx] = lines[ky] != nullptr && column[kx] != kOutside ? lines[ky] + column[kx] : zeros_.data();
        }
      }
    }
  }

  const uint8_t* x_;
  uint8_t* y_;
  bool flips_sign_;
  const Shape &in_, &out_;
  const Window2D& window_;
  std::shared_ptr<const DepthwiseWeights> weights_, neighbours_;
  std::vector<uint8_t> zeros_;    // pixels outside the image
  std::vector<int64_t> columns_;  // each tap's offset in the input line, for each pixel of a row
  WorkerPool& workers_;
  Padding2D padding_;
  int32_t kernel_h_ = 1, kernel_w_ = 1;
  int64_t inside_begin_ = 0, inside_end_ = 0;  // the pixels of a row whose taps are all in columns of the image
};

}  // namespace

std::unique_ptr<HostNode> MakeIntegerDepthwiseNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const auto* conv = std::get_if<DepthwiseConv2D>(&node.op);
  if (conv == nullptr || BestIntegerSet() == IntegerSet::kNone || !HasWeightsForIntegers(graph, node)) return nullptr;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  const int32_t channels = filter[3], taps = filter[1] * filter[2];
  if (graph.value(node.inputs[0]).desc.shape[3] != channels || taps == 0) return nullptr;
  const Shape& out = graph.value(node.outputs[0]).desc.shape;
  if (out.element_count() > 0 && !CanListTaps(out[2], filter)) return nullptr;
  const auto layer = IntegerLayerOf(graph, node, conv->activation, 3, channels, taps);
  if (!layer) return nullptr;
  const OrderedBytes stored = graph.ReadConstant(node.inputs[1]);
  const IntegerWeights weights{stored.bytes, channels, taps, 1, channels};
  const IntegerSet set = BestIntegerSet();
  const int32_t neighbours = conv->window.stride_w == 1 ? NeighboursOf(channels, set) : 1;
  const auto packed = [&](int32_t pixels) {
    const WeightsKey key = KeyOf("depthwise", *layer, graph, node.inputs[1]).Add(static_cast<int64_t>(set)).Add(pixels);
    return request.weights.FindOrMake<DepthwiseWeights>(key, [&] {
      return pixels > 1 ? PackNeighbours(*layer, weights, pixels, set) : PackDepthwise(*layer, weights, set);
    });
  };
  return std::make_unique<DepthwiseNode>(request, *layer, packed(1), neighbours > 1 ? packed(neighbours) : nullptr);
}

}  // namespace hearth
