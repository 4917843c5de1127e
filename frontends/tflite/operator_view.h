// One operator of the file, for the functions that read it.
#ifndef HEARTH_FRONTENDS_TFLITE_OPERATOR_VIEW_H_
#define HEARTH_FRONTENDS_TFLITE_OPERATOR_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/op.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {

// A table without fields, so that reading it gives the schema's defaults.
template <typename Table>
const Table& DefaultTable() {
  // The empty table in wire form: its vtable (4 bytes long, table of 4 bytes), then the distance back to it.
  alignas(8) static const uint8_t kEmpty[8] = {4, 0, 4, 0, 4, 0, 0, 0};
  return *reinterpret_cast<const Table*>(kEmpty + 4);
}

// Errors are kMalformedInput if the file breaks the format's rules. They are kUnsupported for a correct form that
// Hearth does not run; the caller then keeps an UnknownOp.
class OperatorView {
 public:
  // `inputs` are checked tensor indices, -1 for an absent one. All is borrowed.
  OperatorView(Reading& reading, TensorReader& tensors, const wire::Operator& op, int index,
               const std::vector<int32_t>& inputs)
      : reading_(reading), tensors_(tensors), op_(op), index_(index), inputs_(inputs) {}

  Reading& reading() const { return reading_; }
  const wire::Operator& op() const { return op_; }
  const OperatorCode& code() const { return reading_.codes[op_.opcode_index()]; }
  int index() const { return index_; }                      // in its subgraph
  int32_t subgraph() const { return tensors_.subgraph(); }  // -1 for the model's own

  // ---- In the file ----

  const std::vector<int32_t>& inputs() const { return inputs_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  bool HasInput(int i) const { return i < input_count() && inputs_[i] != -1; }

  // The file's description of inputs. Precondition: HasInput(i).
  Result<Shape> InputShape(int i) const { return tensors_.ShapeOf(inputs_[i]); }
  // The same, ignoring shapes given by the caller.
  Result<Shape> InputFileShape(int i) const { return tensors_.FileShapeOf(inputs_[i]); }
  bool InputHasNoShape(int i) const { return tensors_.HasNoShape(inputs_[i]); }
  Result<TensorDesc> DescribeInput(int i) const { return tensors_.Describe(inputs_[i]); }
  std::string InputLabel(int i) const { return tensors_.Label(inputs_[i]); }

  // The numbers of a constant int16, int32 or int64 operand of at most `most` elements, each within int32. kUnsupported
  // if it is not constant. Precondition: HasInput(i).
  Result<std::vector<int32_t>> ConstantIntegers(int i, size_t most = 2 * Shape::kMaxRank) const;
  // The only number of such an operand, and one that is an axis of a tensor of `rank`.
  Result<int32_t> ConstantInteger(int i) const;
  Result<int32_t> ConstantAxis(int i, int rank) const;
  // The only number of a constant operand of any type as a real number; kUnsupported if it is not constant.
  // Precondition: HasInput(i).
  Result<double> ConstantReal(int i) const;

  int output_count() const { return op_.outputs() == nullptr ? 0 : static_cast<int>(op_.outputs()->size()); }
  int32_t output(int i) const { return op_.outputs()->Get(static_cast<uint32_t>(i)); }  // a checked tensor index
  // The file's description of output `i`: the type is used, the shape is not. kMalformedInput if there is none.
  Result<TensorDesc> DescribeOutput(int i) const;
  // Sets the element type of output `i`, if it is there, regardless of the file.
  void SetOutputType(int i, DType type) const {
    if (i < output_count()) tensors_[output(i)].type = type;
  }

  // A custom operator's options: bytes that only the operator defines.
  std::span<const std::byte> CustomOptions() const {
    if (op_.custom_options() == nullptr) return {};
    return std::as_bytes(std::span(op_.custom_options()->data(), op_.custom_options()->size()));
  }

  // The options table; all defaults if there is none, an error if it has another type.
  template <typename Table>
  Result<const Table*> Options() const {
    constexpr auto kExpected = static_cast<int>(wire::BuiltinOptionsTraits<Table>::enum_value);
    constexpr auto kExpected2 = static_cast<int>(wire::BuiltinOptions2Traits<Table>::enum_value);
    if constexpr (kExpected2 != 0) {
      return OptionsOfType<Table>(op_.builtin_options_2(), static_cast<int>(op_.builtin_options_2_type()), kExpected2);
    } else {
      return OptionsOfType<Table>(op_.builtin_options(), static_cast<int>(op_.builtin_options_type()), kExpected);
    }
  }

  // The operator codes of a subgraph that the operator names, which has at most `most` operators.
  Result<std::vector<int32_t>> CodesOf(int32_t subgraph, size_t most) const;

  // ---- In the graph, for operators that become several nodes ----

  GraphWriter& to() const { return tensors_.to(); }
  // Makes values of the operands. Precondition of the functions on operands.
  Status MakeOperands();
  // What the operator reads for the tensor (TensorReader::OperandOf). Its constant weights of 8 bits under float data
  // are int8 with zero point 0, whatever the file says of them: LiteRT's kernels (2.3.0) read uint8, which old files
  // have, as int8, and ignore the zero point of both. kUnsupported for such weights that are made at run time.
  Made OperandOf(int32_t tensor, bool takes_stored) const;
  const std::vector<ValueId>& operands() const { return operands_; }
  // kNoValue if it is absent.
  ValueId operand(size_t i) const { return i < operands_.size() ? operands_[i] : kNoValue; }
  bool Has(size_t i) const { return operand(i) != kNoValue; }
  const TensorDesc& desc(size_t i) const { return to().desc(operand(i)); }
  const Shape& shape(size_t i) const { return desc(i).shape; }
  // Once all results are bound, the state that is operand `i` becomes `next`.
  void SetNextState(size_t i, ValueId next) { next_states_.emplace_back(inputs_[i], next); }
  const std::vector<std::pair<int32_t, ValueId>>& next_states() const { return next_states_; }  // by tensor

 private:
  template <typename Table>
  static Result<const Table*> OptionsOfType(const void* options, int type, int expected) {
    if (type == 0) return &DefaultTable<Table>();
    if (type != expected) {
      return Error(StatusCode::kMalformedInput, "its options are of type {} where type {} belongs", type, expected);
    }
    return options == nullptr ? &DefaultTable<Table>() : static_cast<const Table*>(options);
  }

  Reading& reading_;
  TensorReader& tensors_;
  const wire::Operator& op_;
  int index_;
  const std::vector<int32_t>& inputs_;
  std::vector<ValueId> operands_;
  std::vector<std::pair<int32_t, ValueId>> next_states_;
};

Result<Activation> ReadActivation(wire::ActivationFunctionType activation);

// `axis` counted from the front for a tensor of `rank`; negative ones count from the end.
Result<int32_t> ResolveAxis(int32_t axis, int rank);
// A bit for each dimension in `axes`.
Result<uint32_t> ResolveAxes(std::span<const int32_t> axes, int rank);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_OPERATOR_VIEW_H_
