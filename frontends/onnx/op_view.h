// A node of an ONNX graph while it is read: its operands as values, its attributes, and what its results become.
#ifndef HEARTH_FRONTENDS_ONNX_OP_VIEW_H_
#define HEARTH_FRONTENDS_ONNX_OP_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/proto.h"
#include "frontends/writer/graph_writer.h"

namespace hearth::onnx {

// A tensor as a value, or as the same one with dimension 1 at the end, or as both. ONNX's pictures have the order NCHW,
// Hearth's operations NHWC: each operation makes the order that it has at hand, and readers get the other one by need.
struct Tensor {
  ValueId plain = kNoValue;  // the order of the file
  ValueId last = kNoValue;   // dimension 1 ("channels") at the end; only from rank 3 on
};

using Results = Result<std::vector<Tensor>>;

inline Results Plain(const Made& value) {
  if (!value.ok()) return value.status();
  return std::vector{Tensor{.plain = *value}};
}
inline Results Last(const Made& value) {
  if (!value.ok()) return value.status();
  return std::vector{Tensor{.last = *value}};
}

// The order of the dimensions of a value.
enum class Order : uint8_t { kPlain, kLast };
// Where dimension `axis` of the file lies in this order.
int AxisIn(Order order, int axis, int rank);

class GraphReader;
struct OperatorRow;

class OpView {
 public:
  OpView(GraphReader& reader, const NodeProto& node, const OperatorRow* row, int64_t opset)
      : reader_(reader), node_(node), row_(row), opset_(opset) {}

  GraphReader& reader() const { return reader_; }
  GraphWriter& to() const;
  const NodeProto& node() const { return node_; }
  const OperatorRow* known() const { return row_; }  // null: an operator that Hearth does not know
  int kind() const;                                  // of the operator's row
  int64_t opset() const { return opset_; }           // of the node's domain

  // ---- Operands ----

  size_t input_count() const { return node_.inputs.size(); }
  size_t output_count() const { return node_.outputs.size(); }
  bool Has(size_t i) const;
  bool HasOutput(size_t k) const { return k < node_.outputs.size() && !node_.outputs[k].empty(); }
  // Both orders of an operand are made by need, once. kMalformedInput for an absent one.
  Made In(size_t i, Order order = Order::kPlain) const;
  Made Last(size_t i) const { return In(i, Order::kLast); }
  // kLast where only that exists, so that plain order would cost a transpose.
  Order OrderOf(size_t i) const;
  // kLast if any of these operands has that order and none that data make has only the other one, or a smaller rank.
  Order CommonOrder(size_t first, size_t count) const;
  // Operand `i` broadcast-ready for results of this rank: leading dimensions of 1, then this order.
  Made Broadcastable(size_t i, int rank, Order order) const;
  // Its description in plain order.
  Result<TensorDesc> Desc(size_t i) const;
  // The numbers of a constant operand.
  Result<std::vector<int64_t>> Numbers(size_t i) const;
  // The same of an optional operand, or of an attribute that older versions have instead.
  Result<std::optional<std::vector<int64_t>>> NumbersOr(size_t i, std::string_view attribute) const;
  Result<double> Number(size_t i) const;
  bool IsConstant(size_t i) const;

  // ---- Attributes ----

  // Null if it is absent. In a function, what the caller gives.
  const AttributeProto* Find(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  double Float(std::string_view name, double otherwise) const;
  std::string_view Text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  // A dimension from the front; kMalformedInput outside of the rank.
  static Result<int> Axis(int64_t axis, int rank);
  Result<int> AxisOf(std::string_view name, int64_t otherwise, int rank) const {
    return Axis(Int(name, otherwise), rank);
  }

 private:
  Tensor* Find(size_t i) const;

  GraphReader& reader_;
  const NodeProto& node_;
  const OperatorRow* row_;
  int64_t opset_;
};

// Operands in one order, ready to be broadcast.
struct Aligned {
  Order order = Order::kPlain;
  std::vector<ValueId> values;

  Results Result(const Made& made) const { return order == Order::kLast ? Last(made) : Plain(made); }
};
Result<Aligned> Align(const OpView& op, size_t first, size_t count);

// ---- Values ----

// The same with the other order, by a transpose, or by a reshape where that suffices.
Made ToOrder(NodeWriter& to, ValueId value, Order from, Order order);
// AddTranspose that moves the bytes of a constant while the model is read, whatever its size.
Made AddPermuted(NodeWriter& to, const Made& value, Shape permutation);
inline Shape ShapeOf(const std::vector<int32_t>& dims) {
  return Shape::FromSpan(dims);
}
// A constant of one number with the type of another value, as a scalar.
inline Made AddScalarLike(NodeWriter& to, ValueId like, double number) {
  return to.AddConstant(Shape(), to.desc(like).dtype, {number});
}

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_OP_VIEW_H_
