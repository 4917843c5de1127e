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

class LookUpNode : public HostNode {
 public:
  LookUpNode(const HostNodeRequest& request, HostOperand x, HostOperand indices, int64_t slices, int64_t slice_bytes)
      : out_(request),
        workers_(request.workers),
        x_(std::move(x)),
        indices_(std::move(indices)),
        slices_(slices),
        slice_bytes_(slice_bytes) {}

  std::string_view kernel() const override { return "look-up"; }

  Status Run(RunControl* /*control*/) override {
    workers_.ForEachPart(slices_, kLeastBytesOfPart / slice_bytes_ + 1,
                         [&](int64_t begin, int64_t end) { MoveSlices(begin, end); });
    out_.Finish();
    return Status::Ok();
  }

 protected:
  // Makes output slices.
  virtual void MoveSlices(int64_t begin, int64_t end) const {
    std::array<int64_t, 256> from;
    for (int64_t first = begin; first < end; first += std::ssize(from)) {
      const auto count = static_cast<size_t>(std::min<int64_t>(end - first, std::ssize(from)));
      FindSlices(first, {from.data(), count});
      CopySlices(first, {from.data(), count});
    }
  }
  // The slices of x for the output slices from `first` on.
  virtual void FindSlices(int64_t first, std::span<int64_t> from) const = 0;
  int64_t slice_bytes() const { return slice_bytes_; }
  const HostOperand& indices() const { return indices_; }
  std::byte* out() const { return out_.bytes(); }
  const HostOperand& x() const { return x_; }
  int64_t IndexOf(int64_t at) const { return indices_.index(at); }

 private:
  void CopySlices(int64_t first, std::span<const int64_t> from) const {
    std::byte* const out = out_.bytes() + first * slice_bytes_;
    if (slice_bytes_ == 4) return CopyElements<uint32_t>(out, from);
    if (slice_bytes_ == 8) return CopyElements<uint64_t>(out, from);
    for (size_t k = 0; k < from.size(); ++k) {
      std::memcpy(out + static_cast<int64_t>(k) * slice_bytes_, x_.bytes + from[k] * slice_bytes_,
                  static_cast<size_t>(slice_bytes_));
    }
  }
  template <typename T>
  void CopyElements(std::byte* out, std::span<const int64_t> from) const {
    for (size_t k = 0; k < from.size(); ++k) StoreAt(out, static_cast<int64_t>(k), LoadAt<T>(x_.bytes, from[k]));
  }

  HostOutput out_;
  WorkerPool& workers_;
  HostOperand x_, indices_;
  int64_t slices_, slice_bytes_;
};

class GatherNode final : public LookUpNode {
 public:
  GatherNode(const HostNodeRequest& request, HostOperand x, HostOperand indices, const GatherSplit& split)
      : LookUpNode(request, std::move(x), std::move(indices), split.batches * split.outer * split.count,
                   split.inner * BytesOf(HeldAs(request.out()))),
        split_(split) {}

 private:
  void MoveSlices(int64_t begin, int64_t end) const override {
    const bool are_short = indices().desc.dtype == DType::kInt32;
    if (slice_bytes() == 4)
      return are_short ? Take<uint32_t, int32_t>(begin, end) : Take<uint32_t, int64_t>(begin, end);
    if (slice_bytes() == 8)
      return are_short ? Take<uint64_t, int32_t>(begin, end) : Take<uint64_t, int64_t>(begin, end);
    LookUpNode::MoveSlices(begin, end);
  }
  // Of slices that are elements, as of tables in which trees look up what to ask.
  template <typename T, typename Index>
  void Take(int64_t begin, int64_t end) const {
    const Index last = static_cast<Index>(split_.length - 1);
    T* const to = reinterpret_cast<T*>(out());
    for (int64_t at = begin; at < end;) {
      const int64_t outer = at / split_.count, first = at % split_.count;
      const int64_t count = std::min(split_.count - first, end - at);
      const T* from = x().as<T>() + outer * split_.length;
      const Index* index = indices().as<Index>() + outer / split_.outer * split_.count + first;
      for (int64_t k = 0; k < count; ++k) to[at + k] = from[std::clamp<Index>(index[k], 0, last)];
      at += count;
    }
  }
  void FindSlices(int64_t first, std::span<int64_t> from) const override {
    int64_t outer = first / split_.count, at = first % split_.count;
    for (int64_t& slice : from) {
      slice = outer * split_.length + Nearest(IndexOf(outer / split_.outer * split_.count + at), split_.length);
      if (++at == split_.count) {
        at = 0;
        ++outer;
      }
    }
  }

  GatherSplit split_;
};

// Of a constant table of halves or in few bits, whose rows become floats as they are taken.
class StoredTableNode final : public HostNode {
 public:
  StoredTableNode(const HostNodeRequest& request, HostOperand indices, const GatherSplit& split)
      : out_(request),
        workers_(request.workers),
        desc_(request.in(0)),
        reader_(desc_, request.StoredBytes(request.node.inputs[0])),
        indices_(std::move(indices)),
        split_(split) {}

