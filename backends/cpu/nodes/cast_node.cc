// Conversion between element types that are not quantized.
#include <limits>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/vectorized.h"
#include "core/base/float16.h"
#include "core/graph/types.h"

namespace hearth {
namespace {

struct BoolElement {
  uint8_t stored;
};

// Floats are truncated and clamped to the type, NaN becomes the highest number; integers wrap.
template <typename To, typename From>
HEARTH_INTO_CALLER inline To Converted(From from) {
  if constexpr (std::is_same_v<From, BoolElement>) {
    return Converted<To>(static_cast<uint8_t>(from.stored != 0));
  } else if constexpr (std::is_same_v<To, BoolElement>) {
    return {static_cast<uint8_t>(from != From{0})};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr auto kLowest = static_cast<From>(std::numeric_limits<To>::min());
    constexpr auto kAbove =
        static_cast<From>(0x1p1 * static_cast<double>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)));
    if constexpr (sizeof(To) < sizeof(int32_t)) {  // without a branch
      constexpr auto kHighest = static_cast<From>(std::numeric_limits<To>::max());
      const From limited = from < kAbove ? from : kHighest;
      return static_cast<To>(static_cast<int32_t>(limited > kLowest ? limited : kLowest));
    }
    if (from <= kLowest) return std::numeric_limits<To>::min();
    return from < kAbove ? static_cast<To>(from) : std::numeric_limits<To>::max();
  } else {
    return static_cast<To>(from);
  }
}

template <typename From, typename To>
void ConvertPart(const std::byte* x, std::byte* y, int64_t begin, int64_t end) {
  constexpr bool kIsCommon = std::is_same_v<From, float> || std::is_same_v<To, float>;  // others would be 0.03 MB
  Vectorized<kIsCommon ? VectorSet::kAvx2 : VectorSet::kBase>([&]() HEARTH_INTO_CALLER {
    const From* const from = reinterpret_cast<const From*>(x) + begin;
    To* const to = reinterpret_cast<To*>(y) + begin;
    const int64_t count = end - begin;  // a copy, as stored bytes might be `end`
    HEARTH_INDEPENDENT for (int64_t k = 0; k < count; ++k) to[k] = Converted<To>(from[k]);
  });
}
void HalvesToFloats(const std::byte* x, std::byte* y, int64_t begin, int64_t end) {
  const auto* from = reinterpret_cast<const uint16_t*>(x);
  auto* __restrict to = reinterpret_cast<float*>(y);
  Vectorized<VectorSet::kAvx2>([=]() HEARTH_INTO_CALLER {
    for (int64_t k = begin; k < end; ++k) to[k] = HalfToFloat(from[k]);
  });
}
void FloatsToHalves(const std::byte* x, std::byte* y, int64_t begin, int64_t end) {
  const auto* from = reinterpret_cast<const float*>(x);
  auto* __restrict to = reinterpret_cast<uint16_t*>(y);
  Vectorized<VectorSet::kAvx2>([=]() HEARTH_INTO_CALLER {
    for (int64_t k = begin; k < end; ++k) to[k] = FloatToHalf(from[k]);
  });
}
using Conversion = void (*)(const std::byte* x, std::byte* y, int64_t begin, int64_t end);

// Calls use(element) with an element of the stored type, for each type that can be converted.
template <typename Use>
Conversion WithElementOf(DType type, const Use& use) {
  switch (type) {
    case DType::kFloat32: return use(float{});
    case DType::kInt32: return use(int32_t{});
    case DType::kInt64: return use(int64_t{});
    case DType::kInt16: return use(int16_t{});
    case DType::kInt8: return use(int8_t{});
    case DType::kUInt8: return use(uint8_t{});
    case DType::kUInt16: return use(uint16_t{});
    case DType::kUInt32: return use(uint32_t{});
    case DType::kFloat64: return use(double{});
    case DType::kBool: return use(BoolElement{});
    default: return nullptr;
  }
}

Conversion ConversionOf(DType from, DType to) {
  if (from == DType::kFloat16) return to == DType::kFloat32 ? HalvesToFloats : nullptr;
  if (to == DType::kFloat16) return from == DType::kFloat32 ? FloatsToHalves : nullptr;
  return WithElementOf(from, [&]<typename From>(From) {
    return WithElementOf(to, []<typename To>(To) -> Conversion { return ConvertPart<From, To>; });
  });
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeCastNode(const HostNodeRequest& request) {
  if (!std::holds_alternative<Cast>(request.node.op)) return nullptr;
  const TensorDesc &x = request.in(0), &y = request.out();
  if (x.quantization.has_value() || y.quantization.has_value()) return nullptr;
  HEARTH_ASSIGN(HostOperand operand, HostOperandOf(request, 0));
  const Conversion conversion = ConversionOf(operand.desc.dtype, y.dtype);
  if (conversion == nullptr) return nullptr;
  return NodeOf("cast", [conversion, from = std::move(operand), to = request.bytes(request.node.outputs[0]).data(),
                         count = y.shape.element_count(), &workers = request.workers] {
    workers.ForEachPart(count, kLeastElementsOfPart,
                        [&](int64_t begin, int64_t end) { conversion(from.bytes, to, begin, end); });
  });
}

}  // namespace hearth
