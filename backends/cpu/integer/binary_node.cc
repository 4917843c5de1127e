// Operations of two 8-bit numbers. Sums and products have the bits of XNNPACK, which computes them in LiteRT.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/cpu/host/broadcast_rows.h"
#include "backends/cpu/host/vector_math.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "core/base/contains.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kLeastBinaryElements = 32 * 1024;  // fewer take less time than waking a worker

// One operand. The zero point is that of signed bytes.
struct ByteOperand {
  const std::byte* bytes = nullptr;
  float scale = 1;
  int32_t zero_point = 0;
};

struct BinaryTask {
  ByteOperand a, b;
  TensorGrid grid;
  int32_t lowest = 0, highest = 0;  // the activation's steps from the output's zero point
  // A sum: the operands' steps times these, shifted right, are steps of the output. A difference has a negative one.
  int32_t a_factor = 0, b_factor = 0, shift = 0;
  float product_scale = 0;       // of a product of steps, in steps of the output
  bool chooses_smaller = false;  // of two numbers, else the larger one
  bool is_of_one_grid = false;   // the output and what it is chosen from
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

// `steps` makes the output's steps of the operands' ones. The task is a copy, because byte stores may alias any other
// memory.
template <typename Steps>
void ApplyPart(const BinaryTask& task, const PairsPart& part, Steps steps) {
  Vectorized([&]() HEARTH_INTO_CALLER {
    const auto zero_point = static_cast<int32_t>(task.grid.zero_point);
    ComputePairs<uint8_t, uint8_t>(part, [task, zero_point, steps](uint8_t a, uint8_t b) HEARTH_INTO_CALLER {
      const int32_t x = static_cast<int8_t>(a ^ task.flip) - task.a.zero_point;
      const int32_t y = static_cast<int8_t>(b ^ task.flip) - task.b.zero_point;
      int32_t made = steps(task, x, y);
      made = made > task.lowest ? made : task.lowest;
      made = made < task.highest ? made : task.highest;
      return static_cast<uint8_t>(made + zero_point);
    });
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

void Apply(BinaryKind kind, const BinaryTask& task, const PairsPart& part) {
  if (kind == BinaryKind::kAdd || kind == BinaryKind::kSub) {
    return ApplyPart(task, part,
                     [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER { return SumOf(of, x, y); });
  }
  if (kind == BinaryKind::kMul) {
    return ApplyPart(task, part,
                     [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER { return ProductOf(of, x, y); });
  }
  if (task.is_of_one_grid) {
    return ApplyPart(task, part, [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER {
      return (x < y) == of.chooses_smaller ? x : y;
    });
  }
  ApplyPart(task, part,
            [](const BinaryTask& of, int32_t x, int32_t y) HEARTH_INTO_CALLER { return ChosenOf(of, x, y); });
}

bool IsTaken(BinaryKind kind) {
  return kind == BinaryKind::kAdd || kind == BinaryKind::kSub || kind == BinaryKind::kMul ||
         kind == BinaryKind::kMaximum || kind == BinaryKind::kMinimum;
}

std::optional<ByteOperand> ByteOperandOf(const HostNodeRequest& request, size_t k) {
  const ValueId value = request.node.inputs[k];
  const TensorDesc& desc = request.graph.value(value).desc;
  const TensorDesc& out = request.out();
  if (!IsStoredIn8Bits(desc) || desc.dtype != out.dtype) return std::nullopt;
  const TensorGrid grid = GridOf(desc);
  const int32_t zero_point = static_cast<int32_t>(grid.zero_point) - (desc.dtype == DType::kUInt8 ? 128 : 0);
  return ByteOperand{request.StoredBytes(value).data(), grid.scale, zero_point};
}

// The node that makes `value`, if it is one of the last before `node`.
const Node* MakerBefore(const Graph& graph, const Node& node, ValueId value) {
  constexpr std::ptrdiff_t kMostBetween = 8;
  const Node* const first = graph.nodes().data();
  for (const Node* before = &node; before != first && &node - before < kMostBetween;) {
    if (Contains((--before)->outputs, value)) return before;
  }
  return nullptr;
}

// Of x and a function of x, as in x * sigmoid(x): one table of x.
std::unique_ptr<HostNode> MakeTableOfBoth(const HostNodeRequest& request, BinaryKind kind, const BinaryTask& task) {
  const std::vector<ValueId>& inputs = request.node.inputs;
  for (const size_t position : {size_t{0}, size_t{1}}) {
    const ValueId x = inputs[position], other = inputs[1 - position];
    const Node* const maker = MakerBefore(request.graph, request.node, other);
    const Shape &in = request.graph.value(x).desc.shape, &out = request.out().shape;
    if (maker == nullptr || request.graph.IsConstant(x) || maker->inputs[0] != x || in != out) continue;
    const std::optional<ByteTable> function = UnaryTableOf(request.graph, *maker);
    if (!function) continue;
    ByteTable all, table;
    std::iota(all.begin(), all.end(), uint8_t{0});
    const std::byte *of_x = reinterpret_cast<const std::byte*>(all.data()),
                    *of_function = reinterpret_cast<const std::byte*>(function->data());
    const Shape bytes{static_cast<int32_t>(all.size())};
    Apply(kind, task,
          {BroadcastRows<2>(bytes, {bytes, bytes}), position == 0 ? of_x : of_function,
           position == 0 ? of_function : of_x, reinterpret_cast<std::byte*>(table.data()), 0, std::ssize(all)});
    return MakeTableNode(request, table, position, other);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<HostNode> MakeIntegerBinaryNode(const HostNodeRequest& request) {
  const auto* binary = std::get_if<Binary>(&request.node.op);
  if (binary == nullptr || !IsTaken(binary->kind)) return nullptr;
  const TensorDesc& out = request.out();
  const auto bounds = ActivationBounds(binary->activation);
  if (!bounds || !IsStoredIn8Bits(out)) return nullptr;
  const auto a = ByteOperandOf(request, 0), b = ByteOperandOf(request, 1);
  if (!a || !b || out.shape.element_count() == 0) return nullptr;
  BinaryTask task{*a, *b, GridOf(out)};
  task.lowest = StepsOf(bounds->first, task.grid);
  task.highest = StepsOf(bounds->second, task.grid);
  task.chooses_smaller = binary->kind == BinaryKind::kMinimum;
  const auto is_on_grid = [&](size_t k) { return request.in(k).quantization == out.quantization; };
  task.is_of_one_grid = is_on_grid(0) && is_on_grid(1);
  task.flip = out.dtype == DType::kUInt8 ? 0x80 : 0;
  const bool is_sum = binary->kind == BinaryKind::kAdd || binary->kind == BinaryKind::kSub;
  if (is_sum && !SetSum(task, binary->kind == BinaryKind::kSub)) return nullptr;
  if (binary->kind == BinaryKind::kMul && !SetProduct(task)) return nullptr;
  if (std::unique_ptr<HostNode> table = MakeTableOfBoth(request, binary->kind, task)) return table;
  const BroadcastRows<2> rows(out.shape, {request.in(0).shape, request.in(1).shape});
  return NodeOf("integer", [kind = binary->kind, task, rows, count = out.shape.element_count(),
                            y = request.bytes(request.node.outputs[0]).data(), &workers = request.workers] {
    workers.ForEachPart(count, kLeastBinaryElements, [&](int64_t begin, int64_t end) {
      Apply(kind, task, {rows, task.a.bytes, task.b.bytes, y, begin, end});
    });
  });
}

}  // namespace hearth
