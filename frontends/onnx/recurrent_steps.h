// Recurrent layers written out step by step: GRU, and what Hearth's own layers of cells can't calculate.
#ifndef HEARTH_FRONTENDS_ONNX_RECURRENT_STEPS_H_
#define HEARTH_FRONTENDS_ONNX_RECURRENT_STEPS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// Kinds of ReadRecurrent.
enum class Recurrent : uint8_t { kLstm, kGru, kRnn, kQuantizedLstm };

// A layer in one direction. Sequences are [T,B,...].
struct RecurrentLayer {
  ValueId x = kNoValue, weights = kNoValue, recurrent = kNoValue, bias = kNoValue;  // of one direction, 2-D and 1-D
  ValueId weight_scales = kNoValue, recurrent_scales = kNoValue;  // of weights in 8 bits, gates in Hearth's order
  ValueId h = kNoValue, c = kNoValue, peepholes = kNoValue;
  int32_t steps = 0, batch = 0, units = 0;
};
// The states h of all steps, the last ones of h and c. all_c: those of all steps where the layer was written out.
struct RecurrentResult {
  ValueId y = kNoValue, h = kNoValue, c = kNoValue, all_c = kNoValue;
};

// A function of gates or states, as ONNX names it.
struct CellFunction {
  std::string_view name;
  double alpha = 0.0, beta = 0.0;
};
// What a direction calculates. functions: of gates, of candidates, of cells (f, g and h in ONNX's equations); of RNN
// the first one counts.
struct Cell {
  Recurrent kind = Recurrent::kLstm;
  std::array<CellFunction, 3> functions;
  double clip = 0.0;             // sums before functions are between -clip and clip; 0: unlimited
  bool ties_forgetting = false;  // the gate that forgets is 1 less the input's
  bool resets_product = false;   // GRU: the reset gate multiplies the product, not the state before it

  // Whether Hearth's own layer calculates the same, in which an RNN may have a Relu.
  bool is_standard() const;
};
// The cell of `direction`; an error for unknown functions.
Result<Cell> CellOf(const OpView& op, Recurrent kind, int32_t direction);

Result<RecurrentResult> AddSteps(NodeWriter& to, const RecurrentLayer& layer, const Cell& cell);

// Without the first dimension, of which entry `k` is taken.
Made TakeFirst(NodeWriter& to, const Made& value, int32_t k);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_RECURRENT_STEPS_H_
