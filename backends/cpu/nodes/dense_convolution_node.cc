// Convolutions of float32 as matrix products: rows with the pixels that each output reads, times the weights. With
// AVX-512 this takes 0.8 to 0.9 times as long as XNNPACK's (Debian's of February 2022). Where a bit decides an index
// (hair segmentation), the products are float64, with the bits of the reference.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cpu/host/host_output.h"
#include "backends/cpu/nodes/float_convolution.h"
#include "backends/cpu/nodes/packed_constant.h"
#include "backends/cpu/nodes/winograd.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

constexpr int64_t kCommonLines = 4;  // output lines that read common input lines

struct Geometry : FloatConvolution {
  // Whether windows are read where they lie in input lines: if output lines fill tiles on their own.
  bool reads_lines() const { return out[2] >= 24 && (!has_padding() || has_little_padding()); }
  // Whether the padded copy of the lines is not much more than the lines and a window. Dilation can make padding of any
  // size.
  bool has_little_padding() const {
    constexpr double kMostTimes = 4.0, kSmallCopy = 64 * 1024;  // elements
    const int64_t height = lines_height(std::min<int64_t>(kCommonLines, out[1]));
    const double copied = double(height) * double(line_width()) * in[3];  // may exceed 64 bits
    const double covered = double(std::min<int64_t>(height, in[1])) * in[2] * in[3];
    return copied <= kMostTimes * (covered + double(depth())) + kSmallCopy;
  }
  bool has_padding() const { return padding.top > 0 || padding.bottom > 0 || padding.left > 0 || padding.right > 0; }
  // The range of pixels that an output line reads across and down.
  int64_t line_width() const {
    return int64_t{out[2] - 1} * window.stride_w + int64_t{kernel_w - 1} * window.dilation_w + 1;
  }
  // The range of lines that `count` neighbouring output lines read.
  int64_t lines_height(int64_t count) const {
    return (count - 1) * window.stride_h + int64_t{kernel_h - 1} * window.dilation_h + 1;
  }
  int64_t depth() const { return int64_t{kernel_h} * kernel_w * in[3]; }
  int64_t rows() const { return int64_t{out[0]} * out[1] * out[2]; }
  bool is_pointwise() const {
    const bool reads_each_once = kernel_h == 1 && kernel_w == 1 && window.stride_h == 1 && window.stride_w == 1;
    return reads_each_once && in[1] == out[1] && in[2] == out[2];
  }
};

// Copies the pixels that output pixel number `row` reads: kernel_h x kernel_w, with zeros for padding.
template <typename Number>
void CopyPatch(const Geometry& g, const float* x, int64_t row, Number* patch) {
  const int64_t channels = g.in[3], line = g.kernel_w * channels;
  const int64_t image = row / g.out[2] / g.out[1], oy = row / g.out[2] % g.out[1], ox = row % g.out[2];
  const int64_t top = oy * g.window.stride_h - g.padding.top, left = ox * g.window.stride_w - g.padding.left;
  const bool is_dense = g.window.dilation_w == 1 && left >= 0 && left + g.kernel_w <= g.in[2];
  for (int64_t ky = 0; ky < g.kernel_h; ++ky, patch += line) {
    const int64_t iy = top + ky * g.window.dilation_h;
    if (iy < 0 || iy >= g.in[1]) {
      std::fill_n(patch, line, Number{0});
      continue;
    }
    const float* from = x + (image * g.in[1] + iy) * g.in[2] * channels;
    if (is_dense) {
      std::copy_n(from + left * channels, line, patch);
      continue;
    }
    for (int64_t kx = 0; kx < g.kernel_w; ++kx) {
      const int64_t ix = left + kx * g.window.dilation_w;
      if (ix < 0 || ix >= g.in[2]) {
        std::fill_n(patch + kx * channels, channels, Number{0});
      } else {
        std::copy_n(from + ix * channels, channels, patch + kx * channels);
      }
    }
  }
}

