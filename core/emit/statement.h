// Statements of a kernel's epilogue as values: a form, a function of the elementwise tables, names of arguments. Plans
// in the cache hold these instead of text, so a plan cannot contain code.
#ifndef HEARTH_CORE_EMIT_STATEMENT_H_
#define HEARTH_CORE_EMIT_STATEMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

enum class UnaryKind : uint8_t;
enum class BinaryKind : uint8_t;
enum class DType : uint8_t;

// A kernel text of core/graph/ops/elementwise_table.h.
struct ElementFunction {
  enum class Table : uint8_t { kNone, kUnary, kIntegerUnary, kBinary, kIntegerBinary, kPRelu };
  Table table = Table::kNone;
  uint8_t row = 0;

  static ElementFunction Of(UnaryKind kind, bool of_integers = false);
  static ElementFunction Of(BinaryKind kind, bool of_integers = false);
  static ElementFunction PRelu() { return {Table::kPRelu, 0}; }
  friend bool operator==(const ElementFunction&, const ElementFunction&) = default;
};
// Empty if the row does not exist or has no such text.
std::string_view TextOf(const ElementFunction& function);

// $0, $1, ... are the statement's arguments.
enum class StatementForm : uint8_t {
  kNothing,         // only adds arguments, which the kernel's defines use
  kUnary,           // v = function
  kSlopedUnary,     // v = function, whose alpha is $0
  kPair,            // v = function of v and tensor $0
  kAdd,             // v = v + tensor $0
  kClamp,           // to $0 .. $1
  kIntegerClamp,    // the same for integers
  kIntegerWrap,     // to the integers from $0 on; $1: their number, a power of two, less one
  kLimit,           // to -$0 .. $0
  kClearTail,       // zeros after the last channel; $0: pixels, $1: channels
  kAppendChannels,  // $0: texels of x, $1: full ones, $2: channels in the others, $3: the appended tensor
  kRoundToHalf,
  kRoundToSmallGrid,  // $0: scale, $1: its inverse, $2 and $3: lowest and highest number of steps, below 2^22
  kRoundToGrid,       // the same for any number of steps
};

// The texel of a pair's other operand that belongs to an output texel.
enum class Reach : uint8_t {
  kSame,
  kOneElement,
  kPerChannel,  // from here on $1 is the output's pixels
  kPerPixel,
  kRepeated,  // pixels repeat; $2: how many the operand has
};

struct EpilogueStatement {
  StatementForm form = StatementForm::kNothing;
  ElementFunction function;    // for kUnary, kSlopedUnary and kPair
  Reach reach = Reach::kSame;  // this and the next three: for kPair
  bool integers = false;
  bool other_first = false;  // the function's `a` is the tensor, not `v`
  bool from_x = false;       // uses x as stored instead of `v`, which has another type
  std::vector<std::string> arguments;

  friend bool operator==(const EpilogueStatement&, const EpilogueStatement&) = default;
};

// The statement in the kernel dialect. Precondition: IsComplete(statement).
std::string TextOf(const EpilogueStatement& statement);
// Whether it has the arguments and the function that its form takes.
bool IsComplete(const EpilogueStatement& statement);

// The text that converts "x_load(at)" to `to`, for a define.
std::string_view CastText(DType to, bool from_real);

// "(function)": an expression that a define may have as its value.
std::string DefineValueOf(const ElementFunction& function);

// Whether lowering may give this value to a define: a number of at most 6 digits or one of a fixed list.
bool IsDefineValue(std::string_view value);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_STATEMENT_H_
