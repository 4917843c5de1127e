// One conformance case: a small graph with one output, and how exact a device must be on it.
#ifndef HEARTH_CONFORMANCE_CONFORMANCE_CASE_H_
#define HEARTH_CONFORMANCE_CONFORMANCE_CASE_H_

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/emit/kernel_source.h"
#include "core/graph/graph.h"
#include "core/graph/op_def.h"

namespace hearth::conformance {

// Maps a uniform number of [0, 1) to an element. Each operation chooses one whose range is where it is defined and
// continuous.
using Fill = float (*)(float uniform);
float Symmetric(float uniform);    // [-1, 1)
float Wide(float uniform);         // [-8, 8)
float Positive(float uniform);     // [0.25, 4)
float OffIntegers(float uniform);  // odd sixteenths of [-4, 4): never an integer, never half of one
float PowerOfTwo(float uniform);   // +-0.5, +-1, +-2

// The type of a value's elements. Numbers are given as reals and stored in it.
struct ElementType {
  DType dtype = DType::kFloat32;
  std::optional<Quantization> quantization;
};
ElementType Integers(DType dtype = DType::kInt32);
ElementType Bools();
// Quantized per tensor: real = scale * (stored - zero_point).
ElementType Quantized(DType dtype, float scale, int64_t zero_point);
float Digits(float uniform);     // the integers 0 to 9
float Signed100(float uniform);  // the integers -100 to 100
float ZeroOne(float uniform);    // 0 or 1

// What a node of a case reads.
struct Operand {
  Shape shape;
  Fill fill = Symmetric;
  ElementType type;
  enum class Source : uint8_t { kInput, kConstant, kNone } source = Source::kInput;
  std::vector<double> numbers;  // of a constant; empty: drawn
};
Operand In(const Shape& shape, Fill fill = Symmetric, const ElementType& type = {});
Operand Const(const Shape& shape, Fill fill = Symmetric, const ElementType& type = {});
Operand ConstOf(const Shape& shape, const std::vector<double>& numbers, const ElementType& type);
// `operand`, or none: an optional operand that the node lacks.
Operand If(bool present, const Operand& operand);

// A graph with the cases of one batch side by side. They share no value, so one plan runs all of them.
struct CaseBatch {
  Graph graph;
  std::vector<ReferenceTensor> inputs;  // follow graph.inputs
};

// A case's build function adds nodes to it. Data is the same in every run: the case's id is the seed.
class CaseGraph {
 public:
  // `real`: how the device stores real numbers. Data consists of numbers that it holds exactly.
  CaseGraph(CaseBatch& batch, const std::string& id, StorageType real = StorageType::kFloat32);

  ValueId Input(const Shape& shape, Fill fill = Symmetric, const ElementType& type = {});
  ValueId Constant(const Shape& shape, Fill fill = Symmetric, const ElementType& type = {});
  ValueId Of(const Operand& operand);
  std::vector<ValueId> AllOf(const std::vector<Operand>& operands);  // drawn in this order
  // A constant with these elements: indices, conditions.
  ValueId ConstantOf(const Shape& shape, const std::vector<double>& numbers, const ElementType& type);
  // A node's only output; its shape is inferred later.
  ValueId Node(Op op, std::vector<ValueId> inputs, const ElementType& type = {});
  // All outputs of a node, one for each type.
  std::vector<ValueId> Nodes(Op op, std::vector<ValueId> inputs, const std::vector<ElementType>& types);

 private:
  ReferenceTensor Numbers(const Shape& shape, Fill fill, const ElementType& type);
  std::string Name(const char* what);

  CaseBatch& batch_;
  const std::string& id_;
  StorageType real_;
  std::minstd_rand random_;
  int names_ = 0;
};

// The sources of a device's error; see tolerance.h.
struct Exactness {
  int64_t terms = 0;  // products or numbers that are summed into one element
  double ulps = 0;    // further roundings, in units of the last place; 0 with no terms: bit-exact
};

// The error that drivers may make in functions that they compose. OpenCL C 1.2 (table 7.1) allows in the full profile
// exp 3, log 3, sin 4, tanh 5, pow 16, division 2.5 ulp. GLSL defines most by "inherited from", exp2 with 3 + 2|x|.
inline constexpr double kUlpsOfArithmetic = 4.0;
inline constexpr double kUlpsOfCurves = 64.0;

struct ConformanceCase {
  std::string family;  // cases of one family run as one plan
  std::string op;      // row of the matrix
  std::string name;    // unique within the op
  Exactness exactness;
  std::function<ValueId(CaseGraph&)> build;
  // False if the access path changes nothing that other cases don't test, which saves compiling a program.
  bool every_path = true;

  std::string id() const { return op + "/" + name; }
};

struct CaseName {
  std::string op, name;
  std::string family = op;
};
ConformanceCase NewCase(const CaseName& name, const Exactness& exactness, std::function<ValueId(CaseGraph&)> build,
                        bool every_path = true);
// A case of one node. Its operands' data is drawn in their order.
ConformanceCase OneNode(const CaseName& name, const Exactness& exactness, Op op, std::vector<Operand> operands,
                        const ElementType& type = {}, bool every_path = true);

// For cases that move elements: numbers that each type holds, and the type's suffix of the case's name.
Fill FillOf(const ElementType& type);
std::string SuffixOf(const ElementType& type);

// All cases, in the order of their families.
std::vector<ConformanceCase> AllCases();

// One function per cases_*.cc; each appends its families.
using AddCases = void(std::vector<ConformanceCase>& cases);
AddCases AddWindowCases, AddPoolCases, AddProductCases, AddElementwiseCases, AddBinaryCases, AddConvertCases,
    AddMovementCases, AddRearrangeCases, AddBorderCases, AddReductionCases, AddLookupCases, AddTypeCases,
    AddRecurrentCases, AddChainCases, AddMovedCases;

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_CONFORMANCE_CASE_H_