// Copies `count` lines of an image from `first` on, with the padding around them.
template <typename Number>
void CopyLines(const Geometry& g, const float* image, int64_t first, int64_t count, Number* lines) {
  const int64_t channels = g.in[3], width = g.line_width();
  const int64_t before = std::min<int64_t>(g.padding.left, width);  // strides may end the last window before the image
  const int64_t inside = std::min<int64_t>(g.in[2], width - before), behind = width - before - inside;
  for (int64_t y = first; y < first + count; ++y, lines += width * channels) {
    if (y < 0 || y >= g.in[1]) {
      std::fill_n(lines, width * channels, Number{0});
      continue;
    }
    std::fill_n(lines, before * channels, Number{0});
    std::copy_n(image + y * g.in[2] * channels, inside * channels, lines + before * channels);
    std::fill_n(lines + (before + inside) * channels, behind * channels, Number{0});
  }
}

// The offsets of a window's dense pieces: its lines, or its pixels if there are gaps between columns.
std::vector<int64_t> PiecesOf(const Geometry& g, int64_t width) {
  const int64_t channels = g.in[3];
  std::vector<int64_t> offsets;
  for (int64_t ky = 0; ky < g.kernel_h; ++ky) {
    const int64_t line = ky * g.window.dilation_h * width * channels;
    const int64_t pieces = g.window.dilation_w == 1 ? 1 : g.kernel_w;
    for (int64_t kx = 0; kx < pieces; ++kx) offsets.push_back(line + kx * g.window.dilation_w * channels);
  }
  return offsets;
}

// A filter that another node makes, packed again in each run, into the program's scratch memory. Padding times an
// infinite weight would be NaN, so the reference, which skips padding, has such runs.
class ChangingFilter {
 public:
  ChangingFilter(const HostNodeRequest& request, std::shared_ptr<PackedMatrices> packed, const Geometry& geometry)
      : arena_(request.arena),
        graph_(request.graph),
        node_(request.node),
        numbers_(request.arena.floats(request.node.inputs[1])),
        view_{numbers_.data(), 1, geometry.depth(), {}},
        must_be_finite_(geometry.has_padding()),
        packed_(std::move(packed)) {}

  // False if the reference has made the result.
  Result<bool> Pack(WorkerPool& workers) {
    const auto is_finite = [](float number) { return std::isfinite(number); };
    if (must_be_finite_ && !std::ranges::all_of(numbers_, is_finite)) {
      HEARTH_ASSIGN(const std::unique_ptr<HostNode> reference, MakeReferenceNode(graph_, node_, arena_));
      HEARTH_TRY(reference->Run(nullptr));
      return false;
    }
    packed_->PackInto(arena_.scratch());
    packed_->Pack({&view_, 1}, workers);
    return true;
  }

 private:
  const HostArena& arena_;
  const Graph& graph_;
  const Node& node_;
  std::span<const float> numbers_;
  MatrixView view_;
  bool must_be_finite_;
  std::shared_ptr<PackedMatrices> packed_;
};

template <typename Number>
class DenseConvolutionNode final : public HostNode {
 public:
  // `winograd`: null unless the filter suits it. `changing`: null if the filter is constant.
  DenseConvolutionNode(const HostNodeRequest& request, const Geometry& geometry,
                       std::shared_ptr<const PackedNumbers<Number>> weights, std::vector<Number> bias,
                       std::shared_ptr<const PackedMatrices> winograd, std::unique_ptr<ChangingFilter> changing)
      : geometry_(geometry),
        copies_lines_(kIsExact || geometry.has_padding()),
        line_pixels_(copies_lines_ ? geometry.line_width() : geometry.in[2]),
        pieces_(geometry.reads_lines() ? PiecesOf(geometry, line_pixels_) : std::vector<int64_t>()),
        x_(request.arena.floats(request.node.inputs[0])),
        out_(request, ActivationPartsOf(geometry.activation).rest),
        y_(out_.floats().data()),
        workers_(request.workers),
        bias_(std::move(bias)),
        weights_(std::move(weights)),
        winograd_(std::move(winograd)),
        changing_(std::move(changing)) {
    const ActivationParts parts = ActivationPartsOf(geometry.activation);
    finish_ = {bias_.empty() ? nullptr : bias_.data(), parts.lowest, parts.highest};
  }

