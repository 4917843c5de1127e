// Softmax with any factor, log softmax and L2 normalization: each row of the last dimension on its own.
#include <algorithm>
#include <cmath>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vector_math.h"

namespace hearth {
namespace {

constexpr int64_t kLeastSoftmaxElements = 8 * 1024;  // fewer take less time than waking a worker
constexpr int kSoftmaxSums = 16;                     // independent partial sums

// The largest element times `sign`, which is 1 or -1. NaN if the row has one.
HEARTH_INTO_CALLER inline float LargestOf(const float* x, int64_t count, float sign = 1.0f) {
  int32_t largest = OrderedBits(sign * x[0]);
  for (int64_t k = 1; k < count; ++k) {
    const int32_t ordered = OrderedBits(sign * x[k]);
    largest = largest < ordered ? ordered : largest;
  }
  return NumberOfOrder(largest);
}

// Rows that stay in the first-level cache, in three passes. The exponentials of several short rows are one loop.
HEARTH_INTO_CALLER inline void SoftmaxRows(float beta, const float* x, int64_t rows, int64_t length, float* y) {
  constexpr int64_t kElements = 2048;
  const int64_t most = std::max<int64_t>(1, kElements / length);
  const float sign = beta < 0.0f ? -1.0f : 1.0f;  // with a factor below 0 the least element has the largest share
  for (int64_t first = 0; first < rows; first += most, x += most * length, y += most * length) {
    const int64_t count = std::min(most, rows - first);
    for (int64_t row = 0; row < count * length; row += length) {
      const float extreme = sign * LargestOf(x + row, length, sign);
      for (int64_t k = row; k < row + length; ++k) y[k] = (x[k] - extreme) * beta;
    }
    for (int64_t k = 0; k < count * length; ++k) y[k] = VectorWholeExp(y[k]);
    for (int64_t row = 0; row < count * length; row += length) {
      const double sum = VectorSum<kSoftmaxSums>(y + row, length, [](double v) HEARTH_INTO_CALLER { return v; });
      const auto factor = static_cast<float>(1.0 / sum);
      for (int64_t k = row; k < row + length; ++k) y[k] *= factor;
    }
  }
}

HEARTH_INTO_CALLER inline void LogSoftmaxRow(const float* x, int64_t count, float* y) {
  const float largest = LargestOf(x, count);
  for (int64_t k = 0; k < count; ++k) y[k] = VectorWholeExp(x[k] - largest);
  const double sum = VectorSum<kSoftmaxSums>(y, count, [](double v) HEARTH_INTO_CALLER { return v; });
  const auto logarithm = static_cast<float>(std::log(sum));
  for (int64_t k = 0; k < count; ++k) y[k] = x[k] - largest - logarithm;
}

HEARTH_INTO_CALLER inline void UnitLengthRow(const float* x, int64_t count, float* y) {
  constexpr double kSmallestLength = 1e-6;  // TFLite's constant; zeros stay zeros
  const double squares = VectorSum<kSoftmaxSums>(x, count, [](double v) HEARTH_INTO_CALLER { return v * v; });
  const double length = std::sqrt(squares);
  const auto factor = static_cast<float>(1.0 / (length < kSmallestLength ? kSmallestLength : length));
  for (int64_t k = 0; k < count; ++k) y[k] = x[k] * factor;
}

Activation ActivationOf(const Op& op) {
  const auto* norm = std::get_if<L2Normalization>(&op);
  return norm != nullptr ? norm->activation : Activation::kNone;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeRowsNode(const HostNodeRequest& request) {
  const Op& op = request.node.op;
  const bool is_known = std::holds_alternative<Softmax>(op) || std::holds_alternative<LogSoftmax>(op) ||
                        std::holds_alternative<L2Normalization>(op);
  if (!is_known || request.decides_indices || request.graph.IsConstant(request.node.inputs[0])) return nullptr;
  const TensorDesc in = HeldAs(request.in(0)), out = HeldAs(request.out());
  const bool has_rows = in.shape.element_count() > 0 && in.shape.rank() > 0;
  if (in.dtype != DType::kFloat32 || out.dtype != DType::kFloat32 || !has_rows) return nullptr;
  return NodeOf("rows", [&op, in_floats = request.arena.floats(request.node.inputs[0]),
                         results = HostOutput(request, ActivationOf(op)), &workers = request.workers] {
    const int64_t length = results.shape()[results.shape().rank() - 1], rows = ssize(in_floats) / length;
    workers.ForEachPart(rows, kLeastSoftmaxElements / length + 1, [&](int64_t begin, int64_t end) {
      Vectorized([&]() HEARTH_INTO_CALLER {
        const float* x = in_floats.data() + begin * length;
        float* y = results.floats().data() + begin * length;
        if (const auto* softmax = std::get_if<Softmax>(&op)) {
          SoftmaxRows(softmax->beta, x, end - begin, length, y);
          return;
        }
        for (int64_t row = begin; row < end; ++row, x += length, y += length) {
          if (std::holds_alternative<LogSoftmax>(op)) {
            LogSoftmaxRow(x, length, y);
          } else {
            UnitLengthRow(x, length, y);
          }
        }
      });
    });
    results.Finish();
  });
}

}  // namespace hearth
