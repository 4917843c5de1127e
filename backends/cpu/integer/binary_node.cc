// Operations of two 8-bit numbers, with the same float arithmetic as for values held as floats, but without storing
// floats.
#include <algorithm>

#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "backends/cpu/vectorized.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kLeastBinaryElements = 32 * 1024;  // fewer take less time than waking a worker

// One operand: `period` elements that are repeated.
struct ByteOperand {
  const std::byte* bytes = nullptr;
  int64_t period = 1;
  float scale = 1;
  int32_t zero_point = 0;
};

struct BinaryTask {
  ByteOperand a, b;
  std::byte* out = nullptr;
  TensorGrid grid;
  float lowest = 0, highest = 0;  // the activation's real numbers
};

// Copies the loop's numbers to locals, because byte stores may alias any other memory.
template <typename T, typename Function>
void ApplyRun(const BinaryTask& task, int64_t begin, int64_t count, Function function) {
  Vectorized([&]() HEARTH_INTO_CALLER {
    const BinaryTask local = task;
    const int64_t length = count;
    const auto* __restrict a = reinterpret_cast<const T*>(local.a.bytes) + begin % local.a.period;
    const auto* __restrict b = reinterpret_cast<const T*>(local.b.bytes) + begin % local.b.period;
    auto* __restrict out = reinterpret_cast<T*>(local.out) + begin;
    const auto zero_point = static_cast<int32_t>(local.grid.zero_point);
    const auto of = [](const ByteOperand& operand, T stored)
                        HEARTH_INTO_CALLER { return static_cast<float>(stored - operand.zero_point) * operand.scale; };
    const auto apply = [&](float x, float y) HEARTH_INTO_CALLER {
      float real = function(x, y);
      real = real > local.lowest ? real : local.lowest;
      real = real < local.highest ? real : local.highest;
      return static_cast<T>(StepsOf(real, local.grid) + zero_point);
    };
    if (local.a.period > 1 && local.b.period > 1) {
      for (int64_t k = 0; k < length; ++k) out[k] = apply(of(local.a, a[k]), of(local.b, b[k]));
    } else if (local.a.period > 1) {
      const float y = of(local.b, b[0]);
      for (int64_t k = 0; k < length; ++k) out[k] = apply(of(local.a, a[k]), y);
    } else {
      const float x = of(local.a, a[0]);
      for (int64_t k = 0; k < length; ++k) out[k] = apply(x, of(local.b, b[k]));
    }
  });
}

template <typename T>
void Apply(BinaryKind kind, const BinaryTask& task, int64_t begin, int64_t count) {
  switch (kind) {
    case BinaryKind::kAdd:
      return ApplyRun<T>(task, begin, count, [](float x, float y) HEARTH_INTO_CALLER { return x + y; });
    case BinaryKind::kSub:
      return ApplyRun<T>(task, begin, count, [](float x, float y) HEARTH_INTO_CALLER { return x - y; });
    case BinaryKind::kMul:
      return ApplyRun<T>(task, begin, count, [](float x, float y) HEARTH_INTO_CALLER { return x * y; });
    case BinaryKind::kMaximum:
      return ApplyRun<T>(task, begin, count, [](float x, float y) HEARTH_INTO_CALLER { return x > y ? x : y; });
    default: return ApplyRun<T>(task, begin, count, [](float x, float y) HEARTH_INTO_CALLER { return x < y ? x : y; });
  }
}

class IntegerBinaryNode final : public HostNode {
 public:
  IntegerBinaryNode(const HostNodeRequest& request, const BinaryTask& task)
      : kind_(std::get<Binary>(request.node.op).kind),
        out_(request.graph.value(request.node.outputs[0]).desc),
        task_(task),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "integer"; }

  Status Run(RunControl* /*control*/) override {
    // Ends a run of elements where an operand starts over.
    const int64_t count = out_.shape.element_count();
    int64_t run = count;
    for (int64_t period : {task_.a.period, task_.b.period}) run = period > 1 ? std::min(run, period) : run;
    if (run == count) {
      workers_.ForEachPart(count, kLeastBinaryElements,
                           [&](int64_t begin, int64_t end) { ApplyElements(begin, end - begin); });
    } else {
      workers_.ForEachPart(count / run, kLeastBinaryElements / run + 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) ApplyElements(k * run, run);
      });
    }
    return Status::Ok();
  }

 private:
  void ApplyElements(int64_t begin, int64_t count) const {
    out_.dtype == DType::kInt8 ? Apply<int8_t>(kind_, task_, begin, count) : Apply<uint8_t>(kind_, task_, begin, count);
  }

  BinaryKind kind_;
  const TensorDesc& out_;
  BinaryTask task_;
  WorkerPool& workers_;
};

bool IsTaken(BinaryKind kind) {
  return kind == BinaryKind::kAdd || kind == BinaryKind::kSub || kind == BinaryKind::kMul ||
         kind == BinaryKind::kMaximum || kind == BinaryKind::kMinimum;
}

// The number of elements that repeat to fill `out`; nullopt if an inner dimension is repeated.
std::optional<int64_t> PeriodOf(const Shape& shape, const Shape& out) {
  int d = 0;
  while (d < shape.rank() && shape[d] == 1) ++d;
  for (int k = shape.rank() - 1, o = out.rank() - 1; k >= d; --k, --o) {
    if (shape[k] != out[o]) return std::nullopt;
  }
  return shape.element_count();
}

std::optional<ByteOperand> ByteOperandOf(const HostNodeRequest& request, size_t k) {
  const ValueId value = request.node.inputs[k];
  const TensorDesc& desc = request.graph.value(value).desc;
  const TensorDesc& out = request.graph.value(request.node.outputs[0]).desc;
  const auto period = PeriodOf(desc.shape, out.shape);
  if (!IsStoredIn8Bits(desc) || desc.dtype != out.dtype || !period) return std::nullopt;
  const TensorGrid grid = GridOf(desc);
  const std::byte* bytes =
      request.graph.IsConstant(value) ? request.graph.ConstantBytes(value).data() : request.arena.stored(value).data();
  return ByteOperand{bytes, *period, grid.scale, static_cast<int32_t>(grid.zero_point)};
}

}  // namespace

std::unique_ptr<HostNode> MakeIntegerBinaryNode(const HostNodeRequest& request) {
  const auto* binary = std::get_if<Binary>(&request.node.op);
  if (binary == nullptr || !IsTaken(binary->kind)) return nullptr;
  const TensorDesc& out = request.graph.value(request.node.outputs[0]).desc;
  const auto bounds = ActivationBounds(binary->activation);
  if (!bounds || !IsStoredIn8Bits(out)) return nullptr;
  const auto a = ByteOperandOf(request, 0), b = ByteOperandOf(request, 1);
  const int64_t count = out.shape.element_count();
  if (!a || !b || (a->period < count && b->period < count)) return nullptr;
  return std::make_unique<IntegerBinaryNode>(
      request, BinaryTask{*a, *b, request.arena.stored(request.node.outputs[0]).data(), GridOf(out), bounds->first,
                          bounds->second});
}

}  // namespace hearth
