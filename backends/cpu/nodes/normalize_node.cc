// Layer, instance and group normalization of floats: float64 sums like the reference's, without its tables of doubles
// (a chain of eight of 197x768: 5.9 ms instead of 27).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/vector_math.h"
#include "backends/cpu/host/vectorized.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/normalization.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Dense memory as `count` runs of `length` rows of `channels`. Each `group` of neighbouring channels is normalized
// together, over all rows.
struct Runs {
  int64_t count = 1, length = 1, channels = 1, group = 1;
};

// The largest number of blocks of rows that are summed separately. It does not depend on the number of threads, which
// therefore changes no bit.
constexpr int64_t kMostBlocks = 16;
constexpr int64_t kLeastNormalized = 8 * 1024;  // of a block
constexpr int kSumsOfRow = 8;                   // independent partial sums of a row
constexpr int64_t kVectors = 4;                 // of doubles, whose sums stay in registers
constexpr int64_t kFewestColumns = 32;          // four vectors of AVX-512

class NormalizeNode final : public HostNode {
 public:
  NormalizeNode(const HostNodeRequest& request, const Runs& runs, std::vector<float> scale, std::vector<float> offset)
      : norm_(std::get<MeanVarianceNormalization>(request.node.op)),
        node_(request.node),
        arena_(request.arena),
        workers_(request.workers),
        runs_(runs),
        rows_at_once_(runs.channels < kFewestColumns ? kFewestColumns / std::gcd(runs.channels, kFewestColumns) : 1),
        scale_(std::move(scale)),
        offset_(std::move(offset)),
        activation_(ActivationPartsOf(norm_.activation)),
        out_(request, activation_.rest) {}

  std::string_view kernel() const override { return "normalize"; }