  std::string_view kernel() const override {
    return kIsExact ? "exact" : winograd_ != nullptr ? "winograd" : "convolution";
  }
  std::optional<uint64_t> held_bytes() const override { return bias_.size() * sizeof(Number); }

  Status Run(RunControl* /*control*/) override {
    if (changing_ != nullptr) {
      HEARTH_ASSIGN(const bool is_packed, changing_->Pack(workers_));
      if (!is_packed) return Status::Ok();
    }
    if (RunWinograd()) return Status::Ok();
    if (geometry_.reads_lines() && !MultipliesInPlace()) {
      MultiplyLines();
    } else if (!MultipliesInPlace()) {
      MultiplyPatches();
    } else if constexpr (!kIsExact) {
      const MatrixPair pair{{x_.data(), geometry_.depth(), 1, {}}, 0, y_};
      weights_->Multiply({&pair, 1}, geometry_.rows(), finish_, workers_);
    }
    out_.Finish();
    return Status::Ok();
  }

 private:
  static constexpr bool kIsExact = std::is_same_v<Number, double>;

  // False without its weights, and where it met an infinity or a NaN: sums of windows put those where they belong.
  bool RunWinograd() {
    if constexpr (!kIsExact) {
      if (winograd_ == nullptr || !ConvolveByWinograd(geometry_, *winograd_, x_.data(), y_, finish_, workers_))
        return false;
      out_.Finish();
      return true;
    }
    return false;
  }

  bool MultipliesInPlace() const { return !kIsExact && geometry_.is_pointwise(); }

  void MultiplyPatches() {
    constexpr int64_t kPatchElements = 192 * 1024;           // fits a core's second-level cache
    constexpr int64_t kMostPatchElements = 4 * 1024 * 1024;  // longer windows are copied a few at a time
    const int64_t depth = geometry_.depth(), least_rows = std::clamp<int64_t>(kMostPatchElements / depth, 1, 48);
    const int64_t most_rows = std::clamp<int64_t>(kPatchElements / depth, least_rows, 96);
    const ProductTasks tasks = weights_->TasksOf(1, geometry_.rows(), most_rows, workers_);
    static constexpr int64_t kStart[] = {0};
    const std::span<const int64_t> whole = kIsExact ? std::span<const int64_t>(kStart) : std::span<const int64_t>();
    tasks.ForEach(workers_, [&](int64_t, int64_t first, int64_t last, int64_t group) {
      thread_local std::vector<Number> patches;  // shared by all convolutions, so that its pages are in use already
      patches.resize(std::max(patches.size(), static_cast<size_t>((last - first) * depth)));
      for (int64_t row = first; row < last; ++row) {
        CopyPatch(geometry_, x_.data(), row, patches.data() + (row - first) * depth);
      }
      weights_->MultiplyBlock(0, {patches.data(), depth, 1, whole}, last - first, y_ + first * geometry_.out[3],
                              finish_, group, tasks.groups);
    });
  }

  // Reads windows in place: the rows of a tile are neighbours in an output line.
  void MultiplyLines() {
    const Geometry& g = geometry_;
    const int64_t all_lines = int64_t{g.out[0]} * g.out[1];
    ProductTasks tasks = weights_->TasksOf(1, all_lines * g.out[2], kCommonLines * g.out[2], workers_);
    tasks.rows = all_lines;
    tasks.blocks = std::min(tasks.blocks, all_lines);
    tasks.ForEach(workers_, [&](int64_t, int64_t first, int64_t last, int64_t group) {
      for (int64_t line = first; line < last;) {
        const int64_t to_image_end = g.out[1] - line % g.out[1];
        const int64_t count = std::min({kCommonLines, last - line, to_image_end});
        MultiplyLinesOfImage(line, count, group, tasks.groups);
        line += count;
      }
    });
  }

