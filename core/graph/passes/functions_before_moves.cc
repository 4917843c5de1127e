// Moves an elementwise function from behind a reshape or transpose of a product's result to before it, where the
// product's kernel takes it. Keras writes bias and scale of attention's queries behind the reshape.
#include <optional>

#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

bool IsMove(const Op& op) {
  return IsOneOf<Reshape, Transpose>(op);
}

bool IsProduct(const Op& op) {
  return IsOneOf<FullyConnected, BatchMatMul, Conv2D, DepthwiseConv2D>(op);
}

bool IsFunction(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op))
    return unary->kind != UnaryKind::kCopy && unary->kind != UnaryKind::kQuantize &&
           unary->kind != UnaryKind::kDequantize;
  return std::holds_alternative<Binary>(op);
}

// The shape with which the constant `operand` broadcasts to the value before the move as it did to the moved one;
// nothing if there is none.
std::optional<Shape> ShapeBefore(const Op& move, const Shape& operand, const Shape& before, const Shape& behind) {
  if (operand.element_count() == 1) return operand.rank() <= before.rank() ? std::optional(operand) : std::nullopt;
  int leading = 0;
  while (leading < operand.rank() && operand[leading] == 1) ++leading;
  const int count = operand.rank() - leading;
  for (int d = 1; d <= count; ++d) {
    if (operand[operand.rank() - d] != behind[behind.rank() - d]) return std::nullopt;
  }
  const int32_t channels = before[before.rank() - 1];
  if (operand.element_count() != channels) return std::nullopt;
  if (const auto* transpose = std::get_if<Transpose>(&move)) {
    const auto order = transpose->permutation.dims();
    if (count != 1 || order.back() != static_cast<int32_t>(order.size()) - 1) return std::nullopt;
  }
  return Shape{channels};
}

class Exchange {
 public:
  Exchange(GraphRewriter& rewriter, int function)
      : rewriter_(rewriter), graph_(rewriter.graph()), function_(function) {}

  bool Try() {
    const Node& function = rewriter_.node(function_);
    if (!IsFunction(function.op) || function.inputs.size() > 2) return false;
    for (size_t position = 0; position < function.inputs.size(); ++position) {
      if (Finds(position) && TakesOperand(position)) {
        Rewrite(position);
        return true;
      }
    }
    return false;
  }

 private:
  // Whether that input is a product's result behind one or more moves, and nothing else reads the values between.
  bool Finds(size_t position) {
    const Node& function = rewriter_.node(function_);
    const ValueId moved = function.inputs[position];
    const TensorDesc& desc = graph_.value(function.outputs[0]).desc;
    move_ = rewriter_.ProducerIndexOf(moved);
    if (move_ < 0 || !rewriter_.IsReadOnce(moved) || !IsMove(rewriter_.node(move_).op) || !IsPlainFloat(desc) ||
        graph_.value(moved).desc != desc)
      return false;
    ValueId from = rewriter_.node(move_).inputs[0];
    if (graph_.value(from).desc.dtype != desc.dtype || graph_.value(from).desc.shape.rank() == 0) return false;
    const Node* maker = rewriter_.ProducerOf(from);
    for (; rewriter_.IsReadOnce(from) && maker != nullptr && IsMove(maker->op); maker = rewriter_.ProducerOf(from))
      from = maker->inputs[0];
    return rewriter_.IsReadOnce(from) && maker != nullptr && IsProduct(maker->op);
  }

  bool TakesOperand(size_t position) {
    const Node &function = rewriter_.node(function_), &move = rewriter_.node(move_);
    if (function.inputs.size() == 1) return true;
    const ValueId other = function.inputs[1 - position];
    if (!graph_.IsConstant(other) || !graph_.HasRoomFor(graph_.value(other).desc.size_bytes())) return false;
    const auto shape = ShapeBefore(move.op, graph_.value(other).desc.shape, graph_.value(move.inputs[0]).desc.shape,
                                   graph_.value(move.outputs[0]).desc.shape);
    if (shape) shape_ = *shape;
    return shape.has_value();
  }

  // The constant, reshaped to shape_.
  ValueId Operand(ValueId constant) {
    const TensorDesc desc = graph_.value(constant).desc;
    if (desc.shape == shape_) return constant;
    const OrderedBytes read = graph_.ReadConstant(constant);
    return graph_.AddConstantValue(graph_.value(constant).name, {desc.dtype, shape_, desc.quantization},
                                   {read.bytes.begin(), read.bytes.end()});
  }

  // Swaps the operations of the two nodes and reconnects their inputs.
  void Rewrite(size_t position) {
    Node &function = rewriter_.node(function_), &move = rewriter_.node(move_);
    const ValueId from = move.inputs[0], between = move.outputs[0];
    std::vector<ValueId> inputs = function.inputs;
    if (inputs.size() == 2) inputs[1 - position] = Operand(inputs[1 - position]);
    inputs[position] = from;
    graph_.value(between).desc = graph_.value(from).desc;
    const Op moves = move.op;
    rewriter_.Replace(move, function.op, std::move(inputs));
    rewriter_.Replace(function, moves, {between});
    std::swap(move.name, function.name);
    std::swap(move.source_index, function.source_index);
  }

  GraphRewriter& rewriter_;
  Graph& graph_;
  int function_, move_ = -1;
  Shape shape_;
};

}  // namespace

Result<Verdict> FunctionsBeforeMoves(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) Exchange(rewriter, index).Try();
  return rewriter.Finish();
}

}  // namespace hearth
