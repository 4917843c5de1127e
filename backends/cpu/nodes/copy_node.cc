// Nodes that only move bytes. The reference would convert each element twice.
#include <cstring>
#include <memory>
#include <optional>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "backends/cpu/integer/integer_nodes.h"
#include "core/graph/element.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

// Copies `rows` rows of `row_bytes` from dense `source` to every `target_stride_bytes` of `target`.
struct RowCopy {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  size_t rows = 0, row_bytes = 0, target_stride_bytes = 0;
  std::shared_ptr<const ByteTable> table;  // for 8-bit numbers that change
};

// A call of memcpy for each element of a column would cost more than the element.
template <typename T>
void CopyColumn(const RowCopy& copy) {
  const size_t stride = copy.target_stride_bytes;
  for (size_t row = 0; row < copy.rows; ++row)
    StoreAt(copy.target + row * stride, 0, LoadAt<T>(copy.source, static_cast<int64_t>(row)));
}

void CopyRows(const RowCopy& copy) {
  if (copy.table == nullptr && copy.row_bytes == 4) return CopyColumn<uint32_t>(copy);
  if (copy.table == nullptr && copy.row_bytes == 8) return CopyColumn<uint64_t>(copy);
  for (size_t row = 0; row < copy.rows; ++row) {
    std::byte* target = copy.target + row * copy.target_stride_bytes;
    const std::byte* source = copy.source + row * copy.row_bytes;
    if (copy.table == nullptr) {
      std::memcpy(target, source, copy.row_bytes);
    } else {
      ApplyTable(*copy.table, reinterpret_cast<const uint8_t*>(source), reinterpret_cast<uint8_t*>(target),
                 static_cast<int64_t>(copy.row_bytes));
    }
  }
}

// The axis along which the inputs are concatenated; nullopt for other nodes. A reshape is a concatenation of one input.
std::optional<int> CopiedAxis(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Reshape>(node.op)) return 0;
  if (const auto* unary = std::get_if<Unary>(&node.op); unary != nullptr && unary->kind == UnaryKind::kCopy) return 0;
  if (std::holds_alternative<Bitcast>(node.op)) return 0;
  if (const auto* pack = std::get_if<Pack>(&node.op)) return pack->axis;
  const auto* concat = std::get_if<Concat>(&node.op);
  if (concat == nullptr) return std::nullopt;
  const int rank = graph.value(node.outputs[0]).desc.shape.rank();
  return concat->axis < 0 ? concat->axis + rank : concat->axis;
}

size_t BytesFrom(const TensorDesc& desc, int axis) {
  return static_cast<size_t>(BitsOf(desc.dtype) / 8 * CountBetween(desc.shape, axis, desc.shape.rank()));
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeCopyNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  if (node.outputs.size() != 1) return nullptr;
  const std::optional<int> axis = CopiedAxis(graph, node);
  if (!axis) return nullptr;

  const bool is_joined = std::holds_alternative<Concat>(node.op) || std::holds_alternative<Pack>(node.op);
  const size_t operand_count = is_joined ? node.inputs.size() : 1;  // a reshape's new shape may be input 1
  const TensorDesc& stored_out = graph.value(node.outputs[0]).desc;
  const TensorDesc out = request.HeldAs(node.outputs[0]);
  const auto* concat = std::get_if<Concat>(&node.op);
  const Activation activation = concat != nullptr ? concat->activation : Activation::kNone;
  const Activation after = request.in_integers ? Activation::kNone : activation;
  if (after != Activation::kNone && out.dtype != DType::kFloat32) return nullptr;
  bool changes_grid = false;
  std::byte* target = request.bytes(node.outputs[0]).data();
  std::vector<RowCopy> copies;
  for (size_t k = 0; k < operand_count; ++k) {
    const ValueId value = node.inputs[k];
    if (value == kNoValue) return nullptr;
    const TensorDesc& stored_in = graph.value(value).desc;
    const TensorDesc in = request.HeldAs(value);
    changes_grid = changes_grid || (out.dtype == DType::kFloat32 && IsHeldAsFloats(stored_out) &&
                                    stored_in.quantization != stored_out.quantization);
    // 64-bit integers and any NaN keep their bits, which the reference's float64 would change.
    const bool is_alike = in.dtype == out.dtype || std::holds_alternative<Bitcast>(node.op);
    const bool stored_alike = is_alike && in.quantization == out.quantization && BitsOf(in.dtype) % 8 == 0;
    const bool per_axis = in.quantization.has_value() && in.quantization->scales.size() > 1;
    if ((!stored_alike && !request.in_integers) || per_axis) return nullptr;
    const std::span<const std::byte> source = request.StoredBytes(value);
    if (source.empty()) continue;
    RowCopy copy{source.data(), target, 1, source.size(), source.size(), nullptr};
    if (request.in_integers && (!stored_alike || activation != Activation::kNone)) {
      copy.table = std::make_shared<const ByteTable>(TableOf(in, out, Unary{UnaryOf(activation)}));
    }
    if (is_joined) {
      copy.row_bytes = BytesFrom(in, *axis);
      copy.rows = source.size() / copy.row_bytes;
      copy.target_stride_bytes = BytesFrom(out, *axis);
    }
    target += copy.row_bytes;
    copies.push_back(copy);
  }
  const bool changes_numbers = after != Activation::kNone || changes_grid;  // what is copied is not yet the output
  return NodeOf("copy", [copies = std::move(copies), result = HostOutput(request, after), changes_numbers] {
    for (const RowCopy& copy : copies) CopyRows(copy);
    if (changes_numbers) result.Finish();
  });
}

}  // namespace hearth
