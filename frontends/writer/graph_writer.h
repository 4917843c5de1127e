// Writes the graph of a model file, in any format: nodes and constants (NodeWriter), variables, branches and loops.
#ifndef HEARTH_FRONTENDS_WRITER_GRAPH_WRITER_H_
#define HEARTH_FRONTENDS_WRITER_GRAPH_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/loop_graphs.h"
#include "core/graph/op_def.h"
#include "frontends/writer/node_writer.h"
#include "frontends/writer/variables.h"

namespace hearth {

class GraphWriter;

// A loop as a format describes it: while `condition` gives true for the values, `body` makes the next ones. Both write
// to `to`, which is another graph than that around the loop where the loop becomes a node (to.outer() is then the
// writer around it).
struct LoopToWrite {
  using Part = std::function<Expanded(GraphWriter& to, std::span<const ValueId> values)>;
  Part condition, body;
  // Whether it was found too long to write out, as inner loops are in each turn of an outer one. Set by AddLoop.
  bool is_too_long = false;
};

class GraphWriter : public NodeWriter {
 public:
  // `outer`: for part of a loop on the host, the writer of the graph that holds the loop.
  explicit GraphWriter(ReadingBudget& budget, GraphWriter* outer = nullptr)
      : NodeWriter(budget, outer != nullptr),
        outer_(outer),
        variables_(*this, outer == nullptr ? nullptr : &outer->variables_) {}

  GraphWriter* outer() const { return outer_; }
  Variables& variables() { return variables_; }

  // Adds a node whose last operand and second result count its runs, in a variable of that name.
  Made AddWithRunCount(const std::string& name, Op op, std::vector<ValueId> inputs, DType dtype);

  // ---- The branch of a condition that is known, or all branches and a selection among their results ----

  using Branch = std::function<Expanded()>;
  // By one bool.
  Expanded AddBranches(ValueId condition, const Branch& then_branch, const Branch& else_branch);
  // Branch `number`, one int32; any number outside of the list selects the last branch.
  Expanded AddBranches(ValueId number, uint32_t count, const std::function<Expanded(uint32_t)>& branch);
  // The results of a branch or loop, whose variables of its own begin anew.
  Expanded AddFresh(const Branch& branch);
  // What `branch` makes, its assignments to variables only where `condition` holds; kNoValue: always.
  Expanded AddWhere(ValueId condition, const Branch& branch);
  // One of two values that are alike.
  Made AddChoice(ValueId condition, ValueId if_true, ValueId if_false);
  // Reshapes a value of one element to a scalar.
  Made AddScalar(ValueId value) { return AddReshape(value, Shape()); }
  // The value of a constant condition; nothing if it is not constant.
  Result<std::optional<bool>> KnownCondition(ValueId id) const;

  // ---- loops.cc ----

  // A loop that starts with `values`: written out if it is a bounded list of operators, so that every device runs it;
  // otherwise one node that the host runs.
  Expanded AddLoop(LoopToWrite& loop, const std::vector<ValueId>& values);

  // ---- The end ----

  // Adds outputs with numbers of rows, and the states of variables.
  Status Finish();

 private:
  Expanded Choose(ValueId condition, const Branch& then_branch, const Branch& else_branch);
  // The error of a branch, with how to do without it if a caller can.
  Status WithCondition(const Status& failed, ValueId condition);
  Expanded AddIterations(LoopToWrite& loop, const std::vector<ValueId>& values);
  Status ChooseVariables(ValueId condition, const Variables::Contents& if_true, Variables::Contents if_false);

  GraphWriter* outer_;
  Variables variables_;
};

// loop_turns.cc. The loop's values; nothing for a value that is unknown while the model is read.
using KnownValues = std::vector<std::optional<ReferenceTensor>>;
// The iterations of a loop that starts with `values`, at most `most`. Computes only the values that decide the end (a
// counter). Nothing if those are unknown, are large, depend on an inner loop, or need more than `work_left` nodes.
// Subtracts the nodes that were computed.
std::optional<int64_t> CountIterations(const LoopGraphs& loop, KnownValues values, int64_t most, int64_t& work_left);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_GRAPH_WRITER_H_
