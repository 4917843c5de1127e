// A node of an ONNX graph while it is read: its operands as values, its attributes, and what its results become.
#ifndef HEARTH_FRONTENDS_ONNX_OP_VIEW_H_
#define HEARTH_FRONTENDS_ONNX_OP_VIEW_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/proto.h"
#include "frontends/onnx/scope.h"

namespace hearth::onnx {

class OpView;

enum class Domain : uint8_t { kStandard, kMicrosoft, kClassic };
using enum Domain;
// As files have it: "" is ai.onnx.
constexpr std::string_view DomainName(Domain domain) {
  constexpr std::string_view kNames[] = {"", "com.microsoft", "ai.onnx.ml"};
  return kNames[static_cast<size_t>(domain)];
}

struct OperatorRow {
  std::string_view name;
  Results (*read)(OpView& op, GraphWriter& to);
  int kind = 0;  // what a reader that several operators share takes
  Domain domain = kStandard;
};

class OpView {
 public:
  OpView(Scope& scope, const NodeProto& node, const OperatorRow* row, int64_t opset)
      : scope_(scope), node_(node), row_(row), opset_(opset) {}

  Scope& scope() const { return scope_; }
  GraphWriter& to() const { return scope_.to(); }
  const NodeProto& node() const { return node_; }
  const OperatorRow* known() const { return row_; }  // null: an operator that Hearth does not know
  // What a known operator makes. Integers of 4 or 2 bits, or that stand for texts, stay such where they are moved.
  Results Read();
  int kind() const { return row_->kind; }
  int64_t opset() const { return opset_; }  // of the node's domain

  // ---- Operands ----

  size_t input_count() const { return node_.inputs.size(); }
  size_t output_count() const { return node_.outputs.size(); }
  bool Has(size_t i) const;
  bool HasOutput(size_t k) const { return k < node_.outputs.size() && !node_.outputs[k].empty(); }
  // Both orders of an operand are made by need, once. kMalformedInput for an absent one.
  Made In(size_t i, Order order = Order::kPlain) const;
  Made Last(size_t i) const { return In(i, Order::kLast); }
  // In plain order; a constant as the file has it (Tensor::stored), unless it has scales of blocks.
  Made Weights(size_t i) const;
  // Those with scales of blocks as a layer has them, [N,K], of an operand [N,K] (`has_rows`) or [K,N]; kNoValue for
  // others.
  ValueId BlockedLayer(size_t i, bool has_rows) const;
  // The tensors of a sequence, in plain order; null for a tensor.
  std::shared_ptr<const std::vector<ValueId>> List(size_t i) const;
  // In plain order; kNoValue for an absent one.
  Made Optional(size_t i) const { return Has(i) ? In(i) : Made(kNoValue); }
  // kLast where only that exists, so that plain order would cost a transpose.
  Order OrderOf(size_t i) const;
  // kLast if any operand of the largest rank among these has only that order.
  Order CommonOrder(size_t first, size_t count) const;
  // Operand `i` broadcast-ready for results of this rank: leading dimensions of 1, then this order.
  Made Broadcastable(size_t i, int rank, Order order) const;
  // Its shape in plain order. A constant stays as the file has it.
  Result<Shape> ShapeOf(size_t i) const;
  // Its description in plain order.
  Result<TensorDesc> Desc(size_t i) const;
  // The numbers of a constant operand.
  Result<std::vector<int64_t>> Numbers(size_t i) const;
  // The same of an optional operand, or of an attribute that older versions have instead.
  Result<std::optional<std::vector<int64_t>>> NumbersOr(size_t i, std::string_view attribute) const;
  // The only number of one.
  Result<int64_t> Integer(size_t i) const;
  Result<double> Number(size_t i) const;
  // The real numbers of a constant operand; none of an absent one.
  Result<std::vector<float>> Floats(size_t i) const;
  bool IsConstant(size_t i) const;
  // Whether data decide how many rows it has.
  bool HasOpenRows(size_t i) const;

  // ---- Attributes ----

  // Null if it is absent. In a function, what the caller gives.
  const AttributeProto* Find(std::string_view name) const;
  // An error if an attribute that was asked for has another type than its reader takes.
  const Status& misread() const { return misread_; }
  const AttributeProto* Given(const AttributeProto& attribute) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  // An attribute that is 0, which it also is if it is absent, or 1; kMalformedInput for others.
  Result<bool> Flag(std::string_view name) const;
  double Float(std::string_view name, double otherwise) const;
  std::string_view Text(std::string_view name, std::string_view otherwise) const;
  // The place of a text among these, of which an absent one is the first; an error of this code, in which the attribute
  // is called `what`, for others.
  Result<size_t> Choice(std::string_view name, std::initializer_list<std::string_view> choices,
                        StatusCode code = StatusCode::kUnsupported, std::string_view what = {}) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> Reals(std::string_view name) const;
  std::vector<std::string_view> Texts(std::string_view name) const;
  // Null if it is absent.
  const TensorProto* TensorOf(std::string_view name) const;
  // A dimension from the front; kMalformedInput outside of the rank.
  static Result<int> Axis(int64_t axis, int rank);
  Result<int> AxisOf(std::string_view name, int64_t otherwise, int rank) const {
    return Axis(Int(name, otherwise), rank);
  }

 private:
  Tensor* Find(size_t i) const;
  bool HasMarked(const std::set<ValueId>& marked) const;  // whether an operand is
  const AttributeProto* FindOf(AttributeType type, std::string_view name) const;

  mutable Status misread_;
  Scope& scope_;
  const NodeProto& node_;
  const OperatorRow* row_;
  int64_t opset_;
};

// Operands in one order, ready to be broadcast.
struct Aligned {
  Order order = Order::kPlain;
  std::vector<ValueId> values;

  Results Result(const Made& made) const { return InOrder(order, made); }
};
Result<Aligned> Align(const OpView& op, size_t first, size_t count);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_OP_VIEW_H_
