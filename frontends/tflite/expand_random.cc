// Random numbers. A variable counts an operator's draws, so each run and iteration continues its stream.
#include "core/base/error.h"
#include "frontends/tflite/expansion.h"

namespace hearth {
namespace {

constexpr int32_t kUniform = 148;

// In LiteRT two seeds of 0 give other numbers at each start. Here each operator then has its own stream, the same at
// each start.
Status SetSeeds(Expansion& to, Random& random) {
  HEARTH_ASSIGN(const wire::RandomOptions* options, to.Options<wire::RandomOptions>());
  // LiteRT 2.3.0 takes the lower 32 bits, signed, of the file's 64.
  random.seed = static_cast<int32_t>(options->seed());
  random.seed2 = static_cast<int32_t>(options->seed2());
  if (random.seed == 0 && random.seed2 == 0) {
    random.seed = int64_t{to.index()} + 1;
    random.seed2 = int64_t{to.subgraph()} + 1;
  }
  return Status::Ok();
}

constexpr int64_t kMostWords = int64_t{1} << 30;

// Converts words to numbers of this type and shape: two words make a 64-bit number.
Result<ValueId> NumbersOfWords(Expansion& to, ValueId words, const TensorDesc& made) {
  if (BitsOf(made.dtype) == 64) {
    HEARTH_ASSIGN(words, to.AddReshape(words, {to.shape(words)[0] / 2, 2}));
  }
  if (made.dtype != DType::kUInt32) {
    HEARTH_ASSIGN(words, to.Add(Bitcast{made.dtype}, {words}, made.dtype));
  }
  return to.AddReshape(words, made.shape);
}

}  // namespace

// (state) -> (state, bits)
Expanded ExpandRandomBits(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloRngBitGeneratorOptions>());
  const wire::RngAlgorithm algorithm = options->algorithm();
  if (algorithm < wire::RngAlgorithm_MIN || algorithm > wire::RngAlgorithm_MAX || to.output_count() != 2) {
    return Error(StatusCode::kMalformedInput, "an algorithm of the number {} and {} outputs",
                 static_cast<int>(algorithm), to.output_count());
  }
  if (to.desc(to.operand(0)).dtype != DType::kUInt64) {
    return Error(StatusCode::kMalformedInput, "its state is {}, needs uint64", DTypeName(to.desc(to.operand(0)).dtype));
  }
  HEARTH_ASSIGN(const TensorDesc made, to.DeclaredOutput(1));
  const bool is_integer = made.dtype == DType::kInt32 || made.dtype == DType::kUInt32 || made.dtype == DType::kInt64 ||
                          made.dtype == DType::kUInt64;
  const int64_t words = made.shape.element_count() * (BitsOf(made.dtype) / 32);
  if (!is_integer || words < 1 || words > kMostWords) {
    return Error(StatusCode::kUnsupported, "bits as {}[{}]", DTypeName(made.dtype), made.shape.ToString());
  }
  const bool is_threefry = algorithm == wire::RngAlgorithm_THREEFRY;
  const RandomBits bits{.generator = is_threefry ? BitGenerator::kThreefry : BitGenerator::kPhilox,
                        .words = static_cast<int32_t>(words)};
  HEARTH_ASSIGN(const ValueId halves, to.Add(Bitcast{DType::kUInt32}, {to.operand(0)}, DType::kUInt32));
  HEARTH_ASSIGN(const std::vector<ValueId> drawn, to.AddSeveral(bits, {halves}, {{DType::kUInt32, DType::kUInt32}}));
  HEARTH_ASSIGN(const ValueId state, to.Add(Bitcast{DType::kUInt64}, {drawn[0]}, DType::kUInt64));
  HEARTH_ASSIGN(const ValueId numbers, NumbersOfWords(to, drawn[1], made));
  return std::vector<ValueId>{state, numbers};
}

// (shape)
Expanded ExpandRandomNumbers(Expansion& to) {
  const bool is_uniform = to.code() == kUniform;
  Random random{.kind = is_uniform ? RandomKind::kUniform : RandomKind::kStandardNormal, .shape = {}};
  HEARTH_TRY(SetSeeds(to, random));
  HEARTH_ASSIGN(random.shape, to.ShapeOperand(0));
  HEARTH_ASSIGN(const TensorDesc made, to.DeclaredOutput(0));
  if (random.shape.element_count() == 0) return OneValue(to.AddConstant({made.dtype, random.shape, {}}, {}));
  if (made.dtype != DType::kFloat32) return Error(StatusCode::kUnsupported, "{} numbers", DTypeName(made.dtype));
  return OneValue(to.AddWithRunCount(random, {}, DType::kFloat32));
}

// (logits, samples)
Expanded ExpandMultinomial(Expansion& to) {
  Random random{.kind = RandomKind::kMultinomial, .shape = {}};
  HEARTH_TRY(SetSeeds(to, random));
  HEARTH_ASSIGN(const std::vector<int64_t> samples, to.Integers(1));
  if (samples.size() != 1 || samples[0] < 0 || samples[0] > (1 << 24)) {
    return Error(StatusCode::kUnsupported, "its number of samples is {}", samples.empty() ? 0 : samples[0]);
  }
  random.samples = static_cast<int32_t>(samples[0]);
  HEARTH_ASSIGN(const TensorDesc made, to.DeclaredOutput(0));
  const Shape& logits = to.shape(to.operand(0));
  if (logits.rank() == 2 && (random.samples == 0 || logits[0] == 0)) {
    return OneValue(to.AddConstant({made.dtype, {logits[0], random.samples}, {}}, {}));
  }
  return OneValue(to.AddWithRunCount(random, {to.operand(0)}, made.dtype));
}

}  // namespace hearth
