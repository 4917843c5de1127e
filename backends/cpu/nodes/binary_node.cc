// Operations of two operands that XNNPACK lacks: comparisons, logic, integers, PRELU with any slopes, other broadcasts.
#include <cmath>

#include "backends/cpu/host/broadcast_rows.h"
#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vector_math.h"
#include "core/base/error.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

using Part = PairsPart;
using PartFunction = void (*)(const Part& part);

template <typename In, typename Out, auto function>
void VectorPart(const Part& part) {
  Vectorized<kMostForElements<In>>([&]() HEARTH_INTO_CALLER {
    ComputePairs<In, Out>(part, [](In a, In b) HEARTH_INTO_CALLER { return static_cast<Out>(function(a, b)); });
  });
}

// The same of a function that is called.
template <typename In, typename Out, auto function>
void CallingPart(const Part& part) {
  ComputePairs<In, Out>(part, function);
}

// Comparisons of any type. Missing ones are these with exchanged operands.
template <typename T>
PartFunction ComparisonOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kEqual: return VectorPart<T, uint8_t, [](T a, T b) HEARTH_INTO_CALLER { return a == b; }>;
    case BinaryKind::kNotEqual: return VectorPart<T, uint8_t, [](T a, T b) HEARTH_INTO_CALLER { return a != b; }>;
    case BinaryKind::kLess: return VectorPart<T, uint8_t, [](T a, T b) HEARTH_INTO_CALLER { return a < b; }>;
    case BinaryKind::kLessEqual: return VectorPart<T, uint8_t, [](T a, T b) HEARTH_INTO_CALLER { return a <= b; }>;
    default: return nullptr;
  }
}

template <typename T>
PartFunction IntegerFunctionOf(BinaryKind kind) {
  using U = std::make_unsigned_t<T>;  // unsigned, which wraps
  switch (kind) {
    case BinaryKind::kAdd: return VectorPart<U, U, [](U a, U b) HEARTH_INTO_CALLER { return a + b; }>;
    case BinaryKind::kSub: return VectorPart<U, U, [](U a, U b) HEARTH_INTO_CALLER { return a - b; }>;
    case BinaryKind::kMul: return VectorPart<U, U, [](U a, U b) HEARTH_INTO_CALLER { return a * b; }>;
    case BinaryKind::kMaximum: return VectorPart<T, T, [](T a, T b) HEARTH_INTO_CALLER { return a < b ? b : a; }>;
    case BinaryKind::kMinimum: return VectorPart<T, T, [](T a, T b) HEARTH_INTO_CALLER { return b < a ? b : a; }>;
    case BinaryKind::kBitwiseXor: return VectorPart<U, U, [](U a, U b) HEARTH_INTO_CALLER { return a ^ b; }>;
    case BinaryKind::kBitwiseAnd: return VectorPart<U, U, [](U a, U b) HEARTH_INTO_CALLER { return a & b; }>;
    default: return ComparisonOf<T>(kind);
  }
}

// F: float, or double.
template <typename F>
PartFunction RealFunctionOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kAdd: return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return a + b; }>;
    case BinaryKind::kSub: return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return a - b; }>;
    case BinaryKind::kMul: return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return a * b; }>;
    case BinaryKind::kDiv: return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return a / b; }>;
    case BinaryKind::kMaximum:
      return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return a < b || b != b ? b : a; }>;
    case BinaryKind::kMinimum:
      return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return b < a || b != b ? b : a; }>;
    case BinaryKind::kSquaredDifference:
      return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return (double{a} - b) * (double{a} - b); }>;
    case BinaryKind::kFloorDiv:
      return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return std::floor(double{a} / b); }>;
    case BinaryKind::kPow: return CallingPart<F, F, [](F a, F b) { return std::pow(a, b); }>;
    case BinaryKind::kAtan2:
      if constexpr (std::is_same_v<F, float>)
        return VectorPart<F, F, [](F a, F b) HEARTH_INTO_CALLER { return VectorAtan2(a, b); }>;
      return nullptr;
    default: return ComparisonOf<F>(kind);
  }
}

// Of -0 and -infinity 0 and infinity, as C's pow has it.
HEARTH_INTO_CALLER inline float RootOf(float a) {
  return std::sqrt(a == -INFINITY ? INFINITY : a + 0.0f);
}

// Powers with a known exponent.
PartFunction PowerOf(float exponent) {
  using F = float;
  if (exponent == 2.0f) return CallingPart<F, F, [](F a, F) { return a * a; }>;
  if (exponent == 3.0f) return CallingPart<F, F, [](F a, F) { return double{a} * a * a; }>;
  if (exponent == 0.5f) return CallingPart<F, F, [](F a, F) { return RootOf(a); }>;
  if (exponent == -0.5f) return CallingPart<F, F, [](F a, F) { return 1.0 / RootOf(a); }>;
  if (exponent == -1.0f) return CallingPart<F, F, [](F a, F) { return 1.0f / a; }>;
  return nullptr;
}

PartFunction BoolFunctionOf(BinaryKind kind) {
  using B = uint8_t;
  switch (kind) {
    case BinaryKind::kLogicalAnd:
      return VectorPart<B, B, [](B a, B b) HEARTH_INTO_CALLER { return (a != 0) & (b != 0); }>;
    case BinaryKind::kLogicalOr: return VectorPart<B, B, [](B a, B b) HEARTH_INTO_CALLER { return (a | b) != 0; }>;
    case BinaryKind::kEqual: return VectorPart<B, B, [](B a, B b) HEARTH_INTO_CALLER { return !a == !b; }>;
    case BinaryKind::kNotEqual: return VectorPart<B, B, [](B a, B b) HEARTH_INTO_CALLER { return !a != !b; }>;
    default: return ComparisonOf<B>(kind);
  }
}