  std::string_view kernel() const override { return "look-up of stored rows"; }

  Status Run(RunControl* /*control*/) override {
    float* out = reinterpret_cast<float*>(out_.bytes());
    const int64_t least = kLeastElementsOfPart / split_.inner + 1;
    workers_.ForEachPart(split_.outer * split_.count, least, [&](int64_t begin, int64_t end) {
      for (int64_t slice = begin; slice < end; ++slice) {
        const int64_t row = Nearest(indices_.index(slice % split_.count), split_.length);
        reader_.Read((slice / split_.count * split_.length + row) * split_.inner, split_.inner,
                     out + slice * split_.inner);
      }
    });
    out_.Finish();
    return Status::Ok();
  }

 private:
  HostOutput out_;
  WorkerPool& workers_;
  const TensorDesc desc_;
  const FloatReader reader_;
  HostOperand indices_;
  GatherSplit split_;
};

class GatherNdNode final : public LookUpNode {
 public:
  GatherNdNode(const HostNodeRequest& request, HostOperand x, HostOperand indices, int depth, int64_t slices,
               int64_t slice_bytes)
      : LookUpNode(request, std::move(x), std::move(indices), slices, slice_bytes), depth_(depth) {}

 private:
  void FindSlices(int64_t first, std::span<int64_t> from) const override {
    const Shape shape = x().desc.shape;
    int64_t at = first * depth_;
    for (int64_t& slice : from) {
      slice = 0;
      for (int d = 0; d < depth_; ++d) slice = slice * shape[d] + Nearest(IndexOf(at++), shape[d]);
    }
  }

  int depth_;
};

// Copies x with an update written over its elements from a start on.
class UpdateNode final : public HostNode {
 public:
  UpdateNode(const HostNodeRequest& request, HostOperand x, HostOperand update, HostOperand start)
      : out_(request.arena.bytes(request.node.outputs[0])),
        workers_(request.workers),
        x_(std::move(x)),
        update_(std::move(update)),
        start_(std::move(start)) {}

  std::string_view kernel() const override { return "update"; }

  Status Run(RunControl* /*control*/) override {
    workers_.ForEachPart(static_cast<int64_t>(out_.size()), kLeastBytesOfPart, [&](int64_t begin, int64_t end) {
      std::memcpy(out_.data() + begin, x_.bytes + begin, static_cast<size_t>(end - begin));
    });
    const Shape &in = x_.desc.shape, &update = update_.desc.shape;
    const int last = in.rank() - 1;
    const int64_t row_bytes = update[last] * BytesOf(x_.desc);
    for (int64_t row = 0; row < update.element_count() / update[last]; ++row) {
      int64_t to = 0, stride = 1, rest = row;
      for (int d = last; d >= 0; --d) {
        const int64_t at = d == last ? 0 : rest % update[d];
        if (d != last) rest /= update[d];
        to += (std::clamp<int64_t>(start_.index(d), 0, in[d] - update[d]) + at) * stride;
        stride *= in[d];
      }
      std::memcpy(out_.data() + to * BytesOf(x_.desc), update_.bytes + row * row_bytes, static_cast<size_t>(row_bytes));
    }
    return Status::Ok();
  }

 private:
  std::span<std::byte> out_;
  WorkerPool& workers_;
  HostOperand x_, update_, start_;
};

// A plain integer of any type. Its low bytes are how it is stored.
int64_t IntegerAt(DType dtype, const std::byte* bytes, int64_t index) {
  return WithLoad(dtype, [&](const auto& load) { return static_cast<int64_t>(load(bytes, index)); });
}

// The type in which numbers are added and multiplied: integers wrap.
template <typename T>
struct WrappingOf {
  using Type = T;
};
template <std::integral T>
struct WrappingOf<T> {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
using Wrapping = typename WrappingOf<T>::Type;

int64_t Combined(BinaryKind kind, DType dtype, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const bool is_less = dtype == DType::kUInt64 ? x < y : a < b;
  const uint64_t made = kind == BinaryKind::kAdd                      ? x + y
                        : kind == BinaryKind::kMul                    ? x * y
                        : (is_less == (kind == BinaryKind::kMinimum)) ? x
                                                                      : y;
  return static_cast<int64_t>(dtype == DType::kBool ? uint64_t{made != 0} : made);
}

// Copies a matrix and writes rows over others, or combines them: integers exactly, modulo their type.
class ScatterNode final : public HostNode {
 public:
  ScatterNode(const HostNodeRequest& request, HostOperand matrix, HostOperand rows, HostOperand places,
              std::optional<BinaryKind> kind)
      : out_(request.arena.bytes(request.node.outputs[0])),
        matrix_(std::move(matrix)),
        rows_(std::move(rows)),
        places_(std::move(places)),
        kind_(kind) {}

