// Turns one subgraph of a verified model, and those that it calls, into a Graph.
#ifndef HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_
#define HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/constant_results.h"
#include "core/graph/graph.h"
#include "frontends/model/model_interface.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/recurrent_operands.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {

struct LoopGraphs;

// Reads one subgraph, once.
class SubgraphReader {
 public:
  // `subgraph` is a verified part of reading.model, which outlives the graph. `signature` describes it and may be null.
  SubgraphReader(Reading& reading, const wire::SubGraph& subgraph, const wire::SignatureDef* signature)
      : reading_(reading),
        subgraph_(subgraph),
        signature_(signature),
        graph_(reading.graph),
        budget_(reading.copies),
        tensors_(reading, subgraph) {}

  // Reads the model's own subgraph into reading.graph. `input_shapes`: see ReadOptions.
  Status Read(const std::map<std::string, std::vector<int32_t>>& input_shapes);
  // Reads subgraph `number`, called by operator `source_index` of the model's own: appends its nodes and returns its
  // outputs. kUnsupported for unknown operators.
  Result<std::vector<ValueId>> ReadCalled(int32_t number, std::span<const ValueId> arguments, int32_t source_index);

  enum class Side : uint8_t { kInputs, kOutputs };
  Result<std::vector<TensorDeclaration>> Declarations(Side side);

 private:
  friend class Expansion;

  // Whether a tensor's content is available to the operator that is being read.
  enum class Source : uint8_t { kNone, kLater, kReady };

  int operator_count() const {
    return subgraph_.operators() == nullptr ? 0 : static_cast<int>(subgraph_.operators()->size());
  }
  // The source index of a node that operator `index` makes.
  int32_t SourceIndex(int index) const { return source_index_ < 0 ? index : source_index_; }
  const wire::Operator& op(int index) const { return *subgraph_.operators()->Get(index); }
  std::string OperatorLabel(int index) const;  // "operator 3 (CONV_2D)"
  const OperatorCode& CodeOf(int index) const { return reading_.codes[op(index).opcode_index()]; }

  void PrepareLists();
  Result<std::vector<int32_t>> CopyIndices(const flatbuffers::Vector<int32_t>* indices, std::string_view where);
  Status ReadInputs(std::map<std::string, std::vector<int32_t>> input_shapes);
  Result<std::unordered_map<int32_t, std::string>> AliasesOf(Side side);
  TensorDeclaration DeclarationOf(int32_t tensor, const std::unordered_map<int32_t, std::string>& aliases) const;
  Status SetInputShape(int32_t tensor, const TensorDeclaration& declared, const std::vector<int32_t>& dims);
  Status CheckInput(int32_t tensor);
  Status FindOutputs();
  Status ReadOutputs();
  Status BindArguments(std::span<const ValueId> arguments);
  Result<std::vector<ValueId>> CalledOutputs();
  Status FindProducers();
  Status CheckProduced(int32_t tensor, std::string_view where);
  Status CheckHasContent(int32_t tensor, std::string_view where);
  Status ReadOperator(int index);
  Status CheckInputs(int index, std::span<const int32_t> inputs);
  Result<Op> ReadOp(int index, const std::vector<int32_t>& inputs);
  Result<ValueId> InputValue(const Op& op, int32_t tensor);
  Result<ValueId> OperandOf(int index, const Op& op, int32_t tensor);
  Status AddNode(int index, Op op, std::span<const int32_t> inputs, std::span<const int32_t> outputs);
  Result<ValueId> AddCopy(ValueId value, std::string name);
  Status MarkStates(int index);
  Result<ValueId> AddStateOutput(int32_t tensor, Node& node);
  Status ReplaceState(int32_t tensor, ValueId next);
  void FinishStates();

