// Functions of one 8-bit number as tables; quantization and dequantization.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vector_math.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/requantize.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kLeastUnaryElements = 64 * 1024;  // fewer take less time than waking a worker

uint8_t ByteOf(DType dtype, int64_t number) {
  return dtype == DType::kInt8 ? static_cast<uint8_t>(static_cast<int8_t>(number)) : static_cast<uint8_t>(number);
}

// QUANTIZE between 8-bit grids and LEAKY_RELU have the bits of XNNPACK, which keeps 8 bits of the ratio of the scales.
// nullopt for ratios that it leaves to LiteRT's own kernels.
std::optional<ByteTable> CoarseTableOf(const TensorDesc& in, const TensorDesc& out, const Unary& function) {
  const bool is_leaky = function.kind == UnaryKind::kLeakyRelu;
  if ((!is_leaky && function.kind != UnaryKind::kQuantize) || in.dtype != out.dtype) return std::nullopt;
  const TensorGrid from = GridOf(in), to = GridOf(out);
  const float ratio = from.scale / to.scale, of_negative = is_leaky ? ratio * function.alpha : ratio;
  const auto is_in_range = [](float number) { return number >= 0x1p-8f && number <= 0x1p7f; };
  if (!is_in_range(ratio) || !is_in_range(std::fabs(of_negative))) return std::nullopt;
  const int64_t factor = std::lrint(256.0f * ratio), negative_factor = std::lrint(256.0f * of_negative);
  ByteTable table{};
  for (int64_t k = 0; k < 256; ++k) {
    const int64_t number = in.dtype == DType::kInt8 ? k - 128 : k, steps = number - from.zero_point;
    const int64_t made = (steps * (steps < 0 ? negative_factor : factor) + 128) >> 8;
    const auto lowest = static_cast<int64_t>(to.lowest), highest = static_cast<int64_t>(to.highest);
    table[ByteOf(in.dtype, number)] = ByteOf(out.dtype, std::clamp(made, lowest, highest) + to.zero_point);
  }
  return table;
}

class TableNode final : public HostNode {
 public:
  TableNode(const HostNodeRequest& request, const ByteTable& table, size_t position, ValueId unread)
      : x_(request.arena.stored(request.node.inputs[position])),
        y_(request.arena.stored(request.node.outputs[0])),
        table_(table),
        unread_(unread),
        workers_(request.workers) {}

  std::string_view kernel() const override { return "integer"; }
  ValueId unread() const override { return unread_; }

  Status Run(RunControl* /*control*/) override {
    const auto* x = reinterpret_cast<const uint8_t*>(x_.data());
    auto* y = reinterpret_cast<uint8_t*>(y_.data());
    workers_.ForEachPart(static_cast<int64_t>(x_.size()), kLeastUnaryElements,
                         [&](int64_t begin, int64_t end) { ApplyTable(table_, x + begin, y + begin, end - begin); });
    return Status::Ok();
  }

 private:
  std::span<const std::byte> x_;
  std::span<std::byte> y_;
  ByteTable table_;
  ValueId unread_;
  WorkerPool& workers_;
};

// Ties go to even, as in XNNPACK. NaN becomes the lowest number.
template <typename T, bool kDivides>
void QuantizeBy(const TensorGrid& of_tensor, const float* floats, std::byte* bytes, int64_t elements) {
  Vectorized([&]() HEARTH_INTO_CALLER {
    const TensorGrid grid = of_tensor;
    const auto zero_point = static_cast<int32_t>(grid.zero_point);
    const float* x = floats;
    T* __restrict y = reinterpret_cast<T*>(bytes);
    const int64_t count = elements;
    for (int64_t k = 0; k < count; ++k) {
      float steps = kDivides ? x[k] / grid.scale : x[k] * grid.inverse;
      steps = steps > grid.lowest ? steps : grid.lowest;
      steps = steps < grid.highest ? steps : grid.highest;
      y[k] = static_cast<T>(static_cast<int32_t>(RoundedToEven(steps)) + zero_point);
    }
  });
}

std::unique_ptr<HostNode> QuantizeOf(const HostNodeRequest& request, bool divides) {
  const TensorDesc& desc = request.out();
  const bool is_signed = desc.dtype == DType::kInt8;
  const auto quantize = divides ? (is_signed ? QuantizeBy<int8_t, true> : QuantizeBy<uint8_t, true>)
                                : (is_signed ? QuantizeBy<int8_t, false> : QuantizeBy<uint8_t, false>);
  return NodeOf("integer", [quantize, grid = GridOf(desc), x = request.arena.floats(request.node.inputs[0]),
                            y = request.arena.stored(request.node.outputs[0]).data(), &workers = request.workers] {
    workers.ForEachPart(ssize(x), kLeastUnaryElements,
                        [&](int64_t begin, int64_t end) { quantize(grid, x.data() + begin, y + begin, end - begin); });
  });
}