  std::string_view kernel() const override { return "scatter"; }

  Status Run(RunControl* /*control*/) override {
    std::memcpy(out_.data(), matrix_.bytes, out_.size());
    const int64_t row_bytes = matrix_.desc.shape[1] * BytesOf(matrix_.desc);
    for (int64_t i = 0; i < rows_.desc.shape[0]; ++i) {
      const int64_t place = places_.index(i);
      if (place < 0 || place >= matrix_.desc.shape[0]) continue;
      std::byte* target = out_.data() + place * row_bytes;
      const std::byte* from = rows_.bytes + i * row_bytes;
      if (!kind_) {
        std::memcpy(target, from, static_cast<size_t>(row_bytes));
      } else {
        Combine(target, from);
      }
    }
    return Status::Ok();
  }

 private:
  void Combine(std::byte* target, const std::byte* from) const {
    const DType dtype = matrix_.desc.dtype;
    const int64_t columns = matrix_.desc.shape[1];
    switch (dtype) {
      case DType::kFloat32: return CombineRows<float>(target, from, columns);
      case DType::kFloat64: return CombineRows<double>(target, from, columns);
      case DType::kInt32: return CombineRows<int32_t>(target, from, columns);
      case DType::kInt64: return CombineRows<int64_t>(target, from, columns);
      default: break;
    }
    const int64_t bytes = BytesOf(matrix_.desc);
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t made = Combined(*kind_, dtype, IntegerAt(dtype, target, c), IntegerAt(dtype, from, c));
      std::memcpy(target + c * bytes, &made, static_cast<size_t>(bytes));
    }
  }
  template <typename T>
  void CombineRows(std::byte* target, const std::byte* from, int64_t columns) const {
    const auto combine = [&](auto function) {
      for (int64_t c = 0; c < columns; ++c) StoreAt<T>(target, c, function(LoadAt<T>(target, c), LoadAt<T>(from, c)));
    };
    switch (*kind_) {
      case BinaryKind::kAdd: return combine([](T a, T b) { return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b)); });
      case BinaryKind::kMul: return combine([](T a, T b) { return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b)); });
      case BinaryKind::kMaximum: return combine([](T a, T b) { return a < b || b != b ? b : a; });
      default: return combine([](T a, T b) { return b < a || b != b ? b : a; });
    }
  }

  std::span<std::byte> out_;
  HostOperand matrix_, rows_, places_;
  std::optional<BinaryKind> kind_;
};

bool KeepScales(const HostNodeRequest& request) {
  const TensorDesc& stored = request.in(0);
  const auto has_another = [&](ValueId value) {
    return request.graph.value(value).desc.quantization != stored.quantization;
  };
  return !has_another(request.node.inputs[1]) && !has_another(request.node.outputs[0]);
}

std::unique_ptr<HostNode> MakeScatterNode(const HostNodeRequest& request, const Scatter& op, HostOperand matrix,
                                          HostOperand rows, HostOperand places) {
  const TensorDesc& desc = matrix.desc;
  const bool is_combined = op.kind == BinaryKind::kAdd || op.kind == BinaryKind::kMul ||
                           op.kind == BinaryKind::kMaximum || op.kind == BinaryKind::kMinimum;
  const bool is_plain = !desc.quantization && desc.dtype != DType::kFloat16;
  const bool fits = places.has_indices() && rows.bytes != nullptr && rows.desc.dtype == desc.dtype &&
                    KeepScales(request) && (!op.kind || (is_combined && is_plain));
  if (!fits) return nullptr;
  return std::make_unique<ScatterNode>(request, std::move(matrix), std::move(rows), std::move(places), op.kind);
}

std::unique_ptr<HostNode> MakeUpdateNode(const HostNodeRequest& request, HostOperand x, HostOperand update,
                                         HostOperand start) {
  const bool fits = KeepScales(request) && start.has_indices() && update.bytes != nullptr &&
                    update.desc.dtype == x.desc.dtype && x.desc.shape.rank() > 0;
  if (!fits) return nullptr;
  return std::make_unique<UpdateNode>(request, std::move(x), std::move(update), std::move(start));
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
    return std::make_unique<StoredTableNode>(request, std::move(second), split);
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
  const Shape indices = second.desc.shape;
  if (gather != nullptr) {
    const GatherSplit split = SplitGather(*gather, x.desc.shape, indices);
    return std::make_unique<GatherNode>(request, std::move(x), std::move(second), split);
  }
  const int depth = indices[indices.rank() - 1];
  const int64_t slice = CountBetween(x.desc.shape, depth, x.desc.shape.rank());
  return std::make_unique<GatherNdNode>(request, std::move(x), std::move(second), depth,
                                        out.shape.element_count() / slice, slice * BytesOf(out));
}

}  // namespace hearth
