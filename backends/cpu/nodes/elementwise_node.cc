// Functions of single elements: on worker threads after a kernel, and as nodes for values held as floats.
#include <algorithm>
#include <cmath>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vector_math.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

template <typename Function>
void ApplyVectors(const float* x, float* y, int64_t count, Function function) {
  Vectorized([=]()
                 HEARTH_INTO_CALLER { HEARTH_INDEPENDENT for (int64_t k = 0; k < count; ++k) y[k] = function(x[k]); });
}

// sin, or cos as the sine a quarter further. Numbers beyond the vectors' range are left to C's functions, one by one,
// so that neighbours change no bit.
void ApplySine(const float* x, float* y, int64_t count, int64_t quarters) {
  constexpr float kMost = 1 << 20;
  constexpr int64_t kBlock = 256;
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t length = std::min(kBlock, count - first);
    float block[kBlock];  // y may be x
    std::copy_n(x + first, length, block);
    int32_t are_beyond = 0;
    Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {
      float* const to = y + first;
      int32_t beyond = 0;
      for (int64_t k = 0; k < length; ++k) beyond |= static_cast<int32_t>(!(std::fabs(block[k]) <= kMost));
      for (int64_t k = 0; k < length; ++k) to[k] = VectorSine(block[k], quarters);
      are_beyond = beyond;
    });
    for (int64_t k = 0; are_beyond != 0 && k < length; ++k) {
      if (!(std::fabs(block[k]) <= kMost)) y[first + k] = quarters == 0 ? std::sin(block[k]) : std::cos(block[k]);
    }
  }
}

void ApplyPart(const Unary& unary, const float* x, float* y, int64_t count) {
  switch (unary.kind) {
    case UnaryKind::kTanh: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return VectorTanh(v); });
    case UnaryKind::kLogistic:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return VectorSigmoid(v); });
    case UnaryKind::kErf: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return VectorErf(v); });
    case UnaryKind::kGelu:
      return ApplyVectors(x, y, count,
                          [](float v) HEARTH_INTO_CALLER { return 0.5f * v * VectorErfc(v * -0.70710678f); });
    case UnaryKind::kGeluTanh:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER {
        return v / (1.0f + VectorWholeExp(-1.5957691f * (v + 0.044715f * v * v * v)));
      });
    case UnaryKind::kRelu:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return v < 0.0f ? 0.0f : v; });
    case UnaryKind::kExp:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return VectorWholeExp(v); });
    case UnaryKind::kLog: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return VectorLog(v); });
    case UnaryKind::kSin: return ApplySine(x, y, count, 0);
    case UnaryKind::kCos: return ApplySine(x, y, count, 1);
    case UnaryKind::kRsqrt:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return 1.0f / std::sqrt(v); });
    case UnaryKind::kSqrt: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return std::sqrt(v); });
    case UnaryKind::kSquare: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return v * v; });
    case UnaryKind::kCeil: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return std::ceil(v); });
    case UnaryKind::kFloor: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return std::floor(v); });
    case UnaryKind::kAbs: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return std::fabs(v); });
    case UnaryKind::kNeg: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return -v; });
    case UnaryKind::kSign:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER {
        return v > 0.0f ? 1.0f : v < 0.0f ? -1.0f : v;
      });
    case UnaryKind::kRelu6:
      return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER {
        return v < 0.0f ? 0.0f : v > 6.0f ? 6.0f : v;
      });
    case UnaryKind::kCopy:
    case UnaryKind::kQuantize:
    case UnaryKind::kDequantize: return ApplyVectors(x, y, count, [](float v) HEARTH_INTO_CALLER { return v; });
    default: break;
  }
  const auto function = RowOf(unary.kind).function;
  for (int64_t k = 0; k < count; ++k) y[k] = static_cast<float>(function(x[k], unary.alpha));
}

}  // namespace

void ApplyUnary(const Unary& unary, std::span<const float> x, std::span<float> y, WorkerPool& workers) {
  workers.ForEachPart(static_cast<int64_t>(x.size()), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
    ApplyPart(unary, x.data() + begin, y.data() + begin, end - begin);
  });
}

void ApplyUnary(const Unary& unary, std::span<const float> x, std::span<float> y) {
  ApplyPart(unary, x.data(), y.data(), static_cast<int64_t>(x.size()));
}

Result<std::unique_ptr<HostNode>> MakeUnaryNode(const HostNodeRequest& request) {
  const auto* unary = std::get_if<Unary>(&request.node.op);
  if (unary == nullptr || request.graph.IsConstant(request.node.inputs[0])) return nullptr;
  for (const TensorDesc* desc : {&request.in(0), &request.out()}) {
    if (HeldAs(*desc).dtype != DType::kFloat32) return nullptr;
  }
  const std::span<const float> x = request.arena.floats(request.node.inputs[0]);
  const HostOutput out(request);
  if (x.size() != out.floats().size()) return nullptr;
  return NodeOf("elementwise", [unary, x, out, &workers = request.workers] {
    ApplyUnary(*unary, x, out.floats(), workers);
    out.Finish();
  });
}

}  // namespace hearth
