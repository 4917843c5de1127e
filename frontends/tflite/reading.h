// What all subgraphs of a .tflite file share while it is read into a graph.
#ifndef HEARTH_FRONTENDS_TFLITE_READING_H_
#define HEARTH_FRONTENDS_TFLITE_READING_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/custom_node.h"
#include "frontends/tflite/schema_generated.h"
#include "frontends/writer/graph_writer.h"
#include "hearth/model_metadata.h"

namespace hearth {

class OperatorView;
// Reads the attributes of an operator that is one node. The number of inputs and outputs was checked against the row.
using OperatorReader = Result<Op>(const OperatorView& view);
// Writes an operator that becomes several nodes, or constants, and returns its results, one per output.
using OperatorExpansion = Expanded(OperatorView& view, GraphWriter& to);

// What only some expanded operators take.
enum OperatorTraits : unsigned {
  kTakesRows = 1,     // operands whose number of rows depends on data
  kTakesComplex = 2,  // complex numbers
  kTakesHandles = 4,  // handles of variables
  kCalls = 8,         // it calls subgraphs
  kPlainApart = 16,   // expanded, though it has a reader, if its first operand is a plain integer or bool
  kNarrowApart = 32,  // the same, of fewer than 32 bits
};

// Positions of operands.
class Positions {
 public:
  constexpr Positions() = default;
  constexpr Positions(std::initializer_list<uint8_t> list) : count_(static_cast<uint8_t>(list.size())) {
    std::copy(list.begin(), list.end(), list_.begin());
  }
  constexpr const uint8_t* begin() const { return list_.data(); }
  constexpr const uint8_t* end() const { return begin() + count_; }
  constexpr size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }

 private:
  uint8_t count_ = 0;
  std::array<uint8_t, 5> list_ = {};  // within the row: a table of 200 rows has no other memory
};

// What is known of an operator of the format; the rows are in operator_table.cc.
struct OperatorRow {
  constexpr OperatorRow(int32_t the_code, std::string_view the_name, OperatorReader* reader, int required, int most,
                        int data, int most_outputs = 1, Positions order = {}, Positions states = {})
      : code(the_code),
        name(the_name),
        read(reader),
        required_inputs(required),
        max_inputs(most),
        data_inputs(data),
        max_outputs(most_outputs),
        input_order(order),
        state_inputs(states) {}
  constexpr OperatorRow(int32_t the_code, std::string_view the_name, OperatorExpansion* expansion, int required,
                        int most, unsigned the_traits = 0, Positions states = {})
      : OperatorRow(the_code, the_name, nullptr, expansion, required, most, 0, the_traits,
                    std::numeric_limits<int>::max()) {
    state_inputs = states;
  }
  // `expansion` takes the forms that `reader` calls unsupported.
  constexpr OperatorRow(int32_t the_code, std::string_view the_name, OperatorReader* reader,
                        OperatorExpansion* expansion, int required, int most, int data, unsigned the_traits = 0,
                        int most_outputs = 1)
      : OperatorRow(the_code, the_name, reader, required, most, data, most_outputs) {
    expand = expansion;
    traits = the_traits;
  }
  constexpr OperatorRow(int32_t the_code, std::string_view the_name, std::string_view why)
      : code(the_code), name(the_name), why_refused(why) {}

  int32_t code;
  unsigned traits = 0;  // OperatorTraits
  std::string_view name;
  // One of the three, or the first two.
  OperatorReader* read = nullptr;
  OperatorExpansion* expand = nullptr;
  std::string_view why_refused = {};  // and what to do instead: one sentence without capital and full stop
  int required_inputs = 0;            // the first ones, which must be present
  int max_inputs = 0;
  int data_inputs = 0;                                // the first ones, inputs of the node; later ones are attributes
  int max_outputs = std::numeric_limits<int>::max();  // at least one is required if the operator is one node
  Positions input_order = {};  // of the node's inputs, instead of the first ones; absent ones at the end are left out
  // Operands that the operator changes if the file marks them as state (`is_variable`), as LSTMs do. A node has one
  // more output for each that is present: the state's next content.
  Positions state_inputs = {};
};

// An entry of Model.operator_codes.
struct OperatorCode {
  const OperatorRow* row = nullptr;  // null for an operator that is in no table
  std::string name;                  // if custom
  const CustomOp* custom = nullptr;  // if the program registered it; it has no row then
};

struct Reading {
  // The operator's code; -1 if it is in no table.
  int32_t CodeOf(const wire::Operator& op) const {
    const OperatorRow* row = op.opcode_index() < codes.size() ? codes[op.opcode_index()].row : nullptr;
    return row == nullptr ? -1 : row->code;
  }

  // All outlive the graph.
  const wire::Model& model;
  std::span<const std::byte> file;
  ReadingBudget& budget;
  bool complex_as_pairs = true;  // ReadOptions
  std::vector<OperatorCode> codes = {};
  std::vector<int32_t> calls = {};                              // subgraphs that are being read, the outermost first
  std::set<const wire::Operator*> long_loops = {};              // see LoopToWrite::is_too_long
  std::set<int32_t> initializations = {};                       // subgraphs that CALL_ONCE called
  std::optional<std::set<std::string>> changed_variables = {};  // by operators outside of those; "*" stands for all
};

// The results of a subgraph that an operator calls, written for `arguments` (subgraph_reader.cc).
Expanded CallSubgraph(Reading& reading, GraphWriter& to, int32_t subgraph, std::span<const ValueId> arguments);
Result<const wire::SubGraph*> CalledSubgraph(const Reading& reading, int32_t subgraph);

// Metadata of the subgraph with that index; empty if the file has none. `model` is verified and part of `file`, the
// whole file. Lists of tensors with another length than the subgraph's are left out with a warning
// (metadata_reader.cc).
Result<ModelMetadata> ReadMetadataOf(const wire::Model& model, uint32_t subgraph, std::span<const std::byte> file);

// kMalformedInput: names the kind of a file that was given in place of a TFLite model, if its first bytes tell it, and
// how to get a TFLite model from it (foreign_file.cc).
Status NotTfliteError(std::span<const std::byte> bytes);

// A flatbuffer vector's elements, by memcpy: the format aligns vectors of 8-byte numbers to 4 only.
template <typename T>
std::vector<T> CopyOf(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  std::vector<T> copy(vector->size());
  std::memcpy(copy.data(), vector->Data(), copy.size() * sizeof(T));
  return copy;
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_READING_H_
