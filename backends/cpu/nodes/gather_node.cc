// Moves whole slices to or from indices that are known only in a run: table look-ups, updates of caches.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/float_reader.h"
#include "core/graph/ops/axis_split.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {
namespace {

// Indices outside are clamped, as in the reference.
int64_t Nearest(int64_t index, int64_t length) {
  return std::clamp<int64_t>(index, 0, length - 1);
}

int64_t BytesOf(const TensorDesc& desc) {
  return BitsOf(desc.dtype) / 8;
}

template <typename T>
void CopyElements(const std::byte* x, std::span<const int64_t> from, std::byte* out) {
  for (size_t k = 0; k < from.size(); ++k) StoreAt(out, static_cast<int64_t>(k), LoadAt<T>(x, from[k]));
}

void CopySlices(const std::byte* x, int64_t slice_bytes, std::span<const int64_t> from, std::byte* out) {
  if (slice_bytes == 4) return CopyElements<uint32_t>(x, from, out);
  if (slice_bytes == 8) return CopyElements<uint64_t>(x, from, out);
  for (const int64_t slice : from) {
    std::memcpy(out, x + slice * slice_bytes, static_cast<size_t>(slice_bytes));
    out += slice_bytes;
  }
}

// Makes output slices. find(first, from): the slices of x for those from `first` on.
template <typename Find>
void MoveSlices(const std::byte* x, int64_t slice_bytes, int64_t begin, int64_t end, std::byte* out, const Find& find) {
  std::array<int64_t, 256> from;
  for (int64_t first = begin; first < end; first += std::ssize(from)) {
    const std::span found(from.data(), static_cast<size_t>(std::min<int64_t>(end - first, std::ssize(from))));
    find(first, found);
    CopySlices(x, slice_bytes, found, out + first * slice_bytes);
  }
}

// move(begin, end, out) makes these output slices.
template <typename Move>
std::unique_ptr<HostNode> LookUpOf(const HostNodeRequest& request, int64_t slices, int64_t slice_bytes, Move move) {
  return NodeOf("look-up", [slices, least = kLeastBytesOfPart / slice_bytes + 1, move = std::move(move),
                            y = HostOutput(request), &workers = request.workers] {
    workers.ForEachPart(slices, least, [&](int64_t begin, int64_t end) { move(begin, end, y.bytes()); });
    y.Finish();
  });
}

// Of slices that are elements, as of tables in which trees look up what to ask.
template <typename T, typename Index>
void Take(const GatherSplit& split, const HostOperand& x, const HostOperand& indices, int64_t begin, int64_t end,
          std::byte* out) {
  const Index last = static_cast<Index>(split.length - 1);
  T* const to = reinterpret_cast<T*>(out);
  for (int64_t at = begin; at < end;) {
    const int64_t outer = at / split.count, first = at % split.count;
    const int64_t count = std::min(split.count - first, end - at);
    const T* from = x.as<T>() + outer * split.length;
    const Index* index = indices.as<Index>() + outer / split.outer * split.count + first;
    for (int64_t k = 0; k < count; ++k) to[at + k] = from[std::clamp<Index>(index[k], 0, last)];
    at += count;
  }
}

std::unique_ptr<HostNode> GatherOf(const HostNodeRequest& request, const GatherSplit& split, HostOperand x,
                                   HostOperand indices) {
  const int64_t slices = split.batches * split.outer * split.count, slice_bytes = split.inner * BytesOf(x.desc);
  return LookUpOf(request, slices, slice_bytes,
                  [=, x = std::move(x), indices = std::move(indices)](int64_t begin, int64_t end, std::byte* out) {
                    const bool are_short = indices.desc.dtype == DType::kInt32;
                    const auto take = [&]<typename T>(T) {
                      are_short ? Take<T, int32_t>(split, x, indices, begin, end, out)
                                : Take<T, int64_t>(split, x, indices, begin, end, out);
                    };
                    if (slice_bytes == 4) return take(uint32_t{});
                    if (slice_bytes == 8) return take(uint64_t{});
                    MoveSlices(x.bytes, slice_bytes, begin, end, out, [&](int64_t first, std::span<int64_t> from) {
                      int64_t outer = first / split.count, at = first % split.count;
                      for (int64_t& slice : from) {
                        const int64_t index = indices.index(outer / split.outer * split.count + at);
                        slice = outer * split.length + Nearest(index, split.length);
                        if (++at == split.count) {
                          at = 0;
                          ++outer;
                        }
                      }
                    });
                  });
}

std::unique_ptr<HostNode> GatherNdOf(const HostNodeRequest& request, HostOperand x, HostOperand indices) {
  const Shape shape = x.desc.shape;
  const int depth = indices.desc.shape[indices.desc.shape.rank() - 1];
  const int64_t slice = CountBetween(shape, depth, shape.rank()), slice_bytes = slice * BytesOf(x.desc);
  return LookUpOf(request, request.out().shape.element_count() / slice, slice_bytes,
                  [=, x = std::move(x), indices = std::move(indices)](int64_t begin, int64_t end, std::byte* out) {
                    MoveSlices(x.bytes, slice_bytes, begin, end, out, [&](int64_t first, std::span<int64_t> from) {
                      int64_t at = first * depth;
                      for (int64_t& place : from) {
                        place = 0;
                        for (int d = 0; d < depth; ++d)
                          place = place * shape[d] + Nearest(indices.index(at++), shape[d]);
                      }
                    });
                  });
}

// Of a constant table of halves or in few bits, whose rows become floats as they are taken.
std::unique_ptr<HostNode> StoredTableOf(const HostNodeRequest& request, HostOperand indices, const GatherSplit& split) {
  const FloatReader reader(request.in(0), request.StoredBytes(request.node.inputs[0]));
  return NodeOf("look-up of stored rows", [reader, split, indices = std::move(indices), y = HostOutput(request),
                                           &workers = request.workers] {
    float* out = y.floats().data();
    const int64_t least = kLeastElementsOfPart / split.inner + 1;
    workers.ForEachPart(split.outer * split.count, least, [&](int64_t begin, int64_t end) {
      for (int64_t slice = begin; slice < end; ++slice) {
        const int64_t row = Nearest(indices.index(slice % split.count), split.length);
        reader.Read((slice / split.count * split.length + row) * split.inner, split.inner, out + slice * split.inner);
      }
    });
    y.Finish();
  });
}

// Copies x with an update written over its elements from a start on.
void WriteUpdate(const HostOperand& x, const HostOperand& update, const HostOperand& start, std::span<std::byte> out,
                 WorkerPool& workers) {
  workers.ForEachPart(ssize(out), kLeastBytesOfPart, [&](int64_t begin, int64_t end) {
    std::memcpy(out.data() + begin, x.bytes + begin, static_cast<size_t>(end - begin));
  });
  const Shape &in = x.desc.shape, &written = update.desc.shape;
  const int last = in.rank() - 1;
  const int64_t row_bytes = written[last] * BytesOf(x.desc);
  for (int64_t row = 0; row < written.element_count() / written[last]; ++row) {
    int64_t to = 0, stride = 1, rest = row;
    for (int d = last; d >= 0; --d) {
      const int64_t at = d == last ? 0 : rest % written[d];
      if (d != last) rest /= written[d];
      to += (std::clamp<int64_t>(start.index(d), 0, in[d] - written[d]) + at) * stride;
      stride *= in[d];
    }
    std::memcpy(out.data() + to * BytesOf(x.desc), update.bytes + row * row_bytes, static_cast<size_t>(row_bytes));
  }
}

// The type in which numbers are added and multiplied: integers wrap, whatever their size.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

// Combines numbers with those from `from`: integers exactly, modulo their type.
template <typename T>
void CombineRow(BinaryKind kind, std::byte* target, const std::byte* from, int64_t columns) {
  const auto combine = [&](auto function) {
    for (int64_t c = 0; c < columns; ++c) StoreAt<T>(target, c, function(LoadAt<T>(target, c), LoadAt<T>(from, c)));
  };
  switch (kind) {
    case BinaryKind::kAdd: return combine([](T a, T b) { return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b)); });
    case BinaryKind::kMul: return combine([](T a, T b) { return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b)); });
    case BinaryKind::kMaximum: return combine([](T a, T b) { return a < b || b != b ? b : a; });
    default: return combine([](T a, T b) { return b < a || b != b ? b : a; });
  }
}