  Status Run(RunControl* /*control*/) override {
    const float *scale = Operand(1, scale_).data(), *offset = Operand(2, offset_).data();
    const std::span<const float> in = arena_.floats(node_.inputs[0]);
    const std::span<float> out = out_.floats();
    if (runs_.length == 1 && runs_.group == runs_.channels) {
      const int64_t least = kLeastNormalized / runs_.channels + 1;
      workers_.ForEachPart(runs_.count, least, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          NormalizeRow(in.data() + row * runs_.channels, scale, offset, out.data() + row * runs_.channels);
        }
      });
    } else {
      for (int64_t run = 0; run < runs_.count; ++run) {
        const int64_t first = run * runs_.length * runs_.channels;
        NormalizeRun(in.data() + first, scale, offset, out.data() + first);
      }
    }
    out_.Finish();
    return Status::Ok();
  }

 private:
  // A constant, or the output of another node.
  std::span<const float> Operand(size_t position, const std::vector<float>& constant) const {
    if (!constant.empty()) return constant;
    return arena_.floats(node_.inputs[position]);
  }

  // Normalizes all channels of one row together.
  void NormalizeRow(const float* x, const float* scale, const float* offset, float* y) const {
    Vectorized([&]() HEARTH_INTO_CALLER {
      const int64_t channels = runs_.channels;
      const auto count = static_cast<double>(channels);
      double mean = 0;
      if (!norm_.root_mean_square)
        mean = VectorSum<kSumsOfRow>(x, channels, [](double v) HEARTH_INTO_CALLER { return v; }) / count;
      const double variance =
          VectorSum<kSumsOfRow>(x, channels, [mean](double v) HEARTH_INTO_CALLER { return (v - mean) * (v - mean); }) /
          count;
      const double inverse = 1.0 / std::sqrt(variance + double{norm_.epsilon});
      const float lowest = activation_.lowest, highest = activation_.highest;
      for (int64_t c = 0; c < channels; ++c) {
        const auto factor = static_cast<float>(scale[c] * inverse);
        const float value = static_cast<float>(x[c] - mean) * factor + offset[c];
        y[c] = value < lowest ? lowest : value > highest ? highest : value;
      }
    });
  }

  // Normalizes each channel, or each group of channels, over all rows. Several rows of few channels count as one.
  void NormalizeRun(const float* x, const float* scale, const float* offset, float* y) {
    const int64_t channels = runs_.channels, wide = channels * rows_at_once_;
    const int64_t blocks = std::clamp<int64_t>(runs_.length * channels / kLeastNormalized, 1, kMostBlocks);
    means_.assign(static_cast<size_t>(wide), 0.0);
    factors_.resize(static_cast<size_t>(wide));
    offsets_.resize(static_cast<size_t>(wide));
    if (!norm_.root_mean_square) means_ = AddRows(blocks, x, false);
    const std::vector<double> squares = AddRows(blocks, x, true);
    for (int64_t c = 0; c < wide; ++c) {
      factors_[c] = static_cast<float>(scale[c % channels] / std::sqrt(squares[c] + double{norm_.epsilon}));
      offsets_[c] = offset[c % channels];
    }
    workers_.ForEach(blocks, [&](int64_t block) {
      Vectorized([&]() HEARTH_INTO_CALLER {
        const double* means = means_.data();
        const float *factors = factors_.data(), *offsets = offsets_.data();
        const float lowest = activation_.lowest, highest = activation_.highest;
        const int64_t end = FirstOf(block + 1, blocks) * channels;
        for (int64_t first = FirstOf(block, blocks) * channels; first < end; first += wide) {
          const float* from = x + first;
          float* to = y + first;
          const int64_t count = std::min(wide, end - first);
          for (int64_t c = 0; c < count; ++c) {
            const float value = static_cast<float>(from[c] - means[c]) * factors[c] + offsets[c];
            to[c] = value < lowest ? lowest : value > highest ? highest : value;
          }
        }
      });
    });
  }

  int64_t FirstOf(int64_t block, int64_t blocks) const { return runs_.length * block / blocks; }

  // The mean over rows and groups of the distance from means_, or of its square, for each channel of the rows at once.
  std::vector<double> AddRows(int64_t blocks, const float* x, bool squares) {
    const int64_t channels = runs_.channels, wide = channels * rows_at_once_;
    partial_.assign(static_cast<size_t>(blocks * wide), 0.0);
    workers_.ForEach(blocks, [&](int64_t block) {
      const float* from = x + FirstOf(block, blocks) * channels;
      const int64_t count = (FirstOf(block + 1, blocks) - FirstOf(block, blocks)) * channels, rows = count / wide;
      double* sums = partial_.data() + block * wide;
      RunWithVectorBytes(BestVectorSet(), [&](auto bytes) HEARTH_INTO_CALLER {
        constexpr int64_t kStep = kVectors * decltype(bytes)::value / sizeof(double);
        for (int64_t column = 0; column < wide; column += kStep) {
          const int64_t at = std::min(column, wide - kStep);  // the last columns may overlap those before
          AddColumns<decltype(bytes)::value>(from + at, rows, wide, means_.data() + at, squares, sums + at);
        }
      });
      for (int64_t c = 0; c < count - rows * wide; ++c) {
        const double distance = from[rows * wide + c] - means_[c];
        sums[c] += squares ? distance * distance : distance;
      }
    });
    std::vector<double> sums(static_cast<size_t>(channels));
    for (size_t k = 0; k < partial_.size(); ++k) sums[k % sums.size()] += partial_[k];
    const auto count = static_cast<double>(runs_.length * runs_.group);
    for (auto first = sums.begin(); first != sums.end(); first += runs_.group) {
      std::fill_n(first, runs_.group, std::accumulate(first, first + runs_.group, 0.0) / count);
    }
    std::vector<double> repeated;
    for (int64_t row = 0; row < rows_at_once_; ++row) repeated.insert(repeated.end(), sums.begin(), sums.end());
    return repeated;
  }

  // The sums of kVectors vectors of columns, which stay in registers, over rows `step` apart.
  template <int kBytes>
  HEARTH_INTO_CALLER static void AddColumns(const float* x, int64_t rows, int64_t step, const double* means,
                                            bool squares, double* sums) {
    using Doubles = typename VectorOf<kBytes>::Doubles;
    constexpr int64_t kLanes = kBytes / sizeof(double);
    Doubles own[kVectors] = {}, distance, mean;
    for (int64_t row = 0; row < rows; ++row, x += step) {
      HEARTH_UNROLLED for (int64_t k = 0; k < kVectors; ++k) {
        LoadFloats<double>(x + k * kLanes, distance);
        std::memcpy(&mean, means + k * kLanes, sizeof(Doubles));
        distance -= mean;
        own[k] += squares ? distance * distance : distance;
      }
    }
    std::memcpy(sums, own, sizeof own);
  }

  const MeanVarianceNormalization& norm_;
  const Node& node_;
  const HostArena& arena_;
  WorkerPool& workers_;
  Runs runs_;
  int64_t rows_at_once_;
  std::vector<float> scale_, offset_;  // empty if a node makes them
  ActivationParts activation_;
  HostOutput out_;
  std::vector<double> means_, partial_;
  std::vector<float> factors_, offsets_;
};

}  // namespace

Result<std::unique_ptr<HostNode>> MakeNormalizeNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const auto* norm = std::get_if<MeanVarianceNormalization>(&node.op);
  if (norm == nullptr || graph.IsConstant(node.inputs[0])) return nullptr;
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : *list) {
      if (value != kNoValue && !IsPlainFloat32(graph.value(value).desc)) return nullptr;
    }
  }
  const Shape& shape = graph.value(node.inputs[0]).desc.shape;
  const std::optional<NormalizedRuns> found = NormalizedRunsOf(shape, *norm);
  if (!found.has_value()) return nullptr;
  const int64_t channels = shape[shape.rank() - 1];
  Runs runs = {found->count, found->length, channels, found->group};
  if (found->over_channels) runs = {shape.element_count() / channels, 1, channels, channels};
  std::vector<float> constants[2] = {std::vector<float>(static_cast<size_t>(channels), 1.0f),
                                     std::vector<float>(static_cast<size_t>(channels), 0.0f)};
  for (size_t k : {size_t{0}, size_t{1}}) {
    const ValueId value = node.inputs.size() > k + 1 ? node.inputs[k + 1] : kNoValue;
    if (value == kNoValue) continue;
    constants[k].clear();
    if (!graph.IsConstant(value)) continue;
    Result<std::vector<float>> floats = ConstantAsFloats(graph, value);
    if (!floats.ok()) return floats.status();
    constants[k] = std::move(floats).value();
  }
  return std::make_unique<NormalizeNode>(request, runs, std::move(constants[0]), std::move(constants[1]));
}

}  // namespace hearth
