// Turns one subgraph of a verified model into a Graph.
#ifndef HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_
#define HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"
#include "frontends/tflite/model_interface.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/recurrent_operands.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {

// Reads one subgraph, once.
class SubgraphReader {
 public:
  // `bytes` is the file that the verified `model` and its `subgraph` lie in; it outlives the graph.
  // `signature` describes it and may be null. `file_bytes`: see ReadOptions.
  SubgraphReader(const wire::Model& model, const wire::SubGraph& subgraph, const wire::SignatureDef* signature,
                 std::span<const std::byte> bytes, size_t file_bytes)
      : model_(model),
        subgraph_(subgraph),
        signature_(signature),
        budget_(file_bytes),
        tensors_(model, subgraph, bytes, file_bytes, budget_, graph_) {}

  // `input_shapes`: see ReadOptions.
  Result<Graph> Read(const std::map<std::string, std::vector<int32_t>>& input_shapes);

  enum class Edge : uint8_t { kInputs, kOutputs };
  Result<std::vector<TensorDeclaration>> Declarations(Edge edge);

 private:
  // Where a tensor's content comes from, as seen from the operator that is being read.
  enum class Source : uint8_t { kNone, kLater, kReady };

  int operator_count() const {
    return subgraph_.operators() == nullptr ? 0 : static_cast<int>(subgraph_.operators()->size());
  }
  const wire::Operator& op(int index) const { return *subgraph_.operators()->Get(index); }
  std::string OperatorLabel(int index) const;  // "operator 3 (CONV_2D)"
  const OperatorCode& CodeOf(int index) const { return codes_[op(index).opcode_index()]; }

  Result<std::vector<int32_t>> CopyIndices(const flatbuffers::Vector<int32_t>* indices, std::string_view where);
  Status ReadInputs(std::map<std::string, std::vector<int32_t>> input_shapes);
  Result<std::unordered_map<int32_t, std::string>> AliasesOf(Edge edge);
  TensorDeclaration DeclarationOf(int32_t tensor, const std::unordered_map<int32_t, std::string>& aliases) const;
  Status SetInputShape(int32_t tensor, const TensorDeclaration& declared, const std::vector<int32_t>& dims);
  Status CheckInput(int32_t tensor);
  Status FindOutputs();
  Status ReadOutputs();
  Status FindProducers();
  Status CheckProduced(int32_t tensor, std::string_view where);
  Status CheckHasContent(int32_t tensor, std::string_view where);
  Status ReadOperator(int index);
  Status CheckInputs(int index, std::span<const int32_t> inputs);
  Result<Op> ReadOp(int index, const std::vector<int32_t>& inputs);
  Result<ValueId> InputValue(const Op& op, int32_t tensor);
  Status AddNode(int index, Op op, std::span<const int32_t> inputs, std::span<const int32_t> outputs);
  ValueId AddCopy(ValueId value);
  Status MarkStates(int index);
  Status AddStateOutput(int32_t tensor, Node& node);
  void FinishStates();

  // subgraph_folding.cc: operators that make no node, and shapes that are found while reading.
  Result<bool> FoldOperator(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  Result<bool> FoldConversion(int index, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
  bool ReadsOpenShape(std::span<const int32_t> inputs) const;
  Status InferLastNode(std::span<const int32_t> inputs, std::span<const int32_t> outputs);
  std::vector<std::vector<std::byte>> EvaluateLastNode() const;
  Status FoldLastNode(std::span<const int32_t> outputs);

  const wire::Model& model_;
  const wire::SubGraph& subgraph_;
  const wire::SignatureDef* signature_;
  Graph graph_;
  CopyBudget budget_;
  TensorReader tensors_;
  std::vector<OperatorCode> codes_;
  std::vector<int32_t> output_tensors_;
  bool shapes_were_given_ = false;
  std::vector<Source> sources_;        // by tensor
  std::vector<bool> is_model_output_;  // by tensor
  std::vector<bool> is_folded_;        // by tensor: another name of a constant that it dequantizes
  std::vector<bool> has_open_shape_;   // by tensor: its shape was decided at load, or depends on one that was
  StackedConstants stacked_;           // of recurrent operators
  std::unordered_map<int32_t, ValueId> widened_;  // float32 copies of folded tensors, where one was needed
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_SUBGRAPH_READER_H_
