// Recurrent layers write a list of T items in T steps, each of which copies the whole list. This pass follows the
// list's contents through concatenations, slices and updates, and makes only the last list, from its items.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"

namespace hearth {
namespace {

constexpr size_t kMostPieces = 4096;  // per list: each step takes time for every piece

// Part of a value along the list's axis.
struct Piece {
  ValueId source = kNoValue;
  int32_t begin = 0, size = 0;
};

struct List {
  int axis = 0;
  std::vector<Piece> pieces;
  bool is_reshaped = false;  // a piece cut out of a list and reshaped to drop its axis
};

// The part of a list that a slice or update covers.
struct Range {
  int axis = 0;
  int32_t begin = 0, size = 0;
};

// The only axis along which `size` is less than the whole; axis 0 if it is the whole. Nothing if there are several.
std::optional<Range> RangeOf(const Shape& whole, const Shape& begin, const Shape& size) {
  Range range{0, 0, whole.rank() == 0 ? 1 : whole[0]};
  int count = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    if (size[d] == whole[d]) continue;
    range = {d, begin[d], size[d]};
    ++count;
  }
  return count > 1 || whole.rank() == 0 ? std::nullopt : std::optional(range);
}

bool HasUnitStrides(const Slice& slice) {
  const auto strides = slice.strides.dims();
  return std::all_of(strides.begin(), strides.end(), [](int32_t stride) { return stride == 1; });
}

class ListFollower {
 public:
  explicit ListFollower(Graph& graph) : graph_(graph), is_read_(graph.values().size(), false) {}