std::unique_ptr<HostNode> DequantizeOf(const HostNodeRequest& request) {
  return NodeOf("integer", [&desc = request.in(0), x = request.arena.stored(request.node.inputs[0]),
                            y = request.arena.floats(request.node.outputs[0]), &workers = request.workers] {
    workers.ForEachPart(ssize(y), kLeastUnaryElements, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
      ToFloats(desc, x.subspan(first, count), y.subspan(first, count));
    });
  });
}

}  // namespace

ByteTable TableOf(const TensorDesc& in, const TensorDesc& out, const Unary& function) {
  const TensorGrid from = GridOf(in), to = GridOf(out);
  const auto apply = RowOf(function.kind).function;
  ByteTable table{};
  for (int64_t k = 0; k < 256; ++k) {
    const int64_t number = in.dtype == DType::kInt8 ? k - 128 : k;
    const double real = static_cast<double>(number - from.zero_point) * static_cast<double>(from.scale);
    table[ByteOf(in.dtype, number)] =
        ByteOf(out.dtype, static_cast<int64_t>(StoredNumber(apply(real, function.alpha), to)));
  }
  return table;
}

#if defined(__x86_64__)
namespace {

// With AVX-512's permutations of bytes, 64 elements at once. Returns how many it did.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) int64_t ApplyTableVbmi(const ByteTable& table, const uint8_t* x,
                                                                              uint8_t* y, int64_t count) {
  __m512i parts[4];
  for (size_t k = 0; k < 4; ++k) parts[k] = _mm512_loadu_si512(table.data() + 64 * k);
  int64_t k = 0;
  for (; k + 64 <= count; k += 64) {
    const __m512i bytes = _mm512_loadu_si512(x + k);
    const __m512i low = _mm512_permutex2var_epi8(parts[0], bytes, parts[1]);
    const __m512i high = _mm512_permutex2var_epi8(parts[2], bytes, parts[3]);
    _mm512_storeu_si512(y + k, _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high));
  }
  return k;
}

bool HasVbmi() {
  static const bool has = BestVectorSet() == VectorSet::kAvx512 && __builtin_cpu_supports("avx512vbmi") != 0;
  return has;
}

}  // namespace
#endif

void ApplyTable(const ByteTable& table, const uint8_t* x, uint8_t* y, int64_t count) {
  int64_t k = 0;
#if defined(__x86_64__)
  if (HasVbmi()) k = ApplyTableVbmi(table, x, y, count);
#endif
  for (; k < count; ++k) y[k] = table[x[k]];
}

std::optional<ByteTable> UnaryTableOf(const Graph& graph, const Node& node) {
  const auto* unary = std::get_if<Unary>(&node.op);
  if (unary == nullptr || RowOf(unary->kind).function == nullptr) return std::nullopt;
  const TensorDesc &in = graph.value(node.inputs[0]).desc, &out = graph.value(node.outputs[0]).desc;
  if (!IsStoredIn8Bits(in) || !IsStoredIn8Bits(out)) return std::nullopt;
  const std::optional<ByteTable> coarse = CoarseTableOf(in, out, *unary);
  return coarse ? *coarse : TableOf(in, out, *unary);
}

std::unique_ptr<HostNode> MakeTableNode(const HostNodeRequest& request, const ByteTable& table, size_t position,
                                        ValueId unread) {
  return std::make_unique<TableNode>(request, table, position, unread);
}

std::unique_ptr<HostNode> MakeIntegerUnaryNode(const HostNodeRequest& request) {
  const auto* unary = std::get_if<Unary>(&request.node.op);
  if (unary == nullptr || request.graph.IsConstant(request.node.inputs[0])) return nullptr;
  const TensorDesc& in = request.in(0);
  const TensorDesc& out = request.out();
  if (in.shape.element_count() != out.shape.element_count()) return nullptr;
  const bool from_8_bits = IsStoredIn8Bits(in), to_8_bits = IsStoredIn8Bits(out);
  if (from_8_bits && to_8_bits) {
    const std::optional<ByteTable> table = UnaryTableOf(request.graph, request.node);
    return table ? MakeTableNode(request, *table, 0, kNoValue) : nullptr;
  }
  if (unary->kind == UnaryKind::kQuantize && IsPlainFloat32(in) && to_8_bits)
    return QuantizeOf(request, unary->alpha == 1.0f);
  if (unary->kind == UnaryKind::kDequantize && from_8_bits && IsPlainFloat32(out)) return DequantizeOf(request);
  return nullptr;
}

}  // namespace hearth
