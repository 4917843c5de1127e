// Reads the operators of one subgraph of a verified model, in order, into a graph.
#ifndef HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_
#define HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/tflite/operator_view.h"
#include "runtime/model/model_interface.h"

namespace hearth {

// Reads one subgraph, once.
class SubgraphReader {
 public:
  // `subgraph` is a verified part of reading.model, which outlives the graph. `number` is its own if an operator calls
  // it, -1 for the model's.
  SubgraphReader(Reading& reading, GraphWriter& to, const wire::SubGraph& subgraph, int32_t number = -1)
      : reading_(reading),
        to_(to),
        subgraph_(subgraph),
        number_(number),
        caller_index_(to.origin().source_index),
        tensors_(reading, to, subgraph, number) {}

  // Reads the model's own subgraph, which `signature` describes (it may be null).
  Status Read(const wire::SignatureDef* signature, const ReadOptions& options);
  // Reads a called subgraph and returns its outputs. kUnsupported for unknown operators.
  Expanded ReadCalled(std::span<const ValueId> arguments);

  enum class Side : uint8_t { kInputs, kOutputs };
  Result<std::vector<TensorDeclaration>> Declarations(Side side, const wire::SignatureDef* signature);

 private:
  using Aliases = std::unordered_map<int32_t, std::string>;  // by tensor

  int operator_count() const {
    return subgraph_.operators() == nullptr ? 0 : static_cast<int>(subgraph_.operators()->size());
  }
  const wire::Operator& op(int index) const { return *subgraph_.operators()->Get(static_cast<uint32_t>(index)); }
  std::string OperatorLabel(int index) const;  // "operator 3 (CONV_2D)"
  const OperatorCode& CodeOf(int index) const { return reading_.codes[op(index).opcode_index()]; }

  Result<std::vector<int32_t>> CopyIndices(const flatbuffers::Vector<int32_t>* indices, std::string_view where);
  // subgraph_interface.cc
  Result<Aliases> AliasesOf(Side side, const wire::SignatureDef* signature);
  TensorDeclaration DeclarationOf(int32_t tensor, const Aliases& aliases) const;
  Status ReadInputs(const wire::SignatureDef* signature, ReadOptions options);
  Status AddInput(int32_t tensor, const TensorDeclaration& declared, const std::vector<int32_t>* given,
                  const FixedInput* fixed);
  Result<std::vector<int32_t>> FindOutputs();
  Status ReadOutputs(const std::vector<int32_t>& outputs);

  Status BindArguments(std::span<const ValueId> arguments);
  Expanded CalledOutputs();
  Status FindProducers();
  Status MarkStates(int index);
  Status CheckProduced(int32_t tensor, std::string_view where);
  Status CheckHasContent(int32_t tensor, std::string_view where);
  Status CheckInputs(int index, std::span<const int32_t> inputs);
  Status CheckMarks(const OperatorView& view) const;

  Status ReadOperator(int index);
  Result<bool> IsOneNode(const OperatorView& view, std::optional<Result<Op>>& read) const;
  Result<bool> FoldDequantize(const OperatorView& view);
  Result<Op> ReadOp(const OperatorView& view, std::optional<Result<Op>> known);
  Result<Op> UnknownBecause(const OperatorView& view, const Status& why);
  Expanded OperandsOf(const OperatorView& view, const Op& op);
  Status ReadNode(const OperatorView& view, std::optional<Result<Op>> known);
  Made AddOnRowsOf(const OperatorView& view, const Op& op, const std::vector<ValueId>& operands,
                   const TensorDesc& made);
  Result<std::vector<NamedResult>> ResultsOf(const OperatorView& view);
  Status AddNode(const OperatorView& view, Op op, std::vector<ValueId> operands);
  Status AddAsDeclared(const OperatorView& view, Result<Op> op);
  Result<std::function<void()>> UndoOf(const OperatorView& view);
  Status Expand(OperatorView& view);
  Status Finish(const OperatorView& view, const Expanded& made, size_t first_node,
                const std::function<void()>& undo = nullptr);
  Status BindOutput(int32_t tensor, ValueId value);
  void FinishStates();

  Reading& reading_;
  GraphWriter& to_;
  const wire::SubGraph& subgraph_;
  int32_t number_;
  int32_t caller_index_;  // of the model's own operator that calls it
  TensorReader tensors_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_