void CombineTruths(BinaryKind kind, std::byte* target, const std::byte* from, int64_t columns) {
  const bool is_either = kind == BinaryKind::kAdd || kind == BinaryKind::kMaximum;
  for (int64_t c = 0; c < columns; ++c) {
    const bool a = target[c] != std::byte{0}, b = from[c] != std::byte{0};
    target[c] = static_cast<std::byte>(is_either ? a || b : a && b);
  }
}

void Combine(BinaryKind kind, DType dtype, std::byte* target, const std::byte* from, int64_t columns) {
  if (dtype == DType::kBool) return CombineTruths(kind, target, from, columns);
  WithLoad(dtype, [&](const auto& load) { CombineRow<decltype(load(from, 0))>(kind, target, from, columns); });
}

bool KeepScales(const HostNodeRequest& request) {
  const TensorDesc& stored = request.in(0);
  const auto has_another = [&](ValueId value) {
    return request.graph.value(value).desc.quantization != stored.quantization;
  };
  return !has_another(request.node.inputs[1]) && !has_another(request.node.outputs[0]);
}

// Copies a matrix and writes rows over others, or combines them.
std::unique_ptr<HostNode> MakeScatterNode(const HostNodeRequest& request, const Scatter& op, HostOperand matrix,
                                          HostOperand rows, HostOperand places) {
  const TensorDesc& desc = matrix.desc;
  const bool is_combined = op.kind == BinaryKind::kAdd || op.kind == BinaryKind::kMul ||
                           op.kind == BinaryKind::kMaximum || op.kind == BinaryKind::kMinimum;
  const bool is_plain = !desc.quantization && desc.dtype != DType::kFloat16;
  const bool fits = places.has_indices() && rows.bytes != nullptr && rows.desc.dtype == desc.dtype &&
                    KeepScales(request) && (!op.kind || (is_combined && is_plain));
  if (!fits) return nullptr;
  return NodeOf("scatter", [kind = op.kind, matrix = std::move(matrix), rows = std::move(rows),
                            places = std::move(places), out = request.bytes(request.node.outputs[0])] {
    std::memcpy(out.data(), matrix.bytes, out.size());
    const int64_t columns = matrix.desc.shape[1], row_bytes = columns * BytesOf(matrix.desc);
    for (int64_t i = 0; i < rows.desc.shape[0]; ++i) {
      const int64_t place = places.index(i);
      if (place < 0 || place >= matrix.desc.shape[0]) continue;
      std::byte* target = out.data() + place * row_bytes;
      const std::byte* from = rows.bytes + i * row_bytes;
      if (!kind) {
        std::memcpy(target, from, static_cast<size_t>(row_bytes));
      } else {
        Combine(*kind, matrix.desc.dtype, target, from, columns);
      }
    }
  });
}