PartFunction PReluFunction() {
  return VectorPart<float, float, [](float v, float slope) HEARTH_INTO_CALLER { return v < 0.0f ? slope * v : v; }>;
}

PartFunction FunctionOf(const Op& op, DType type) {
  if (std::holds_alternative<PRelu>(op)) return type == DType::kFloat32 ? PReluFunction() : nullptr;
  const BinaryKind kind = std::get<Binary>(op).kind;
  switch (type) {
    case DType::kFloat32: return RealFunctionOf<float>(kind);
    case DType::kFloat64: return RealFunctionOf<double>(kind);
    case DType::kInt32: return IntegerFunctionOf<int32_t>(kind);
    case DType::kInt64: return IntegerFunctionOf<int64_t>(kind);
    case DType::kUInt64: return IntegerFunctionOf<uint64_t>(kind);
    case DType::kBool: return BoolFunctionOf(kind);
    case DType::kInt8: return IntegerFunctionOf<int8_t>(kind);
    case DType::kUInt8: return IntegerFunctionOf<uint8_t>(kind);
    default: return nullptr;
  }
}

// Functions without a vectorized form: the reference's functions, on all threads.
template <typename T>
void ComputeByTable(const Part& part, const BinaryRow& row) {
  if constexpr (std::is_integral_v<T>) {
    if (row.integer_function != nullptr) {
      return ComputePairs<T, T>(
          part, [&](T a, T b) { return static_cast<T>(row.integer_function(a, b, static_cast<int>(8 * sizeof(T)))); });
    }
  }
  ComputePairs<T, T>(
      part, [&](T a, T b) { return static_cast<T>(row.function(static_cast<double>(a), static_cast<double>(b))); });
}

// A > B is computed as B < A.
bool Exchanges(const Op& op, Op& exchanged) {
  const auto* binary = std::get_if<Binary>(&op);
  if (binary == nullptr) return false;
  if (binary->kind == BinaryKind::kGreater) {
    exchanged = Binary{BinaryKind::kLess, binary->activation};
  } else if (binary->kind == BinaryKind::kGreaterEqual) {
    exchanged = Binary{BinaryKind::kLessEqual, binary->activation};
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeBinaryNode(const HostNodeRequest& request) {
  Op op = request.node.op;
  const auto* binary = std::get_if<Binary>(&op);
  if (binary == nullptr && !std::holds_alternative<PRelu>(op)) return nullptr;
  const TensorDesc out = HeldAs(request.out());
  HEARTH_ASSIGN(HostOperand a, HostOperandOf(request, 0));
  HEARTH_ASSIGN(HostOperand b, HostOperandOf(request, 1));
  if (a.bytes == nullptr || b.bytes == nullptr || a.desc.dtype != b.desc.dtype || out.shape.element_count() == 0) {
    return nullptr;
  }
  // A quantized operand that is not held as floats is refused: its stored numbers are not the values.
  const bool is_plain =
      !a.desc.quantization.has_value() && !b.desc.quantization.has_value() && !out.quantization.has_value();
  if (!is_plain || (out.dtype != a.desc.dtype && out.dtype != DType::kBool)) return nullptr;
  const Activation activation = binary != nullptr ? binary->activation : Activation::kNone;
  if (activation != Activation::kNone && out.dtype != DType::kFloat32) return nullptr;
  if (Exchanges(request.node.op, op)) std::swap(a, b);
  const DType type = a.desc.dtype;
  PartFunction function = FunctionOf(op, type);
  const bool is_power = binary != nullptr && binary->kind == BinaryKind::kPow && type == DType::kFloat32;
  if (is_power && b.is_constant && b.desc.shape.element_count() == 1) {
    if (const PartFunction power = PowerOf(*b.floats())) function = power;
  }
  const bool has_integers =
      type == DType::kInt32 || type == DType::kInt64 || type == DType::kInt8 || type == DType::kUInt8;
  const BinaryRow* row = binary == nullptr ? nullptr : &RowOf(binary->kind);
  const bool has_row =
      row != nullptr && out.dtype == type && (IsReal(a.desc) ? row->function != nullptr : has_integers);
  if (function == nullptr && !has_row) return nullptr;
  const BroadcastRows<2> rows(out.shape, {a.desc.shape, b.desc.shape});
  return NodeOf("binary", [function, row, rows, a = std::move(a), b = std::move(b), y = HostOutput(request, activation),
                           &workers = request.workers] {
    workers.ForEachPart(y.shape().element_count(), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
      const Part part{rows, a.bytes, b.bytes, y.bytes(), begin, end};
      if (function != nullptr) return function(part);
      switch (a.desc.dtype) {
        case DType::kInt32: return ComputeByTable<int32_t>(part, *row);
        case DType::kInt64: return ComputeByTable<int64_t>(part, *row);
        case DType::kInt8: return ComputeByTable<int8_t>(part, *row);
        case DType::kUInt8: return ComputeByTable<uint8_t>(part, *row);
        case DType::kFloat64: return ComputeByTable<double>(part, *row);
        default: return ComputeByTable<float>(part, *row);
      }
    });
    y.Finish();
  });
}

}  // namespace hearth