  Verdict Run() {
    for (const Node& node : graph_.nodes()) {
      if (!MovesAList(node)) MarkRead(node.inputs);
    }
    MarkRead(graph_.outputs);
    for (const StatePair& state : graph_.states) is_read_[state.written] = true;
    for (const Node& node : graph_.nodes()) Follow(node);
    // Visits readers before producers: a list that nothing reads any more is not made.
    bool changed = false;
    for (size_t index = graph_.nodes().size(); index-- > 0;) {
      Node& node = graph_.nodes()[index];
      if (std::none_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return is_read_[id]; })) continue;
      changed |= Rewrite(node);
      MarkRead(node.inputs);
    }
    return changed ? Verdict::kChanged : Verdict::kUnchanged;
  }

 private:
  const TensorDesc& Desc(ValueId id) const { return graph_.value(id).desc; }

  void MarkRead(const std::vector<ValueId>& inputs) {
    for (ValueId id : inputs) {
      if (id != kNoValue && static_cast<size_t>(id) < is_read_.size()) is_read_[id] = true;
    }
  }

  bool KeepsType(const Node& node, size_t input) const {
    const TensorDesc &in = Desc(node.inputs[input]), &out = Desc(node.outputs[0]);
    return in.dtype == out.dtype && in.quantization == out.quantization;
  }

  // Whether the node only joins or cuts, along a known axis.
  bool MovesAList(const Node& node) const {
    if (const auto* concat = std::get_if<Concat>(&node.op)) {
      bool keeps = concat->activation == Activation::kNone;
      for (size_t k = 0; k < node.inputs.size(); ++k) keeps = keeps && KeepsType(node, k);
      return keeps;
    }
    if (const auto* slice = std::get_if<Slice>(&node.op)) {
      return HasUnitStrides(*slice) && KeepsType(node, 0) &&
             RangeOf(Desc(node.inputs[0]).shape, slice->begin, slice->size).has_value();
    }
    return std::holds_alternative<DynamicUpdateSlice>(node.op) && KeepsType(node, 0) && KeepsType(node, 1) &&
           UpdateOf(node).has_value();
  }

  // The range that an update at a constant position overwrites.
  std::optional<Range> UpdateOf(const Node& node) const {
    if (!graph_.IsConstant(node.inputs[2])) return std::nullopt;
    const Shape &whole = Desc(node.inputs[0]).shape, &update = Desc(node.inputs[1]).shape;
    const Result<ReferenceTensor> start =
        ReferenceFromBytes(Desc(node.inputs[2]), graph_.ReadConstant(node.inputs[2]).bytes);
    if (!start.ok()) return std::nullopt;
    Shape begin = whole;
    for (int d = 0; d < whole.rank(); ++d) {
      begin[d] = static_cast<int32_t>(
          std::clamp(start->values[static_cast<size_t>(d)], 0.0, double{0} + whole[d] - update[d]));
    }
    return RangeOf(whole, begin, update);
  }

  // The pieces of `id` along `axis`: the value itself if it is no list along that axis or is made anyway.
  std::vector<Piece> PiecesOf(ValueId id, int axis) const {
    const auto found = lists_.find(id);
    if (found != lists_.end() && found->second.axis == axis && !found->second.is_reshaped && !is_read_[id])
      return found->second.pieces;
    return {{id, 0, Desc(id).shape[axis]}};
  }

  static void Append(const std::vector<Piece>& pieces, List& list) {
    for (const Piece& piece : pieces) {
      Piece* last = list.pieces.empty() ? nullptr : &list.pieces.back();
      if (last != nullptr && last->source == piece.source && last->begin + last->size == piece.begin) {
        last->size += piece.size;
      } else {
        list.pieces.push_back(piece);
      }
    }
  }

  // The pieces of the range [begin, begin + size).
  static std::vector<Piece> Cut(const std::vector<Piece>& pieces, int32_t begin, int32_t size) {
    std::vector<Piece> parts;
    int32_t at = 0;
    for (const Piece& piece : pieces) {
      const int32_t first = std::max(begin, at), last = std::min(begin + size, at + piece.size);
      if (first < last) parts.push_back({piece.source, piece.begin + first - at, last - first});
      at += piece.size;
    }
    return parts;
  }

  void Follow(const Node& node) {
    if (!MovesAList(node)) return;
    List list;
    if (const auto* concat = std::get_if<Concat>(&node.op)) {
      const int rank = Desc(node.outputs[0]).shape.rank();
      list.axis = concat->axis < 0 ? concat->axis + rank : concat->axis;
      for (ValueId id : node.inputs) Append(PiecesOf(id, list.axis), list);
    } else if (const auto* slice = std::get_if<Slice>(&node.op)) {
      const Range range = *RangeOf(Desc(node.inputs[0]).shape, slice->begin, slice->size);
      list.axis = range.axis;
      list.is_reshaped = slice->shape != slice->size;
      Append(Cut(PiecesOf(node.inputs[0], range.axis), range.begin, range.size), list);
    } else {
      const Range range = *UpdateOf(node);
      const std::vector<Piece> before = PiecesOf(node.inputs[0], range.axis);
      const int32_t end = range.begin + range.size;
      list.axis = range.axis;
      Append(Cut(before, 0, range.begin), list);
      Append({{node.inputs[1], 0, range.size}}, list);
      Append(Cut(before, end, Desc(node.inputs[0]).shape[range.axis] - end), list);
    }
    if (list.pieces.size() <= kMostPieces) lists_.emplace(node.outputs[0], std::move(list));
  }

  bool IsWhole(const Piece& piece, int axis) const {
    return piece.begin == 0 && piece.size == Desc(piece.source).shape[axis];
  }

  size_t PieceBytes(const Piece& piece, int axis) const {
    const auto whole = static_cast<size_t>(std::max(Desc(piece.source).shape[axis], 1));
    return graph_.ConstantSizeBytes(piece.source) / whole * static_cast<size_t>(piece.size);
  }

  // The value for a piece: its source, or a new constant with that part.
  ValueId ValueOf(const Piece& piece, int axis) {
    if (IsWhole(piece, axis)) return piece.source;
    TensorDesc desc = Desc(piece.source);
    const OrderedBytes read = graph_.ReadConstant(piece.source);
    const std::span<const std::byte> bytes = read.bytes;
    const int32_t whole = desc.shape[axis];
    desc.shape[axis] = piece.size;
    std::vector<std::byte> part;
    const auto outer = static_cast<size_t>(CountBetween(desc.shape, 0, axis));
    const size_t row = bytes.size() / outer, item = row / static_cast<size_t>(whole);
    for (size_t k = 0; k < outer; ++k) {
      const auto from = bytes.begin() + static_cast<ptrdiff_t>(k * row + static_cast<size_t>(piece.begin) * item);
      part.insert(part.end(), from, from + static_cast<ptrdiff_t>(static_cast<size_t>(piece.size) * item));
    }
    return graph_.AddConstantValue(graph_.value(piece.source).name, std::move(desc), std::move(part));
  }

  // A constant whose items are whole bytes and share one scale.
  bool CanBeCut(ValueId id) const {
    return graph_.IsConstant(id) && Desc(id).dtype != DType::kInt4 &&
           (!Desc(id).quantization || Desc(id).quantization->scales.size() == 1);
  }

  bool Rewrite(Node& node) {
    const auto found = lists_.find(node.outputs[0]);
    if (found == lists_.end()) return false;
    const auto& [axis, pieces, is_reshaped] = found->second;
    bool is_same = std::holds_alternative<Concat>(node.op) && node.inputs.size() == pieces.size();
    size_t cut_bytes = 0;
    for (size_t k = 0; k < pieces.size(); ++k) {
      if (!IsWhole(pieces[k], axis)) {
        if (!CanBeCut(pieces[k].source)) return false;
        cut_bytes += PieceBytes(pieces[k], axis);
      }
      is_same = is_same && pieces[k].source == node.inputs[k];
    }
    if (!graph_.HasRoomFor(cut_bytes)) return false;
    if (is_same || (is_reshaped && pieces.size() > 1)) return false;
    std::vector<ValueId> inputs;
    for (const Piece& piece : pieces) inputs.push_back(ValueOf(piece, axis));
    node.inputs = std::move(inputs);
    if (is_reshaped) {
      node.op = Reshape{Desc(node.outputs[0]).shape};
    } else {
      node.op = Concat{.axis = axis};
    }
    return true;
  }

  Graph& graph_;
  std::vector<bool> is_read_;  // by a node that is not followed, or as an output or state
  std::unordered_map<ValueId, List> lists_;
};

}  // namespace

Result<Verdict> ListsToConcat(Graph& graph, const DeviceInfo&) {
  return ListFollower(graph).Run();
}

}  // namespace hearth
