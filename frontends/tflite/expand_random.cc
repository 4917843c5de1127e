// Random numbers. What an operator drew is counted in a variable, so each run and each turn continue its stream.
#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

constexpr int32_t kUniform = 148;

// LiteRT takes two seeds of 0 for "other numbers at each start". Here each operator has a stream of its own then, the
// same at each start.
Status SetSeeds(Expansion& to, Random& random) {
  HEARTH_ASSIGN(const wire::RandomOptions* options, to.Options<wire::RandomOptions>());
  // LiteRT 2.3.0 keeps the lower 32 bits, signed, of what the file holds in 64.
  random.seed = static_cast<int32_t>(options->seed());
  random.seed2 = static_cast<int32_t>(options->seed2());
  if (random.seed == 0 && random.seed2 == 0) {
    random.seed = int64_t{to.index()} + 1;
    random.seed2 = int64_t{to.subgraph()} + 1;
  }
  return Status::Ok();
}

}  // namespace

// (shape)
Expanded ExpandRandomNumbers(Expansion& to) {
  const bool is_uniform = to.code() == kUniform;
  Random random{.kind = is_uniform ? RandomKind::kUniform : RandomKind::kStandardNormal, .shape = {}};
  HEARTH_TRY(SetSeeds(to, random));
  HEARTH_ASSIGN(random.shape, to.ShapeOperand(0));
  HEARTH_ASSIGN(const TensorDesc made, to.DeclaredOutput(0));
  if (made.dtype != DType::kFloat32) return Error(StatusCode::kUnsupported, "{} numbers", DTypeName(made.dtype));
  return OneValue(to.AddWithRunCount(random, {}, DType::kFloat32));
}

// (logits, samples)
Expanded ExpandMultinomial(Expansion& to) {
  Random random{.kind = RandomKind::kMultinomial, .shape = {}};
  HEARTH_TRY(SetSeeds(to, random));
  HEARTH_ASSIGN(const std::vector<int64_t> samples, to.Integers(1));
  if (samples.size() != 1 || samples[0] < 1 || samples[0] > (1 << 24)) {
    return Error(StatusCode::kUnsupported, "its number of samples is {}", samples.empty() ? 0 : samples[0]);
  }
  random.samples = static_cast<int32_t>(samples[0]);
  HEARTH_ASSIGN(const TensorDesc made, to.DeclaredOutput(0));
  return OneValue(to.AddWithRunCount(random, {to.operand(0)}, made.dtype));
}

}  // namespace hearth