  // subgraph_folding.cc: operators that make no node, and shapes that are inferred while reading.
  Result<bool> FoldOperator(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  Result<bool> FoldConversion(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  bool ReadsOpenShape(std::span<const int32_t> inputs) const;
  Status InferLastNode(std::span<const int32_t> inputs, std::span<const int32_t> outputs);
  ConstantResults ConstantsOfLastNode();
  Status FoldLastNode(int index, std::span<const int32_t> outputs);
  Status BindConstant(int index, int32_t tensor, const TensorDesc& desc, std::vector<std::byte> bytes);
  bool SkipEmptySequence();
  void DropEmptyParts();

  // subgraph_control.cc: operators that call other subgraphs.
  Result<bool> ReadControl(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  Result<std::vector<ValueId>> ReadCalls(int index, const std::vector<int32_t>& inputs);
  Result<std::vector<ValueId>> ReadWhile(int index, const std::vector<ValueId>& values);
  Result<std::vector<ValueId>> ReadTurns(int index, const wire::WhileOptions& options,
                                         const std::vector<ValueId>& values);
  Result<std::vector<ValueId>> CallFresh(int index, int32_t subgraph, std::span<const ValueId> arguments);
  Result<std::vector<ValueId>> WriteOutTurns(int index, const wire::WhileOptions& options, std::vector<ValueId> state,
                                             int& chosen_turns_left);
  Result<const wire::SubGraph*> CalledSubgraph(int32_t subgraph) const;  // kMalformedInput if there is none
  Result<std::vector<ValueId>> Call(int index, int32_t subgraph, std::span<const ValueId> arguments);
  Result<std::vector<ValueId>> CallWhere(int index, ValueId condition, int32_t subgraph,
                                         std::span<const ValueId> arguments);
  Result<ValueId> AddMadeNode(int index, Op op, std::vector<ValueId> inputs, TensorDesc desc);
  Status BindOutput(int index, int32_t tensor, ValueId value);
  Status FinishMade(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                    const Result<std::vector<ValueId>>& made, size_t first_node);
  bool IsRefused(size_t first_node) const;

  // subgraph_branches.cc: IF and STABLEHLO_CASE.
  using Branch = std::function<Result<std::vector<ValueId>>()>;
  Result<std::vector<ValueId>> Choose(int index, ValueId condition, const Branch& then_branch,
                                      const Branch& else_branch);
  Result<std::vector<ValueId>> ReadCase(int index, std::span<const ValueId> operands);
  Result<std::vector<ValueId>> ReadIf(int index, std::span<const ValueId> operands);
  Result<ValueId> AddChoice(int index, ValueId condition, ValueId if_true, ValueId if_false);
  Result<ValueId> AddScalar(int index, ValueId value);
  Result<std::optional<bool>> KnownCondition(ValueId id) const;

  // subgraph_loop.cc: loops that the host runs.
  Result<std::vector<ValueId>> AddLoop(int index, const wire::WhileOptions& options,
                                       const std::vector<ValueId>& values);
  struct LoopParts {
    std::shared_ptr<LoopGraphs> graphs;
    std::vector<std::string> variables;  // loop-carried, after the loop's own values
    std::set<std::string> changed;       // those that the body assigns
    bool tests_in_body = false;          // a value after the loop's own says whether it continues
  };
  // Whether no turn changes it: a handle, or a value without elements.
  bool GoesAroundLoop(ValueId value) const { return IsHandle(value) || HasNoElements(graph_, value); }
  Result<LoopParts> ReadParts(int index, const wire::WhileOptions& options, const std::vector<ValueId>& values);
  std::optional<bool> DoTurnsFit(int index, const wire::WhileOptions& options, const std::vector<ValueId>& values,
                                 int64_t operators);
  Result<Graph> ReadPart(int index, const wire::WhileOptions& options, const std::vector<ValueId>& values,
                         LoopParts& parts, bool is_condition);
  Result<ValueId> AddTest(int index, const wire::WhileOptions& options, std::span<const ValueId> values);
  Result<std::vector<ValueId>> MakePart(int index, const wire::WhileOptions& options, std::vector<ValueId> arguments,
                                        const LoopParts& parts, bool is_condition);
  Result<std::vector<ValueId>> BeginPart(SubgraphReader& caller, const std::vector<ValueId>& values,
                                         const LoopParts& parts);
  Status FillPart(SubgraphReader& caller, int index, const wire::WhileOptions& options,
                  const std::vector<ValueId>& values, LoopParts& parts, bool is_condition);
  Result<ValueId> AddArgument(SubgraphReader& caller, ValueId value);
  Status CheckTurn(const SubgraphReader& caller, const std::vector<ValueId>& values, std::vector<ValueId>& made,
                   bool is_condition) const;
  Status EndPart(SubgraphReader& caller, const std::vector<ValueId>& values, std::vector<ValueId> made,
                 LoopParts& parts, bool is_condition);
  Status AddOutputs(const std::vector<ValueId>& made);

  // subgraph_rows.cc: tensors whose number of rows depends on data.
  Result<bool> ReadOnRows(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  Result<ValueId> MakeOnRows(int index, const std::vector<int32_t>& inputs, int32_t output);
  Result<ValueId> ShapeOfRows(int index, ValueId value, const TensorDesc& made);
  Result<ValueId> ReduceRows(int index, const Reduce& reduce, ValueId value, const TensorDesc& made);
  Result<ValueId> MaskRows(int index, ValueId value, double number);
  // AddNumbers makes a constant that counts against the limit of the file. CheckRoom asks for it before many numbers
  // are computed: a file of some bytes may name 2^31 rows.
  Status CheckRoom(const TensorDesc& desc) const;
  Result<ValueId> AddNumbers(const TensorDesc& desc, const std::vector<double>& numbers);
  Result<ValueId> AddIndices(const Shape& shape);  // int32: 0, 1, 2, ...
  Result<ValueId> RowsOfLastNode() const;
  ValueId RowsOf(ValueId value) const;  // its number of valid rows; kNoValue: all
  Status AddRowOutputs();

  // subgraph_variables.cc: operators on resource variables.
  Result<bool> ReadVariableOperator(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  using NamedVariable = std::pair<std::string, Variable>;
  Result<std::vector<ValueId>> ReadOnVariable(int index, int32_t code, std::span<const int32_t> inputs,
                                              std::optional<NamedVariable>& before);
  Status ReadCallOnce(int index);
  Result<ValueId> HandleOf(int index);
  Result<ValueId> AddHandle(const std::string& name, const TensorDesc& desc);
  Result<std::string> VariableBehind(int32_t tensor);
  bool ChangesVariable(const std::string& name);
  bool IsHandle(ValueId value) const { return reading_.handles.contains(value); }
  Status CheckNoHandles(int index, std::span<const int32_t> inputs);

  // subgraph_variable_states.cc: what variables hold while operators are read, and the states that they become.
  Result<ValueId> CurrentValue(int index, const std::string& name);
  Result<ValueId> BeginState(int index, const std::string& name);
  Result<ValueId> BeginInLoop(const std::string& name);
  bool IsOwn(const std::string& name) const { return reading_.own_variables.contains(name); }
  std::string NameOfOwnState(int32_t tensor) const { return fmt::format("subgraph_{}_state_{}", number_, tensor); }
  Result<ValueId> AddZeros(const std::string& name);
  Result<Variables> BeginFreshCall();
  void EndFreshCall(const Variables& before);  // what BeginFreshCall returned
  Status BindOwnStates();
  ValueId WasRun();
  Status Assign(const std::string& name, ValueId value);
  Status BeginStates(int index);
  Status ChooseVariables(int index, ValueId condition, const Variables& if_true, Variables if_false);
  ValueId AddNextContent(const Variable& variable);
  void FinishVariables();

  // expansion.cc: operators that become several nodes, and complex tensors, which only they make.
  Result<bool> ReadExpansion(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  bool IsComplexMove(int index, const std::vector<int32_t>& inputs) const;
  Status MoveComplex(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);

  Reading& reading_;
  const wire::SubGraph& subgraph_;
  const wire::SignatureDef* signature_;
  Graph& graph_;
  CopyBudget& budget_;
  TensorReader tensors_;
  int32_t number_ = -1;        // of a subgraph that is called; -1 for the model's own
  int32_t source_index_ = -1;  // of the operator that calls it
  std::vector<int32_t> output_tensors_;
  bool shapes_were_given_ = false;
  std::vector<Source> sources_;        // by tensor
  std::vector<bool> is_model_output_;  // by tensor
  std::vector<bool> is_folded_;        // by tensor: another name of a constant that it dequantizes
  std::vector<bool> has_open_shape_;   // by tensor: its shape was decided at load, or depends on one that was
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_
