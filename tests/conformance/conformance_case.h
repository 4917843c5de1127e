// One conformance case: a small graph with one output, and how exact a device must be on it.
#ifndef HEARTH_TESTS_CONFORMANCE_CONFORMANCE_CASE_H_
#define HEARTH_TESTS_CONFORMANCE_CONFORMANCE_CASE_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/graph.h"
#include "core/op_table.h"

namespace hearth::conformance {

// Turns a uniform number of [0, 1) into an element; a function so that each operation gets a range where it is
// defined and continuous.
using Fill = float (*)(float uniform);
float Symmetric(float uniform);    // [-1, 1)
float Wide(float uniform);         // [-8, 8)
float Positive(float uniform);     // [0.25, 4)
float OffIntegers(float uniform);  // odd sixteenths of [-4, 4): never an integer, never half of one
float PowerOfTwo(float uniform);   // +-0.5, +-1, +-2

// A graph with the cases of one batch side by side: they share no value, so one plan runs them all.
struct CaseBatch {
  Graph graph;
  std::vector<ReferenceTensor> inputs;  // follow graph.inputs
};

// What a case's build function writes into. Data is the same in every run: seeded with the case's id.
class CaseGraph {
 public:
  CaseGraph(CaseBatch& batch, const std::string& id);

  ValueId Input(const Shape& shape, Fill fill = Symmetric);
  ValueId Constant(const Shape& shape, Fill fill = Symmetric);
  // A node's only output; its shape is inferred later.
  ValueId Node(Op op, std::vector<ValueId> inputs);

 private:
  std::vector<float> Numbers(const Shape& shape, Fill fill);
  std::string Name(const char* what);

  CaseBatch& batch_;
  const std::string& id_;
  std::minstd_rand random_;
  int names_ = 0;
};

// Where a device's error may come from; see tolerance.h.
struct Exactness {
  int64_t terms = 0;  // products or numbers that are summed into one element
  double ulps = 0;    // further roundings, in units of the last place; 0 with no terms: bit-exact
};

struct ConformanceCase {
  std::string family;  // cases of one family run as one plan
  std::string op;      // row of the matrix
  std::string name;    // unique within the op
  Exactness exactness;
  std::function<ValueId(CaseGraph&)> build;
  // False where the access path changes nothing that other cases don't show: saves compiling a program.
  bool every_path = true;

  std::string id() const { return op + "/" + name; }
};

// All cases, in the order of their families.
std::vector<ConformanceCase> AllCases();

// One function per cases_*.cc; each appends its families.
void AddWindowCases(std::vector<ConformanceCase>& cases);
void AddPoolCases(std::vector<ConformanceCase>& cases);
void AddElementwiseCases(std::vector<ConformanceCase>& cases);
void AddMovementCases(std::vector<ConformanceCase>& cases);
void AddReductionCases(std::vector<ConformanceCase>& cases);
void AddChainCases(std::vector<ConformanceCase>& cases);

}  // namespace hearth::conformance

#endif  // HEARTH_TESTS_CONFORMANCE_CONFORMANCE_CASE_H_
