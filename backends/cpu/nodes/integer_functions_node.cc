// Functions of single integers, truth values and float64, and sums of any number of tensors.
#include <algorithm>
#include <vector>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/host/vectorized.h"
#include "core/base/error.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

template <typename T>
void ApplyPart(const Unary& unary, const T* from, T* to, int64_t elements) {
  using U = std::make_unsigned_t<T>;  // unsigned, which wraps
  Vectorized<kMostFor<T>>([&]() HEARTH_INTO_CALLER {
    const T* const x = from;  // copies, which what is stored can't be
    T* const y = to;
    const int64_t count = elements;
    switch (unary.kind) {
      case UnaryKind::kNeg:
        for (int64_t k = 0; k < count; ++k) y[k] = static_cast<T>(U{0} - static_cast<U>(x[k]));
        break;
      case UnaryKind::kAbs:
        for (int64_t k = 0; k < count; ++k) y[k] = x[k] < 0 ? static_cast<T>(U{0} - static_cast<U>(x[k])) : x[k];
        break;
      case UnaryKind::kSign:
        for (int64_t k = 0; k < count; ++k) y[k] = static_cast<T>((x[k] > 0) - (x[k] < 0));
        break;
      case UnaryKind::kSquare:
        for (int64_t k = 0; k < count; ++k) y[k] = static_cast<T>(static_cast<U>(x[k]) * static_cast<U>(x[k]));
        break;
      default:  // kLogicalNot
        for (int64_t k = 0; k < count; ++k) y[k] = static_cast<T>(x[k] == 0);
    }
  });
}

void ApplyPart(const Unary& unary, const double* x, double* y, int64_t count) {
  const auto function = RowOf(unary.kind).function;
  for (int64_t k = 0; k < count; ++k) y[k] = function(x[k], unary.alpha);
}

// Sums of floats are float64; sums of integers wrap.
template <typename T, typename Sum>
void AddAll(std::span<const HostOperand> operands, const HostOutput& out, WorkerPool& workers) {
  T* y = out.as<T>();
  workers.ForEachPart(out.shape().element_count(), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
    Vectorized([&]() HEARTH_INTO_CALLER {
      constexpr int64_t kChunk = 256;
      for (int64_t first = begin; first < end; first += kChunk) {
        const int64_t count = std::min(kChunk, end - first);
        Sum sums[kChunk] = {};
        for (const HostOperand& operand : operands) {
          const T* x = operand.as<T>() + first;
          for (int64_t k = 0; k < count; ++k) sums[k] += static_cast<Sum>(x[k]);
        }
        for (int64_t k = 0; k < count; ++k) y[first + k] = static_cast<T>(sums[k]);
      }
    });
  });
}

Result<std::unique_ptr<HostNode>> MakeAddAllNode(const HostNodeRequest& request) {
  const TensorDesc out = HeldAs(request.out());
  const bool is_number = out.dtype == DType::kFloat32 || out.dtype == DType::kInt32 || out.dtype == DType::kInt64;
  if (!is_number || out.quantization.has_value()) return nullptr;
  std::vector<HostOperand> operands(request.node.inputs.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    HEARTH_ASSIGN(operands[k], HostOperandOf(request, k));
    if (operands[k].bytes == nullptr || operands[k].desc.dtype != out.dtype) return nullptr;
  }
  if (operands.empty()) return nullptr;
  return NodeOf("add all", [operands = std::move(operands), out = HostOutput(request), &workers = request.workers] {
    switch (operands[0].desc.dtype) {
      case DType::kInt32: AddAll<uint32_t, uint32_t>(operands, out, workers); break;
      case DType::kInt64: AddAll<uint64_t, uint64_t>(operands, out, workers); break;
      default: AddAll<float, double>(operands, out, workers);
    }
    out.Finish();
  });
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeIntegerFunctionNode(const HostNodeRequest& request) {
  if (std::holds_alternative<AddN>(request.node.op)) return MakeAddAllNode(request);
  const auto* unary = std::get_if<Unary>(&request.node.op);
  if (unary == nullptr) return nullptr;
  HEARTH_ASSIGN(HostOperand x, HostOperandOf(request, 0));
  const TensorDesc& out = request.out();
  if (x.bytes == nullptr || x.desc.quantization.has_value() || out.dtype != x.desc.dtype) return nullptr;
  const bool is_integer = out.dtype == DType::kInt32 || out.dtype == DType::kInt64 || out.dtype == DType::kInt8 ||
                          out.dtype == DType::kUInt8;
  const bool is_arithmetic = unary->kind == UnaryKind::kNeg || unary->kind == UnaryKind::kAbs ||
                             unary->kind == UnaryKind::kSign || unary->kind == UnaryKind::kSquare;
  const bool is_negation = unary->kind == UnaryKind::kLogicalNot && out.dtype == DType::kBool;
  const bool is_function = out.dtype == DType::kFloat64 && RowOf(unary->kind).function != nullptr;
  if (!(is_integer && is_arithmetic) && !is_negation && !is_function) return nullptr;
  return NodeOf("elementwise", [unary, x = std::move(x), y = request.bytes(request.node.outputs[0]).data(),
                                &workers = request.workers] {
    const auto apply = [&]<typename T>(T) {
      workers.ForEachPart(x.desc.shape.element_count(), kLeastElementsOfPart, [&](int64_t begin, int64_t end) {
        ApplyPart(*unary, x.as<T>() + begin, reinterpret_cast<T*>(y) + begin, end - begin);
      });
    };
    switch (x.desc.dtype) {
      case DType::kInt32: return apply(int32_t{});
      case DType::kInt64: return apply(int64_t{});
      case DType::kInt8: return apply(int8_t{});
      case DType::kFloat64: return apply(double{});
      default: return apply(uint8_t{});
    }
  });
}

}  // namespace hearth
