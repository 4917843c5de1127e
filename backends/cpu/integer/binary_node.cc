// Operations of two 8-bit numbers. Sums and products have the bits of XNNPACK, which computes them in LiteRT.
#include <algorithm>
#include <cmath>

#include "backends/cpu/host/vector_math.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kLeastBinaryElements = 32 * 1024;  // fewer take less time than waking a worker

// One operand: `period` elements that are repeated. The zero point is that of signed bytes.
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
  int32_t lowest = 0, highest = 0;  // the activation's steps from the output's zero point
  // A sum: the operands' steps times these, shifted right, are steps of the output. A difference has a negative one.
  int32_t a_factor = 0, b_factor = 0, shift = 0;
  float product_scale = 0;       // of a product of steps, in steps of the output
  bool chooses_smaller = false;  // of two numbers, else the larger one
  uint8_t flip = 0;              // 0x80 makes signed bytes of the operands' unsigned ones
};

// XNNPACK's fixed-point numbers: 21 bits of the larger ratio of scales. Returns false for ratios that it leaves to
// LiteRT's own kernels.
bool SetSum(BinaryTask& task, bool is_difference) {
  const float a = task.a.scale / task.grid.scale, b = task.b.scale / task.grid.scale;
  const float largest = std::max(a, b);
  if (!(std::min(a, b) >= 0x1p-10f && largest < 0x1p8f)) return false;
  task.shift = 20 - std::ilogb(largest);
  task.a_factor = static_cast<int32_t>(std::lrint(std::ldexp(a, task.shift)));
  task.b_factor = static_cast<int32_t>(std::lrint(std::ldexp(is_difference ? -b : b, task.shift)));
  return true;
}

bool SetProduct(BinaryTask& task) {
  task.product_scale = task.a.scale * task.b.scale / task.grid.scale;
  return task.product_scale >= 0x1p-16f && task.product_scale < 0x1p8f;
}

// `steps` makes the output's steps of the operands' ones. Copies the loop's numbers to locals, because byte stores may
// alias any other memory.
template <typename Steps>
void ApplyRun(const BinaryTask& task, int64_t begin, int64_t count, Steps steps) {
  Vectorized([&]() HEARTH_INTO_CALLER {
    const BinaryTask local = task;
    const int64_t length = count;
    const auto* __restrict a = reinterpret_cast<const uint8_t*>(local.a.bytes) + begin % local.a.period;
    const auto* __restrict b = reinterpret_cast<const uint8_t*>(local.b.bytes) + begin % local.b.period;
    auto* __restrict out = reinterpret_cast<uint8_t*>(local.out) + begin;
    const uint8_t flip = local.flip;
    const auto zero_point = static_cast<int32_t>(local.grid.zero_point);
    const auto apply = [&](int32_t x, int32_t y) HEARTH_INTO_CALLER {
      int32_t made = steps(local, x, y);
      made = made > local.lowest ? made : local.lowest;
      made = made < local.highest ? made : local.highest;
      return static_cast<uint8_t>(made + zero_point);
    };
    const int32_t a_zero = local.a.zero_point, b_zero = local.b.zero_point;
    const auto steps_of = [&](uint8_t byte, int32_t zero)
                              HEARTH_INTO_CALLER { return static_cast<int8_t>(byte ^ flip) - zero; };
    if (local.a.period > 1 && local.b.period > 1) {
      for (int64_t k = 0; k < length; ++k) out[k] = apply(steps_of(a[k], a_zero), steps_of(b[k], b_zero));
    } else if (local.a.period > 1) {
      const int32_t y = steps_of(b[0], b_zero);
      for (int64_t k = 0; k < length; ++k) out[k] = apply(steps_of(a[k], a_zero), y);
    } else {
      const int32_t x = steps_of(a[0], a_zero);
      for (int64_t k = 0; k < length; ++k) out[k] = apply(x, steps_of(b[k], b_zero));
    }
  });
}

HEARTH_INTO_CALLER inline int32_t SumOf(const BinaryTask& task, int32_t x, int32_t y) {
  return (x * task.a_factor + y * task.b_factor + (1 << (task.shift - 1))) >> task.shift;
}
HEARTH_INTO_CALLER inline int32_t ProductOf(const BinaryTask& task, int32_t x, int32_t y) {
  float steps = static_cast<float>(x * y) * task.product_scale;
  steps = steps > -1024.0f ? steps : -1024.0f;  // beyond any 8-bit number
  steps = steps < 1024.0f ? steps : 1024.0f;
  return static_cast<int32_t>(RoundedToEven(steps));
}
HEARTH_INTO_CALLER inline int32_t ChosenOf(const BinaryTask& task, int32_t x, int32_t y) {
  const float a = static_cast<float>(x) * task.a.scale, b = static_cast<float>(y) * task.b.scale;
  return StepsOf((a < b) == task.chooses_smaller ? a : b, task.grid);
}

void Apply(BinaryKind kind, const BinaryTask& task, int64_t begin, int64_t count) {
  switch (kind) {
    case BinaryKind::kAdd:
    case BinaryKind::kSub:
      return ApplyRun(task, begin, count,
                      [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER { return SumOf(of, x, y); });
    case BinaryKind::kMul:
      return ApplyRun(task, begin, count, [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER {
        return ProductOf(of, x, y);
      });
    default:
      return ApplyRun(task, begin, count,
                      [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER { return ChosenOf(of, x, y); });
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
                           [&](int64_t begin, int64_t end) { Apply(kind_, task_, begin, end - begin); });
    } else {
      workers_.ForEachPart(count / run, kLeastBinaryElements / run + 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) Apply(kind_, task_, k * run, run);
      });
    }
    return Status::Ok();
  }

 private:
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
  const int32_t zero_point = static_cast<int32_t>(grid.zero_point) - (desc.dtype == DType::kUInt8 ? 128 : 0);
  return ByteOperand{request.StoredBytes(value).data(), *period, grid.scale, zero_point};
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
  BinaryTask task{*a, *b, request.arena.stored(request.node.outputs[0]).data(), GridOf(out)};
  task.lowest = StepsOf(bounds->first, task.grid);
  task.highest = StepsOf(bounds->second, task.grid);
  task.chooses_smaller = binary->kind == BinaryKind::kMinimum;
  task.flip = out.dtype == DType::kUInt8 ? 0x80 : 0;
  const bool is_sum = binary->kind == BinaryKind::kAdd || binary->kind == BinaryKind::kSub;
  if (is_sum && !SetSum(task, binary->kind == BinaryKind::kSub)) return nullptr;
  if (binary->kind == BinaryKind::kMul && !SetProduct(task)) return nullptr;
  return std::make_unique<IntegerBinaryNode>(request, task);
}

}  // namespace hearth
