// State shared by all subgraphs that are read into one graph: the graph, limits, and constants.
#ifndef HEARTH_FRONTENDS_TFLITE_READING_H_
#define HEARTH_FRONTENDS_TFLITE_READING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "frontends/tflite/schema_generated.h"
#include "hearth/status.h"

namespace hearth {

struct OperatorRow;

// An entry of Model.operator_codes.
struct OperatorCode {
  const OperatorRow* row = nullptr;  // null for an operator that is in no table
  std::string name;                  // if custom
};

// The file's operator codes. Copies share them: each part of a loop on the host has one.
class OperatorCodes {
 public:
  OperatorCodes() = default;
  OperatorCodes(std::vector<OperatorCode> codes)  // NOLINT: implicit
      : codes_(std::make_shared<const std::vector<OperatorCode>>(std::move(codes))) {}
  size_t size() const { return codes_ == nullptr ? 0 : codes_->size(); }
  const OperatorCode& operator[](size_t index) const { return (*codes_)[index]; }

 private:
  std::shared_ptr<const std::vector<OperatorCode>> codes_;
};

// Constants made from other constants, by their ids: nodes that share their weights (the steps of an unrolled network)
// share the results.
using StackedConstants = std::map<std::vector<int64_t>, ValueId>;

// Limits what is copied out of a file to four times its size. The same vector or string may be
// referred to from many tables, so that a small file could otherwise ask for any amount of memory.
class CopyBudget {
 public:
  explicit CopyBudget(size_t file_bytes) : left_bytes_(4 * file_bytes + (1 << 20)) {}
  // False if that is too much.
  [[nodiscard]] bool Charge(size_t bytes) {
    if (bytes > left_bytes_) return false;
    left_bytes_ -= bytes;
    return true;
  }
  // The same for the scales of a description, unless it has only one for all channels.
  [[nodiscard]] bool ChargeScales(const TensorDesc& desc) {
    if (!desc.quantization || desc.quantization->scales.size() <= 1) return true;
    const Quantization& lists = *desc.quantization;
    return Charge(lists.scales.size() * sizeof(float) + lists.zero_points.size() * sizeof(int64_t));
  }
  // Adds to the budget, for parts that are read again within a limit of their own.
  void Add(size_t bytes) { left_bytes_ += bytes; }
  // The error for an exceeded budget; `what` needed too much.
  static Status Exceeded(std::string_view what);

 private:
  size_t left_bytes_;
};

// A resource variable, as far as its operators have been read.
struct Variable {
  ValueId first = kNoValue;    // a constant: what CALL_ONCE assigned
  ValueId state = kNoValue;    // its content when a run begins, if an operator reads that
  ValueId begun = kNoValue;    // `state`, or in the first run `first`
  ValueId current = kNoValue;  // its content at this point of reading
};
// A variable's name. Copies share the text: each level of nested branches keeps all variables three times.
class VariableName {
 public:
  VariableName(std::string text)  // NOLINT: implicit
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  const std::string& text() const { return *text_; }
  operator const std::string&() const { return *text_; }  // NOLINT: implicit
  struct Before {
    using is_transparent = void;
    bool operator()(const std::string& one, const std::string& other) const { return one < other; }
  };

 private:
  std::shared_ptr<const std::string> text_;
};
using Variables = std::map<VariableName, Variable, VariableName::Before>;
// Variables that began on one branch have begun on the other branch too.
void KeepBegun(const Variables& from, Variables& to);

struct Reading {
  // All outlive the graph. `size_limit`: see ReadOptions::file_bytes.
  Reading(const wire::Model& the_model, std::span<const std::byte> the_file, size_t size_limit)
      : model(the_model), file(the_file), copies(size_limit), made_bytes_left(64 * size_limit + (size_t{16} << 20)) {}

  // An error if too much was done over and over: whoever goes through a whole list for each operator asks first.
  Status ChargeSteps(size_t steps);
  Result<Variables> CopyVariables();  // to undo changes; counts as steps

  const wire::Model& model;
  std::span<const std::byte> file;
  Graph graph;
  CopyBudget copies;
  // Constants that the file describes without holding their bytes: sparse, computed and stacked ones.
  size_t made_bytes_left;
  // State (is_variable) is the one thing that a file can ask for without holding its bytes.
  static constexpr size_t kMaxStateBytes = size_t{64} << 20;
  size_t state_bytes_left = kMaxStateBytes;
  OperatorCodes codes;
  // Loops are unrolled, so each iteration reads the body's constants again: each stays one value.
  std::unordered_map<const wire::Tensor*, ValueId> constants;
  std::unordered_map<ValueId, ValueId> widened;  // float32 copies of constants that some node needs
  std::unordered_map<ValueId, ValueId> hybrid;   // constants as weights under float data
  StackedConstants stacked;                      // of recurrent operators
  // Operators of subgraphs that replace the operators that call them.
  static constexpr int64_t kMaxInlinedOperators = 100'000;
  int64_t inlined_operators_left = kMaxInlinedOperators;
  // Tensors of subgraphs at each call of them, and all variables or nodes wherever one operator goes through them. Real
  // models need less than a million; the file's size does not bound it, since it may list one CALL 100,000 times.
  static constexpr size_t kMaxSteps = size_t{1} << 25;
  size_t steps_left = kMaxSteps;
  // Nodes that are gone through only to name in a message what a tensor depends on.
  size_t searched_nodes_left = size_t{1} << 25;
  // Operators and nodes that are read or computed only to count a loop's iterations.
  int64_t counting_left = 1 << 20;
  std::vector<int32_t> calls;                         // subgraphs that are being read, the outermost first
  std::set<const wire::Operator*> loops_of_the_host;  // WHILEs with a data-dependent end, too long to unroll
  // Values with more rows than are valid, and their numbers of valid rows (int32[1]).
  std::map<ValueId, ValueId> rows;
  // Resource variables, by name. A handle of one is a constant that only its operators read.
  Variables variables;
  std::map<ValueId, std::string> handles;
  std::map<std::string, ValueId> handle_of;  // a handle of each variable
  std::set<int32_t> initializations;         // subgraphs that CALL_ONCE called
  bool is_initializing = false;              // one of them is being read
  // Variables that operators have for themselves, by name: they count the draws of random operators, or are variable
  // tensors of called subgraphs. They begin with zeros.
  std::map<std::string, TensorDesc> own_variables;
  int fresh_calls = 0;             // number of IFs and WHILEs entered so far: these variables begin anew in each
  const Reading* outer = nullptr;  // in a part of a loop on the host: the reading around the loop
  std::vector<std::string> loop_variables;      // in such a part: the variables that are its last inputs
  std::map<std::string, size_t> loop_place_of;  // their places in this list
  std::optional<std::set<std::string>>
      changed_variables;       // by operators outside of initializations; "*" stands for all
  ValueId was_run = kNoValue;  // state: false in the first run, where a first value is not all zeros
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_READING_H_