std::unique_ptr<HostNode> MakeUpdateNode(const HostNodeRequest& request, HostOperand x, HostOperand update,
                                         HostOperand start) {
  const bool fits = KeepScales(request) && start.has_indices() && update.bytes != nullptr &&
                    update.desc.dtype == x.desc.dtype && x.desc.shape.rank() > 0;
  if (!fits) return nullptr;
  return NodeOf("update", [x = std::move(x), update = std::move(update), start = std::move(start),
                           out = request.bytes(request.node.outputs[0]),
                           &workers = request.workers] { WriteUpdate(x, update, start, out, workers); });
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeGatherNode(const HostNodeRequest& request) {
  const auto* gather = std::get_if<Gather>(&request.node.op);
  const auto* scatter = std::get_if<Scatter>(&request.node.op);
  const bool updates = scatter != nullptr || std::holds_alternative<DynamicUpdateSlice>(request.node.op);
  if (gather == nullptr && !updates && !std::holds_alternative<GatherNd>(request.node.op)) return nullptr;
  const TensorDesc out = HeldAs(request.out());
  HEARTH_ASSIGN(HostOperand second, HostOperandOf(request, 1));
  const ValueId table = request.node.inputs[0];
  const TensorDesc& stored = request.graph.value(table).desc;
  const bool is_stored = gather != nullptr && gather->batch_dims == 0 && request.graph.IsConstant(table) &&
                         (stored.quantization || stored.dtype == DType::kFloat16);
  if (is_stored && out == TensorDesc{DType::kFloat32, out.shape, {}} && second.has_indices() &&
      out.shape.element_count() > 0 && stored.shape.element_count() > 0) {
    const GatherSplit split = SplitGather(*gather, stored.shape, second.desc.shape);
    return StoredTableOf(request, std::move(second), split);
  }
  HEARTH_ASSIGN(HostOperand x, HostOperandOf(request, 0));
  const bool is_held_alike = x.bytes != nullptr && x.desc.dtype == out.dtype && !out.quantization.has_value();
  if (!is_held_alike || BitsOf(out.dtype) < 8 || out.shape.element_count() == 0) return nullptr;
  if (updates) {
    HEARTH_ASSIGN(HostOperand start, HostOperandOf(request, 2));
    if (scatter != nullptr)
      return MakeScatterNode(request, *scatter, std::move(x), std::move(second), std::move(start));
    return MakeUpdateNode(request, std::move(x), std::move(second), std::move(start));
  }
  if (!second.has_indices()) return nullptr;
  if (gather == nullptr) return GatherNdOf(request, std::move(x), std::move(second));
  const GatherSplit split = SplitGather(*gather, x.desc.shape, second.desc.shape);
  return GatherOf(request, split, std::move(x), std::move(second));
}

}  // namespace hearth