  void MultiplyLinesOfImage(int64_t line, int64_t count, int64_t group, int64_t groups) {
    const Geometry& g = geometry_;
    const int64_t channels = g.in[3], step = int64_t{g.window.stride_h} * (line_pixels_ * channels);
    const int64_t first = line % g.out[1] * g.window.stride_h - g.padding.top;
    const float* image = x_.data() + line / g.out[1] * g.in[1] * g.in[2] * channels;
    thread_local std::vector<Number> lines;  // shared by all convolutions, so that its pages are in use already
    const Number* from = nullptr;
    if (copies_lines_) {
      const int64_t height = g.lines_height(count);
      lines.resize(std::max(lines.size(), static_cast<size_t>(height * line_pixels_ * channels)));
      CopyLines(g, image, first, height, lines.data());
      from = lines.data();
    } else if constexpr (!kIsExact) {
      from = image + first * line_pixels_ * channels;
    }
    for (int64_t k = 0; k < count; ++k) {
      const MatrixOf<Number> windows{from + k * step, g.window.stride_w * channels, 1, pieces_};
      weights_->MultiplyBlock(0, windows, g.out[2], y_ + (line + k) * g.out[2] * g.out[3], finish_, group, groups);
    }
  }

  const Geometry geometry_;
  bool copies_lines_;            // that MultiplyLines reads: pads or converts them
  int64_t line_pixels_;          // of these lines: the image's, or padded ones
  std::vector<int64_t> pieces_;  // of a window in these lines
  std::span<const float> x_;
  HostOutput out_;
  float* y_;
  WorkerPool& workers_;
  std::vector<Number> bias_;
  std::shared_ptr<const PackedNumbers<Number>> weights_;
  std::shared_ptr<const PackedMatrices> winograd_;  // or null
  std::unique_ptr<ChangingFilter> changing_;        // or null
  FinishOf<Number> finish_;
};

template <typename Number>
Result<std::unique_ptr<HostNode>> MakeOf(const HostNodeRequest& request, const Geometry& geometry) {
  std::vector<Number> bias;
  if (geometry.has_bias) {
    HEARTH_ASSIGN(bias, ConstantAs<Number>(request.graph, request.node.inputs[2]));
  }
  if (!request.graph.IsConstant(request.node.inputs[1])) {
    if constexpr (std::is_same_v<Number, float>) {
      const auto packed = std::make_shared<PackedMatrices>(geometry.depth(), geometry.out[3], 1);
      request.arena.NeedScratch(packed->bytes());
      return std::make_unique<DenseConvolutionNode<Number>>(
          request, geometry, packed, std::move(bias), nullptr,
          std::make_unique<ChangingFilter>(request, packed, geometry));
    }
    return nullptr;
  }
  MatrixLayout filters{geometry.depth(), geometry.out[3], 1, 1, geometry.depth()};
  filters.is_checked = geometry.has_padding();
  HEARTH_ASSIGN(PackedOf<Number> weights, PackedConstant<Number>(request, request.node.inputs[1], filters));
  // Padding times an infinite weight would be NaN; the reference skips padding.
  if (geometry.has_padding() && !weights.are_finite) return nullptr;
  // And 0 for padding, added to a bias of -0, would be 0.
  const auto is_minus_zero = [](Number number) { return number == 0 && std::signbit(number); };
  if (std::is_same_v<Number, double> && geometry.has_padding() && std::ranges::any_of(bias, is_minus_zero))
    return nullptr;
  const bool is_of_integers = StandsForIntegers(request.in(1));
  std::shared_ptr<const PackedMatrices> winograd;
  if (std::is_same_v<Number, float> && SuitsWinograd(geometry) && !is_of_integers) {  // whose transforms round
    HEARTH_ASSIGN(winograd, WinogradWeights(request, request.node.inputs[1]));
  }
  return std::make_unique<DenseConvolutionNode<Number>>(request, geometry, std::move(weights.matrices), std::move(bias),
                                                        std::move(winograd), nullptr);
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeDenseConvolutionNode(const HostNodeRequest& request) {
  const std::optional<FloatConvolution> convolution = FloatConvolutionOf(request);
  if (!convolution || convolution->is_depthwise || !FitsExactness(request, *convolution)) return nullptr;
  return request.decides_indices ? MakeOf<double>(request, {*convolution}) : MakeOf<float>(request, {*convolution});
}

}  // namespace hearth
